/** Operations on internal byte arrays. For arrays of callers, see arguments.ts. */
import { fill, lengthOf } from './intrinsics.ts';

/** @returns one new array with all parts, in order */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return concatAll(parts);
}

/** Like `concat`, for more parts than a call can have arguments. */
export function concatAll(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** @returns one byte for each character of an ASCII text */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
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
  for (const secret of secrets) fill(secret, 0);
}

const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
let decoder: TextDecoder | undefined;

/** @returns lower-case hex, two digits per byte */
export function toHex(bytes: Uint8Array): string {
  const text = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    text[2 * i] = DIGITS[byte >> 4]!;
    text[2 * i + 1] = DIGITS[byte & 15]!;
  }
  decoder ??= new TextDecoder();
  return decoder.decode(text);
}

/** Value of each ASCII character as a hex digit of either case; 255 for other characters. */
const DIGIT_VALUES = new Uint8Array(128).fill(255);
for (let i = 0; i < 16; i++) DIGIT_VALUES[DIGITS[i]!] = i;
for (let i = 10; i < 16; i++) DIGIT_VALUES[DIGITS[i]! - 32] = i;

/**
 * @returns the bytes of an even number of hex digits (upper or lower case)
 * @throws TypeError if it is not a string, RangeError for an odd length or anything but hex digits
 */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  if (typeof hex !== 'string') throw new TypeError(`"hex" expected string, got ${typeof hex}`);
  if (hex.length % 2 !== 0) throw new RangeError(`"hex" has an odd number of digits`);
  const out = new Uint8Array(hex.length / 2);
  let seen = 0;
  for (let i = 0; i < out.length; i++) {
    const high = hex.charCodeAt(2 * i);
    const low = hex.charCodeAt(2 * i + 1);
    seen |= (high | low) & ~127;
    const highValue = DIGIT_VALUES[high & 127]!;
    const lowValue = DIGIT_VALUES[low & 127]!;
    seen |= highValue | lowValue;
    out[i] = (highValue << 4) | lowValue;
  }
  // A digit's value is at most 15; any other character sets a higher bit.
  if (seen > 15) throw new RangeError('"hex" has characters that are not hex digits');
  return out;
}
