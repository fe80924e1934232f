/**
 * What the coder of y, z, e and g costs.
 *
 * A value x is coded with an index t, a byte of the table, that stands for the standard deviation
 * 8 * 2^(t/8): x = 2^s h + l with s = floor(t/8) and 0 <= l < 2^s. The s bits of l stand as they
 * are; h goes through the coder of the bundle (docs/bundle-format.md, 3.2) with table j = t mod 8.
 * It shares M = 2^24 slots among h = -256, ..., 255 as a Gaussian of deviation 8 * 2^(j/8) around
 * -1/2 does, so that x is symmetric about zero but for 1/2: with w(h) = exp(-(h + 1/2)^2/(2 * 64 *
 * 2^(j/4))) and W the sum of all w,
 *
 *     f(h) = f(-1-h) = 1 + round((M - 512) w(h)/W)        for h = 1, ..., 255
 *     f(0) = f(-1)   = M/2 - (f(1) + ... + f(255))
 *
 * Sizes are those of one string for all h of a section at its end: the low bits and all other
 * fields have lengths that the table tells, and two states take 8 bytes beyond what they hold.
 */

/**
 * Tables: steps of an eighth of an octave lose at most 0.003 bits a value, and 0.001 on average.
 */
const STEPS = 8;
const LEAST_SIGMA = 8;
/** h is in [-REACH, REACH) */
export const LOG2_REACH = 8;
const REACH = 2 ** LOG2_REACH;
const LOG2_SLOTS = 24;
/** bytes that the two states take beyond what they hold */
export const CODER_BYTES = 8;

/** Largest index that a byte holds. */
export const MAX_INDEX = 255;

/** s of an index: how many low bits stand as they are. */
export const shiftOf = (index: number): number => Math.floor(index / STEPS);

/** The largest index with |x| <= 2^bits for every x that has a code. */
export const lastIndexWithin = (bits: number): number => STEPS * (bits - LOG2_REACH + 1) - 1;

/** Bits of h >= 0 in table j: -log2 of its share. */
const COSTS = Array.from({ length: STEPS }, (_, j) => {
  const sigma = LEAST_SIGMA * 2 ** (j / STEPS);
  const weights = Array.from({ length: REACH }, (_, h) =>
    Math.exp(-((h + 0.5) ** 2) / (2 * sigma * sigma)),
  );
  const sum = 2 * weights.reduce((a, b) => a + b);
  const free = 2 ** LOG2_SLOTS - 2 * REACH;
  const slots = weights.map((w) => 1 + Math.round((free * w) / sum));
  slots[0] = 2 ** (LOG2_SLOTS - 1) - slots.slice(1).reduce((a, b) => a + b);
  return slots.map((f) => LOG2_SLOTS - Math.log2(f));
});

/** Bits of one value; infinite where it has no code. */
export function bitsOfValue(x: number, index: number): number {
  const shift = shiftOf(index);
  const h = Math.floor(x / 2 ** shift);
  return shift + (COSTS[index % STEPS]![h >= 0 ? h : -1 - h] ?? Number.POSITIVE_INFINITY);
}

const expected = new Map<number, number>();

/** Expected bits of one value of a Gaussian of deviation 2^(step/64). */
function expectedAt(step: number, index: number): number {
  const key = 256 * step + index;
  let bits = expected.get(key);
  if (bits === undefined) {
    const shift = shiftOf(index);
    const sigma = 2 ** (step / 64 - shift);
    const costs = COSTS[index % STEPS]!;
    let sum = 0;
    let all = 0;
    for (let h = 0; h < REACH; h++) {
      const weight = Math.exp(-((h + 0.5) ** 2) / (2 * sigma * sigma));
      all += weight;
      sum += weight * costs[h]!;
    }
    expected.set(key, (bits = shift + sum / all));
  }
  return bits;
}

const stepOf = (variance: number): number => Math.round(32 * Math.log2(variance));

/** The index nearest to a Gaussian of this variance, at most `last`. */
export function indexOf(variance: number, last = MAX_INDEX): number {
  const index = Math.round(STEPS * (0.5 * Math.log2(variance) - Math.log2(LEAST_SIGMA)));
  return Math.min(last, Math.max(0, index));
}

/** Expected bits of one value of a Gaussian of this variance, with an index or the best one. */
export const expectedBits = (variance: number, index = indexOf(variance)): number =>
  expectedAt(stepOf(variance), index);
