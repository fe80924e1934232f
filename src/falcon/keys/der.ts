/**
 * The subset of DER (ITU-T X.690, 2021) that keys need: a strict reader and a writer. Definite
 * lengths in their shortest form, tags of one byte, no trailing data.
 */
import { concat, concatAll, wipe } from '../../shared/bytes.ts';
import { fill, lengthOf, viewOf } from '../../shared/intrinsics.ts';
import { badKey } from './forms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Identifier bytes (X.690, 8.1.2). */
export const TAG = Object.freeze({
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  sequence: 0x30,
  /** [0] and [1] of OneAsymmetricKey (RFC 5958, section 2). */
  attributes: 0xa0,
  publicKey: 0x81,
});

/** Reads one element after another. Returns views, not copies. */
export class DerReader {
  readonly #bytes: Bytes;
  readonly #form: string;
  #at = 0;

  /** @param form name of the input in errors */
  constructor(bytes: Bytes, form: string) {
    this.#bytes = bytes;
    this.#form = form;
  }

  /** The tag of the next element; undefined at the end. */
  get next(): number | undefined {
    return this.#bytes[this.#at];
  }

  /**
   * Returns the contents of the next element.
   *
   * @throws CodedError `BAD_KEY` for another tag, or a length that is not DER
   */
  read(tag: number, what: string): Bytes {
    if (this.next !== tag) throw this.fault(`no ${what} where one is expected`);
    this.#at++;
    const length = this.#length(what);
    const end = this.#at + length;
    if (end > lengthOf(this.#bytes)) throw this.fault(`the ${what} is cut short`);
    const contents = viewOf(this.#bytes, this.#at, end);
    this.#at = end;
    return contents;
  }

  /** Returns a reader for the contents of the next element. @throws as `read` */
  enter(tag: number, what: string): DerReader {
    return new DerReader(this.read(tag, what), this.#form);
  }

  /** Reads an INTEGER in [0, 2^31). @throws CodedError `BAD_KEY` for any other */
  integer(what: string): number {
    const bytes = this.read(TAG.integer, what);
    // An empty INTEGER counts as negative.
    const first = bytes[0] ?? 0x80;
    let value = 0;
    for (let i = 0; i < lengthOf(bytes); i++) value = 256 * value + bytes[i]!;
    if (first >= 0x80 || (first === 0 && bytes[1]! < 0x80) || value >= 2 ** 31) {
      throw this.fault(`the ${what} is out of range`);
    }
    return value;
  }

  /** Reads an OBJECT IDENTIFIER in dotted form. @throws CodedError `BAD_KEY` if it is malformed */
  oid(what: string): string {
    const bytes = this.read(TAG.oid, what);
    const arcs: number[] = [];
    let arc = 0;
    let begun = false;
    for (let i = 0; i < lengthOf(bytes); i++) {
      const byte = bytes[i]!;
      if ((!begun && byte === 0x80) || arc >= 2 ** 24) throw this.fault(`the ${what} is malformed`);
      arc = 128 * arc + (byte & 0x7f);
      begun = byte >= 0x80;
      if (begun) continue;
      arcs.push(arc);
      arc = 0;
    }
    const [first] = arcs;
    if (begun || first === undefined) throw this.fault(`the ${what} is malformed`);
    const top = Math.min(2, Math.floor(first / 40));
    return [top, first - 40 * top, ...arcs.slice(1)].join('.');
  }

  /**
   * Returns the bytes of a BIT STRING of whole bytes. @throws CodedError `BAD_KEY` for any other
   */
  bitString(tag: number, what: string): Bytes {
    const bytes = this.read(tag, what);
    if (bytes[0] !== 0) throw this.fault(`the ${what} is not of whole bytes`);
    return viewOf(bytes, 1);
  }

  /** @throws CodedError `BAD_KEY` if data is left over */
  end(what: string): void {
    if (this.next !== undefined) throw this.fault(`bytes are left over in the ${what}`);
  }

  fault(what: string) {
    return badKey(this.#form, what);
  }

  /**
   * Reads the length of the element (X.690, 10.1). Missing bytes make it NaN, which is rejected.
   */
  #length(what: string): number {
    const first = this.#bytes[this.#at++]!;
    if (first < 0x80) return first;
    const count = first & 0x7f;
    let length = 0;
    for (let i = 0; i < count; i++) length = 256 * length + this.#bytes[this.#at++]!;
    // Must be in the shortest form. The indefinite form and a missing length give 0 and are
    // rejected.
    if (length >= Math.max(0x80, 256 ** (count - 1))) return length;
    throw this.fault(`the length of the ${what} is not DER`);
  }
}

/** Returns whether the bytes are one whole SEQUENCE, judging by the first tag and length. */
export function isSequence(bytes: Bytes): boolean {
  try {
    const reader = new DerReader(bytes, '');
    reader.read(TAG.sequence, '');
    return reader.next === undefined;
  } catch {
    return false;
  }
}

/** Encodes one element: tag, length, contents. */
export function encode(tag: number, ...contents: readonly Uint8Array[]): Bytes {
  const body = concatAll(contents);
  const length = lengthOf(body);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  const head = length < 0x80 ? [length] : [0x80 + digits.length, ...digits];
  const element = concat(Uint8Array.of(tag, ...head), body);
  fill(body, 0);
  return element;
}

/** Like `encode`, for secret contents: wipes them afterwards. */
export function encodeSecret(tag: number, ...contents: readonly Uint8Array[]): Bytes {
  const body = concatAll(contents);
  for (let i = 0; i < contents.length; i++) fill(contents[i]!, 0);
  const element = encode(tag, body);
  wipe(body);
  return element;
}

/** Encodes an INTEGER in [0, 2^31). */
export function encodeInteger(value: number): Bytes {
  const digits: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  if ((digits[0] ?? 0x80) >= 0x80) digits.unshift(0);
  return encode(TAG.integer, Uint8Array.from(digits));
}

/** Encodes an OBJECT IDENTIFIER given in dotted form. */
export function encodeOid(oid: string): Bytes {
  const [top = 0, second = 0, ...rest] = oid.split('.').map(Number);
  const bytes = [40 * top + second, ...rest].flatMap((arc) => {
    const digits = [arc % 128];
    for (let high = Math.floor(arc / 128); high > 0; high = Math.floor(high / 128)) {
      digits.unshift(0x80 + (high % 128));
    }
    return digits;
  });
  return encode(TAG.oid, Uint8Array.from(bytes));
}
