/**
 * Files in a directory of this machine:
 *
 *   <path>/tmp/<random>                  being written
 *   <path>/inputs/<random>.json          task files
 *   <path>/results/<attempt>/<id>.json   result files
 *   <path>/parts/<id>/<SHA-256>.json     results of parts
 *
 * A file is written to `tmp`, synced, and renamed to its place, whose directory is then synced. At
 * every moment there is either no file under a key or the whole one, and it survives a power cut.
 * If there is no room for a file, nothing of it is left.
 */
import { fsync, type StatsFs } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CodedError, isCodedError } from '../../../shared/errors.ts';
import { withTimeout } from '../../../shared/wait.ts';
import type {
  BlobBody,
  BlobPutOptions,
  BlobRef,
  BlobStore,
  StoredBlob,
} from '../port/blobStore.ts';
import { chunksOf } from '../port/chunks.ts';

/** The handles of Yarn PnP have no `sync`. */
const sync = promisify(fsync);

interface DirectoryOptions {
  /** The directory; created if missing, readable only by its owner. */
  readonly path: string;
  /**
   * Free space that task files leave for the database; results may use half of it, since an ended
   * task frees its file. Default 512 MiB, or 5 % of a smaller disk.
   */
  readonly minFreeBytes?: number | undefined;
  /** For tests. */
  readonly nowMs?: () => number;
}

/** The only valid keys; nothing else ever becomes a path. */
const KEY =
  /^(inputs\/[0-9a-f-]{36}|results\/\d{1,16}\/\d{1,16}|parts\/\d{1,16}\/[0-9a-f]{64})\.json$/;

const TEMPORARY = 'tmp';

const READ_BYTES = 64 * 1024;

/** Written bytes between two checks of the free space. */
const LOOK_BYTES = 1024 * 1024;

/** Time limit of a ping. */
const PING_MS = 1000;

/** Keys per query while cleaning. */
const CLEAN_BATCH = 256;

/** Returns a blob store in the directory. Its first use creates the directory. */
export function directoryBlobs(options: DirectoryOptions): BlobStore {
  const { path: root, minFreeBytes, nowMs = Date.now } = options;
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new RangeError('"key" is not the key of a blob');
    return join(root, key);
  };
  return {
    async put(key, body, limits) {
      const place = pathOf(key);
      const share = key.startsWith('inputs/') ? 1 : 0.5;
      const requireRoom = (bytes: number) => requireFree(root, minFreeBytes, share, bytes);
      return putFile(root, { key, place }, body, limits, requireRoom).catch(nameFullDisk);
    },
    get: async ({ key }) => openBlob(pathOf(key)),
    read: async ({ key }, maxBytes) => readFile(pathOf(key), maxBytes),
    async stat(key): Promise<BlobRef | null> {
      const found = await unlessMissing(stat(pathOf(key)));
      return found && { key, bytes: found.size };
    },
    delete: async (key) => rm(pathOf(key), { force: true }),
    ping: () => ping(root, minFreeBytes),
    clean: ({ olderThanMs, referenced }) => clean(root, nowMs() - olderThanMs, referenced),
  };
}

/** Returns the free space to keep: as given, else 512 MiB, or 5 % of a disk below 10 GiB. */
export function lowWaterMark({ blocks, bsize }: StatsFs, minFreeBytes?: number): number {
  return minFreeBytes ?? Math.min(512 * 1024 * 1024, 0.05 * blocks * bsize);
}

/** @throws CodedError `STORAGE_FULL` if less than this share of the mark is free after `bytes` */
async function requireFree(
  root: string,
  minFreeBytes: number | undefined,
  share: number,
  bytes: number,
): Promise<void> {
  const disk = await statfs(root);
  if (disk.bavail * disk.bsize - bytes < share * lowWaterMark(disk, minFreeBytes)) {
    throw new CodedError('STORAGE_FULL');
  }
}

/** System codes for a full disk, a quota and a file size limit. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Converts the system's errors for a full disk or quota to STORAGE_FULL. */
function nameFullDisk(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (!FULL.includes(code ?? '')) throw error;
  throw new CodedError('STORAGE_FULL', { cause: error });
}

async function ping(root: string, minFreeBytes: number | undefined): Promise<void> {
  const look = makeFolder(root).then(() => requireFree(root, minFreeBytes, 1, 0));
  try {
    const late = () => new CodedError('STORE_UNAVAILABLE');
    await withTimeout(look.catch(nameFullDisk), PING_MS, late);
  } catch (error) {
    if (isCodedError(error)) throw error;
    throw new CodedError('STORE_UNAVAILABLE', { cause: error });
  }
}

async function putFile(
  root: string,
  { key, place }: { readonly key: string; readonly place: string },
  body: BlobBody,
  options: BlobPutOptions,
  requireRoom: (bytes: number) => Promise<void>,
): Promise<BlobRef> {
  const temporary = join(root, TEMPORARY, crypto.randomUUID());
  await makeFolder(dirname(temporary));
  await requireRoom(body instanceof Uint8Array ? body.length : 0);
  const bytes = await writeWhole(temporary, body, options, requireRoom);
  try {
    await makeFolder(dirname(place));
    await rename(temporary, place);
    await syncFolder(dirname(place));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return { key, bytes };
}

async function readFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
  const file = await unlessMissing(open(path, 'r'));
  if (!file) return null;
  try {
    if ((await file.stat()).size > maxBytes) throw new CodedError('BODY_TOO_LARGE');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Removes files last written before that time that no task needs. @returns their number */
async function clean(
  root: string,
  beforeMs: number,
  referenced: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<number> {
  let removed = 0;
  const remove = async (file: string) => {
    await rm(join(root, file), { force: true });
    removed++;
  };
  for await (const file of oldFiles(root, TEMPORARY, beforeMs)) await remove(file);
  let batch: string[] = [];
  const removeBatch = async () => {
    const needed = await referenced(batch);
    for (const key of batch) if (!needed.has(key)) await remove(key);
    batch = [];
  };
  for (const folder of ['inputs', 'results', 'parts']) {
    for await (const key of oldFiles(root, folder, beforeMs)) {
      if (!KEY.test(key)) continue;
      batch.push(key);
      if (batch.length === CLEAN_BATCH) await removeBatch();
    }
  }
  await removeBatch();
  return removed;
}

/** Writes and syncs a new file; removes it if anything fails. @returns its length */
async function writeWhole(
  path: string,
  body: BlobBody,
  { maxBytes, signal }: BlobPutOptions,
  requireRoom: (bytes: number) => Promise<void>,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  let lookAtBytes = LOOK_BYTES;
  try {
    for await (const chunk of chunksOf(body, signal)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new CodedError('BODY_TOO_LARGE');
      if (bytes >= lookAtBytes) {
        await requireRoom(chunk.length);
        lookAtBytes = bytes + LOOK_BYTES;
      }
      await file.writeFile(chunk);
    }
    await sync(file.fd);
    await file.close();
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
  return bytes;
}

/** Opens the file at once, so that it can still be read after its removal. */
async function openBlob(path: string): Promise<StoredBlob | null> {
  const file = await unlessMissing(open(path, 'r'));
  if (!file) return null;
  try {
    return { bytes: (await file.stat()).size, body: streamOf(file) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns the file in chunks; closes it at the end of the stream, or on cancellation. */
function streamOf(file: FileHandle): ReadableStream<Uint8Array> {
  let cancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        // With options, since the handles of Yarn PnP read nothing by default.
        const reading = file.read(new Uint8Array(READ_BYTES), { length: READ_BYTES });
        const { bytesRead, buffer } = await reading.catch(async (error: unknown) => {
          await file.close();
          throw error;
        });
        if (cancelled) return;
        if (bytesRead > 0) return stream.enqueue(buffer.subarray(0, bytesRead));
        await file.close();
        stream.close();
      },
      async cancel() {
        cancelled = true;
        await file.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Creates the directory and syncs every parent with a new entry. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await sync(handle.fd);
  } finally {
    await handle.close();
  }
}

/** Yields files below the directory last written by then, as paths relative to the root. */
async function* oldFiles(root: string, folder: string, beforeMs: number): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(join(root, folder)));
  if (!entries) return;
  for await (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* oldFiles(root, path, beforeMs);
    else {
      const found = await unlessMissing(stat(join(root, path)));
      if (found && found.mtimeMs <= beforeMs) yield path;
    }
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
