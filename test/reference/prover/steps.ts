/** The steps that levels share: rows, inner commitments, garbage, projection, amortisation. */
import type { Behind } from './behind.ts';
import { amortising, JL_ROWS, projectionOf } from './challenges.ts';
import type { Context } from './context.ts';
import { concat, i32, isI32 } from './encode.ts';
import { type Coded, gaussianField, hasCode } from './gaussian.ts';
import { pairsOf, placeOf, type Shape } from './parameters.ts';
import {
  centre,
  D,
  digitsOf,
  inner,
  innerZ,
  mod,
  type Poly,
  Q,
  reduce,
  scale,
  ZERO,
} from './ring.ts';

export type Rows = readonly (readonly Poly[])[];

export interface Cut {
  readonly rows: Poly[][];
  /** which places are padding */
  readonly padding: boolean[][];
}

/** Section 3: parts into rows; undefined is padding, and so are the places behind a part. */
export function cutIntoRows(shape: Shape, parts: readonly (readonly (Poly | undefined)[])[]): Cut {
  const grid = <T>(value: T): T[][] =>
    Array.from({ length: shape.r }, () => new Array<T>(shape.n).fill(value));
  const rows = grid(ZERO);
  const padding = grid(true);
  for (const [g, part] of parts.entries()) {
    if (part.length !== shape.lengths[g]) throw new RangeError(`part ${g} has ${part.length}`);
    for (const [i, poly] of part.entries()) {
      if (poly === undefined) continue;
      const { row, column } = placeOf(shape, g, i);
      rows[row]![column] = poly;
      padding[row]![column] = false;
    }
  }
  return { rows, padding };
}

/** t_a = M_kappa s_a modulo q. */
export const innerCommitments = (M: Rows, rows: Rows): Poly[][] =>
  rows.map((row) => M.map((key) => inner(key, row)));

/** g_ab, pair by pair. */
export const garbageOf = (rows: Rows): Poly[] =>
  pairsOf(rows.length).map(([a, b]) => inner(rows[a]!, rows[b]!));

/** h_ab, pair by pair. */
export const linearGarbageOf = (phi: Rows, rows: Rows): Poly[] =>
  pairsOf(rows.length).map(([a, b]) =>
    a === b
      ? inner(phi[a]!, rows[a]!)
      : inner([...phi[a]!, ...phi[b]!], [...rows[b]!, ...rows[a]!]),
  );

/** Section 6.2: for every row, for every digit, the kappa polynomials. */
export const digitsOfT = (t: Rows, count: number, bits: number): Poly[] =>
  t.flatMap((list) => digitMajor(list, count, bits));

/** The digits of a list, centred first: for every digit, all polynomials. */
export function digitMajor(list: readonly Poly[], count: number, bits: number): Poly[] {
  const all = list.map((poly) => digitsOf(centre(poly), count, bits));
  return Array.from({ length: count }, (_, j) => all.map((d) => d[j]!)).flat();
}

export interface CutValues {
  /** u' as it is sent, û, and the difference, which is empty with cut = 0 */
  readonly sent: Poly[];
  readonly hat: Poly[];
  readonly e: Poly[];
}

/** Section 6.2, cut: of values in [0, q), or of centred ones, so that u' is signed. */
export function cutLow(u: readonly Poly[], cut: number, isSigned = false): CutValues {
  const reduced = u.map((poly) => (isSigned ? centre(poly) : reduce(poly)));
  if (cut === 0) return { sent: reduced, hat: reduced, e: [] };
  const bits = BigInt(cut);
  const sent = reduced.map((poly) => poly.map((x) => x >> bits));
  const hat = sent.map((poly) => poly.map((x) => (x << bits) + (1n << (bits - 1n))));
  const e = hat.map((poly, k) => poly.map((x, i) => x - reduced[k]![i]!));
  return { sent, hat, e };
}

/** A polynomial that the projection covers, and where its linear forms go. */
export interface Projected {
  readonly number: number;
  readonly poly: Poly;
  readonly row: number;
  readonly column: number;
}

/** All places of the rows that are not padding, numbered row by row. */
export const placesOf = ({ rows, padding }: Cut): Projected[] =>
  rows.flatMap((row, a) =>
    row.flatMap((poly, column) =>
      padding[a]![column] ? [] : [{ number: a * row.length + column, poly, row: a, column }],
    ),
  );

/** Sections 8.3 and 9.3: the e_a, of the same number for every row, behind all rows. */
export const placesOfE = ({ n, r }: Shape, e: Rows): Projected[] =>
  e.flatMap((list, a) =>
    list.map((poly, i) => ({ number: r * n + a * list.length + i, poly, row: a, column: n + i })),
  );

/** Rows with one more value for every polynomial of e_a. */
export const extendedBy = <T>(rows: readonly (readonly T[])[], e: Rows, value: T): T[][] =>
  rows.map((row, a) => [...row, ...new Array<T>(e[a]!.length).fill(value)]);

/** Section 5.3: y_j and y*_j, j = 0..136; the last two are U and V. */
export interface Projection {
  readonly y: readonly bigint[];
  readonly star: readonly bigint[];
}

/** The projection of these polynomials. */
export function projectAll(
  seed: Uint8Array,
  level: number,
  list: readonly Projected[],
): Projection {
  const y = new Float64Array(JL_ROWS);
  const star = new Float64Array(JL_ROWS);
  const half = D / 2;
  for (const { number, poly } of list) {
    const entries = projectionOf(seed, level, number);
    const s = poly.map(Number);
    for (let j = 0; j < JL_ROWS; j++) {
      const row = entries.subarray(j * D, (j + 1) * D);
      let plain = 0;
      let shifted = 0;
      for (const [c, entry] of row.entries()) {
        plain += entry * s[c]!;
        // X^32 times X^c
        shifted += entry * (c < half ? s[c + half]! : -s[c - half]!);
      }
      y[j] = y[j]! + plain;
      star[j] = star[j]! + shifted;
    }
  }
  return { y: Array.from(y, BigInt), star: Array.from(star, BigInt) };
}

/** U and V. */
export const sumsOf = ({ y, star }: Projection): [bigint, bigint] => [y.at(-1)!, star.at(-1)!];

/** y'_0, y'*_0, y'_1, ..., as they are sent. */
export function sentOf(projection: Projection): bigint[] {
  const [U, V] = sumsOf(projection);
  // shifts round down
  return projection.y
    .slice(0, -1)
    .flatMap((y, j) => [y - ((U + V) >> 1n), projection.star[j]! - ((V - U) >> 1n)]);
}

/** Sum of x_j^2 + x*_j^2: the squared norm of the projection by signs. */
export function signedNormSq(projection: Projection): bigint {
  const [U, V] = sumsOf(projection);
  return projection.y.slice(0, -1).reduce((sum, y, j) => {
    const x = 2n * y - (U + V);
    const star = 2n * projection.star[j]! - (V - U);
    return sum + x * x + star * star;
  }, 0n);
}

export interface Projecting {
  /** the seed of the matrix, which depends on the counter */
  readonly seed: Uint8Array;
  readonly counter: number;
  readonly projection: Projection;
  /** behind a hidden level: that of its x, by the same bits */
  readonly ofX?: Projection;
}

/** What a projection is held to: the squared norm, and the index of the code. */
interface Limits {
  readonly bound: number;
  readonly t: number;
}

/** Section 11.1: whether a projection is short, and all that is sent of it has a code. */
export function passes(
  context: Context,
  of: 'all' | 'x',
  projection: Projection,
  { bound, t }: Limits,
): boolean {
  const normSq = signedNormSq(projection);
  const isCoded = sentOf(projection).every((x) => hasCode(x, t));
  const isTaken = isCoded && normSq <= 288n * BigInt(bound);
  return context.use('taken', { of, normSq, bound, isTaken }).isTaken;
}

/** y', U and V, or those of x: sent as two fields. @returns what is absorbed of them */
export function sendProjection(
  context: Context,
  names: readonly [values: string, sums: string],
  projection: Projection,
  t: number,
): Uint8Array {
  const values = sentOf(projection);
  const sums = i32(sumsOf(projection));
  sendCoded(context, names[0], [{ values, t }]);
  context.send(names[1], sums);
  return concat(i32(values), sums);
}

/**
 * Sections 5.3 and 8.3: the projections of the first counter with which all pass. They are sent and
 * absorbed, at level 0 with w, behind a hidden level with that of its x.
 */
export function project(
  context: Context,
  list: readonly Projected[],
  { inSq, tY }: { inSq: number; tY: number },
  { w = [], behind }: { w?: readonly bigint[]; behind?: Behind | undefined } = {},
): Projecting {
  const { st } = context.transcript;
  const params = behind?.params;
  for (let counter = 0; counter < 16; counter++) {
    context.transcript.st = st;
    context.absorb('counter', Uint8Array.of(counter));
    const seed = context.transcript.seed('jl');
    const projection = context.use('y', projectAll(seed, context.level, list));
    const ofX = behind && context.use('yX', projectAll(seed, context.level, behind.places));
    const passed = [
      passes(context, 'all', projection, { bound: inSq, t: tY }),
      ofX === undefined || passes(context, 'x', ofX, { bound: params!.X, t: params!.tX }),
    ];
    if (passed.includes(false)) {
      if (counter < 15) continue;
      context.fail(passed[0] ? 'projection of x' : 'projection');
    }
    if (!sumsOf(projection).every(isI32)) context.fail('sum');
    if (ofX !== undefined && !sumsOf(ofX).every(isI32)) context.fail('sum of x');
    if (!w.every(isI32)) context.fail('functional');
    context.send('counter', Uint8Array.of(counter));
    const absorbed = [sendProjection(context, ['y', 'UV'], projection, tY)];
    if (w.length > 0) context.send('w', i32(w));
    if (ofX !== undefined) {
      absorbed.push(sendProjection(context, ['yx', 'UVx'], ofX, behind!.params.tX));
    }
    context.absorb('y', concat(...absorbed, i32(w)));
    return { seed, counter, projection, ...(ofX && { ofX }) };
  }
  throw new Error('unreachable');
}

/** Sends a Gaussian field; the level fails if a value has no code. */
export function sendCoded(context: Context, name: string, lists: readonly Coded[]): void {
  let bytes: Uint8Array;
  try {
    bytes = gaussianField(lists);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    context.fail(`code of ${name}`);
    return;
  }
  context.send(name, bytes);
}

/** c_a of every row. */
export const challengesOf = (seed: Uint8Array, level: number, r: number): Poly[] =>
  Array.from({ length: r }, (_, a) => amortising(seed, level, a).c);

/** Sum of c_a x_a over the integers, column by column. */
export const amortise = (c: readonly Poly[], rows: Rows): Poly[] =>
  rows[0]!.map((_, column) =>
    innerZ(
      c,
      rows.map((row) => row[column]!),
    ),
  );

/** Sum of c_a phi_a modulo q, column by column. */
export const amortiseForms = (c: readonly Poly[], phi: Rows): Poly[] =>
  phi[0]!.map((_, column) =>
    inner(
      c,
      phi.map((row) => row[column]!),
    ),
  );

/** 2^(bits j) modulo q times a polynomial. */
export const gadget = (poly: Poly, bits: number): Poly =>
  scale(poly, mod(1n << BigInt(bits), Q)).map((x) => mod(x, Q));
