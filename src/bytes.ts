/** The few things every room does with byte arrays of its own; arguments.ts reads those of callers. */
import { fill } from './intrinsics.ts';

/** @returns one new array with all parts, in order */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
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

/** @returns one byte for each character of a text of ASCII */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Whether both have the same bytes. The time depends on lengths only, not on where they differ. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** Overwrites secrets with zeros. */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (const secret of secrets) fill(secret, 0);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** @returns lower-case hex, two digits per byte */
export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (let i = 0; i < bytes.length; i++) hex += HEX[bytes[i]!];
  return hex;
}

/**
 * @returns the bytes of an even number of hex digits, upper or lower case
 * @throws TypeError if it is not a string, RangeError for an odd length or anything but hex digits
 */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  if (typeof hex !== 'string') throw new TypeError(`"hex" expected string, got ${typeof hex}`);
  if (hex.length % 2 !== 0) throw new RangeError(`"hex" has an odd number of digits`);
  const out = new Uint8Array(hex.length / 2);
  for (let i = 0; i < out.length; i++) {
    const high = digit(hex.charCodeAt(2 * i));
    const low = digit(hex.charCodeAt(2 * i + 1));
    if ((high | low) < 0) throw new RangeError(`"hex" has something else than hex digits`);
    out[i] = (high << 4) | low;
  }
  return out;
}

function digit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
