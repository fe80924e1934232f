/** HTTP by hand, for requests that no client would send. */
import { connect } from 'node:net';
import type { Answer } from './support.ts';

export interface RawRequest {
  /** Sent as they are, one after the other, with this pause between them. */
  readonly parts: readonly (string | Uint8Array)[];
  readonly pauseMs?: number;
  /** What to do after the last part: wait for the answer, close our side, or cut the connection. */
  readonly ending?: 'wait' | 'end' | 'cut';
}

/** @returns the answer, or null when the connection ended without one */
export function sendRaw(port: number, request: RawRequest): Promise<Answer | null> {
  const { parts, pauseMs = 0, ending = 'wait' } = request;
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error('no answer and no end within 20 s'));
    }, 20_000);
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(received)));
    };
    socket.on('data', (chunk) => {
      received.push(chunk);
      if (parseAnswer(Buffer.concat(received))) done();
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

/** The first whole answer in these bytes (they all announce their length), or null. */
function parseAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers.get('content-length') ?? 0);
  const body = bytes.subarray(headEnd + 4);
  if (body.length < length) return null;
  const text = body.subarray(0, length).toString('utf8');
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // Told by the test.
  }
  return { status: Number(statusLine.split(' ')[1]), headers, text, json };
}
