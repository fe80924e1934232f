/** The check of the signing keys: opened, and left as they are. */
import { join, resolve } from 'node:path';
import { KEYS_FOLDER, type Settings } from '../../middleware/options/options.ts';
import { examineKeys } from '../../middleware/signing/keyStore.ts';
import type { Config } from '../lib/config.ts';
import type { ServeSetting } from '../lib/settings.ts';
import { type Finding, fault, ok } from './finding.ts';

/** Whether the keys can be read; nothing without signing. */
export async function checkKeys(
  { values }: Config<ServeSetting>,
  { signing, dataDirectory }: Settings,
): Promise<Finding[]> {
  if (!signing) return [];
  const { keys = join(dataDirectory, KEYS_FOLDER) } = values;
  const directory = resolve(keys);
  try {
    const found = await examineKeys({ directory });
    return [
      ok(
        'signingKeys',
        found.keys === 0 ? 'none yet: the next start makes them' : `${found.keys} can be read`,
      ),
    ];
  } catch (error) {
    return [
      fault(
        'signingKeys',
        `${directory}: ${(error as Error).message}`,
        'restore the folder from a backup',
      ),
    ];
  }
}
