/** The check of the signing keys by `falconry serve --check`: opened, and left as they are. */
import { join, resolve } from 'node:path';
import { KEYS_FOLDER, type Settings } from '../middleware/options/options.ts';
import { examineKeys } from '../middleware/signing/keyStore.ts';
import { isCodedError } from '../shared/errors.ts';
import type { Config } from './config.ts';
import { type Finding, fault, ok } from './finding.ts';
import type { ServeSetting } from './settings.ts';

const ADVICE: Readonly<Record<string, string>> = {
  PASSPHRASE_NEEDED: 'give --keys-passphrase-file',
  WRONG_PASSPHRASE: 'give the passphrase under which they were encrypted',
  BAD_KEY_FILE: 'restore the folder from a backup',
};

/** Whether the keys can be opened, with the passphrase if there is one; nothing without signing. */
export async function checkKeys(
  { values }: Config<ServeSetting>,
  { signing, dataDirectory }: Settings,
): Promise<Finding[]> {
  if (!signing) return [];
  const { keys = join(dataDirectory, KEYS_FOLDER), keysPassphrase: secret } = values;
  const directory = resolve(keys);
  try {
    const found = await examineKeys({ directory, ...(secret !== undefined && { secret }) });
    return [ok('signingKeys', told(found, secret !== undefined))];
  } catch (error) {
    const { code } = isCodedError(error) ? error : { code: '' };
    return [fault('signingKeys', `${directory}: ${(error as Error).message}`, ADVICE[code])];
  }
}

function told(
  { keys, sealed, hasSeal }: Awaited<ReturnType<typeof examineKeys>>,
  given: boolean,
): string {
  if (keys === 0 && !hasSeal) {
    return `none yet: the next start makes ${given ? 'them, encrypted' : 'them'}`;
  }
  if (!given) return `${keys} can be read; they are not encrypted`;
  const plain = keys - sealed;
  const later = plain === 0 ? '' : `; the next start encrypts ${plain}`;
  return hasSeal ? `the passphrase opens them: ${sealed} of ${keys}${later}` : `${keys}${later}`;
}
