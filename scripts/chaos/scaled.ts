/** Two `falconry serve` and three `falconry worker` on one PostgreSQL and one bucket. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { falconry } from '../../test/middleware/process.ts';
import { type Fault, type FaultyProxy, openFaultyProxy } from '../../test/support/faultyProxy.ts';
import { freePort } from '../../test/support/ports.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import type { TestRandom } from '../../test/support/random.ts';
import { bucketEnv } from '../../test/support/rgw.ts';
import { type Closers, closeAll, startServers } from '../servers.ts';
import { Member, type MemberOptions } from './member.ts';
import { type Disk, mountDisk, rehearse, settableClock, type World } from './world.ts';

const LEASE_MS = 3000;
const SPOOL_MIB = 24;
/** S3 refuses what is signed a quarter of an hour off. */
const HOST_STEP_MS = 300_000;
/** What was due by the wrong clock waits as long as this. */
const DATABASE_STEP_MS = 20_000;
const WORKERS = 3;

export async function scaledWorld(random: TestRandom): Promise<World> {
  const open: Closers = [];
  const close = () => closeAll(open);
  try {
    return { ...(await build(random, open)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(random: TestRandom, open: Closers): Promise<Omit<World, 'close'>> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-chaos-'));
  open.push(() => rm(folder, { recursive: true, force: true }));
  const { database, rgw } = await startServers(open);
  // Every request to the bucket passes it.
  const proxy = await openFaultyProxy(rgw.endpoint);
  open.push(() => proxy.close());
  const env = {
    ...bucketEnv({ ...rgw, endpoint: proxy.address }, 'chaos/'),
    FALCONRY_DATABASE: database.url,
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
  const apiKey = await prepare(env);
  await countCompletions(database);

  const spool = join(folder, 'spool');
  await mkdir(spool);
  const disk = await mountDisk(spool, SPOOL_MIB);
  if (disk) open.push(() => disk.close());
  const clock = await settableClock(join(folder, 'clock'));
  const ports = [await freePort(), await freePort()];
  // The same on both, or a file uploaded at one would not be found at the other.
  const way = random.pick(['direct', 'through']);
  const own = { env: { ...env, TMPDIR: spool }, clock: clock.path };
  const make = () => membersOf(own, ports, way);
  await rehearse(make);
  const members = make();
  const parts = { database, proxy, disk, clock, members, random };
  return {
    title: `two hosts and ${WORKERS} workers on PostgreSQL and S3, files ${way}`,
    members,
    bases: ports.map((port) => `http://127.0.0.1:${port}`),
    apiKey,
    troubles: troublesOf(parts),
    usualKills: 100,
    gapMs: 3000,
    async completions() {
      const sql = 'SELECT id::float8, count(*)::int AS times FROM completions GROUP BY id';
      const rows = await database.query<{ id: number; times: number }>(sql);
      return new Map(rows.map(({ id, times }) => [id, times]));
    },
    async takenOver() {
      const sql = 'SELECT count(*)::int AS n FROM falconry.tasks WHERE losses > 0';
      const [row] = await database.query<{ n: number }>(sql);
      return row!.n;
    },
  };
}

/** Makes the tables. @returns a new API key */
async function prepare(env: NodeJS.ProcessEnv): Promise<string> {
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await falconry([...args, '--json'], env).ended;
    if (code !== 0) throw new Error(`falconry ${args.join(' ')}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  };
  await command('migrate');
  return (await command('keys', 'create', '--name', 'chaos')).key;
}

function membersOf(
  own: Omit<MemberOptions, 'args'>,
  ports: readonly number[],
  way: string,
): readonly Member[] {
  const serve = ['serve', '--no-workers', '--log-level', 'warn'];
  serve.push('--transfers', way);
  const worker = ['worker', '--threads', '1', '--lease', `${LEASE_MS}ms`];
  const serving = ports.map((port, i) => {
    const args = [...serve, '--port', String(port)];
    return new Member(`serve ${i + 1}`, { ...own, args });
  });
  const working = Array.from({ length: WORKERS }, (_, i) => {
    return new Member(`worker ${i + 1}`, { ...own, args: worker });
  });
  return [...serving, ...working];
}

/** Every write that completes a task is noted, also one that completes it again. */
async function countCompletions(database: PostgresServer): Promise<void> {
  await database.query(`
    CREATE TABLE completions (id bigint NOT NULL);
    CREATE FUNCTION count_completion() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO public.completions VALUES (new.id); RETURN new; END $$;
    CREATE TRIGGER count_completions AFTER UPDATE OF state ON falconry.tasks FOR EACH ROW
      WHEN (new.state = 'completed') EXECUTE FUNCTION count_completion()`);
}

interface Parts {
  readonly database: PostgresServer;
  readonly proxy: FaultyProxy;
  readonly disk: Disk | null;
  readonly clock: Awaited<ReturnType<typeof settableClock>>;
  readonly members: readonly Member[];
  readonly random: TestRandom;
}

function troublesOf({ database, proxy, disk, clock, members, random }: Parts): World['troubles'] {
  /** For a while, so many of ten requests to the bucket get one of these faults. */
  const spoil = async (ofTen: number, faults: readonly Fault[], ms: number) => {
    proxy.choose = () => (random.below(10) < ofTen ? random.pick(faults) : 'pass');
    await sleep(ms);
    proxy.choose = () => 'pass';
  };
  const sign = () => random.pick([-1, 1]);
  const pause = () => random.pick(members).pause(2.5 * LEASE_MS);
  return [
    { name: 'restarts of the database', times: 5, run: () => database.crash() },
    { name: 'pauses beyond the lease', times: 5, run: pause },
    { name: 'times of S3 errors', times: 3, run: () => spoil(6, [{ status: 500 }], 4000) },
    {
      name: 'times of S3 silence',
      times: 2,
      run: () => spoil(3, ['stall', 'cut', 'cutAfter', { stallAt: 100 }], 4000),
    },
    {
      name: 'steps of the hosts’ clock',
      times: 3,
      run: () => clock.step(sign() * HOST_STEP_MS, 4000),
    },
    {
      name: 'steps of the database’s clock',
      times: 3,
      run: () => stepDatabase(database, sign() * DATABASE_STEP_MS, 4000),
    },
    ...(disk ? [{ name: 'full disks', times: 3, run: () => disk.fill(3000) }] : []),
  ];
}

/** The clock of the store is a function in its schema: for a while, another one. */
async function stepDatabase(database: PostgresServer, stepMs: number, ms: number): Promise<void> {
  const set = (offsetMs: number) =>
    database.query(`
      CREATE OR REPLACE FUNCTION falconry.now_ms() RETURNS bigint LANGUAGE sql STABLE AS $$
        SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint + (${offsetMs}) $$`);
  await set(stepMs);
  await sleep(ms);
  await set(0);
}
