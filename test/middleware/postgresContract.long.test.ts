/**
 * The contract of stores, and random histories, over real servers: the newest PostgreSQL, and the
 * oldest that is supported.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeContract } from '../../src/middleware/testing/index.ts';
import {
  contraryRole,
  overPostgres,
  POOLER,
  type Pooler,
  skipLoudly,
  startPooler,
} from '../support/postgres.ts';
import { openPostgres } from './openPostgres.ts';
import { expectAgreement } from './storeHistories.ts';
import { accepted } from './support.ts';

const { program } = POOLER;
if (program === undefined) skipLoudly('PgBouncer', POOLER.source);

overPostgres('all', (server, major) => {
  storeContract({ describe, it }, `PostgreSQL ${major}`, (nowMs) =>
    openPostgres(server(), { nowMs }),
  );

  // Without `near`: a task that was lifted to the turn is no more ahead of it than others.
  it('agrees with the store in memory on every history', { timeout: 600_000 }, () =>
    expectAgreement((nowMs) => openPostgres(server(), { nowMs, near: false })),
  );

  for (const pooled of program === undefined ? [false] : [false, true]) {
    describe(`for a role with contrary settings${pooled ? ', behind PgBouncer' : ''}`, () => {
      let pooler: Pooler | undefined;
      let url: string;
      beforeAll(async () => {
        const role = await contraryRole(server());
        pooler = pooled ? await startPooler(server(), program!, { user: role }) : undefined;
        url = pooler ? `${pooler.url}&pooled=1` : server().url.replace('postgres@', `${role}@`);
      });
      afterAll(() => pooler?.stop());

      const open = (nowMs?: () => number) => openPostgres(server(), nowMs ? { nowMs } : {}, url);
      if (pooled && major > 15) storeContract({ describe, it }, 'PgBouncer', open);

      it('serves many at once, in the isolation that its statements are made for', async () => {
        const { store, other, close } = await open();
        const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 60_000 } as const;
        const line = async (each: typeof store) => {
          for (let i = 0; i < 50; i++) {
            const { id } = await accepted(each.tasks.put(task));
            await each.tasks.cancel(id, 1);
          }
        };
        await Promise.all([store, other, store, other].map(line));
        expect(await store.tasks.usage(1)).toEqual({ openTasks: 0, storedBytes: 0 });
        await close();
      });
    });
  }
});
