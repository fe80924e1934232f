/** One signature, one key: bytes to a verdict. */
import { PreparedKey } from './keys.ts';
import { type FalconParams, REASONS } from './params.ts';
import type { InvalidReason, PreparedPublicKey } from './types.ts';
import type { Machine } from './wasm.ts';

/**
 * @returns why the signature is not valid; undefined if it is
 */
export function verifyOne(
  machine: Machine,
  params: FalconParams,
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array | PreparedPublicKey,
): InvalidReason | undefined {
  const { exports, memory, PK, SIG } = machine;
  const { logn, lengths } = params;
  const prepared = PreparedKey.bytesOf(publicKey);
  if (prepared !== undefined) {
    memory.set(prepared, machine.PREPARED);
  } else {
    if ((publicKey as Uint8Array).length !== lengths.publicKey) return 'publicKeyLength';
    memory.set(publicKey as Uint8Array, PK);
  }
  if (signature.length <= lengths.salt || signature.length > lengths.signatureConstantTime) {
    return 'signatureLength';
  }
  memory.set(signature, SIG);
  const messageLength = machine.takeMessage(message, SIG + 1);
  const status =
    prepared !== undefined
      ? exports.verifyPrepared(logn, signature.length, messageLength)
      : exports.verify(logn, signature.length, messageLength);
  return status === 0 ? undefined : REASONS[status];
}

/**
 * @returns the prepared form of an encoded key, or why it is not a key of this parameter set
 */
export function prepareKey(
  machine: Machine,
  params: FalconParams,
  publicKey: Uint8Array,
): Uint8Array | InvalidReason {
  if (publicKey.length !== params.lengths.publicKey) return 'publicKeyLength';
  machine.memory.set(publicKey, machine.PK);
  const status = machine.exports.prepare(params.logn);
  if (status !== 0) return REASONS[status]!;
  return machine.read(machine.PREPARED, 4 << params.logn);
}

/** Whether bytes that verify are of the compressed form, without padding. */
export function isCompressed(
  machine: Machine,
  params: FalconParams,
  signature: Uint8Array,
): boolean {
  machine.memory.set(signature, machine.SIG);
  return machine.exports.decodeSignature(params.logn, signature.length) === 0;
}
