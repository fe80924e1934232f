/**
 * Files in one directory of this machine:
 *
 *   <path>/tmp/<random>                  being written
 *   <path>/inputs/<random>.json          task files
 *   <path>/results/<attempt>/<id>.json   result files
 *
 * A file is written under `tmp`, synced, renamed to its place, and the folder of that place is synced: at every moment
 * there is either no file under the key or the whole one, and it stays after a power cut.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { CodedError } from '../../errors.ts';
import type { BlobBody, BlobPutOptions, BlobRef, BlobStore } from './blobStore.ts';
import { checkSignedUrl, signUrl } from './signedUrls.ts';

export interface DirectoryOptions {
  /** The folder; it is made if missing, readable by its owner only. */
  readonly path: string;
  /** Signs the urls: 32 random bytes that stay the same, from `TaskStore.secret`, say. Asked once, on first use. */
  readonly secret: () => Promise<Uint8Array>;
  /** For tests. */
  readonly nowMs?: () => number;
}

/** The only keys there are; nothing else ever becomes a path. */
const KEY = /^(inputs\/[0-9a-f-]{36}|results\/\d{1,16}\/\d{1,16})\.json$/;

const TEMPORARY = 'tmp';

const READ_BYTES = 64 * 1024;

/** Keys asked about in one go while cleaning. */
const CLEAN_BATCH = 256;

/** @returns a blob store on the folder; touches the disk at the first use only. */
export function directoryBlobs({
  path: root,
  secret,
  nowMs = Date.now,
}: DirectoryOptions): BlobStore {
  let secretOnce: Promise<Uint8Array> | undefined;
  const theSecret = () => {
    // A failure is not kept: the next caller asks again.
    secretOnce ??= secret().catch((error: unknown) => {
      secretOnce = undefined;
      throw error;
    });
    return secretOnce;
  };
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new RangeError('"key" is not the key of a blob');
    return join(root, key);
  };

  return {
    urls: 'served',

    async put(key, body, options) {
      const place = pathOf(key);
      const temporary = join(root, TEMPORARY, randomUUID());
      await makeFolder(dirname(temporary));
      const bytes = await writeWhole(temporary, body, options);
      try {
        await makeFolder(dirname(place));
        await rename(temporary, place);
        await syncFolder(dirname(place));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      return { key, bytes };
    },

    async get(key) {
      const path = pathOf(key);
      const found = await unlessMissing(stat(path));
      return found && { bytes: found.size, body: streamOf(path) };
    },

    async read(key, maxBytes) {
      const file = await openIfThere(pathOf(key));
      if (!file) return null;
      try {
        if ((await file.stat()).size > maxBytes) throw new CodedError('BODY_TOO_LARGE');
        return await file.readFile();
      } finally {
        await file.close();
      }
    },

    async stat(key): Promise<BlobRef | null> {
      const found = await unlessMissing(stat(pathOf(key)));
      return found && { key, bytes: found.size };
    },

    async delete(key) {
      await rm(pathOf(key), { force: true });
    },

    async uploadUrl(taskId, options) {
      return signUrl(await theSecret(), { method: 'PUT', taskId }, options);
    },

    async resultUrl(key, options) {
      pathOf(key);
      return signUrl(await theSecret(), { method: 'GET', key }, options);
    },

    async checkUrl(right, query) {
      return checkSignedUrl(await theSecret(), right, query, nowMs());
    },

    async clean({ olderThanMs, referenced }) {
      const beforeMs = nowMs() - olderThanMs;
      let removed = 0;
      for await (const file of oldFiles(root, TEMPORARY, beforeMs)) {
        await rm(join(root, file), { force: true });
        removed++;
      }
      let batch: string[] = [];
      const removeBatch = async () => {
        const needed = await referenced(batch);
        for (const key of batch) {
          if (needed.has(key)) continue;
          await rm(join(root, key), { force: true });
          removed++;
        }
        batch = [];
      };
      for (const folder of ['inputs', 'results']) {
        for await (const key of oldFiles(root, folder, beforeMs)) {
          if (!KEY.test(key)) continue;
          batch.push(key);
          if (batch.length === CLEAN_BATCH) await removeBatch();
        }
      }
      await removeBatch();
      return removed;
    },
  };
}

/** Writes and syncs a new file; takes it away again when anything fails. @returns its length. */
async function writeWhole(
  path: string,
  body: BlobBody,
  { maxBytes, signal }: BlobPutOptions,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(body, signal)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new CodedError('BODY_TOO_LARGE');
      await file.writeFile(chunk);
    }
    await file.sync();
    await file.close();
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
  return bytes;
}

/** The body in chunks, one at a time; leaving the loop ends the source, and so does the signal. */
function chunksOf(
  body: BlobBody,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  signal?.throwIfAborted();
  if (body instanceof Uint8Array) return [body];
  const readable = Readable.from(body as AsyncIterable<Uint8Array>, { highWaterMark: 1 });
  return signal ? addAbortSignal(signal, readable) : readable;
}

/**
 * The file in chunks. It is opened at the first read and closed at the end of the stream: a body that nobody reads (of
 * an answer to HEAD, say) holds nothing open.
 */
function streamOf(path: string): ReadableStream<Uint8Array> {
  let file: FileHandle | undefined;
  let cancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        file ??= await open(path, 'r');
        // Cancelled while it was opened: nobody was there yet to close it.
        if (cancelled) return file.close();
        const reading = file.read(new Uint8Array(READ_BYTES));
        const { bytesRead, buffer } = await reading.catch(async (error: unknown) => {
          await file?.close();
          throw error;
        });
        if (cancelled) return;
        if (bytesRead > 0) return stream.enqueue(buffer.subarray(0, bytesRead));
        await file.close();
        stream.close();
      },
      async cancel() {
        cancelled = true;
        await file?.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Makes the folder and syncs every parent that got a new entry. */
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
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Every file below the folder that was last written at or before then, as a path relative to the root. */
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

function openIfThere(path: string): Promise<FileHandle | null> {
  return unlessMissing(open(path, 'r'));
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
