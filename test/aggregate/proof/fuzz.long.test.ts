/** More fuzzed proofs and flipped bytes; the nightly run takes all of them in the other files. */
import { describe } from 'vitest';
import { NIGHTLY } from '../../support/run.ts';

describe.skipIf(NIGHTLY)('more of them', async () => {
  for (const name of ['fuzzOne', 'fuzzHidden', 'fuzzMixed', 'flipsEven', 'flipsOdd']) {
    await import(`./${name}.test.ts`);
  }
});
