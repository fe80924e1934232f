/** A merge of the slow prover satisfies every relation of docs/merged.md. */
import { expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import { brokenRelations } from '../../reference/merged/identities.ts';
import { mergeParts, provePart } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import type { LevelView } from '../../reference/prover/trace.ts';

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
