/**
 * The service below /falcon of a Fastify server, with the host's tokens and log, and a route that
 * verifies single signatures.
 */
import { falcon512 } from 'falconry';
import { falconService, type Logger, toFastifyPlugin } from 'falconry/middleware';
import { fastify } from 'fastify';

/** The users by token; yours come from a database. */
const tokens = new Map(
  (process.env.TOKENS ?? '')
    .split(',')
    .filter((pair) => pair.includes('='))
    .map((pair) => pair.split('=') as [token: string, name: string]),
);

const app = fastify({
  logger: {
    serializers: {
      // The query of a signed URL must not be logged.
      req: ({ method, url, host, ip }) => {
        return { method, url: url.split('?', 1)[0], host, remoteAddress: ip };
      },
    },
  },
});

// Fastify's logger expects the fields first.
const logger: Logger = {
  debug: (message, fields) => app.log.debug(fields ?? {}, message),
  info: (message, fields) => app.log.info(fields ?? {}, message),
  warn: (message, fields) => app.log.warn(fields ?? {}, message),
  error: (message, fields) => app.log.error(fields ?? {}, message),
};

const service = falconService({
  dataDirectory: '.falconry',
  logger,
  authenticate(_key, request) {
    const client = tokens.get(request.headers.get('x-access-token') ?? '');
    return client === undefined ? null : { client };
  },
});
await service.start();
app.addHook('onClose', () => service.stop());
await app.register(toFastifyPlugin(service), { prefix: '/falcon' });

interface Signed {
  publicKey: string;
  message: string;
  signature: string;
}

const base64 = { type: 'string', contentEncoding: 'base64', maxLength: 8192 };
const body = {
  type: 'object',
  required: ['publicKey', 'message', 'signature'],
  properties: { publicKey: base64, message: base64, signature: base64 },
};
app.post<{ Body: Signed }>('/check', { schema: { body } }, async (request, reply) => {
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const publicKey = bytes(request.body.publicKey);
  if (publicKey.length !== falcon512.lengths.publicKey) return reply.code(400).send('no such key');
  const { message, signature } = request.body;
  return { valid: falcon512.verify(bytes(signature), bytes(message), publicKey) };
});

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log(`${address}/falcon`);
process.once('SIGTERM', () => app.close());
