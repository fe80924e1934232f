/**
 * The bytes of a section (docs/protocol.md, 11), and the bit strings that the transcript takes in too (section 1). `parse.ts` is its
 * inverse: it reads exactly what is written here.
 */
import { concat } from '../../bytes.ts';
import type { OrdinaryLevel, TailLevel } from '../parameters/rows.ts';
import { LIFTS, PROJECTIONS, Q } from './shapes.ts';

/** q as a number: all values mod q are exact. */
export const Q_NUMBER = Number(Q);
/** Coefficients of a polynomial. */
export const DEGREE = 64;
/** Largest quotient of a Rice code. */
export const MAX_QUOTIENT = 31;
export const SEAL_BYTES = 32;
/** Bits of a value mod q. */
export const Q_BITS = 44;
/** Bytes of b^(1), b^(2), b^(3) without their constant coefficients. */
export const LIFT_BYTES = Math.ceil((Q_BITS * LIFTS * (DEGREE - 1)) / 8);

/** What is sent at an ordinary level; byte strings are as the transcript absorbs them. */
export interface OrdinaryFields {
  readonly retry: number;
  /** u'_A and u'_B at level 0, u'_1 elsewhere: pack_{44-cut} */
  readonly first: readonly Uint8Array[];
  readonly counter: number;
  /** y'_0, ..., y'_263, y_264 */
  readonly y: ArrayLike<number>;
  /** ten integers at level 0, else none */
  readonly w: ArrayLike<number>;
  /** 1040 bytes */
  readonly b: Uint8Array;
  /** u'_2 */
  readonly second: Uint8Array;
}

/** What is sent at the tail. */
export interface TailFields {
  readonly retry: number;
  /** t'_0, ..., t'_{r-2}: pack_{44-cut} */
  readonly t: Uint8Array;
  /** every pair but the last, 64 centred coefficients each */
  readonly g: ArrayLike<number>;
  readonly sealT: Uint8Array;
  readonly counter: number;
  readonly y: ArrayLike<number>;
  readonly b: Uint8Array;
  /** every pair but the first and the last: pack_44 */
  readonly h: Uint8Array;
  readonly sealH: Uint8Array;
  /** n polynomials, then kappa */
  readonly z: ArrayLike<number>;
  readonly e: ArrayLike<number>;
}

/** The bytes of an ordinary level. @returns undefined if a value has no Rice code */
export function encodeOrdinary(
  level: OrdinaryLevel,
  fields: OrdinaryFields,
): Uint8Array | undefined {
  const y = encodeProjection(fields.y, level.riceY);
  if (y === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    ...fields.first,
    Uint8Array.of(fields.counter),
    y,
    i32Bytes(fields.w),
    fields.b,
    fields.second,
  );
}

/** The bytes of the tail. @returns undefined if a value has no Rice code */
export function encodeTail(tail: TailLevel, fields: TailFields): Uint8Array | undefined {
  const g = encodeRice(fields.g, (i) => tail.riceG[Math.floor(i / DEGREE)]!);
  const y = encodeProjection(fields.y, tail.riceY);
  const z = encodeRice(fields.z, () => tail.riceZ);
  const e = encodeRice(fields.e, () => tail.riceE);
  if (g === undefined || y === undefined || z === undefined || e === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    fields.t,
    g,
    fields.sealT,
    Uint8Array.of(fields.counter),
    y,
    fields.b,
    fields.h,
    fields.sealH,
    z,
    e,
  );
}

/** y'_0, ..., y'_263 as Rice codes, and y_264. @returns undefined if a value has no Rice code */
export function encodeProjection(y: ArrayLike<number>, k: number): Uint8Array | undefined {
  const signs = encodeRice(Array.from(y).slice(0, PROJECTIONS), () => k);
  return signs && concat(signs, i32Bytes([y[PROJECTIONS]!]));
}

/** The absorbed data of the step `y`: counter, y as it is sent, and at level 0 w. */
export function projectionData(
  counter: number,
  y: ArrayLike<number>,
  w: ArrayLike<number> = [],
): Uint8Array {
  return concat(Uint8Array.of(counter), i32Bytes(y), i32Bytes(w));
}

export function i32Bytes(values: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; i++) view.setInt32(4 * i, values[i]!, true);
  return bytes;
}

/** pack_44 of integers of magnitude below q, negative ones taken mod q. */
export function packResidues(values: ArrayLike<number>): Uint8Array {
  const writer = new BitWriter((Q_BITS * values.length) / 8);
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    writer.write(x < 0 ? x + Q_NUMBER : x, Q_BITS);
  }
  return writer.finish();
}

/** A bit string, least significant bit of a byte first; the last byte is filled with zero bits. */
export class BitWriter {
  #bytes: Uint8Array;
  /** bits that are no whole byte yet */
  #held = 0;
  #have = 0;
  #at = 0;

  /** @param bytes about how many there will be */
  constructor(bytes: number) {
    this.#bytes = new Uint8Array(Math.ceil(bytes) + 8);
  }

  /** @param value below 2^width; width at most 48 */
  write(value: number, width: number): void {
    for (; width > 16; width -= 16) {
      this.#put(value % 65536, 16);
      value = Math.floor(value / 65536);
    }
    this.#put(value, width);
  }

  #put(value: number, width: number): void {
    this.#held |= value << this.#have;
    this.#have += width;
    for (; this.#have >= 8; this.#have -= 8, this.#held >>>= 8) {
      if (this.#at === this.#bytes.length) this.#grow();
      this.#bytes[this.#at++] = this.#held;
    }
  }

  #grow(): void {
    const more = new Uint8Array(2 * this.#bytes.length);
    more.set(this.#bytes);
    this.#bytes = more;
  }

  finish(): Uint8Array {
    if (this.#have > 0) this.#put(0, 8 - this.#have);
    return this.#bytes.slice(0, this.#at);
  }
}

/** Whether an integer has a code. */
export function fitsRice(x: number, k: number): boolean {
  return Math.floor(zigzag(x) / 2 ** k) <= MAX_QUOTIENT;
}

const zigzag = (x: number): number => (x >= 0 ? 2 * x : -2 * x - 1);

/** One Rice field of integers below 2^47 in magnitude. @returns undefined if a quotient is above 31 */
function encodeRice(
  values: ArrayLike<number>,
  kOf: (index: number) => number,
): Uint8Array | undefined {
  const writer = new BitWriter(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    const k = kOf(i);
    if (!fitsRice(x, k)) return undefined;
    const number = zigzag(x);
    const quotient = Math.floor(number / 2 ** k);
    writer.write(2 ** quotient - 1, quotient + 1); // ones, then a zero
    writer.write(number % 2 ** k, k);
  }
  return writer.finish();
}
