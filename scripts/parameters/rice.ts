/** Rice parameters: the best k for zigzag numbers of a Gaussian, and what it costs. */

/** 1 - erf(x) to 1e-7 (Abramowitz and Stegun 7.1.26), for x >= 0 */
export function erfc(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  const p =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return p * Math.exp(-x * x);
}

/** expected bits of one value: k low bits, a stop bit, and the unary part */
export function expectedBits(sigma: number, k: number): number {
  let bits = k + 1;
  // the zigzag number 2|x| or 2|x| - 1 reaches j 2^k when |x| reaches about j 2^(k-1)
  const step = k === 0 ? 0.5 : 2 ** (k - 1);
  for (let j = 1; j < 60; j++) bits += erfc((j * step - 0.25) / (sigma * Math.SQRT2));
  return bits;
}

const cache = new Map<number, { k: number; bits: number }>();

export function bestRice(variance: number): { k: number; bits: number } {
  const sigma = Math.sqrt(Math.max(variance, 1 / 12));
  const key = Math.round(32 * Math.log2(sigma));
  const known = cache.get(key);
  if (known) return known;
  const rounded = 2 ** (key / 32);
  const guess = Math.max(0, Math.round(Math.log2(rounded)));
  let best = { k: 0, bits: Number.POSITIVE_INFINITY };
  for (let k = Math.max(0, guess - 1); k <= guess + 2; k++) {
    const bits = expectedBits(rounded, k);
    if (bits < best.bits) best = { k, bits };
  }
  cache.set(key, best);
  return best;
}

/** Largest k for a value of the projection: the sum of their squares stays below 2^53. */
const MOST_FOR_Y = 17;

/** The code of y'_j, half of a sum of coefficients with random signs. */
export function projectionCode(normSq: number): { k: number; bits: number } {
  const { k, bits } = bestRice(normSq / 4);
  if (k <= MOST_FOR_Y) return { k, bits };
  return { k: MOST_FOR_Y, bits: expectedBits(Math.sqrt(normSq / 4), MOST_FOR_Y) };
}

/** The best k for a list of Gaussians together, and the bits of all values. */
export function bestRiceOf(runs: readonly { length: number; variance: number }[]): {
  k: number;
  bits: number;
} {
  const total = runs.reduce((sum, run) => sum + run.length, 0);
  const mean = runs.reduce((sum, run) => sum + run.length * run.variance, 0) / total;
  const guess = bestRice(mean).k;
  let best = { k: guess, bits: Number.POSITIVE_INFINITY };
  for (const k of [guess - 1, guess, guess + 1]) {
    if (k < 0) continue;
    const bits = runs.reduce((sum, run) => sum + run.length * bitsOf(run.variance, k), 0);
    if (bits < best.bits) best = { k, bits };
  }
  return best;
}

const bitsCache = new Map<number, number>();

function bitsOf(variance: number, k: number): number {
  const step = Math.round(16 * Math.log2(Math.max(variance, 1 / 12)));
  const key = 64 * step + k;
  let bits = bitsCache.get(key);
  if (bits === undefined) bitsCache.set(key, (bits = expectedBits(2 ** (step / 32), k)));
  return bits;
}
