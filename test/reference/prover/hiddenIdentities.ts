/**
 * The equations of hidden levels, and of the levels behind them, computed once more from what a run
 * shows: sections 6.4, 8.3 and 8.5 of docs/protocol.md.
 */
import { type LiftScalars, QUARTER_PAIRS, scalarsOf, timesQuarter } from './behind.ts';
import { keyMatrix, type Pair, projectionOf, thetas } from './challenges.ts';
import type { HiddenMessage } from './hidden.ts';
import type { ShownOrdinary, ShownOutput, ShownTail, ShownZero } from './identities.ts';
import type { MessageName } from './parameters.ts';
import {
  add,
  centre,
  D,
  equal,
  FALCON_Q,
  inner,
  innerZ,
  mod,
  normSq,
  type Poly,
  Q,
  scale,
  sigma,
  ZERO,
} from './ring.ts';
import { type Projected, type Projecting, type Projection, signedNormSq, sumsOf } from './steps.ts';

type Equations = Record<string, boolean>;

/** A hidden level before another one: what it shows, and the D of its lifts. */
export interface BeforeShown {
  readonly shown: ShownOutput;
  /** D^(lambda); what a level does not know is missing */
  readonly D: readonly Known[];
}

/** T(b^(lambda)) as far as the verifier knows it: at an open level 0 the first half alone. */
export type Known = readonly [first: bigint, middle?: bigint];

/** T(a) = a_0 + a_32 i. */
const T = (a: Poly): Pair => [a[0]!, a[D / 2]!];
const samePair = ([a, b]: Pair, [c, d]: Pair): boolean =>
  mod(a - c, Q) === 0n && mod(b - d, Q) === 0n;
/** (a + b i) (c + d i). */
export const times = ([a, b]: Pair, [c, d]: Pair): Pair => [a * c - b * d, a * d + b * c];

const sumOfProducts = (x: readonly Pair[], y: readonly Pair[]): Pair => {
  if (x.length !== y.length) throw new RangeError(`${x.length} and ${y.length} pairs`);
  const products = x.map((pair, i) => times(pair, y[i]!));
  return products.reduce(([a, b], [c, d]): Pair => [a + c, b + d], [0n, 0n]);
};

const pairsOfY = ({ y, star }: Projection): Pair[] => y.map((x, j) => [x, star[j]!]);

/** All messages of a hidden level in their order. */
export function messagesShown({ params, blocks, hiddenLifts }: ShownOutput): HiddenMessage[] {
  const all = [...blocks.map(({ hidden }) => hidden), hiddenLifts];
  return params.messages.map(({ name }) => all.find((one) => one?.message.name === name)!);
}

/** Sum over j of 2^(w j) x_{M,j}[i], for every polynomial i of a message. */
export function recomposedMessage({ message, x }: HiddenMessage, w: number): Poly[] {
  const { polynomials, digits } = message;
  return Array.from({ length: polynomials }, (_, i) =>
    Array.from({ length: digits }, (__, j) =>
      scale(x[j * polynomials + i]!, 1n << BigInt(w * j)),
    ).reduce(add),
  );
}

/** p_{row,j} + p_{row,j+8} i, for every row and j. */
const pairsOfQuarters = ({ p }: HiddenMessage): Pair[] =>
  Array.from({ length: p.length / 2 }, (_, index) => {
    const [row, j] = [Math.floor(index / QUARTER_PAIRS), index % QUARTER_PAIRS];
    const at = 2 * QUARTER_PAIRS * row + j;
    return [p[at]!, p[at + QUARTER_PAIRS]!];
  });

/** Sections 7.6, 8.4 and 8.5: D of every lift. */
export function valuesD(
  shown: ShownOrdinary | ShownTail,
  level: number,
  before: BeforeShown | undefined,
): Known[] {
  const { projecting, liftSeed } = shown;
  return shown.lifts.map((_, k): Known => {
    const scalars = scalarsOf(liftSeed, level, k, before?.shown.params);
    if (level === 0) {
      const [a] = sumOfProducts(scalars.omega, pairsOfY(projecting.projection));
      const { w, C, b32 } = shown as ShownZero;
      const first = thetas(liftSeed, 0, k).reduce(
        (sum, theta, j) => sum + theta * (FALCON_Q * w[j]! + C[j]!),
        a,
      );
      return b32 === undefined ? [mod(first, Q)] : [mod(first, Q), b32[k]!];
    }
    return valueD(projecting, scalars, before);
  });
}

/** The sum (D) of 8.5 above level 0, for one lift; behind an open level the first sum alone. */
export function valueD(
  projecting: Pick<Projecting, 'projection' | 'ofX'>,
  scalars: LiftScalars,
  before: BeforeShown | undefined,
): Pair {
  const first = sumOfProducts(scalars.omega, pairsOfY(projecting.projection));
  const more = before === undefined ? [] : valuesBehind(projecting, scalars, before);
  const [a, b] = [first, ...more].reduce(([x, y], [u, v]): Pair => [x + u, y + v]);
  return [mod(a, Q), mod(b, Q)];
}

/** The further sums of 8.5: those of (P_x), (Q) and (T_b). */
function valuesBehind(
  { ofX }: Pick<Projecting, 'ofX'>,
  { omegaX, quarters, lifts }: LiftScalars,
  before: BeforeShown,
): Pair[] {
  const p = messagesShown(before.shown).flatMap(pairsOfQuarters);
  return [
    sumOfProducts(omegaX, pairsOfY(ofX!)),
    sumOfProducts(quarters.flat(2), p),
    sumOfProducts(
      lifts,
      before.D.map(([first, middle]): Pair => [first, middle!]),
    ),
  ];
}

/** Section 6.4: the digits of a hidden level, and what it sends of them. */
export function hiddenIdentities(shown: ShownOutput): Equations {
  const { params, blocks, lifts, x, parts, b32 } = shown;
  const { w, k, X, cut, f, pieces } = params;
  const messages = messagesShown(shown);
  const valuesOf = (name: MessageName): Poly[] => {
    if (name === 'b') return lifts.map(centre);
    const { hat } = blocks.find((block) => block.name === `u${name}`)!;
    return hat.map((poly) => poly.map((c) => c >> BigInt(cut)));
  };
  const inRange = (value: bigint, bits: number, isLast: boolean): boolean => {
    const edge = 2n ** BigInt(bits - 1);
    return value >= -edge && (isLast ? value <= edge : value < edge);
  };
  return {
    'digits of messages': messages.every((one) => {
      const values = valuesOf(one.message.name);
      return recomposedMessage(one, w).every((poly, i) =>
        poly.every((c, at) => c === values[i]![at]),
      );
    }),
    'ranges of digits': messages.every(({ message, x: xM }) => {
      const { polynomials, digits, bits } = message;
      const last = polynomials * (digits - 1);
      return xM.every((poly, i) =>
        poly.every((c) => inRange(c, i < last ? w : bits - w * (digits - 1), i >= last)),
      );
    }),
    quarters: messages.every(({ x: xM, p }) =>
      keyMatrix(k, xM.length).every((row, number) => {
        const value = inner(row, xM);
        return Array.from({ length: 16 }, (_, c) => p[16 * number + c] === value[4 * c]).every(
          Boolean,
        );
      }),
    ),
    'x begins v': x.length === pieces.t && x.every((poly, i) => equal(poly, parts[f]![i]!)),
    'norm of x': normSq(x) <= BigInt(X),
    b32: b32 === undefined || b32.every((c, i) => c === mod(lifts[i]![D / 2]!, Q)),
  };
}

/** Rows of both kinds. All of them are in D, each with its scalar. */
const SAMPLED_ROWS = [0, 135, 136];

/** (P) or (P_x) for some rows of the projection: T of products in R, over the integers. */
export function projects(
  seed: Uint8Array,
  level: number,
  list: readonly Projected[],
  projection: Projection,
): boolean {
  const entries = list.map(({ number }) => projectionOf(seed, level, number));
  const polys = list.map(({ poly }) => poly);
  return SAMPLED_ROWS.every((j) => {
    const conjugates = entries.map((all) =>
      sigma(Array.from(all.subarray(D * j, D * j + D), BigInt)),
    );
    const [real, imaginary] = T(innerZ(conjugates, polys));
    return real === projection.y[j] && imaginary === projection.star[j];
  });
}

/** Section 8.5: what a level proves of the hidden one before it. */
export function behindIdentities(
  shown: Pick<ShownOrdinary | ShownTail, 'projecting' | 'behind'>,
  level: number,
  before: BeforeShown,
): Equations {
  const { seed, ofX } = shown.projecting;
  const { places } = shown.behind!;
  const { params } = before.shown;
  const x = places.map(({ poly }) => poly);
  const ofMessage = params.messages.map(({ at, polynomials, digits }) =>
    x.slice(at, at + polynomials * digits),
  );
  const halves: [bigint, bigint] = [0n, 0n];
  for (const poly of x) for (const [c, value] of poly.entries()) halves[c < D / 2 ? 0 : 1] += value;
  return {
    P_x: projects(seed, level, places, ofX!),
    'norm of y_x': signedNormSq(ofX!) <= 288n * BigInt(params.X),
    'sums of x': sumsOf(ofX!).every((sum, i) => sum === halves[i]),
    Q: messagesShown(before.shown).every((one, number) =>
      keyMatrix(params.k, ofMessage[number]!.length).every((keys, row) => {
        const value = inner(keys, ofMessage[number]!);
        return pairsOfQuarters(one)
          .slice(QUARTER_PAIRS * row, QUARTER_PAIRS * (row + 1))
          .every((pair, j) => samePair(T(timesQuarter(value, j)), pair));
      }),
    ),
    T_b: params.messages.every((message, number) => {
      if (message.name !== 'b') return true;
      const carried = { message, x: ofMessage[number]!, p: [] };
      return recomposedMessage(carried, params.w).every((poly, i) => {
        const [first, middle] = before.D[i]!;
        return samePair(T(poly), [first, middle!]);
      });
    }),
  };
}

/** T(b^(k+1)) is D^(k+1), as far as it is known. */
export const liftsAre = (lifts: readonly Poly[], known: readonly Known[]): boolean =>
  lifts.every((poly, k) => {
    const [first, middle] = T(poly);
    const [a, b] = known[k]!;
    return mod(first - a, Q) === 0n && (b === undefined || mod(middle - b, Q) === 0n);
  });

/** Sum of beta_k b^(k+1), with the lifts as the digits of x have them; nothing at an open level. */
export function liftsInX(shown: ShownOutput): Poly {
  const { hiddenLifts, combined, params } = shown;
  if (hiddenLifts === undefined) return ZERO;
  return inner(
    combined.beta,
    recomposedMessage(hiddenLifts, params.w).map((poly) => poly.map((c) => mod(c, Q))),
  );
}

/** The constant of E1 and E2 on the left side: Sum of 2^(cut + w j) x_{M,j}; none if u was sent. */
export function messageOnLeft(
  hidden: HiddenMessage | undefined,
  { w, cut }: ShownOrdinary['params'],
): Poly[] {
  if (hidden === undefined) return [];
  return recomposedMessage(hidden, w).map((poly) => scale(poly, 1n << BigInt(cut)));
}
