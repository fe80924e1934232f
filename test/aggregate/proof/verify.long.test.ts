/** The same as verify.test.ts, which asks the slow prover and verifier more in the long run. */
import './verify.test.ts';
