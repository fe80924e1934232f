/** hiddenEquations.test.ts once more, with longer chains of levels. */
import './hiddenEquations.test.ts';
