/** `falconry queue` and `falconry retry` on the store of a service. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const store = sqliteStore({ path: join(folder.path, STORE_FILE) });
/** Two that were set aside, then one that waits and one without its file. */
const ids: string[] = [];
const run = (...args: string[]) => falconryHere([...args, '--data', folder.path]);

beforeAll(async () => {
  const input = { key: 'inputs/a.json', bytes: 1 };
  const waiting = { state: 'waiting', input, count: 9, threads: 1, ttlMs: 60_000 } as const;
  const put = async (task: Parameters<typeof store.tasks.put>[0]) => {
    const outcome = await store.tasks.put(task);
    if (!outcome.ok) throw new Error(outcome.reason);
    ids.push(String(outcome.task.id));
  };
  for (const clientId of [1, 2]) {
    await put({ ...waiting, clientId });
    const { task } = await store.tasks.claim({ leaseMs: 60_000, threads: 1 });
    await store.tasks.setAside(task!.id, 1, {
      code: 'THREAD_LOST',
      message: 'ended \u001b[31m early',
    });
  }
  await put({ ...waiting, clientId: 3 });
  await put({ clientId: 3, state: 'created', threads: 1, ttlMs: 60_000 });
});
afterAll(async () => {
  await store.close();
});

test('queue: a table of all clients, and the reason why a task was set aside', async () => {
  const { code, out, err } = await run('queue');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^ID +CLIENT +STATUS +SIGNATURES +ATTEMPTS +LOST +FAILURES +SUBMITTED$/);
  expect(lines[1]).toMatch(new RegExp(`^${ids[0]} +1 +set aside +9 +1 +0 +0 +\\S+Z$`));
  expect(lines[2]).toMatch(/^ {2}ended .*early$/);
  expect(out).not.toContain('\u001b');
  expect(lines[5]).toMatch(new RegExp(`^${ids[2]} +3 +waiting +9 +0 +0 +0 +\\S+Z$`));
  expect(lines[6]).toMatch(new RegExp(`^${ids[3]} +3 +created +0 +0 +0 +0 +\\S+Z$`));
  expect(lines.length).toBe(7);
});

test('queue: as JSON, in part, and no more than asked for', async () => {
  const listed = async (...args: string[]) =>
    JSON.parse((await run('queue', '--json', ...args)).out).map(
      (task: { process_id: string }) => task.process_id,
    );
  expect(await listed()).toEqual(ids);
  expect(await listed('--aside')).toEqual(ids.slice(0, 2));
  expect(await listed('--limit', '3')).toEqual(ids.slice(0, 3));
  expect(await listed('--limit', '0')).toEqual(ids);
  const more = 'there are more tasks; --limit 0 lists all\n';
  expect((await run('queue', '--limit', '1')).err).toBe(more);
  expect((await run('queue', '--limit', '4')).err).toBe('');
  expect(JSON.parse((await run('queue', '--json', '--limit', '1')).out)).toEqual([
    {
      process_id: ids[0],
      client_id: 1,
      status: 'waiting',
      quarantined: true,
      batch_size: 9,
      attempts: 1,
      losses: 0,
      failures: 0,
      submitted_at: expect.stringMatching(/\.\d{9}Z$/),
      error: { code: 'THREAD_LOST', message: expect.stringContaining('early') },
    },
  ]);
});

test('retry: those named, or all; 1 for one that was not set aside', async () => {
  const [first, second, third] = ids as [string, string, string];
  expect(await run('retry', third)).toMatchObject({
    code: 1,
    out: '',
    err: `falconry retry: no task ${third} was set aside\n`,
  });
  // No number holds it, so no store can have it.
  const longest = '9'.repeat(30);
  expect(await run('retry', longest)).toMatchObject({
    code: 1,
    err: `falconry retry: no task ${longest} was set aside\n`,
  });
  const both = await run('retry', first, third, '--json');
  expect(both.code).toBe(1);
  const lines = both.out.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { process_id: first, retried: true },
    { process_id: third, retried: false, code: 'NOT_FOUND' },
  ]);
  expect(await store.tasks.get(Number(first))).toMatchObject({ quarantined: false, error: null });
  expect(await run('retry', '--all')).toMatchObject({ code: 0, out: `${second} waits again\n` });
  expect(await run('retry', '--all')).toMatchObject({ code: 0, out: 'no task was set aside\n' });
  expect(await run('queue', '--aside')).toMatchObject({ code: 0, out: '', err: 'no tasks\n' });
  expect((await run('queue', '--aside', '--json')).out).toBe('[]\n');
  expect(await store.tasks.claim({ leaseMs: 60_000, threads: 1 })).toMatchObject({
    task: { id: Number(first), attempt: 2 },
  });
});

test('wrong arguments, and no store', async () => {
  for (const args of [
    ['queue', 'x'],
    ['queue', '--limit', '-1'],
    ['retry'],
    ['retry', '12x'],
    ['retry', '9'.repeat(31)],
    ['retry', '1', '--all'],
  ]) {
    expect([args, (await run(...args)).code]).toEqual([args, 2]);
  }
  for (const args of [['queue'], ['retry', '--all']]) {
    const { code, err } = await falconryHere([...args, '--data', join(folder.path, 'none')]);
    expect([code, err]).toEqual([3, expect.stringContaining('there is no store at')]);
  }
});
