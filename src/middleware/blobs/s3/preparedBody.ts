/**
 * A body that can be sent repeatedly: its length and hash are known, since S3 needs both before the
 * first byte. Streams are kept in a temporary file without a name, so that memory holds one piece,
 * and a crash leaves nothing behind.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../../../shared/bytes.ts';
import { CodedError } from '../../../shared/errors.ts';
import type { BlobBody, BlobPutOptions } from '../port/blobStore.ts';
import { chunksOf } from '../port/chunks.ts';

export interface Parcel {
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** Returns the piece at that offset; empty at the end. */
  piece(at: number): Promise<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

const PIECE_BYTES = 64 * 1024;

/**
 * Reads a body to its end.
 *
 * @throws CodedError `BODY_TOO_LARGE` beyond the limit, `STORAGE_FULL` without room for the file;
 *   errors of the body
 */
export async function pack(
  body: BlobBody,
  { maxBytes, signal }: BlobPutOptions,
  directory = tmpdir(),
): Promise<Parcel> {
  signal?.throwIfAborted();
  if (body instanceof Uint8Array) {
    if (body.length > maxBytes) throw new CodedError('BODY_TOO_LARGE');
    return {
      bytes: body.length,
      sha256: toHex(sha256(body)),
      piece: async (at) => body.slice(at, at + PIECE_BYTES),
      close: async () => {},
    };
  }
  const file = await openNameless(directory);
  try {
    const hash = sha256.create();
    let bytes = 0;
    for await (const chunk of chunksOf(body, signal)) {
      if (bytes + chunk.length > maxBytes) throw new CodedError('BODY_TOO_LARGE');
      await write(file, chunk, bytes);
      hash.update(chunk);
      bytes += chunk.length;
    }
    return {
      bytes,
      sha256: toHex(hash.digest()),
      async piece(at) {
        const { buffer, bytesRead } = await file.read(new Uint8Array(PIECE_BYTES), {
          position: at,
        });
        return buffer.subarray(0, bytesRead);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Opens a file without a name, whose space is freed when it is closed or the process ends. */
async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `falconry-${crypto.randomUUID()}`);
  const file = await open(path, 'wx+', 0o600).catch(refuse);
  await rm(path);
  return file;
}

async function write(file: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const written = await file.write(chunk, done, chunk.length - done, at + done).catch(refuse);
    done += written.bytesWritten;
  }
}

function refuse(cause: NodeJS.ErrnoException): never {
  const full = cause.code === 'ENOSPC' || cause.code === 'EDQUOT';
  throw new CodedError(full ? 'STORAGE_FULL' : 'STORE_UNAVAILABLE', { cause });
}
