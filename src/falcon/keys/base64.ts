/**
 * Base64 (RFC 4648, sections 4 and 5) for secrets: no branch and no index depends on the data, only
 * on its length. Each digit is computed from its value by comparisons, which a shift turns into
 * masks: (a - b) >> 8 is -1 for a < b and 0 otherwise, for |a - b| < 256.
 */

import { fill, lengthOf } from '../../shared/intrinsics.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The last two digits: + and /, or - and _ for URLs and JWKs. */
export type Alphabet = 'standard' | 'url';

const LAST = { standard: { plus: 43, slash: 47 }, url: { plus: 45, slash: 95 } };

/** Returns the ASCII code of the digit for a value in [0, 64). */
function digitOf(value: number, plus: number, slash: number): number {
  const above25 = (25 - value) >> 8;
  const above51 = (51 - value) >> 8;
  const above61 = (61 - value) >> 8;
  const above62 = (62 - value) >> 8;
  // 'A' + v, 'a' + v - 26, '0' + v - 52
  return (
    value +
    65 +
    (above25 & 6) -
    (above51 & 75) +
    (above61 & (plus - 58)) +
    (above62 & (slash - plus - 1))
  );
}

/** Returns the value of a digit from its ASCII code; 255 for any other character. */
function digitValue(code: number, plus: number, slash: number): number {
  const within = (low: number, high: number) => ((low - 1 - code) & (code - high - 1)) >> 8;
  const upper = within(65, 90);
  const lower = within(97, 122);
  const figure = within(48, 57);
  const isPlus = within(plus, plus);
  const isSlash = within(slash, slash);
  const known = upper | lower | figure | isPlus | isSlash;
  return (
    (upper & (code - 65)) |
    (lower & (code - 71)) |
    (figure & (code + 4)) |
    (isPlus & 62) |
    (isSlash & 63) |
    (~known & 255)
  );
}

/** @returns the ASCII codes of the digits, padded only in the standard alphabet */
export function encodeBase64(bytes: Uint8Array, alphabet: Alphabet): Bytes {
  const { plus, slash } = LAST[alphabet];
  const length = lengthOf(bytes);
  const digits = Math.ceil((8 * length) / 6);
  const out = new Uint8Array(alphabet === 'url' ? digits : 4 * Math.ceil(length / 3));
  fill(out, 0x3d);
  for (let i = 0; i < digits; i++) {
    const at = Math.floor((6 * i) / 8);
    // Bytes past the end read as zeros.
    const pair = (bytes[at]! << 8) | bytes[at + 1]!;
    out[i] = digitOf((pair >> (10 - ((6 * i) % 8))) & 63, plus, slash);
  }
  return out;
}

/**
 * Decodes base64, accepting only the canonical encoding.
 *
 * @param text ASCII codes, without line ends
 * @returns fresh memory; undefined if the text is not canonical base64
 */
export function decodeBase64(text: Uint8Array, alphabet: Alphabet): Bytes | undefined {
  const { plus, slash } = LAST[alphabet];
  const padded = alphabet === 'standard';
  const all = lengthOf(text);
  if (padded && all % 4 !== 0) return undefined;
  const length = all - (padded ? paddingOf(text, all) : 0);
  if (length % 4 === 1) return undefined;
  const out = new Uint8Array(Math.floor((6 * length) / 8));
  let window = 0;
  let at = 0;
  let wrong = 0;
  for (let i = 0; i < length; i++) {
    const value = digitValue(text[i]!, plus, slash);
    wrong |= value & 0xc0;
    window = ((window << 6) | (value & 63)) & 0xffff;
    // In each group of four digits, all but the first complete a byte, with 4, 2, 0 bits left over.
    const place = i & 3;
    if (place !== 0) out[at++] = window >> (6 - 2 * place);
  }
  // The left-over bits must be zero: 4 after two digits, 2 after three.
  wrong |= window & ((1 << ((8 - 2 * (length & 3)) & 6)) - 1);
  if (wrong === 0) return out;
  fill(out, 0);
  return undefined;
}

/** Returns the number of = signs at the end, at most two. */
function paddingOf(text: Uint8Array, length: number): number {
  if (text[length - 1] !== 0x3d) return 0;
  return text[length - 2] === 0x3d ? 2 : 1;
}
