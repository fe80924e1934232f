/** Import and export of public keys. */
import { copyBytes, readOptions } from '../../shared/arguments.ts';
import { concat } from '../../shared/bytes.ts';
import { copyOf, lengthOf } from '../../shared/intrinsics.ts';
import type { Falcon } from '../index.ts';
import { DerReader, encode, encodeOid, isSequence, TAG } from './der.ts';
import {
  badKey,
  checkDemands,
  checkOid,
  checkOneOf,
  falconOfOid,
  falconWith,
  type ImportedPublicKey,
  type ImportOptions,
  PUBLIC_FORMS,
  type PublicKeyForm,
  publicHeader,
  readImportOptions,
} from './forms.ts';
import { type KeyInput, readInput, wipeFound } from './input.ts';
import { encodePublicJwk, type PublicJwk } from './jwk.ts';
import { encodePublicKeyFile, type PublicKeyFile } from './keyFile.ts';
import { decodeBlock, encodePem } from './pem.ts';
import { symptomOf } from './symptoms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

interface Unwrapped {
  readonly form: PublicKeyForm;
  readonly falcon: Falcon;
  readonly key: Bytes;
  readonly oid?: string;
}

/**
 * Decodes a public key in any supported form, and validates it.
 *
 * @param input bytes (raw, bare, DER, or PEM or JSON text), a string, or a JWK or key file as an
 *   object
 * @throws CodedError `BAD_KEY` if it holds no valid public key, or one that does not meet the
 *   options' requirements; TypeError or RangeError for arguments of the wrong type
 * @example
 * ```ts
 * const { key, parameterSet } = importPublicKey(pem);
 * ```
 */
export function importPublicKey(
  input: KeyInput,
  options?: ImportOptions<PublicKeyForm>,
): ImportedPublicKey {
  const demands = readImportOptions(options, PUBLIC_FORMS);
  const { form, falcon, key, oid } = unwrap(input, demands.form);
  checkDemands(demands, form, falcon.name);
  checkPublicKey(falcon, key, form);
  return { form, parameterSet: falcon.name, key, ...(oid === undefined ? {} : { oid }) };
}

function unwrap(input: KeyInput, wanted?: PublicKeyForm): Unwrapped {
  const found = readInput(input);
  try {
    if (found.kind === 'fields') {
      const { form, falcon, publicKey } = found.fields;
      if (publicKey !== undefined) return { form, falcon, key: publicKey };
      throw badKey(form, 'it has no public key: "public_key" is missing');
    }
    const { bytes } = found;
    if (found.kind === 'pem') {
      return { form: 'pem', ...decodeSpki(decodeBlock(bytes, found.blocks, 'PUBLIC KEY'), 'pem') };
    }
    // As for secret keys: DER first, unless a bare key is requested.
    if (wanted !== 'bare' && isSequence(bytes)) {
      return { form: 'spki', ...decodeSpki(bytes, 'spki') };
    }
    const length = lengthOf(bytes);
    const raw = falconWith(length, ({ publicKey }) => publicKey);
    if (raw !== undefined) {
      if (bytes[0] === publicHeader(raw)) return { form: 'raw', falcon: raw, key: copyOf(bytes) };
      throw badKey('raw', `the first byte is not that of a public key of ${raw.name}`);
    }
    const bare = falconWith(length, ({ publicKey }) => publicKey - 1);
    if (bare !== undefined) return { form: 'bare', falcon: bare, key: withHeader(bare, bytes) };
    const what = `${length} bytes that are not a public key in any form${symptomOf(bytes)}`;
    throw badKey(undefined, what);
  } finally {
    // It can be a secret key by mistake.
    wipeFound(found);
  }
}

/** Adds the header byte to a bare key. */
export const withHeader = (falcon: Falcon, bare: Uint8Array): Bytes =>
  concat(Uint8Array.of(publicHeader(falcon)), bare);

/**
 * Decodes a SubjectPublicKeyInfo (RFC 5280, section 4.1): the algorithm without parameters, and a
 * BIT STRING of the raw key. In BouncyCastle 1.72, the BIT STRING holds a SEQUENCE with an OCTET
 * STRING of the bare key.
 */
function decodeSpki(der: Bytes, form: string): Omit<Unwrapped, 'form'> {
  const file = new DerReader(der, form);
  const info = file.enter(TAG.sequence, 'SubjectPublicKeyInfo');
  file.end('file');
  const algorithm = info.enter(TAG.sequence, 'algorithm');
  const oid = algorithm.oid('algorithm identifier');
  const falcon = falconOfOid(oid, form);
  algorithm.end('algorithm, which has no parameters');
  const bits = info.bitString(TAG.bitString, 'public key') as Bytes;
  info.end('SubjectPublicKeyInfo');
  return { falcon, oid, key: decodeBits(falcon, bits, form) };
}

/** Returns the raw key of a raw one, a bare one, or a bare one in a SEQUENCE of an OCTET STRING. */
export function decodeBits(falcon: Falcon, bits: Bytes, form: string): Bytes {
  const { publicKey: length } = falcon.lengths;
  const given = lengthOf(bits);
  if (given === length) return copyOf(bits);
  if (given === length - 1) return withHeader(falcon, bits);
  const file = new DerReader(bits, form);
  if (file.next !== TAG.sequence) {
    throw badKey(form, `the public key has ${given} bytes instead of ${length}`);
  }
  const sequence = file.enter(TAG.sequence, 'public key');
  file.end('public key');
  const bare = sequence.read(TAG.octetString, 'polynomial h');
  sequence.end('public key');
  const bareLength = lengthOf(bare);
  if (bareLength === length - 1) return withHeader(falcon, bare);
  throw badKey(form, `the polynomial h has ${bareLength} bytes instead of ${length - 1}`);
}

/** @throws CodedError `BAD_KEY` for bytes that are not a key of this parameter set */
export function checkPublicKey(falcon: Falcon, key: Uint8Array, form: string): void {
  try {
    falcon.preparePublicKey(key);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw badKey(form, `it is not a valid public key of ${falcon.name}`, cause);
  }
}

export interface PublicExportOptions<F extends PublicKeyForm> {
  /** Default `pem`. */
  readonly form?: F;
  /** For `spki` and `pem`. Default: that of oqs-provider, 1.3.9999.3.11 or .14. */
  readonly oid?: string;
}

/** The result type of `exportPublicKey` for each form. */
export interface PublicKeyForms {
  readonly raw: Bytes;
  readonly bare: Bytes;
  readonly spki: Bytes;
  readonly pem: string;
  readonly jwk: PublicJwk;
  readonly json: PublicKeyFile;
}

/**
 * Encodes a public key.
 *
 * @param key 897 or 1793 bytes, with the header byte
 * @returns bytes; a string for `pem`; an object for `jwk` and `json`
 * @throws TypeError or RangeError if it is not a valid public key, or for unknown options
 */
export function exportPublicKey<F extends PublicKeyForm = 'pem'>(
  key: Uint8Array,
  options?: PublicExportOptions<F>,
): PublicKeyForms[F];
export function exportPublicKey(
  key: Uint8Array,
  options?: PublicExportOptions<PublicKeyForm>,
): PublicKeyForms[PublicKeyForm] {
  const { form = 'pem', oid } = readOptions(options, ['form', 'oid']);
  checkOneOf('form', form, PUBLIC_FORMS);
  const raw = copyBytes('key', key, 897, 1793);
  const falcon = falconWith(raw.length, ({ publicKey }) => publicKey)!;
  falcon.preparePublicKey(raw);
  const identifier = checkOid(oid, falcon.name);
  if (form === 'raw') return raw;
  if (form === 'bare') return raw.slice(1);
  if (form === 'jwk') return encodePublicJwk(falcon, raw);
  if (form === 'json') return encodePublicKeyFile(falcon.name, raw);
  const algorithm = encode(TAG.sequence, encodeOid(identifier));
  const bits = encode(TAG.bitString, Uint8Array.of(0), raw);
  const spki = encode(TAG.sequence, algorithm, bits);
  return form === 'spki' ? spki : encodePem('PUBLIC KEY', spki);
}
