/** Reads the bodies of blob stores. */
import { addAbortSignal, Readable } from 'node:stream';
import type { BlobBody } from './blobStore.ts';

/** Returns the body in chunks. Leaving the loop, or the signal, ends the source. */
export function chunksOf(
  body: BlobBody,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  signal?.throwIfAborted();
  if (body instanceof Uint8Array) return [body];
  const readable = Readable.from(body as AsyncIterable<Uint8Array>, { highWaterMark: 1 });
  return signal ? addAbortSignal(signal, readable) : readable;
}
