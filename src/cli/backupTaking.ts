/**
 * Takes a backup of a data directory in which a service may be at work. Store and files belong to
 * one moment:
 *
 *   1. link all files to a folder beside them, which takes no room and no time
 *   2. take the writers' lock of the store; no row changes, so no file that a row names goes
 *   3. begin to read in a second connection, which from now on sees this moment; link the files
 *      that came since 1; let the lock go, after milliseconds
 *   4. copy the store through the second connection, and from the links the files that it names
 *
 * A file's bytes never change, and a file that the service deletes stays behind its link.
 */
import { copyFileSync, linkSync, mkdirSync, rmSync } from 'node:fs';
import {
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { backup as copyStore, DatabaseSync } from 'node:sqlite';
import { STORE_FILE } from '../middleware/options/options.ts';
import { LOCK, locked } from '../middleware/signing/keyFiles.ts';
import { hasEnded, ownHolder } from '../middleware/stores/sqlite/holder.ts';
import { SCHEMA_VERSION } from '../middleware/stores/sqlite/sqliteSchema.ts';
import { CodedError } from '../shared/errors.ts';
import {
  type Copied,
  checkStore,
  copyHashed,
  FORMAT,
  hashFile,
  MANIFEST,
  type Manifest,
  namedFiles,
  SUMS,
  schemaOf,
  syncPath,
  VERSION,
} from './backupFormat.ts';
import { IoFailure } from './command.ts';
import { whenStopped } from './io.ts';

/** How long the writers' lock is waited for. */
const LOCK_PATIENCE_MS = 10_000;

/** Folder of links in the data directory; its file `holder` says whose it is. */
const STAGING = 'backup-';
const HOLDER = 'holder';

/**
 * @param data the data directory
 * @param target is made, and complete once it has its name
 * @throws IoFailure if there is no store, or something at the target; CodedError `STORE_NEWER`
 */
export async function takeBackup(data: string, target: string): Promise<Manifest> {
  const [from, to] = [resolve(data), resolve(target)];
  await checkPlaces(from, to);
  await removeStale(from);
  const staging = join(from, `${STAGING}${crypto.randomUUID()}`);
  const aside = join(dirname(to), `.${basename(to)}.${crypto.randomUUID()}`);
  const undo = () => {
    for (const path of [staging, aside]) rmSync(path, { recursive: true, force: true });
  };
  const release = whenStopped(undo);
  try {
    await mkdir(staging, { mode: 0o700 });
    await writeFile(join(staging, HOLDER), ownHolder(), { mode: 0o600 });
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const missing = await copyMoment(from, staging, aside);
    const manifest = await fill(from, staging, aside, missing);
    await syncFolders(aside);
    // An empty folder may be there.
    await rmdir(to).catch(() => {});
    await rename(aside, to);
    await syncPath(dirname(to));
    return manifest;
  } finally {
    release();
    undo();
  }
}

async function checkPlaces(from: string, to: string): Promise<void> {
  const path = join(from, STORE_FILE);
  if (!(await exists(path))) throw new IoFailure(`there is no store at ${path}`);
  if (!relative(from, to).startsWith(`..${sep}`) && relative(from, to) !== '..') {
    throw new IoFailure(`${to} is in the data directory, and would be lost with it`);
  }
  await refuseFilled(to);
}

/** @throws IoFailure for a file, or a folder that is not empty */
export async function refuseFilled(folder: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new IoFailure(`${folder} cannot be used: ${code}`, { cause: error });
  }
  if (names.length > 0) throw new IoFailure(`${folder} is not empty`);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Links that a process left behind which was killed: they keep deleted files on the disk. */
async function removeStale(data: string): Promise<void> {
  for (const name of await readdir(data)) {
    if (!name.startsWith(STAGING)) continue;
    const holder = await readFile(join(data, name, HOLDER), 'utf8').catch(() => null);
    if (holder !== null && hasEnded(holder)) await rm(join(data, name), { recursive: true });
  }
}

/**
 * Links the files, and copies the store as it is at one moment.
 *
 * @returns keys that rows name although there is no such file
 */
async function copyMoment(data: string, staging: string, aside: string): Promise<string[]> {
  const linked = await linkAll(data, staging);
  const path = join(data, STORE_FILE);
  const writer = new DatabaseSync(path, { timeout: LOCK_PATIENCE_MS });
  const reader = new DatabaseSync(path, { readOnly: true, timeout: LOCK_PATIENCE_MS });
  const missing: string[] = [];
  try {
    if (schemaOf(reader) > SCHEMA_VERSION) throw new CodedError('STORE_NEWER');
    writer.exec('BEGIN IMMEDIATE');
    try {
      reader.exec('BEGIN');
      // The first read decides which moment it is.
      for (const { key } of namedFiles(reader)) {
        if (!linked.has(key) && !linkNow(data, staging, key)) missing.push(key);
      }
    } finally {
      writer.exec('ROLLBACK');
    }
    // Through a connection that is reading: what is written meanwhile does not count.
    await copyStore(reader, join(aside, STORE_FILE));
  } finally {
    writer.close();
    reader.close();
  }
  return missing;
}

const place = (folder: string, key: string) => join(folder, 'files', key);

/** Links every file that there is. @returns their keys */
async function linkAll(data: string, staging: string): Promise<Set<string>> {
  const linked = new Set<string>();
  const files = join(data, 'files');
  if (!(await exists(files))) return linked;
  for (const kind of ['inputs', 'results']) {
    const folder = join(files, kind);
    if (!(await exists(folder))) continue;
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const from = join(entry.parentPath, entry.name);
      const key = relative(files, from).split(sep).join('/');
      const to = place(staging, key);
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      if (await linkOrCopy(from, to)) linked.add(key);
    }
  }
  return linked;
}

/** @returns false if the file is gone */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
  }
  // A file system without links.
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** While the lock is held: at once, or not at all. */
function linkNow(data: string, staging: string, key: string): boolean {
  const to = place(staging, key);
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    linkSync(place(data, key), to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    copyFileSync(place(data, key), to);
    return true;
  }
}

/** Copies the files that the copied store names, and the keys. */
async function fill(
  data: string,
  staging: string,
  aside: string,
  missing: readonly string[],
): Promise<Manifest> {
  const { schema, named, tasks } = checkStore(aside);
  await syncPath(join(aside, STORE_FILE));
  const sums = new Map<string, Copied>([[STORE_FILE, await hashFile(join(aside, STORE_FILE))]]);
  const absent = new Set(missing);
  for (const { key } of named) {
    if (absent.has(key)) continue;
    sums.set(`files/${key}`, await copyHashed(place(staging, key), place(aside, key)));
  }
  for (const [name, copied] of await copyKeys(join(data, 'keys'), join(aside, 'keys'))) {
    sums.set(`keys/${name}`, copied);
  }
  const lines = Array.from(sums, ([name, { sha256 }]) => `${sha256}  ${name}\n`);
  const manifest: Manifest = {
    format: FORMAT,
    version: VERSION,
    schema,
    made_at: new Date().toISOString(),
    tasks,
    files: sums.size,
    bytes: Array.from(sums.values()).reduce((all, { bytes }) => all + bytes, 0),
    missing,
  };
  const written = { mode: 0o600, flush: true };
  await writeFile(join(aside, SUMS), lines.join(''), written);
  await writeFile(join(aside, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, written);
  return manifest;
}

/** Copies the signing keys, while nobody exchanges or seals them. */
async function copyKeys(from: string, to: string): Promise<Map<string, Copied>> {
  const copied = new Map<string, Copied>();
  if (!(await exists(from))) return copied;
  await locked(from, async () => {
    for (const name of await keyNames(from)) {
      copied.set(name, await copyHashed(join(from, name), join(to, name)));
    }
  });
  return copied;
}

/** Signing keys; not the names of files that are being written, nor that of the lock. */
async function keyNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const whole = entries.filter((entry) => entry.isFile() && !/\.[0-9a-f-]{36}$/.test(entry.name));
  return whole
    .map((entry) => entry.name)
    .filter((name) => /^[\w-][\w.-]*$/.test(name) && name !== LOCK);
}

export async function syncFolders(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncPath(join(entry.parentPath, entry.name));
  }
  await syncPath(root);
}
