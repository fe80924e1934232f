/**
 * The baseline: Hono on node:http with one route that does nothing, in its own process, or in as
 * many processes behind it as the argument says.
 */
import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const processes = Number(process.argv[2] ?? 0);
const tell = ({ port }: { readonly port: number }) =>
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);

if (cluster.isPrimary && processes > 0) {
  for (let i = 0; i < processes; i++) cluster.fork();
  let listening = 0;
  cluster.on('listening', (_, address) => {
    if (++listening === processes) tell(address);
  });
  process.once('SIGTERM', () => cluster.disconnect());
} else {
  const app = new Hono();
  app.get('/', (c) => c.json({ ok: true }));
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (address) => {
    if (cluster.isPrimary) tell(address as AddressInfo);
  });
  process.once('SIGTERM', () => server.close());
}
