/**
 * An HTTP server for the app: problem documents also for requests that are not valid HTTP, have too
 * large headers, or take too long; and an orderly shutdown.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { CodedError, type ErrorCode } from '../errors.ts';
import { problemBody, problemResponse } from '../middleware/problems.ts';

export interface HttpServerOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** Time limits of the headers and of a whole request; defaults 30 s and 15 minutes. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

export interface HttpServer {
  readonly port: number;
  readonly host: string;
  /** Accepts no more connections; those in use get `graceMs`, then all are closed. */
  close(graceMs: number): Promise<void>;
}

/** Resolves when the port is open. @throws Error of the system if it cannot be opened */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { headersTimeoutMs = 30_000, requestTimeoutMs = 900_000 } = options;
  const listener = getRequestListener(options.fetch, {
    errorHandler: answerError,
    // It would cut off a sender half a second after an error. Node reads on, so that the sender
    // gets the answer.
    autoCleanupIncoming: false,
  });
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
    (incoming, outgoing) => {
      if (countHosts(incoming) > 1) refuseHost(outgoing, 'The request has several Host headers');
      else if (isNoAddress(incoming)) refuseHost(outgoing, 'The Host header is not an address');
      else void listener(incoming, outgoing);
    },
  );
  server.on('clientError', answerClientError);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return { port, host: options.host, close: (graceMs) => closeServer(server, graceMs) };
}

/** Node keeps the first `Host` only; something in front of it may have gone by another one. */
const countHosts = ({ rawHeaders }: IncomingMessage): number =>
  rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;

/** The listener lets a host through that only looks like an address: `1.2.3.4.5`. */
const isNoAddress = ({ headers: { host } }: IncomingMessage): boolean =>
  host !== undefined && !URL.canParse(`http://${host}`);

function refuseHost(outgoing: ServerResponse, message: string): void {
  const problem = problemBody(new CodedError('MALFORMED_REQUEST', { message }));
  const headers = { 'content-type': 'application/problem+json', connection: 'close' };
  outgoing.writeHead(problem.status, headers).end(JSON.stringify(problem));
}

function answerError(error: unknown): Response {
  const broken = error instanceof Error && error.name === 'RequestError';
  return problemResponse(new CodedError(broken ? 'MALFORMED_REQUEST' : 'INTERNAL'));
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
  const problem = problemBody(
    new CodedError(CLIENT_ERRORS[error.code ?? ''] ?? 'MALFORMED_REQUEST'),
  );
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\n` +
      'Connection: close\r\nContent-Type: application/problem+json\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
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
