/**
 * How improbable a short projection of a long vector is, for every vector, proved with intervals.
 *
 * Let w_k = u_k + i v_k be the projected vector, of norm 1 as a complex one, a_k = |w_k|^2, and x,
 * x* what a pair of rows of random signs makes of it, E (x^2 + x*^2) = 2. For every t > 0
 *
 *     P(sum of all x^2 <= theta) <= e^(theta t) phi^pairs,       phi = E e^(-t (x^2 + x*^2)).
 *
 * The bounds of phi below hold on whole ranges of a, the largest a_k; each has the t that suits it.
 *
 *  - a <= 1/2: phi <= (sup h_t)^2 by Hoelder with the exponents 1/a_k, where
 *    h_t(s) = E |cos(sqrt(2ts) G)|^(1/s), G a standard normal variable.
 *  - 1/2 <= a <= SWITCH: phi <= (1 + e^(-4ta))/2 sup h_t', t' = 2(1-a)t, by Cauchy and Schwarz for
 *    w_1 and the rest.
 *  - SWITCH <= a <= ALONE: with the other bits fixed, the four values of the bits of w_1 make
 *    e^(-t (x^2 + x*^2)) at most k(|Z|^2) on average, Z what the rest makes. A parabola above k
 *    bounds E k(|Z|^2), since E |Z|^2 = 2(1-a) and E |Z|^4 <= 8(1-a)^2.
 *  - above: phi <= max k.
 */
import { exponential as exponentialOf, largestOf, ONE } from '../fixedPoint.ts';
import { ACCEPTED, GAMMA_SQ, JL_VALUES, PAIRS } from './constants.ts';
import {
  add,
  divide,
  exponential,
  type Interval,
  multiply,
  PI,
  point,
  square,
  squareRoot,
  subtract,
  up,
} from './interval.ts';

/** All t, and all bounds of ranges, are multiples of 2^-10. */
const TIMES = {
  even: 1178 / 1024,
  schwarz: 1213 / 1024,
  parabola: 1101 / 1024,
  alone: 1126 / 1024,
};
const SWITCH = 527 / 1024;
const ALONE = 615 / 1024;

/**
 * The largest upper bound of the cells into which a cell falls: those above `goal` are halved, down
 * to `least`.
 */
function supremum(
  bound: (cell: Interval) => number,
  cell: Interval,
  goal: number,
  least: number,
): number {
  const value = bound(cell);
  if (value <= goal || cell[1] - cell[0] <= least) return value;
  const middle = (cell[0] + cell[1]) / 2;
  return Math.max(
    supremum(bound, [cell[0], middle], goal, least),
    supremum(bound, [middle, cell[1]], goal, least),
  );
}

const exponentialUp = (x: Interval): number => exponential(x)[1];
const negative = (x: Interval): Interval => [-x[1], -x[0]];

/**
 * E cos^(2n)(sqrt(2ts) G) from x = 4ts, in which it falls: 4^-n times the sum of C(2n, k) e^(-x
 * (n-k)^2)
 */
function cosMoment(n: number, x: Interval): number {
  let binomial = 1;
  let sum = 0;
  for (let k = 0; k < n; k++) {
    const by = negative(multiply(point((n - k) * (n - k)), x));
    sum = up(sum + up(2 * binomial * exponentialUp(by)));
    binomial = (binomial * (2 * n - k)) / (k + 1);
  }
  return up(up(sum + binomial) / (1 << (2 * n)));
}

/** Shares below 1/10 are bounded by a theta function, the others by moments. */
const MOMENTS = 5;

/**
 * h_t for shares of at most 1/(2 MOMENTS): |cos x|^(1/s) is at most the sum over all j of exp(-(x -
 * j pi)^2/(2s)), hence h <= (1+2t)^(-1/2) (1 + 2 sum over j >= 1 of exp(-j^2 pi^2/(2s (1+2t)))).
 */
function smallShares(t: Interval): number {
  const all = add(point(1), multiply(point(2), t));
  const by = negative(divide(multiply(point(MOMENTS), square(PI)), all));
  let sum = 1;
  // the exponent of j = 3 is 9 by; what follows is less than that again
  for (const times of [1, 4, 9, 9]) {
    sum = up(sum + up(2 * exponentialUp(multiply(point(times), by))));
  }
  return up(sum / squareRoot(all)[0]);
}

/** h_t(1/p) for all p of a cell between 2n and 2n + 2: |cos|^p is convex in p. */
function largeShares(t: Interval, n: number, p: Interval): number {
  const x = multiply(point(4), divide(t, p));
  // the larger weight stands with the lower power, which is the larger one
  const weight = (2 * n + 2 - p[0]) / 2;
  return up(up(weight * cosMoment(n, x)) + up((1 - weight) * cosMoment(n + 1, x)));
}

/** sup of h_t(s) over 0 < s <= 1/2, for all t of an interval */
function largestH(t: Interval): number {
  let largest = Math.max(smallShares(t), cosMoment(1, multiply(point(2), t)));
  const goal = largest * (1 + 2 ** -14);
  for (let n = 1; n < MOMENTS; n++) {
    const bound = (p: Interval) => largeShares(t, n, p);
    largest = Math.max(largest, supremum(bound, [2 * n, 2 * n + 2], goal, 2 ** -12));
  }
  return largest;
}

/** One large coefficient and the rest apart, for the shares of a cell. */
function bySchwarz(t: number, a: Interval): number {
  const first = up((1 + exponentialUp(multiply(point(-4 * t), a))) / 2);
  return up(first * largestH(multiply(point(2 * t), subtract(point(1), a))));
}

/** k(s^2) = e^(-t (2a + s^2))/2 + e^(-t (r - s)^2)/4 + e^(-t (r + s)^2)/4, r = sqrt(2a) */
function averaged(t: number, a: Interval, s: Interval): number {
  const root = squareRoot(multiply(point(2), a));
  const part = (distance: Interval) => exponentialUp(multiply(point(-t), distance));
  const both = part(add(multiply(point(2), a), square(s)));
  const near = part(square(subtract(root, s)));
  const far = part(square(add(root, s)));
  return up(up(both / 2) + up(up(near / 4) + up(far / 4)));
}

/** From here on k falls, since r < 2, and the parabolas rise. */
const FAR = 4;
/**
 * beta <= 0 and gamma of the parabolas alpha + beta y + gamma y^2, with vertices below FAR^2, and
 * up to which share each serves
 */
const PARABOLAS = [
  { upTo: 535 / 1024, beta: -0.063, gamma: 0.0027 },
  { upTo: 553 / 1024, beta: -0.0545, gamma: 0.00208 },
  { upTo: 1, beta: -0.04, gamma: 0.0013 },
] as const;

/**
 * E k(|Z|^2) for the shares of a cell: the parabola's alpha is what k exceeds beta y + gamma y^2 by
 * at most.
 */
function byParabola(t: number, a: Interval, goal: number): number {
  const { beta, gamma } = PARABOLAS.find(({ upTo }) => a[1] <= upTo)!;
  if (!(-beta <= 2 * gamma * FAR * FAR)) throw new RangeError('a vertex beyond FAR');
  const rest = subtract(point(1), a);
  const mean = multiply(point(beta), multiply(point(2), rest));
  const fourth = multiply(point(gamma), multiply(point(8), square(rest)));
  const tail = add(mean, fourth)[1];
  const above = (s: Interval): number => {
    const y = square(s);
    const parabola = add(multiply(point(beta), y), multiply(point(gamma), square(y)));
    return up(averaged(t, a, s) - parabola[0]);
  };
  return up(supremum(above, [0, FAR], goal - tail, 2 ** -12) + tail);
}

/**
 * Near the least bounds that come out: cells below are not halved. They decide about time, not
 * about truth.
 */
const GOALS = { schwarz: 0.2993, parabola: 0.3141, alone: 0.308 };
const FINEST = 2 ** -13;

/** A bound of phi for vectors of which the largest share is in a range. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly t: number;
  readonly phi: number;
}

/**
 * A vector of which all u_k and v_k are small: each range of the largest share with a proved bound
 * of phi.
 */
export function ranges(): Range[] {
  const { even, schwarz, parabola, alone } = TIMES;
  const h = largestH(point(even));
  const apart = (a: Interval) => bySchwarz(schwarz, a);
  let bent = 0;
  for (let from = SWITCH, to = 0; from < ALONE; from = to) {
    to = Math.min(ALONE, from + Math.max(FINEST, (from - SWITCH) / 16));
    bent = Math.max(bent, byParabola(parabola, [from, to], GOALS.parabola));
  }
  const highest = (a: Interval) =>
    supremum((s) => averaged(alone, a, s), [0, FAR], GOALS.alone, FINEST);
  return [
    { from: 0, to: 0.5, t: even, phi: up(h * h) },
    {
      from: 0.5,
      to: SWITCH,
      t: schwarz,
      phi: supremum(apart, [0.5, SWITCH], GOALS.schwarz, FINEST),
    },
    { from: SWITCH, to: ALONE, t: parabola, phi: bent },
    { from: ALONE, to: 1, t: alone, phi: supremum(highest, [ALONE, 1], GOALS.alone, 2 ** -8) },
  ];
}

const UNIT = 1n << 256n;
const share = (numerator: bigint, denominator: bigint): bigint =>
  (numerator * UNIT + denominator - 1n) / denominator;

/** 2^55: a double between 1/4 and 1/2 times this is an integer. */
const TWO_55 = 36_028_797_018_963_968;

/** e^(theta t) phi^PAIRS over 2^256, rounded up. */
function smallCoefficients({ t, phi }: Range): bigint {
  const theta = BigInt(ACCEPTED * GAMMA_SQ.denominator);
  const exponent = (theta * BigInt(1024 * t) * ONE) / BigInt(1024 * GAMMA_SQ.numerator);
  const growth = exponentialOf(exponent + 1n) + 2n;
  const pairs = BigInt(PAIRS);
  return share(growth * BigInt(TWO_55 * phi) ** pairs, 1n << (55n * pairs));
}

/** Values of x beyond sqrt(ACCEPTED/30) B that the accepted norm leaves room for. */
const OUTSIDE = 29n;

/**
 * A vector with a larger coefficient: each value is inside with probability at most 1/2 given the
 * others of its pair, so that Chernoff's bound for PAIRS independent pairs holds: ((1+s)/2)^(2
 * PAIRS)/s^inside, s = inside/OUTSIDE.
 */
function largeCoefficient(): bigint {
  const all = BigInt(JL_VALUES);
  const inside = all - OUTSIDE;
  return share(all ** all, (OUTSIDE ** OUTSIDE * inside ** inside) << all);
}

let known: bigint | undefined;

/**
 * @returns the largest probability, over 2^256, that a vector beyond gamma^2 inSq has a projection
 * within
 *   ACCEPTED inSq; a coefficient near q/2 leaves two of four values to every pair
 */
export function projectionError(): bigint {
  known ??= largestOf([
    ...ranges().map(smallCoefficients),
    largeCoefficient(),
    UNIT >> BigInt(PAIRS),
  ]);
  return known;
}
