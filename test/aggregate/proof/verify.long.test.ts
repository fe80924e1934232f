/** The same as verify.test.ts, with the slow prover and verifier besides. */
import './verify.test.ts';
