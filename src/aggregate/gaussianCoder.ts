/**
 * An entropy coder for values of known distributions: rANS with two alternating states. Bundles use
 * it for the coefficients of s2, proofs for the high parts of their short values
 * (docs/bundle-format.md, 3.2; docs/protocol.md, 11.2).
 *
 * Arithmetic: a state x is an integer in [2^32, 2^48), represented exactly by a double. Let M =
 * 2^24 be the sum of all frequencies, f the frequency of a value and c the sum of those before it.
 *
 *     push:  x -> floor(x/f) M + (x mod f) + c,  after moving words out until x < f 2^24
 *     pop:   x -> f floor(x/M) + (x mod M) - c,  then moving words in until x >= 2^32
 *
 * Each bound divides the next, as rANS requires, so pop undoes push exactly and moves exactly the
 * words that push moved. Hence each list of values has exactly one byte string that decodes to it
 * and ends in both starting states, and the decoder accepts no other.
 *
 * A state is at least 2^32, which costs 32 bits. These bits serve as a check: each state starts at
 * 2^32 plus a check word, which the caller derives from the bytes before the coded ones.
 */
import type { ParameterSet } from '../falcon/index.ts';
import { FREQUENCIES_512, FREQUENCIES_1024, PROOF_FREQUENCIES } from './gaussianTables.gen.ts';

/** Maximum |x| of a coefficient of s2: 12 bits, as in every signature form. */
export const MAX_COEFFICIENT = 2047;
/** The high parts of a proof's values are in [-256, 256). */
export const HIGH_REACH = 256;

/** M, the sum of all frequencies. */
const TOTAL = 2 ** 24;
const SLOT_MASK = TOTAL - 1;
/** The smallest state between two values. */
const STATE_MIN = 2 ** 32;
const STATE_BYTES = 6;
const WORD = 2 ** 16;
const WORD_MASK = WORD - 1;
/** Slots are looked up by their high bits first, then by bisection. */
const GROUP_SHIFT = 10;

/** The frequencies of consecutive integers; the value v has index v - least. */
export interface Model {
  readonly least: number;
  readonly size: number;
  /** f, exact integers below 2^20 */
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

function buildModel(least: number, frequencies: readonly number[]): Model {
  const size = frequencies.length;
  const frequency = Float64Array.from(frequencies);
  const start = new Uint32Array(size + 1);
  const firstOfGroup = new Uint16Array((TOTAL >> GROUP_SHIFT) + 1).fill(size - 1);
  const groupFrom = (slot: number): number => Math.ceil(slot / 2 ** GROUP_SHIFT);
  for (const [i, f] of frequency.entries()) {
    start[i + 1] = start[i]! + f;
    firstOfGroup.fill(i, groupFrom(start[i]!), groupFrom(start[i + 1]!));
  }
  return {
    least,
    size,
    frequency,
    inverse: frequency.map((f) => 1 / f),
    limit: frequency.map((f) => f * TOTAL),
    start,
    firstOfGroup,
  };
}

const models = new Map<readonly number[], Model>();

/** Returns the tables of a list of frequencies, built on first use. */
function modelOf(half: readonly number[], make: () => Model): Model {
  const known = models.get(half);
  if (known !== undefined) return known;
  const made = make();
  models.set(half, made);
  return made;
}

/** Returns the model of the coefficients of s2. */
export function coefficientModel(set: ParameterSet): Model {
  const half = set === 'falcon512' ? FREQUENCIES_512 : FREQUENCIES_1024;
  const all = () => [...half.slice(1).toReversed(), ...half];
  return modelOf(half, () => buildModel(-MAX_COEFFICIENT, all()));
}

/** Returns the model of the high parts of values with table j = 0..7 (docs/protocol.md, 11.2). */
export function highModel(j: number): Model {
  const half = PROOF_FREQUENCIES[j]!;
  return modelOf(half, () => buildModel(-HIGH_REACH, [...half.toReversed(), ...half]));
}

/** Two integers in [0, 2^32). The states start, and end after the last pop, at 2^32 plus these. */
export type CheckWords = readonly [number, number];

/**
 * Returns an upper bound on the coded bytes of `count` values: the rarest costs under 24.01 bits.
 */
export function maxCodedBytes(count: number): number {
  return Math.ceil(count * 3.002) + 2 * STATE_BYTES + 4;
}

/**
 * Writes values from last to first, because the reader reads forwards: call `write` for the last
 * run of values first.
 */
export class CodeWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #at: number;
  #x0: number;
  #x1: number;

  /** @param count number of values in all runs */
  constructor(count: number, check: CheckWords) {
    this.#bytes = new Uint8Array(maxCodedBytes(count));
    this.#at = this.#bytes.length;
    this.#x0 = STATE_MIN + check[0];
    this.#x1 = STATE_MIN + check[1];
  }

  /**
   * Writes an even number of values in front of those already written.
   *
   * @throws RangeError for a value outside the model, or an odd number of values
   */
  write({ least, size, frequency, inverse, limit, start }: Model, values: Int16Array): void {
    if (values.length % 2 !== 0) throw new RangeError('expected an even number of values');
    const bytes = this.#bytes;
    let at = this.#at;
    let x0 = this.#x0;
    let x1 = this.#x1;
    for (let i = values.length - 2; i >= 0; i -= 2) {
      const v1 = values[i + 1]! - least;
      const v0 = values[i]! - least;
      if (v1 >>> 0 >= size || v0 >>> 0 >= size) {
        throw new RangeError(`values ${i} and ${i + 1} must be in the model`);
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
      // floor(x/f) without a division: x < 2^24 f and f < 2^20 here, so (x + 1/2)/f is at least
      // 2^-21 away from every integer, and the rounding error of the product is below 2^-27.
      const q1 = Math.floor((x1 + 0.5) * inverse[v1]!);
      const q0 = Math.floor((x0 + 0.5) * inverse[v0]!);
      x1 = q1 * TOTAL + (x1 - q1 * frequency[v1]!) + start[v1]!;
      x0 = q0 * TOTAL + (x0 - q0 * frequency[v0]!) + start[v0]!;
    }
    this.#at = at;
    this.#x0 = x0;
    this.#x1 = x1;
  }

  /** @returns the bytes; no further writes are allowed */
  finish(): Uint8Array<ArrayBuffer> {
    for (const state of [this.#x1, this.#x0]) {
      for (let x = state, i = 0; i < STATE_BYTES; i++, x = Math.floor(x / 256)) {
        this.#bytes[--this.#at] = x % 256;
      }
    }
    return this.#bytes.subarray(this.#at);
  }
}

/**
 * Reads the output of `CodeWriter`, run by run, from the first value onwards. Rejects the bytes
 * unless `CodeWriter` would write exactly them for these values and check words: a state out of
 * range, missing bytes, or states that do not end where they started.
 */
export class CodeReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #x0: number;
  #x1: number;

  /** @param begin offset of the coded values; other bytes may follow them */
  constructor(bytes: Uint8Array, begin: number) {
    this.#bytes = bytes;
    this.#at = begin + 2 * STATE_BYTES;
    this.#x0 = readState(bytes, begin);
    this.#x1 = readState(bytes, begin + STATE_BYTES);
  }

  /**
   * Fills `values`, whose length is even.
   *
   * @returns false if the bytes are rejected; the results of further calls are meaningless then
   */
  read({ least, frequency, start, firstOfGroup }: Model, values: Int16Array): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    let x0 = this.#x0;
    let x1 = this.#x1;
    if (!(x0 >= STATE_MIN && x1 >= STATE_MIN)) return false;
    for (let i = 0; i < values.length; i += 2) {
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
      values[i] = v0 + least;
      values[i + 1] = v1 + least;
      x0 = frequency[v0]! * ((x0 - slot0) / TOTAL) + (slot0 - start[v0]!);
      x1 = frequency[v1]! * ((x1 - slot1) / TOTAL) + (slot1 - start[v1]!);
      while (x0 < STATE_MIN) {
        if (at + 2 > bytes.length) return false;
        x0 = x0 * WORD + bytes[at]! * 256 + bytes[at + 1]!;
        at += 2;
      }
      while (x1 < STATE_MIN) {
        if (at + 2 > bytes.length) return false;
        x1 = x1 * WORD + bytes[at]! * 256 + bytes[at + 1]!;
        at += 2;
      }
    }
    this.#at = at;
    this.#x0 = x0;
    this.#x1 = x1;
    return true;
  }

  /** @returns the offset of the end of the coded values; NaN if the bytes are rejected */
  finish(check: CheckWords): number {
    const isRight = this.#x0 === STATE_MIN + check[0] && this.#x1 === STATE_MIN + check[1];
    return isRight ? this.#at : Number.NaN;
  }
}

/** Reads a state; NaN if bytes are missing. */
function readState(bytes: Uint8Array, at: number): number {
  let x = 0;
  for (let i = 0; i < STATE_BYTES; i++) x = x * 256 + bytes[at + i]!;
  return x;
}

/**
 * Encodes an even number of coefficients in [-2047, 2047].
 *
 * @throws RangeError for a coefficient outside the model, or an odd number of them
 */
export function encodeCoefficients(
  set: ParameterSet,
  values: Int16Array,
  check: CheckWords,
): Uint8Array {
  const writer = new CodeWriter(values.length, check);
  writer.write(coefficientModel(set), values);
  return writer.finish();
}
