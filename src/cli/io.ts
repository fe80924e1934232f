/** Files and standard streams: whole inputs in, whole outputs out. */
import { randomBytes } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { link, open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Io, IoFailure, UsageError } from './command.ts';

/** More than any file of a sensible batch, less than the longest string of the engine. */
export const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/**
 * Bytes of a file, or of standard input for `-`.
 *
 * @throws IoFailure when it cannot be read or holds more than 256 MiB
 */
export async function readInput(path: string, io: Io): Promise<Uint8Array> {
  const tooLong = () => new IoFailure(`${path} holds more than ${MAX_INPUT_BYTES} bytes`);
  if (path !== '-') {
    try {
      const { size } = await stat(path);
      if (size > MAX_INPUT_BYTES) throw tooLong();
      return await readFile(path);
    } catch (error) {
      throw asIoFailure(`cannot read ${path}`, error);
    }
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of io.stdin) {
      length += part.length;
      if (length > MAX_INPUT_BYTES) throw tooLong();
      parts.push(part);
    }
  } catch (error) {
    throw asIoFailure('cannot read standard input', error);
  }
  return Buffer.concat(parts, length);
}

/**
 * Writes a file, or to standard output when there is no path or it is `-`. A file is whole or not there: it is written
 * aside and put in place when it is complete.
 *
 * @param secret makes the file readable by its owner alone, and never replaces another
 * @throws IoFailure when it cannot be written
 */
export async function writeOutput(
  path: string | undefined,
  data: string | Uint8Array,
  io: Io,
  secret = false,
): Promise<void> {
  if (isStdout(path)) {
    io.stdout.write(data);
    return;
  }
  try {
    if (await isSpecial(path)) await writeThrough(path, data);
    else await writeAside(secret ? path : await target(path), data, secret);
  } catch (error) {
    throw asIoFailure(`cannot write ${path}`, error);
  }
}

/** A device or a pipe (`/dev/null`, `/dev/stdout`, `>(gzip)`) is written to, and never replaced by a file. */
async function isSpecial(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    return !found.isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Where a link points to: the link stays one. */
async function target(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

async function writeThrough(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}

async function writeAside(path: string, data: string | Uint8Array, secret: boolean): Promise<void> {
  const suffix = randomBytes(6).toString('hex');
  const aside = join(dirname(path), `.${basename(path)}.${suffix}`);
  const release = whenStopped(() => unlinkSync(aside));
  try {
    const file = await open(aside, 'wx', secret ? 0o600 : await modeOf(path));
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    if (secret) await link(aside, path);
    else await rename(aside, path);
  } finally {
    release();
    await unlink(aside).catch(() => {});
  }
}

/** Rights of the file that is about to be replaced; those of a new one otherwise. */
async function modeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch {
    return 0o666;
  }
}

/**
 * Calls `undo` when a signal ends the process meanwhile; the process ends by that signal all the same.
 *
 * @returns a function that calls it off
 */
export function whenStopped(undo: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const release = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    release();
    try {
      undo();
    } catch {
      // Not there yet, or not any more.
    }
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return release;
}

/** Whether an output option means standard output. */
export function isStdout(path: string | undefined): path is undefined | '-' {
  return path === undefined || path === '-';
}

/** Standard input can be read once. */
export function refuseTwiceStdin(paths: readonly (string | undefined)[]): void {
  if (paths.filter((path) => path === '-').length > 1) {
    throw new UsageError('standard input (-) can be given only once');
  }
}

const CAUSES: Readonly<Record<string, string>> = Object.freeze({
  ENOENT: 'no such file or folder',
  EACCES: 'no permission',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENOSPC: 'no space left',
  EROFS: 'the disk is read-only',
  ENOTDIR: 'a part of the path is no folder',
});

/** The failure of a call of the system in words. */
export function asIoFailure(what: string, error: unknown): IoFailure {
  if (error instanceof IoFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause';
  return new IoFailure(`${what}: ${CAUSES[code] ?? code}`, { cause: error });
}
