/**
 * Two `falconry serve` and three `falconry worker` on one PostgreSQL and one bucket, both behind
 * proxies that spoil what passes.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { falconry } from '../../test/middleware/process.ts';
import { type Fault, type FaultyProxy, openFaultyProxy } from '../../test/support/faultyProxy.ts';
import { freePort } from '../../test/support/ports.ts';
import type { LineFault } from '../../test/support/postgres.ts';
import type { TestRandom } from '../../test/support/random.ts';
import { bucketEnv } from '../../test/support/rgw.ts';
import { type Closers, closeAll, startServers } from '../servers.ts';
import { Cluster, SERVER_SETTINGS } from './cluster.ts';
import { Member, type MemberOptions } from './member.ts';
import {
  type Clock,
  type Disk,
  jumpYears,
  mountDisk,
  rehearse,
  settableClock,
  type World,
} from './world.ts';

const LEASE_MS = 3000;
const SPOOL_MIB = 24;
/** S3 refuses what is signed a quarter of an hour off. */
const HOST_STEP_MS = 300_000;
/** What was due by the wrong clock waits as long as this. */
const DATABASE_STEP_MS = 20_000;
const NAMES = ['serve 1', 'serve 2', 'worker 1', 'worker 2', 'worker 3'];
/** Longer than a lease: what is silent until then is taken over. */
const BEYOND_MS = 2.5 * LEASE_MS;
/** A file in the bucket. */
const FILE = /^(GET|PUT) \S*\/(inputs|results|uploads)\//;

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
  const { database: primary, rgw } = await startServers(open, SERVER_SETTINGS);
  const database = new Cluster(primary);
  open.push(() => database.stop());
  // Every request to the bucket passes it.
  const proxy = await openFaultyProxy(rgw.endpoint);
  open.push(() => proxy.close());
  // Transactions of one statement each; or, as for a pooler, with a BEGIN and a COMMIT.
  const pooled = random.pick([0, 1]);
  const env = {
    ...bucketEnv({ ...rgw, endpoint: proxy.address }, 'chaos/'),
    FALCONRY_DATABASE: `${await database.start()}&pooled=${pooled}`,
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
  // Migrations do not go through a pooler.
  const apiKey = await prepare({ ...env, FALCONRY_DATABASE: primary.url });
  await countCompletions(database);

  const spool = join(folder, 'spool');
  await mkdir(spool);
  const disk = await mountDisk(spool, SPOOL_MIB);
  if (disk) open.push(() => disk.close());
  const clocks = await Promise.all(NAMES.map((_, i) => settableClock(join(folder, `clock-${i}`))));
  const ports = [await freePort(), await freePort()];
  // The same on both, or a file uploaded at one would not be found at the other.
  const way = random.pick(['direct', 'through']);
  const make = () => membersOf({ ...env, TMPDIR: spool }, clocks, ports, way);
  await rehearse(make);
  const members = make();
  const met: Record<string, number> = {};
  const parts = { database, proxy, disk, clocks, members, random, met };
  return {
    title: `two hosts and three workers on PostgreSQL${pooled ? ', pooled,' : ''} and S3; ${way}`,
    members,
    bases: ports.map((port) => `http://127.0.0.1:${port}`),
    apiKey,
    troubles: troublesOf(parts),
    met,
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
  env: MemberOptions['env'],
  clocks: readonly Clock[],
  ports: readonly number[],
  way: string,
): readonly Member[] {
  const serve = ['serve', '--no-workers', '--log-level', 'warn', '--transfers', way, '--port'];
  const worker = ['worker', '--threads', '1', '--lease', `${LEASE_MS}ms`];
  return NAMES.map((name, i) => {
    const args = ports[i] === undefined ? worker : [...serve, String(ports[i])];
    return new Member(name, { args, env, clock: clocks[i]!.path });
  });
}

/** Every write that completes a task is noted, also one that completes it again. */
async function countCompletions(database: Cluster): Promise<void> {
  await database.query(`
    CREATE TABLE completions (id bigint NOT NULL);
    CREATE FUNCTION count_completion() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO public.completions VALUES (new.id); RETURN new; END $$;
    CREATE TRIGGER count_completions AFTER UPDATE OF state ON falconry.tasks FOR EACH ROW
      WHEN (new.state = 'completed' AND new.parent IS NULL) EXECUTE FUNCTION count_completion()`);
}

interface Parts {
  readonly database: Cluster;
  readonly proxy: FaultyProxy;
  readonly disk: Disk | null;
  readonly clocks: readonly Clock[];
  readonly members: readonly Member[];
  readonly random: TestRandom;
  readonly met: Record<string, number>;
}

function troublesOf(parts: Parts): World['troubles'] {
  const { database, disk, clocks, members, random } = parts;
  const sign = () => random.pick([-1, 1]);
  const stepHosts = async (stepMs: number) => {
    await Promise.all(clocks.map((clock) => clock.during(stepMs, () => sleep(4000))));
  };
  const fail = () => database.failOver(random.pick(['death', 'demotion']));
  return [
    { name: 'restarts of the database', times: 5, run: () => database.crash() },
    { name: 'fail-overs of the database', times: 3, run: fail },
    ...lineTroubles(parts),
    ...bucketTroubles(parts),
    {
      name: 'pauses beyond the lease',
      times: 5,
      run: () => random.pick(members).pause(BEYOND_MS),
    },
    {
      name: 'steps of the hosts’ clock',
      times: 3,
      run: () => stepHosts(sign() * HOST_STEP_MS),
    },
    {
      name: 'years on the clock of a host',
      times: 4,
      run: async () => {
        const at = random.below(members.length);
        await jumpYears(members[at]!, clocks[at]!, sign());
      },
    },
    {
      name: 'steps of the database’s clock',
      times: 3,
      run: () => stepDatabase(database, sign() * DATABASE_STEP_MS, 4000),
    },
    ...(disk ? [{ name: 'full disks', times: 3, run: () => disk.fill(3000) }] : []),
  ];
}

/** Between the service and PostgreSQL. */
function lineTroubles({ database: { line }, random, met }: Parts): World['troubles'] {
  const spoil = async (choose: typeof line.choose, what: string) => {
    const before = line.cuts;
    line.choose = choose;
    await sleep(4000);
    line.choose = () => 'pass';
    met[what] = (met[what] ?? 0) + line.cuts - before;
  };
  const slow = (): LineFault => ({ delayMs: random.below(1000) });
  return [
    {
      name: 'times of lost answers to commits',
      times: 5,
      run: () =>
        spoil(
          (piece) => (piece === 'commit' && random.below(3) === 0 ? 'cut' : 'pass'),
          'answers to commits lost',
        ),
    },
    {
      name: 'times of bad lines to the database',
      times: 3,
      run: () =>
        spoil(() => {
          const which = random.below(20);
          return which < 2 ? random.pick(['cut', 'half']) : which < 5 ? slow() : 'pass';
        }, 'lines to the database cut'),
    },
    {
      name: 'times of half-open connections',
      times: 4,
      async run() {
        const silent = line.silence(() => random.pick(['open', 'mute', 'lost']));
        met['connections half-open'] = (met['connections half-open'] ?? 0) + silent;
        await sleep(BEYOND_MS);
        line.dropSilent();
      },
    },
  ];
}

/** Between the service or its clients and the bucket. */
function bucketTroubles({ proxy, random, met }: Parts): World['troubles'] {
  /** For a while, so many of ten requests to the bucket get one of these faults. */
  const spoil = async (ofTen: number, faults: readonly Fault[], ms: number) => {
    proxy.choose = () => (random.below(10) < ofTen ? random.pick(faults) : 'pass');
    await sleep(ms);
    proxy.choose = () => 'pass';
  };
  const unheard: Fault[] = ['stall', 'cut', 'cutAfter', 'half', { cutAt: 2000 }, { stallAt: 100 }];
  return [
    { name: 'times of S3 errors', times: 3, run: () => spoil(6, [{ status: 500 }], 4000) },
    { name: 'times of S3 silence', times: 2, run: () => spoil(3, unheard, 4000) },
    { name: 'times of slow S3', times: 2, run: () => spoil(5, [{ delayMs: 1500 }], 4000) },
    {
      name: 'times of flipped bits',
      times: 4,
      async run() {
        // Only what the service itself sends and reads: it cannot check what bypasses it.
        proxy.choose = (line, { authorization }) => {
          if (!authorization || !FILE.test(line) || random.below(2) === 0) return 'pass';
          met['files damaged on the way'] = (met['files damaged on the way'] ?? 0) + 1;
          return { flipAt: random.below(2 ** 16) };
        };
        await sleep(6000);
        proxy.choose = () => 'pass';
      },
    },
  ];
}

/** The clock of the store is a function in its schema: for a while, another one. */
async function stepDatabase(database: Cluster, stepMs: number, ms: number): Promise<void> {
  const set = (offsetMs: number) =>
    database.query(`
      CREATE OR REPLACE FUNCTION falconry.now_ms() RETURNS bigint LANGUAGE sql STABLE AS $$
        SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint + (${offsetMs}) $$`);
  await set(stepMs);
  await sleep(ms);
  await set(0);
}
