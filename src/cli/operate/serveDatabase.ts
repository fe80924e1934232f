/** The checks of the database: opened, read, left as it was. */

import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Settings, STORE_FILE } from '../../middleware/options/options.ts';
import { versionOf } from '../../middleware/stores/sqlite/sqliteFile.ts';
import { LAST_OLD_VERSION, SCHEMA_VERSION } from '../../middleware/stores/sqlite/sqliteSchema.ts';
import { sizeText } from '../../wire/sizes.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** A writer that holds the file longer than this is stuck. */
const LOCK_PATIENCE_MS = 1500;
/** Larger files take too long to read through. */
const MAX_CHECKED_BYTES = 256 * 2 ** 20;

/** @param givenKey whether the operator supplies the API key of the first start */
export async function checkDatabase(settings: Settings, givenKey: boolean): Promise<Finding[]> {
  const path = join(resolve(settings.dataDirectory), STORE_FILE);
  const found = await stat(path).catch(() => null);
  if (found === null || found.size === 0) {
    const key = givenKey ? 'stores the given API key' : 'makes an API key';
    return [
      ok('database', 'will be created at the first start'),
      ok('apiKeys', `the first start ${key}`),
    ];
  }
  const version = versionOf(path);
  if (version > 0 && version <= LAST_OLD_VERSION) {
    const message = `${path} was made before falconry 0.1.0 and cannot be used`;
    return [fault('database', message, 'move it away, or choose another --data')];
  }
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: LOCK_PATIENCE_MS });
    return examine(db, path, found.size, givenKey);
  } catch (error) {
    return [explain(error, path)];
  } finally {
    if (db?.isOpen) db.close();
  }
}

function examine(db: DatabaseSync, path: string, bytes: number, givenKey: boolean): Finding[] {
  const version = Number(db.prepare('PRAGMA user_version').get()!.user_version);
  if (version > SCHEMA_VERSION) {
    const message =
      `${path} was written by a newer version ` +
      `(its schema is ${version}, ours ${SCHEMA_VERSION})`;
    return [fault('database', message, 'run the newer version')];
  }
  // Takes the writers' lock, as the service must, and lets it go.
  db.exec('BEGIN IMMEDIATE');
  db.exec('ROLLBACK');
  const findings: Finding[] = [];
  if (bytes <= MAX_CHECKED_BYTES) {
    const verdict = String(Object.values(db.prepare('PRAGMA quick_check(1)').get()!)[0]);
    if (verdict !== 'ok') {
      return [fault('database', `${path} is damaged: ${verdict}`, 'restore it from a backup')];
    }
  }
  if (version < SCHEMA_VERSION) {
    const message = version === 0 ? 'is empty' : `schema ${version} becomes ${SCHEMA_VERSION}`;
    findings.push(ok('database', `${message} at the next start`));
    if (version === 0) return findings;
  } else findings.push(ok('database', `schema ${version}, ${sizeText(bytes)}`));
  findings.push(checkKeys(db, givenKey));
  return findings;
}

function checkKeys(db: DatabaseSync, givenKey: boolean): Finding {
  const count = Number(db.prepare('SELECT count(*) AS count FROM api_keys').get()!.count);
  if (count > 0) return ok('apiKeys', `${count} in the store`);
  if (givenKey) return ok('apiKeys', 'none in the store: the next start stores the given one');
  const advice = 'falconry keys create, or --first-key-file';
  return warning('apiKeys', 'none in the store: the next start makes one and shows it', advice);
}

/** Result codes of SQLite, without their extensions. */
const CODES: Readonly<Record<number, readonly [string, string]>> = {
  5: ['is locked by another process', 'find that process (fuser), or wait until it ends'],
  6: ['is locked', 'wait until the other process ends'],
  8: ['is not writable', 'check its owner and permissions'],
  11: ['is damaged', 'restore it from a backup'],
  14: ['cannot be opened', 'check its owner and permissions'],
  26: ['is not a database', 'move it away, or choose another --data'],
};

function explain(error: unknown, path: string): Finding {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 255;
  const [what, advice] = CODES[code] ?? [`cannot be used: ${(error as Error).message}`, undefined];
  return fault('database', `${path} ${what}`, advice);
}
