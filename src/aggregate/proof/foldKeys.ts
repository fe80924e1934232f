/**
 * Commitment keys, folded by short challenges while they are expanded (docs/protocol.md, 6.1 and
 * 10.1), so that none has to be stored.
 */
import { BLOCK_BYTES, BLOCK_COLUMNS, type Forms, type Labrador, type Vecs } from '../wasm.ts';
import { keysSeed, Seed, shortForms } from './challenges.ts';
import type { Columns } from './columns.ts';
import { clearRest } from './forms.ts';
import { type Blocks, blocksOf } from './ring.ts';
import { STREAM } from './transcript.ts';

/** Columns that are expanded before they are summed: as many as stay in a cache. */
const RUN = 64;

/** Some columns of a key, and the challenges to fold it by. */
export interface KeyFold {
  /** the key's level */
  readonly number: number;
  readonly matrix: number;
  readonly columns: Columns;
  /** `combine` of the next level */
  readonly seed: Uint8Array;
  /** kind of the challenges, index of the first, and how many */
  readonly short: number;
  readonly first: number;
  readonly rows: number;
}

/**
 * The sum over rows i of challenge_i key[i][column], for each of the columns: an integer polynomial
 * below kappa 2^8 q/2 (or kappa1 in its place), small enough for the products that follow.
 */
export function foldKey(
  lab: Labrador,
  { number, matrix, columns, seed, short, first, rows }: KeyFold,
): Blocks {
  return lab.scope(() => {
    const challenges = shortForms(lab, new Seed(lab, seed, number + 1), short, first, rows);
    const out = lab.vecs(1, columns.to - columns.from);
    foldKeyRows(lab, keysSeed(lab, number), matrix, columns, challenges, out);
    return blocksOf(lab, out);
  });
}

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
    const addresses = lab.addresses(rows);
    for (let from = first; from < to; from += RUN) {
      const count = Math.min(RUN, to - from);
      clearRest(lab, rows, count);
      const offset = BLOCK_BYTES * (from / BLOCK_COLUMNS);
      for (const [i, at] of addresses.entries()) {
        keys.start(STREAM.keys, matrix, i);
        // The kernel writes column c of the stream as column c.
        lab.kernels.expandKey(at - offset, from, count);
      }
      const at = out.at + BLOCK_BYTES * ((from - first) / BLOCK_COLUMNS);
      const blocks = Math.ceil(count / BLOCK_COLUMNS);
      lab.combine({ ...out, at, columns: count, blocks }, 0, addresses, challenges);
    }
  });
}
