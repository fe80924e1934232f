/** New tasks of one client by several processes at once: the order of ids, limits, counters. */
import { expect, it } from 'vitest';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { overPostgres } from '../support/postgres.ts';
import { accepted } from './support.ts';

const TASK = { clientId: 1, state: 'created', threads: 1, ttlMs: 600_000 } as const;

overPostgres('all', (server) => {
  const openStores = async () => {
    const schema = await server().newSchema();
    const make = () => createStore({ url: server().url, schema, connections: 4 });
    return [make(), make(), make()] as const;
  };

  it('shows nothing behind what a reader has seen', async () => {
    const [a, b, reader] = await openStores();
    const made: number[] = [];
    const puts = async (store: typeof a) => {
      for (let i = 0; i < 25; i++) made.push((await accepted(store.tasks.put(TASK))).id);
    };
    let writing = true;
    const written = Promise.all([a, b, a, b, a, b].map(puts)).finally(() => {
      writing = false;
    });
    const seen: number[] = [];
    for (let last = false; !last; ) {
      last = !writing;
      const page = await reader.tasks.list({ clientId: 1, limit: 1000, after: seen.at(-1) ?? 0 });
      seen.push(...page.tasks.map(({ id }) => id));
    }
    await written;
    expect(made.length).toBe(150);
    expect(seen).toEqual(made.toSorted((x, y) => x - y));
    for (const store of [a, b, reader]) await store.close();
  });

  it('keeps a client to its limits from the first task on', async () => {
    const [a, b, other] = await openStores();
    for (const clientId of [1, 2, 3]) {
      const puts = Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? a : b).tasks.put({ ...TASK, clientId }, { limits: { openTasks: 5 } }),
      );
      const outcomes = await Promise.all(puts);
      expect(outcomes.filter(({ ok }) => ok).length).toBe(5);
      const refused = outcomes.filter((outcome) => !outcome.ok);
      expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['openTasks']));
      expect((await other.tasks.usage(clientId)).openTasks).toBe(5);
    }
    const none = await a.tasks.put({ ...TASK, clientId: 4 }, { limits: { openTasks: 0 } });
    expect(none).toEqual({ ok: false, reason: 'openTasks' });
    expect(await other.tasks.usage(4)).toEqual({ openTasks: 0, storedBytes: 0 });
    for (const store of [a, b, other]) await store.close();
  });
});
