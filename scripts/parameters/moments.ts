/**
 * Moments of what a level works on: variances of coefficients, and what products of rows come to.
 *
 * The square of a row, g_aa = sum over its columns of s^2, is the delicate one. For columns of
 * independent coefficients of variance V it has variance 2 * 64 * sum of V^2: squares of variances,
 * so that a few wide columns (the errors of cut commitments) can outweigh all others. Two things
 * add to it:
 *
 * - Columns of z are not Gaussian: z = sum of c_a s_a with the same c_a in all columns. With V = 94
 *   * sum of V_a the energy of z^2 is sum of |c_a^2|^2 M_a plus 4 * 64 * 94^2 * sum over a < b of
 *   V_a V_b, and |c^2|^2 = 2 * 94^2 because each coefficient of c^2 counts its pairs twice. So a
 *   column keeps an *excess* X, M = 2 * 64 * (V^2 + X), with X' = 94^2 * sum of (V_a^2 + 2 X_a). It
 *   matters where one row dominates a column, as the row with the errors of a cut does. Y = alpha
 *   sigma(S) has X = V^2 for the same reason.
 * - The w_i are self-conjugate, so their low digits W_0 are too, but for ties: W_0^2 = W_0
 *   sigma(W_0) has the constant coefficient |W_0|^2, and these add up over the items instead of
 *   averaging out. After a fold they appear as c^2 * sum of |W_0|^2, after two as c^2 c'^2, and so
 *   on. A fold multiplies the root mean square of a coefficient by 8 * 16.6 (the product of two
 *   independent polynomials by 8, c^2 has 16.6 = sqrt(2 * 94^2/64)); a gadget digit 2^(b(f-1))
 *   divides it by its square. In the same way S and Y meet in z^2 as 2 c_S c_Y alpha_i * beta^2,
 *   with a different alpha for every item.
 */
import { TAU } from './constants.ts';

export const D = 64;
/** root mean square of a coefficient of c^2, times what a product of two polynomials adds */
const FOLD_GAIN = 8 * Math.sqrt((2 * TAU * TAU) / D);

/** squares of the columns of a run that add up: all of one source have one sign pattern */
export interface Coherent {
  readonly source: number;
  /** root mean square of a coefficient, for one column */
  readonly amount: number;
}

/** a run of polynomials: moments of a coefficient */
export interface Run {
  readonly length: number;
  readonly variance: number;
  readonly mean: number;
  readonly excess?: number;
  readonly coherent?: readonly Coherent[];
}
/** what is cut into rows together */
export type Part = readonly Run[];

export const lengthOf = (part: Part): number => part.reduce((s, r) => s + r.length, 0);
export const normSqOf = (part: Part): number =>
  part.reduce((s, r) => s + r.length * D * r.variance, 0);

/** second moment of a uniform digit in [-2^(b-1), 2^(b-1)) */
export const digitSq = (b: number): number => (4 ** b + 2) / 12;

/** 1 - erf(x) to 1e-7 (Abramowitz and Stegun 7.1.26), for x >= 0 */
function erfc(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  const p =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return p * Math.exp(-x * x);
}

/** second moment of a Gaussian that is rounded to an integer */
const rounded = new Map<number, number>();
export function roundedSq(variance: number): number {
  if (variance > 4) return variance + 1 / 12;
  if (variance < 1e-4) return 0;
  const key = Math.round(64 * Math.log2(variance));
  let value = rounded.get(key);
  if (value === undefined) rounded.set(key, (value = integerSq(2 ** (key / 64))));
  return value;
}

function integerSq(variance: number): number {
  const sigma = Math.sqrt(variance);
  let sum = 0;
  for (let k = 1; k < 20; k++) sum += (2 * k - 1) * erfc((k - 0.5) / (sigma * Math.SQRT2));
  return sum;
}

/** Low digits of the w_i: uniform, and self-conjugate. */
export function lowDigitsOfLifts(length: number, bits: number): Run {
  const variance = digitSq(bits);
  // only the constant coefficient of a square adds up: root mean square |W_0|^2/8
  const coherent = [{ source: 0, amount: (D * variance) / 8 }];
  return { length, variance, mean: -0.5, coherent };
}

export type Row = readonly Run[];

/** Equal rows that follow each other. */
export interface RowKind {
  readonly row: Row;
  readonly times: number;
}

/** The rows when the parts are cut into rows of n, in order. */
export function rowKinds(parts: readonly Part[], n: number): RowKind[] {
  const kinds: RowKind[] = [];
  for (const part of parts) {
    let row: Run[] = [];
    let room = n;
    for (const run of part) {
      let left = run.length;
      if (room === n && left >= n && !run.coherent) {
        const times = Math.floor(left / n);
        kinds.push({ row: [{ ...run, length: n }], times });
        left -= times * n;
      }
      while (left > 0) {
        const take = Math.min(left, room);
        row.push(take === run.length ? run : { ...run, length: take });
        left -= take;
        room -= take;
        if (room === 0) {
          kinds.push({ row, times: 1 });
          row = [];
          room = n;
        }
      }
    }
    if (row.length > 0) kinds.push({ row, times: 1 });
  }
  return kinds;
}

/** mean over the coefficients k of (64 - 2k)^2: how the means of digits add up in a product */
const MEAN_GAIN = 1365.4;

/** expected squared coefficient of the product of two different rows */
export function product(a: Row, b: Row): number {
  let sum = 0;
  let means = 0;
  let i = 0;
  let j = 0;
  let at = 0;
  let endA = a[0]?.length ?? 0;
  let endB = b[0]?.length ?? 0;
  while (i < a.length && j < b.length) {
    const x = a[i]!;
    const y = b[j]!;
    const end = Math.min(endA, endB);
    const excess = x.excess && y.excess ? Math.sqrt(x.excess * y.excess) : 0;
    sum += (end - at) * (x.variance * y.variance + excess);
    means += (end - at) * x.mean * y.mean;
    if (endA === end) endA += a[++i]?.length ?? 0;
    if (endB === end) endB += b[++j]?.length ?? 0;
    at = end;
  }
  return D * sum + means * means * MEAN_GAIN;
}

/** expected squared coefficient of the square of a row */
export function square(row: Row): number {
  let sum = 0;
  let means = 0;
  const amounts = new Map<number, number>();
  for (const { length, variance, mean, excess, coherent } of row) {
    sum += length * (variance * variance + (excess ?? 0));
    means += length * mean * mean;
    for (const { source, amount } of coherent ?? []) {
      amounts.set(source, (amounts.get(source) ?? 0) + length * amount);
    }
  }
  let together = 0;
  for (const amount of amounts.values()) together += amount * amount;
  return 2 * D * sum + means * means * MEAN_GAIN + together;
}

/** Coherent parts below this share of a column's variance are dropped. */
const NEGLIGIBLE = 0.01;

/** The columns of z = sum of c_a s_a, in runs of nearly equal ones. */
export function foldedRuns(kinds: readonly RowKind[], n: number): Run[] {
  const places = kinds.map(() => 0);
  const ends = kinds.map(({ row }) => row[0]!.length);
  const runs: Run[] = [];
  for (let from = 0, end = 0; from < n; from = end) {
    end = n;
    for (const other of ends) if (other > from && other < end) end = other;
    let variance = 0;
    let excess = 0;
    let coherent: Coherent[] | undefined;
    for (let a = 0; a < kinds.length; a++) {
      const { row, times } = kinds[a]!;
      const run = row[places[a]!];
      if (run === undefined) continue;
      variance += times * run.variance;
      excess += times * (run.variance * run.variance + 2 * (run.excess ?? 0));
      if (run.coherent) (coherent ??= []).push(...foldedCoherence(run.coherent, a));
      if (ends[a] === end) ends[a]! += row[++places[a]!]?.length ?? 0;
    }
    variance *= TAU;
    coherent = coherent?.filter(({ amount }) => amount > NEGLIGIBLE * variance);
    addRun(runs, { length: end - from, variance, mean: 0, excess: TAU * TAU * excess }, coherent);
  }
  return runs;
}

const foldedCoherence = (coherent: readonly Coherent[], row: number): Coherent[] =>
  coherent.map(({ source, amount }) => {
    return { source: 32 * source + row + 1, amount: FOLD_GAIN * amount };
  });

/** Adds a run to a list, to its last one if that is nearly the same. */
function addRun(runs: Run[], run: Run, coherent: readonly Coherent[] | undefined): void {
  if (coherent !== undefined && coherent.length > 0) {
    runs.push({ ...run, coherent });
    return;
  }
  const last = runs.at(-1);
  const isNear = last && !last.coherent && Math.abs(last.variance / run.variance - 1) < 0.1;
  if (isNear) runs[runs.length - 1] = merged(last, run);
  else runs.push(run);
}

/** Two runs of nearly equal variance as one. */
function merged(a: Run, b: Run): Run {
  const length = a.length + b.length;
  const variance = (a.length * a.variance + b.length * b.variance) / length;
  const excess = (a.length * (a.excess ?? 0) + b.length * (b.excess ?? 0)) / length;
  return { length, variance, mean: 0, excess };
}

/** The top digits of folded columns: what is left after division by 2^bits, bits = b (f - 1). */
export function topDigits(runs: readonly Run[], bits: number): Run[] {
  if (bits === 0) return [...runs];
  return runs.map((run) => ({
    ...run,
    variance: roundedSq(run.variance / 4 ** bits),
    excess: (run.excess ?? 0) / 16 ** bits,
    ...(run.coherent && {
      coherent: run.coherent.map(({ source, amount }) => ({ source, amount: amount / 4 ** bits })),
    }),
  }));
}
