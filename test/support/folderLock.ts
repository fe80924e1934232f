/** One process at a time in a folder; a process that has died holds nothing. */
import { link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded, ownHolder } from '../../src/middleware/stores/rules/processIdentity.ts';

/** Does the work while no other process does its own here; waits for as long as that takes. */
export async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'lock');
  while (!(await takeLock(path))) await sleep(50);
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
