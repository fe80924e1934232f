/**
 * An HTTP server for the app. Requests that are not valid HTTP, have too large headers, or take too
 * long get problem documents as well; connections are limited; `Expect: 100-continue` is answered
 * when the app reads the body; shutdown is orderly.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { addressGroup } from '../../middleware/http/address.ts';
import { holdContinue } from '../../middleware/http/continue.ts';
import { readDirectly } from '../../middleware/http/direct.ts';
import { problemBody, unseenProblem } from '../../middleware/http/problems.ts';
import { newTraceId, REQUEST_ID, requestIdOf } from '../../middleware/http/traceContext.ts';
import { CodedError, type ErrorCode } from '../../shared/errors.ts';

export interface HttpServerOptions {
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** Time limits of the headers and of a whole request; defaults 30 s and 15 minutes. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** Time for which input after a connection's last response is still read; default 1 s. */
  readonly lastLingerMs?: number;
  /** In total and from one address (for IPv6, one network of 64 bits); default: no limit. */
  readonly maxConnections?: number;
  readonly maxConnectionsPerAddress?: number;
  /** Called for connections that these limits refused, at most once a second. */
  readonly onRefused?: (refused: RefusedConnections) => void;
}

export interface RefusedConnections {
  /** Since the last call. */
  readonly count: number;
  readonly address: string;
  readonly limit: 'total' | 'perAddress';
}

export interface HttpServer {
  readonly port: number;
  readonly host: string;
  /** Accepts no more connections; those in use get `graceMs`, then all are closed. */
  close(graceMs: number): Promise<void>;
}

/** Time for which the rest of a body is read that was answered before its end. */
const LINGER_MS = 30_000;

/** Resolves when the port is open. @throws Error of the system if it cannot be opened */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { headersTimeoutMs = 30_000, requestTimeoutMs = 900_000, lastLingerMs = 1000 } = options;
  const fetch = (request: Request, env: { readonly incoming: unknown }) => {
    readDirectly(request, env.incoming as IncomingMessage);
    return options.fetch(request, env);
  };
  const listener = getRequestListener(fetch, {
    errorHandler: (error) => {
      const isMalformed = error instanceof Error && error.name === 'RequestError';
      return unseenProblem(new CodedError(isMalformed ? 'MALFORMED_REQUEST' : 'INTERNAL'));
    },
    // The clean-up would cut off a sender half a second after an error, before it has the
    // response. Node reads on.
    autoCleanupIncoming: false,
  });
  const handle = together((incoming, outgoing) => {
    // A request after the last response is only read to its end.
    if (incoming.socket.writableEnded) return void incoming.resume();
    outgoing.once('finish', () => linger(incoming));
    toOriginForm(incoming);
    const fault = hostFault(incoming);
    if (fault !== null) refuse(incoming, outgoing, 'MALFORMED_REQUEST', fault);
    else void listener(incoming, outgoing);
  });
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, headersTimeoutMs),
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
      // Refused here: Node's own 400 has no body.
      requireHostHeader: false,
    },
    handle,
  );
  server.on('checkContinue', (incoming, outgoing) => {
    // Node also accepts a list that contains the word.
    const isContinue = incoming.headers.expect?.trim().toLowerCase() === '100-continue';
    if (!isContinue) return refuse(incoming, outgoing, 'EXPECTATION_FAILED');
    holdContinue(outgoing);
    handle(incoming, outgoing);
  });
  server.on('checkExpectation', (incoming, outgoing) =>
    refuse(incoming, outgoing, 'EXPECTATION_FAILED'),
  );
  server.on('clientError', answerClientError);
  server.prependListener('connection', (socket: Socket) => lingerLast(socket, lastLingerMs));
  capConnections(server, options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return { port, host: options.host, close: (graceMs) => closeServer(server, graceMs) };
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Begins the requests that arrive in one turn of the event loop together. Their reads share a
 * transaction, their steps alternate, and a client with several of them is woken up once.
 */
function together(begin: Handle): Handle {
  let arrived: Parameters<Handle>[] = [];
  const beginAll = () => {
    const all = arrived;
    arrived = [];
    for (const [incoming, outgoing] of all) if (!outgoing.destroyed) begin(incoming, outgoing);
  };
  return (...request) => {
    if (arrived.push(request) === 1) setImmediate(beginAll);
  };
}

/** Applies the limits before `node:http` sees a new connection. */
function capConnections(server: Server, options: HttpServerOptions): void {
  const cap = new ConnectionCap(server, options);
  const accept = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (cap.admit(socket)) for (const each of accept) each.call(server, socket);
  });
}

const REPORT_EVERY_MS = 1000;
const MAKE_ROOM_EVERY_MS = 100;
/** Refused connections that may still read their response; further ones are cut off. */
const MAX_LEAVING = 256;
const LEAVING_MS = 1000;
const RETRY_AFTER_SECONDS = 5;

/** Admits connections within the limits. Others get a 503; none of their bytes is read. */
class ConnectionCap {
  readonly #server: Server;
  readonly #options: HttpServerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  #madeRoomMs = Number.NEGATIVE_INFINITY;
  #leaving = 0;
  #refused = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(server: Server, options: HttpServerOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Returns false for a connection that may not stay, and answers it. */
  admit(socket: Socket): boolean {
    const { maxConnections: total = Infinity, maxConnectionsPerAddress = Infinity } = this.#options;
    const address = addressGroup(socket.remoteAddress ?? '');
    const others = this.#perAddress.get(address) ?? 0;
    if (others >= maxConnectionsPerAddress) return this.#refuse(socket, address, 'perAddress');
    if (this.#sockets.size >= total) this.#makeRoom();
    if (this.#sockets.size >= total) return this.#refuse(socket, address, 'total');
    this.#sockets.add(socket);
    this.#perAddress.set(address, others + 1);
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
    this.#server.closeIdleConnections();
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
    this.#options.onRefused?.({ count: this.#refused, address, limit });
    this.#refused = 0;
    this.#reportedMs = nowMs;
  }
}

/** Disconnects a sender that goes on long after the response. */
function linger(incoming: IncomingMessage): void {
  if (incoming.complete) return;
  const timer = setTimeout(() => {
    if (!incoming.complete) incoming.socket.destroy();
  }, LINGER_MS).unref();
  incoming.once('close', () => clearTimeout(timer));
}

/**
 * `node:http` destroys a connection after its last response (`Connection: close`). Further input
 * then causes a reset, which can overtake the response. So only our side is ended, and input is
 * discarded until the sender ends as well or the time is up.
 */
function lingerLast(socket: Socket, lingerMs: number): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Rewrites a target with an address (`GET http://host/path`), which replaces `Host` (RFC 9112, 3.2.2). */
function toOriginForm(incoming: IncomingMessage): void {
  if (incoming.url?.startsWith('/')) return;
  const [, host, rest = ''] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(incoming.url ?? '') ?? [];
  if (host === undefined) return;
  incoming.headers.host = host;
  incoming.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** The fault of the request's `Host`, or null. */
function hostFault({ rawHeaders, headers: { host } }: IncomingMessage): string | null {
  // Node keeps only the first `Host`; a proxy may have used another one.
  const isHost = (name: string, i: number) => i % 2 === 0 && name.toLowerCase() === 'host';
  if (rawHeaders.filter(isHost).length > 1) return 'The request has several Host headers';
  // The listener accepts a host that only looks like an address: `1.2.3.4.5`.
  const isAddress = host === undefined || URL.canParse(`http://${host}`);
  return isAddress ? null : 'The Host header is not an address';
}

/** The headers of a problem document that ends its connection. */
const PROBLEM_HEADERS = {
  Connection: 'close',
  'Cache-Control': 'no-store',
  'Content-Type': 'application/problem+json',
} as const;

/** A last response for a socket without a complete request: a problem document. */
function socketAnswer(
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

function refuse(
  { headers: { traceparent } }: IncomingMessage,
  outgoing: ServerResponse,
  code: ErrorCode,
  message?: string,
): void {
  const problem = problemBody(new CodedError(code, message === undefined ? {} : { message }));
  const headers = { ...PROBLEM_HEADERS, [REQUEST_ID]: requestIdOf(traceparent) };
  outgoing.writeHead(problem.status, headers).end(JSON.stringify(problem));
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** There is no complete request yet, so the response is written to the socket. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const code = CLIENT_ERRORS[error.code ?? ''] ?? 'MALFORMED_REQUEST';
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else socket.end(socketAnswer(new CodedError(code)));
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  // Closes connections that become idle in the meantime.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}
