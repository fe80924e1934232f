/**
 * The matrix of commitment keys, folded by short challenges while it is expanded (docs/protocol.md,
 * 6.1 and 10.1), so that none of it has to be stored. All levels use its first rows and columns, so
 * each polynomial of it is expanded once for all of them.
 */
import { BLOCK_BYTES, BLOCK_COLUMNS, type Forms, type Labrador, type Vecs } from '../wasm.ts';
import { keysSeed, Seed, shortForms } from './challenges.ts';
import type { Columns } from './columns.ts';
import { zeroForms } from './forms.ts';
import { writeKeys } from './keyCache.ts';
import { type Blocks, blocksOf } from './ring.ts';

/** Columns that are expanded before they are summed: as many as stay in a cache. */
const RUN = 64;

/** The first rows and columns of the matrix, and the challenges to fold the rows by. */
export interface KeyUse {
  readonly columns: number;
  /** the level of the challenges, and its seed `combine` */
  readonly number: number;
  readonly seed: Uint8Array;
  /** kind of the challenges, index of the first, and how many: one for every row */
  readonly short: number;
  readonly first: number;
  readonly rows: number;
}

export interface KeysFold {
  /** columns of the matrix; each use takes those of them that it has */
  readonly columns: Columns;
  readonly uses: readonly KeyUse[];
}

/**
 * For every use the sum over rows i of challenge_i M[i][column], for each of the columns: an
 * integer polynomial below rows 2^8 q/2, small enough for the products that follow.
 */
export function foldKeys(lab: Labrador, { columns: { from, to }, uses }: KeysFold): Blocks[] {
  return lab.scope(() => {
    const sums = uses.map(({ columns, number, seed, short, first, rows }): KeySum => {
      const challenges = shortForms(lab, new Seed(lab, seed, number), short, first, rows);
      const end = Math.max(from, Math.min(to, columns));
      return { challenges, end, out: lab.vecs(1, end - from) };
    });
    const end = Math.max(...sums.map((sum) => sum.end));
    const keys = keysSeed(lab);
    const rows = lab.vecs(Math.max(...uses.map((use) => use.rows)), RUN);
    for (const i of Array(Math.ceil((end - from) / RUN)).keys()) {
      const at = from + RUN * i;
      addRun(lab, keys, rows, at, { from, to: Math.min(end, at + RUN) }, sums);
    }
    return sums.map(({ out }) => {
      clearBeyond(lab, out);
      return blocksOf(lab, out);
    });
  });
}

interface KeySum {
  readonly challenges: Forms;
  /** the column behind the last one of the use here */
  readonly end: number;
  readonly out: Vecs;
}

/**
 * Expands columns `at` to `to - 1` and adds them to the sums.
 *
 * @param columns.from the first column of the sums
 */
function addRun(
  lab: Labrador,
  keys: Seed,
  rows: Vecs,
  at: number,
  { from, to }: Columns,
  sums: readonly KeySum[],
): void {
  const here = sums.filter(({ end }) => end > at);
  const count = Math.max(...here.map(({ challenges }) => challenges.count));
  const addresses = lab.addresses({ ...rows, rows: count });
  writeKeys(lab, keys, addresses, { from: at, to });
  for (const { challenges, end, out } of here) {
    const columns = Math.min(end, to) - at;
    const target = out.at + BLOCK_BYTES * ((at - from) / BLOCK_COLUMNS);
    const blocks = Math.ceil(columns / BLOCK_COLUMNS);
    const vec = { ...out, at: target, columns, blocks };
    lab.combine(vec, 0, addresses.slice(0, challenges.count), challenges);
  }
}

/** Clears what the last block of a row has beyond its columns. */
function clearBeyond(lab: Labrador, { at, columns, blocks }: Vecs): void {
  lab.scope(() => {
    const zero = zeroForms(lab, 1).at;
    for (let column = columns; column < blocks * BLOCK_COLUMNS; column++) {
      lab.kernels.storeColumn(at, column, zero);
    }
  });
}
