/**
 * Files with checksums, in any blob store: the service hashes a file on its way to the store, keeps
 * length and SHA-256 in the row of its task, and compares both with every read. A file that differs
 * is a fault of the service, `FILE_DAMAGED`: it is reported and retried, never the client's. A file
 * that is made or read in a thread is hashed there: 1 MiB takes about 1.5 ms.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import type { HostStream } from '../../shared/hostTypes.ts';
import type { BlobPutOptions, BlobRef, BlobStore } from './port/blobStore.ts';

/** A whole file, and its SHA-256 in hex. */
export interface HashedFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** Returns the SHA-256 in hex: for threads, and for short files. */
export const sha256Of = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

const SLICE_BYTES = 256 * 1024;

/** Returns the hash in hex. Other work runs between two slices. */
async function hashOf(bytes: Uint8Array, name = 'sha256'): Promise<string> {
  const hash = createHash(name);
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (at > 0) await setImmediate();
    hash.update(bytes.subarray(at, at + SLICE_BYTES));
  }
  return hash.digest('hex');
}

/** @param why for the log */
const damaged = (why: string) => new CodedError('FILE_DAMAGED', { cause: new Error(why) });

const noResult = () => new CodedError('NOT_FOUND', { message: 'The result is gone' });

const otherLength = (bytes: number, ref: BlobRef) =>
  damaged(`the file has ${bytes} bytes instead of ${ref.bytes}`);

/** @throws CodedError `FILE_DAMAGED` */
export function requireHash(hash: string, ref: Pick<BlobRef, 'sha256'>): void {
  if (hash !== (ref.sha256 ?? hash)) throw damaged('the file has another SHA-256');
}

/** Stores a file. @returns its ref, with its SHA-256 */
export async function putHashed(
  blobs: BlobStore,
  key: string,
  body: HashedFile | AsyncIterable<Uint8Array>,
  options: BlobPutOptions,
): Promise<BlobRef> {
  if ('sha256' in body) {
    return { ...(await blobs.put(key, body.bytes, options)), sha256: body.sha256 };
  }
  const hash = createHash('sha256');
  const hashed = async function* () {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const ref = await blobs.put(key, hashed(), options);
  return { ...ref, sha256: hash.digest('hex') };
}

/**
 * Reads a whole task file, whose length is checked. Whoever reads its contents compares the
 * SHA-256. A file that was put into a bucket has none in its row: it is computed here.
 *
 * @returns the bytes, and the SHA-256 that they must have
 * @throws CodedError `FILE_DAMAGED`; `INTERNAL` if there is none; `BODY_TOO_LARGE` if the file was
 *   larger than that when it was stored; errors of the store
 */
export async function readTaskFile(
  blobs: BlobStore,
  ref: BlobRef,
  maxBytes: number,
): Promise<HashedFile> {
  if (ref.bytes > maxBytes) throw new CodedError('BODY_TOO_LARGE');
  const bytes = await readWhole(blobs, ref, maxBytes);
  if (ref.sha256 !== undefined) return { bytes, sha256: ref.sha256 };
  const hash = await hashOf(bytes);
  // A file that a client has put into a bucket comes without a hash. The client must not be blamed
  // for bits that flip on the way: most tags are an MD5; otherwise two reads are compared.
  if (!(await isMd5(bytes, ref.tag))) {
    const again = await hashOf(await readWhole(blobs, ref, maxBytes));
    if (again !== hash) throw damaged('two reads of the file differ');
  }
  return { bytes, sha256: hash };
}

/** Reads a whole file. @throws as `readTaskFile`; `FILE_DAMAGED` also for other contents */
export async function readChecked(
  blobs: BlobStore,
  ref: BlobRef,
  maxBytes: number,
): Promise<Uint8Array> {
  const bytes = await readWhole(blobs, ref, maxBytes);
  requireHash(await hashOf(bytes), ref);
  return bytes;
}

/** Returns false also where MD5 is not allowed. */
const isMd5 = async (bytes: Uint8Array, tag = '') =>
  `"${await hashOf(bytes, 'md5').catch(() => null)}"` === tag;

async function readWhole(blobs: BlobStore, ref: BlobRef, maxBytes: number): Promise<Uint8Array> {
  const bytes = await blobs.read(ref, maxBytes).catch((error: unknown) => {
    const code = isCodedError(error) ? error.code : undefined;
    // Clients cannot replace a file that has passed the service.
    const own = code === 'INPUT_CHANGED' && ref.sha256 && ref.key.startsWith('inputs/');
    throw own || code === 'BODY_TOO_LARGE' ? damaged('the file was replaced') : error;
  });
  if (bytes === null) throw new CodedError('INTERNAL', { message: 'The task file is gone' });
  if (bytes.length !== ref.bytes) throw otherLength(bytes.length, ref);
  return bytes;
}

/** @throws CodedError `NOT_FOUND`; `FILE_DAMAGED` for a result of another length */
export async function statChecked(blobs: BlobStore, ref: BlobRef): Promise<null> {
  const found = await blobs.stat(ref.key);
  if (found === null) throw noResult();
  if (found.bytes !== ref.bytes) throw otherLength(found.bytes, ref);
  return null;
}

/**
 * Opens a result as a stream that ends only if all bytes were right, and fails before the last ones
 * otherwise.
 *
 * @param onDamage called if the stream fails for that reason
 * @throws CodedError `NOT_FOUND`; `FILE_DAMAGED` for another length
 */
export async function openChecked(
  blobs: BlobStore,
  ref: BlobRef,
  onDamage: (error: unknown) => void,
): Promise<HostStream> {
  const found = await blobs.get(ref);
  if (found === null) throw noResult();
  if (found.bytes !== ref.bytes) {
    await found.body.cancel();
    throw otherLength(found.bytes, ref);
  }
  const reader = found.body.getReader();
  const hash = createHash('sha256');
  let seen = 0;
  const check = (isEnd: boolean) => {
    try {
      if (isEnd ? seen !== ref.bytes : seen > ref.bytes) throw otherLength(seen, ref);
      if (isEnd) requireHash(hash.digest('hex'), ref);
    } catch (error) {
      reader.cancel().catch(() => {});
      onDamage(error);
      throw error;
    }
  };
  let isWanted = true;
  /** The last piece, until more follows or the file is known to be right. */
  let held: Uint8Array | undefined;
  const next = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await reader.read();
    // A client that has gone cuts the file off, which is no damage.
    if (!isWanted) return undefined;
    const last = held;
    held = value;
    if (value) {
      hash.update(value);
      seen += value.length;
    }
    check(done);
    return last === undefined && !done ? next() : last;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const piece = await next();
        if (piece) stream.enqueue(piece);
        if (held === undefined && isWanted) stream.close();
      },
      cancel(reason) {
        isWanted = false;
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
