/**
 * Attached signatures in the format of NIST's `crypto_sign`: signature and message in one byte
 * string.
 *
 *   | length of the last part, u16 | salt 40 | message | 0x20 + logn | compressed s2 |
 *
 * The length is big-endian; the last part is the header byte and the compressed s2.
 */
import type { InputBytes } from '../shared/arguments.ts';
import { CodedError } from '../shared/errors.ts';
import { lengthOf, set, subarray } from '../shared/intrinsics.ts';
import { type FalconParams, SALT_BYTES } from './params.ts';

const PREFIX = 2 + SALT_BYTES;

/** Combines a compressed detached signature with its message. */
export function seal(
  params: FalconParams,
  message: Uint8Array,
  signature: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const end = PREFIX + lengthOf(message);
  const last = lengthOf(signature) - SALT_BYTES; // header byte and compressed s2
  const sealed = new Uint8Array(end + last);
  sealed[0] = last >> 8;
  sealed[1] = last & 0xff;
  set(sealed, subarray(signature, 1, 1 + SALT_BYTES), 2);
  set(sealed, message, PREFIX);
  sealed[end] = 0x20 + params.logn;
  set(sealed, subarray(signature, 1 + SALT_BYTES, SALT_BYTES + last), end + 1);
  return sealed;
}

/**
 * Splits an attached signature into signature and message, each in fresh memory. Returns undefined
 * if the frame is malformed.
 *
 * @param sealed read once
 */
export function unseal(
  params: FalconParams,
  sealed: InputBytes,
): { signature: Uint8Array<ArrayBuffer>; message: Uint8Array<ArrayBuffer> } | undefined {
  if (sealed.length < PREFIX + 1) return undefined;
  const bytes = sealed.view();
  const last = (bytes[0]! << 8) | bytes[1]!;
  const end = sealed.length - last;
  if (last < 1 || end < PREFIX || bytes[end] !== 0x20 + params.logn) return undefined;
  const signature = new Uint8Array(SALT_BYTES + last);
  signature[0] = 0x30 + params.logn;
  set(signature, subarray(bytes, 2, PREFIX), 1);
  set(signature, subarray(bytes, end + 1, sealed.length), 1 + SALT_BYTES);
  const message = new Uint8Array(end - PREFIX);
  set(message, subarray(bytes, PREFIX, end));
  return { signature, message };
}

export const invalidSeal = (): CodedError =>
  new CodedError('INVALID_SIGNATURES', { message: 'invalid signature' });
