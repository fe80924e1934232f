/**
 * Another passphrase, or key, for the files of signing keys. Every file is sealed anew and replaced
 * whole, between two files that say how the folder is sealed:
 *
 *   sealing.json                       all under the old seal
 *   sealing.json, sealing.next.json    each file under the one or the other
 *   sealing.json, which was the next   all under the new seal
 *
 * After a crash a second call with the same two secrets goes on.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { wipe } from '../../shared/bytes.ts';
import { CodedError } from '../../shared/errors.ts';
import { locked, readSecretFile, writeSecretFile } from './keyFiles.ts';
import { fieldsOf, KEY_FILE, type KeyFile, parseKey } from './keyFormat.ts';
import { checkKeysSecret, KeySeal, type KeysSecret, type SealChange } from './keySeal.ts';

export interface KeysSecretChange {
  readonly directory: string;
  /** The secret until now. */
  readonly secret: KeysSecret;
  /** The secret from now on. */
  readonly next: KeysSecret;
}

/**
 * Seals the signing keys of a folder anew. Services that have opened it read and write no file of
 * it any more, until they are started with the new secret.
 *
 * @returns the number of keys; null if the folder is not sealed
 * @throws TypeError, RangeError for secrets that are none
 * @throws CodedError `WRONG_PASSPHRASE`; `BAD_KEY_FILE` for a file that cannot be opened; both
 *   before anything was changed
 */
export async function changeKeysSecret(change: KeysSecretChange): Promise<number | null> {
  const { directory, secret, next } = change;
  checkKeysSecret('secret', secret);
  checkKeysSecret('next', next);
  if ((await stat(directory).catch(() => null)) === null) return null;
  return locked(directory, async () => {
    const seals = await KeySeal.change(directory, secret, next);
    if (seals === null) return null;
    const names = (await readdir(directory)).filter((name) => KEY_FILE.test(name));
    // What cannot be opened now could not be opened by a second call either.
    for (const name of names) await withKey(directory, name, seals, async () => {});
    const seal = await seals.begin();
    for (const name of names) {
      await withKey(directory, name, seals, async (key) => {
        await writeSecretFile(join(directory, name), await fieldsOf(name, key, seal), 'replace');
      });
    }
    await seals.end();
    return names.length;
  });
}

/** Reads a key, and wipes it after its use; one that was removed meanwhile is passed over. */
async function withKey(
  directory: string,
  name: string,
  seals: SealChange,
  use: (key: KeyFile) => Promise<void>,
): Promise<void> {
  const path = join(directory, name);
  const text = await readSecretFile(path);
  if (text === null) return;
  const key = await parseKey(name, text, async () => seals);
  if (key === null) {
    throw new CodedError('BAD_KEY_FILE', { message: `${path} is not a signing key` });
  }
  try {
    await use(key);
  } finally {
    wipe(key.secretKey);
  }
}
