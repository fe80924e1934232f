/**
 * Cheating provers over a row of the table that is in use: every statement that is not true is
 * refused by the fast verifier too. What stops each of them is shown with the slow verifier, in
 * ../adversary. The slow prover takes its time: two in three wait for the long run.
 */
import { expect, test } from 'vitest';
import { faults, refused } from './cheating.ts';
import { judge, referenceSection } from './sections.ts';

test('a prover without a fault is believed', { timeout: 600_000 }, () => {
  const { section } = referenceSection('falcon512', 1);
  expect(judge(section)).toBe(section.bytes.length);
});

refused(faults.filter((_, i) => i % 3 === 0));
