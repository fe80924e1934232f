/**
 * An entropy coder for the coefficients of s2: rANS with two alternating states, over a fixed model
 * of the discrete Gaussian. The format is specified in docs/bundle-format.md.
 *
 * Arithmetic: a state x is an integer in [2^32, 2^48), kept exactly in a double. With M = 2^24 the
 * sum of all frequencies, f the frequency of a value and c the sum of those before it,
 *
 *     push:  x -> floor(x/f) M + (x mod f) + c,  after moving words out until x < f 2^24
 *     pop:   x -> f floor(x/M) + (x mod M) - c,  then moving words in until x >= 2^32
 *
 * Each bound divides the next, as rANS requires, so pop undoes push exactly and moves exactly the
 * words that push moved. Hence each list of values has one byte string that decodes to it and ends
 * in both starting states, and the decoder accepts no other.
 *
 * A state is at least 2^32, which costs 32 bits. They serve as a check: each state starts at 2^32
 * plus a check word, which the caller derives from the bytes before the coded ones.
 */
import type { ParameterSet } from '../falcon/index.ts';
import { FREQUENCIES_512, FREQUENCIES_1024 } from './gaussianTables.gen.ts';

/** The largest |x| in the model: 12 bits, as in every signature form. */
export const MAX_COEFFICIENT = 2047;

const VALUES = 2 * MAX_COEFFICIENT + 1;
const LOG2_TOTAL = 24;
/** M, the sum of all frequencies. */
const TOTAL = 2 ** LOG2_TOTAL;
const SLOT_MASK = TOTAL - 1;
/** The smallest state between two values. */
const STATE_MIN = 2 ** 32;
const STATE_BYTES = 6;
const WORD = 2 ** 16;
const WORD_MASK = WORD - 1;
/** Slots are looked up by their high bits first, then by bisection. */
const GROUP_SHIFT = 10;

/** Tables of one parameter set; the value v has the index v + 2047. */
interface Model {
  /** f, exact integers below 2^16 */
  readonly frequency: Float64Array;
  /** 1/f */
  readonly inverse: Float64Array;
  /** f 2^24: a state below this can absorb the value */
  readonly limit: Float64Array;
  /** c, and M at the end */
  readonly start: Uint32Array;
  /** index of the value that owns the first slot of each group of 2^10; one more at the end */
  readonly firstOfGroup: Uint16Array;
}

function buildModel(frequencies: readonly number[]): Model {
  const frequency = Float64Array.from({ length: VALUES }, (_, i) => {
    return frequencies[Math.abs(i - MAX_COEFFICIENT)]!;
  });
  const start = new Uint32Array(VALUES + 1);
  for (let i = 0; i < VALUES; i++) start[i + 1] = start[i]! + frequency[i]!;
  const groups = TOTAL >> GROUP_SHIFT;
  const firstOfGroup = new Uint16Array(groups + 1).fill(VALUES - 1);
  for (let group = 0, i = 0; group < groups; group++) {
    while (start[i + 1]! <= group << GROUP_SHIFT) i++;
    firstOfGroup[group] = i;
  }
  return {
    frequency,
    inverse: frequency.map((f) => 1 / f),
    limit: frequency.map((f) => f * TOTAL),
    start,
    firstOfGroup,
  };
}

const models: Partial<Record<ParameterSet, Model>> = {};

/** Two integers in [0, 2^32). The states start, and end after the last pop, at 2^32 plus these. */
export type CheckWords = readonly [number, number];

/** The tables of a set, built on first use. */
function modelOf(set: ParameterSet): Model {
  return (models[set] ??= buildModel(set === 'falcon512' ? FREQUENCIES_512 : FREQUENCIES_1024));
}

/** No list of `count` values takes fewer bytes: the likeliest value costs over 8.69 bits. */
export function minCodedBytes(count: number): number {
  return Math.floor(count * 1.086) + 2 * STATE_BYTES - 8;
}

/** No list of `count` values takes more bytes: the rarest value costs less than 24.01 bits. */
export function maxCodedBytes(count: number): number {
  return Math.ceil(count * 3.002) + 2 * STATE_BYTES + 4;
}

/**
 * Encodes an even number of values in [-2047, 2047].
 *
 * @throws RangeError for a value outside the model, or an odd number of values
 */
export function encodeCoefficients(
  set: ParameterSet,
  values: Int16Array,
  check: CheckWords,
): Uint8Array {
  if (values.length % 2 !== 0) throw new RangeError('expected an even number of coefficients');
  const { frequency, inverse, limit, start } = modelOf(set);
  const bytes = new Uint8Array(maxCodedBytes(values.length));
  let at = bytes.length;
  let x0 = STATE_MIN + check[0];
  let x1 = STATE_MIN + check[1];
  // The decoder reads forwards, so the encoder runs backwards, through values and bytes alike.
  for (let i = values.length - 2; i >= 0; i -= 2) {
    const v1 = values[i + 1]! + MAX_COEFFICIENT;
    const v0 = values[i]! + MAX_COEFFICIENT;
    if (v1 >>> 0 >= VALUES || v0 >>> 0 >= VALUES) {
      throw new RangeError(`coefficients ${i} and ${i + 1} must be in [-2047, 2047]`);
    }
    while (x1 >= limit[v1]!) {
      const word = x1 & WORD_MASK;
      bytes[--at] = word;
      bytes[--at] = word >> 8;
      x1 = (x1 - word) / WORD;
    }
    while (x0 >= limit[v0]!) {
      const word = x0 & WORD_MASK;
      bytes[--at] = word;
      bytes[--at] = word >> 8;
      x0 = (x0 - word) / WORD;
    }
    // floor(x/f) without a division: x < 2^40 and f < 2^16 here, so (x + 1/2)/f is at least 2^-17
    // away from every integer, and the rounding of the product is below 2^-26.
    const q1 = Math.floor((x1 + 0.5) * inverse[v1]!);
    const q0 = Math.floor((x0 + 0.5) * inverse[v0]!);
    x1 = q1 * TOTAL + (x1 - q1 * frequency[v1]!) + start[v1]!;
    x0 = q0 * TOTAL + (x0 - q0 * frequency[v0]!) + start[v0]!;
  }
  for (let x = x1, i = 0; i < STATE_BYTES; i++, x = Math.floor(x / 256)) bytes[--at] = x % 256;
  for (let x = x0, i = 0; i < STATE_BYTES; i++, x = Math.floor(x / 256)) bytes[--at] = x % 256;
  return bytes.subarray(at);
}

/** The values, and the offset of the bytes after them. */
export interface DecodedCoefficients {
  readonly values: Int16Array;
  readonly end: number;
}

/**
 * The inverse of encodeCoefficients.
 *
 * @param bytes coded values from `begin` on; other bytes may follow
 * @param count how many values; even
 * @returns undefined unless encodeCoefficients would produce exactly these bytes from the values
 *   and check words
 */
export function decodeCoefficients(
  set: ParameterSet,
  bytes: Uint8Array,
  begin: number,
  count: number,
  check: CheckWords,
): DecodedCoefficients | undefined {
  if (bytes.length - begin < Math.max(2 * STATE_BYTES, minCodedBytes(count))) return undefined;
  const { frequency, start, firstOfGroup } = modelOf(set);
  const values = new Int16Array(count);
  let at = begin + 2 * STATE_BYTES;
  let x0 = readState(bytes, begin);
  let x1 = readState(bytes, begin + STATE_BYTES);
  if (x0 < STATE_MIN || x1 < STATE_MIN) return undefined;
  for (let i = 0; i < count; i += 2) {
    const slot0 = x0 & SLOT_MASK;
    const slot1 = x1 & SLOT_MASK;
    let v0 = firstOfGroup[slot0 >> GROUP_SHIFT]!;
    let v1 = firstOfGroup[slot1 >> GROUP_SHIFT]!;
    let last0 = firstOfGroup[(slot0 >> GROUP_SHIFT) + 1]!;
    let last1 = firstOfGroup[(slot1 >> GROUP_SHIFT) + 1]!;
    while (v0 < last0) {
      const middle = (v0 + last0 + 1) >> 1;
      if (start[middle]! <= slot0) v0 = middle;
      else last0 = middle - 1;
    }
    while (v1 < last1) {
      const middle = (v1 + last1 + 1) >> 1;
      if (start[middle]! <= slot1) v1 = middle;
      else last1 = middle - 1;
    }
    values[i] = v0 - MAX_COEFFICIENT;
    values[i + 1] = v1 - MAX_COEFFICIENT;
    x0 = frequency[v0]! * ((x0 - slot0) / TOTAL) + (slot0 - start[v0]!);
    x1 = frequency[v1]! * ((x1 - slot1) / TOTAL) + (slot1 - start[v1]!);
    while (x0 < STATE_MIN) {
      if (at + 2 > bytes.length) return undefined;
      x0 = x0 * WORD + bytes[at]! * 256 + bytes[at + 1]!;
      at += 2;
    }
    while (x1 < STATE_MIN) {
      if (at + 2 > bytes.length) return undefined;
      x1 = x1 * WORD + bytes[at]! * 256 + bytes[at + 1]!;
      at += 2;
    }
  }
  if (x0 !== STATE_MIN + check[0] || x1 !== STATE_MIN + check[1]) return undefined;
  return { values, end: at };
}

function readState(bytes: Uint8Array, at: number): number {
  let x = 0;
  for (let i = 0; i < STATE_BYTES; i++) x = x * 256 + bytes[at + i]!;
  return x;
}
