/**
 * The port for signing keys. By default each key is a file, readable only by its owner and created
 * at the first use; a host with a vault supplies its own.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParameterSet } from '../../falcon/index.ts';
import { wipe } from '../../shared/bytes.ts';
import { sha256 } from '../hash.ts';
import { locked, readSecretFile, writeSecretFile } from './keyFiles.ts';
import {
  algorithm,
  fieldsOf,
  KEY_FILE,
  type KeyFile,
  type KnownPublicKey,
  parseKey,
  publicFields,
  readRetired,
} from './keyFormat.ts';
import { checkKeysSecret, KeySeal, type KeysSecret } from './keySeal.ts';

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
  /** Called at the start of the service. */
  open?(): Promise<void>;
  /** Told that the service needs a key no more that it was given: wipes it, if nobody else does. */
  release?(key: SigningKey): void;
  /**
   * A text that changes with the key, or when the key is removed; asked for at most once a second
   * for each of the keys in memory, which are 16 at the most. Without it, they are not looked at
   * again.
   */
  revision?(clientId: number | null): Promise<string>;
  /**
   * Removes the signing key of a client that is erased, and its earlier ones. Called again after a
   * crash, it finds what is left.
   *
   * @returns how many it has removed
   */
  remove?(clientId: number): Promise<number>;
}

export interface FileKeyStore extends KeyStore {
  open(): Promise<void>;
  release(key: SigningKey): void;
  revision(clientId: number | null): Promise<string>;
  remove(clientId: number): Promise<number>;
  /**
   * Exchanges a key for a new one of the same parameter set. The old public key is kept.
   *
   * @returns the new public key; null if there is no key yet
   */
  rotate(clientId: number | null): Promise<Uint8Array | null>;
  /** The public key in use and those before it, the last one first; empty if there is no key. */
  publicKeys(clientId: number | null): Promise<readonly KnownPublicKey[]>;
}

/** What a folder of signing keys holds. */
export interface KeyFolderState {
  readonly keys: number;
  /** Those of them whose file is encrypted. */
  readonly sealed: number;
  /** Whether there is a secret already under which the folder is encrypted. */
  readonly hasSeal: boolean;
}

export interface FileKeyOptions {
  readonly directory: string;
  /** Of new keys; default `falcon512`. */
  readonly parameterSet?: ParameterSet;
  /**
   * A passphrase, or a key of 32 bytes, under which the files are encrypted. Plain files are
   * encrypted by `open`. Once it was given, it is needed ever after.
   */
  readonly secret?: KeysSecret;
}

/**
 * Keys in files of mode 0600: `<directory>/signing.json`, `<directory>/signing-<client>.json`.
 * Earlier public keys are beside them, in `signing….retired-<hash>.json`.
 *
 * @throws TypeError, RangeError for a secret that is none
 * @throws (from the methods) Error if others can read a file, or it does not hold a key; CodedError
 *   `PASSPHRASE_NEEDED`, `WRONG_PASSPHRASE` if the files are encrypted otherwise
 */
export function fileKeyStore(options: FileKeyOptions): FileKeyStore {
  if (options.secret !== undefined) checkKeysSecret('secret', options.secret);
  return new KeyFolder(options);
}

/**
 * Opens every key of a folder, as a start would, and changes nothing.
 *
 * @throws Error if others can read a file, or it does not hold a key; CodedError
 *   `PASSPHRASE_NEEDED`, `WRONG_PASSPHRASE`, `KEY_TOO_COSTLY`, `BAD_KEY_FILE`
 */
export async function examineKeys({
  directory,
  secret,
}: Pick<FileKeyOptions, 'directory' | 'secret'>): Promise<KeyFolderState> {
  const seal = await KeySeal.find(directory, secret);
  let keys = 0;
  let sealed = 0;
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((each) => KEY_FILE.test(each))) {
    const key = await readKey(join(directory, name), name, async () => seal);
    // Removed meanwhile.
    if (key === null) continue;
    wipe(key.secretKey);
    keys++;
    if (key.isSealed) sealed++;
  }
  return { keys, sealed, hasSeal: seal !== null };
}

/** The files of a client's signing keys, of today and of before; none if there is no folder. */
export async function clientKeyFiles(directory: string, clientId: number): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const own = new RegExp(`^signing-${clientId}(?!\\d)`);
  return names.filter((name) => own.test(name)).map((name) => join(directory, name));
}

const LEFT_BEHIND = /^signing(?:-\d+)?\.json\.[\da-f-]{36}$/;
const LEFT_BEHIND_MS = 60_000;
const isOld = async (path: string) => {
  const found = await stat(path).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > LEFT_BEHIND_MS;
};
const baseOf = (clientId: number | null) => (clientId === null ? 'signing' : `signing-${clientId}`);

class KeyFolder implements FileKeyStore {
  readonly #directory: string;
  readonly #parameterSet: ParameterSet;
  /** Until the seal is open. */
  #secret: KeysSecret | undefined;
  #seal: Promise<KeySeal | null> | null = null;

  constructor({ directory, parameterSet = 'falcon512', secret }: FileKeyOptions) {
    this.#directory = directory;
    this.#parameterSet = parameterSet;
    this.#secret = secret instanceof Uint8Array ? secret.slice() : secret;
  }

  async open(): Promise<void> {
    const seal = await this.#opened();
    if (seal === null) return;
    await locked(this.#directory, async () => {
      await this.#checkSeal(seal);
      for (const name of await readdir(this.#directory)) {
        const path = join(this.#directory, name);
        // What a crash left behind may be a plain key.
        if (LEFT_BEHIND.test(name) && (await isOld(path))) await rm(path, { force: true });
        if (!KEY_FILE.test(name)) continue;
        const key = await this.#read(name);
        if (key === null) continue;
        try {
          if (!key.isSealed)
            await writeSecretFile(path, await fieldsOf(name, key, seal), 'replace');
        } finally {
          wipe(key.secretKey);
        }
      }
    });
  }

  async signingKey(clientId: number | null): Promise<SigningKey> {
    const name = `${baseOf(clientId)}.json`;
    const key = (await this.#read(name)) ?? (await this.#make(name));
    const { parameterSet, publicKey, secretKey } = key;
    return { parameterSet, publicKey, secretKey };
  }

  release({ secretKey }: SigningKey): void {
    wipe(secretKey);
  }

  async revision(clientId: number | null): Promise<string> {
    const path = join(this.#directory, `${baseOf(clientId)}.json`);
    try {
      const { ino, mtimeNs, size } = await stat(path, { bigint: true });
      return `${ino} ${mtimeNs} ${size}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  async remove(clientId: number): Promise<number> {
    const paths = await clientKeyFiles(this.#directory, clientId);
    for (const path of paths) await rm(path, { force: true });
    return paths.length;
  }

  async rotate(clientId: number | null): Promise<Uint8Array | null> {
    const base = baseOf(clientId);
    const name = `${base}.json`;
    const seal = await this.#opened();
    const first = await this.#read(name);
    if (first === null) return null;
    wipe(first.secretKey);
    return locked(this.#directory, async () => {
      await this.#checkSeal(seal);
      const old = (await this.#read(name))!;
      wipe(old.secretKey);
      const { parameterSet, publicKey } = old;
      // First the public key is kept: it is listed as an earlier one only once it is.
      const hash = sha256(publicKey).toString('hex').slice(0, 16);
      const createdAt = old.createdAt ?? (await this.#madeAt(name));
      const retiredAt = new Date().toISOString();
      await writeSecretFile(
        join(this.#directory, `${base}.retired-${hash}.json`),
        {
          version: 1,
          ...publicFields({ parameterSet, publicKey, createdAt }),
          retired_at: retiredAt,
        },
        'replace',
      );
      const made = newKey(parameterSet);
      try {
        const fields = await fieldsOf(name, made, seal);
        await writeSecretFile(join(this.#directory, name), fields, 'replace');
        return made.publicKey;
      } finally {
        wipe(made.secretKey);
      }
    });
  }

  async publicKeys(clientId: number | null): Promise<readonly KnownPublicKey[]> {
    const base = baseOf(clientId);
    const name = `${base}.json`;
    const now = await this.#read(name);
    if (now === null) return [];
    wipe(now.secretKey);
    const { parameterSet, publicKey } = now;
    const createdAt = now.createdAt ?? (await this.#madeAt(name));
    const earlier: KnownPublicKey[] = [];
    for (const file of await readdir(this.#directory)) {
      if (!file.startsWith(`${base}.retired-`) || !file.endsWith('.json')) continue;
      const known = readRetired((await readSecretFile(join(this.#directory, file))) ?? '');
      if (known === null) throw new Error(`${join(this.#directory, file)} holds no public key`);
      // One that was to be retired when a crash came is still in use.
      if (Buffer.compare(known.publicKey, publicKey) !== 0) earlier.push(known);
    }
    earlier.sort((a, b) => (a.retiredAt! < b.retiredAt! ? 1 : -1));
    return [{ parameterSet, publicKey, createdAt, retiredAt: null }, ...earlier];
  }

  /** Read or made once; tried again after a fault. */
  #opened(): Promise<KeySeal | null> {
    if (this.#seal === null) {
      const opening = KeySeal.open(this.#directory, this.#secret);
      this.#seal = opening;
      opening.then(
        (seal) => {
          // Another process may seal the folder later.
          if (seal === null) this.#seal = null;
          // It has done its work.
          else this.#forget();
        },
        () => {
          this.#seal = null;
        },
      );
    }
    return this.#seal;
  }

  #forget(): void {
    if (typeof this.#secret !== 'string' && this.#secret !== undefined) wipe(this.#secret);
    this.#secret = undefined;
  }

  async #madeAt(name: string): Promise<string> {
    return (await stat(join(this.#directory, name))).mtime.toISOString();
  }

  async #read(name: string): Promise<KeyFile | null> {
    try {
      return await readKey(join(this.#directory, name), name, () => this.#opened());
    } catch (error) {
      await this.#checkSeal((await this.#seal) ?? null);
      throw error;
    }
  }

  /** @throws Error if the folder was sealed otherwise after the seal was opened */
  async #checkSeal(seal: KeySeal | null): Promise<void> {
    if (seal === null || (await seal.isCurrent(this.#directory))) return;
    throw new Error(`the passphrase of the keys in ${this.#directory} was changed: start again`);
  }

  /** The first of several writers wins. */
  async #make(name: string): Promise<KeyFile> {
    const seal = await this.#opened();
    const made = newKey(this.#parameterSet);
    const path = join(this.#directory, name);
    const write = async () => {
      await this.#checkSeal(seal);
      await writeSecretFile(path, await fieldsOf(name, made, seal), 'create');
    };
    try {
      // While the files are sealed anew, none may come that is sealed as before.
      await (seal === null ? write() : locked(this.#directory, write));
    } finally {
      wipe(made.secretKey);
    }
    const key = await this.#read(name);
    if (key === null) throw new Error(`${path} disappeared while it was being created`);
    return key;
  }
}

/** @returns null if there is no such file @throws Error if it does not hold a key */
async function readKey(
  path: string,
  name: string,
  opened: () => Promise<KeySeal | null>,
): Promise<KeyFile | null> {
  const text = await readSecretFile(path);
  if (text === null) return null;
  const key = await parseKey(name, text, opened);
  if (key === null) throw new Error(`${path} is not a signing key`);
  return key;
}

function newKey(parameterSet: ParameterSet) {
  const keys = algorithm(parameterSet).keygen();
  return { parameterSet, ...keys, createdAt: new Date().toISOString() };
}
