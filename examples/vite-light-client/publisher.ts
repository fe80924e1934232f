/**
 * Collects signed reports, has the service aggregate them, and publishes the result with the page
 * that verifies it.
 */
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { falcon512 } from 'falconry';
import { createClient } from 'falconry/client';
import { falconService } from 'falconry/middleware';
import { Hono } from 'hono';
import { type Batch, messageOf, toBase64 } from './batch.ts';

// Stations that sign their reports. In reality each has its own key, and the publisher none.
const stations = Array.from({ length: 10 }, () => falcon512.keygen());
const reports = Array.from({ length: 200 }, (_, i) => {
  return { signer: i % stations.length, text: `${(15 + (i % 7) / 10).toFixed(1)} degrees` };
});
const items = reports.map(({ signer, text }) => {
  const { publicKey, secretKey } = stations[signer]!;
  const message = messageOf(signer, text);
  return { publicKey, message, signature: falcon512.sign(message, secretKey) };
});

// The service runs in this process and needs no port.
const service = falconService({ dataDirectory: '.falconry' });
await service.start();
const { key } = await service.apiKeys.create({ name: 'publisher' });
const client = createClient({
  baseUrl: 'http://localhost',
  apiKey: key,
  fetch: async (url, init) => service.app.fetch(new Request(url, init)),
});
const { process_id } = await client.submit(items);
await client.waitFor(process_id);
const { aggregate } = await client.result(process_id, { statements: items });
await service.stop();

const batch: Batch = { reports, aggregate: toBase64(aggregate!) };
const app = new Hono();
app.get('/keys', (c) => c.json(stations.map(({ publicKey }) => toBase64(publicKey))));
app.get('/batch', (c) => c.json(batch));
app.use(serveStatic({ root: 'dist' }));

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`http://localhost:${port}`);
});
process.once('SIGTERM', () => server.close());
