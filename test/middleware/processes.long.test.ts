/** What needs a process of its own, or several of them: syncs, and one folder shared. */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newInputKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import type { Claimed } from './fixtures/claimer.ts';
import { accepted, it as base } from './support.ts';

const it = base.extend<{ path: string }>({
  path: async ({ folder }, use) => use(join(folder, 'tasks.sqlite')),
});
const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0 } as const;

/** Runs a module under strace, and gives what it printed of these system calls. */
function traced(calls: string, script: string): string {
  const args = [
    '-f',
    '-e',
    `trace=${calls}`,
    process.execPath,
    '--input-type=module',
    '-e',
    script,
  ];
  // Node's own cache of what it has compiled syncs and renames files, too.
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined };
  return String(spawnSync('strace', args, { env }).stderr);
}
const hasStrace = spawnSync('strace', ['-V']).status === 0;
const moduleAt = (path: string) =>
  JSON.stringify(new URL(`../../src/middleware/${path}`, import.meta.url).href);

it.runIf(hasStrace)(
  'the SQLite file is synced at every commit, before the promise resolves',
  ({ path }) => {
    const script = `
    import { writeSync } from 'node:fs';
    import { sqliteStore } from ${moduleAt('stores/sqlite/sqlite.ts')};
    const store = sqliteStore({ path: ${JSON.stringify(path)} });
    const task = { clientId: 1, state: 'created', threads: 1, ttlMs: 60_000 };
    for (let i = 0; i < 5; i++) {
      writeSync(1, 'begin');
      const { task: made } = await store.tasks.put(task);
      writeSync(1, 'put');
      await store.tasks.upload(made.id, { key: 'inputs/' + i, bytes: 1 });
      writeSync(1, 'uploaded');
      await store.tasks.notify(made.id, 1);
      writeSync(1, 'notified');
    }`;
    const told = traced('fsync,fdatasync,write', script);
    const calls = told.matchAll(/(f(?:data)?sync)\(|write\(1, "(\w+)"/g);
    const steps = Array.from(calls, ([, sync, word]) => (sync ? 'sync' : word));
    for (const word of ['put', 'uploaded', 'notified']) {
      const places = steps.flatMap((step, i) => (step === word ? i : []));
      expect(places.length).toBe(5);
      expect(places.map((i) => steps[i - 1])).toEqual(Array(5).fill('sync'));
    }
  },
);

it('the SQLite file hands 120 tasks to three processes, each to exactly one', async ({ path }) => {
  const store = sqliteTableStore({ path });
  const ids: number[] = [];
  for (let i = 0; i < 120; i++) ids.push((await accepted(store.tasks.put(task))).id);
  const claimer = new URL('./fixtures/claimer.ts', import.meta.url);
  const children = Array.from({ length: 3 }, () => fork(claimer, [path], { execArgv: [] }));
  await Promise.all(children.map((child) => once(child, 'message')));
  for (const child of children) child.send('go');
  const answers = await Promise.all(
    children.map(async (child) => {
      const [[claimed]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
      return claimed as Claimed;
    }),
  );
  const finished = answers.flatMap((answer) => answer.finished);
  expect(finished.toSorted((a, b) => a - b)).toEqual(ids);
  expect(new Set(answers.flatMap((answer) => answer.put)).size).toBe(90);
  const { states } = await store.tasks.depth();
  expect(states).toEqual({ created: 90, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 });
  await store.close();
});

it.runIf(hasStrace)(
  'the directory syncs a file before it gets its name, and the folder after',
  ({ folder }) => {
    const script = `
    import { directoryBlobs } from ${moduleAt('blobs/directory/directory.ts')};
    const blobs = directoryBlobs({ path: ${JSON.stringify(folder)}});
    await blobs.put(${JSON.stringify(newInputKey())}, new Uint8Array(10), { maxBytes: 10 });`;
    const told = traced('fsync,fdatasync,rename,renameat,renameat2', script);
    const calls = Array.from(told.matchAll(/\b(f(?:data)?sync|rename\w*)\(/g));
    const names = calls.map(([, name]) => (name!.startsWith('rename') ? 'rename' : 'sync'));
    const at = names.indexOf('rename');
    expect(names.filter((name) => name === 'rename').length).toBe(1);
    expect(names.slice(0, at)).toContain('sync');
    expect(names.slice(at + 1)).toContain('sync');
  },
);

it('the key file is the same for two processes that start together', async ({ folder }) => {
  const keys = join(folder, 'keys');
  const entry = new URL('./fixtures/keyOpener.ts', import.meta.url);
  for (let round = 0; round < 5; round++) {
    await rm(keys, { recursive: true, force: true });
    const children = [0, 1].map(() => fork(entry, [folder], { execArgv: [] }));
    await Promise.all(children.map((child) => once(child, 'message')));
    const answers = children.map((child) => once(child, 'message'));
    for (const child of children) child.send('open');
    const [[first], [second]] = (await Promise.all(answers)) as [[string], [string]];
    expect(first).toBe(second);
    expect(first).toMatch(/^09[0-9a-f]{1792}$/);
    expect(await readdir(keys)).toEqual(['signing.json']);
  }
});
