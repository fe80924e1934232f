/**
 * Signing keys at rest: AES-256-GCM (NIST SP 800-38D) with one key for the folder. It is given by
 * the host, or follows from a passphrase by scrypt with the salt in `sealing.json`; that file also
 * has a text under the key, so that a wrong passphrase is told at once. While the files are sealed
 * anew (keyReseal.ts), `sealing.next.json` says the same of the next key, and stays after a crash.
 *
 *   sealed = nonce (12 random bytes) || ciphertext || tag (16)
 */
import { join } from 'node:path';
import { passphraseKey, SCRYPT_COST, type ScryptCost } from '../../falcon/keys/index.ts';
import { wipe } from '../../shared/bytes.ts';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { decodeWireHex, encodeWireHex } from '../../wire/hex.ts';
import { moveSecretFile, readSecretFile, writeSecretFile } from './keyFiles.ts';

/** A passphrase, or a key of 32 bytes. */
export type KeysSecret = string | Uint8Array;

type Bytes = Uint8Array<ArrayBuffer>;

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALING_FILE = 'sealing.json';
const NEXT_FILE = 'sealing.next.json';
const MAX_BYTES = 4096;
/** What the check stands for. */
const CHECK = 'falconry keys check v1';
const KEY_CHECK = 'the key of the folder';

const utf8 = new TextEncoder();
const random = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));

/** @throws TypeError, RangeError unless it is a passphrase or 32 bytes */
export function checkKeysSecret(name: string, secret: unknown): void {
  if (typeof secret === 'string') {
    if (secret !== '') return;
    throw new RangeError(`"${name}" must not be empty`);
  }
  if (!(secret instanceof Uint8Array)) {
    throw new TypeError(`"${name}" must be a passphrase or 32 bytes`);
  }
  if (secret.length !== KEY_BYTES) throw new RangeError(`"${name}" must be of 32 bytes`);
}

/** The exchange of the seal of a folder, under the lock of the folder. */
export interface SealChange {
  /** As `KeySeal.open`, for what is sealed under the old seal or the new one. */
  open(about: string, sealed: Uint8Array): Promise<Bytes | null>;
  /** The new seal. From now on both are in the folder. */
  begin(): Promise<KeySeal>;
  /** The old seal is no more: nothing may be left that it has sealed. */
  end(): Promise<void>;
}

/** Encrypts and decrypts the keys of a folder. */
export class KeySeal {
  readonly #key: CryptoKey;
  /** The file that it was opened with. */
  readonly #text: string;

  private constructor(key: CryptoKey, text = '') {
    this.#key = key;
    this.#text = text;
  }

  /**
   * The seal of a folder, which is made if there is none. All that make one at once get the same.
   *
   * @returns null without a secret, if the folder has no seal
   * @throws CodedError `PASSPHRASE_NEEDED`, `WRONG_PASSPHRASE`, `KEY_TOO_COSTLY`, `BAD_KEY_FILE`
   */
  static async open(directory: string, secret: KeysSecret | undefined): Promise<KeySeal | null> {
    const path = join(directory, SEALING_FILE);
    let text = await readSecretFile(path);
    if (secret === undefined) {
      if (text === null) return null;
      throw needed();
    }
    if (await isChanging(directory)) throw wrong(UNFINISHED);
    if (text === null) {
      await KeySeal.#make(path, secret);
      text = (await readSecretFile(path))!;
    }
    return KeySeal.#read(path, text, secret);
  }

  /**
   * Begins to seal a folder under another secret, or goes on where a crash ended that.
   *
   * @returns null if the folder has no seal
   * @throws CodedError `WRONG_PASSPHRASE` unless `secret` is the old one, or all was done before;
   *   and for another `next` than the one that was begun with
   */
  static async change(
    directory: string,
    secret: KeysSecret,
    next: KeysSecret,
  ): Promise<SealChange | null> {
    const [path, nextPath] = [join(directory, SEALING_FILE), join(directory, NEXT_FILE)];
    const [text, begun] = [await readSecretFile(path), await readSecretFile(nextPath)];
    if (text === null) return null;
    const old = await KeySeal.#read(path, text, secret).catch(async (error) => {
      const isDone = begun === null && isWrong(error);
      const now = isDone ? await KeySeal.#read(path, text, next).catch(() => null) : null;
      if (now === null) throw error;
      return { now };
    });
    if ('now' in old) {
      const { now } = old;
      return {
        open: (...sealed) => now.open(...sealed),
        begin: async () => now,
        end: async () => {},
      };
    }
    let to = begun === null ? null : await KeySeal.#readBegun(nextPath, begun, next);
    return {
      open: async (...sealed) => (await old.open(...sealed)) ?? (await to?.open(...sealed)) ?? null,
      begin: async () => {
        if (to === null) await KeySeal.#make(nextPath, next);
        to ??= await KeySeal.#read(nextPath, (await readSecretFile(nextPath))!, next);
        return to;
      },
      end: () => moveSecretFile(nextPath, path),
    };
  }

  static #readBegun(path: string, text: string, next: KeysSecret): Promise<KeySeal> {
    return KeySeal.#read(path, text, next).catch((error) => {
      throw isWrong(error) ? wrong(OTHER_BEGUN) : error;
    });
  }

  /** Whether the folder is still sealed so, and is not being sealed otherwise. */
  async isCurrent(directory: string): Promise<boolean> {
    const text = await readSecretFile(join(directory, SEALING_FILE));
    return text === this.#text && !(await isChanging(directory));
  }

  /**
   * The seal of a folder, which is left as it is.
   *
   * @returns null if there is none
   * @throws CodedError as `open`
   */
  static async find(directory: string, secret: KeysSecret | undefined): Promise<KeySeal | null> {
    const path = join(directory, SEALING_FILE);
    const text = await readSecretFile(path);
    if (text === null) return null;
    if (secret === undefined) throw needed();
    if (await isChanging(directory)) throw wrong(UNFINISHED);
    return KeySeal.#read(path, text, secret);
  }

  static async #make(path: string, secret: KeysSecret): Promise<void> {
    const isText = typeof secret === 'string';
    const salt = random(SALT_BYTES);
    const seal = new KeySeal(await importKey(secret, salt, SCRYPT_COST));
    const check = encodeWireHex(await seal.seal(CHECK, utf8.encode(KEY_CHECK)));
    const derivation = isText
      ? { kdf: 'scrypt', ...SCRYPT_COST, salt: encodeWireHex(salt) }
      : { kdf: 'none' };
    const fields = { version: 1, cipher: 'AES-256-GCM', ...derivation, check };
    await writeSecretFile(path, fields, 'create');
  }

  static async #read(path: string, text: string, secret: KeysSecret): Promise<KeySeal> {
    const fields = readFields(text);
    if (fields === null) {
      throw new CodedError('BAD_KEY_FILE', { message: `${path} does not say how keys are sealed` });
    }
    const isText = typeof secret === 'string';
    if (isText !== (fields.derivation !== null)) {
      throw wrong(
        isText
          ? 'The signing keys are encrypted with a key of 32 bytes, not under a passphrase'
          : 'The signing keys are encrypted under a passphrase, not with a key of 32 bytes',
      );
    }
    const { salt, cost } = fields.derivation ?? { salt: new Uint8Array(), cost: SCRYPT_COST };
    const seal = new KeySeal(await importKey(secret, salt, cost), text);
    if ((await seal.open(CHECK, fields.check)) !== null) return seal;
    throw wrong(`The ${isText ? 'passphrase' : 'key'} does not open the signing keys`);
  }

  /** @param about what the bytes are: they can be opened under the same text only */
  async seal(about: string, plain: Uint8Array): Promise<Uint8Array> {
    const nonce = random(NONCE_BYTES);
    const sealed = await crypto.subtle.encrypt(how(nonce, about), this.#key, plain as Bytes);
    return Buffer.concat([nonce, new Uint8Array(sealed)]);
  }

  /** @returns the bytes, to be wiped; null if they were sealed otherwise, or changed */
  async open(about: string, sealed: Uint8Array): Promise<Bytes | null> {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
    const nonce = sealed.slice(0, NONCE_BYTES);
    const rest = sealed.slice(NONCE_BYTES);
    try {
      return new Uint8Array(await crypto.subtle.decrypt(how(nonce, about), this.#key, rest));
    } catch {
      return null;
    }
  }
}

const how = (nonce: Bytes, about: string) => ({
  name: 'AES-GCM',
  iv: nonce,
  additionalData: utf8.encode(about),
});

async function importKey(secret: KeysSecret, salt: Uint8Array, cost: ScryptCost) {
  const given = typeof secret === 'string' ? utf8.encode(secret) : secret.slice();
  let bytes: Uint8Array | undefined;
  try {
    bytes = typeof secret === 'string' ? await passphraseKey(given, salt, cost) : given;
    return await crypto.subtle.importKey('raw', bytes as Bytes, 'AES-GCM', false, [
      'encrypt',
      'decrypt',
    ]);
  } finally {
    wipe(given);
    if (bytes !== undefined) wipe(bytes);
  }
}

interface Fields {
  /** Null: the key was given. */
  readonly derivation: { readonly salt: Uint8Array; readonly cost: ScryptCost } | null;
  readonly check: Uint8Array;
}

function readFields(text: string): Fields | null {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const check = decodeWireHex(fields.check, MAX_BYTES);
  if (fields.version !== 1 || fields.cipher !== 'AES-256-GCM' || typeof check === 'string') {
    return null;
  }
  if (fields.kdf === 'none') return { derivation: null, check };
  const salt = decodeWireHex(fields.salt, MAX_BYTES);
  const cost = fields as unknown as ScryptCost;
  const { N, r, p } = cost;
  const fits = [N, r, p].every((number) => Number.isSafeInteger(number) && number > 0);
  const isPower = N > 1 && N <= 2 ** 30 && (N & (N - 1)) === 0;
  if (fields.kdf !== 'scrypt' || typeof salt === 'string' || !fits || !isPower) return null;
  return { derivation: { salt, cost: { N, r, p } }, check };
}

const needed = () =>
  new CodedError('PASSPHRASE_NEEDED', {
    message: 'The signing keys are encrypted: their passphrase or key is needed',
  });

const isChanging = async (directory: string): Promise<boolean> =>
  (await readSecretFile(join(directory, NEXT_FILE))) !== null;

const UNFINISHED =
  'The passphrase of the signing keys is being changed; if that was interrupted, ' +
  'falconry rotate passphrase finishes it';
const OTHER_BEGUN =
  'A change of the passphrase was begun with another new one: finish it with that one first';

const isWrong = (error: unknown): boolean =>
  isCodedError(error) && error.code === 'WRONG_PASSPHRASE';

const wrong = (message: string) => new CodedError('WRONG_PASSPHRASE', { message });
