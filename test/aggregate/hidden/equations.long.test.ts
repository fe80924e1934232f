/** equations.test.ts with more numbers; the nightly run takes all of them there. */
import { describe } from 'vitest';
import { NIGHTLY } from '../../support/run.ts';

describe.skipIf(NIGHTLY)('more of them', async () => {
  await import('./equations.test.ts');
});
