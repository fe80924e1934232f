/**
 * Hex in the wire format: a string that starts with `0x` and has an even number of digits, in
 * either case on input, in lower case on output.
 */
import { fromHex, toHex } from '../shared/bytes.ts';

/** The fault of a value that is not wire hex. `tooLong` is checked before any digit is read. */
export type HexFault = 'missing' | 'type' | 'prefix' | 'tooLong' | 'oddLength' | 'digit';

/**
 * Decodes a wire hex string; returns its bytes or its fault.
 *
 * @param value any JSON value
 * @param maxBytes longer values are `tooLong`
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
 * Decodes a wire hex string or throws.
 *
 * @param name name of the value in errors
 * @throws RangeError for any other value
 */
export function requireWireHex(name: string, text: unknown): Uint8Array {
  const bytes = decodeWireHex(text, Number.MAX_SAFE_INTEGER);
  if (typeof bytes !== 'string') return bytes;
  throw new RangeError(`"${name}" ${describeHexFault(bytes, 0)}`);
}

/** Returns whether a value is a wire hex string. */
export function isWireHex(value: unknown): value is string {
  return typeof decodeWireHex(value, Number.MAX_SAFE_INTEGER) !== 'string';
}

/** Encodes bytes as `0x` and two lower-case digits per byte. */
export function encodeWireHex(bytes: Uint8Array): string {
  return `0x${toHex(bytes)}`;
}

const FAULTS: Readonly<Record<Exclude<HexFault, 'tooLong'>, string>> = {
  missing: 'is missing',
  type: 'must be a string of hex digits',
  prefix: 'must start with 0x',
  oddLength: 'must have an even number of hex digits',
  digit: 'contains a character that is not a hex digit',
};

/** Describes the fault in words that follow the name of the field: `must start with 0x`. */
export const describeHexFault = (fault: HexFault, maxBytes: number): string =>
  fault === 'tooLong' ? `must not be longer than ${maxBytes} bytes` : FAULTS[fault];
