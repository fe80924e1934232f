/** Bit strings, packed values and Rice codes, read from untrusted bytes. */
import {
  DEGREE,
  LAST_RETRY,
  LIFT_BYTES,
  LIFTS,
  MAX_QUOTIENT,
  PROJECTIONS,
  Q_BITS,
  Q_NUMBER,
  ROWS_OF_PROJECTION,
} from '../constants.ts';

/** Thrown by the reader; `parse.ts` catches it, so it is never seen outside. */
export class Refused extends Error {}

/**
 * Reads fields one after the other (docs/protocol.md, 11). Nothing is allocated before the bytes
 * that fill it are known to be there.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  take(count: number): Uint8Array {
    if (count > this.#bytes.length - this.at) throw new Refused();
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  /** A retry byte or a counter. */
  repeats(): number {
    const value = this.take(1)[0]!;
    if (value > LAST_RETRY) throw new Refused();
    return value;
  }

  i32(count: number): Int32Array {
    const bytes = this.take(4 * count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Int32Array.from({ length: count }, (_, i) => view.getInt32(4 * i, true));
  }

  /** Polynomials whose low bits were cut off. */
  cutValues(polynomials: number, cut: number): Uint8Array {
    return this.packed(DEGREE * polynomials, Q_BITS - cut, Math.floor((Q_NUMBER - 1) / 2 ** cut));
  }

  /** Polynomials mod q. */
  residues(polynomials: number): Uint8Array {
    return this.cutValues(polynomials, 0);
  }

  /** The three lifts without their constant coefficients. */
  lifts(): Uint8Array {
    return this.packed(LIFTS * (DEGREE - 1), Q_BITS, Q_NUMBER - 1, LIFT_BYTES);
  }

  /** Values of `width` bits, none above `largest`; the rest of the field is zero. */
  packed(count: number, width: number, largest: number, length = (count * width) / 8): Uint8Array {
    const field = this.take(length);
    let position = 0;
    for (let i = 0; i < count; i++, position += width) {
      if (bitsAt(field, position, width) > largest) throw new Refused();
    }
    if (bitsAt(field, position, 8 * length - position) !== 0) throw new Refused();
    return field;
  }

  /** y'_0, ..., y'_263, y_264. */
  projection(k: number): Int32Array {
    this.codes(PROJECTIONS, k);
    const y = new Int32Array(ROWS_OF_PROJECTION);
    this.rice(y.subarray(0, PROJECTIONS), [k]);
    y.set(this.i32(1), PROJECTIONS);
    return y;
  }

  /** g, pair by pair. Above (q-1)/2 in magnitude, a residue would have two codes. */
  garbage(ks: readonly number[]): Float64Array {
    const count = this.codes(DEGREE * ks.length, Math.min(...ks));
    const g = this.rice(new Float64Array(count), ks);
    for (const x of g) if (Math.abs(x) > (Q_NUMBER - 1) / 2) throw new Refused();
    return g;
  }

  /** The same count, if there are bytes for that many of the shortest codes. */
  codes(count: number, k: number): number {
    if (Math.ceil((count * (k + 1)) / 8) > this.#bytes.length - this.at) throw new Refused();
    return count;
  }

  /**
   * A field of Rice codes, which fills `out`, and zero bits to the end of its last byte.
   *
   * @param ks the parameters, each for an equal part of `out`
   */
  rice<T extends Int32Array | Float64Array>(out: T, ks: readonly number[]): T {
    const bytes = this.#bytes;
    const end = 8 * bytes.length;
    const run = out.length / ks.length;
    let position = 8 * this.at;
    for (const [part, k] of ks.entries()) {
      const divisor = 2 ** k;
      for (let i = run * part; i < run * (part + 1); i++) {
        const quotient = onesAt(bytes, position);
        if (quotient > MAX_QUOTIENT) throw new Refused();
        position += quotient + 1;
        if (position + k > end) throw new Refused();
        const number = quotient * divisor + bitsAt(bytes, position, k);
        position += k;
        out[i] = number % 2 === 0 ? number / 2 : -(number + 1) / 2;
      }
    }
    const rest = -position & 7;
    if (bitsAt(bytes, position, rest) !== 0) throw new Refused();
    this.at = (position + rest) / 8;
    return out;
  }
}

/** Bits that are read at once. */
const CHUNK = 24;

/** A chunk from a position on, least significant bit first. Beyond the end there are zeros. */
function chunkAt(bytes: Uint8Array, position: number): number {
  const at = position >> 3;
  const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  return (word >>> (position & 7)) & (2 ** CHUNK - 1);
}

/** `width` bits from a position on, at most two chunks. */
function bitsAt(bytes: Uint8Array, position: number, width: number): number {
  const low = chunkAt(bytes, position);
  if (width <= CHUNK) return low & ((1 << width) - 1);
  const high = chunkAt(bytes, position + CHUNK) & ((1 << (width - CHUNK)) - 1);
  return low + high * 2 ** CHUNK;
}

/** How many ones there are from a position on, at most two chunks of them. */
function onesAt(bytes: Uint8Array, position: number): number {
  const ones = lowOnes(chunkAt(bytes, position));
  return ones < CHUNK ? ones : CHUNK + lowOnes(chunkAt(bytes, position + CHUNK));
}

/** How many ones there are below the lowest zero. */
const lowOnes = (x: number): number => 31 - Math.clz32(~x & (x + 1));
