/** HTTP by hand, for requests that no client would send. */
import { connect } from 'node:net';
import type { Answer } from './support.ts';

export interface RawRequest {
  /** Sent as they are, one after the other, with this pause between them. */
  readonly parts: readonly (string | Uint8Array)[];
  readonly pauseMs?: number;
  /** What to do after the last part: wait for the answer, close our side, or cut the connection. */
  readonly ending?: 'wait' | 'end' | 'cut';
  /** The answer has no body, whatever it says of its length. */
  readonly head?: boolean;
}

/** The head of a request with a key. */
export const requestHead = (method: string, path: string, key: string, ...headers: string[]) =>
  [
    `${method} ${path} HTTP/1.1`,
    ...['Host: falcon.test', `Authorization: ${key}`, ...headers, '', ''],
  ].join('\r\n');

/**
 * @returns the answer, or null when the connection ended without one; of a stream of events only
 * the head
 */
export function sendRaw(port: number, request: RawRequest): Promise<Answer | null> {
  const { parts, pauseMs = 0, ending = 'wait', head = false } = request;
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer and no end within 100 s to ${String(parts[0]).slice(0, 300)}`));
    }, 100_000);
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(received), head));
    };
    socket.on('data', (chunk) => {
      received.push(chunk);
      if (parseAnswer(Buffer.concat(received), head)) done();
    });
    socket.on('end', done);
    socket.on('error', done);
    socket.on('connect', async () => {
      for (const part of parts) {
        if (socket.destroyed) return;
        socket.write(part);
        if (pauseMs > 0) await new Promise((next) => setTimeout(next, pauseMs));
      }
      if (ending === 'end') socket.end();
      if (ending === 'cut') socket.destroy();
      if (ending === 'cut') done();
    });
  });
}

/** The first whole answer in these bytes, or null. */
function parseAnswer(bytes: Buffer, head: boolean): Answer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  // Only told on the way: the answer itself follows.
  if (status < 200) return parseAnswer(bytes.subarray(headEnd + 4), head);
  const text = bodyOf(bytes.subarray(headEnd + 4), status, headers, head);
  if (text === null) return null;
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // Told by the test.
  }
  return { status, headers, text, json };
}

function bodyOf(bytes: Buffer, status: number, headers: Headers, head: boolean): string | null {
  const events = headers.get('content-type') === 'text/event-stream';
  if (head || events || status === 204 || status === 304) return '';
  if (headers.get('transfer-encoding') === 'chunked') return unchunked(bytes);
  const length = Number(headers.get('content-length') ?? 0);
  return bytes.length < length ? null : bytes.subarray(0, length).toString('utf8');
}

/** The text of a chunked body, or null when its last chunk is not there yet. */
function unchunked(bytes: Buffer): string | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const length = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (length === 0) return Buffer.concat(pieces).toString('utf8');
    const from = lineEnd + 2;
    if (bytes.length < from + length + 2) return null;
    pieces.push(bytes.subarray(from, from + length));
    at = from + length + 2;
  }
}
