/** Merged proofs of the slow prover, judged by the library with their rows in its table. */
import type { MergedRow } from '../../../src/aggregate/parameters/rows.ts';
import { readMergedRow } from '../../../src/aggregate/parameters/rows.ts';
import { MERGED_TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { type SignedItem, signedItem } from '../../reference/items.ts';
import { mergeParts, provePart } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';

/** The row without cut commitments at level 1, which rows in use do not have. */
function uncut([part, most, [one, ...rest]]: MergedRow): MergedRow {
  // inE, tYE and ct
  const levels = [one!.with(10, 0).with(12, 0).with(17, 0), ...rest];
  const { pairs } = readMergedRow([part, most, levels], 1).tail;
  const tail = levels.at(-1)!.with(8, new Array<number>(pairs - 1).fill(160) as never);
  return [part, most, [...levels.slice(0, -1), tail]];
}

export const ROWS: readonly (readonly [string, MergedRow])[] = Object.entries(MERGED_TOY_ROWS).map(
  ([name, row]) => [name.replace(/,? cut/, ''), uncut(row)] as const,
);

/** Runs `body` with these rows alone in the table. */
export async function withRows<T>(rows: readonly MergedRow[], body: () => T): Promise<Awaited<T>> {
  const table = MERGED_TABLE as MergedRow[];
  const before = table.splice(0, table.length, ...rows);
  try {
    return await body();
  } finally {
    table.splice(0, table.length, ...before);
  }
}

export interface MergedProof {
  readonly row: MergedRow;
  readonly parts: readonly (readonly SignedItem[])[];
  readonly bytes: Uint8Array;
}

/** A proof over so many parts; the second one has one item, the others as many as fit. */
export function mergedProof(row: MergedRow, count: number): MergedProof {
  const [part] = row;
  let next = 0;
  const parts = Array.from({ length: count }, (_, i) =>
    Array.from({ length: i === 1 ? 1 : part[1] }, () => signedItem(`falcon${part[0]}`, next++)),
  );
  const bytes = mergeParts(
    parts.map((items) => provePart(items, part)),
    row,
  );
  return { row, parts, bytes };
}
