/** The cheating provers that cheating.test.ts leaves out. */
import { faults, refused } from './cheating.ts';

refused(faults.filter((_, i) => i % 3 !== 0));
