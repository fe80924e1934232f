/** The examples of docs/profiles.md for the entries of src/falcon/profiles, run as they stand. */
import { expect, test } from 'vitest';
import { blocksOf, promised, runBlock } from '../../support/documentBlocks.ts';

const examples = blocksOf('docs/profiles.md')
  .map(({ source }) => source)
  .filter((source) => /'falconry\/(eth-falcon|drafts\/[^']+)'/.test(source));

test('both entries have an example', () => expect(examples.length).toBeGreaterThanOrEqual(2));

test.each(examples)('an example prints what it says', async (source) => {
  expect(promised(source).length).toBeGreaterThan(0);
  expect(await runBlock(source)).toEqual(promised(source));
});
