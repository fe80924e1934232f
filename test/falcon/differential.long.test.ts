/** The same as differential.test.ts, which takes larger numbers in the long run. */
import './differential.test.ts';
