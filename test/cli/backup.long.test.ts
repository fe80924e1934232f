/** `falconry backup` and `falconry restore`: a service at work, and every way to refuse. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import { KEYS_FOLDER, STORE_FILE } from '../../src/middleware/options/options.ts';
import { locked } from '../../src/middleware/signing/keyFiles.ts';
import { fileKeyStore } from '../../src/middleware/signing/keyStore.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { isFinal } from '../../src/wire/taskStates.ts';
import { toTriple } from '../../src/wire/triple.ts';
import { startService, type TestService } from '../middleware/support.ts';
import { makeItems } from '../middleware/triples.ts';
import { type Ended, falconry, falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const [backup, restored] = [join(folder.path, 'backup'), join(folder.path, 'restored')];
const items = makeItems(3);
const triples = items.map(toTriple);
let http: TestService;

beforeAll(async () => {
  http = await startService({ threads: 1 });
});
afterAll(async () => {
  await http.close();
  folder.remove();
});

/** A service that makes, completes, cancels and removes tasks until it is told to stop. */
async function load(until: () => boolean): Promise<void> {
  const path = '/v1/svc/tasks';
  for (let i = 0; !until(); i++) {
    const { json, status } = await http.ask('POST', '/v1/svc/aggsign', { data: triples });
    if (status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    expect(status).toBeLessThan(300);
    if (i % 3 === 1) await http.ask('DELETE', `${path}/${json.process_id}`);
    if (i % 4 === 2) await http.ask('POST', '/v1/svc/aggsign/task');
  }
}

test('a backup under load is of one moment: results verify, what waited completes', async () => {
  let done: Ended | undefined;
  const stop = () => done !== undefined;
  const loads = [load(stop), load(stop), load(stop)];
  const completed = async () => (await states(http.directory)).completed ?? 0;
  await expect.poll(completed, { timeout: 30_000 }).toBeGreaterThan(2);
  done = await falconry(folder.path, ['backup', 'backup', '--data', http.directory, '--json']);
  await Promise.all(loads);
  expect(done).toMatchObject({ code: 0, err: '' });
  const facts = JSON.parse(done.out);
  expect(facts).toMatchObject({ ok: true, missing: [] });
  expect(readdirSync(http.directory).some((name) => name.startsWith('backup-'))).toBe(false);

  const args = ['restore', 'backup', '--data', 'restored', '--json'];
  const back = await falconry(folder.path, args);
  expect(back).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(back.out)).toMatchObject({ ok: true, tasks: facts.tasks, files: facts.files });
  const before = await states(restored);
  expect(before.completed).toBeGreaterThan(0);
  expect(before.waiting).toBeGreaterThan(0);
  for (const path of [restored, join(restored, 'keys')]) {
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
  expect(statSync(join(restored, STORE_FILE)).mode & 0o777).toBe(0o600);

  // The same keys are good, and everything that was begun ends well.
  const again = await startService({ threads: 1, dataDirectory: restored });
  try {
    const unfinished = async () =>
      Object.entries(await states(restored)).filter(
        ([state]) => !isFinal(state as 'waiting') && state !== 'created',
      ).length;
    await expect.poll(unfinished, { timeout: 30_000 }).toBe(0);
    const after = await states(restored);
    expect(after.failed).toBe(undefined);
    expect(after.completed).toBe(
      before.completed! + before.waiting! + (before.verifying ?? 0) + (before.aggregating ?? 0),
    );
    const listed = '/v1/svc/tasks?status=completed&limit=1000';
    const { json } = await again.ask('GET', listed, undefined, { key: http.alice });
    expect(json.tasks.length).toBe(after.completed);
    for (const { meta } of json.tasks) {
      const { json: file } = await again.ask('GET', meta.result_path, undefined, { key: null });
      const proof = Buffer.from(file.aggregate.slice(2), 'hex');
      expect(verifyAggregate(proof, items)).toBe(true);
    }
  } finally {
    await again.close();
  }
}, 60_000);

/** How many tasks of a store are in each state. */
async function states(data: string): Promise<Partial<Record<string, number>>> {
  const db = new DatabaseSync(join(data, STORE_FILE), { readOnly: true, timeout: 5000 });
  try {
    const rows = db.prepare('SELECT state, count(*) AS tasks FROM tasks GROUP BY state').all();
    return Object.fromEntries(rows.map((row) => [row.state, Number(row.tasks)]));
  } finally {
    db.close();
  }
}

/** A backup that can be spoilt. */
function copyOf(name: string): string {
  const path = join(folder.path, name);
  cpSync(backup, path, { recursive: true });
  return path;
}

/** The place of some task file or result in a copy of the backup. */
function fileIn(path: string): string {
  const entries = readdirSync(join(path, 'files'), { recursive: true, withFileTypes: true });
  const entry = entries.filter((each) => each.isFile()).sort()[0]!;
  return join(entry.parentPath, entry.name);
}

function edit(path: string, name: string, change: (text: string) => string): void {
  writeFileSync(join(path, name), change(readFileSync(join(path, name), 'utf8')));
}

const keyIn = (path: string) => join(path, 'keys', readdirSync(join(path, 'keys'))[0]!);

/** What was done to it, what is said then. */
const SPOILS: [string, RegExp, (path: string) => void][] = [
  ['a file changed', /is not what it was/, (path) => appendFileSync(fileIn(path), ' ')],
  ['a file gone', /is missing/, (path) => rmSync(fileIn(path))],
  ['a key gone', /is missing/, (path) => rmSync(keyIn(path))],
  ['the store changed', /is not what it was/, (p) => appendFileSync(join(p, STORE_FILE), 'x')],
  [
    'a file left out of the sums',
    /does not list every file/,
    (path) => edit(path, 'SHA256SUMS', (text) => text.replace(/\n.*\n/, '\n')),
  ],
  [
    'a file left out of both',
    /is missing/,
    (path) => {
      const name = `files/${fileIn(path).split('/files/')[1]}`;
      edit(path, 'SHA256SUMS', (text) =>
        text
          .split('\n')
          .filter((line) => !line.endsWith(name))
          .join('\n'),
      );
      edit(path, 'backup.json', (text) =>
        text.replace(/"files": (\d+)/, (_, count) => `"files": ${count - 1}`),
      );
    },
  ],
  [
    'a path out of it',
    /has a line that is none/,
    (path) => appendFileSync(join(path, 'SHA256SUMS'), `${'0'.repeat(64)}  ../../etc/passwd\n`),
  ],
  ['another document', /not that of a backup/, (path) => edit(path, 'backup.json', () => '{}')],
  ['no JSON', /is not JSON/, (path) => edit(path, 'backup.json', () => '{')],
  [
    'a document without its numbers',
    /is not complete/,
    (path) => edit(path, 'backup.json', (text) => text.replace('"missing"', '"gone"')),
  ],
];

test('a damaged backup is refused, and nothing is made', async () => {
  for (const [what, message, spoil] of SPOILS) {
    const path = copyOf('spoilt');
    spoil(path);
    const data = join(folder.path, 'never');
    const { code, err } = await falconryHere(['restore', path, '--data', data]);
    expect([what, code, err]).toEqual([what, 1, expect.stringMatching(message)]);
    expect(readdirSync(folder.path).filter((name) => name.includes('never'))).toEqual([]);
    rmSync(path, { recursive: true });
  }
  const newer = copyOf('newer');
  edit(newer, 'backup.json', (text) => text.replace(/"schema": \d+/, '"schema": 999'));
  const { code, err } = await falconryHere(['restore', newer, '--data', join(folder.path, 'n')]);
  expect([code, err]).toEqual([3, expect.stringContaining('newer version')]);
});

test('a directory in use is refused, by both; an empty one is taken', async () => {
  const full = join(folder.path, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'mine'), 'x');
  const data = ['--data', http.directory];
  const inside = join(http.directory, 'inside');
  const cases: [string[], RegExp][] = [
    [['backup', full, ...data], /is not empty/],
    [['backup', join(full, 'mine'), ...data], /ENOTDIR/],
    [['backup', inside, ...data], /is in the data directory/],
    [['backup', http.directory, ...data], /is in the data directory/],
    [['backup', join(folder.path, 'b'), '--data', join(folder.path, 'no')], /there is no store/],
    [['restore', backup, '--data', full], /is not empty/],
    [['restore', full, '--data', join(folder.path, 'r')], /cannot read .*backup\.json/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await falconryHere(args);
    expect([args[0], code, err]).toEqual([args[0], 3, expect.stringMatching(message)]);
  }
  expect(readFileSync(join(full, 'mine'), 'utf8')).toBe('x');
  for (const args of [['backup'], ['restore'], ['backup', 'a', 'b'], ['restore', 'a', 'b']]) {
    expect([args, (await falconryHere([...args, ...data])).code]).toEqual([args, 2]);
  }
  const empty = join(folder.path, 'empty');
  mkdirSync(empty);
  expect((await falconryHere(['restore', backup, '--data', empty])).code).toBe(0);
  expect(existsSync(join(empty, STORE_FILE))).toBe(true);
});

test('keys are copied while nobody changes them, without the lock for it', async () => {
  const [data, target] = [join(folder.path, 'locked-keys'), join(folder.path, 'of-keys')];
  mkdirSync(data);
  const store = sqliteTableStore({ path: join(data, STORE_FILE), allowShared: false });
  await store.open();
  await store.close();
  const directory = join(data, KEYS_FOLDER);
  await fileKeyStore({ directory }).signingKey(null);
  const order: string[] = [];
  let taken: Promise<Ended> | undefined;
  await locked(directory, async () => {
    taken = falconryHere(['backup', target, '--data', data]);
    void taken.then(() => order.push('taken'));
    await sleep(2000);
    order.push('changed');
  });
  const { code, err } = await taken!;
  expect([code, err]).toEqual([0, '']);
  expect(order).toEqual(['changed', 'taken']);
  expect(readdirSync(join(target, 'keys'))).toEqual(['signing.json']);
});

test('with a database, says what to use instead, and copies nothing', async () => {
  const target = join(folder.path, 'of-a-database');
  const args = ['backup', target, '--data', http.directory];
  const url = 'postgres://falconry@db.invalid/falconry';
  const config = join(folder.path, 'database.json');
  writeFileSync(config, JSON.stringify({ database: url }));
  for (const ended of [
    await falconryHere([...args, '--database', url]),
    await falconryHere(args, { FALCONRY_DATABASE: url }),
    await falconryHere([...args, '--config', config]),
  ]) {
    expect(ended.code).toBe(2);
    expect(ended.err).toMatch(/pg_dump.*docs\/operating\.md, "PostgreSQL and a bucket"/);
  }
  expect(existsSync(target)).toBe(false);
  const guide = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  expect(guide).toContain('### PostgreSQL and a bucket\n');
});

test('a file that is gone already is told, kept in mind, and no hindrance', async () => {
  const data = join(folder.path, 'gone');
  const store = sqliteTableStore({ path: join(data, STORE_FILE) });
  const key = `inputs/${crypto.randomUUID()}.json`;
  const input = { key, bytes: 1 };
  await store.put({ clientId: 1, state: 'waiting', input, threads: 1, ttlMs: 1000 });
  await store.close();
  const target = join(folder.path, 'gone-backup');
  const done = await falconryHere(['backup', target, '--data', data]);
  expect(done).toMatchObject({ code: 0 });
  expect(done.err).toContain('1 files that tasks name were not there');
  const to = join(folder.path, 'gone-restored');
  expect((await falconryHere(['restore', target, '--data', to])).code).toBe(0);
});

test('links of a killed backup are removed by the next one', async () => {
  const data = join(folder.path, 'stale');
  const store = sqliteTableStore({ path: join(data, STORE_FILE) });
  await store.open();
  await store.close();
  const [dead, alive] = [join(data, 'backup-dead'), join(data, 'backup-alive')];
  const holders = { [dead]: 'linux 0 0 1 1', [alive]: `${process.platform} ${process.pid}` };
  for (const [path, holder] of Object.entries(holders)) {
    mkdirSync(path);
    writeFileSync(join(path, 'holder'), holder);
  }
  expect((await falconryHere(['backup', join(folder.path, 's'), '--data', data])).code).toBe(0);
  expect([existsSync(dead), existsSync(alive)]).toEqual([false, true]);
});
