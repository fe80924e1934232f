/** Verifies one signature with one key. */
import { type InputBytes, readBytes } from '../arguments.ts';
import { set } from '../intrinsics.ts';
import { insidePrepared, type Prepared } from './keys.ts';
import { type FalconParams, reasonOf } from './params.ts';
import type { InvalidReason } from './types.ts';
import { type Machine, read } from './wasm.ts';

/** A public key as the caller passed it: encoded or prepared. */
export type InputKey = InputBytes | Pick<Prepared, 'prepared'>;

/**
 * Reads a public key for verification; its bytes may be anything.
 *
 * @param name its name in errors
 * @throws TypeError if it is neither bytes nor a key prepared for this parameter set
 */
export function readPublicKey(name: string, params: FalconParams, value: unknown): InputKey {
  const inside = insidePrepared(value);
  if (inside === undefined) return readBytes(name, value);
  if (inside.params.name !== params.name)
    throw new TypeError(`"${name}" is a key of ${inside.params.name}`);
  return inside;
}

/** @returns why the signature is invalid; undefined if it is valid */
export function verifyOne(
  machine: Machine,
  params: FalconParams,
  signature: InputBytes,
  message: InputBytes,
  publicKey: InputKey,
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
  const messageLength = machine.takeMessage(message, exports.SIG.value + 1);
  const status = isPrepared
    ? exports.verifyPrepared(logn, signature.length, messageLength, profileNumber)
    : exports.verify(logn, signature.length, messageLength, profileNumber);
  return status === 0 ? undefined : reasonOf(status);
}

/**
 * @returns the prepared form of an encoded key, or why it is not a key of this parameter set
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

/** Whether bytes that verify are of the compressed form, without padding. */
export function isCompressed(
  machine: Machine,
  params: FalconParams,
  signature: InputBytes,
): boolean {
  signature.copyTo(machine.signature);
  return machine.exports.decodeSignature(params.logn, signature.length) === 0;
}
