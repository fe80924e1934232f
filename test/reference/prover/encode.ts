/** Bit strings (section 1) and the plain fields of section 11 of docs/protocol.md. */
import { mod, type Poly, Q } from './ring.ts';

/** A bit string, least significant bit of a byte first; the last byte is filled with zero bits. */
export class BitWriter {
  #bytes: number[] = [];
  #bits = 0;

  /** A value of `width` bits, least significant bit first. */
  write(value: bigint, width: number): void {
    for (let i = 0; i < width; i += 8) {
      const take = Math.min(8, width - i);
      this.#put(Number((value >> BigInt(i)) & ((1n << BigInt(take)) - 1n)), take);
    }
  }

  #put(value: number, width: number): void {
    const used = this.#bits % 8;
    const shifted = value << used;
    if (used === 0) this.#bytes.push(shifted & 255);
    else this.#bytes[this.#bytes.length - 1]! |= shifted & 255;
    if (used > 0 && used + width > 8) this.#bytes.push(shifted >> 8);
    this.#bits += width;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** pack_w: every coefficient with w bits. */
export function pack(list: Iterable<Poly>, width: number): Uint8Array {
  const writer = new BitWriter();
  for (const poly of list) for (const x of poly) writer.write(x, width);
  return writer.bytes();
}

export const pack44 = (list: readonly Poly[]): Uint8Array =>
  pack(
    list.map((poly) => poly.map((x) => mod(x, Q))),
    44,
  );

/** pack_44 of a list of single numbers. */
export const packNumbers = (list: readonly bigint[]): Uint8Array => pack44([list]);

/** The absorbed and sent form of the lifts, without the coefficients that the verifier knows. */
export function packLifts(lifts: readonly Poly[], known: readonly number[]): Uint8Array {
  const writer = new BitWriter();
  for (const lift of lifts) {
    for (const [i, x] of lift.entries()) if (!known.includes(i)) writer.write(mod(x, Q), 44);
  }
  return writer.bytes();
}

export function i32(list: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(4 * list.length);
  const view = new DataView(bytes.buffer);
  for (const [i, x] of list.entries()) view.setInt32(4 * i, Number(BigInt.asIntN(32, x)), true);
  return bytes;
}

export const isI32 = (x: bigint): boolean => BigInt.asIntN(32, x) === x;

export const u16 = (x: number): Uint8Array => Uint8Array.of(x & 255, x >> 8);

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
