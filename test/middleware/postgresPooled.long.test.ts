/** The store behind PgBouncer, which lends connections by the transaction. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskNews } from '../../src/middleware/stores/port/taskStore.ts';
import { migrate } from '../../src/middleware/stores/postgres/migrate.ts';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { overPostgres, POOLER, type Pooler, skipLoudly, startPooler } from '../support/postgres.ts';
import { accepted, until } from './support.ts';

const { program } = POOLER;
if (program === undefined) skipLoudly('PgBouncer', POOLER.source);

const TASK = { state: 'waiting', threads: 1, ttlMs: 60_000 } as const;
const IGNORING = { ignore_startup_parameters: 'options' };

/** The refusal of an address that leads to a pooler without saying so. */
const misled = (advice: string) => ({
  code: 'STORE_UNAVAILABLE',
  cause: expect.objectContaining({
    message: expect.stringMatching(`^the address leads to a pooler: ${advice} \\(08P01: `),
  }),
});

describe.skipIf(program === undefined)('behind PgBouncer', () => {
  overPostgres('newest', (server) => {
    let pooler: Pooler;
    beforeAll(async () => {
      pooler = await startPooler(server(), program!);
    });
    afterAll(() => pooler?.stop());

    it.each([false, true])('says so if it was not told, ignoring: %s', async (ignored) => {
      const schema = await server().newSchema();
      const own = await startPooler(server(), program!, ignored ? IGNORING : {});
      const store = createStore({ url: own.url, schema });
      const attempts = [() => store.open(), () => store.tasks.ping(), () => store.tasks.get(1)];
      for (const attempt of attempts) {
        await expect(attempt()).rejects.toMatchObject(misled('add \\?pooled=1'));
      }
      await store.close();
      const ofServer = misled('give that of the server itself');
      await expect(migrate(own.url, { schema })).rejects.toMatchObject(ofServer);
      const told = createStore({ url: `${own.url}&pgbouncer=true`, schema });
      await told.open();
      await told.close();
      await own.stop();
    });

    it('hands each task to one worker, and hears of changes past the pooler', async () => {
      const schema = await server().newSchema();
      const url = `${pooler.url}&pooled=1`;
      const deaf = createStore({ url, schema, connections: 6 });
      const store = createStore({ url, schema, directUrl: server().url, connections: 6 });
      const heard: TaskNews[] = [];
      deaf.tasks.watch(() => {});
      store.tasks.watch((news) => heard.push(news));
      await store.open();
      const put = async (clientId: number) => {
        return (await accepted(deaf.tasks.put({ ...TASK, clientId }))).id;
      };
      const ids = await Promise.all(Array.from({ length: 60 }, (_, i) => put(i % 5)));
      const work = async (by: typeof store): Promise<number[]> => {
        const done: number[] = [];
        for (;;) {
          const { task } = await by.tasks.claim({ leaseMs: 60_000, threads: 1 });
          if (task === null) return done;
          await by.tasks.extend(task.id, 1, { leaseMs: 60_000, state: 'aggregating' });
          const blob = { key: `results/1/${task.id}.json`, bytes: 1 };
          await by.tasks.finish(task.id, 1, { blob, format: 'bundle', aggregateBytes: 1 });
          done.push(task.id);
        }
      };
      const done = await Promise.all([store, deaf, store, deaf].map(work));
      expect(done.flat().sort()).toEqual(ids.toSorted());
      const { createdAt } = (await store.tasks.get(ids[0]!))!;
      expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(60_000);
      const later = await put(9);
      await until(() => heard.some(({ id }) => id === later));
      const listening = `SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN "${schema}"'`;
      expect((await server().query(listening)).length).toBe(1);
      await store.close();
      await deaf.close();
    });
  });
});
