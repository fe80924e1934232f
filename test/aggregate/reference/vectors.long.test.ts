/** The same as vectors.test.ts, which makes two of the proofs again in the long run. */
import './vectors.test.ts';
