/** Salts that are not random: constant ones, and those derived from key and message. */
import { ascii, equal } from '../shared/bytes.ts';
import { set } from '../shared/intrinsics.ts';
import { FALCON_512, paramsOf } from './params.ts';
import { shake256 } from './points.ts';
import type { ParameterSet } from './types.ts';

export const SALT_BYTES: number = FALCON_512.lengths.salt;
const CONSTANT_LABEL = ascii('FALCON_DET');
const DERIVED_LABEL = ascii('falconry salt v1');

/**
 * Returns the salt of deterministic Falcon: version ‖ logn ‖ "FALCON_DET" ‖ 28 zero bytes.
 *
 * @param version 0 to 255
 * @returns 40 bytes
 */
export function constantSalt(version: number, parameterSet: ParameterSet): Uint8Array<ArrayBuffer> {
  const salt = new Uint8Array(SALT_BYTES);
  salt[0] = version;
  salt[1] = paramsOf(parameterSet).logn;
  set(salt, CONSTANT_LABEL, 2);
  return salt;
}

/** Returns whether a salt is one of deterministic Falcon, of any version. */
export const isConstantSalt = (salt: Uint8Array, parameterSet: ParameterSet): boolean =>
  equal(salt, constantSalt(salt[0]!, parameterSet));

/**
 * Derives the salt from a key and a message: SHAKE256("falconry salt v1" ‖ public key ‖ message).
 *
 * @returns 40 bytes
 */
export const derivedSalt = (of: {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}): Uint8Array<ArrayBuffer> => shake256([DERIVED_LABEL, of.publicKey, of.message], SALT_BYTES);
