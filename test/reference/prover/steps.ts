/**
 * The steps that levels share: rows, inner commitments, garbage, projection, lifts, amortisation.
 */
import { amortising, collapse, JL_ROWS, omegas, projectionOf } from './challenges.ts';
import type { Context } from './context.ts';
import { concat, i32, isI32, packLifts, riceField } from './encode.ts';
import { pairsOf, placeOf, type Shape } from './parameters.ts';
import { centre, D, digitsOf, inner, innerZ, mod, type Poly, Q, scale, ZERO } from './ring.ts';

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

/** t_a = A s_a modulo q. */
export const innerCommitments = (A: Rows, rows: Rows): Poly[][] =>
  rows.map((row) => A.map((key) => inner(key, row)));

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

/** The digits of a list: for every digit, all polynomials. */
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

/** Section 6.2, cut. */
export function cutLow(u: readonly Poly[], cut: number): CutValues {
  const reduced = u.map((poly) => poly.map((x) => mod(x, Q)));
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

/** y_0 to y_264 of section 5.3. */
function projectAll(
  seed: Uint8Array,
  level: number,
  counter: number,
  list: readonly Projected[],
): bigint[] {
  const sums = new Float64Array(JL_ROWS);
  for (const { number, poly } of list) {
    const entries = projectionOf(seed, level, counter, number);
    const s = poly.map(Number);
    for (let j = 0; j < sums.length; j++) {
      let sum = 0;
      for (let c = 0; c < D; c++) sum += entries[j * D + c]! * s[c]!;
      sums[j] = sums[j]! + sum;
    }
  }
  return Array.from(sums, BigInt);
}

export interface Projection {
  readonly seed: Uint8Array;
  readonly counter: number;
  /** y_0 to y_264, not yet as they are sent */
  readonly y: readonly bigint[];
}

/** y as it is sent: y'_0 to y'_263, and y_264, the sum of all coefficients. */
function sentOf(y: readonly bigint[]): { rows: bigint[]; total: bigint } {
  const total = y.at(-1)!;
  // a shift rounds down
  return { rows: y.slice(0, -1).map((x) => x - (total >> 1n)), total };
}

/** Sum of x_j^2: the squared norm of the projection by signs. */
export function signedNormSq(y: readonly bigint[]): bigint {
  const total = y.at(-1)!;
  return y.slice(0, -1).reduce((sum, x) => sum + (2n * x - total) ** 2n, 0n);
}

/** y with the first counter that passes. It is sent and absorbed, at level 0 with w. */
export function project(
  context: Context,
  seed: Uint8Array,
  list: readonly Projected[],
  { inSq, kY }: { inSq: number; kY: number },
  w: readonly bigint[] = [],
): Projection {
  for (let counter = 0; counter < 16; counter++) {
    const y = context.use('y', projectAll(seed, context.level, counter, list));
    if (signedNormSq(y) > 288n * BigInt(inSq)) {
      if (counter < 15) continue;
      context.fail('projection');
    }
    const { rows, total } = sentOf(y);
    if (!isI32(total)) context.fail('sum');
    if (!w.every(isI32)) context.fail('functional');
    context.send('counter', Uint8Array.of(counter));
    send(context, 'y', [{ values: rows, k: kY }], i32([total]));
    if (w.length > 0) context.send('w', i32(w));
    context.absorb('y', concat(Uint8Array.of(counter), i32(rows), i32([total]), i32(w)));
    return { seed, counter, y };
  }
  throw new Error('unreachable');
}

/** Sends a Rice field, and whole bytes after it; the level fails if a quotient is too large. */
export function send(
  context: Context,
  name: string,
  lists: readonly { values: readonly bigint[]; k: number }[],
  rest: Uint8Array = new Uint8Array(0),
): void {
  let bytes: Uint8Array;
  try {
    bytes = concat(riceField(lists), rest);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    context.fail(`code of ${name}`);
    return;
  }
  context.send(name, bytes);
}

/** The forms that level 0 adds to F, by place. */
export type ExtraForm = (seed: Uint8Array, k: number) => Map<string, Poly>;
export const placeKey = (row: number, column: number): string => `${row},${column}`;

export interface Lifts {
  readonly liftSeed: Uint8Array;
  /** F by k, row, column */
  readonly F: readonly Rows[];
  readonly lifts: readonly Poly[];
}

/** Sections 7.6 and 8.4: F and b^(1..3). The latter are sent and absorbed. */
export function lift(
  context: Context,
  rows: Rows,
  list: readonly Projected[],
  { seed, counter }: Projection,
  extra?: ExtraForm,
): Lifts {
  const { level } = context;
  const liftSeed = context.transcript.seed('lift');
  const weights = [0, 1, 2].map((k) =>
    omegas(liftSeed, level, k).map((x) => (context.omits('J') ? 0n : x)),
  );
  const F = weights.map(() => rows.map((row) => row.map((): Poly => ZERO)));
  for (const { number, row, column } of list) {
    const entries = projectionOf(seed, level, counter, number);
    for (const [k, form] of collapse(entries, weights).entries()) F[k]![row]![column] = form;
  }
  if (extra !== undefined) {
    for (const [k, form] of F.entries()) {
      for (const [key, poly] of extra(liftSeed, k)) {
        const [row, column] = key.split(',').map(Number) as [number, number];
        form[row]![column] = form[row]![column]!.map((x, i) => mod(x + poly[i]!, Q));
      }
    }
  }
  const lifts = context.use(
    'lifts',
    F.map((form) => inner(form.flat(), rows.flat())),
  );
  const bytes = packLifts(lifts);
  context.send('b', bytes);
  context.absorb('b', bytes);
  return { liftSeed, F, lifts };
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
