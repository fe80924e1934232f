/** Transactions that share a commit keep their own outcomes. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { createGroupCommit } from '../../src/middleware/stores/sqlite/groupCommit.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { it } from './support.ts';

let db: DatabaseSync;
/** Another connection to the same file. */
let other: DatabaseSync;
let write: ReturnType<typeof createGroupCommit>['write'];
it.beforeEach(({ folder, defer }) => {
  db = new DatabaseSync(join(folder, 'db'), { timeout: 50 });
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER PRIMARY KEY)');
  other = new DatabaseSync(join(folder, 'db'));
  ({ write } = createGroupCommit(db, 50));
  for (const each of [db, other]) defer(() => each.close());
});

const insert = (x: number) => () => db.prepare('INSERT INTO t VALUES (?)').run(x).changes;
const rows = () => Array.from(db.prepare('SELECT x FROM t ORDER BY x').iterate(), ({ x }) => x);

describe('a group', () => {
  it('is one transaction, and is on the disk when the first outcome is heard', async () => {
    const seen: unknown[] = [];
    const look = () => seen.push(other.prepare('SELECT count(*) AS n FROM t').get()!.n);
    const outcomes = [1, 2, 3].map((x) => write(insert(x)).then(look));
    expect(rows()).toEqual([]);
    await Promise.all(outcomes);
    expect(seen).toEqual([3, 3, 3]);
  });

  it('undoes alone what throws', async () => {
    const half = write(() => {
      insert(2)();
      throw new Error('no');
    });
    const writes = [write(insert(1)), half, write(insert(1)), write(insert(3))];
    const outcomes = await Promise.allSettled(writes);
    const [kept, undone] = ['fulfilled', 'rejected'];
    expect(outcomes.map(({ status }) => status)).toEqual([kept, undone, undone, kept]);
    expect(rows()).toEqual([1, 3]);
    await expect(write(insert(3))).rejects.toThrow(/UNIQUE/);
    expect(await write(insert(4))).toBe(1);
  });

  it('is refused as a whole when the file is locked, and can be tried again', async () => {
    other.exec('BEGIN IMMEDIATE');
    const refused = await Promise.allSettled([write(insert(1)), write(insert(2))]);
    for (const outcome of refused) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'STORE_UNAVAILABLE', retriable: true },
      });
    }
    other.exec('ROLLBACK');
    await Promise.all([write(insert(1)), write(insert(2))]);
    expect(rows()).toEqual([1, 2]);
  });

  it('that cannot be committed tells all of them, also those that went well', async () => {
    db.exec('CREATE TABLE u (x REFERENCES t DEFERRABLE INITIALLY DEFERRED)');
    db.exec('PRAGMA foreign_keys = ON');
    const dangling = write(() => db.exec('INSERT INTO u VALUES (99)'));
    const outcomes = await Promise.allSettled([write(insert(1)), dangling, write(insert(2))]);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(rows()).toEqual([]);
    expect(db.isTransaction).toBe(false);
    expect(await write(insert(5))).toBe(1);
  });

  it('of any size is done in order', async () => {
    const order: number[] = [];
    const many = Array.from({ length: 300 }, (_, x) =>
      write(() => {
        order.push(x);
        return insert(x)();
      }),
    );
    expect((await Promise.all(many)).length).toBe(300);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(rows().length).toBe(300);
  });
});

it('a store that is closed has committed what was asked for before', async ({ folder }) => {
  const path = join(folder, 'store');
  const store = sqliteTableStore({ path });
  const task = { clientId: 1, state: 'created', threads: 1, ttlMs: 1e12 } as const;
  const puts = Array.from({ length: 100 }, () => store.tasks.put(task));
  await store.close();
  expect((await Promise.all(puts)).every(({ ok }) => ok)).toBe(true);
  const again = sqliteTableStore({ path });
  expect((await again.tasks.list({ clientId: 1, limit: 1000 })).tasks.length).toBe(100);
  await again.close();
});
