/** Merged proofs of the slow prover, judged by the library with their rows in its table. */

import { afterAll, beforeAll } from 'vitest';
import type { MergedRow } from '../../../src/aggregate/parameters/rows.ts';
import { MERGED_TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import type { ParsedMerged } from '../../../src/aggregate/proof/verifier/parse.ts';
import { type SignedItem, signedItem } from '../../reference/items.ts';
import { headerOfPart, mergeParts, provePart } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';

export const ROWS = Object.entries(MERGED_TOY_ROWS);

/** Puts these rows alone in the table. @returns a function that puts back those before */
function putRows(rows: readonly MergedRow[]): () => void {
  const table = MERGED_TABLE as MergedRow[];
  const before = table.splice(0, table.length, ...rows);
  return () => table.splice(0, table.length, ...before);
}

/** Runs `body` with these rows alone in the table. */
export async function withRows<T>(rows: readonly MergedRow[], body: () => T): Promise<Awaited<T>> {
  const putBack = putRows(rows);
  try {
    return await body();
  } finally {
    putBack();
  }
}

/** Runs all tests of a file with these rows alone in the table. */
export function useRows(rows: readonly MergedRow[]): void {
  let putBack: () => void;
  beforeAll(() => {
    putBack = putRows(rows);
  });
  afterAll(() => putBack());
}

/** Where the byte strings among the fields are. */
export const placesOf = ({ zeros, levels, tail }: ParsedMerged, { buffer }: Uint8Array) =>
  [...zeros, ...levels.slice(1), tail].flatMap((fields) =>
    Object.values(fields)
      .flat()
      .filter((field) => field instanceof Uint8Array && field.buffer === buffer)
      .map(({ byteOffset, length }: Uint8Array) => ({ at: byteOffset, length })),
  );

export interface MergedProof {
  readonly row: MergedRow;
  readonly parts: readonly (readonly SignedItem[])[];
  readonly bytes: Uint8Array;
}

/**
 * A proof over so many parts; the second one has one item, the others as many as fit.
 *
 * @param change changes headers before anything is proved
 */
export function mergedProof(
  row: MergedRow,
  count: number,
  change = (header: Uint8Array, _part: number): Uint8Array => header,
): MergedProof {
  const [part] = row;
  let next = 0;
  const parts = Array.from({ length: count }, (_, i) =>
    Array.from({ length: i === 1 ? 1 : part[1] }, () => signedItem(`falcon${part[0]}`, next++)),
  );
  const bytes = mergeParts(
    parts.map((items, i) =>
      provePart(items, part, { header: change(headerOfPart(items, part), i) }),
    ),
    row,
  );
  return { row, parts, bytes };
}
