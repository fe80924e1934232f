/**
 * Opens the file of an SQLite store: private to its owner, in WAL mode, with the current tables.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { CodedError } from '../../../shared/errors.ts';
import { isBusy, storeError } from './sqliteFault.ts';
import { LAST_OLD_VERSION, SCHEMA_VERSION, STEPS } from './sqliteSchema.ts';

/** Default time for which a verb waits for another process. */
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
 * Returns `node:sqlite`. Not imported, so that hosts without it can load this module.
 *
 * @throws CodedError `NO_SQLITE`
 */
export function sqliteOfHost(): typeof import('node:sqlite') {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return sqlite;
  const message =
    'This host has no node:sqlite: use Node 22.13 or newer, built with SQLite and without ' +
    '--no-experimental-sqlite, or give another store';
  throw new CodedError('NO_SQLITE', { message });
}

/**
 * Opens the file, or creates it. A file that is refused as outdated or newer is only read.
 *
 * @throws CodedError `STORE_OUTDATED`, `STORE_NEWER`, `STORE_SHARED`, `STORE_UNAVAILABLE`,
 *   `STORAGE_FULL`, `NO_SQLITE`; Error of the file system or of SQLite if the file cannot be opened
 */
export function openFile({
  path,
  patienceMs = PATIENCE_MS,
  allowShared = false,
}: SqliteFile): DatabaseSync {
  const { DatabaseSync: Database } = sqliteOfHost();
  // Before SQLite opens the file, since that alone may change it and the files beside it.
  checkVersion(versionOf(path));
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its log the permissions of the file, which holds secrets.
  closeSync(openSync(path, 'a', 0o600));
  const [shared] = allowShared ? [] : sharedPlaces(path);
  if (shared !== undefined) {
    const message = `${shared.path} ${shared.what}: ${shared.command}`;
    throw new CodedError('STORE_SHARED', { message });
  }
  // No timeout in SQLite, which would block the thread; callers retry instead.
  const db = new Database(path, { timeout: 0 });
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
interface SharedPlace {
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

/** Returns 0 if the file does not exist or may not be read. */
function modeOf(path: string): number {
  try {
    return statSync(path).mode;
  } catch {
    return 0;
  }
}

/** @throws CodedError `STORE_OUTDATED`, `STORE_NEWER` */
function checkVersion(version: number): void {
  if (version > SCHEMA_VERSION) throw new CodedError('STORE_NEWER');
  if (version > 0 && version <= LAST_OLD_VERSION) throw new CodedError('STORE_OUTDATED');
}

const MAGIC = 'SQLite format 3\0';
/** Offset in the first page of a database. */
const USER_VERSION = 60;
/** A log's header, the header of each of its pages, and the offset of the page size. */
const [LOG_HEADER, FRAME_HEADER, PAGE_SIZE] = [32, 24, 8];

/**
 * Reads `user_version` without SQLite, so that the file and its log stay as they are. The log
 * counts only until the first checkpoint, which gives the file itself a version.
 *
 * @returns 0 if there is no file, or if it is not a database
 */
export function versionOf(path: string): number {
  const file = readStart(path, USER_VERSION + 4);
  if (file.length < USER_VERSION + 4 || !file.toString('latin1').startsWith(MAGIC)) return 0;
  let version = file.readUInt32BE(USER_VERSION);
  const log = version > 0 ? Buffer.alloc(0) : readStart(`${path}-wal`);
  const frameBytes = log.length < LOG_HEADER ? 0 : FRAME_HEADER + log.readUInt32BE(PAGE_SIZE);
  for (let at = LOG_HEADER; at + frameBytes <= log.length; at += frameBytes) {
    if (log.readUInt32BE(at) === 1) version = log.readUInt32BE(at + FRAME_HEADER + USER_VERSION);
  }
  return version;
}

/** Returns the first bytes of a file; none if it cannot be read, which SQLite will report. */
function readStart(path: string, bytes = Number.POSITIVE_INFINITY): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const start = Buffer.alloc(Math.min(bytes, fstatSync(file).size));
    return start.subarray(0, readSync(file, start));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function migrate(db: DatabaseSync): void {
  const version = () => Number(db.prepare('PRAGMA user_version').get()!.user_version);
  if (version() === SCHEMA_VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    checkVersion(version());
    for (const step of STEPS.slice(Math.max(0, version() - LAST_OLD_VERSION))) db.exec(step);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Retries while the file is locked. Blocks the thread, which has no other work yet. */
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
