/** The service with its tasks in the host's database; files stay in a directory. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { serve } from '@hono/node-server';
import { falconService } from 'falconry/middleware';
import { SqlStore } from './store.ts';

const token = process.env.TOKEN;
if (token === undefined) throw new Error('TOKEN is missing: what clients send to be let in');
const hashOf = (text: string) => createHash('sha256').update(text).digest();

const store = new SqlStore({ path: process.env.TASKS ?? 'tasks.sqlite' });
const service = falconService({
  store: { tasks: store, quotas: store },
  dataDirectory: '.falconry',
  // The store has no API keys, so the host identifies callers.
  authenticate: (key) => (timingSafeEqual(hashOf(key), hashOf(token)) ? { client: 'me' } : null),
  signing: false,
});
await service.start(); // opens the store

const me = await store.clientNamed('me');
await store.setQuota(me, { openTasks: 100 });

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: service.app.fetch, port }, (address) => {
  console.log(`http://localhost:${address.port}/`);
});
process.once('SIGTERM', async () => {
  await service.stop();
  await store.close(); // a store is closed by the code that created it
  server.close();
});
