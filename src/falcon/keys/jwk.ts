/**
 * Keys as JSON Web Keys (RFC 7517).
 *
 * `kty` is AKP: `alg` specifies the algorithm, and `pub` and `priv` are base64url without padding
 * (draft-ietf-cose-dilithium, section 3). No name for Falcon of round 3 is registered, so `alg` is
 * a private name (RFC 7518, section 4.3): `falcon512` or `falcon1024`. `pub` and `priv` are the raw
 * keys.
 */

import { ascii, wipe } from '../../shared/bytes.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import type { Falcon, ParameterSet } from '../index.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { badKey, falconOf } from './forms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A public key as a JSON Web Key. */
export interface PublicJwk {
  readonly kty: 'AKP';
  readonly alg: ParameterSet;
  readonly pub: string;
}

/** A secret key as a JSON Web Key, with its public key. */
export interface SecretJwk extends PublicJwk {
  readonly priv: string;
}

/** The keys in a JSON object, each in fresh memory. */
export interface KeyFields {
  readonly form: 'jwk' | 'json';
  readonly falcon: Falcon;
  readonly publicKey: Bytes | undefined;
  readonly secretKey: Bytes | undefined;
}

/**
 * Decodes a JSON Web Key. Unknown members are ignored (RFC 7517, section 4).
 *
 * @param member returns the value of a member
 * @throws CodedError `BAD_KEY` for another kind of key, or fields that do not decode
 */
export function decodeJwk(member: (name: string) => unknown): KeyFields {
  if (member('kty') !== 'AKP') throw badKey('jwk', '"kty" is not AKP');
  const alg = member('alg');
  if (typeof alg === 'string' && alg.startsWith('FN-DSA')) {
    throw badKey('jwk', 'FN-DSA is another scheme: this is Falcon of round 3');
  }
  if (alg !== 'falcon512' && alg !== 'falcon1024') {
    throw badKey('jwk', '"alg" is not falcon512 or falcon1024');
  }
  const falcon = falconOf(alg);
  const publicKey = decodeMember('pub', member('pub'), falcon.lengths.publicKey);
  const priv = member('priv');
  const secretKey =
    priv === undefined ? undefined : decodeMember('priv', priv, falcon.lengths.secretKey);
  return { form: 'jwk', falcon, publicKey, secretKey };
}

function decodeMember(name: string, value: unknown, length: number): Bytes {
  if (typeof value !== 'string') throw badKey('jwk', `"${name}" is not a string`);
  const count = Math.ceil((8 * length) / 6);
  if (value.length !== count) {
    throw badKey('jwk', `"${name}" has ${value.length} digits instead of ${count}`);
  }
  const digits = ascii(value);
  const bytes = decodeBase64(digits, 'url');
  wipe(digits);
  if (bytes === undefined) throw badKey('jwk', `"${name}" is not base64url`);
  return bytes;
}

function encodeMember(bytes: Bytes): string {
  const digits = encodeBase64(bytes, 'url');
  const text = decodeUtf8(digits);
  wipe(digits);
  return text;
}

export const encodePublicJwk = (falcon: Falcon, publicKey: Bytes): PublicJwk => ({
  kty: 'AKP',
  alg: falcon.name,
  pub: encodeMember(publicKey),
});

export const encodeSecretJwk = (falcon: Falcon, publicKey: Bytes, secretKey: Bytes): SecretJwk => ({
  ...encodePublicJwk(falcon, publicKey),
  priv: encodeMember(secretKey),
});
