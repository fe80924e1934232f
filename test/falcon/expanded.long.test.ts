/** The same as expanded.test.ts, with more signatures. */
import './expanded.test.ts';
