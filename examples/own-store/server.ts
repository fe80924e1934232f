/** The service on the host's own stores. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { serve } from '@hono/node-server';
import { falconService } from 'falconry/middleware';
import { mapBlobs } from './files.ts';
import { mapStore } from './store.ts';

const token = process.env.TOKEN;
if (token === undefined) throw new Error('TOKEN is missing: what clients send to be let in');
const hashOf = (text: string) => createHash('sha256').update(text).digest();

const service = falconService({
  store: mapStore(),
  blobs: mapBlobs(new Map()),
  // The store has no API keys, so the host identifies callers.
  authenticate: (key) => (timingSafeEqual(hashOf(key), hashOf(token)) ? { client: 'me' } : null),
});
await service.start();

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: service.app.fetch, port }, (address) => {
  console.log(`http://localhost:${address.port}/`);
});
process.once('SIGTERM', async () => {
  await service.stop();
  server.close();
});
