/**
 * The signer of a service without one of its own: a key in a file of mode 0600. In the data
 * directory the first start creates it, one for each parameter set:
 *
 *   keys/signing.json, keys/signing.falcon1024.json
 *     { "version": 1, "parameter_set", "public_key", "created_at", "secret_key" }
 *
 * A file that the host names has at least `parameter_set` and `secret_key`, as those of
 * `falconry keygen` have.
 */
import { fsync } from 'node:fs';
import { link, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  type ExpandedSecretKey,
  type Falcon,
  falcon512,
  falcon1024,
  type ParameterSet,
  type SignOptions,
} from '../../falcon/index.ts';
import { fromHex, toHex, wipe } from '../../shared/bytes.ts';
import { CodedError } from '../../shared/errors.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import type { Signed, Signer, SignRequest } from './signer.ts';

/** The handles of Yarn PnP have no `sync`. */
const sync = promisify(fsync);

/** Of signatures: drawn for each, or following from key and message. */
export type SigningSalt = 'random' | 'derived';

/** Of keys and signatures: both have the same bytes. `integer` is `falconry/integer`. */
export type Arithmetic = 'float' | 'integer';

/** How the service signs with its key file. */
export interface Signing {
  readonly salt?: SigningSalt;
  readonly arithmetic?: Arithmetic;
}

/** Where the key of a service is. */
export interface KeyPlace {
  readonly path: string;
  readonly set: ParameterSet;
  /** The folder in the data directory; null for a file that the host names, which must exist. */
  readonly folder: string | null;
}

/** The place of the key for these options of the service. */
export function keyPlace(settings: {
  readonly dataDirectory: string;
  readonly signingKeyFile: string | undefined;
  readonly signingSet: ParameterSet;
}): KeyPlace {
  const { dataDirectory, signingKeyFile, signingSet: set } = settings;
  if (signingKeyFile !== undefined) return { path: signingKeyFile, set, folder: null };
  const folder = join(dataDirectory, 'keys');
  const name = set === 'falcon512' ? 'signing.json' : `signing.${set}.json`;
  return { path: join(folder, name), set, folder };
}

/**
 * Reads the key as a start would, and changes nothing.
 *
 * @returns whether it exists; if not, the start creates it
 * @throws CodedError `BAD_KEY_FILE`, as `KeyFileSigner.open`
 */
export async function checkKey(place: KeyPlace): Promise<boolean> {
  const key = await findKey(place, falconOf(place.set));
  if (key !== null) wipe(key.secretKey);
  return key !== null;
}

/** Signs with the key of a file, which is held expanded until `close`. */
export class KeyFileSigner implements Signer {
  readonly #falcon: Falcon;
  readonly #publicKey: Uint8Array;
  readonly #expanded: ExpandedSecretKey;
  readonly #options: SignOptions;

  private constructor(falcon: Falcon, { publicKey, secretKey }: Key, salt?: SigningSalt) {
    this.#falcon = falcon;
    this.#publicKey = publicKey;
    this.#expanded = falcon.expandSecretKey(secretKey);
    this.#options = salt === 'derived' ? { salt } : {};
  }

  /**
   * Opens the key, and creates it if it is missing. All processes that start at once get the same.
   *
   * @throws CodedError `BAD_KEY_FILE` if others can read the file, if it holds no key of this
   *   parameter set, if a named file is missing, or if the folder is one of an earlier version,
   *   with keys that were encrypted, exchanged or for single clients
   */
  static async open(place: KeyPlace, { salt, arithmetic }: Signing = {}): Promise<KeyFileSigner> {
    const integer = arithmetic === 'integer' ? await import('../../falcon/integer.ts') : null;
    const falcon = integer?.[place.set] ?? falconOf(place.set);
    let key = await findKey(place, falcon);
    if (key === null) {
      await createKey(place, falcon);
      key = await findKey(place, falcon);
    }
    if (key === null) throw bad(`${place.path} disappeared while it was created`);
    try {
      return new KeyFileSigner(falcon, key, salt);
    } finally {
      wipe(key.secretKey);
    }
  }

  async sign({ message }: SignRequest): Promise<Signed> {
    const signature = this.#falcon.sign(message, this.#expanded, this.#options);
    return { signature, publicKey: this.#publicKey };
  }

  /** Wipes the key. */
  close(): void {
    this.#expanded.destroy();
  }
}

interface Key {
  readonly publicKey: Uint8Array;
  /** To be wiped. */
  readonly secretKey: Uint8Array;
}

const falconOf = (set: ParameterSet) => (set === 'falcon512' ? falcon512 : falcon1024);
const bad = (message: string) => new CodedError('BAD_KEY_FILE', { message });

const EARLIER =
  'of an earlier version, which encrypted signing keys, exchanged them or had one for each client';

/** The files of earlier versions beside the common key. */
const EARLIER_FILE =
  /^(?:sealing(?:\.next)?|signing-\d+|signing(?:-\d+)?\.retired-[\da-f]+)\.json$/;

/** @returns null if there is no file yet */
async function findKey(place: KeyPlace, falcon: Falcon): Promise<Key | null> {
  const { path, set, folder } = place;
  if (folder !== null) {
    const earlier = (await namesIn(folder)).find((name) => EARLIER_FILE.test(name));
    if (earlier !== undefined) throw bad(`${join(folder, earlier)} is ${EARLIER}`);
  }
  const file = await readSecretFile(path);
  if (file !== null) return parseKey(path, falcon, file);
  if (folder !== null) return null;
  throw bad(`${path} does not exist: create it with falconry keygen --set ${set} -o ${path}`);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

async function readSecretFile(path: string): Promise<Uint8Array | null> {
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw bad(`${path} holds a secret key and can be read by others: chmod 600 it`);
    }
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function parseKey(path: string, falcon: Falcon, file: Uint8Array): Key {
  let fields: Readonly<Record<string, unknown>> = {};
  try {
    fields = JSON.parse(decodeUtf8(file)) ?? {};
  } catch {
    // Refused below.
  }
  wipe(file);
  if (fields.sealed !== undefined) throw bad(`${path} is ${EARLIER}`);
  const { parameter_set: found, secret_key: hex } = fields;
  if (found !== 'falcon512' && found !== 'falcon1024') throw bad(`${path} is not a signing key`);
  if (found !== falcon.name) throw bad(`${path} holds a key of ${found}, not of ${falcon.name}`);
  let secretKey: Uint8Array | undefined;
  try {
    secretKey = fromHex(/^0x(.*)$/.exec(hex as string)![1]!);
    return { publicKey: falcon.getPublicKey(secretKey), secretKey };
  } catch {
    if (secretKey !== undefined) wipe(secretKey);
    throw bad(`${path} is not a signing key`);
  }
}

/** Creates the file whole, or leaves alone what another process has created. */
async function createKey({ path, set }: KeyPlace, falcon: Falcon): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { publicKey, secretKey } = falcon.keygen();
  const fields = {
    version: 1,
    parameter_set: set,
    public_key: `0x${toHex(publicKey)}`,
    created_at: new Date().toISOString(),
    secret_key: `0x${toHex(secretKey)}`,
  };
  wipe(secretKey);
  const aside = `${path}.${crypto.randomUUID()}`;
  const file = await open(aside, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(fields, null, 2)}\n`);
    await sync(file.fd);
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
  await syncDirectory(folder);
}

async function syncDirectory(path: string): Promise<void> {
  // Windows has no such thing.
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await sync(directory.fd);
  } finally {
    await directory.close();
  }
}
