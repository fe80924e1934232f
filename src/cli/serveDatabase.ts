/** The checks of the database: opened, read, left as it was. */

import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Settings, STORE_FILE } from '../middleware/options/options.ts';
import { FARTHEST_DUE_MS } from '../middleware/stores/sqlite/clock.ts';
import { MIGRATIONS } from '../middleware/stores/sqlite/sqliteSchema.ts';
import { sizeText } from '../wire/sizes.ts';
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
  if (version > MIGRATIONS.length) {
    const message =
      `${path} was written by a newer version ` +
      `(its schema is ${version}, ours ${MIGRATIONS.length})`;
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
  if (version < MIGRATIONS.length) {
    const message = version === 0 ? 'is empty' : `schema ${version} becomes ${MIGRATIONS.length}`;
    findings.push(ok('database', `${message} at the next start`));
    if (version === 0) return findings;
  } else findings.push(ok('database', `schema ${version}, ${sizeText(bytes)}`));
  findings.push(...checkTimes(db), checkKeys(db, givenKey));
  return findings;
}

/** At most this many tasks are named. */
const NAMED_TASKS = 5;

/** Tasks that wait for a time which no lease or retry would have given them. */
function checkTimes(db: DatabaseSync): Finding[] {
  const kept = db.prepare("SELECT number FROM last_numbers WHERE name = 'clock'").get();
  const farMs = Math.max(Date.now(), Number(kept?.number ?? 0)) + FARTHEST_DUE_MS;
  const rows = db.prepare('SELECT id FROM tasks WHERE due_ms > ? ORDER BY id').all(farMs);
  if (rows.length === 0) return [];
  const names = rows.slice(0, NAMED_TASKS).map(({ id }) => id);
  const more = rows.length > NAMED_TASKS ? ', …' : '';
  const message =
    `${rows.length} tasks wait for a time that a wrong clock gave them: ` +
    `${names.join(', ')}${more}`;
  return [warning('database', message, 'the next start lets them go on')];
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
