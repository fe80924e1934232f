/** The cheating provers that cheating.test.ts leaves out: half of them; all in the nightly run. */
import { NIGHTLY } from '../../support/run.ts';
import { faults, KINDS, refused } from './cheating.ts';

const others = faults.filter(([name]) => !KINDS.includes(name));
refused(NIGHTLY ? others : others.filter((_, i) => i % 2 === 0));
