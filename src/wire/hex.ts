/**
 * Hex as the wire has it: a string that starts with `0x`, an even number of digits of either case
 * on input, lower case on output. No `node:` imports: the client side uses this too.
 */

/** Why a value is not wire hex; `tooLong` is judged before a digit is read. */
export type HexFault = 'missing' | 'type' | 'prefix' | 'tooLong' | 'oddLength' | 'digit';

const NOT_A_DIGIT = 255;

/** Value of every ASCII character as a hex digit, NOT_A_DIGIT for the others. */
const DIGIT_VALUE = new Uint8Array(128).fill(NOT_A_DIGIT);
for (let i = 0; i < 10; i++) DIGIT_VALUE[48 + i] = i;
for (let i = 0; i < 6; i++) DIGIT_VALUE[65 + i] = DIGIT_VALUE[97 + i] = 10 + i;

const DIGITS = new TextEncoder().encode('0123456789abcdef');
const ascii = new TextDecoder();

/**
 * Bytes of a wire hex string, or the reason why it is none.
 *
 * @param value anything that came out of JSON
 * @param maxBytes more bytes than this are `tooLong`
 */
export function decodeWireHex(value: unknown, maxBytes: number): Uint8Array | HexFault {
  if (value === undefined) return 'missing';
  if (typeof value !== 'string') return 'type';
  if (!value.startsWith('0x')) return 'prefix';
  const digits = value.length - 2;
  if (digits > 2 * maxBytes) return 'tooLong';
  if (digits % 2 !== 0) return 'oddLength';
  const bytes = new Uint8Array(digits / 2);
  let seen = 0;
  for (let i = 0; i < bytes.length; i++) {
    const high = value.charCodeAt(2 + 2 * i);
    const low = value.charCodeAt(3 + 2 * i);
    if ((high | low) > 127) return 'digit';
    const highValue = DIGIT_VALUE[high]!;
    const lowValue = DIGIT_VALUE[low]!;
    seen |= highValue | lowValue;
    bytes[i] = (highValue << 4) | lowValue;
  }
  // A digit's value is at most 15, NOT_A_DIGIT has the high bits.
  return seen > 15 ? 'digit' : bytes;
}

/** `0x` and two lower-case digits a byte. */
export function encodeWireHex(bytes: Uint8Array): string {
  const text = new Uint8Array(2 + 2 * bytes.length);
  text[0] = 48;
  text[1] = 120;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    text[2 + 2 * i] = DIGITS[byte >> 4]!;
    text[3 + 2 * i] = DIGITS[byte & 15]!;
  }
  return ascii.decode(text);
}

/** One plain sentence for a fault, for messages to people. */
export function describeHexFault(fault: HexFault, maxBytes: number): string {
  switch (fault) {
    case 'missing':
      return 'is missing';
    case 'type':
      return 'must be a string of hex digits';
    case 'prefix':
      return 'must start with 0x';
    case 'tooLong':
      return `must hold at most ${maxBytes} bytes`;
    case 'oddLength':
      return 'must have an even number of hex digits';
    case 'digit':
      return 'holds a character that is not a hex digit';
  }
}
