/** Bit strings as they are sent and absorbed (docs/protocol.md, 1 and 4). */
import { Q_BITS, Q_NUMBER } from './constants.ts';

/** Writes a bit string, the least significant bit of a byte first; zero bits fill the last byte. */
export class BitWriter {
  #bytes: Uint8Array;
  /** Bits that do not fill a byte yet. */
  #held = 0;
  #have = 0;
  #at = 0;

  /** @param bytes an estimate of the final length */
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

  /** @returns the bytes; nothing can be written afterwards */
  finish(): Uint8Array {
    if (this.#have > 0) this.#put(0, 8 - this.#have);
    return this.#bytes.slice(0, this.#at);
  }
}

/** @returns pack_44 of integers below q in magnitude; negative ones are taken mod q */
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
