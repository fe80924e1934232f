/** The baseline: Hono on node:http with one route that does nothing, in its own process. */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const app = new Hono();
app.get('/', (c) => c.json({ ok: true }));

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (address) => {
  const { port } = address as AddressInfo;
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
});
process.once('SIGTERM', () => server.close());
