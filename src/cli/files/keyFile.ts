/**
 * Keys, signatures and seeds in files: hex text with 0x, and JSON with `signature` or `seed`, are
 * the command line's own forms; src/falcon/keys reads every other form of keys.
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
import { decodeUtf8 } from '../../shared/utf8.ts';
import { decodeWireHex } from '../../wire/hex.ts';
import { flag, UsageError } from '../lib/command.ts';
import type { Invocation } from '../lib/define.ts';
import { readPassphrase } from '../lib/passphrase.ts';

const MAX_BYTES = 4096;

export const FALCONS = { falcon512, falcon1024 };

export const INTEGER = flag('integer', 'without floating point: the same bytes, more slowly');

/** With or without floating point. */
export const falconsFor = async ({ flag }: Pick<Invocation, 'flag'>): Promise<typeof FALCONS> =>
  flag('integer') ? import('../../falcon/integer.ts') : FALCONS;

export const SIGNATURE_FORMATS = ['compressed', 'padded', 'constantTime'] as const;

/**
 * The bytes of a signature or seed: from JSON, from hex text, or bare.
 *
 * @param what names the file in messages
 * @throws CodedError `BAD_KEY_FILE` if the file does not hold the field
 */
export function parseField(
  file: Uint8Array,
  field: 'signature' | 'seed',
  what: string,
): Uint8Array {
  const text = textOf(file);
  if (text === undefined) return file;
  if (text.startsWith('0x')) return parseHex(text, field, what);
  if (!text.startsWith('{')) {
    // A bare seed may be such text; a signature never is.
    if (field === 'seed' || !/^[0-9a-f]+$/i.test(text)) return file;
    throw badFile(`${what} is text in hex without 0x`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text)[field];
  } catch (cause) {
    throw badFile(`${what} is not valid JSON`, cause);
  }
  return parseHex(value, field, what);
}

/**
 * A key as src/falcon/keys reads it: the bytes of hex text, or the file itself.
 *
 * @throws CodedError `BAD_KEY_FILE`
 */
export function keyContents(file: Uint8Array, kind: 'public' | 'secret'): Uint8Array {
  const text = textOf(file);
  return text?.startsWith('0x') ? parseHex(text, `${kind} key`, 'the key file') : file;
}

function parseHex(text: unknown, holding: string, what: string): Uint8Array {
  const bytes = decodeWireHex(text, MAX_BYTES);
  if (typeof bytes === 'string') throw badFile(`${what} does not hold a ${holding} in hex`);
  return bytes;
}

/** The trimmed text of a file without its byte order mark; undefined if it is not UTF-8. */
export function textOf(file: Uint8Array): string | undefined {
  try {
    return decodeUtf8(file).trim();
  } catch {
    return undefined;
  }
}

const badFile = (message: string, cause?: unknown) =>
  new CodedError('BAD_KEY_FILE', { message, cause });

/** Reads a public key in any form. @throws CodedError `BAD_KEY_FILE` */
export function readPublicKey(file: Uint8Array): ImportedPublicKey {
  const input = keyContents(file, 'public');
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
  const input = keyContents(file, 'secret');
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

function explain(kind: string, error: unknown): unknown {
  if (!isCodedError(error) || error.code !== 'BAD_KEY') return error;
  return badFile(`the key file does not hold a valid ${kind} key: ${error.message}`, error);
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
