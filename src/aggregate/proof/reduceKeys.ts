/** Commitment keys, folded by short challenges as they are expanded (docs/protocol.md, 6.1 and 10.1); none is stored. */
import type { Forms, Labrador, Vecs } from '../wasm.ts';
import type { Seed } from './challenges.ts';
import { STREAM } from './labels.ts';
import { COLUMNS_OF_BLOCK, rowsOf } from './reduceFold.ts';

/** Columns that are expanded before they are summed: what stays in a cache. */
const RUN = 64;
const BLOCK = 24_576;

/** Part of a list of forms. */
export const someForms = (forms: Forms, from: number, count: number): Forms => ({
  ...forms,
  at: forms.at + 768 * from,
  count,
});

/**
 * Sum over rows i of challenge_i key[i][column], in runs of columns.
 *
 * @param visit gets the address of a vector, the column that its column 0 stands for, and how many follow
 */
export function foldKeyRows(
  lab: Labrador,
  keys: Seed,
  matrix: number,
  columns: number,
  challenges: Forms,
  visit: (vec: number, from: number, count: number) => void,
): void {
  lab.scope(() => {
    const rows = lab.vecs(challenges.count, RUN);
    const sum: Vecs = lab.vecs(1, RUN);
    const addresses = rowsOf(lab, rows);
    for (let from = 0; from < columns; from += RUN) {
      const count = Math.min(RUN, columns - from);
      const offset = BLOCK * (from / COLUMNS_OF_BLOCK);
      for (const [i, at] of addresses.entries()) {
        keys.start(STREAM.keys, matrix, i);
        lab.kernels.expandKey(at - offset, from, count); // writes the stream's columns
      }
      lab.combine(sum, 0, addresses, challenges);
      visit(sum.at, from, count);
    }
  });
}
