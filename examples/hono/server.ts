/** A Hono server with the service below /falcon, and a route of its own beside it. */
import { setTimeout } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { falcon512 } from 'falconry';
import { answerHealth, falconService } from 'falconry/middleware';
import { Hono } from 'hono';

const service = falconService({
  dataDirectory: '.falconry',
  onEvent(event) {
    if (event.type === 'task') console.log(`task ${event.taskId}: ${event.state}`);
  },
});
await service.start();

const app = new Hono();

// /healthz and /readyz, for load balancers
app.use(async (c, next) => (await answerHealth(service, c.req.raw)) ?? next());

app.route('/falcon', service.app);

/** Your own routes can use the library: this one verifies a single signature. */
app.post('/check', async (c) => {
  const { publicKey, message, signature } = await c.req.json<Record<string, string>>();
  const bytes = (base64 = '') => Buffer.from(base64, 'base64');
  const key = bytes(publicKey);
  if (key.length !== falcon512.lengths.publicKey) return c.json({ error: 'no such key' }, 400);
  return c.json({ valid: falcon512.verify(bytes(signature), bytes(message), key) });
});

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`http://localhost:${port}/falcon`);
});
// Longer than a load balancer takes to notice /readyz; 0 without one.
const drainMs = Number(process.env.DRAIN_MS ?? 0);
process.once('SIGTERM', async () => {
  service.drain(); // /readyz returns 503 from now on; requests are still served
  await setTimeout(drainMs);
  await service.stop(); // running work may finish for ten seconds; the rest continues later
  server.close();
});
