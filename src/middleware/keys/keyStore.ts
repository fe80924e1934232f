/**
 * The port behind which signing keys are kept. The default is one file a key, readable by its owner
 * alone, made at first use; a host with a vault gives its own.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Falcon, falcon512, falcon1024, type ParameterSet } from '../../falcon/index.ts';
import { decodeWireHex, encodeWireHex } from '../../wire/hex.ts';

export interface SigningKey {
  readonly parameterSet: ParameterSet;
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

export interface KeyStore {
  /**
   * The signing key of a client, or of the whole service for `null`; made when there is none. Any
   * number of callers and processes that ask at once get the same key.
   */
  signingKey(clientId: number | null): Promise<SigningKey>;
}

const ALGORITHMS: Readonly<Record<ParameterSet, Falcon>> = { falcon512, falcon1024 };

/** The library object of a parameter set. */
export function algorithm(parameterSet: ParameterSet): Falcon {
  return ALGORITHMS[parameterSet];
}

/**
 * Keys in files of mode 0600: `<directory>/signing.json`, `<directory>/signing-<client>.json`.
 *
 * @throws Error (from `signingKey`) when a file can be read by others, or does not hold a key
 */
export function fileKeyStore(options: {
  readonly directory: string;
  readonly parameterSet?: ParameterSet;
}): KeyStore {
  const { directory, parameterSet = 'falcon512' } = options;
  return {
    async signingKey(clientId) {
      const name = clientId === null ? 'signing.json' : `signing-${clientId}.json`;
      const path = join(directory, name);
      return (await readKey(path)) ?? (await makeKey(directory, path, parameterSet));
    },
  };
}

async function readKey(path: string): Promise<SigningKey | null> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(`${path} holds a secret key and can be read by others: chmod 600 it`);
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const key = parseKey(text);
  if (key === null) throw new Error(`${path} is not a signing key`);
  return key;
}

function parseKey(text: string): SigningKey | null {
  let fields: { parameter_set?: unknown; secret_key?: unknown };
  try {
    fields = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const { parameter_set: name, secret_key: hex } = fields;
  if (name !== 'falcon512' && name !== 'falcon1024') return null;
  const { lengths, getPublicKey } = algorithm(name);
  const secretKey = decodeWireHex(hex, lengths.secretKey);
  if (typeof secretKey === 'string' || secretKey.length !== lengths.secretKey) return null;
  try {
    return { parameterSet: name, publicKey: getPublicKey(secretKey), secretKey };
  } catch {
    return null;
  }
}

/** Whole file or none, and the first of several makers wins: write aside, sync, then link. */
async function makeKey(
  directory: string,
  path: string,
  parameterSet: ParameterSet,
): Promise<SigningKey> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { publicKey, secretKey } = algorithm(parameterSet).keygen();
  const aside = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(aside, 'wx', 0o600);
  try {
    const fields = {
      version: 1,
      parameter_set: parameterSet,
      public_key: encodeWireHex(publicKey),
      secret_key: encodeWireHex(secretKey),
    };
    await file.writeFile(`${JSON.stringify(fields, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(aside);
  }
  const key = await readKey(path);
  if (key === null) throw new Error(`${path} vanished while it was made`);
  return key;
}
