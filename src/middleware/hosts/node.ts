/**
 * The service behind Node's own types: node:http, Express, Connect, Koa, Fastify and what else
 * calls `(request, response)`. Also for a host that has read the body already.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { CodedError, isCodedError } from '../../errors.ts';
import { problemResponse } from '../problems.ts';
import { answerBelow, checkMountPath, type Mountable, type MountOptions } from './fetch.ts';

/** Answers one request; the promise resolves when the answer has been written. */
export type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** What other servers leave on their requests. */
interface HostRequest extends IncomingMessage {
  /** Express: the address as it came, and the part that mounting took off its front. */
  originalUrl?: string;
  baseUrl?: string;
  /** The bytes of the body, where the host kept them. */
  rawBody?: unknown;
  /** The body as a parser left it. */
  body?: unknown;
}

/**
 * The service as a handler of node:http's requests. Express tells the mount path by itself.
 *
 * A body that the host has read is taken from `rawBody` or `body`; one that is gone is a 500 that
 * says so.
 *
 * @throws TypeError, RangeError for a mount path that is none
 * @example
 * ```ts
 * createServer(toNodeHandler(service)).listen(3000);
 * app.use('/falcon', toNodeHandler(service)); // Express
 * ```
 */
export function toNodeHandler(service: Mountable, options: MountOptions = {}): NodeHandler {
  const mountPath = checkMountPath(options);
  const answer = answerBelow(service);
  const listen = getRequestListener(
    (request, env) => {
      const incoming = env.incoming as HostRequest;
      const mount = (incoming.originalUrl === undefined ? '' : incoming.baseUrl) || mountPath;
      return answer(isRead(incoming) ? withReadBody(request, incoming) : request, mount, env);
    },
    {
      errorHandler: answerError,
      // Mounted in somebody's process, so its globals stay as they are.
      overrideGlobalObjects: false,
      // Cuts a sender who is not done half a second after a refusal; node reads on, so that he
      // comes to see it.
      autoCleanupIncoming: false,
    },
  );
  return async (incoming, outgoing) => {
    const { originalUrl } = incoming as HostRequest;
    if (originalUrl !== undefined) incoming.url = originalUrl;
    await listen(incoming, outgoing);
  };
}

/** What cannot even become a Request is the sender's fault; all else would be ours. */
function answerError(error: unknown): Response {
  if (isCodedError(error)) return problemResponse(error);
  const broken = error instanceof Error && error.name === 'RequestError';
  return problemResponse(new CodedError(broken ? 'MALFORMED_REQUEST' : 'INTERNAL'));
}

const isRead = (incoming: HostRequest): boolean =>
  incoming.rawBody !== undefined || incoming.readableDidRead;

/** The same request with the body that the host has read. */
function withReadBody(request: Request, incoming: HostRequest): Request {
  const { method, url, signal } = request;
  if (method === 'GET' || method === 'HEAD') return request;
  const headers = new Headers(request.headers);
  // Of the body as it travelled; what is left is neither compressed nor in pieces.
  for (const name of ['transfer-encoding', 'content-encoding']) headers.delete(name);
  const body = readBody(incoming);
  if (body === null) return new Request(url, { method, headers, signal, ...lostBody() });
  headers.set('content-length', String(body.length));
  return new Request(url, { method, headers, signal, body });
}

/** The bytes of the body as near to the original as the host has them, or null. */
function readBody({ rawBody, body }: HostRequest): Uint8Array<ArrayBuffer> | null {
  for (const value of [rawBody, body]) {
    if (value instanceof Uint8Array) return new Uint8Array(value);
    if (typeof value === 'string') return new TextEncoder().encode(value);
  }
  return body === undefined ? null : new TextEncoder().encode(JSON.stringify(body));
}

/** A body that says why it cannot be read to whoever tries. */
function lostBody(): { body: ReadableStream; duplex: 'half' } {
  const body = new ReadableStream({
    pull(stream) {
      stream.error(new CodedError('BODY_CONSUMED'));
    },
  });
  return { body, duplex: 'half' };
}
