/** The same as prove.test.ts, against the slow prover for both sets. */
import './prove.test.ts';
