/**
 * A proxy in front of a real HTTP server that spoils requests: each takes the next fault of a list,
 * and once the list is empty, what is chosen for it.
 */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { type OpenServer, openServer } from './openServer.ts';

export type Fault =
  | 'pass'
  /** Answered with this status; the server is not asked. */
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Never answered. */
  | 'stall'
  /** The line breaks before the server is asked. */
  | 'cut'
  /** The server is asked, and the line breaks before its answer. */
  | 'cutAfter'
  /** The line breaks in the middle of the first piece of the answer's body. */
  | 'half'
  /** The line breaks, or falls silent, after so many bytes of the answer's body. */
  | { readonly cutAt: number }
  | { readonly stallAt: number }
  /** Passes, so much later. */
  | { readonly delayMs: number }
  /** Passes, with a bit flipped in the first piece of the body of a PUT, or of any other answer. */
  | { readonly flipAt: number }
  /** Passes, with this header of the answer changed. */
  | { readonly header: string; readonly value: string };

export interface FaultyProxy extends OpenServer {
  /** The faults of the next requests. */
  readonly faults: Fault[];
  /** The fault of a request such as `GET /path`, if the list is empty; they pass by default. */
  choose: (line: string, headers: IncomingHttpHeaders) => Fault;
  /** What was asked: `GET /path`, and the headers that were sent along. */
  readonly seen: { readonly line: string; readonly headers: IncomingHttpHeaders }[];
}

export async function openFaultyProxy(server: string): Promise<FaultyProxy> {
  const listener = await openServer((incoming, answer) => {
    const line = `${incoming.method} ${incoming.url}`;
    const { headers } = incoming;
    const fault = proxy.faults.shift() ?? proxy.choose(line, headers);
    proxy.seen.push({ line, headers });
    handle(server, fault, incoming, answer);
  });
  const proxy: FaultyProxy = { ...listener, faults: [], seen: [], choose: () => 'pass' };
  return proxy;
}

function handle(
  server: string,
  fault: Fault,
  incoming: IncomingMessage,
  answer: ServerResponse,
): void {
  if (fault === 'stall') return void incoming.resume();
  if (fault === 'cut') return void incoming.socket.destroy();
  if (typeof fault === 'object' && 'status' in fault) {
    const { status, headers, body = '' } = fault;
    incoming.resume().on('end', () => answer.writeHead(status, headers).end(body));
    return;
  }
  if (typeof fault === 'object' && 'delayMs' in fault) {
    return void setTimeout(() => handle(server, 'pass', incoming, answer), fault.delayMs);
  }
  const { method = 'GET', headers, url } = incoming;
  const flips = typeof fault === 'object' && 'flipAt' in fault ? fault.flipAt : null;
  // The host is part of the signature, so it is passed on as it came.
  const asked = request(new URL(url!, server), { method, headers, agent: false }, (told) => {
    if (fault === 'cutAfter') {
      told.resume().on('end', () => incoming.socket.destroy());
      return;
    }
    const changed = typeof fault === 'object' && 'header' in fault;
    const own = changed ? { [fault.header]: fault.value } : {};
    answer.writeHead(told.statusCode!, { ...told.headers, ...own });
    answer.flushHeaders();
    if (flips !== null && method !== 'PUT') told.once('data', (piece) => flip(piece, flips));
    send(fault, told, answer);
  });
  asked.on('error', () => incoming.socket.destroy());
  answer.on('close', () => asked.destroy());
  if (flips !== null && method === 'PUT') incoming.once('data', (piece) => flip(piece, flips));
  incoming.pipe(asked);
}

function flip(piece: Buffer, at: number): void {
  piece[at % piece.length]! ^= 1 << (at & 7);
}

function send(fault: Fault, told: IncomingMessage, answer: ServerResponse): void {
  told.on('error', () => answer.socket?.destroy());
  if (fault === 'half') {
    told.once('data', (chunk: Buffer) => {
      answer.write(chunk.subarray(0, chunk.length >> 1), () => answer.socket?.destroy());
    });
    return;
  }
  const limits = typeof fault === 'object' && ('cutAt' in fault || 'stallAt' in fault);
  if (!limits) return void told.pipe(answer);
  let left = 'cutAt' in fault ? fault.cutAt : fault.stallAt;
  if ('cutAt' in fault && left === 0) return void answer.socket?.destroy();
  told.on('data', (piece: Buffer) => {
    if (left === 0) return;
    const part = piece.subarray(0, left);
    left -= part.length;
    answer.write(part, () => {
      if (left === 0 && 'cutAt' in fault) answer.socket?.destroy();
    });
  });
}
