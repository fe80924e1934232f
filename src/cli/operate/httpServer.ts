/**
 * An HTTP server for the app. Requests that are not valid HTTP, have too large headers, or take too
 * long get problem documents as well; connections are limited; `Expect: 100-continue` is answered
 * when the app reads the body; shutdown is orderly.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { holdContinue } from '../../middleware/http/continue.ts';
import { problemBody, unseenProblem } from '../../middleware/http/problems.ts';
import { REQUEST_ID, requestIdOf } from '../../middleware/http/traceContext.ts';
import { CodedError, type ErrorCode } from '../../shared/errors.ts';
import {
  ConnectionCap,
  PROBLEM_HEADERS,
  type RefusedConnections,
  socketAnswer,
} from './connectionCap.ts';

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
  /** Most connections, in total and from one address; default: no limit. */
  readonly maxConnections?: number;
  readonly maxConnectionsPerAddress?: number;
  /** Called for connections that these limits refused, at most once a second. */
  readonly onRefused?: (refused: RefusedConnections) => void;
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
  const { headersTimeoutMs = 30_000, requestTimeoutMs = 900_000 } = options;
  const listener = getRequestListener(options.fetch, {
    errorHandler: answerError,
    // The clean-up would cut off a sender half a second after an error, before it has the
    // response. Node reads on.
    autoCleanupIncoming: false,
  });
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // A request after the last response is only read to its end.
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
      // Refused here: Node's own 400 has no body.
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

/** Applies the limits before `node:http` sees a new connection. */
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

/** Node also accepts a list that contains the word. */
const isContinue = ({ headers }: IncomingMessage): boolean =>
  headers.expect?.trim().toLowerCase() === '100-continue';

/** Disconnects a sender that goes on long after the response. */
function linger(incoming: IncomingMessage): void {
  if (incoming.complete) return;
  const timer = setTimeout(() => {
    if (!incoming.complete) incoming.socket.destroy();
  }, LINGER_MS);
  // The timer alone must not keep the process alive.
  timer.unref();
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

/** The fault of the request's `Host`, or null. */
function hostFault({ rawHeaders, headers: { host } }: IncomingMessage): string | null {
  // Node keeps only the first `Host`; a proxy may have used another one.
  const isHost = (name: string, i: number) => i % 2 === 0 && name.toLowerCase() === 'host';
  if (rawHeaders.filter(isHost).length > 1) return 'The request has several Host headers';
  // The listener accepts a host that only looks like an address: `1.2.3.4.5`.
  const isAddress = host === undefined || URL.canParse(`http://${host}`);
  return isAddress ? null : 'The Host header is not an address';
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

function answerError(error: unknown): Response {
  const broken = error instanceof Error && error.name === 'RequestError';
  return unseenProblem(new CodedError(broken ? 'MALFORMED_REQUEST' : 'INTERNAL'));
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** There is no complete request yet, so the response is written to the socket. */
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
  // Closes connections that become idle in the meantime.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}
