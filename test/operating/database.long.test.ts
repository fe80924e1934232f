/** The guide's statements and commands for PostgreSQL, as they stand, on real servers. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { NewTask } from '../../src/middleware/stores/port/taskStore.ts';
import { migrate, postgresStore } from '../../src/middleware/stores/postgres/index.ts';
import { temporaryFolder } from '../cli/cli.ts';
import { accepted } from '../middleware/support.ts';
import { connectTo, overPostgres, type PostgresServer } from '../support/postgres.ts';
import { guide } from './operatingFiles.ts';

const folder = temporaryFolder();

const statements = [...guide.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, text]) =>
  text!.split(';').flatMap((each) => (each.trim() === '' ? [] : [each.trim()])),
);

/** A line of the guide that begins so, with its words. */
function commandOf(program: string): string[] {
  const line = new RegExp(`^${program} .*$`, 'm').exec(guide)?.[0];
  if (line === undefined) throw new Error(`the guide has no ${program}`);
  return line.split(' ').slice(1);
}

const TASK: NewTask = {
  clientId: 1,
  state: 'waiting',
  threads: 1,
  input: { key: 'inputs/1.json', bytes: 10 },
  ttlMs: 3_600_000,
};

/** The address of a database on the server, for a role. */
const addressOf = (server: PostgresServer, role: string, database: string) =>
  server.url.replace('//postgres@', `//${role}@`).replace('/postgres?', `/${database}?`);

async function open(url: string) {
  const store = postgresStore({ url, connections: 2 });
  await store.open();
  return store;
}
type Store = Awaited<ReturnType<typeof open>>;

const put = async (store: Store) => (await accepted(store.tasks.put(TASK))).id;

const claim = async (store: Store) =>
  (await store.tasks.claim({ leaseMs: 60_000, threads: 1 })).task?.id ?? null;

/** Roles and database as the guide makes them; then what both roles do. */
async function takeTurns(server: PostgresServer): Promise<void> {
  const [first = [], second = []] = statements;
  expect([first.length, second.length]).toEqual([2, 4]);
  for (const each of [...first, ...second]) await server.query(each);
  const [a, b] = ['falconry_a', 'falconry_b'].map((role) => addressOf(server, role, 'falconry'));
  await migrate(a!);
  const stores = [await open(a!), await open(b!)] as const;
  try {
    const id = await put(stores[0]);
    expect(await claim(stores[1])).toBe(id);
    // What a later version does, by the other role.
    expect(await migrate(b!)).toMatchObject({ steps: [] });
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

/** What waits in the old database is dumped and restored as the guide says, then looked at. */
async function dumpAndRestore(server: PostgresServer, programs: string): Promise<void> {
  const env = { ...process.env, PGHOST: server.folder, PGUSER: 'postgres' };
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, { cwd: folder.path, env, stdio: 'pipe' });

  const old = await open(addressOf(server, 'falconry', 'falconry'));
  const secret = await old.tasks.secret('urls');
  const ids = [await put(old), await put(old), await put(old)];
  // The last two words are the address.
  run('pg_dump', [...commandOf('pg_dump').slice(0, -2), 'falconry']);
  await old.close();

  run('createdb', commandOf('createdb'));
  run('pg_restore', commandOf('pg_restore'));
  const url = addressOf(server, 'falconry', 'falconry_restored');
  const restored = await open(url);
  try {
    expect(await restored.tasks.secret('urls')).toEqual(secret);
    const later = await put(restored);
    expect(later).toBeGreaterThan(Math.max(...ids));
    const claimed: unknown[] = [];
    for (let i = 0; i < 5; i++) claimed.push(await claim(restored));
    expect(claimed).toEqual([...ids, later, null]);
  } finally {
    await restored.close();
  }
  // Else the next version could not migrate it.
  expect(await migrate(url)).toMatchObject({ steps: [] });
  const client = await connectTo(url);
  const owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'falconry'";
  const { rows } = await client.query(owners);
  expect(rows).toEqual([{ tableowner: 'falconry' }]);
}

overPostgres('all', (server, major) => {
  it('two roles take turns: what one has made is the other one’s, too', () => takeTurns(server()));

  const programs = `/usr/lib/postgresql/${major}/bin`;
  it.skipIf(!existsSync(join(programs, 'pg_dump')))(
    'a dump is restored: tasks, the queue and its order, the secrets, their owner',
    () => dumpAndRestore(server(), programs),
  );
});
