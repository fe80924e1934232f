/** Secret keys encrypted with a passphrase. */

import { copyBytes, isBytes, readOptions, typeName } from '../../shared/arguments.ts';
import { wipe } from '../../shared/bytes.ts';
import { lengthOf } from '../../shared/intrinsics.ts';
import { encodeUtf8 } from '../../shared/utf8.ts';
import { isSequence } from './der.ts';
import {
  type CostLimits,
  DEFAULT_DERIVATIONS,
  DEFAULT_LIMITS,
  type Derivation,
  decrypt,
  encrypt,
  isEncrypted,
} from './encryption.ts';
import {
  badKey,
  checkOneOf,
  ENCRYPTED_FORMS,
  type EncryptedKeyForm,
  type ImportedSecretKey,
  type ImportOptions,
  type Pkcs8Layout,
  readImportOptions,
} from './forms.ts';
import { type Found, type KeyInput, readInput, wipeFound } from './input.ts';
import { decodeBlock, encodePem } from './pem.ts';
import { decodePkcs8 } from './pkcs8.ts';
import { finishImport, prepareExport } from './secretKey.ts';
import { symptomOf } from './symptoms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface EncryptedImportOptions extends ImportOptions<EncryptedKeyForm> {
  /** Maximum cost of decrypting the key. Default: 256 MiB, 16,777,216 units of work. */
  readonly limits?: Partial<CostLimits>;
}

export interface EncryptedExportOptions<F extends EncryptedKeyForm> {
  /** Default `encryptedPem`. */
  readonly form?: F;
  /** Layout of the encrypted key. Default `oqs`. */
  readonly layout?: Pkcs8Layout;
  /** Default: that of oqs-provider, 1.3.9999.3.11 or .14. */
  readonly oid?: string;
  /** Default `scrypt`. */
  readonly kdf?: 'scrypt' | 'pbkdf2';
  /** Iterations of PBKDF2, from 1000. Default 600,000. */
  readonly iterations?: number;
}

/** The result type of `exportEncryptedSecretKey` for each form. */
export interface EncryptedKeyForms {
  readonly encryptedPkcs8: Bytes;
  readonly encryptedPem: string;
}

/**
 * Decrypts a secret key and checks it as `importSecretKey` does.
 *
 * @param passphrase a string, encoded as UTF-8 without normalisation, or bytes; not empty
 * @throws (as the promise's rejection) CodedError `WRONG_PASSPHRASE`; `KEY_TOO_COSTLY` if the file
 *   demands more work or memory than allowed, before any is spent; `BAD_KEY`, `KEY_MISMATCH`;
 *   `NO_WEBCRYPTO`; TypeError or RangeError for arguments of the wrong type
 */
export async function importEncryptedSecretKey(
  input: KeyInput,
  passphrase: Uint8Array | string,
  options?: EncryptedImportOptions,
): Promise<ImportedSecretKey> {
  const { limits, ...demanded } = readOptions(options, ['form', 'parameterSet', 'limits']);
  const demands = readImportOptions(demanded, ENCRYPTED_FORMS);
  const allowed = readLimits(limits);
  const secret = readPassphrase(passphrase);
  let found: Found | undefined;
  try {
    found = readInput(input);
    const { form, der } = unwrap(found);
    const plain = await decrypt(der, secret, allowed, form);
    try {
      return finishImport({ form, ...decodePkcs8(plain, form) }, demands);
    } finally {
      wipe(plain);
    }
  } finally {
    wipe(secret);
    if (found !== undefined) wipeFound(found);
  }
}

function unwrap(found: Found): { readonly form: EncryptedKeyForm; readonly der: Bytes } {
  if (found.kind === 'fields') throw badKey(found.fields.form, 'it is not encrypted');
  const { bytes } = found;
  if (found.kind === 'pem') {
    const der = decodeBlock(bytes, found.blocks, 'ENCRYPTED PRIVATE KEY');
    return { form: 'encryptedPem', der };
  }
  if (isSequence(bytes) && isEncrypted(bytes)) return { form: 'encryptedPkcs8', der: bytes };
  const what = `${lengthOf(bytes)} bytes that are not an encrypted key${symptomOf(bytes)}`;
  throw badKey(undefined, what);
}

/** @throws TypeError or RangeError for limits that are not positive integers */
function readLimits(value: unknown): CostLimits {
  const read = readOptions(value, ['memoryBytes', 'work'], 'limits');
  const limit = (name: keyof CostLimits): number => {
    const given = read[name] ?? DEFAULT_LIMITS[name];
    if (Number.isSafeInteger(given) && (given as number) > 0) return given as number;
    throw new RangeError(`"limits.${name}" expected a positive integer`);
  };
  return { memoryBytes: limit('memoryBytes'), work: limit('work') };
}

/**
 * @throws TypeError for another type, RangeError for an empty one or text that is not valid UTF-16
 */
function readPassphrase(value: unknown): Bytes {
  if (typeof value !== 'string' && !isBytes(value)) {
    throw new TypeError(`"passphrase" expected string or Uint8Array, got ${typeName(value)}`);
  }
  const bytes = typeof value === 'string' ? encodeUtf8(value) : copyBytes('passphrase', value);
  if (bytes === undefined) throw new RangeError('"passphrase" has half of a surrogate pair');
  if (lengthOf(bytes) === 0) throw new RangeError('"passphrase" is empty');
  return bytes;
}

/**
 * Encrypts a secret key with a passphrase: PKCS#8 with PBES2, AES-256-CBC, and a key derived by
 * scrypt (N = 16,384, r = 8, p = 5) or PBKDF2 with HMAC-SHA-256.
 *
 * The format has no authentication: an attacker with write access can corrupt the key, but a
 * corrupted key is rejected on import.
 *
 * @param key 1281 or 2305 bytes, with the header byte
 * @param passphrase as for `importEncryptedSecretKey`
 * @throws (as the promise's rejection) TypeError or RangeError for an invalid secret key or wrong
 *   options; CodedError `NO_WEBCRYPTO`, `NO_RANDOMNESS`
 */
export async function exportEncryptedSecretKey<F extends EncryptedKeyForm = 'encryptedPem'>(
  key: Uint8Array,
  passphrase: Uint8Array | string,
  options?: EncryptedExportOptions<F>,
): Promise<EncryptedKeyForms[F]>;
export async function exportEncryptedSecretKey(
  key: Uint8Array,
  passphrase: Uint8Array | string,
  options?: EncryptedExportOptions<EncryptedKeyForm>,
): Promise<EncryptedKeyForms[EncryptedKeyForm]> {
  const known = ['form', 'layout', 'oid', 'kdf', 'iterations'] as const;
  const { form = 'encryptedPem', layout, oid, kdf, iterations } = readOptions(options, known);
  checkOneOf('form', form, ENCRYPTED_FORMS);
  const derivation = readDerivation(kdf, iterations);
  const secret = readPassphrase(passphrase);
  let plain: Bytes | undefined;
  try {
    const raw = copyBytes('key', key, 1281, 2305);
    try {
      plain = prepareExport(raw, layout, oid).wrap();
    } finally {
      wipe(raw);
    }
    const der = await encrypt(plain, secret, derivation);
    return form === 'encryptedPkcs8' ? der : encodePem('ENCRYPTED PRIVATE KEY', der);
  } finally {
    wipe(secret);
    if (plain !== undefined) wipe(plain);
  }
}

const MIN_ITERATIONS = 1000;

/** @throws RangeError for an unknown KDF, or iterations out of range */
function readDerivation(kdf: unknown = 'scrypt', iterations?: unknown): Derivation {
  checkOneOf('kdf', kdf, ['scrypt', 'pbkdf2'] as const);
  if (iterations === undefined) return DEFAULT_DERIVATIONS[kdf];
  if (kdf === 'scrypt') throw new RangeError('"iterations" is an option of pbkdf2');
  const count = iterations as number;
  if (Number.isSafeInteger(count) && count >= MIN_ITERATIONS && count <= DEFAULT_LIMITS.work) {
    return { ...DEFAULT_DERIVATIONS.pbkdf2, iterations: count };
  }
  throw new RangeError(`"iterations" expected ${MIN_ITERATIONS} to ${DEFAULT_LIMITS.work}`);
}
