/** Section 11.2: the Gaussian code, read. Values and states are taken from the front. */
import { type Checks, Refused, require } from './checks.ts';

const SLOTS = 1 << 24;
const HALF_SLOTS = SLOTS / 2;
/** h is below this, and not below its negative */
const RANGE = 256;
const LEAST_STATE = 2n ** 32n;
const STATE_BYTES = 6;

/** c_j(h) for h = -256..256, the last one 2^24: value h owns the slots from its c to the next. */
export function boundsOf(j: number): number[] {
  const variance = 64 * 2 ** (j / 4);
  const weight = (h: number) => Math.exp(-((2 * h + 1) ** 2) / (8 * variance));
  let sum = 0;
  for (let h = -RANGE; h < RANGE; h++) sum += weight(h);
  // from the outside in: h = 255 ends at 2^24, and 0 begins at 2^23
  const bounds = new Array<number>(2 * RANGE + 1).fill(0);
  bounds[2 * RANGE] = SLOTS;
  for (let h = RANGE - 1; h > 0; h--) {
    const slots = 1 + Math.round(((SLOTS - 2 * RANGE) * weight(h)) / sum);
    bounds[RANGE + h] = bounds[RANGE + h + 1]! - slots;
  }
  bounds[RANGE] = HALF_SLOTS;
  for (let i = 0; i < RANGE; i++) bounds[i] = SLOTS - bounds[2 * RANGE - i]!;
  return bounds;
}

const BOUNDS = Array.from({ length: 8 }, (_, j) => boundsOf(j));

/** The h + 256 that owns a slot. */
function ownerOf(bounds: readonly number[], slot: number): number {
  let low = 0;
  let high = 2 * RANGE;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (bounds[middle]! <= slot) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * One field from the first of the bytes on.
 *
 * @param indexes t of every value
 * @returns the values, and how many bytes they took
 * @throws Refused
 */
export function readGaussian(
  bytes: Uint8Array,
  indexes: readonly number[],
  checks: Readonly<Checks>,
  where: string,
): { values: number[]; length: number } {
  let at = 0;
  const take = (count: number): bigint => {
    if (at + count > bytes.length) throw new Refused('end of the bytes');
    let x = 0n;
    for (const byte of bytes.subarray(at, at + count)) x = 256n * x + BigInt(byte);
    at += count;
    return x;
  };
  const states = [take(STATE_BYTES), take(STATE_BYTES)];
  require(checks, 'states', states.every((x) => x >= LEAST_STATE), where);
  const highs = indexes.map((t, i) => {
    const bounds = BOUNDS[t & 7]!;
    const x = states[i & 1]!;
    const slot = Number(x % BigInt(SLOTS));
    const owner = ownerOf(bounds, slot);
    const frequency = BigInt(bounds[owner + 1]! - bounds[owner]!);
    let next = frequency * (x / BigInt(SLOTS)) + BigInt(slot - bounds[owner]!);
    while (next < LEAST_STATE) next = 65536n * next + take(2);
    states[i & 1] = next;
    return owner - RANGE;
  });
  require(checks, 'states', states.every((x) => x === LEAST_STATE), where);

  let bit = 8 * at;
  const lowBits = (count: number): number => {
    let x = 0;
    for (let i = 0; i < count; i++, bit++) {
      const byte = bytes[bit >> 3];
      if (byte === undefined) throw new Refused('end of the bytes');
      x += ((byte >> (bit & 7)) & 1) * 2 ** i;
    }
    return x;
  };
  const values = highs.map((h, i) => {
    const s = indexes[i]! >> 3;
    return h * 2 ** s + lowBits(s);
  });
  while (bit % 8 !== 0) require(checks, 'fill', lowBits(1) === 0, where);
  return { values, length: bit / 8 };
}
