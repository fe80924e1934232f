/** Bit strings, packed values and Gaussian codes, read from untrusted bytes. */
import { CodeReader } from '../../gaussianCoder.ts';
import { DEGREE, LAST_RETRY, PAIRS, Q_BITS, Q_NUMBER } from '../constants.ts';
import {
  type CodedRun,
  countOf,
  lowBytes,
  modelOfCode,
  NO_CHECK,
  runsOfY,
  shiftOf,
} from '../gaussianFields.ts';
import { bytesOfB32, liftsOf } from '../lifts.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import { QUARTER, quarterBytes } from '../quarters.ts';

/** Thrown by the reader and caught by `parse.ts`. */
export class Refused extends Error {}

/**
 * Reads fields sequentially (docs/protocol.md, 11). Allocations depend only on the row of the
 * table.
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

  /** A retry byte, a counter or an attempt. */
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

  /** Polynomials whose low bits are cut off. */
  cutValues(polynomials: number, cut: number): Uint8Array {
    return this.packed(DEGREE * polynomials, Q_BITS - cut, Math.floor((Q_NUMBER - 1) / 2 ** cut));
  }

  /** Polynomials mod q. */
  residues(polynomials: number): Uint8Array {
    return this.cutValues(polynomials, 0);
  }

  /** The lifts of a level without the known coefficients. */
  lifts(number: number): Uint8Array {
    const { count, sent, bytes } = liftsOf(number);
    return this.packed(count * sent.length, Q_BITS, Q_NUMBER - 1, bytes);
  }

  /** The representation of a hidden message: quarters of k rows. */
  quarters(k: number): Uint8Array {
    return this.packed(QUARTER.length * k, Q_BITS, Q_NUMBER - 1, quarterBytes(k));
  }

  /** The representation of hidden lifts of a level; at level 0, coefficients 32 follow. */
  hiddenLifts(number: number, k: number): Uint8Array {
    const from = this.at;
    this.quarters(k);
    if (number === 0) this.packed(liftsOf(0).count, Q_BITS, Q_NUMBER - 1, bytesOfB32);
    return this.#bytes.subarray(from, this.at);
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

  /** y'_0, y*'_0, ..., y*'_135, U, V. */
  projection(code: number): Int32Array {
    const pairs = this.gaussian(runsOfY(code));
    const y = new Int32Array(PROJECTION_LENGTH);
    y.set(pairs);
    y.set(this.i32(2), 2 * PAIRS);
    return y;
  }

  /** g, pair by pair. A residue above (q-1)/2 in magnitude is rejected: it would have two codes. */
  garbage(runs: readonly CodedRun[]): Float64Array {
    const g = this.gaussian(runs);
    for (const x of g) if (Math.abs(x) > (Q_NUMBER - 1) / 2) throw new Refused();
    return g;
  }

  /** A field in the Gaussian code: high parts, then low bits, which fill whole bytes. */
  gaussian(runs: readonly CodedRun[]): Float64Array {
    const bytes = this.#bytes;
    const values = new Float64Array(countOf(runs));
    const highs = new Int16Array(values.length);
    const reader = new CodeReader(bytes, this.at);
    let at = 0;
    for (const { count, code } of runs) {
      if (!reader.read(modelOfCode(code), highs.subarray(at, at + count))) throw new Refused();
      at += count;
    }
    const end = reader.finish(NO_CHECK);
    if (!(lowBytes(runs) <= bytes.length - end)) throw new Refused();
    let position = 8 * end;
    at = 0;
    for (const { count, code } of runs) {
      const shift = shiftOf(code);
      for (const to = at + count; at < to; at++, position += shift) {
        values[at] = highs[at]! * 2 ** shift + bitsAt(bytes, position, shift);
      }
    }
    this.at = position / 8;
    return values;
  }
}

/** Bits that are read at once. */
const CHUNK = 24;

/** A chunk starting at a position, least significant bit first. Bits beyond the end are zero. */
function chunkAt(bytes: Uint8Array, position: number): number {
  const at = position >> 3;
  const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  return (word >>> (position & 7)) & (2 ** CHUNK - 1);
}

/** `width` bits starting at a position, at most two chunks. */
function bitsAt(bytes: Uint8Array, position: number, width: number): number {
  const low = chunkAt(bytes, position) & mask(Math.min(width, CHUNK));
  const high = chunkAt(bytes, position + CHUNK) & mask(Math.max(width - CHUNK, 0));
  return low + high * 2 ** CHUNK;
}

const mask = (width: number): number => (1 << width) - 1;
