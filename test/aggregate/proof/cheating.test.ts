/**
 * Cheating provers over a row of the table that is in use: every statement that is not true is
 * refused by the fast verifier too. What stops each of them is shown with the slow verifier, in
 * ../adversary. The slow prover takes its time: one of each kind is tried here, the others
 * in the long run.
 */
import { faults, KINDS, refused } from './cheating.ts';

refused(faults.filter(([name]) => KINDS.includes(name)));
