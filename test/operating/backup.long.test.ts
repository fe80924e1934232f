/** The guide's commands for backups and for removing a client, run as they stand on a service. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { MAIN, temporaryFolder } from '../cli/cli.ts';
import { falconry, type Running } from '../middleware/process.ts';
import { fixedItems } from '../runtimes/check.ts';
import { blocksOf } from '../support/documentBlocks.ts';
import { fact } from '../support/facts.ts';
import { withProgram } from './programs.ts';

const folder = temporaryFolder();
const running = new Set<Running>();
afterAll(async () => {
  for (const server of running) {
    server.kill('SIGKILL');
    await server.ended;
  }
});

/** The directory of the guide, and that of this test. */
const DATA = '/var/lib/falconry/store';
const data = join(folder.path, 'store');
const backups = join(folder.path, 'backups');

/** The block of the guide that contains this text, for the directories of this test. */
function block(text: string): string {
  const found = blocksOf('docs/operating.md').filter(({ source }) => source.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks of the guide with: ${text}`);
  return found[0]!.source.replaceAll(DATA, data).replaceAll('/srv/backup/falconry', backups);
}

/** `falconry` and `node` on the path, as on an installed host. */
const programs = join(folder.path, 'bin');
mkdirSync(programs);
writeFileSync(join(programs, 'falconry'), `#!/bin/sh\nexec "${process.execPath}" ${MAIN} "$@"\n`);
chmodSync(join(programs, 'falconry'), 0o755);
const path = [programs, join(process.execPath, '..'), process.env.PATH].join(delimiter);

/** Runs commands in a shell that stops at the first failure; leaves the event loop free. */
function shell(source: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const options = { cwd: folder.path, env: { ...process.env, ...env, PATH: path } };
  const child = spawn('bash', ['-euo', 'pipefail', '-c', source], options);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${code}:\n${output}`)),
    );
  });
}

interface Served {
  readonly base: string;
  readonly apiKey: string;
  end(): Promise<void>;
}

async function serve(): Promise<Served> {
  const args = ['serve', '--data', data, '--port', '0', '--threads', '1', '--json'];
  const server = falconry([...args, '--min-free', '1MiB', '--log', 'json']);
  running.add(server);
  const facts = JSON.parse((await server.printed(/^\{"ok":true.*\}$/m))[0]);
  return {
    base: `http://127.0.0.1:${facts.port}`,
    apiKey: facts.api_key,
    async end() {
      server.kill('SIGTERM');
      expect((await server.ended).code).toBe(0);
      running.delete(server);
    },
  };
}

const items = fixedItems(falcon512, 3);
const clientOf = ({ base }: Served, apiKey: string) => createClient({ baseUrl: base, apiKey });

/** How many tasks of a store are in each state. */
function states(directory: string): Partial<Record<string, number>> {
  const db = new DatabaseSync(join(directory, 'falconry.sqlite'), { readOnly: true });
  try {
    const rows = db.prepare('SELECT state, count(*) AS tasks FROM tasks GROUP BY state').all();
    return Object.fromEntries(rows.map((row) => [row.state, Number(row.tasks)]));
  } finally {
    db.close();
  }
}

test('a backup of a service at work is restored: results verify, what waited completes', async (context) => {
  const server = await serve();
  const { apiKey } = server;
  const client = clientOf(server, apiKey);
  let done = false;
  const load = async () => {
    while (!done) await client.aggregate(items);
  };
  const first = await client.aggregate(items);
  await client.waitFor(first.process_id);
  const loads = [load(), load(), load()];
  const script = block('VACUUM INTO ?');
  expect(script).toMatch(/^#!\/bin\/sh\n/);
  // Twice, as on two nights: nothing of the first run is in the way of the second.
  await shell(script);
  await shell(script.replace('$(date +%F)', 'second'));
  done = true;
  await Promise.all(loads);
  await server.end();
  expect(existsSync(join(data, 'backup-links'))).toBe(false);

  const backup = join(backups, 'second');
  const before = states(backup);
  expect(before.completed).toBeGreaterThan(0);
  expect(before.waiting).toBeGreaterThan(0);
  for (const name of readdirSync(backup)) expect(statSync(join(backup, name)).mode & 0o077).toBe(0);

  const restore = block('store-before')
    .replaceAll(/^sudo systemctl .*$/gm, '')
    .replaceAll(/sudo (--user=falconry )?/g, '')
    .replaceAll(/-o falconry -g falconry /g, '')
    .replace('2026-12-31', 'second')
    .replace('/etc/falconry/falconry.json', 'falconry.json');
  expect(restore).toContain('cp -a ');
  expect(restore).toContain('\nfalconry doctor --config falconry.json\n');
  const settings = { data, port: 0, minFree: '1MiB' };
  writeFileSync(join(folder.path, 'falconry.json'), JSON.stringify(settings));
  await shell(restore);

  const again = await serve();
  const restored = clientOf(again, apiKey);
  const unfinished = () => {
    const { completed = 0, failed = 0, ...others } = states(data);
    return Object.values(others).reduce<number>((sum, count) => sum + count!, 0);
  };
  await expect.poll(unfinished).toBe(0);
  const { tasks } = await restored.page({ limit: 1000 });
  const failed = tasks.filter(({ status }) => status === 'failed');
  // Those whose file came and went between the two passes, if any.
  expect(failed.length).toBeLessThan(tasks.length / 2);
  for (const { id, status } of tasks) {
    if (status === 'failed') continue;
    expect((await restored.result(id, { statements: items })).checked).toBe(true);
  }
  expect(existsSync(`${data}-before`)).toBe(true);
  const lost = `${failed.length} without their file`;
  fact(context, 'operating', `a backup under load: ${tasks.length} tasks restored, ${lost}`);
  await again.end();
});

withProgram('jq', 'jq', () => {
  test('a client is removed by its tasks and its keys', async () => {
    const server = await serve();
    const create = (name: string): { readonly key: string; readonly client_id: number } => {
      const args = ['keys', 'create', '--data', data, '--name', name, '--json'];
      return JSON.parse(execFileSync(join(programs, 'falconry'), args, { encoding: 'utf8' }));
    };
    const [leaving, other] = [create('alice'), create('bob')];
    const [client, stays] = [clientOf(server, leaving.key), clientOf(server, other.key)];
    const kept = await stays.aggregate(items);
    const task = await client.aggregate(items);
    await client.waitFor(task.process_id);
    await client.aggregate(items);

    const source = block('--name leaving')
      .replaceAll(/\b17\b/g, String(leaving.client_id))
      .replace(/^export .*$/m, 'export FALCONRY_API_KEY_FILE=leaving.key');
    await shell(source, { FALCONRY_DATA: data, FALCONRY_URL: server.base });

    await expect(client.page()).rejects.toMatchObject({ status: 401 });
    expect((await stays.waitFor(kept.process_id)).status).toBe('completed');
    const db = new DatabaseSync(join(data, 'falconry.sqlite'), { readOnly: true });
    const count = (sql: string) => Number(db.prepare(sql).get(leaving.client_id)!.n);
    expect(count('SELECT count(*) AS n FROM tasks WHERE client_id = ?')).toBe(0);
    expect(count('SELECT count(*) AS n FROM api_keys WHERE client_id = ?')).toBe(0);
    db.close();
    await server.end();
  });
});
