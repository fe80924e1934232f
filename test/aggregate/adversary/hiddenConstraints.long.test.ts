/** hiddenConstraints.test.ts once more, with longer chains of levels. */
import './hiddenConstraints.test.ts';
