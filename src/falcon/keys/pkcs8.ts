/**
 * Secret keys as OneAsymmetricKey (RFC 5958, section 2; PKCS#8).
 *
 * The contents of the OCTET STRING `privateKey` were never standardised for Falcon. In use are:
 *
 * - oqs-provider: an OCTET STRING of the raw secret key and the raw public key, or of the secret
 *   key alone in builds without public keys (oqs_encode_key2any.c, July 2026)
 * - BouncyCastle and the QSC encoding of oqs-provider (draft-uni-qsckeys): SEQUENCE { version 0 or
 *   1 OPTIONAL, f, g, F, h OPTIONAL }, each an OCTET STRING without header byte; h also in a
 *   SEQUENCE or under [0] (FalconPrivateKey.java of 2026, and release 1.72)
 * - the raw keys without an inner OCTET STRING, or that SEQUENCE with one
 */
import { concat, wipe } from '../../shared/bytes.ts';
import { copyOf, lengthOf, viewOf } from '../../shared/intrinsics.ts';
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
  const parts = decodeContents(falcon, bytes, form);
  if (parts !== undefined) return parts;
  const file = new DerReader(bytes, form);
  if (file.next === TAG.octetString) {
    const inner = file.read(TAG.octetString, 'private key') as Bytes;
    file.end('private key');
    const contents = decodeContents(falcon, inner, form);
    if (contents !== undefined) return contents;
  }
  throw badKey(form, `the private key is in no layout known of ${falcon.name}`);
}

const decodeContents = (falcon: Falcon, bytes: Bytes, form: string): Parts | undefined =>
  isSequence(bytes) ? decodeSequence(falcon, bytes, form) : splitPair(falcon, bytes);

/**
 * Splits a secret key from the public key that may follow it; both with header bytes, or both
 * without.
 *
 * @returns undefined for any other length
 */
export function splitPair(falcon: Falcon, bytes: Bytes): Parts | undefined {
  const { secretKey: sk, publicKey: pk } = falcon.lengths;
  switch (lengthOf(bytes)) {
    case sk:
      return { secretKey: copyOf(bytes), publicKeys: [] };
    case sk + pk:
      return { secretKey: copyOf(bytes, 0, sk), publicKeys: [copyOf(bytes, sk)] };
    case sk - 1:
      return { secretKey: withSecretHeader(falcon, bytes), publicKeys: [] };
    case sk - 1 + pk - 1:
      return {
        secretKey: withSecretHeader(falcon, viewOf(bytes, 0, sk - 1)),
        publicKeys: [withHeader(falcon, viewOf(bytes, sk - 1))],
      };
    default:
      return undefined;
  }
}

const withSecretHeader = (falcon: Falcon, bare: Uint8Array): Bytes =>
  concat(Uint8Array.of(secretHeader(falcon)), bare);

function decodeSequence(falcon: Falcon, bytes: Bytes, form: string): Parts {
  const sequence = new DerReader(bytes, form).enter(TAG.sequence, 'private key');
  if (sequence.next === TAG.integer) {
    const version = sequence.integer('version of the private key');
    if (version > 1) throw badKey(form, `version ${version} of the private key is not known`);
  }
  const lengths = polynomialLengths(falcon);
  const polynomial = (i: 0 | 1 | 2) => {
    const name = `polynomial ${'fgF'[i]}`;
    const bytes = sequence.read(TAG.octetString, name);
    if (lengthOf(bytes) === lengths[i]) return bytes;
    throw badKey(form, `the ${name} has ${lengthOf(bytes)} bytes instead of ${lengths[i]}`);
  };
  const bare = concat(polynomial(0), polynomial(1), polynomial(2));
  try {
    const publicKeys: Bytes[] = [];
    if (sequence.next !== undefined) {
      const isInside = sequence.next === TAG.sequence || sequence.next === TAG.attributes;
      const outer = isInside ? sequence.enter(sequence.next, 'public key') : sequence;
      const h = outer.read(TAG.octetString, 'polynomial h');
      if (isInside) outer.end('public key');
      publicKeys.push(decodeBits(falcon, h, form));
    }
    sequence.end('private key');
    return { secretKey: withSecretHeader(falcon, bare), publicKeys };
  } finally {
    wipe(bare);
  }
}

/**
 * Bytes of f, g, F: 6, 6 and 8 bits per coefficient at 512; 5, 5 and 8 at 1024 (Falcon, 3.11.5).
 */
const polynomialLengths = (falcon: Falcon): readonly [number, number, number] =>
  falcon.name === 'falcon512' ? [384, 384, 512] : [640, 640, 1024];

/**
 * Encodes a PrivateKeyInfo of version 1, for compatibility; the public key is inside the OCTET
 * STRING.
 *
 * @param secretKey,publicKey in `raw` form
 */
export function encodePkcs8(
  falcon: Falcon,
  secretKey: Bytes,
  publicKey: Bytes,
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

function encodeSequence(falcon: Falcon, secretKey: Bytes, publicKey: Bytes): Bytes {
  const lengths = polynomialLengths(falcon);
  const ends = [1, 1 + lengths[0], 1 + lengths[0] + lengths[1], lengthOf(secretKey)] as const;
  const polynomial = (i: 0 | 1 | 2) =>
    encode(TAG.octetString, viewOf(secretKey, ends[i], ends[(i + 1) as 1 | 2 | 3]));
  const h = encode(TAG.sequence, encode(TAG.octetString, viewOf(publicKey, 1)));
  const version = encodeInteger(0);
  return encodeSecret(TAG.sequence, version, polynomial(0), polynomial(1), polynomial(2), h);
}
