/** One `falconry serve` on its embedded store, on a small disk of its own. */
import { glob, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { freePort } from '../../test/support/ports.ts';
import type { TestRandom } from '../../test/support/random.ts';
import { Member } from './member.ts';
import {
  type Clock,
  type Disk,
  jumpYears,
  mountDisk,
  rehearse,
  settableClock,
  type World,
} from './world.ts';

const LEASE_MS = 2000;
const DISK_MIB = 512;
/** Less than an upload's hour, so that no task ends by a clock that is wrong. */
const STEP_MS = 600_000;

export interface EmbeddedWorld extends World {
  /** The path of the store. */
  readonly store: string;
}

export async function embeddedWorld(random: TestRandom): Promise<EmbeddedWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-chaos-'));
  const data = join(folder, 'data');
  const store = join(data, STORE_FILE);
  await mkdir(data, { mode: 0o700 });
  const disk = await mountDisk(data, DISK_MIB);
  const clock = await settableClock(join(folder, 'clock'));
  const apiKey = Buffer.from(random.bytes(24)).toString('hex');
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, apiKey, { mode: 0o600 });
  const port = await freePort();
  const args = ['serve', '--data', data, '--port', String(port), '--first-key-file', keyFile];
  args.push('--lease', `${LEASE_MS}ms`, '--threads', '1', '--no-signing', '--log-level', 'warn');
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const make = () => [new Member('serve', { args, env, clock: clock.path })];
  const close = async () => {
    await disk?.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await countCompletions(store);
    await rehearse(make);
  } catch (error) {
    await close();
    throw error;
  }
  const members = make();
  const [serve] = members as [Member];
  const met = { 'files damaged': 0 };
  const files = join(data, 'files');
  const rows = (sql: string) => {
    const db = new DatabaseSync(store);
    try {
      return db.prepare(sql).all() as Record<string, number>[];
    } finally {
      db.close();
    }
  };
  return {
    title: `one process on its embedded store${disk ? '' : ' (no disk could be mounted)'}`,
    members,
    store,
    bases: [`http://127.0.0.1:${port}`],
    apiKey,
    troubles: troublesOf({ serve, clock, disk, files, random, met }),
    met,
    usualKills: 60,
    gapMs: 2500,
    async completions() {
      const found = rows('SELECT id, count(*) AS times FROM completions GROUP BY id');
      return new Map(found.map(({ id, times }) => [id!, times!]));
    },
    takenOver: async () => rows('SELECT count(*) AS n FROM tasks WHERE losses > 0')[0]!.n!,
    close,
  };
}

interface Parts {
  readonly serve: Member;
  readonly clock: Clock;
  readonly disk: Disk | null;
  readonly files: string;
  readonly random: TestRandom;
  readonly met: { 'files damaged': number };
}

function troublesOf({ serve, clock, disk, files, random, met }: Parts): World['troubles'] {
  const sign = () => random.pick([-1, 1]);
  const flip = async () => {
    met['files damaged'] += await damage(files, random, 4000);
  };
  return [
    { name: 'clock steps', times: 4, run: () => clock.during(sign() * STEP_MS, () => sleep(4000)) },
    { name: 'years on the clock', times: 4, run: () => jumpYears(serve, clock, sign()) },
    { name: 'times of flipped bits', times: 4, run: flip },
    { name: 'pauses beyond the lease', times: 3, run: () => serve.pause(2.5 * LEASE_MS) },
    { name: 'full disks', times: 3, run: () => (disk ? disk.fill(3000) : beLow(serve)) },
  ];
}

/**
 * For a while, a bit is wrong in every other file that is there or comes. Then an operator restores
 * them from a backup.
 *
 * @returns how many
 */
async function damage(folder: string, random: TestRandom, ms: number): Promise<number> {
  const known = new Set<string>();
  const restore: (() => Promise<void>)[] = [];
  for (const endMs = performance.now() + ms; performance.now() < endMs; await sleep(20)) {
    for await (const path of glob(join(folder, '{inputs,parts,results}/**/*.json'))) {
      if (known.has(path)) continue;
      known.add(path);
      if (random.below(2) === 0) continue;
      const file = await open(path, 'r+').catch(() => null);
      // A task that has just ended has removed its file.
      if (file === null) continue;
      const at = random.below(Math.max(1, (await file.stat()).size));
      const byte = new Uint8Array(1);
      await file.read(byte, 0, 1, at);
      await file.write(Uint8Array.of(byte[0]! ^ (1 << random.below(8))), 0, 1, at);
      restore.push(async () => {
        await file.write(byte, 0, 1, at);
        await file.close();
      });
    }
  }
  for (const each of restore) await each();
  return restore.length;
}

/** Without a disk of its own: started with a mark above what any disk has free. */
async function beLow(serve: Member): Promise<void> {
  for (const more of [['--min-free', '1000000GiB'], []]) {
    serve.more = more;
    await serve.kill();
    serve.start();
    await sleep(4000);
  }
}

/** Makes the store, and has it count every time that a task becomes completed. */
async function countCompletions(path: string): Promise<void> {
  const store = sqliteTableStore({ path });
  await store.open();
  await store.close();
  const db = new DatabaseSync(path);
  db.exec(`
    CREATE TABLE completions (id INTEGER NOT NULL);
    CREATE TRIGGER count_completions AFTER UPDATE OF state ON tasks
      WHEN new.state = 'completed' AND new.parent IS NULL
      BEGIN INSERT INTO completions VALUES (new.id); END`);
  db.close();
}
