/**
 * Interval arithmetic in binary64 with outward rounding. Only +, -, * and / are trusted, which
 * ECMAScript has correctly rounded: a result is moved outwards by at least one unit in the last
 * place. Roots, exponentials and logarithms of the engine are guesses at most, and are proved
 * before they are used.
 */

/** All reals from lo to hi. */
export type Interval = readonly [lo: number, hi: number];

/** At least one unit in the last place, for every magnitude. */
const step = (x: number): number => Math.abs(x) * 2 ** -52 + Number.MIN_VALUE;
/** Below whatever was rounded to x, and above it. */
export const down = (x: number): number => x - step(x);
export const up = (x: number): number => x + step(x);

export const point = (x: number): Interval => [x, x];
export const PI: Interval = [Math.PI, up(Math.PI)];

export const add = (x: Interval, y: Interval): Interval => [down(x[0] + y[0]), up(x[1] + y[1])];
export const subtract = (x: Interval, y: Interval): Interval => [
  down(x[0] - y[1]),
  up(x[1] - y[0]),
];

export function multiply(x: Interval, y: Interval): Interval {
  const a = x[0] * y[0];
  const b = x[0] * y[1];
  const c = x[1] * y[0];
  const d = x[1] * y[1];
  return [down(Math.min(a, b, c, d)), up(Math.max(a, b, c, d))];
}

/** x/y for y > 0. */
export function divide(x: Interval, y: Interval): Interval {
  if (!(y[0] > 0)) throw new RangeError('the divisor must be positive');
  return [down(Math.min(x[0] / y[0], x[0] / y[1])), up(Math.max(x[1] / y[0], x[1] / y[1]))];
}

/** x^2, which is nowhere negative. */
export function square(x: Interval): Interval {
  const a = x[0] * x[0];
  const b = x[1] * x[1];
  const least = x[0] <= 0 && x[1] >= 0 ? 0 : Math.max(0, down(Math.min(a, b)));
  return [least, up(Math.max(a, b))];
}

/** sqrt of x > 0: a guess, moved until its square is on the right side */
export function squareRoot(x: Interval): Interval {
  if (!(x[0] > 0)) throw new RangeError('the argument must be positive');
  let lo = Math.sqrt(x[0]);
  while (up(lo * lo) > x[0]) lo = down(lo);
  let hi = Math.sqrt(x[1]);
  while (down(hi * hi) < x[1]) hi = up(hi);
  return [lo, hi];
}

/** The argument is divided by 2^HALVINGS, and the result squared as often. */
const HALVINGS = 8;
const TERMS = 13;
/** |y|^14/14! e^|y| for |y| <= 1/4 is less than this. */
const REMAINDER = 2 ** -63;

/** exp of one x, |x| <= 64: the Taylor series of x/2^8 with its remainder, squared eight times */
function exponentialAt(x: number): Interval {
  const y = x / 2 ** HALVINGS;
  if (!(Math.abs(y) <= 0.25)) throw new RangeError('the argument must be in [-64, 64]');
  let sum: Interval = [1, 1];
  for (let i = TERMS; i >= 1; i--) {
    sum = add([1, 1], multiply(divide(point(y), point(i)), sum));
  }
  sum = [down(sum[0] - REMAINDER), up(sum[1] + REMAINDER)];
  for (let i = 0; i < HALVINGS; i++) sum = square(sum);
  return sum;
}

/** exp of x >= -64, 0 below */
export function exponential(x: Interval): Interval {
  const lo = x[0] < -64 ? 0 : exponentialAt(x[0])[0];
  return [Math.max(0, lo), exponentialAt(Math.max(x[1], -64))[1]];
}

/** ln of x > 0: a guess, moved until its exponential is on the right side */
export function logarithm(x: Interval): Interval {
  let lo = Math.log(x[0]);
  for (let by = 2 ** -40; exponentialAt(lo)[1] > x[0]; by *= 2) lo -= by;
  let hi = Math.log(x[1]);
  for (let by = 2 ** -40; exponentialAt(hi)[0] < x[1]; by *= 2) hi += by;
  return [lo, hi];
}
