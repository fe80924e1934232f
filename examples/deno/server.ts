/** The service below /falcon of a Deno server. */
import { falconService, toFetchHandler } from 'falconry/middleware';

const service = falconService({ dataDirectory: '.falconry' });
await service.start();
const falcon = toFetchHandler(service, { mountPath: '/falcon' });

const port = Number(Deno.env.get('PORT') ?? 3000);
const server = Deno.serve({ port, onListen: () => {} }, (request, info) => {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/falcon/')) return falcon(request, info);
  return new Response('The falcon is at /falcon');
});
console.log(`http://localhost:${server.addr.port}/falcon`);

Deno.addSignalListener('SIGTERM', async () => {
  await service.stop();
  await server.shutdown();
  Deno.exit(0);
});
