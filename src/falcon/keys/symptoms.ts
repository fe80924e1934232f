/** What bytes look like that are in no form, for errors that say what to do. Quotes nothing. */
import { lengthOf } from '../../shared/intrinsics.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export const HEX_TEXT = ': it is text in hexadecimal, to be decoded first';
/** Fewer digits can be anything. */
const MIN_DIGITS = 64;
const OPEN_BRACE = 0x7b;

/** Describes a key or signature in no known form; empty if it looks like nothing. */
export function symptomOf(bytes: Bytes): string {
  if (hasMark(bytes)) return ': a byte order mark is in front of it';
  if (isHexText(bytes)) return HEX_TEXT;
  return isBraced(bytes) ? ': it begins as JSON does, but is not JSON in UTF-8' : '';
}

/** Returns whether the bytes begin with the byte order mark of UTF-8. */
export const hasMark = (bytes: Bytes): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Returns whether the first byte that is no white space is a brace. */
export function isBraced(bytes: Bytes): boolean {
  let at = 0;
  while (bytes[at]! <= 0x20) at++;
  return bytes[at] === OPEN_BRACE;
}

/**
 * Returns whether the bytes are text in UTF-16: one byte of each of eight characters is zero. They
 * can be a key, so no branch depends on them.
 */
export function isUtf16(bytes: Bytes): boolean {
  let fits = 0;
  // A byte order mark can come first, and where the zeros are depends on the byte order.
  for (let start = 0; start < 4 && start + 16 <= lengthOf(bytes); start++) {
    let other = 0;
    for (let i = start; i < start + 16; i += 2) {
      const character = bytes[i]!;
      other |= ((character - 1) >> 31) | ((0x7e - character) >> 31) | bytes[i + 1]!;
    }
    fits |= (other - 1) & ~other;
  }
  return fits < 0;
}

/** Returns whether the bytes are many hex digits, with or without 0x. */
export function isHexText(bytes: Bytes): boolean {
  let end = lengthOf(bytes);
  while (bytes[end - 1]! <= 0x20) end--;
  let at = bytes[0] === 0x30 && bytes[1] === 0x78 ? 2 : 0;
  if (end - at < MIN_DIGITS) return false;
  while (isHexDigit(bytes[at]!)) at++;
  return at === end;
}

const isHexDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 32) >= 0x61 && (code | 32) <= 0x66);
