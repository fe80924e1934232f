/** A merge of the slow prover satisfies every relation of docs/merged.md. */
import { describe, expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import { ADVERSARIES, forge } from '../../reference/merged/adversaries.ts';
import { brokenRelations } from '../../reference/merged/identities.ts';
import { mergeParts, provePart } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import type { LevelView } from '../../reference/prover/trace.ts';

/** From two parts to as many as a row has room for. */
const CASES = Object.entries(MERGED_TOY_ROWS).flatMap(([name, row]) =>
  Array.from({ length: row[1] - 1 }, (_, i) => ({ name, row, count: row[1] - i })),
);

test.each(CASES)('$name, $count parts', { timeout: 60_000 }, ({ row, count }) => {
  const [[degree, bucket]] = row;
  let next = 0;
  const parts = Array.from({ length: count }, (_, part) => {
    // the second part has padding where others have items
    const items = Array.from({ length: part === 1 ? 1 : bucket }, () =>
      signedItem(`falcon${degree}`, next++),
    );
    return provePart(items, row[0]);
  });
  const views: LevelView[] = [];
  const bytes = mergeParts(parts, row, {
    trace: (event) => {
      if (event.kind === 'level') views[event.level] = event;
    },
  });
  expect(brokenRelations(parts, views, row)).toEqual([]);
  expect(bytes.length).toBeGreaterThan(0);
});

describe('the relations see a deviation', () => {
  test.each([
    ['errors r, -r of D_before', ['block 1 T_b', 'block 2 T_b', 'level 1 D']],
    ['x beyond XP, within inP', ['part 1 norm of x', 'block 1 norm of y_x']],
    ['errors r, -r of E5', ['level 1 E6']],
    ['y of two parts exchanged', ['block 1 P', 'block 2 P', 'level 1 D']],
  ])('%s', { timeout: 120_000 }, (name, expected) => {
    const adversary = ADVERSARIES[name]!;
    const { parts, views } = forge(adversary);
    expect(brokenRelations(parts, views, adversary.row)).toEqual(expect.arrayContaining(expected));
  });
});
