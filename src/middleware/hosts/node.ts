/**
 * The service for Node's types: node:http, Express, Connect, Koa, Fastify and any other host that
 * calls `(request, response)`, even if the host has already read the body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { holdContinue } from '../http/continue.ts';
import { unseenProblem } from '../http/problems.ts';
import {
  type AnswerBelow,
  answerBelow,
  checkMountPath,
  type Mountable,
  type MountOptions,
} from './fetch.ts';

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Answers one request; the promise resolves when the answer has been written. */
export interface NodeHandler extends Handle {
  /**
   * The same for clients that send `Expect: 100-continue`: they get the 100 only after key and
   * length have been checked. Without it, Node sends it at once.
   *
   * @example
   * ```ts
   * server.on('checkContinue', handler.checkContinue);
   * ```
   */
  readonly checkContinue: Handle;
}

/** Properties that frameworks add to requests. */
interface HostRequest extends IncomingMessage {
  /** Express: the original url, and the prefix that mounting removed from it. */
  originalUrl?: string;
  baseUrl?: string;
  /** The bytes of the body, if the host kept them. */
  rawBody?: unknown;
  /** The body as a parser left it. */
  body?: unknown;
}

/**
 * Returns the service as a request handler of node:http. In Express, the mount path is known.
 *
 * If the host has read the body, it is taken from `rawBody` or `body`. If it is in neither, the
 * answer is a 500 with the code `BODY_CONSUMED`.
 *
 * @throws TypeError, RangeError for an invalid mount path
 * @example
 * ```ts
 * createServer(toNodeHandler(service)).listen(3000);
 * app.use('/falcon', toNodeHandler(service)); // Express
 * ```
 */
export function toNodeHandler(service: Mountable, options: MountOptions = {}): NodeHandler {
  const mountPath = checkMountPath(options);
  const listening = listenerOf(answerBelow(service), mountPath);
  // A failure to load is reported by the first request.
  listening.catch(() => {});
  const handle: Handle = async (incoming, outgoing) => {
    const { originalUrl } = incoming as HostRequest;
    if (originalUrl !== undefined) incoming.url = originalUrl;
    const listen = await listening;
    await listen(incoming, outgoing);
  };
  const checkContinue: Handle = (incoming, outgoing) => {
    holdContinue(outgoing);
    return handle(incoming, outgoing);
  };
  return Object.assign(handle, { checkContinue });
}

const NEEDED =
  'toNodeHandler needs the packages hono (4.7 or newer) and @hono/node-server: ' +
  'npm install hono @hono/node-server';

/**
 * Loads `@hono/node-server` on demand, since it needs Hono 4.7: a host that mounts the app in its
 * own Hono may have an older one.
 */
async function listenerOf(answer: AnswerBelow, mountPath: string): Promise<Handle> {
  const { getRequestListener } = await import('@hono/node-server').catch((cause) => {
    throw new Error(NEEDED, { cause });
  });
  return getRequestListener(
    (request, env) => {
      const incoming = env.incoming as HostRequest;
      const mount = (incoming.originalUrl === undefined ? '' : incoming.baseUrl) || mountPath;
      return answer(isRead(incoming) ? withReadBody(request, incoming) : request, mount, env);
    },
    {
      errorHandler: answerError,
      // The process belongs to the host, so its globals are not replaced.
      overrideGlobalObjects: false,
      // It would disconnect a sender half a second after an error. Node reads on, so that the
      // sender gets the answer.
      autoCleanupIncoming: false,
    },
  );
}

/** Returns the answer to an error: invalid HTTP is the sender's fault, anything else is not. */
function answerError(error: unknown): Response {
  if (isCodedError(error)) return unseenProblem(error);
  const broken = error instanceof Error && error.name === 'RequestError';
  return unseenProblem(new CodedError(broken ? 'MALFORMED_REQUEST' : 'INTERNAL'));
}

const isRead = (incoming: HostRequest): boolean =>
  incoming.rawBody !== undefined || incoming.readableDidRead;

/** The same request with the body that the host has read. */
function withReadBody(request: Request, incoming: HostRequest): Request {
  const { method, url, signal } = request;
  if (method === 'GET' || method === 'HEAD') return request;
  const headers = new Headers(request.headers);
  // They describe the body on the wire; the host's copy is neither compressed nor chunked.
  for (const name of ['transfer-encoding', 'content-encoding']) headers.delete(name);
  const body = readBody(incoming);
  if (body === null) return new Request(url, { method, headers, signal, ...lostBody() });
  headers.set('content-length', String(body.length));
  return new Request(url, { method, headers, signal, body });
}

/** Returns the bytes of the body, as close to the original as possible, or null. */
function readBody({ rawBody, body }: HostRequest): Uint8Array<ArrayBuffer> | null {
  for (const value of [rawBody, body]) {
    if (value instanceof Uint8Array) return new Uint8Array(value);
    if (typeof value === 'string') return new TextEncoder().encode(value);
  }
  return body === undefined ? null : new TextEncoder().encode(JSON.stringify(body));
}

/** A body that fails with `BODY_CONSUMED` when it is read. */
function lostBody(): { body: ReadableStream; duplex: 'half' } {
  const body = new ReadableStream({
    pull(stream) {
      stream.error(new CodedError('BODY_CONSUMED'));
    },
  });
  return { body, duplex: 'half' };
}
