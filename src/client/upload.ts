/**
 * Sends a task file and reports progress. `fetch` does not report sent bytes, so there are three
 * ways:
 *
 * - XMLHttpRequest, on pages and in their workers, unless the caller supplied `fetch`: the browser
 *   counts the bytes
 * - a stream whose chunks are counted as the host reads them (Node, Deno, Bun): ahead of the
 *   network by at most the host's buffers. Its length is sent, since some stores need it
 * - whole: no progress until the answer
 *
 * In every case, `done` equals `total` only once the server has answered.
 */
import type { Packed } from './batch.ts';
import type { Answer, Call, Http } from './http.ts';
import type { CallOptions, ClientOptions, TransferProgress } from './types.ts';

/** Options of `upload`. */
export interface UploadOptions extends CallOptions {
  /** Called when bytes have been sent; `done` is 0 again after a lost connection. */
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
}

type Way = 'xhr' | 'stream' | 'whole';

const PIECE_BYTES = 64 * 1024;
/** Statuses for a body without a length; 501 is that of S3. */
const LENGTH_WANTED = [411, 501];

/** PUTs a task file to an upload URL, without the API key. */
export async function upload(
  http: Http,
  uploadBy: NonNullable<ClientOptions['uploadBy']>,
  url: string,
  { body: file, headers }: Packed,
  { onProgress, signal }: UploadOptions,
): Promise<void> {
  const total = file.length;
  // One byte is held back, since the total is reported only when the server has answered.
  const report = (done: number) =>
    onProgress?.({ done: Math.max(0, Math.min(done, total - 1)), total });
  const call = { method: 'PUT', to: { url }, repeat: 'safe', transfer: true, signal } as const;
  const calls: Readonly<Record<Way, Call>> = {
    xhr: { ...call, headers, by: (to, all, end) => sendByXhr(to, file, all, end, report) },
    stream: {
      ...call,
      headers: { ...headers, 'content-length': String(total) },
      body: () => counted(file, report),
    },
    whole: { ...call, headers, body: file },
  };
  const send = (way: Way) => {
    onProgress?.({ done: 0, total });
    return http.send(calls[way]);
  };
  const way = onProgress ? wayOf(uploadBy, http) : 'whole';
  await send(way).catch((error) => {
    // Deno omits the length of a stream, which some stores need.
    if (way !== 'stream' || !LENGTH_WANTED.includes(error.status)) throw error;
    return send('whole');
  });
  onProgress?.({ done: total, total });
}

function wayOf(uploadBy: NonNullable<ClientOptions['uploadBy']>, http: Http): Way {
  if (uploadBy !== 'auto') return uploadBy;
  if (typeof XMLHttpRequest === 'function') return http.hasOwnFetch ? 'whole' : 'xhr';
  return takesStreams() ? 'stream' : 'whole';
}

/** Hosts without support for stream bodies convert them to text and set a content type. */
function takesStreams(): boolean {
  try {
    const init = { method: 'PUT', body: new ReadableStream(), duplex: 'half' };
    return !new Request('http://localhost/', init as RequestInit).headers.has('content-type');
  } catch {
    return false;
  }
}

function counted(file: Uint8Array, report: (done: number) => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        report(at);
        if (at >= file.length) return controller.close();
        const piece = file.slice(at, at + PIECE_BYTES);
        at += piece.length;
        controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}

function sendByXhr(
  url: string,
  file: Uint8Array,
  headers: Record<string, string>,
  signal: AbortSignal,
  report: (done: number) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const onAbort = () => request.abort();
    const fail = (message: string) => reject(new TypeError(message));
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => report(loaded);
    request.onload = () => {
      if (request.status === 0) return fail('no answer');
      resolve({
        status: request.status,
        headers: { get: (name) => request.getResponseHeader(name) },
        text: request.responseText,
      });
    };
    request.onerror = () => fail('the connection failed');
    request.onabort = () => reject(signal.reason);
    request.onloadend = () => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    request.send(file as XMLHttpRequestBodyInit);
  });
}
