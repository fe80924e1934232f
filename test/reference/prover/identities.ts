/**
 * Every equation that an honest run has to satisfy, computed once more from what the run shows: the
 * names of those that do not hold.
 */
import { keyMatrix } from './challenges.ts';
import type { Combined } from './combine.ts';
import {
  type BeforeShown,
  behindIdentities,
  hiddenIdentities,
  type Known,
  liftsAre,
  liftsInX,
  messageOnLeft,
  projects,
  valuesD,
} from './hiddenIdentities.ts';
import type { Started } from './level.ts';
import type { Lifts } from './lift.ts';
import { pairIndex, pairsOf, type Tail } from './parameters.ts';
import {
  ALL_ONES,
  add,
  BETA_SQ,
  constant,
  D,
  equal,
  inner,
  innerZ,
  inverse,
  multiply,
  normSq,
  type Poly,
  reduce,
  scale,
  sigma,
  subtract,
  ZERO,
} from './ring.ts';
import { type Rows, signedNormSq, sumsOf } from './steps.ts';
import type { LevelView } from './trace.ts';

/** The values that both kinds of levels show. */
interface Shown
  extends Lifts,
    Pick<Started, 'cut' | 't' | 'e' | 'g' | 'projected' | 'projecting' | 'behind'> {
  readonly h: readonly Poly[];
  readonly c: readonly Poly[];
  readonly z: readonly Poly[];
  /** the sum of c_a e_a; empty where no e_a are */
  readonly eSum: readonly Poly[];
  /** in the tail on z and e, elsewhere on z alone */
  readonly phiZ: readonly Poly[];
  readonly combined: Combined;
}

export interface ShownOrdinary extends Shown, Pick<Started, 'params' | 'vT' | 'vG' | 'blocks'> {
  readonly parts: Rows;
  readonly x: readonly Poly[];
  readonly phiE: readonly Poly[];
}

/** A level that is not the tail, without its projection. */
export type ShownOutput = Omit<ShownOrdinary, 'projected' | 'projecting'>;

export interface ShownZero extends ShownOrdinary {
  readonly w: readonly bigint[];
  readonly C: readonly bigint[];
  readonly alphas: readonly Poly[];
  readonly S: Rows;
  readonly W: readonly (readonly [Poly, Poly])[];
  readonly Y: Rows;
}

export interface ShownTail extends Shown {
  readonly params: Tail;
  readonly tHat: Rows;
}

const sum = (list: readonly Poly[]): Poly => reduce(list.reduce((a, b) => add(a, b), ZERO));

/** Sum over pairs of factor(a, b) x_ab. */
const overPairs = (x: readonly Poly[], r: number, factor: (a: number, b: number) => Poly): Poly =>
  inner(
    pairsOf(r).map(([a, b]) => factor(a, b)),
    x,
  );

const quadratic = ({ c, g }: Pick<Shown, 'c' | 'g'>): Poly =>
  overPairs(g, c.length, (a, b) => {
    const product = multiply(c[a]!, c[b]!);
    return a === b ? product : scale(product, 2n);
  });

const constraint = ({ combined, g, h, c }: Pick<Shown, 'combined' | 'g' | 'h' | 'c'>): Poly => {
  const terms = [...combined.a].map(([index, a]) => multiply(a, g[index]!));
  const diagonal = c.map((_, a) => h[pairIndex(c.length, a, a)]!);
  return sum([...terms, ...diagonal]);
};

/** Section 5.3: the projection of a level, and what its norm is held to. */
export function projectionIdentities(
  { projected, projecting }: Pick<Started, 'projected' | 'projecting'>,
  inSq: number,
  level: number,
): Record<string, boolean> {
  const { projection, seed } = projecting;
  const xSq = signedNormSq(projection);
  const coefficients = projected.flatMap(({ poly }) => poly);
  const halves: [bigint, bigint] = [0n, 0n];
  for (const [i, x] of coefficients.entries()) halves[i % D < D / 2 ? 0 : 1] += x;
  const [U, V] = sumsOf(projection);
  return {
    P: projects(seed, level, projected, projection),
    projection: xSq <= 288n * BigInt(inSq),
    // Not an equation; but an honest norm is near 272 times that of the projected values.
    expansion: isNear(xSq, 272n * normSq([coefficients])),
    sums: U === halves[0] && V === halves[1],
  };
}

/** The equations of every level, those of its projection included. */
const common = (
  shown: ShownOrdinary | ShownTail,
  level: number,
  D: readonly Known[],
): Record<string, boolean> => ({
  ...claimIdentities(shown, D),
  ...projectionIdentities(shown, shown.params.inSq, level),
});

/** What the output of a level claims, and its lifts. */
export function claimIdentities(
  shown: Omit<Shown, 'projected' | 'projecting'>,
  D: readonly Known[],
): Record<string, boolean> {
  const { c, z, h, combined, lifts, cut, eSum } = shown;
  const ordinary = shown as Partial<ShownOrdinary>;
  const forms = [...shown.phiZ, ...(ordinary.phiE ?? [])];
  const more = shown.hiddenLifts === undefined ? ZERO : liftsInX(shown as ShownOrdinary);
  return {
    padding: cut.rows.every((row, a) =>
      row.every((poly, i) => !cut.padding[a]![i] || poly.every((x) => x === 0n)),
    ),
    D: liftsAre(lifts, D),
    E4: equal(quadratic(shown), inner(z, z)),
    E5: equal(
      overPairs(h, c.length, (a, b) => multiply(c[a]!, c[b]!)),
      inner(forms, [...z, ...eSum]),
    ),
    E6: equal(constraint(shown), add(combined.b, more)),
  };
}

const isNear = (x: bigint, y: bigint): boolean => x < 2n * y && y < 2n * x;

const recompose = (list: readonly Poly[], count: number, bits: number): Poly[] => {
  const size = list.length / count;
  return Array.from({ length: size }, (_, i) =>
    sum(
      Array.from({ length: count }, (__, j) => scale(list[j * size + i]!, 1n << BigInt(bits * j))),
    ),
  );
};

const same = (x: readonly Poly[], y: readonly Poly[]): boolean =>
  x.length === y.length && x.every((poly, i) => equal(poly, y[i]!));

/** In the range of an e: (-2^(bits - 1), 2^(bits - 1)]. */
const isDropped = (list: readonly Poly[], bits: number): boolean => {
  const edge = 2n ** BigInt(bits - 1);
  return list.every((poly) => poly.every((x) => x > -edge && x <= edge));
};

/** The pieces of v. */
function piecesOfV({ params, parts }: Pick<ShownOrdinary, 'params' | 'parts'>) {
  const v = parts[params.f]!;
  const { t, g, h, inner: inside, outer } = params.pieces;
  return {
    v,
    vT: v.slice(t, g),
    vG: v.slice(g, h),
    vH: v.slice(h, inside),
    vE: v.slice(inside, outer),
    outer: v.slice(outer),
  };
}

/** Everything that is carried recomposes to what it stands for, and is in its place. */
function digitIdentities(shown: ShownOutput): Record<string, boolean> {
  const { params, t, e, z, eSum, blocks, parts, g, h } = shown;
  const { f, b, fu, bu, fg, bg, kappa, kappa1, cut, ct, ft, m, pieces } = params;
  const { v, vT, vG, vH, vE, outer } = piecesOfV(shown);
  const perRow = ft * kappa;
  const half = ct === 0 ? 0n : 1n << BigInt(ct - 1);
  return {
    m: v.length === m,
    'digits of z': same(recompose(parts.slice(0, f).flat(), f, b), z),
    // t, or what stands for it less e
    'digits of t': t.every((list, a) => {
      const carried = recompose(vT.slice(a * perRow, (a + 1) * perRow), ft, bu);
      const hat = carried.map((poly) => add(scale(poly, 1n << BigInt(ct)), scale(ALL_ONES, half)));
      return same(
        hat.map((poly, k) => subtract(poly, e[a]![k] ?? ZERO)),
        list,
      );
    }),
    'digits of g': same(recompose(vG, fg, bg), g),
    'digits of h': same(recompose(vH, fu, bu), h),
    'digits of e': vE.length === (ct > 0 ? f * kappa : 0) && same(recompose(vE, f, b), eSum),
    'blocks are all of v':
      blocks.reduce((at, { from, count }) => (at === from ? at + count : -1), pieces.t) ===
      pieces.inner,
    cut: outer.length === (cut > 0 ? blocks.length * kappa1 : 0) && isDropped(outer, cut || 1),
    'inner cut': e.every(
      (list) => list.length === (ct > 0 ? kappa : 0) && isDropped(list, ct || 1),
    ),
  };
}

/** E1, E2 and E3 by what v has, x and e included. */
function outerIdentities(shown: ShownOutput): Record<string, boolean> {
  const { params, c, blocks, parts } = shown;
  const { n, f, b, bu, ft, kappa, kappa1, cut, ct } = params;
  const { v, vT, vE, outer } = piecesOfV(shown);
  const half = (bits: number): Poly =>
    bits === 0 ? ZERO : scale(ALL_ONES, 1n << BigInt(bits - 1));
  const z = recompose(parts.slice(0, f).flat(), f, b);
  const e = vE.length === 0 ? [] : recompose(vE, f, b);
  const perRow = ft * kappa;
  const t = c.map((_, a) => recompose(vT.slice(a * perRow, (a + 1) * perRow), ft, bu));
  const sumOfC = c.reduce((x, y) => add(x, y), ZERO);
  return {
    'E1, E2': blocks.every(({ from, count, hat, hidden }, index) => {
      const onLeft = messageOnLeft(hidden, params);
      return keyMatrix(kappa1, count).every((keys, row) => {
        const value = inner(keys, v.slice(from, from + count));
        const dropped = cut === 0 ? ZERO : outer[index * kappa1 + row]!;
        const left = subtract(add(value, dropped), onLeft[row] ?? ZERO);
        return equal(left, hidden === undefined ? hat[row]! : half(cut));
      });
    }),
    E3: keyMatrix(kappa, n).every((row, k) => {
      const ofT = inner(
        c,
        t.map((list) => reduce(scale(list[k]!, 1n << BigInt(ct)))),
      );
      const left = subtract(subtract(ofT, inner(row, z)), e[k] ?? ZERO);
      return equal(left, scale(multiply(sumOfC, half(ct)), -1n));
    }),
  };
}

export function ordinaryIdentities(
  shown: ShownOrdinary,
  level: number,
  before?: BeforeShown,
): Record<string, boolean> {
  return {
    ...common(shown, level, valuesD(shown, level, before)),
    ...outputIdentities(shown),
    ...(level === 0 && zeroIdentities(shown as ShownZero)),
    ...(before && behindIdentities(shown, level, before)),
  };
}

/** The output of a level that is not the tail: what it carries, and E1 to E3 on it. */
export function outputIdentities(shown: ShownOutput): Record<string, boolean> {
  const { params } = shown;
  return {
    ...digitIdentities(shown),
    ...outerIdentities(shown),
    rows: shown.cut.rows.length === params.r,
    norm: normSq(shown.parts.flat()) <= BigInt(params.outSq),
    ...(params.w > 0 && hiddenIdentities(shown)),
  };
}

/** The equations of all levels of a run, by level; `count` of them are ordinary. */
export function identitiesOf(
  views: readonly LevelView[],
  count: number,
): Record<string, boolean>[] {
  let before: BeforeShown | undefined;
  return views.map(({ values }, level) => {
    if (level === count) return tailIdentities(values as ShownTail, level, before);
    const shown = values as ShownOrdinary;
    const equations = ordinaryIdentities(shown, level, before);
    before = shown.params.w > 0 ? { shown, D: valuesD(shown, level, before) } : undefined;
    return equations;
  });
}

/** N1, the exact norms and the conjugates. */
function zeroIdentities({ S, W, Y, alphas }: ShownZero): Record<string, boolean> {
  const betaSq = S[0]!.length === 17 ? BETA_SQ[512] : BETA_SQ[1024];
  const w = W.map(([low, high]) => add(low, scale(high, 1n << 13n)));
  const left = subtract(innerZ(S.flat(), Y.flat()), innerZ(alphas, w));
  const right = scale(
    alphas.reduce((a, b) => add(a, b), ZERO),
    betaSq,
  );
  return {
    N1: left.every((x, i) => x === right[i]),
    'exact norm': S.every((list) => normSq(list) === betaSq),
    'constant of w': w.every((poly) => poly[0] === 0n),
    Y: S.every((list, i) =>
      list.every((s, t) => equal(multiply(sigma(alphas[i]!), s), reduce(sigma(Y[i]![t]!)))),
    ),
  };
}

/** Section 9.4: what the verifier recovers of the values that were sealed. */
function recovered({ params, tHat, g, h, c, z, eSum, phiZ, combined }: ShownTail) {
  const { r, n, kappa } = params;
  const last = r - 1;
  const pair = (a: number, b: number): number => pairIndex(r, a, b);
  const inverseLast = inverse(c[last]!);
  const tLast = keyMatrix(kappa, n).map((row, k) => {
    const known = inner(
      c.slice(0, last),
      tHat.slice(0, last).map((list) => list[k]!),
    );
    return multiply(inverseLast, subtract(add(inner(row, z), eSum[k]!), known));
  });
  const others = pairsOf(r)
    .slice(0, -1)
    .map(([a, b]) => scale(multiply(multiply(c[a]!, c[b]!), g[pair(a, b)]!), a === b ? 1n : 2n));
  const gLast = multiply(
    multiply(inverseLast, inverseLast),
    reduce(subtract(inner(z, z), sum(others))),
  );
  const s = reduce(
    subtract(
      combined.b,
      sum([
        ...[...combined.a].map(([index, a]) => multiply(a, g[index]!)),
        ...c.slice(1, last).map((_, a) => h[pair(a + 1, a + 1)]!),
      ]),
    ),
  );
  const squareFirst = multiply(c[0]!, c[0]!);
  const difference = reduce(subtract(multiply(c[last]!, c[last]!), squareFirst));
  const linear = pairsOf(r)
    .slice(1, -1)
    .map(([a, b]) => multiply(multiply(c[a]!, c[b]!), h[pair(a, b)]!));
  const onZ = add(inner(phiZ.slice(0, n), z), inner(phiZ.slice(n), eSum));
  const hLast = multiply(
    inverse(difference),
    reduce(subtract(onZ, sum([...linear, multiply(squareFirst, s)]))),
  );
  return { inverseLast, tLast, gLast, hLast };
}

/** What the verifier recovers is what was sealed. */
export function tailIdentities(
  shown: ShownTail,
  level: number,
  before?: BeforeShown,
): Record<string, boolean> {
  const { params, t, tHat, e, g, h, c, z, eSum, combined } = shown;
  const last = params.r - 1;
  const { inverseLast, tLast, gLast, hLast } = recovered(shown);
  return {
    ...common(shown, level, valuesD(shown, level, before)),
    ...(before && behindIdentities(shown, level, before)),
    t: t.every((list, a) =>
      list.every((poly, k) => equal(poly, subtract(tHat[a]![k]!, e[a]![k]!))),
    ),
    inverse: equal(multiply(inverseLast, c[last]!), constant(1n)),
    tLast: tLast.every((poly, k) => equal(poly, t[last]![k]!)),
    gLast: equal(gLast, g.at(-1)!),
    hLast: equal(hLast, h.at(-1)!),
    'no square of the last row': !combined.a.has(pairIndex(params.r, last, last)),
    norm: normSq([...z, ...eSum]) <= BigInt(params.outSq),
  };
}
