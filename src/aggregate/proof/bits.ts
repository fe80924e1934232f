/** Bit strings as sent and absorbed (docs/protocol.md, 1 and 4). */
import { Q_BITS, Q_NUMBER } from './constants.ts';

/** Bits written at once: with up to 7 bits of the previous byte, they fit an unsigned word. */
const CHUNK = 24;
const CHUNK_END = 2 ** CHUNK;

/** Writes a bit string, least significant bit of each byte first; zero bits pad the last byte. */
export class BitWriter {
  readonly #view: DataView<ArrayBuffer>;
  /** whole bytes so far */
  #at = 0;
  /** bits that do not fill a byte yet, and their number */
  #held = 0;
  #have = 0;

  /** @param bytes the final length, or more */
  constructor(bytes: number) {
    this.#view = new DataView(new ArrayBuffer(Math.ceil(bytes) + 4));
  }

  /** @param value below 2^width; width at most 48 */
  write(value: number, width: number): void {
    this.#put(value & (CHUNK_END - 1), Math.min(width, CHUNK));
    this.#put(Math.floor(value / CHUNK_END), Math.max(width - CHUNK, 0));
  }

  #put(value: number, width: number): void {
    const word = this.#held | (value << this.#have);
    this.#view.setInt32(this.#at, word, true);
    const have = this.#have + width;
    const whole = have >> 3;
    this.#at += whole;
    this.#have = have & 7;
    this.#held = word >>> (8 * whole);
  }

  /** @returns the bytes; no further writes are allowed */
  finish(): Uint8Array {
    if (this.#have > 0) this.#put(0, 8 - this.#have);
    return new Uint8Array(this.#view.buffer.slice(0, this.#at));
  }
}

/** @returns pack_44 of integers below q in magnitude; negative ones are reduced mod q */
export function packResidues(values: ArrayLike<number>): Uint8Array {
  const writer = new BitWriter((Q_BITS * values.length) / 8);
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    writer.write(x < 0 ? x + Q_NUMBER : x, Q_BITS);
  }
  return writer.finish();
}

/** @returns every value as a little-endian i32 */
export function i32Bytes(values: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; i++) view.setInt32(4 * i, values[i]!, true);
  return bytes;
}
