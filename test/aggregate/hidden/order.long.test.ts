/** order.test.ts once more, with the slow prover. */
import './order.test.ts';
