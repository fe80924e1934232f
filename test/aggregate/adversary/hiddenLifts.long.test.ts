/** hiddenLifts.test.ts once more, with longer chains of levels. */
import './hiddenLifts.test.ts';
