/**
 * The service for Node's types: node:http, Express, Connect, Koa, Fastify and any other host that
 * calls `(request, response)`, even if the host has already read the body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { pathOf } from '../http/address.ts';
import { holdContinue } from '../http/continue.ts';
import { readDirectly } from '../http/direct.ts';
import { unseenProblem } from '../http/problems.ts';
import {
  type AnswerBelow,
  answerBelow,
  checkMountPath,
  isBelow,
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
  /** Express, Connect and many others: the url before mounting removed a prefix, which is `url`. */
  originalUrl?: string;
  /** Express only: the prefix. */
  baseUrl?: string;
  /** The bytes of the body, if the host kept them. */
  rawBody?: unknown;
  /** The body as a parser left it. */
  body?: unknown;
}

/**
 * Returns the service as a request handler of node:http. Hosts that remove the mount path from the
 * url of the request and keep the original, such as Express and Connect, need no `mountPath`.
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
  return nodeHandler(service, (path, prefix) => {
    if (mountPath === '') return prefix;
    if (isBelow(prefix + path, mountPath)) return mountPath;
    return isBelow(path, mountPath) || prefix === '' ? prefix + mountPath : prefix;
  });
}

/** Returns the mount path, from what the host left of the path of a request, and removed. */
type MountOf = (path: string, prefix: string) => string;

/** Like `toNodeHandler`, with a mount path for each request. */
export function nodeHandler(service: Mountable, mountOf: MountOf): NodeHandler {
  const mounts = new WeakMap<IncomingMessage, string>();
  const listening = listenerOf(answerBelow(service), (incoming) => mounts.get(incoming)!);
  // A failure to load is reported by the first request.
  listening.catch(() => {});
  const handle: Handle = async (incoming, outgoing) => {
    const { url = '', originalUrl = '' } = incoming as HostRequest;
    const prefix = removedPrefix(incoming as HostRequest);
    mounts.set(incoming, mountOf(pathOf(url), prefix));
    const listen = await listening;
    // If the host removed the whole path, the slash is its own.
    incoming.url = prefix + (prefix !== '' && prefix === pathOf(originalUrl) ? url.slice(1) : url);
    await listen(incoming, outgoing);
  };
  const checkContinue: Handle = (incoming, outgoing) => {
    holdContinue(outgoing);
    return handle(incoming, outgoing);
  };
  return Object.assign(handle, { checkContinue });
}

/** Returns what the host removed from the front of the path of a request. */
function removedPrefix({ url = '', originalUrl = url, baseUrl = '' }: HostRequest): string {
  const [path, whole] = [pathOf(url), pathOf(originalUrl)];
  // Hosts add a slash if nothing is left. An original that ends otherwise was rewritten.
  if (path === '/' && !whole.endsWith('/')) return whole;
  return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : baseUrl;
}

const NEEDED =
  'toNodeHandler needs the packages hono (4.7 or newer) and @hono/node-server: ' +
  'npm install hono @hono/node-server';

/**
 * Loads `@hono/node-server` on demand, since it needs Hono 4.7: a host that mounts the app in its
 * own Hono may have an older one.
 */
async function listenerOf(
  answer: AnswerBelow,
  mountOf: (incoming: HostRequest) => string,
): Promise<Handle> {
  const { getRequestListener } = await import('@hono/node-server').catch((cause) => {
    throw new Error(NEEDED, { cause });
  });
  return getRequestListener(
    (request, env) => {
      const incoming = env.incoming as HostRequest;
      const read = isRead(incoming);
      if (!read) readDirectly(request, incoming);
      const whole = read ? withReadBody(request, incoming) : request;
      return answer(whole, mountOf(incoming), env);
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
