/**
 * Keys and signatures in files. The command line's own form is JSON with `public_key`, `secret_key`
 * or `signature`, or the hex text alone; src/falcon/keys reads every other form of keys.
 */
import { falcon512, falcon1024 } from '../../falcon/index.ts';
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
import { decodeWireHex } from '../../wire/hex.ts';
import { UsageError } from '../lib/command.ts';
import type { Invocation } from '../lib/define.ts';
import { readPassphrase } from '../lib/passphrase.ts';

type FieldName = 'public_key' | 'secret_key' | 'signature' | 'seed';

const MAX_BYTES = 4096;
const OPEN_BRACE = 0x7b;

export const FALCONS = { falcon512, falcon1024 };

export const SIGNATURE_FORMATS = ['compressed', 'padded', 'constantTime'] as const;

/**
 * The bytes of a field, from a file in the command line's own forms or as bare bytes.
 *
 * @throws CodedError `BAD_KEY_FILE` if the file, which messages call `what`, does not hold it
 */
export function parseField(file: Uint8Array, field: FieldName, what: string): Uint8Array {
  const text = asText(file);
  if (text === undefined) return file;
  const isJson = file[0] === OPEN_BRACE;
  if (!isJson && !text.startsWith('0x')) return file;
  let value: unknown = text;
  try {
    if (isJson) value = JSON.parse(text)[field];
  } catch (cause) {
    throw new CodedError('BAD_KEY_FILE', { message: `${what} is not valid JSON`, cause });
  }
  const bytes = decodeWireHex(value, MAX_BYTES);
  if (typeof bytes === 'string') {
    throw new CodedError('BAD_KEY_FILE', { message: `${what} does not hold a ${field} in hex` });
  }
  return bytes;
}

/** Reads a public key in any form. @throws CodedError `BAD_KEY_FILE` */
export function readPublicKey(file: Uint8Array): ImportedPublicKey {
  const input = keyContents(file, 'public_key');
  try {
    return importPublicKey(input);
  } catch (error) {
    throw explain('public', error);
  }
}

/**
 * Reads a secret key in any form, and clears it and its passphrase after use.
 *
 * @param use also gets the passphrase; null if the key is not encrypted
 * @throws CodedError `BAD_KEY_FILE`, `WRONG_PASSPHRASE`, `KEY_TOO_COSTLY`
 */
export async function withSecretKey<T>(
  file: Uint8Array,
  { io, option }: Invocation,
  use: (key: ImportedSecretKey, passphrase: Uint8Array | null) => Promise<T>,
): Promise<T> {
  const input = keyContents(file, 'secret_key');
  let passphrase: Uint8Array | null = null;
  let key: ImportedSecretKey | null = null;
  try {
    key = importPlain(input);
    if (key === null) {
      passphrase = await readPassphrase(io, option('passphrase-file'));
      key = await importEncryptedSecretKey(input, passphrase);
    }
    return await use(key, passphrase);
  } catch (error) {
    throw explain('secret', error);
  } finally {
    key?.key.fill(0);
    passphrase?.fill(0);
  }
}

/** Null if the key is encrypted. */
export function importPlain(input: Uint8Array): ImportedSecretKey | null {
  try {
    return importSecretKey(input);
  } catch (error) {
    if (isCodedError(error) && error.code === 'PASSPHRASE_NEEDED') return null;
    throw error;
  }
}

/** The input for src/falcon/keys: the bytes of our own forms, the file itself in all others. */
export function keyContents(file: Uint8Array, field: 'public_key' | 'secret_key'): Uint8Array {
  return file[0] === OPEN_BRACE && asText(file)?.includes('"kty"')
    ? file
    : parseField(file, field, 'the key file');
}

function explain(kind: string, error: unknown): unknown {
  if (!isCodedError(error) || error.code !== 'BAD_KEY') return error;
  const message = `the key file does not hold a valid ${kind} key: ${error.message}`;
  return new CodedError('BAD_KEY_FILE', { message, cause: error });
}

/** The formats of key files, as forms of src/falcon/keys. */
const FORMS = {
  json: { secret: 'json', public: 'json' },
  pem: { secret: 'pem', encrypted: 'encryptedPem', public: 'pem' },
  der: { secret: 'pkcs8', encrypted: 'encryptedPkcs8', public: 'spki' },
  raw: { secret: 'raw', public: 'raw' },
  bare: { secret: 'bare', public: 'bare' },
  extended: { secret: 'extended', public: 'bare' },
  jwk: { secret: 'jwk', public: 'jwk' },
} as const;

export type KeyFormat = keyof typeof FORMS;
export const KEY_FORMATS = Object.keys(FORMS) as readonly KeyFormat[];

/** The contents of a key file. */
export interface KeyParts {
  readonly parameterSet: string;
  readonly publicKey: Uint8Array;
  readonly secretKey?: Uint8Array;
}

/**
 * @param passphrase encrypts the secret key; null: nothing is encrypted
 * @throws UsageError for a format that has no passphrase
 */
export async function formatKey(
  { publicKey, secretKey }: KeyParts,
  format: KeyFormat,
  passphrase: Uint8Array | null = null,
): Promise<string | Uint8Array> {
  if (passphrase !== null) {
    const form = encryptedForm(format);
    return exportEncryptedSecretKey(secretKey!, passphrase, { form });
  }
  const forms = FORMS[format];
  const made =
    secretKey === undefined
      ? exportPublicKey(publicKey, { form: forms.public })
      : exportSecretKey(secretKey, { form: forms.secret });
  if (typeof made === 'string' || made instanceof Uint8Array) return made;
  return `${JSON.stringify(made)}\n`;
}

/** @throws UsageError for a format that has no passphrase */
export function encryptedForm(format: KeyFormat): 'encryptedPem' | 'encryptedPkcs8' {
  if (format === 'pem' || format === 'der') return FORMS[format].encrypted;
  throw new UsageError('only pem and der can have a passphrase');
}

/** The trimmed text, if the bytes are ASCII. */
function asText(file: Uint8Array): string | undefined {
  if (file.some((byte) => byte > 126)) return undefined;
  return new TextDecoder().decode(file).trim();
}
