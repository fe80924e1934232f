/** Limits connections, in total and per address. Others get a 503; none of their bytes is read. */
import type { Socket } from 'node:net';
import { addressGroup } from '../../middleware/http/address.ts';
import { problemBody } from '../../middleware/http/problems.ts';
import { newTraceId, REQUEST_ID } from '../../middleware/http/traceContext.ts';
import { CodedError } from '../../shared/errors.ts';

interface CapOptions {
  readonly total: number;
  /** For IPv6, per network of 64 bits. */
  readonly perAddress: number;
  /** Ends idle connections; called before one is refused because of the total. */
  closeIdle(): void;
  onRefused(refused: RefusedConnections): void;
}

export interface RefusedConnections {
  /** Since the last call. */
  readonly count: number;
  readonly address: string;
  readonly limit: 'total' | 'perAddress';
}

const REPORT_EVERY_MS = 1000;
const MAKE_ROOM_EVERY_MS = 100;
/** Refused connections that may still read their response; further ones are cut off. */
const MAX_LEAVING = 256;
const LEAVING_MS = 1000;
const RETRY_AFTER_SECONDS = 5;

export class ConnectionCap {
  readonly #options: CapOptions;
  readonly #sockets = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  #madeRoomMs = Number.NEGATIVE_INFINITY;
  #leaving = 0;
  #refused = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(options: CapOptions) {
    this.#options = options;
  }

  /** Returns false for a connection that may not stay, and answers it. */
  admit(socket: Socket): boolean {
    const { total, perAddress } = this.#options;
    const address = addressGroup(socket.remoteAddress ?? '');
    if ((this.#perAddress.get(address) ?? 0) >= perAddress) {
      return this.#refuse(socket, address, 'perAddress');
    }
    if (this.#sockets.size >= total) this.#makeRoom();
    if (this.#sockets.size >= total) return this.#refuse(socket, address, 'total');
    this.#sockets.add(socket);
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      const left = this.#perAddress.get(address)! - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    });
    return true;
  }

  /** Ends idle connections. This looks at all of them, so it is not done each time. */
  #makeRoom(): void {
    const nowMs = performance.now();
    if (nowMs - this.#madeRoomMs < MAKE_ROOM_EVERY_MS) return;
    this.#madeRoomMs = nowMs;
    this.#options.closeIdle();
    for (const socket of this.#sockets) if (socket.destroyed) this.#sockets.delete(socket);
  }

  #refuse(socket: Socket, address: string, limit: RefusedConnections['limit']): false {
    this.#report(address, limit);
    socket.on('error', () => {});
    if (this.#leaving >= MAX_LEAVING) socket.destroy();
    else {
      this.#leaving++;
      const timer = setTimeout(() => socket.destroy(), LEAVING_MS);
      socket.once('close', () => {
        this.#leaving--;
        clearTimeout(timer);
      });
      const error = new CodedError('OVERLOADED', { message: 'Too many connections' });
      socket.end(socketAnswer(error, { 'Retry-After': RETRY_AFTER_SECONDS }));
      // Unread bytes would make the system reset the connection before the client has read it.
      socket.resume();
    }
    return false;
  }

  #report(address: string, limit: RefusedConnections['limit']): void {
    this.#refused++;
    const nowMs = performance.now();
    if (nowMs - this.#reportedMs < REPORT_EVERY_MS) return;
    this.#options.onRefused({ count: this.#refused, address, limit });
    this.#refused = 0;
    this.#reportedMs = nowMs;
  }
}

/** The headers of a problem document that ends its connection. */
export const PROBLEM_HEADERS = {
  Connection: 'close',
  'Cache-Control': 'no-store',
  'Content-Type': 'application/problem+json',
} as const;

/** A last response for a socket without a complete request: a problem document. */
export function socketAnswer(
  error: CodedError,
  more: Readonly<Record<string, string | number>> = {},
): string {
  const problem = problemBody(error);
  const body = JSON.stringify(problem);
  const length = { 'Content-Length': Buffer.byteLength(body) };
  const headers = { ...PROBLEM_HEADERS, [REQUEST_ID]: newTraceId(), ...more, ...length };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`;
}
