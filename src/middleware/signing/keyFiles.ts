/** The files of signing keys: written whole or not at all, by one process at a time. */
import { link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../shared/errors.ts';
import { hasEnded, ownHolder } from '../stores/rules/processIdentity.ts';

/**
 * The text of a file that only its owner can read, or null if there is none.
 *
 * @throws Error if others can read it
 */
export async function readSecretFile(path: string): Promise<string | null> {
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(`${path} holds a secret key and can be read by others: chmod 600 it`);
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Writes a file of mode 0600, which is whole or absent after a crash.
 *
 * @param how `create` leaves a file alone that is there already; `replace` takes its place
 */
export async function writeSecretFile(
  path: string,
  fields: object,
  how: 'create' | 'replace',
): Promise<void> {
  const directory = join(path, '..');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const aside = `${path}.${crypto.randomUUID()}`;
  const file = await open(aside, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(fields, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    if (how === 'replace') await rename(aside, path);
    else await link(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    if (how === 'create') await unlink(aside);
  }
  await syncDirectory(directory);
}

/** Puts a file in the place of another one of its folder, which is as it was or exchanged. */
export async function moveSecretFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(join(to, '..'));
}

async function syncDirectory(path: string): Promise<void> {
  // Windows has no such thing.
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The file in the folder by which a process holds its lock. */
export const LOCK = 'lock';
const LOCK_PATIENCE_MS = 10_000;
const LOCK_LOOK_MS = 20;

/**
 * Runs the work while no other process of this machine changes files that are there. A process that
 * has died holds nothing.
 *
 * @throws CodedError `STORE_UNAVAILABLE` if another one holds the lock for more than ten seconds
 */
export async function locked<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const path = join(directory, LOCK);
  const untilMs = performance.now() + LOCK_PATIENCE_MS;
  while (!(await takeLock(path))) {
    if (performance.now() > untilMs) {
      throw new CodedError('STORE_UNAVAILABLE', { cause: new Error(`${path} is held`) });
    }
    await sleep(LOCK_LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await unlink(path);
  }
}

async function takeLock(path: string): Promise<boolean> {
  const aside = `${path}.${crypto.randomUUID()}`;
  const file = await open(aside, 'wx', 0o600);
  try {
    await file.writeFile(ownHolder());
  } finally {
    await file.close();
  }
  try {
    await link(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(aside);
  }
  const holder = await readFile(path, 'utf8').catch(() => null);
  if (holder === null || !hasEnded(holder)) return false;
  await removeLock(path, holder);
  return false;
}

/** Removes the lock of a process that has died, and not one that was taken meanwhile. */
async function removeLock(path: string, holder: string): Promise<void> {
  const aside = `${path}.${crypto.randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== holder) await link(aside, path).catch(() => {});
  await unlink(aside);
}
