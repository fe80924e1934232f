/** Import and export of secret keys without a passphrase. */
import { copyBytes, readOptions } from '../../shared/arguments.ts';
import { concat, equal, wipe } from '../../shared/bytes.ts';
import { copyOf, lengthOf, viewOf } from '../../shared/intrinsics.ts';
import type { Falcon } from '../index.ts';
import { isSequence } from './der.ts';
import { isEncrypted } from './encryption.ts';
import {
  badKey,
  checkDemands,
  checkOid,
  checkOneOf,
  type EncryptedKeyForm,
  falconWith,
  type ImportedSecretKey,
  type ImportOptions,
  keyError,
  type Pkcs8Layout,
  readImportOptions,
  SECRET_FORMS,
  type SecretKeyForm,
  secretHeader,
} from './forms.ts';
import { type Found, type KeyInput, readInput, wipeFound } from './input.ts';
import { encodeSecretJwk, type SecretJwk } from './jwk.ts';
import { encodeSecretKeyFile, type SecretKeyFile } from './keyFile.ts';
import { type Block, decodeBlock, encodePem } from './pem.ts';
import { decodePkcs8, encodePkcs8, type SecretParts, splitPair } from './pkcs8.ts';
import { symptomOf } from './symptoms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Decodes a secret key in any supported form, validates it, and compares it with the accompanying
 * public key, if there is one. Internal copies of the input are cleared. The caller must clear the
 * input, and `key` after use. Strings and JWKs leave copies that cannot be cleared.
 *
 * @param input bytes (raw, bare, extended, DER, or PEM or JSON text), a string, or a JWK or key
 *   file as an object
 * @throws CodedError `BAD_KEY` if it holds no valid secret key, or one that does not meet the
 *   options' requirements; `KEY_MISMATCH` if the accompanying public key is a different one;
 *   `PASSPHRASE_NEEDED` if it is encrypted; TypeError or RangeError for arguments of the wrong type
 */
export function importSecretKey(
  input: KeyInput,
  options?: ImportOptions<SecretKeyForm>,
): ImportedSecretKey {
  const demands = readImportOptions(options, SECRET_FORMS);
  const found = readInput(input);
  try {
    return finishImport(unwrap(found, demands.form), demands);
  } finally {
    wipeFound(found);
  }
}

/** A decoded secret key with the form it was in. */
export interface Unwrapped extends SecretParts {
  readonly form: SecretKeyForm | EncryptedKeyForm;
}

function unwrap(found: Found, wanted?: SecretKeyForm): Unwrapped {
  if (found.kind === 'fields') {
    const { form, falcon, publicKey, secretKey } = found.fields;
    if (secretKey === undefined) {
      const name = form === 'jwk' ? 'priv' : 'secret_key';
      throw badKey(form, `it is a public key: "${name}" is missing`);
    }
    const publicKeys = publicKey === undefined ? [] : [publicKey];
    return { form, falcon, secretKey: copyOf(secretKey), publicKeys };
  }
  const { bytes } = found;
  if (found.kind === 'pem') return unwrapPem(bytes, found.blocks);
  // DER first: an encrypted key can have the length of a bare one. A bare key that looks like DER
  // is practically impossible, and can be requested with `form`.
  if (wanted !== 'bare' && wanted !== 'extended' && isSequence(bytes)) {
    if (isEncrypted(bytes)) throw needsPassphrase('encryptedPkcs8');
    return { form: 'pkcs8', ...decodePkcs8(bytes, 'pkcs8') };
  }
  const length = lengthOf(bytes);
  const raw = falconWith(length, ({ secretKey }) => secretKey);
  if (raw !== undefined) return { form: 'raw', falcon: raw, ...splitPair(raw, bytes)! };
  const bare = falconWith(length, ({ secretKey }) => secretKey - 1);
  if (bare !== undefined) return { form: 'bare', falcon: bare, ...splitPair(bare, bytes)! };
  const extended = falconWith(length, (lengths) => lengths.secretKey + lengths.publicKey - 2);
  if (extended !== undefined) {
    return { form: 'extended', falcon: extended, ...splitPair(extended, bytes)! };
  }
  const what = `${length} bytes that are not a secret key in any form${symptomOf(bytes)}`;
  throw badKey(undefined, what);
}

function unwrapPem(text: Bytes, blocks: readonly Block[]): Unwrapped {
  const has = (label: string) => blocks.some((block) => block.label === label);
  if (!has('PRIVATE KEY') && has('ENCRYPTED PRIVATE KEY')) throw needsPassphrase('encryptedPem');
  const der = decodeBlock(text, blocks, 'PRIVATE KEY');
  try {
    return { form: 'pem', ...decodePkcs8(der, 'pem') };
  } finally {
    wipe(der);
  }
}

const needsPassphrase = (form: string) =>
  keyError('PASSPHRASE_NEEDED', form, 'the key is encrypted, and no passphrase is given');

/**
 * Validates a decoded key and the accompanying public keys.
 *
 * @throws as `importSecretKey`, after wiping the secret
 */
export function finishImport(
  { form, falcon, secretKey, publicKeys, oid }: Unwrapped,
  demands: ImportOptions<string>,
): ImportedSecretKey {
  try {
    checkDemands(demands, form, falcon.name);
    const publicKey = publicKeyOf(falcon, secretKey, form);
    if (!publicKeys.every((other) => equal(other, publicKey))) {
      throw keyError('KEY_MISMATCH', form, 'the public key in it belongs to another secret key');
    }
    const found = oid === undefined ? {} : { oid };
    return { form, parameterSet: falcon.name, key: secretKey, publicKey, ...found };
  } catch (error) {
    wipe(secretKey);
    throw error;
  }
}

/** Computes the public key of a secret key, which is checked as in `sign`. */
function publicKeyOf(falcon: Falcon, secretKey: Bytes, form: string): Bytes {
  if (secretKey[0] !== secretHeader(falcon)) {
    throw badKey(form, `the first byte is not that of a secret key of ${falcon.name}`);
  }
  try {
    return falcon.getPublicKey(secretKey);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw badKey(form, `it is not a valid secret key of ${falcon.name}`, cause);
  }
}

export interface SecretExportOptions<F extends SecretKeyForm> {
  /** Default `pem`. */
  readonly form?: F;
  /** Layout inside `pkcs8` and `pem`. Default `oqs`. */
  readonly layout?: Pkcs8Layout;
  /** For `pkcs8` and `pem`. Default: that of oqs-provider, 1.3.9999.3.11 or .14. */
  readonly oid?: string;
}

/** The result type of `exportSecretKey` for each form. */
export interface SecretKeyForms {
  readonly raw: Bytes;
  readonly bare: Bytes;
  readonly extended: Bytes;
  readonly pkcs8: Bytes;
  readonly pem: string;
  readonly jwk: SecretJwk;
  readonly json: SecretKeyFile;
}

/**
 * Encodes a secret key without encryption. Clear the result after use; strings cannot be cleared.
 *
 * @param key 1281 or 2305 bytes, with the header byte
 * @returns bytes; a string for `pem`; an object for `jwk` and `json`
 * @throws TypeError or RangeError if it is not a valid secret key, or for unknown options
 */
export function exportSecretKey<F extends SecretKeyForm = 'pem'>(
  key: Uint8Array,
  options?: SecretExportOptions<F>,
): SecretKeyForms[F];
export function exportSecretKey(
  key: Uint8Array,
  options?: SecretExportOptions<SecretKeyForm>,
): SecretKeyForms[SecretKeyForm] {
  const { form = 'pem', layout, oid } = readOptions(options, ['form', 'layout', 'oid']);
  checkOneOf('form', form, SECRET_FORMS);
  const raw = copyBytes('key', key, 1281, 2305);
  try {
    const { falcon, publicKey, wrap } = prepareExport(raw, layout, oid);
    if (form === 'raw') return copyOf(raw);
    if (form === 'bare') return copyOf(raw, 1);
    if (form === 'extended') return concat(viewOf(raw, 1), viewOf(publicKey, 1));
    if (form === 'jwk') return encodeSecretJwk(falcon, publicKey, raw);
    if (form === 'json') return encodeSecretKeyFile(falcon.name, publicKey, raw);
    const der = wrap();
    if (form === 'pkcs8') return der;
    const text = encodePem('PRIVATE KEY', der);
    wipe(der);
    return text;
  } finally {
    wipe(raw);
  }
}

/**
 * Validates the key and the options, and collects the parts that every export needs.
 *
 * @throws RangeError for an invalid key or invalid options
 */
export function prepareExport(raw: Bytes, layout: unknown = 'oqs', oid?: unknown) {
  checkOneOf('layout', layout, LAYOUTS);
  const falcon = falconWith(lengthOf(raw), ({ secretKey }) => secretKey)!;
  const identifier = checkOid(oid, falcon.name);
  const publicKey = falcon.getPublicKey(raw);
  return { falcon, publicKey, wrap: () => encodePkcs8(falcon, raw, publicKey, layout, identifier) };
}

const LAYOUTS: readonly Pkcs8Layout[] = ['oqs', 'bouncyCastle'];
