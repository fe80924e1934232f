/**
 * Every equation that an honest run has to satisfy, computed once more from what the run shows: the
 * names of those that do not hold.
 */
import { keyMatrix, omegas, thetas } from './challenges.ts';
import type { Combined } from './combine.ts';
import type { Started } from './level.ts';
import { pairIndex, pairsOf, type Tail } from './parameters.ts';
import {
  add,
  BETA_SQ,
  constant,
  D,
  equal,
  FALCON_Q,
  inner,
  innerZ,
  inverse,
  mod,
  multiply,
  normSq,
  type Poly,
  Q,
  reduce,
  scale,
  sigma,
  subtract,
  ZERO,
} from './ring.ts';
import { type Rows, signedNormSq, sumsOf } from './steps.ts';

/** The values that both kinds of levels show. */
interface Shown extends Pick<Started, 'cut' | 't' | 'g' | 'projected' | 'projecting'> {
  readonly h: readonly Poly[];
  readonly c: readonly Poly[];
  readonly z: readonly Poly[];
  readonly phiZ: readonly Poly[];
  readonly combined: Combined;
  readonly liftSeed: Uint8Array;
  readonly lifts: readonly Poly[];
}

export interface ShownOrdinary extends Shown, Pick<Started, 'params' | 'vT' | 'vG' | 'blocks'> {
  readonly parts: Rows;
}

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
  readonly e: Rows;
  readonly eSum: readonly Poly[];
}

const sum = (list: readonly Poly[]): Poly => reduce(list.reduce((a, b) => add(a, b), ZERO));

/** Sum over pairs of factor(a, b) x_ab. */
const overPairs = (x: readonly Poly[], r: number, factor: (a: number, b: number) => Poly): Poly =>
  inner(
    pairsOf(r).map(([a, b]) => factor(a, b)),
    x,
  );

const quadratic = ({ c, g }: Shown): Poly =>
  overPairs(g, c.length, (a, b) => {
    const product = multiply(c[a]!, c[b]!);
    return a === b ? product : scale(product, 2n);
  });

const constraint = ({ combined, g, h, c }: Shown): Poly => {
  const terms = [...combined.a].map(([index, a]) => multiply(a, g[index]!));
  const diagonal = c.map((_, a) => h[pairIndex(c.length, a, a)]!);
  return sum([...terms, ...diagonal]);
};

/** b_0 of a lift from y, and of the functionals at level 0; b_32 as well at the others. */
function knownCoefficients(shown: Shown, level: number): (readonly [bigint, bigint?])[] {
  const zero = shown as Partial<ShownZero>;
  const { y, star } = shown.projecting.projection;
  return shown.lifts.map((_, k) => {
    let real = 0n;
    let imaginary = 0n;
    for (const [j, [a, b]] of omegas(shown.liftSeed, level, k).entries()) {
      real += a * y[j]! - b * star[j]!;
      imaginary += a * star[j]! + b * y[j]!;
    }
    if (level > 0) return [mod(real, Q), mod(imaginary, Q)];
    for (const [j, t] of thetas(shown.liftSeed, 0, k).entries()) {
      real += t * (FALCON_Q * zero.w![j]! + zero.C![j]!);
    }
    return [mod(real, Q)];
  });
}

/** The equations of every level. */
function common(shown: Shown, level: number): Record<string, boolean> {
  const { c, z, h, combined, lifts, cut } = shown;
  const { projection } = shown.projecting;
  const inSq = (shown as unknown as Pick<Started, 'params'>).params.inSq;
  const xSq = signedNormSq(projection);
  const coefficients = shown.projected.flatMap(({ poly }) => poly);
  const halves: [bigint, bigint] = [0n, 0n];
  for (const [i, x] of coefficients.entries()) halves[i % D < D / 2 ? 0 : 1] += x;
  const [U, V] = sumsOf(projection);
  return {
    padding: cut.rows.every((row, a) =>
      row.every((poly, i) => !cut.padding[a]![i] || poly.every((x) => x === 0n)),
    ),
    projection: xSq <= 288n * BigInt(inSq),
    // Not an equation; but an honest norm is near 272 times that of the projected values.
    expansion: isNear(xSq, 272n * normSq([coefficients])),
    sums: U === halves[0] && V === halves[1],
    lifts: knownCoefficients(shown, level).every(([first, middle], k) => {
      const coefficient = (i: number): bigint => mod(lifts[k]![i]!, Q);
      return first === coefficient(0) && (middle === undefined || middle === coefficient(D / 2));
    }),
    E4: equal(quadratic(shown), inner(z, z)),
    E5: equal(
      overPairs(h, c.length, (a, b) => multiply(c[a]!, c[b]!)),
      inner(shown.phiZ, [...z, ...((shown as Partial<ShownTail>).eSum ?? [])]),
    ),
    E6: equal(constraint(shown), combined.b),
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

export function ordinaryIdentities(shown: ShownOrdinary, level: number): Record<string, boolean> {
  const { params, t, c, z, vT, vG, blocks, parts, g, h } = shown;
  const { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, m, r } = params;
  const same = (x: readonly Poly[], y: readonly Poly[]): boolean =>
    x.length === y.length && x.every((poly, i) => equal(poly, y[i]!));
  const v = parts[f]!;
  const vH = v.slice(vT.length + vG.length, vT.length + vG.length + h.length * fu);
  const perRow = fu * kappa;
  const equations: Record<string, boolean> = {
    ...common(shown, level),
    m: v.length === m,
    'digits of z': same(recompose(parts.slice(0, f).flat(), f, b), z),
    'digits of t': t.every((list, a) =>
      same(recompose(vT.slice(a * perRow, (a + 1) * perRow), fu, bu), list),
    ),
    'digits of g': same(recompose(vG, fg, bg), g),
    'digits of h': same(recompose(vH, fu, bu), h),
    'E1, E2': blocks.every(({ from, count, hat, e }) =>
      keyMatrix(kappa1, count).every((keys, row) => {
        const value = inner(keys, v.slice(from, from + count));
        return equal(sum([value, e[row] ?? ZERO]), hat[row]!);
      }),
    ),
    'blocks are all of v':
      blocks.reduce((at, { from, count }) => (at === from ? at + count : -1), 0) ===
      vT.length + vG.length + vH.length,
    cut: v
      .slice(m - (cut > 0 ? blocks.length * kappa1 : 0))
      .every(
        (poly) =>
          cut === 0 ||
          poly.every((x) => x > -(2n ** BigInt(cut - 1)) && x <= 2n ** BigInt(cut - 1)),
      ),
    E3: keyMatrix(kappa, n).every((row, k) =>
      equal(
        inner(
          c,
          t.map((list) => list[k]!),
        ),
        inner(row, z),
      ),
    ),
    rows: shown.cut.rows.length === r,
    norm: normSq(parts.flat()) <= BigInt(params.outSq),
  };
  return level === 0 ? { ...equations, ...zeroIdentities(shown as ShownZero) } : equations;
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

/** Section 9.4 in full: what the verifier recovers is what was sealed. */
export function tailIdentities(shown: ShownTail, level: number): Record<string, boolean> {
  const { params, t, tHat, e, g, h, c, z, eSum, phiZ, combined } = shown;
  const { r, outSq, n, kappa } = params;
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
  const hLast = multiply(
    inverse(difference),
    reduce(
      subtract(
        add(inner(phiZ.slice(0, n), z), inner(phiZ.slice(n), eSum)),
        sum([...linear, multiply(squareFirst, s)]),
      ),
    ),
  );
  return {
    ...common(shown, level),
    t: t.every((list, a) =>
      list.every((poly, k) => equal(poly, subtract(tHat[a]![k]!, e[a]![k]!))),
    ),
    inverse: equal(multiply(inverseLast, c[last]!), constant(1n)),
    tLast: tLast.every((poly, k) => equal(poly, t[last]![k]!)),
    gLast: equal(gLast, g.at(-1)!),
    hLast: equal(hLast, h.at(-1)!),
    'no square of the last row': !combined.a.has(pair(last, last)),
    norm: normSq([...z, ...eSum]) <= BigInt(outSq),
  };
}
