/** The same as keygen.test.ts, for both sets beside noble. */
import './keygen.test.ts';
