/**
 * Opens the file of an SQLite store: private to its owner, in WAL mode, with the current tables.
 */
import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CodedError } from '../../../shared/errors.ts';
import { isBusy, storeError } from './sqliteFault.ts';
import { MIGRATIONS } from './sqliteSchema.ts';

/** How long a verb waits for another process, unless told otherwise. */
export const PATIENCE_MS = 5000;

export interface SqliteFile {
  /** The file; it and its directory are created if missing, private to their owner. */
  readonly path: string;
  /** Longest wait of a verb for other processes that lock the file; default 5 s. */
  readonly patienceMs?: number;
  /** Open a file that other users of the machine can read or replace; default false. */
  readonly allowShared?: boolean;
}

/**
 * @throws CodedError `STORE_NEWER`, `STORE_SHARED`, `STORE_UNAVAILABLE`, `STORAGE_FULL`; Error of
 *   the file system or of SQLite if the file cannot be opened
 */
export function openFile({
  path,
  patienceMs = PATIENCE_MS,
  allowShared = false,
}: SqliteFile): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its log the permissions of the file, which holds secrets.
  closeSync(openSync(path, 'a', 0o600));
  const [shared] = allowShared ? [] : sharedPlaces(path);
  if (shared !== undefined) {
    const message = `${shared.path} ${shared.what}: ${shared.command}`;
    throw new CodedError('STORE_SHARED', { message });
  }
  // Without a timeout of its own: whoever waits lets its thread do other work meanwhile.
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    const endMs = performance.now() + patienceMs;
    retryBusy(endMs, () => db.exec('PRAGMA journal_mode = WAL'));
    db.exec('PRAGMA synchronous = FULL');
    retryBusy(endMs, () => migrate(db));
    return db;
  } catch (error) {
    db.close();
    throw storeError(error);
  }
}

/** A place where other users of the machine can reach the store. */
export interface SharedPlace {
  readonly path: string;
  readonly what: string;
  /** The command that makes it private. */
  readonly command: string;
}

/**
 * The file, which holds secrets, if others can read or write it; its directory, if others can
 * replace the file there. Nothing on Windows, which has other permissions.
 */
export function sharedPlaces(path: string): SharedPlace[] {
  if (process.platform === 'win32') return [];
  const places: SharedPlace[] = [];
  for (const name of [path, `${path}-wal`]) {
    if ((modeOf(name) & 0o077) === 0) continue;
    const what = 'holds secrets and is open to others';
    places.push({ path: name, what, command: `chmod go= ${name}` });
  }
  const folder = dirname(path);
  if ((modeOf(folder) & 0o022) !== 0) {
    const what = 'holds the store and can be written by others';
    places.push({ path: folder, what, command: `chmod go-w ${folder}` });
  }
  return places;
}

/** 0 if there is nothing, or nothing that we may look at. */
function modeOf(path: string): number {
  try {
    return statSync(path).mode;
  } catch {
    return 0;
  }
}

function migrate(db: DatabaseSync): void {
  const version = () => Number(db.prepare('PRAGMA user_version').get()!.user_version);
  if (version() === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    if (version() > MIGRATIONS.length) {
      throw new CodedError('STORE_NEWER');
    }
    for (const step of MIGRATIONS.slice(version())) db.exec(step);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Blocks the thread, which has nothing else to do before the file is open. */
function retryBusy(endMs: number, work: () => void): void {
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > endMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
