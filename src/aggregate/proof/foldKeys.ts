/** Commitment keys, folded by short challenges as they are expanded (docs/protocol.md, 6.1 and 10.1); none is stored. */
import type { Forms, Labrador, Vecs } from '../wasm.ts';
import { BLOCK_BYTES, BLOCK_COLUMNS, clearRest, FORM, keysSeed, Seed } from './challenges.ts';
import type { Columns } from './columns.ts';
import { STREAM } from './labels.ts';
import { type Blocks, blocksOf } from './ring.ts';
import { rowsOf, shortForms } from './verifier/folding.ts';

/** Columns that are expanded before they are summed: what stays in a cache. */
const RUN = 64;

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

/**
 * Those columns, folded: sum over rows i of challenge_i key[i][column], as an integer polynomial below kappa 2^8 q/2 (or kappa1 instead),
 * which its products can bear.
 */
export function foldKey(
  lab: Labrador,
  { number, matrix, columns, seed, ...fold }: KeyFold,
): Blocks {
  return lab.scope(() => {
    const of = new Seed(lab, seed, number + 1);
    const challenges = shortForms(lab, of, fold.short, fold.first, fold.rows);
    const out = lab.vecs(1, columns.to - columns.from);
    foldKeyRows(lab, keysSeed(lab, number), matrix, columns, challenges, out);
    return blocksOf(lab, out);
  });
}

/** Part of a list of forms. */
export const someForms = (forms: Forms, from: number, count: number): Forms => ({
  ...forms,
  at: forms.at + FORM * from,
  count,
});

/** The sums of columns `from` (a multiple of 32) to `to - 1` into `out`, in runs. */
function foldKeyRows(
  lab: Labrador,
  keys: Seed,
  matrix: number,
  { from: first, to }: Columns,
  challenges: Forms,
  out: Vecs,
): void {
  lab.scope(() => {
    const rows = lab.vecs(challenges.count, RUN);
    const addresses = rowsOf(lab, rows);
    for (let from = first; from < to; from += RUN) {
      const count = Math.min(RUN, to - from);
      clearRest(lab, rows, count);
      const offset = BLOCK_BYTES * (from / BLOCK_COLUMNS);
      for (const [i, at] of addresses.entries()) {
        keys.start(STREAM.keys, matrix, i);
        lab.kernels.expandKey(at - offset, from, count); // writes the stream's columns
      }
      const at = out.at + BLOCK_BYTES * ((from - first) / BLOCK_COLUMNS);
      const blocks = Math.ceil(count / BLOCK_COLUMNS);
      lab.combine({ ...out, at, columns: count, blocks }, 0, addresses, challenges);
    }
  });
}
