/** Sections 7.6, 8.4 and 8.5 of docs/protocol.md: the lifts of a level. */
import { type Behind, formsOfX, type LiftScalars, scalarsOf, scalarsUsed } from './behind.ts';
import { collapse, type Pair, projectionOf } from './challenges.ts';
import type { Context } from './context.ts';
import { concat, packLifts, packNumbers } from './encode.ts';
import { type HiddenMessage, hide } from './hidden.ts';
import type { Ordinary } from './parameters.ts';
import { add, D, inner, mod, type Poly, Q, reduce, ZERO } from './ring.ts';
import type { Projected, Projecting, Rows } from './steps.ts';

/** The forms that level 0 adds to F, by place. */
export type ExtraForm = (seed: Uint8Array, k: number) => Map<string, Poly>;
export const placeKey = (row: number, column: number): string => `${row},${column}`;

export interface Lifts {
  readonly liftSeed: Uint8Array;
  /** F by k, row, column */
  readonly F: readonly Rows[];
  readonly lifts: readonly Poly[];
  /** hidden level: the lifts as a message; at level 0 also what is sent of them in the clear */
  readonly hiddenLifts?: HiddenMessage;
  readonly b32?: readonly bigint[];
}

/** The coefficients of a lift that the verifier knows; one lift fewer where there are two. */
export const knownOf = (level: number): readonly number[] => (level === 0 ? [0] : [0, D / 2]);
export const liftCount = (level: number): number => (level === 0 ? 3 : 2);

/** What the lifts of a level are made of. */
interface Lifting {
  /** the rows, extended where inner commitments are cut */
  readonly rows: Rows;
  readonly list: readonly Projected[];
  readonly projecting: Projecting;
  readonly behind?: Behind | undefined;
  readonly extra?: ExtraForm | undefined;
  /** of a hidden level */
  readonly hiding?: Ordinary | undefined;
}

/** F and b^(1), b^(2), ... The latter are sent and absorbed, or hidden. */
export function lift(context: Context, lifting: Lifting): Lifts {
  const { level } = context;
  const { rows, behind, extra, hiding } = lifting;
  const liftSeed = context.transcript.seed('lift');
  const before = behind?.params;
  const scalars = Array.from({ length: liftCount(level) }, (_, k) =>
    scalarsUsed(context, scalarsOf(liftSeed, level, k, before), k, before),
  );
  const F = formsOfProjections(level, lifting, scalars);
  for (const [k, form] of F.entries()) {
    if (behind !== undefined) {
      for (const [i, poly] of formsOfX(behind, scalars[k]!).entries()) {
        const { row, column } = behind.places[i]!;
        form[row]![column] = reduce(add(form[row]![column]!, poly));
      }
    }
    for (const [key, poly] of extra?.(liftSeed, k) ?? []) {
      const [row, column] = key.split(',').map(Number) as [number, number];
      form[row]![column] = reduce(add(form[row]![column]!, poly));
    }
  }
  return liftsOf(context, liftSeed, F, rows, hiding);
}

/** b^(1), b^(2), ... from their forms: sent and absorbed, or hidden. */
export function liftsOf(
  context: Context,
  liftSeed: Uint8Array,
  F: readonly Rows[],
  rows: Rows,
  hiding: Ordinary | undefined,
): Lifts {
  const lifts = context.use(
    'lifts',
    F.map((form) => inner(form.flat(), rows.flat())),
  );
  if (hiding !== undefined) return { liftSeed, F, lifts, ...hideLifts(context, hiding, lifts) };
  const bytes = packLifts(lifts, knownOf(context.level));
  context.send('b', bytes);
  context.absorb('b', bytes);
  return { liftSeed, F, lifts };
}

/** The forms of (P) and (P_x), by lift: sums of (omega_j + omega^x_j) sigma(pi_j). */
function formsOfProjections(
  level: number,
  { rows, list, projecting, behind }: Lifting,
  scalars: readonly LiftScalars[],
): Poly[][][] {
  const F = scalars.map(() => rows.map((row) => row.map((): Poly => ZERO)));
  const ofX = new Set(behind?.places.map(({ row, column }) => placeKey(row, column)));
  const sum = ([a, b]: Pair, [c, d]: Pair): Pair => [mod(a + c, Q), mod(b + d, Q)];
  const elsewhere = scalars.map(({ omega }) => omega);
  const inX = scalars.map(({ omega, omegaX }) => omegaX.map((pair, j) => sum(pair, omega[j]!)));
  for (const { number, row, column } of list) {
    const entries = projectionOf(projecting.seed, level, number);
    const weights = ofX.has(placeKey(row, column)) ? inX : elsewhere;
    for (const [k, form] of collapse(entries, weights).entries()) F[k]![row]![column] = form;
  }
  return F;
}

/** Section 6.4: p_b for the lifts, and at level 0 b_32 behind it. */
function hideLifts(context: Context, params: Ordinary, lifts: readonly Poly[]) {
  const { hidden, bytes } = hide(context, params, 'b', lifts);
  if (context.level > 0) {
    context.absorb('b', bytes);
    return { hiddenLifts: hidden };
  }
  const b32 = context.use(
    'b32',
    lifts.map((poly) => mod(poly[D / 2]!, Q)),
  );
  const inTheClear = packNumbers(b32);
  context.send('b32', inTheClear);
  context.absorb('b', concat(bytes, inTheClear));
  return { hiddenLifts: hidden, b32 };
}
