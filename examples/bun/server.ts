/** The service below /falcon of a Bun server. */
import { falconService, toFetchHandler } from 'falconry/middleware';

const service = falconService({ dataDirectory: '.falconry' });
await service.start();
const falcon = toFetchHandler(service, { mountPath: '/falcon' });

const server = Bun.serve({
  port: Number(process.env.PORT ?? 3000),
  idleTimeout: 60, // seconds; event streams may be idle for 15
  fetch(request, server) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/falcon/')) return falcon(request, server);
    return new Response('The falcon is at /falcon');
  },
});
console.log(`http://localhost:${server.port}/falcon`);

process.once('SIGTERM', async () => {
  await service.stop();
  await server.stop();
});
