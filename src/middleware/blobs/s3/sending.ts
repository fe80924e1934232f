/**
 * Sends a request with a body. `fetch` of Node takes a stream as fast as it gives, and keeps what
 * the line does not take: a hundred bodies of 32 MiB would all be in memory. `node:http` waits.
 */
import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Silence } from './idleTimeout.ts';
import type { Parcel } from './preparedBody.ts';

/** @returns the answer, as `fetch` has it */
export function sendBody(
  url: URL,
  headers: Headers,
  body: Parcel,
  silence: Silence,
  signal: AbortSignal,
): Promise<Response> {
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const options = { method: 'PUT', headers: Object.fromEntries(headers), signal };
    const request = send(url, options, (answer) => resolve(responseOf(answer)));
    request.on('error', reject);
    const pieces = Readable.from(piecesOf(body, silence), { highWaterMark: 1 });
    // An answer that came before the end of the body counts more than the line that broke then.
    pipeline(pieces, request).catch(reject);
  });
}

/** Each piece that is taken breaks the silence. */
async function* piecesOf(body: Parcel, silence: Silence): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.bytes; ) {
    const piece = await body.piece(at);
    if (piece.length === 0) throw new Error('the body is shorter than it was');
    at += piece.length;
    silence.start();
    yield piece;
  }
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const status = answer.statusCode!;
  if (status === 204 || status === 304) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(streamOf(answer), { status, headers });
}

/** Its bytes. `Readable.toWeb` may throw where nobody can catch it, if its reader leaves early. */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = answer[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const { done, value } = await pieces.next();
        if (done) stream.close();
        else stream.enqueue(value);
      },
      cancel: () => void answer.destroy(),
    },
    { highWaterMark: 0 },
  );
}
