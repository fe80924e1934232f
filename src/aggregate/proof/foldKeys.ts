/**
 * Folds the matrix of commitment keys by short challenges during its expansion (docs/protocol.md,
 * 6.1 and 10.1), so it need not be stored. All levels use its first rows and columns, so each of
 * its polynomials is expanded once for all levels.
 */
import { BLOCK_BYTES, BLOCK_COLUMNS, type Forms, type Labrador, type Vecs } from '../wasm.ts';
import { keysSeed, Seed, shortForms } from './challenges.ts';
import { type Columns, portionsOf } from './columns.ts';
import { formAt, writeConstant, zeroForms } from './forms.ts';
import { writeKeys } from './keyCache.ts';
import { type Blocks, blocksOf } from './ring.ts';

/** Columns expanded before they are summed: as many as fit in a cache. */
const RUN = 64;

/** The first rows and columns of the matrix, and the challenges that fold the rows. */
export interface KeyUse {
  readonly columns: number;
  /** the level of the challenges, and its seed `combine` */
  readonly number: number;
  readonly seed: Uint8Array;
  /** kind of the challenges, index of the first, and their number: one per row */
  readonly short: number;
  readonly first: number;
  readonly rows: number;
}

export interface KeysFold<Use extends KeyUse = KeyUse> {
  /** columns of the matrix; each use reads only its own columns among them */
  readonly columns: Columns;
  readonly uses: readonly Use[];
}

/** Bits of the low part, if the rows are folded by residues. */
export const LOW_BITS = 22;

/** The challenges of a use: a single list. */
export const shortCoefficients = (
  lab: Labrador,
  { number, seed, short, first, rows }: KeyUse,
): readonly Forms[] => [shortForms(lab, new Seed(lab, seed, number), short, first, rows)];

/**
 * Returns, for every use, the sum over rows i of challenge_i M[i][column], for each of the columns:
 * an integer polynomial below rows 2^8 q/2, small enough for the products that follow.
 *
 * @param coefficientsOf the polynomials that fold the rows of each use, if these are not its
 *   challenges. Either one list, or residues split into low + 2^22 high, as a list of low and one
 *   of high parts; in that case the sums are centred mod q
 */
export function foldKeys<Use extends KeyUse>(
  lab: Labrador,
  fold: KeysFold<Use>,
  coefficientsOf = (lab: Labrador, list: readonly Use[]): (readonly Forms[])[] =>
    list.map((use) => shortCoefficients(lab, use)),
): Blocks[] {
  return lab.scope(() =>
    sumKeys(lab, fold, coefficientsOf(lab, fold.uses)).map((out) => {
      clearBeyond(lab, out);
      return blocksOf(lab, out);
    }),
  );
}

/**
 * Like `foldKeys`, by coefficients that are given; columns beyond the last one are not cleared.
 * Valid until the enclosing scope ends.
 */
export function sumKeys(
  lab: Labrador,
  { columns: { from, to }, uses }: KeysFold,
  coefficients: readonly (readonly Forms[])[],
): Vecs[] {
  const sums = uses.flatMap((use, i): KeySum[] => {
    const end = Math.max(from, Math.min(to, use.columns));
    return coefficients[i]!.map((challenges, part) => {
      return { challenges, part, end, out: lab.vecs(1, end - from) };
    });
  });
  const end = Math.max(...sums.map((sum) => sum.end));
  const keys = keysSeed(lab);
  const rows = lab.vecs(Math.max(...uses.map((use) => use.rows)), RUN);
  for (const [at, count] of portionsOf(from, end, RUN)) {
    addRun(lab, keys, rows, at, { from, to: at + count }, sums);
  }
  for (const [i, { out, part }] of sums.entries()) {
    if (part > 0) joinParts(lab, sums[i - 1]!.out, out);
  }
  return sums.filter(({ part }) => part === 0).map(({ out }) => out);
}

interface KeySum {
  readonly challenges: Forms;
  /** 0, or 1 for the high part that follows */
  readonly part: number;
  /** the column after the last one of the use in this range */
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

/** low += 2^22 high, centred mod q. */
function joinParts(lab: Labrador, low: Vecs, high: Vecs): void {
  if (low.columns === 0) return;
  lab.scope(() => {
    lab.kernels.reduceColumns(high.at, 0, high.columns);
    const factors = lab.forms(2);
    for (const i of [0, 1]) writeConstant(lab, formAt(factors, i), 1n << BigInt(LOW_BITS * i));
    lab.combine(low, 0, [low.at, high.at], factors);
    lab.kernels.reduceColumns(low.at, 0, low.columns);
  });
}

/** Clears the part of a row's last block beyond its columns. */
function clearBeyond(lab: Labrador, { at, columns, blocks }: Vecs): void {
  lab.scope(() => {
    const zero = zeroForms(lab, 1).at;
    for (let column = columns; column < blocks * BLOCK_COLUMNS; column++) {
      lab.kernels.storeColumn(at, column, zero);
    }
  });
}
