/**
 * Merged proofs (docs/merged.md): the slow prover and the slow verifier, each written from the text
 * alone, agree; cheating provers are refused, and accepted by a verifier with the flaw that they
 * rely on.
 */
import { describe, expect, it } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import { ADVERSARIES, forge } from '../../reference/merged/adversaries.ts';
import { mergeParts, provePart } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import { type Flaw, whyMerged } from '../../reference/merged/verifier.ts';

const FLAWS = {
  chi: 'oneChi',
  upsilon: 'oneUpsilon',
} as const satisfies Record<string, Flaw>;

describe.each(Object.entries(MERGED_TOY_ROWS))('%s', (_, row) => {
  const [[set], most] = row;
  const counts = Array.from({ length: most }, (_, i) => i + 1);
  it.each(counts)('a proof over %i parts is valid', (count) => {
    const items = Array.from({ length: count }, (_, i) => [signedItem(`falcon${set}`, i)]);
    const bytes = mergeParts(
      items.map((list) => provePart(list, row[0])),
      row,
    );
    expect(whyMerged(bytes, items.flat(), [row])).toBe(undefined);
    if (count === 1) return;
    expect(whyMerged(bytes, items.flat().toReversed(), [row])).toEqual(expect.any(String));
  });
});

const CASES = Object.entries(ADVERSARIES);

it.each(CASES)('%s', (_, adversary) => {
  const { row, table = [row], isValid = false } = adversary;
  const { bytes, list } = forge(adversary);
  const why = whyMerged(bytes, list, table);
  if (isValid) expect(why).toBe(undefined);
  else expect(why).toEqual(expect.any(String));
});

it.each(CASES.filter(([, { shares }]) => shares))(
  '%s, before a verifier with the flaw',
  (_, adversary) => {
    const { row, shares } = adversary;
    const { bytes, list } = forge(adversary, true);
    expect(whyMerged(bytes, list, [row], [FLAWS[shares!]])).toBe(undefined);
  },
);
