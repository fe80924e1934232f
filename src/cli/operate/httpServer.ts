/**
 * An HTTP server for the app: problem documents also for requests that are not valid HTTP, have too
 * large headers, or take too long; limits on connections; `Expect: 100-continue` answered when the
 * body is wanted; and an orderly shutdown.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { holdContinue } from '../../middleware/http/continue.ts';
import { problemBody, unseenProblem } from '../../middleware/http/problems.ts';
import { REQUEST_ID, requestIdOf } from '../../middleware/http/traceContext.ts';
import { CodedError, type ErrorCode } from '../../shared/errors.ts';
import { ConnectionCap, type RefusedConnections, socketAnswer } from './connectionCap.ts';

export interface HttpServerOptions {
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** Time limits of the headers and of a whole request; defaults 30 s and 15 minutes. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** For so long is read what still comes after a connection's last answer; default 1 s. */
  readonly lastLingerMs?: number;
  /** Most connections at once, in all and from one address; default: no limit. */
  readonly maxConnections?: number;
  readonly maxConnectionsPerAddress?: number;
  /** Told of connections that these limits refused, at most once a second. */
  readonly onRefused?: (refused: RefusedConnections) => void;
}

export interface HttpServer {
  readonly port: number;
  readonly host: string;
  /** Accepts no more connections; those in use get `graceMs`, then all are closed. */
  close(graceMs: number): Promise<void>;
}

/** For so long the rest of a body is read that was answered before its end. */
const LINGER_MS = 30_000;

/** Resolves when the port is open. @throws Error of the system if it cannot be opened */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { headersTimeoutMs = 30_000, requestTimeoutMs = 900_000 } = options;
  const listener = getRequestListener(options.fetch, {
    errorHandler: answerError,
    // It would cut off a sender half a second after an error. Node reads on, so that the sender
    // gets the answer.
    autoCleanupIncoming: false,
  });
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // It came after the last answer, and is only read to its end.
    if (incoming.socket.writableEnded) return void incoming.resume();
    outgoing.once('finish', () => linger(incoming));
    const fault = hostFault(incoming);
    if (fault !== null) refuse(incoming, outgoing, 'MALFORMED_REQUEST', fault);
    else void listener(incoming, outgoing);
  };
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, headersTimeoutMs),
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
      // We refuse it ourselves: node's own 400 has no body.
      requireHostHeader: false,
    },
    handle,
  );
  server.on('checkContinue', (incoming, outgoing) => {
    if (!isContinue(incoming)) return refuse(incoming, outgoing, 'EXPECTATION_FAILED');
    holdContinue(outgoing);
    handle(incoming, outgoing);
  });
  server.on('checkExpectation', (incoming, outgoing) =>
    refuse(incoming, outgoing, 'EXPECTATION_FAILED'),
  );
  server.on('clientError', answerClientError);
  const { lastLingerMs = 1000 } = options;
  server.prependListener('connection', (socket: Socket) => lingerLast(socket, lastLingerMs));
  capConnections(server, options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return { port, host: options.host, close: (graceMs) => closeServer(server, graceMs) };
}

/** Puts the limits before what `node:http` does with a new connection. */
function capConnections(server: Server, options: HttpServerOptions): void {
  const cap = new ConnectionCap({
    total: options.maxConnections ?? Number.POSITIVE_INFINITY,
    perAddress: options.maxConnectionsPerAddress ?? Number.POSITIVE_INFINITY,
    closeIdle: () => server.closeIdleConnections(),
    onRefused: options.onRefused ?? (() => {}),
  });
  const accept = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (cap.admit(socket)) for (const each of accept) each.call(server, socket);
  });
}

/** Node takes a list that has the word in it. */
const isContinue = ({ headers }: IncomingMessage): boolean =>
  headers.expect?.trim().toLowerCase() === '100-continue';

/** Gives up a sender who goes on and on although he has been answered. */
function linger(incoming: IncomingMessage): void {
  if (incoming.complete) return;
  const timer = setTimeout(() => {
    if (!incoming.complete) incoming.socket.destroy();
  }, LINGER_MS);
  // A connection that is gone already is no reason to go on.
  timer.unref();
  incoming.once('close', () => clearTimeout(timer));
}

/**
 * `node:http` destroys a connection after its last answer (`Connection: close`). What the sender
 * still sends is then met by a reset, which can overtake the answer. So our side is only ended, and
 * what comes is read and thrown away until the sender ends as well, or has had time enough.
 */
function lingerLast(socket: Socket, lingerMs: number): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** What is wrong with the address that the request is for; null if nothing is. */
function hostFault(incoming: IncomingMessage): string | null {
  if (countHosts(incoming) > 1) return 'The request has several Host headers';
  return isNoAddress(incoming) ? 'The Host header is not an address' : null;
}

/** Node keeps the first `Host` only; something in front of it may have gone by another one. */
const countHosts = ({ rawHeaders }: IncomingMessage): number =>
  rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;

/** The listener lets a host through that only looks like an address: `1.2.3.4.5`. */
const isNoAddress = ({ headers: { host } }: IncomingMessage): boolean =>
  host !== undefined && !URL.canParse(`http://${host}`);

function refuse(
  { headers: { traceparent } }: IncomingMessage,
  outgoing: ServerResponse,
  code: ErrorCode,
  message?: string,
): void {
  const problem = problemBody(new CodedError(code, message === undefined ? {} : { message }));
  const headers = {
    connection: 'close',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    [REQUEST_ID]: requestIdOf(traceparent),
  };
  outgoing.writeHead(problem.status, headers).end(JSON.stringify(problem));
}

function answerError(error: unknown): Response {
  const broken = error instanceof Error && error.name === 'RequestError';
  return unseenProblem(new CodedError(broken ? 'MALFORMED_REQUEST' : 'INTERNAL'));
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** There is no complete request yet, so the answer is written to the socket. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(socketAnswer(new CodedError(CLIENT_ERRORS[error.code ?? ''] ?? 'MALFORMED_REQUEST')));
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  // Connections that become idle meanwhile are not noticed otherwise.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}
