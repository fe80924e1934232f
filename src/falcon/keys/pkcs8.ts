/**
 * Secret keys as OneAsymmetricKey (RFC 5958, section 2; PKCS#8).
 *
 * The contents of the OCTET STRING `privateKey` were never standardised for Falcon. In use are:
 *
 * - oqs-provider: an OCTET STRING of the raw secret key and the raw public key, or of the secret
 *   key alone in builds without public keys (oqs_encode_key2any.c, July 2026)
 * - BouncyCastle: SEQUENCE { version 0 or 1, f, g, F, SEQUENCE { h } OPTIONAL }, each an OCTET
 *   STRING without header byte (FalconPrivateKey.java of 2026, and release 1.72)
 * - the raw keys without an inner OCTET STRING
 */
import { concat } from '../../shared/bytes.ts';
import type { Falcon } from '../index.ts';
import {
  DerReader,
  encode,
  encodeInteger,
  encodeOid,
  encodeSecret,
  isSequence,
  TAG,
} from './der.ts';
import { badKey, falconOfOid, type Pkcs8Layout, secretHeader } from './forms.ts';
import { decodeBits, withHeader } from './publicKey.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A decoded key; everything is in fresh memory. */
export interface SecretParts {
  readonly falcon: Falcon;
  /** In `raw` form. */
  readonly secretKey: Bytes;
  /** The accompanying public keys, in `raw` form. */
  readonly publicKeys: readonly Bytes[];
  readonly oid?: string;
}

/** @throws CodedError `BAD_KEY` */
export function decodePkcs8(der: Bytes, form: string): SecretParts {
  const file = new DerReader(der, form);
  const info = file.enter(TAG.sequence, 'PrivateKeyInfo');
  file.end('file');
  const version = info.integer('version');
  if (version > 1) throw badKey(form, `version ${version} of PrivateKeyInfo is not known`);
  const algorithm = info.enter(TAG.sequence, 'algorithm');
  const oid = algorithm.oid('algorithm identifier');
  const falcon = falconOfOid(oid, form);
  algorithm.end('algorithm, which has no parameters');
  const privateKey = info.read(TAG.octetString, 'private key');
  if (info.next === TAG.attributes) info.read(TAG.attributes, 'attributes');
  const isV2 = version === 1 && info.next === TAG.publicKey;
  const bits = isV2 ? info.bitString(TAG.publicKey, 'public key') : undefined;
  info.end('PrivateKeyInfo');
  const outside = bits === undefined ? [] : [decodeBits(falcon, bits as Bytes, form)];
  const { secretKey, publicKeys } = decodePrivateKey(falcon, privateKey as Bytes, form);
  return { falcon, oid, secretKey, publicKeys: [...publicKeys, ...outside] };
}

type Parts = Pick<SecretParts, 'secretKey' | 'publicKeys'>;

function decodePrivateKey(falcon: Falcon, bytes: Bytes, form: string): Parts {
  if (isSequence(bytes)) return decodeSequence(falcon, bytes, form);
  const whole = splitPair(falcon, bytes);
  if (whole !== undefined) return whole;
  const file = new DerReader(bytes, form);
  if (file.next === TAG.octetString) {
    const inner = file.read(TAG.octetString, 'private key') as Bytes;
    file.end('private key');
    const parts = splitPair(falcon, inner);
    if (parts !== undefined) return parts;
  }
  throw badKey(form, `the private key is in no layout known of ${falcon.name}`);
}

/**
 * Splits a secret key from the public key that may follow it; both with header bytes, or both
 * without.
 *
 * @returns undefined for any other length
 */
export function splitPair(falcon: Falcon, bytes: Bytes): Parts | undefined {
  const { secretKey: sk, publicKey: pk } = falcon.lengths;
  switch (bytes.length) {
    case sk:
      return { secretKey: bytes.slice(), publicKeys: [] };
    case sk + pk:
      return { secretKey: bytes.slice(0, sk), publicKeys: [bytes.slice(sk)] };
    case sk - 1:
      return { secretKey: withSecretHeader(falcon, bytes), publicKeys: [] };
    case sk - 1 + pk - 1:
      return {
        secretKey: withSecretHeader(falcon, bytes.subarray(0, sk - 1)),
        publicKeys: [withHeader(falcon, bytes.subarray(sk - 1))],
      };
    default:
      return undefined;
  }
}

const withSecretHeader = (falcon: Falcon, ...parts: readonly Uint8Array[]): Bytes =>
  concat(Uint8Array.of(secretHeader(falcon)), ...parts);

function decodeSequence(falcon: Falcon, bytes: Bytes, form: string): Parts {
  const sequence = new DerReader(bytes, form).enter(TAG.sequence, 'private key');
  const version = sequence.integer('version of the private key');
  if (version > 1) throw badKey(form, `version ${version} of the private key is not known`);
  const lengths = polynomialLengths(falcon);
  const polynomials = lengths.map((length, i) => {
    const name = `polynomial ${'fgF'[i]}`;
    const polynomial = sequence.read(TAG.octetString, name);
    if (polynomial.length === length) return polynomial;
    throw badKey(form, `the ${name} has ${polynomial.length} bytes instead of ${length}`);
  });
  const publicKeys: Bytes[] = [];
  if (sequence.next === TAG.sequence) {
    const inner = sequence.enter(TAG.sequence, 'public key');
    const h = inner.read(TAG.octetString, 'polynomial h');
    inner.end('public key');
    publicKeys.push(decodeBits(falcon, h as Bytes, form));
  }
  sequence.end('private key');
  return { secretKey: withSecretHeader(falcon, ...polynomials), publicKeys };
}

/**
 * Bytes of f, g, F: 6, 6 and 8 bits per coefficient at 512; 5, 5 and 8 at 1024 (Falcon, 3.11.5).
 */
const polynomialLengths = (falcon: Falcon): readonly number[] =>
  falcon.name === 'falcon512' ? [384, 384, 512] : [640, 640, 1024];

/**
 * Encodes a PrivateKeyInfo of version 1, for compatibility; the public key is inside the OCTET
 * STRING.
 *
 * @param secretKey,publicKey in `raw` form
 */
export function encodePkcs8(
  falcon: Falcon,
  secretKey: Uint8Array,
  publicKey: Uint8Array,
  layout: Pkcs8Layout,
  oid: string,
): Bytes {
  const inner =
    layout === 'oqs'
      ? encode(TAG.octetString, secretKey, publicKey)
      : encodeSequence(falcon, secretKey, publicKey);
  return encodeSecret(
    TAG.sequence,
    encodeInteger(0),
    encode(TAG.sequence, encodeOid(oid)),
    encodeSecret(TAG.octetString, inner),
  );
}

function encodeSequence(falcon: Falcon, secretKey: Uint8Array, publicKey: Uint8Array): Bytes {
  let at = 1;
  const polynomials = polynomialLengths(falcon).map((length) => {
    at += length;
    return encode(TAG.octetString, secretKey.subarray(at - length, at));
  });
  const h = encode(TAG.sequence, encode(TAG.octetString, publicKey.subarray(1)));
  return encodeSecret(TAG.sequence, encodeInteger(0), ...polynomials, h);
}
