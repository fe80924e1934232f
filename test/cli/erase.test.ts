/** `falconry erase` and `falconry retention` on the store of a service. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import type { BlobStore } from '../../src/middleware/blobs/port/blobStore.ts';
import { newInputKey, resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { eraseClient } from '../../src/middleware/erasure.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

let folder: ReturnType<typeof temporaryFolder>;
let store: ReturnType<typeof sqliteTableStore>;
let blobs: BlobStore;
const run = (...args: string[]) => falconryHere([...args, '--data', folder.path]);

beforeEach(() => {
  folder = temporaryFolder();
  store = sqliteTableStore({ path: join(folder.path, STORE_FILE) });
  blobs = directoryBlobs({ path: join(folder.path, 'files') });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const BYTES = new Uint8Array(100);

async function addWaiting(clientId: number) {
  const input = await blobs.put(newInputKey(), BYTES, { maxBytes: 1000 });
  const options = { clientId, state: 'waiting', input, threads: 1, ttlMs: 60_000 } as const;
  const put = await store.put(options);
  if (!put.ok) throw new Error(put.reason);
  return put.task;
}

/** A completed task, and one that waits. */
async function fill(clientId: number): Promise<void> {
  await addWaiting(clientId);
  const { task } = await store.claim({ leaseMs: 60_000, threads: 1 });
  const { id, attempt, input } = task!;
  await store.extend(id, attempt, { leaseMs: 60_000, state: 'aggregating' });
  const blob = await blobs.put(resultKey(id, attempt), BYTES, { maxBytes: 1000 });
  await store.finish(id, attempt, { blob, format: 'bundle', aggregateBytes: 1 });
  await blobs.delete(input!.key);
  await store.putApiKey({ sha256: `${clientId}`.repeat(8), name: 'k', clientId });
  mkdirSync(join(folder.path, 'keys'), { recursive: true });
  writeFileSync(join(folder.path, 'keys', `signing-${clientId}.json`), '{}');
  await addWaiting(clientId);
}

const fileCount = () =>
  readdirSync(join(folder.path, 'files'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile(),
  ).length;

test('erase: counts, then removes what is there of the client alone', async () => {
  await fill(7);
  await fill(77);
  const counts = { client_id: 7, tasks: 2, unfinished: 1, files: 2, bytes: 200, api_keys: 1 };
  const rest = { answers: 0, signing_keys: 1, named: false };
  const dry = await run('erase', '7', '--dry-run', '--json');
  expect(JSON.parse(dry.out)).toEqual({ ok: true, erased: false, ...counts, ...rest });
  expect(fileCount()).toBe(4);

  const done = await run('erase', '7', '--yes', '--json');
  expect([done.code, done.err]).toEqual([0, '']);
  expect(JSON.parse(done.out)).toEqual({ ok: true, erased: true, ...counts, ...rest });
  expect(fileCount()).toBe(2);
  expect(readdirSync(join(folder.path, 'keys'))).toEqual(['signing-77.json']);
  expect((await store.listApiKeys()).map((key) => key.clientId)).toEqual([77]);
  expect(await store.holdings(77)).toMatchObject({ tasks: 2, files: 2 });

  const again = await run('erase', '7', '--yes');
  expect(again).toMatchObject({ code: 0 });
  expect(again.out).toBe(
    'Erased client 7: 0 tasks (0 of them unfinished), 0 files of 0 B, 0 API keys, ' +
      '0 Idempotency-Keys, 0 signing keys.\n',
  );
});

test('erase: goes on where it was interrupted, wherever that was', async () => {
  const steps = ['disown', 'delete', 'removeEnded', 'forget'] as const;
  for (const step of steps) {
    await fill(5);
    const stop = () => Promise.reject(new Error(`killed at ${step}`));
    const cutStore = step === 'delete' ? store : { ...store, [step]: stop };
    let deleted = 0;
    const cutBlobs: BlobStore = {
      ...blobs,
      delete: (key) => (step === 'delete' && deleted++ > 0 ? stop() : blobs.delete(key)),
    };
    await expect(eraseClient(cutStore, cutBlobs, 5)).rejects.toThrow(`killed at ${step}`);
    expect((await run('erase', '5', '--yes')).code).toBe(0);
    expect([step, fileCount()]).toEqual([step, 0]);
    expect(await store.holdings(5)).toMatchObject({ tasks: 0, files: 0, apiKeys: 0 });
  }
});

test('erase: a task that a request adds meanwhile goes too', async () => {
  await fill(5);
  let late = 1;
  const busy = {
    ...store,
    forget: async (clientId: number) => {
      if (late-- > 0) await addWaiting(5);
      return store.forget(clientId);
    },
  };
  expect(await eraseClient(busy, blobs, 5)).toMatchObject({ tasks: 3, unfinished: 2, files: 3 });
  expect(fileCount()).toBe(0);
});

test('erase: asks on a terminal, and does nothing without a yes', async () => {
  await fill(3);
  const onTerminal = async (answer: string) => {
    let [out, err] = ['', ''];
    const code = await main(['erase', '3', '--data', folder.path], {
      stdin: (async function* () {
        yield Buffer.from(answer);
      })(),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text), isTTY: true },
      env: {},
    });
    return { code, out, err };
  };
  for (const answer of ['', 'no\n', 'y\n', 'yes please\n']) {
    const { code, out, err } = await onTerminal(answer);
    expect([answer, code, out]).toEqual([answer, 1, 'Nothing erased.\n']);
    expect(err).toContain('Erase client 3 with 2 tasks (1 of them unfinished), 2 files of 200 B');
  }
  expect(await store.holdings(3)).toMatchObject({ tasks: 2, apiKeys: 1 });
  expect((await onTerminal('yes\n')).code).toBe(0);
  expect(await store.holdings(3)).toMatchObject({ tasks: 0, apiKeys: 0 });
});

test('retention: what would go, in all and by client, with another retention too', async () => {
  await fill(1);
  await fill(2);
  const counted = async (...args: string[]) => {
    const { code, out } = await run('retention', '--json', ...args);
    expect(code).toBe(0);
    return JSON.parse(out);
  };
  const nothing = { removing: 0, expiring: 0, bytes: 0, oldest_end: null, newest_end: null };
  expect(await counted()).toEqual({ ok: true, retention_ms: expect.anything(), ...nothing });
  expect(await counted('--retention', 'none')).toMatchObject({ retention_ms: null, removing: 0 });
  // Until the tasks are older than the shortest retention.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const all = await counted('--retention', '1s', '--by-client');
  expect(all).toMatchObject({ retention_ms: 1000, removing: 2, expiring: 0, bytes: 200 });
  expect(all.oldest_end < all.newest_end).toBe(true);
  expect(all.clients).toMatchObject([
    { client_id: 1, removing: 1, bytes: 100, oldest_end: all.oldest_end },
    { client_id: 2, removing: 1, bytes: 100, newest_end: all.newest_end },
  ]);
  const text = await run('retention', '--retention', '1s', '--by-client', '--dry-run');
  expect(text.out).toMatch(/^client 1: 1 to remove, ended from \S+Z to \S+Z; 0 to expire; 100 B/);
  expect(text.out.trimEnd().split('\n').at(-1)).toMatch(/^all: 2 to remove, .* 200 B of files$/);
  expect(await store.holdings(1)).toMatchObject({ tasks: 2 });
});

test('wrong arguments, and no store', async () => {
  for (const args of [
    ['erase'],
    ['erase', 'x', '--yes'],
    ['erase', '0', '--yes'],
    ['erase', '1', '2', '--yes'],
    ['erase', '1'],
    ['retention', 'x'],
    ['retention', '--retention', 'soon'],
  ]) {
    expect([args, (await run(...args)).code]).toEqual([args, 2]);
  }
  for (const args of [['erase', '1', '--yes'], ['retention']]) {
    const { code, err } = await falconryHere([...args, '--data', join(folder.path, 'none')]);
    expect([code, err]).toEqual([3, expect.stringContaining('there is no store at')]);
  }
});
