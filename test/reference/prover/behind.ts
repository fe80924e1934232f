/** Section 8.5 of docs/protocol.md: what a level proves of a hidden one before it. */
import { JL_ROWS, keyMatrix, omegas, type Pair } from './challenges.ts';
import type { Output } from './combine.ts';
import type { Context } from './context.ts';
import { messageOf } from './hidden.ts';
import { type Ordinary, placeOf, type Shape } from './parameters.ts';
import { add, D, inner, type Poly, reduce, scale, timesX, ZERO } from './ring.ts';
import type { Cut, Projected } from './steps.ts';
import type { Constraint, SharedScalars } from './trace.ts';

/** Equations of (Q) for a row of M: a coefficient and the one 32 places on are one of them. */
export const QUARTER_PAIRS = 8;
const QUARTER_STEP = 4;

/** A hidden level before this one, and where its x stands now. */
export interface Behind {
  /** of the level before */
  readonly params: Ordinary;
  /** the places of x, in the order of x */
  readonly places: readonly Projected[];
}

/** Section 8.3: x is the first places of part v. */
export function behindOf(shape: Shape, { rows }: Cut, { params }: Output): Behind | undefined {
  if (params.w === 0) return undefined;
  const places = Array.from({ length: params.pieces.t }, (_, i) => {
    const { row, column } = placeOf(shape, params.f, i);
    return { number: row * shape.n + column, poly: rows[row]![column]!, row, column };
  });
  return { params, places };
}

/** The scalars of one lift, by equation. */
export interface LiftScalars {
  /** (P): omega_j */
  readonly omega: readonly Pair[];
  /** (P_x) */
  readonly omegaX: readonly Pair[];
  /** (Q): by message, in their order, row and j */
  readonly quarters: readonly (readonly (readonly Pair[])[])[];
  /** (T_b): number lambda - 1 for lambda */
  readonly lifts: readonly Pair[];
}

/** How many scalars a lift has behind this level, or behind an open one. */
export function scalarCount(before: Ordinary | undefined): number {
  if (before === undefined) return JL_ROWS;
  const ofQ = QUARTER_PAIRS * before.k * before.messages.length;
  return 2 * JL_ROWS + ofQ + messageOf(before, 'b').polynomials;
}

/** Sections 5.2 and 8.5: the scalars of lift k, from one stream, in their order. */
export function scalarsOf(
  seed: Uint8Array,
  level: number,
  k: number,
  before: Ordinary | undefined,
): LiftScalars {
  if (before === undefined) {
    const omega = omegas(seed, level, k);
    return { omega, omegaX: [], quarters: [], lifts: [] };
  }
  const { messages, k: rank } = before;
  const lifts = messageOf(before, 'b').polynomials;
  const all = omegas(seed, level, k, scalarCount(before));
  let at = 0;
  const take = (count: number): Pair[] => all.slice(at, (at += count));
  return {
    omega: take(JL_ROWS),
    omegaX: take(JL_ROWS),
    quarters: messages.map(() => Array.from({ length: rank }, () => take(QUARTER_PAIRS))),
    lifts: take(lifts),
  };
}

/** Those of lift k as they are used: zero where a constraint is left out. */
export function scalarsUsed(
  context: Context,
  drawn: LiftScalars,
  k: number,
  before: Ordinary | undefined,
): LiftScalars {
  const { omega, omegaX, quarters, lifts } = sharedScalars(context, drawn);
  const unless = (names: readonly Constraint[], pair: Pair): Pair =>
    names.some((name) => context.omits(name)) ? [0n, 0n] : pair;
  const ofTb = (l: number): Constraint[] => [
    ...(['Tb', `Tb${l + 1}`] as Constraint[]),
    ...(k === 0 ? [] : (['TbTwice'] as const)),
  ];
  return {
    omega: omega.map((pair) => unless(['J'], pair)),
    omegaX: omegaX.map((pair, j) => unless(j < JL_ROWS - 1 ? ['Px'] : ['Px', 'Px136'], pair)),
    quarters: quarters.map((rows, m) => {
      const names: Constraint[] = ['Q', `Q${before!.messages[m]!.name}`];
      return rows.map((list) => list.map((pair) => unless(names, pair)));
    }),
    lifts: lifts.map((pair, l) => unless(ofTb(l), pair)),
  };
}

/** Scalars of a lift in which equations share those that a test wants them to share. */
function sharedScalars(context: Context, drawn: LiftScalars): LiftScalars {
  const { quarters } = drawn;
  const shares = (name: SharedScalars): boolean => context.omits(name);
  const one = shares('scalarsOfProjections');
  const omega = drawn.omega.map((pair, _, list) => (one ? list[0]! : pair));
  const ownX = drawn.omegaX.map((pair, _, list) => (one ? list[0]! : pair));
  const again = (i: number): Pair => omega[i % JL_ROWS]!;
  const ofQ = (message: number, row: number, j: number): Pair => {
    const m = shares('scalarsOfMessages') ? 0 : message;
    const r = shares('scalarsOfRows') ? 0 : row;
    const p = shares('scalarsOfPlaces') ? 0 : j;
    if (!shares('scalarsOfQ')) return quarters[m]![r]![p]!;
    return again((m * quarters[0]!.length + r) * QUARTER_PAIRS + p);
  };
  const ofTb = (lift: number): Pair => {
    const l = shares('scalarsOfLifts') ? 0 : lift;
    return shares('scalarsOfTb') ? again(l) : drawn.lifts[l]!;
  };
  return {
    omega,
    omegaX: shares('scalarsOfPx') ? ownX.map((_, j) => again(j)) : ownX,
    quarters: quarters.map((rows, m) => rows.map((list, r) => list.map((_, j) => ofQ(m, r, j)))),
    lifts: drawn.lifts.map((_, l) => ofTb(l)),
  };
}

/** a + b X^32. */
export const pairPoly = ([a, b]: Pair): Poly =>
  ZERO.map((_, c) => (c === 0 ? a : c === D / 2 ? b : 0n));

/** X^(-4 j) times a polynomial. */
export const timesQuarter = (poly: Poly, j: number): Poly => timesX(poly, -QUARTER_STEP * j);

/** The part of F that belongs to (Q) and (T_b), at every place of x in order. */
export function formsOfX(
  { params }: { readonly params: Ordinary },
  { quarters, lifts }: LiftScalars,
): Poly[] {
  const { messages, w } = params;
  return messages.flatMap(({ name, polynomials, digits }, number) => {
    const weights = quarters[number]!.map((list) =>
      reduce(list.map((pair, j) => timesQuarter(pairPoly(pair), j)).reduce((a, b) => add(a, b))),
    );
    const M = keyMatrix(params.k, polynomials * digits);
    return Array.from({ length: polynomials * digits }, (_, column) => {
      const onKeys = inner(
        weights,
        M.map((row) => row[column]!),
      );
      if (name !== 'b') return onKeys;
      const digit = Math.floor(column / polynomials);
      const onLift = scale(pairPoly(lifts[column % polynomials]!), 1n << BigInt(w * digit));
      return reduce(add(onKeys, onLift));
    });
  });
}
