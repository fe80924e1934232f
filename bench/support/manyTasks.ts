/** A store with a million tasks of one client, written in one transaction, without the service. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { encodeCursor } from '../../src/middleware/http/cursor.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';

/** One of this many tasks has failed: for a filter that finds few among many. */
export const FAILED_EVERY = 1000;

const FIRST_ID = 4096;

const FAILURE = JSON.stringify({
  code: 'INVALID_SIGNATURES',
  message: '-',
  invalid: [{ index: 1, reason: 'signatureMismatch' }],
});

/**
 * Creates the file with the store's schema and the rows by SQL, so the store's own indices and
 * triggers apply.
 */
export async function makeManyTasks(dataDirectory: string, count: number): Promise<void> {
  const path = join(dataDirectory, STORE_FILE);
  await sqliteTableStore({ path }).close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA synchronous = OFF');
  db.exec('PRAGMA cache_size = -500000');
  db.exec('BEGIN');
  const failed = `i % ${FAILED_EVERY} = 7`;
  db.prepare(`
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
    INSERT INTO tasks (
      id, client_id, kind, state, attempt, failures, losses, quarantined, count, threads, progress,
      created_at, submitted_at, updated_at, finished_at, expires_ms, submitted, due_ms, finished_ms,
      turn, input_key, input_bytes, input_tag, result_key, result_bytes, result_tag,
      result_format, aggregate_bytes, error)
    SELECT ${FIRST_ID} + i, 1, 'aggregate', iif(${failed}, 'failed', 'completed'),
      1, 0, 0, 0, 1722, 1, NULL,
      strftime('%Y-%m-%dT%H:%M:%S', 1750000000 + i / 10, 'unixepoch') || '.000000001Z',
      strftime('%Y-%m-%dT%H:%M:%S', 1750000000 + i / 10, 'unixepoch') || '.100000001Z',
      strftime('%Y-%m-%dT%H:%M:%S', 1750000005 + i / 10, 'unixepoch') || '.200000001Z',
      strftime('%Y-%m-%dT%H:%M:%S', 1750000005 + i / 10, 'unixepoch') || '.200000001Z',
      1750003600000 + 100 * i, 1, NULL, 1750000005200 + 100 * i,
      0, NULL, NULL, NULL,
      iif(${failed}, NULL, 'results/1/' || (${FIRST_ID} + i) || '.json'),
      iif(${failed}, NULL, 264000), NULL,
      iif(${failed}, NULL, 'proof'), iif(${failed}, NULL, 131817),
      iif(${failed}, '${FAILURE}', NULL)
    FROM n`).run(count);
  db.exec('COMMIT');
  db.close();
}

/** The cursor after which so many tasks are left. */
export async function cursorBeforeLast(
  dataDirectory: string,
  count: number,
  left: number,
): Promise<string> {
  const store = sqliteTableStore({ path: join(dataDirectory, STORE_FILE) });
  const secret = await store.tasks.secret('cursors');
  await store.close();
  return encodeCursor(secret, 1, { afterId: FIRST_ID + count - 1 - left, order: 'asc' });
}
