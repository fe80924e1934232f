/** Files and standard streams: inputs whole or in pieces; outputs are complete or absent. */
import { closeSync, createReadStream, fsync, openSync, statSync, unlinkSync } from 'node:fs';
import { link, open, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { flag, type Io, IoFailure, UsageError } from './command.ts';

/** More than any batch needs, and less than the longest string that the engine supports. */
export const MAX_INPUT_BYTES = 256 * 1024 * 1024;

const PIECE_BYTES = 256 * 1024;

/** Reads a file, or standard input for `-`. @throws IoFailure, also for more than 256 MiB */
export async function readInput(path: string, io: Io): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of streamInput(path, io)) {
    length += part.length;
    if (length > MAX_INPUT_BYTES) {
      throw new IoFailure(`${path} is larger than ${MAX_INPUT_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

/** Reads a file, or standard input for `-`, of any length, in pieces. @throws IoFailure */
export async function* streamInput(path: string, io: Io): AsyncGenerator<Uint8Array, void> {
  try {
    yield* path === '-' ? io.stdin : createReadStream(path, { highWaterMark: PIECE_BYTES });
  } catch (error) {
    throw asIoFailure(`cannot read ${path === '-' ? 'standard input' : path}`, error);
  }
}

/** A secret file is readable only by its owner; with `create`, it never replaces another file. */
type Secrecy = 'create' | 'replace' | false;

/**
 * Writes to a file, or to standard output if the path is absent or `-`. A temporary file beside it
 * is moved into place once it is complete. @throws IoFailure
 */
export async function writeOutput(
  path: string | undefined,
  data: string | Uint8Array,
  io: Io,
  secret: Secrecy = false,
): Promise<void> {
  if (typeof data !== 'string') refuseBinary(path, io);
  if (isStdout(path)) {
    io.stdout.write(data);
    return;
  }
  try {
    if (isSpecial(path)) return await writeFile(path, data);
    // Writes to the target of a link, so that the link remains.
    const target = secret === 'create' ? path : await realpath(path).catch(() => path);
    await writeAside(target, data, secret);
  } catch (error) {
    throw asIoFailure(`cannot write ${path}`, error);
  }
}

/** Devices and pipes (`/dev/null`, `>(gzip)`) are written to, never replaced by a file. */
function isSpecial(path: string): boolean {
  const found = find(path);
  if (found?.isDirectory()) throw Object.assign(new Error('a directory'), { code: 'EISDIR' });
  return found !== undefined && !found.isFile();
}

const find = (path: string) => statSync(path, { throwIfNoEntry: false });

async function writeAside(path: string, data: string | Uint8Array, secret: Secrecy): Promise<void> {
  const aside = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  const release = whenStopped(() => unlinkSync(aside));
  try {
    // The mode of the file that is replaced, or that of a new file.
    const mode = secret ? 0o600 : (find(path)?.mode ?? 0o666) & 0o777;
    const file = await open(aside, 'wx', mode);
    try {
      await file.writeFile(data);
      await promisify(fsync)(file.fd); // the handles of Yarn PnP have no `sync`
    } finally {
      await file.close();
    }
    if (secret === 'create') await link(aside, path);
    else await rename(aside, path);
  } finally {
    release();
    await unlink(aside).catch(() => {});
  }
}

/** Calls `undo` if a signal ends the process before the returned function is called. */
function whenStopped(undo: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const release = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    release();
    try {
      undo();
    } catch {
      // Not there yet, or gone already.
    }
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return release;
}

export function isStdout(path: string | undefined): path is undefined | '-' {
  return path === undefined || path === '-';
}

/** Whether an output is a terminal, also by a name such as `/dev/stdout` or `/dev/tty`. */
export function isTerminal(path: string | undefined, { stdout }: Pick<Io, 'stdout'>): boolean {
  if (isStdout(path)) return stdout.isTTY === true;
  try {
    if (!find(path)?.isCharacterDevice()) return false;
    const fd = openSync(path, 'w');
    try {
      return isatty(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false; // what can't be opened is reported when it is written
  }
}

/** @throws UsageError if raw bytes would be written to a terminal */
export function refuseBinary(path: string | undefined, io: Pick<Io, 'stdout'>): void {
  if (!isTerminal(path, io)) return;
  throw new UsageError('raw bytes would be written to this terminal: give a file, or use a pipe');
}

/** The option of every command that can print a secret. */
export const SHOW = flag('show', 'print the secret even if standard output is a terminal');

/**
 * Terminal output stays in the scrollback, where others may read it. Call this before the secret is
 * made. @throws UsageError if the output is a terminal and `--show` is not given
 */
export function refuseOnTerminal(
  { io, flag }: { readonly io: Pick<Io, 'stdout'>; flag(name: string): boolean },
  what: string,
  instead: string,
  path?: string,
): void {
  if (flag('show') || !isTerminal(path, io)) return;
  throw new UsageError(`${what} would be shown on this terminal: ${instead}, or --show`);
}

const CAUSES: Readonly<Record<string, string>> = Object.freeze({
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  EEXIST: 'it already exists',
  ENOSPC: 'no space left on the disk',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'part of the path is not a directory',
});

/** A failed system call as a failure that users understand. */
export function asIoFailure(what: string, error: unknown): IoFailure {
  if (error instanceof IoFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  return new IoFailure(`${what}: ${CAUSES[code] ?? code}`, { cause: error });
}

/** Each package manager words its own text, so missing packages are recognised by these codes. */
const NOT_FOUND: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** Returns whether an import failed because this optional package cannot be found from here. */
export function isMissing(error: unknown, name: string): boolean {
  if (!NOT_FOUND.includes((error as NodeJS.ErrnoException).code)) return false;
  try {
    import.meta.resolve(name);
    return false;
  } catch {
    return true;
  }
}
