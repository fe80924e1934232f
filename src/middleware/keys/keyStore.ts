/**
 * The port for signing keys. By default each key is a file, readable only by its owner and created
 * at the first use; a host with a vault supplies its own.
 */
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
   * The signing key of a client, or of the whole service for `null`; created if there is none. All
   * callers and processes that ask at once get the same key.
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
 * @throws Error (from `signingKey`) if others can read a file, or it does not hold a key
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

/** The file is whole or absent, and the first of several writers wins: write aside, sync, link. */
async function makeKey(
  directory: string,
  path: string,
  parameterSet: ParameterSet,
): Promise<SigningKey> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { publicKey, secretKey } = algorithm(parameterSet).keygen();
  const aside = `${path}.${crypto.randomUUID()}`;
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
  if (key === null) throw new Error(`${path} disappeared while it was being created`);
  return key;
}
