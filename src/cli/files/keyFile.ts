/**
 * Keys and signatures in files. The command line's own form is JSON with `public_key`,
 * `secret_key` or `signature`, or the hex text alone; every other form of keys is read by
 * src/falcon/keys.
 */

import {
  type Falcon,
  falcon512,
  falcon1024,
  type ParameterSet,
  type SignatureFormat,
} from '../../falcon/index.ts';
import {
  exportEncryptedSecretKey,
  exportPublicKey,
  exportSecretKey,
  type ImportedPublicKey,
  type ImportedSecretKey,
  importEncryptedSecretKey,
  importPublicKey,
  importSecretKey,
} from '../../falcon/keys/index.ts';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { decodeWireHex, encodeWireHex } from '../../wire/hex.ts';
import { UsageError } from '../lib/command.ts';

export type FieldName = 'public_key' | 'secret_key' | 'signature' | 'seed';

const MAX_BYTES = 4096;
const OPEN_BRACE = 0x7b;

/** The object of a parameter set. */
export const falconOf = (name: ParameterSet): Falcon =>
  name === 'falcon512' ? falcon512 : falcon1024;

/** The names of the formats of signatures. */
export const SIGNATURE_FORMATS: readonly SignatureFormat[] = [
  'compressed',
  'padded',
  'constantTime',
];

/**
 * The bytes of a field, from a file in the command line's own forms or as bare bytes.
 *
 * @param what names the file in messages
 * @throws CodedError `BAD_KEY_FILE` if the file does not hold the field
 */
export function parseField(file: Uint8Array, field: FieldName, what: string): Uint8Array {
  const text = asText(file);
  if (text === undefined) return file;
  let value: unknown = text;
  if (file[0] === OPEN_BRACE) {
    try {
      value = (JSON.parse(text) as Record<string, unknown>)[field];
    } catch (cause) {
      throw new CodedError('BAD_KEY_FILE', { message: `${what} is not valid JSON`, cause });
    }
  } else if (!text.startsWith('0x')) {
    return file;
  }
  const bytes = decodeWireHex(value, MAX_BYTES);
  if (typeof bytes === 'string') {
    throw new CodedError('BAD_KEY_FILE', { message: `${what} does not hold a ${field} in hex` });
  }
  return bytes;
}

/**
 * The public key of a file, in any form.
 *
 * @throws CodedError `BAD_KEY_FILE`
 */
export function readPublicKey(file: Uint8Array): ImportedPublicKey {
  return explained('public', () => importPublicKey(keyContents(file, 'public_key')));
}

/**
 * The secret key of a file, in any form.
 *
 * @param passphrase is asked for if the key is encrypted
 * @throws CodedError `BAD_KEY_FILE`, `WRONG_PASSPHRASE`, `KEY_TOO_COSTLY`
 */
export async function readSecretKey(
  file: Uint8Array,
  passphrase: () => Promise<Uint8Array>,
): Promise<ImportedSecretKey> {
  const input = keyContents(file, 'secret_key');
  try {
    return explained('secret', () => importSecretKey(input));
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'PASSPHRASE_NEEDED') throw error;
  }
  const secret = await passphrase();
  try {
    return await importEncryptedSecretKey(input, secret);
  } catch (error) {
    throw explain('secret', error);
  } finally {
    secret.fill(0);
  }
}

/** The input for src/falcon/keys: the bytes of our own forms, the file itself in all others. */
export function keyContents(file: Uint8Array, field: 'public_key' | 'secret_key'): Uint8Array {
  return file[0] === OPEN_BRACE && asText(file)?.includes('"kty"')
    ? file
    : parseField(file, field, 'the key file');
}

function explained<T>(kind: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw explain(kind, error);
  }
}

function explain(kind: string, error: unknown): unknown {
  if (!isCodedError(error) || error.code !== 'BAD_KEY') return error;
  const message = `the key file does not hold a valid ${kind} key: ${error.message}`;
  return new CodedError('BAD_KEY_FILE', { message, cause: error });
}

/** The formats of key files: the form of the secret key, and that of the public key beside it. */
const FORMATS = Object.freeze({
  json: undefined,
  pem: ['pem', 'pem'],
  der: ['pkcs8', 'spki'],
  raw: ['raw', 'raw'],
  bare: ['bare', 'bare'],
  extended: ['extended', 'bare'],
  jwk: ['jwk', 'jwk'],
} as const);

export type KeyFormat = keyof typeof FORMATS;
export const KEY_FORMATS = Object.keys(FORMATS) as readonly KeyFormat[];

/** The file of a public key. */
export function formatPublicKey(
  falcon: Falcon,
  publicKey: Uint8Array,
  format: KeyFormat,
): string | Uint8Array {
  const forms = FORMATS[format];
  if (forms === undefined) return formatKeyFile(falcon, publicKey);
  return asFile(exportPublicKey(publicKey, { form: forms[1] }));
}

/** The file of a key pair. */
export function formatSecretKey(
  falcon: Falcon,
  { publicKey, secretKey }: { readonly publicKey: Uint8Array; readonly secretKey: Uint8Array },
  format: KeyFormat,
): string | Uint8Array {
  const forms = FORMATS[format];
  if (forms === undefined) return formatKeyFile(falcon, publicKey, secretKey);
  return asFile(exportSecretKey(secretKey, { form: forms[0] }));
}

/**
 * The file of a secret key under a passphrase.
 *
 * @throws UsageError for a format that has no passphrase
 */
export async function formatEncryptedKey(
  secretKey: Uint8Array,
  passphrase: Uint8Array,
  format: KeyFormat,
): Promise<string | Uint8Array> {
  checkEncryptable(format);
  const form = format === 'pem' ? 'encryptedPem' : 'encryptedPkcs8';
  return exportEncryptedSecretKey(secretKey, passphrase, { form });
}

/** @throws UsageError for a format that has no passphrase */
export function checkEncryptable(format: KeyFormat): void {
  if (format === 'pem' || format === 'der') return;
  throw new UsageError('only pem and der can have a passphrase');
}

const asFile = (wrapped: string | Uint8Array | object): string | Uint8Array =>
  typeof wrapped === 'string' || wrapped instanceof Uint8Array
    ? wrapped
    : `${JSON.stringify(wrapped)}\n`;

/** A key file of our own: the public part alone when there is no secret key. */
function formatKeyFile(falcon: Falcon, publicKey: Uint8Array, secretKey?: Uint8Array): string {
  return `${JSON.stringify({
    parameter_set: falcon.name,
    public_key: encodeWireHex(publicKey),
    secret_key: secretKey && encodeWireHex(secretKey),
  })}\n`;
}

/** The trimmed text, if the bytes are ASCII. */
function asText(file: Uint8Array): string | undefined {
  if (file.some((byte) => byte > 126)) return undefined;
  return new TextDecoder().decode(file).trim();
}
