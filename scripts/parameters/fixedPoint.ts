/** Square roots, logarithms and exponentials in integers, so that a check depends on no engine. */

/** A real v is kept as floor(v * 2^PRECISION), good to far better than 2^-100. */
const PRECISION = 192n;
export const ONE = 1n << PRECISION;

/** floor(sqrt(x)) */
export function squareRoot(x: bigint): bigint {
  if (x < 2n) return x;
  let root = 1n << BigInt((x.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + x / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** ceil(sqrt(x)) */
export function squareRootUp(x: bigint): bigint {
  const root = squareRoot(x);
  return root * root === x ? root : root + 1n;
}

/** ln(numerator / denominator) of a ratio >= 1, by halving and 2 artanh */
export function logarithm(numerator: bigint, denominator: bigint): bigint {
  let halvings = 0n;
  while (numerator >= 2n * denominator) {
    denominator *= 2n;
    halvings++;
  }
  return halvings * artanhLog(2n, 1n) + artanhLog(numerator, denominator);
}

/** ln(x/y) = 2 artanh((x - y)/(x + y)) */
function artanhLog(x: bigint, y: bigint): bigint {
  const ratio = ((x - y) * ONE) / (x + y);
  const square = (ratio * ratio) >> PRECISION;
  let power = ratio;
  let sum = 0n;
  for (let i = 1n; power !== 0n; i += 2n) {
    sum += power / i;
    power = (power * square) >> PRECISION;
  }
  return 2n * sum;
}

/** floor(exp(x)) as an integer, for x >= 0 in fixed point */
export function exponential(x: bigint): bigint {
  const ln2 = logarithm(2n, 1n);
  const shift = x / ln2;
  const rest = x - shift * ln2;
  let term = ONE;
  let sum = ONE;
  for (let i = 1n; term !== 0n; i++) {
    term = (term * rest) / (ONE * i);
    sum += term;
  }
  return (sum << shift) >> PRECISION;
}

/** sqrt of a fixed-point number */
export function squareRootOf(x: bigint): bigint {
  return squareRoot(x << PRECISION);
}

/** -log2(numerator/denominator) in hundredths, rounded down: how small an error is */
export function bitsOf(numerator: bigint, denominator: bigint): number {
  const value = (100n * logarithm(denominator, numerator)) / logarithm(2n, 1n);
  return Number(value) / 100;
}
