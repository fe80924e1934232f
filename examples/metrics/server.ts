/** The service in a node:http server, with health checks, and metrics on a port of their own. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerHealth, falconService, toNodeHandler } from 'falconry/middleware';
import { addGauges, onEvent, onPortCall, registry } from './metrics.ts';

const dataDirectory = '.falconry';
const threads = 1;
const service = falconService({ dataDirectory, threads, onEvent, onPortCall });
addGauges(service, dataDirectory, threads);
await service.start();

/** Answers `/healthz` and `/readyz`; works in Express as well. */
async function health(path: string, response: ServerResponse): Promise<void> {
  const answer = await answerHealth(service, new Request(`http://localhost${path}`));
  if (answer === null) return void response.writeHead(404).end();
  const headers = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, headers).end(await answer.text());
}

const falcon = toNodeHandler(service, { mountPath: '/falcon' });
const server = createServer((request, response) => {
  const { url = '/' } = request;
  return url.startsWith('/falcon/') ? falcon(request, response) : health(url, response);
});
// On loopback, since it needs no key.
const metrics = createServer(async (_request, response) => {
  const text = await registry.metrics();
  response.writeHead(200, { 'content-type': registry.contentType }).end(text);
});
metrics.listen(Number(process.env.METRICS_PORT ?? 9464), '127.0.0.1');
server.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://localhost:${port}/falcon`);
});
process.once('SIGTERM', async () => {
  await service.stop();
  server.close();
  metrics.close();
});
