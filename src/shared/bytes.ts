/** Operations on internal byte arrays. For arrays of callers, see arguments.ts. */
import { charCodeAt, fill, lengthOf, set } from './intrinsics.ts';
import { decodeUtf8 } from './utf8.ts';

/** @returns one new array with all parts, in order */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return concatAll(parts);
}

/** Like `concat`, for more parts than a call can have arguments. */
export function concatAll(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  // Without methods or iterators of arrays, which a page may have changed: parts can be secret.
  let length = 0;
  for (let i = 0; i < parts.length; i++) length += lengthOf(parts[i]!);
  const out = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < parts.length; i++) {
    set(out, parts[i]!, at);
    at += lengthOf(parts[i]!);
  }
  return out;
}

/** @returns one byte for each character of an ASCII text; 0x7f for each unit beyond ASCII */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = charCodeAt(text, i);
    out[i] = code < 0x80 ? code : 0x7f;
  }
  return out;
}

/** Returns whether both arrays hold the same bytes. The time depends only on the lengths. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  const length = lengthOf(a);
  if (length !== lengthOf(b)) return false;
  let difference = 0;
  for (let i = 0; i < length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** Overwrites secrets with zeros. */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (let i = 0; i < secrets.length; i++) fill(secrets[i]!, 0);
}

/** @returns lower-case hex, two digits per byte; no branch and no index depends on the bytes */
export function toHex(bytes: Uint8Array): string {
  const text = new Uint8Array(2 * lengthOf(bytes));
  writeHex(text, bytes);
  const hex = decodeUtf8(text);
  fill(text, 0);
  return hex;
}

/** Writes the digits as ASCII to the start of `text`, as {@link toHex}. */
export function writeHex(text: Uint8Array, bytes: Uint8Array): void {
  const length = lengthOf(bytes);
  for (let i = 0; i < length; i++) {
    text[2 * i] = digitOf(bytes[i]! >> 4);
    text[2 * i + 1] = digitOf(bytes[i]! & 15);
  }
}

/** '0' + v, or 'a' + v - 10 */
const digitOf = (value: number): number => value + 48 + (((9 - value) >> 31) & 39);

/** Returns the value of a hex digit of either case; 255 for any other character. */
function digitValue(code: number): number {
  const lower = code | 32;
  const figure = ((47 - code) & (code - 58)) >> 31;
  const letter = ((96 - lower) & (lower - 103)) >> 31;
  return (figure & (code - 48)) | (letter & (lower - 87)) | (~(figure | letter) & 255);
}

/**
 * No branch and no index depends on the digits.
 *
 * @returns the bytes of an even number of hex digits (upper or lower case)
 * @throws TypeError if it is not a string, RangeError for an odd length or anything but hex digits
 */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  if (typeof hex !== 'string') throw new TypeError(`"hex" expected string, got ${typeof hex}`);
  if (hex.length % 2 !== 0) throw new RangeError(`"hex" has an odd number of digits`);
  const length = hex.length / 2;
  const out = new Uint8Array(length);
  let seen = 0;
  for (let i = 0; i < length; i++) {
    const high = digitValue(charCodeAt(hex, 2 * i));
    const low = digitValue(charCodeAt(hex, 2 * i + 1));
    seen |= high | low;
    out[i] = (high << 4) | low;
  }
  // A digit's value is at most 15; any other character sets a higher bit.
  if (seen <= 15) return out;
  fill(out, 0);
  throw new RangeError('"hex" has characters that are not hex digits');
}
