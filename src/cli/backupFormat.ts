/**
 * A backup is a directory:
 *
 *   backup.json        version, schema, when, how much
 *   SHA256SUMS         of every other file, as `sha256sum --check` reads it
 *   falconry.sqlite    the store, as it was at one moment
 *   files/…            every task file and result that a row of this store names
 *   keys/…             the signing keys
 *
 * It holds secrets, and is readable by its owner only.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startSha256 } from '../middleware/hash.ts';
import { STORE_FILE } from '../middleware/options/options.ts';
import { CodedError } from '../shared/errors.ts';

export const MANIFEST = 'backup.json';
export const SUMS = 'SHA256SUMS';
export const FORMAT = 'falconry backup';
export const VERSION = 1;

export interface Manifest {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** Number of steps that the schema of the store has taken. */
  readonly schema: number;
  readonly made_at: string;
  readonly tasks: number;
  /** Files in the backup, those of keys and the store included. */
  readonly files: number;
  readonly bytes: number;
  /** Files that a row names, but that were not there when the backup was made. */
  readonly missing: readonly string[];
}

/** Names of files in a backup, below it; nothing else ever becomes a path. */
const NAMES: readonly RegExp[] = [
  /^files\/inputs\/[0-9a-f-]{36}\.json$/,
  /^files\/results\/\d{1,16}\/\d{1,16}\.json$/,
  /^keys\/[\w-][\w.-]*$/,
];

export function isBackupName(name: string): boolean {
  return name === STORE_FILE || NAMES.some((pattern) => pattern.test(name));
}

export function badBackup(what: string): CodedError {
  return new CodedError('BAD_BACKUP', { message: `The backup is damaged: ${what}` });
}

export interface Copied {
  readonly sha256: string;
  readonly bytes: number;
}

const PIECE_BYTES = 1024 * 1024;

/**
 * Copies a file, readable by its owner only, and syncs it; the folder is made if it is missing.
 *
 * @throws Error of the file system
 */
export async function copyHashed(from: string, to: string): Promise<Copied> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'wx', 0o600);
    try {
      const copied = await hashPieces(source, (piece) => target.writeFile(piece));
      await target.sync();
      return copied;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

export async function hashFile(path: string): Promise<Copied> {
  const file = await open(path, 'r');
  try {
    return await hashPieces(file, async () => {});
  } finally {
    await file.close();
  }
}

async function hashPieces(
  source: FileHandle,
  use: (piece: Uint8Array) => Promise<void>,
): Promise<Copied> {
  const hash = startSha256();
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return { sha256: Buffer.from(hash.digest()).toString('hex'), bytes };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await use(piece);
    bytes += bytesRead;
  }
}

/** Syncs a file or a folder. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } catch (error) {
    // Some systems cannot sync folders.
    if (!['EINVAL', 'EPERM', 'EISDIR'].includes((error as NodeJS.ErrnoException).code!))
      throw error;
  } finally {
    await file.close();
  }
}

/** The version of the schema of a store's file; it is not changed. */
export function schemaOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()!.user_version);
}

export interface NamedFile {
  readonly key: string;
  readonly bytes: number;
}

/** Every file that a row names. */
export function namedFiles(db: DatabaseSync): NamedFile[] {
  const sql = `SELECT input_key AS key, input_bytes AS bytes FROM tasks WHERE input_key IS NOT NULL
    UNION ALL
    SELECT result_key, result_bytes FROM tasks WHERE result_key IS NOT NULL`;
  return db.prepare(sql).all() as unknown as NamedFile[];
}

/** Checks that the file of a store is whole. @throws CodedError `BAD_BACKUP` */
export function checkStore(folder: string): { schema: number; named: NamedFile[]; tasks: number } {
  const db = new DatabaseSync(join(folder, STORE_FILE));
  try {
    // Everything in one file: a log beside it would be left behind.
    db.exec('PRAGMA journal_mode = DELETE');
    const verdict = String(Object.values(db.prepare('PRAGMA quick_check(1)').get()!)[0]);
    if (verdict !== 'ok') throw badBackup(`${STORE_FILE}: ${verdict}`);
    const tasks = Number(db.prepare('SELECT count(*) AS tasks FROM tasks').get()!.tasks);
    return { schema: schemaOf(db), named: namedFiles(db), tasks };
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw badBackup(`${STORE_FILE} cannot be read (${(error as Error).message})`);
  } finally {
    db.close();
  }
}
