/** Commitment keys, folded by short challenges as they are expanded (docs/protocol.md, 6.1 and 10.1); none is stored. */
import type { Forms, Labrador, Vecs } from '../wasm.ts';
import { COEFS, keysSeed, Seed } from './challenges.ts';
import type { Columns } from './columns.ts';
import { STREAM } from './labels.ts';
import { COLUMNS_OF_BLOCK, rowsOf, shortForms } from './reduceFold.ts';
import { type Values, valuesOf } from './ring.ts';

/** Columns that are expanded before they are summed: what stays in a cache. */
const RUN = 64;
const BLOCK = 24_576;

/** Some columns of a key, and the challenges to fold it by. */
export interface KeyFold {
  readonly number: number;
  readonly matrix: number;
  readonly columns: Columns;
  /** `combine` of the next level */
  readonly seed: Uint8Array;
  /** kind of the challenges, number of the first one, how many */
  readonly short: number;
  readonly first: number;
  readonly rows: number;
}

/** Those columns, folded. */
export function foldKey(lab: Labrador, fold: KeyFold): Values {
  const { number, matrix, columns } = fold;
  return lab.scope(() => {
    const seed = new Seed(lab, fold.seed, number + 1);
    const challenges = shortForms(lab, seed, fold.short, fold.first, fold.rows);
    const out = lab.coefs(columns.to - columns.from);
    foldKeyRows(lab, keysSeed(lab, number), matrix, columns, challenges, (vec, from, count) => {
      lab.kernels.vecToCoefs(out.at + COEFS * (from - columns.from), vec, 0, count);
    });
    return valuesOf(lab, out);
  });
}

/** Part of a list of forms. */
export const someForms = (forms: Forms, from: number, count: number): Forms => ({
  ...forms,
  at: forms.at + 768 * from,
  count,
});

/**
 * Sum over rows i of challenge_i key[i][column] for columns `from` (a multiple of 32) to `to - 1`, in runs.
 *
 * @param visit gets the address of a vector, the column that its column 0 stands for, and how many follow
 */
function foldKeyRows(
  lab: Labrador,
  keys: Seed,
  matrix: number,
  { from: first = 0, to }: { from?: number; to: number },
  challenges: Forms,
  visit: (vec: number, from: number, count: number) => void,
): void {
  lab.scope(() => {
    const rows = lab.vecs(challenges.count, RUN);
    const sum: Vecs = lab.vecs(1, RUN);
    const addresses = rowsOf(lab, rows);
    for (let from = first; from < to; from += RUN) {
      const count = Math.min(RUN, to - from);
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
