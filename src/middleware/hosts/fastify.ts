/** The service as a Fastify plugin, without a dependency on Fastify. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mountable } from './fetch.ts';
import { nodeHandler } from './node.ts';

/** The part of a Fastify instance that is used here. */
interface Scope {
  readonly prefix: string;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  addHook(
    name: 'preParsing',
    hook: (
      request: { headers: Headers },
      reply: unknown,
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ) => void,
  ): unknown;
  all(path: string, handler: (request: Raw<IncomingMessage>, reply: Reply) => unknown): unknown;
}

/** Setting them does not change the raw request, which the service reads. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

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
    // A prefix may have parameters, and may be matched in another case.
    const segments = scope.prefix.replace(/\/+$/, '').split('/').length;
    const handle = nodeHandler(
      service,
      (path, prefix) => prefix + path.split('/').slice(0, segments).join('/'),
    );
    // The body stays a stream, whatever its type; the service reads and limits it.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    // Fastify would reject a malformed content type before the host's last hooks run. So it is
    // hidden from Fastify, and the service rejects it after those hooks.
    scope.addHook('preParsing', (request, _reply, payload, done) => {
      if (!MEDIA_TYPE.test(String(request.headers['content-type']))) {
        request.headers = { ...request.headers, 'content-type': undefined };
      }
      done(null, payload);
    });
    scope.all('/*', async (request, reply) => {
      takeOver(reply);
      await handle(request.raw, reply.raw);
    });
  };
}

/** Type and subtype, both tokens (RFC 9110, section 8.3.1), as Fastify accepts them. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[\t ]*(?:;|$)/;

/** Leaves the answer to the service, but keeps the headers of the host's hooks. */
function takeOver(reply: Reply): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}
