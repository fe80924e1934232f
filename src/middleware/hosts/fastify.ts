/**
 * The service as a Fastify plugin, without a dependency on Fastify: only the types that are used.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf } from '../http/traceContext.ts';
import { ProblemError, problemResponse } from '../problems.ts';
import type { Mountable } from './fetch.ts';
import { toNodeHandler } from './node.ts';

/** The part of a Fastify instance that is used here. */
interface Scope {
  readonly prefix: string;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  setErrorHandler(
    handler: (error: unknown, request: Raw<IncomingMessage>, reply: Reply) => unknown,
  ): unknown;
  all(path: string, handler: (request: Raw<IncomingMessage>, reply: Reply) => unknown): unknown;
}

interface Raw<T> {
  readonly raw: T;
}

interface Reply extends Raw<ServerResponse> {
  getHeaders(): Record<string, number | string | string[] | undefined>;
  hijack(): unknown;
}

/**
 * The service as a Fastify plugin; the prefix is the mount path. The host's hooks run up to and
 * including `preHandler`, and the headers that they set are kept; the service writes the answer.
 *
 * @example
 * ```ts
 * await fastify.register(toFastifyPlugin(service), { prefix: '/falcon' });
 * ```
 */
export function toFastifyPlugin(service: Mountable): (scope: Scope) => Promise<void> {
  return async (scope) => {
    const handle = toNodeHandler(service, { mountPath: scope.prefix });
    // The body stays a stream, whatever its type; the service reads and limits it.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/*', async (request, reply) => {
      takeOver(reply);
      await handle(request.raw, reply.raw);
    });
    // Fastify itself refuses a malformed content type, before any parser.
    scope.setErrorHandler(async (error, request, reply) => {
      if ((error as { code?: unknown }).code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') throw error;
      const { traceparent } = request.raw.headers;
      const id = requestIdOf(traceparent === undefined ? traceparent : String(traceparent));
      const headers = { accept: 'application/json', 'x-request-id': id };
      const response = problemResponse(new ProblemError('UNSUPPORTED_MEDIA_TYPE', { headers }));
      takeOver(reply);
      reply.raw.writeHead(response.status, Object.fromEntries(response.headers));
      reply.raw.end(await response.text());
    });
  };
}

/** From here on the service writes the answer; headers of the host's hooks are kept. */
function takeOver(reply: Reply): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}
