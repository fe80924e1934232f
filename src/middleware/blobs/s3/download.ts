/**
 * Reads a file of the store as a stream. If the connection breaks, the stream continues from the
 * same byte, with the same version of the file.
 */
import { CodedError } from '../../../shared/errors.ts';
import type { StoredBlob } from '../port/blobStore.ts';
import {
  heard,
  MAX_TRIES,
  PassingFault,
  type Requests,
  type StoreAnswer,
  unavailable,
} from './requests.ts';

/** The rest of a file. */
interface Rest {
  readonly bytes: number;
  readonly tag: string | null;
  /** The next piece; null at the end. */
  next(): Promise<Uint8Array | null>;
  cancel(): Promise<void>;
}

/**
 * @param tag the version to read; default: any
 * @returns null if there is no such file
 * @throws CodedError `INPUT_CHANGED` for another version, `STORE_UNAVAILABLE`
 */
export async function download(
  requests: Requests,
  url: URL,
  tag?: string,
): Promise<StoredBlob | null> {
  const open = (from: number, version: string | undefined): Promise<Rest | null> => {
    const headers = {
      ...(version !== undefined && { 'if-match': version }),
      ...(from > 0 && { range: `bytes=${from}-` }),
    };
    return requests.ask({ method: 'GET', url, headers }, (answer) => restOf(answer, from));
  };
  let rest = await open(0, tag);
  if (rest === null) return null;
  const { bytes } = rest;
  const version = tag ?? rest.tag ?? undefined;
  let at = 0;
  let broken = 0;

  const next = async (): Promise<Uint8Array | null> => {
    for (;;) {
      try {
        rest ??= await open(at, version);
        if (rest === null) throw unavailable('the file was deleted while it was read');
        return await rest.next();
      } catch (error) {
        if (!(error instanceof PassingFault)) throw error;
        rest = null;
        // Without a version, the rest might belong to another file.
        if (++broken === MAX_TRIES || version === undefined) throw unavailable(error.message);
      }
    }
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const piece = await next();
        if (piece !== null) {
          at += piece.length;
          broken = 0;
        }
        if (piece === null ? at < bytes : at > bytes) {
          throw unavailable(`a file of ${bytes} bytes had ${at}`);
        }
        if (piece === null) stream.close();
        else stream.enqueue(piece);
      },
      cancel: () => rest?.cancel(),
    },
    { highWaterMark: 0 },
  );
  return { bytes, body };
}

function restOf({ status, headers, body, silence }: StoreAnswer, from: number): Rest {
  if (from > 0 && status !== 206) throw unavailable('the blob store sends no parts of files');
  const reader = body?.getReader();
  return {
    bytes: Number(headers.get('content-length') ?? 0),
    tag: headers.get('etag'),
    async next() {
      if (reader === undefined) return null;
      const { done, value } = await heard(silence, reader.read());
      return done ? null : value;
    },
    cancel: async () => reader?.cancel(),
  };
}

/**
 * Collects a whole file.
 *
 * @throws CodedError `BODY_TOO_LARGE` for more than `maxBytes`; the stream's errors
 */
export async function collect({ bytes, body }: StoredBlob, maxBytes: number): Promise<Uint8Array> {
  if (bytes > maxBytes) {
    await body.cancel();
    throw new CodedError('BODY_TOO_LARGE');
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for await (const piece of body) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
