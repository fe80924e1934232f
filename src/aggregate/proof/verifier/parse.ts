/**
 * Reads the fields of a section (docs/protocol.md, 11) and refuses everything that `encode.ts` does not write. All counts come from the
 * table; nothing is allocated before the bytes that fill it were seen to be there.
 */
import type { OrdinaryLevel, Parameters, TailLevel } from '../../parameters/rows.ts';
import {
  DEGREE,
  LIFT_BYTES,
  MAX_QUOTIENT,
  type OrdinaryFields,
  Q_BITS,
  Q_NUMBER,
  SEAL_BYTES,
  type TailFields,
} from '../encode.ts';
import { FUNCTIONALS, LAST_RETRY, LIFTS, PROJECTIONS, ROWS_OF_PROJECTION } from '../shapes.ts';

export interface ParsedOrdinary extends OrdinaryFields {
  readonly y: Int32Array;
  readonly w: Int32Array;
}

export interface ParsedTail extends TailFields {
  readonly g: Float64Array;
  readonly y: Int32Array;
  readonly z: Int32Array;
  readonly e: Int32Array;
}

/** The fields of a section; byte strings are views of the given bytes. */
export interface ParsedSection {
  readonly levels: readonly ParsedOrdinary[];
  readonly tail: ParsedTail;
  /** Where the section ends. */
  readonly end: number;
}

/** Thrown inside this file, and nowhere seen outside. */
class Refused extends Error {}

/**
 * Reads one section.
 *
 * @param at where it begins; more than the section may follow
 * @returns undefined unless the bytes from `at` on begin with the one encoding of some fields
 */
export function parseSection(
  parameters: Parameters,
  bytes: Uint8Array,
  at: number,
): ParsedSection | undefined {
  const reader = new Reader(bytes, at);
  try {
    const levels = parameters.levels.map((level, i) => readOrdinary(reader, level, i));
    const tail = readTail(reader, parameters.tail);
    return { levels, tail, end: reader.at };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function readOrdinary(reader: Reader, level: OrdinaryLevel, number: number): ParsedOrdinary {
  const { kappa1, cut } = level;
  const retry = reader.repeats();
  const first = [reader.cutValues(kappa1, cut)];
  if (number === 0) first.push(reader.cutValues(kappa1, cut));
  const counter = reader.repeats();
  const y = reader.projection(level.riceY);
  const w = reader.i32(number === 0 ? FUNCTIONALS : 0);
  const b = reader.lifts();
  const second = reader.cutValues(kappa1, cut);
  return { retry, first, counter, y, w, b, second };
}

function readTail(reader: Reader, tail: TailLevel): ParsedTail {
  const { r, n, kappa, cut, pairs } = tail;
  const retry = reader.repeats();
  const t = reader.cutValues((r - 1) * kappa, cut);
  const g = reader.garbage(tail.riceG);
  const sealT = reader.take(SEAL_BYTES);
  const counter = reader.repeats();
  const y = reader.projection(tail.riceY);
  const b = reader.lifts();
  const h = reader.packed(DEGREE * (pairs - 2), Q_BITS, Q_NUMBER - 1);
  const sealH = reader.take(SEAL_BYTES);
  const z = reader.rice(new Int32Array(reader.codes(DEGREE * n, tail.riceZ)), [tail.riceZ]);
  const e = reader.rice(new Int32Array(reader.codes(DEGREE * kappa, tail.riceE)), [tail.riceE]);
  return { retry, t, g, sealT, counter, y, b, h, sealH, z, e };
}

class Reader {
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

  /** Polynomials of which the low bits were cut. */
  cutValues(polynomials: number, cut: number): Uint8Array {
    return this.packed(DEGREE * polynomials, Q_BITS - cut, Math.floor((Q_NUMBER - 1) / 2 ** cut));
  }

  lifts(): Uint8Array {
    return this.packed(LIFTS * (DEGREE - 1), Q_BITS, Q_NUMBER - 1, LIFT_BYTES);
  }

  /** Values of `width` bits, none above `largest`; what they leave of the last byte is zero. */
  packed(count: number, width: number, largest: number, length = (count * width) / 8): Uint8Array {
    const field = this.take(length);
    let position = 0;
    for (let i = 0; i < count; i++, position += width) {
      if (bitsAt(field, position, width) > largest) throw new Refused();
    }
    if (bitsAt(field, position, 8 * length - position) !== 0) throw new Refused();
    return field;
  }

  /** y'_0, ..., y'_263, y_264 */
  projection(k: number): Int32Array {
    this.codes(PROJECTIONS, k);
    const y = new Int32Array(ROWS_OF_PROJECTION);
    this.rice(y.subarray(0, PROJECTIONS), [k]);
    y.set(this.i32(1), PROJECTIONS);
    return y;
  }

  /** g, pair by pair; above (q-1)/2 in magnitude there would be two codes of one residue. */
  garbage(ks: readonly number[]): Float64Array {
    const count = this.codes(DEGREE * ks.length, Math.min(...ks));
    const g = this.rice(new Float64Array(count), ks);
    for (const x of g) if (Math.abs(x) > (Q_NUMBER - 1) / 2) throw new Refused();
    return g;
  }

  /** The same count, once there are bytes for that many of the shortest codes. */
  codes(count: number, k: number): number {
    if (Math.ceil((count * (k + 1)) / 8) > this.#bytes.length - this.at) throw new Refused();
    return count;
  }

  /** A field of Rice codes that fills `out`, as many of each parameter, and zeros to the end of its last byte. */
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

/** Bits that are read at a time. */
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

/** How many ones there are from a position on, up to two chunks of them. */
function onesAt(bytes: Uint8Array, position: number): number {
  const ones = lowOnes(chunkAt(bytes, position));
  return ones < CHUNK ? ones : CHUNK + lowOnes(chunkAt(bytes, position + CHUNK));
}

/** The ones below the lowest zero. */
const lowOnes = (x: number): number => 31 - Math.clz32(~x & (x + 1));
