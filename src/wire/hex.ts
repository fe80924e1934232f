/**
 * Hex as the wire has it: a string that starts with `0x` and has an even number of digits, of
 * either case on input, in lower case on output.
 */
import { fromHex, toHex } from '../shared/bytes.ts';

/** The reason why a value is not wire hex; `tooLong` is checked before any digit is read. */
export type HexFault = 'missing' | 'type' | 'prefix' | 'tooLong' | 'oddLength' | 'digit';

/**
 * The bytes of a wire hex string, or its fault.
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
  try {
    return fromHex(value.slice(2));
  } catch {
    return 'digit';
  }
}

/**
 * Bytes of a wire hex string.
 *
 * @param name names the value in the error
 * @throws RangeError for anything else
 */
export function requireWireHex(name: string, text: unknown): Uint8Array {
  const bytes = decodeWireHex(text, Number.MAX_SAFE_INTEGER);
  if (typeof bytes !== 'string') return bytes;
  throw new RangeError(`"${name}" ${describeHexFault(bytes, 0)}`);
}

/** Whether a value is a wire hex string. */
export function isWireHex(value: unknown): value is string {
  return typeof decodeWireHex(value, Number.MAX_SAFE_INTEGER) !== 'string';
}

/** `0x` and two lower-case digits a byte. */
export function encodeWireHex(bytes: Uint8Array): string {
  return `0x${toHex(bytes)}`;
}

/** The fault in words that continue the name of the field: `must start with 0x`. */
export function describeHexFault(fault: HexFault, maxBytes: number): string {
  switch (fault) {
    case 'missing':
      return 'is missing';
    case 'type':
      return 'must be a string of hex digits';
    case 'prefix':
      return 'must start with 0x';
    case 'tooLong':
      return `must not be longer than ${maxBytes} bytes`;
    case 'oddLength':
      return 'must have an even number of hex digits';
    case 'digit':
      return 'contains a character that is not a hex digit';
  }
}
