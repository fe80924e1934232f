/** Verifies one signature with one key. */
import { type InputBytes, readBytes, readOptions } from '../shared/arguments.ts';
import { set } from '../shared/intrinsics.ts';
import type { HashState } from './hashState.ts';
import { insidePrepared, type Prepared } from './keys.ts';
import {
  COMPRESSED,
  CONSTANT_TIME,
  type FalconParams,
  PADDED,
  readFormat,
  reasonOf,
} from './params.ts';
import type { InvalidReason } from './types.ts';
import { type Machine, read } from './wasm.ts';

/** A public key as the caller passed it: encoded or prepared. */
export type InputKey = InputBytes | Pick<Prepared, 'prepared'>;

/** Reads a public key for verification. Its bytes may be invalid. */
export function readPublicKey(name: string, params: FalconParams, value: unknown): InputKey {
  const inside = insidePrepared(value);
  if (inside === undefined) return readBytes(name, value);
  if (inside.params.name !== params.name)
    throw new TypeError(`"${name}" is a key of ${inside.params.name}`);
  return inside;
}

/**
 * Reads the options of verification.
 *
 * @returns the module's number of the only format to accept; undefined for any
 * @throws TypeError for unknown options, RangeError for an unknown format
 */
export function readVerifyOptions(options: unknown): number | undefined {
  const { format } = readOptions(options, ['format']);
  return format === undefined ? undefined : readFormat(format);
}

/**
 * Checks the format of a signature, which may not decode. Returns the reason if it is not of the
 * requested format; undefined if it is, or if none is requested.
 *
 * The first byte identifies the constant-time format. The other two have the same first byte:
 * compressed bits end with a 1, so the last byte is not zero, while padding is. A signature that
 * has the padded length without padding is in both formats.
 *
 * @param bytes internal memory, with the signature at `at`
 * @param length its length, at least one
 */
export function formatFault(
  { logn, lengths }: FalconParams,
  format: number | undefined,
  bytes: Uint8Array,
  at: number,
  length: number,
): InvalidReason | undefined {
  if (format === undefined) return undefined;
  const isConstantTime = bytes[at] === 0x50 + logn;
  if (isConstantTime !== (format === CONSTANT_TIME)) return 'signatureHeader';
  if (format === PADDED && length !== lengths.signaturePadded) return 'signatureLength';
  if (format === COMPRESSED && bytes[at + length - 1] === 0) return 'signatureEncoding';
  return undefined;
}

/**
 * Verifies one signature.
 *
 * @param message the message, or its hash after the signature's salt
 * @param format the only one to accept; undefined for any
 * @returns the reason why the signature is invalid; undefined if it is valid
 */
export function verifyOne(
  machine: Machine,
  params: FalconParams,
  signature: InputBytes,
  message: InputBytes | HashState,
  publicKey: InputKey,
  format?: number,
): InvalidReason | undefined {
  const { exports } = machine;
  const { logn, lengths, profileNumber } = params;
  const isPrepared = 'prepared' in publicKey;
  if (isPrepared) {
    set(machine.prepared, publicKey.prepared);
  } else {
    if (publicKey.length !== lengths.publicKey) return 'publicKeyLength';
    publicKey.copyTo(machine.publicKey);
  }
  if (signature.length <= lengths.salt || signature.length > lengths.signatureConstantTime) {
    return 'signatureLength';
  }
  signature.copyTo(machine.signature);
  const fault = formatFault(params, format, machine.signature, 0, signature.length);
  if (fault !== undefined) return fault;
  const messageLength =
    'restore' in message
      ? message.restore(machine)
      : machine.takeMessage(message, exports.SIG.value + 1);
  const status = isPrepared
    ? exports.verifyPrepared(logn, signature.length, messageLength, profileNumber)
    : exports.verify(logn, signature.length, messageLength, profileNumber);
  return status === 0 ? undefined : reasonOf(status);
}

/**
 * Prepares an encoded key.
 *
 * @returns the prepared key, or the reason why it is not a key of this parameter set
 */
export function prepareKey(
  machine: Machine,
  params: FalconParams,
  publicKey: Uint8Array<ArrayBuffer>,
): Prepared | InvalidReason {
  set(machine.publicKey, publicKey);
  const status = machine.exports.prepare(params.logn);
  if (status !== 0) return reasonOf(status);
  return { params, publicKey, prepared: read(machine.prepared, 4 << params.logn) };
}
