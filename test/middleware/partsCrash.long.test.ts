/**
 * A task with parts survives kill -9 at each of its steps: its client submits again under the same
 * key, every part is made, and the merged proof is that of the whole list.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { createApiKey } from '../../src/middleware/identity/apiKeys.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { Child } from './crashChild.ts';
import { it } from './support.ts';
import { makeItems } from './triples.ts';

// Two parts, each of which takes a worker about a second.
const OPTIONS = { maxBodyBytes: 180_000 } as const;
const COUNT = 60;

/** Rows at the moment of a kill. */
const STEPS: readonly [name: string, rows: string, least: number][] = [
  ['a part is announced', `parent IS NOT NULL AND state = 'created'`, 1],
  ['a part waits', `parent IS NOT NULL AND state = 'waiting'`, 1],
  ['a part is verified', `parent IS NOT NULL AND state = 'verifying'`, 1],
  ['a part is proved', `parent IS NOT NULL AND state = 'aggregating'`, 1],
  ['a part is done', `parent IS NOT NULL AND state = 'completed'`, 1],
  ['the list is closed', `parts IS NOT NULL AND submitted = 1`, 1],
  ['all parts are done', `parts IS NOT NULL AND parts_done = parts AND submitted = 1`, 1],
  ['the merge checks the parts', `parts IS NOT NULL AND state = 'verifying'`, 1],
  ['the merge makes the proof', `parts IS NOT NULL AND state = 'aggregating'`, 1],
];

it('loses no part, killed at each step', { timeout: 600_000 }, async ({ folder }) => {
  const path = join(folder, STORE_FILE);
  const store = sqliteStore({ path });
  const { key: apiKey } = await createApiKey(store.apiKeys, { name: 'crash test' });
  await store.close();
  const db = new DatabaseSync(path);
  db.exec(`
    CREATE TABLE completions (id INTEGER NOT NULL);
    CREATE TRIGGER count_completions AFTER UPDATE OF state ON tasks
      WHEN new.state = 'completed' AND new.parent IS NULL
      BEGIN INSERT INTO completions VALUES (new.id); END`);
  const count = (where: string, ids: readonly string[] = []) => {
    const others = ids.length > 0 ? `AND coalesce(parent, id) NOT IN (${ids})` : '';
    const sql = `SELECT count(*) AS rows FROM tasks WHERE ${where} ${others}`;
    return Number(db.prepare(sql).get()!.rows);
  };
  const items = makeItems(COUNT, 4);
  const done: string[] = [];
  let child = new Child(folder, OPTIONS);
  await child.loaded;
  await child.open();
  for (const [name, rows, least] of STEPS) {
    const idempotencyKey = name.replaceAll(' ', '-');
    const submit = () => {
      const client = createClient({ baseUrl: child.address, apiKey, retries: false });
      const accepted = client.submit(items.values(), { idempotencyKey });
      return { client, accepted };
    };
    const { accepted: cut } = submit();
    cut.catch(() => {});
    while (count(rows, done) < least) await sleep(1);
    await child.kill();
    child = new Child(folder, OPTIONS);
    await child.loaded;
    await child.open();
    const { client, accepted } = submit();
    const record = await client.waitFor(await accepted);
    expect(record, name).toMatchObject({ batch_size: COUNT, format: 'merged', parts: { done: 2 } });
    const { process_id: id } = record;
    await client.result(id, { statements: items });
    done.push(id);
  }
  await child.kill();
  const times = db.prepare('SELECT count(*) AS times FROM completions GROUP BY id').all();
  expect(times.map((row) => row.times)).toEqual(STEPS.map(() => 1));
  // What is left of parts is swept at the next start.
  expect(count(`parent IS NOT NULL AND state <> 'cancelled'`)).toBe(0);
  expect(count('parent IS NULL')).toBe(STEPS.length);
  db.close();
});
