/** What is put to the test, and what the two kinds of it have in common. */
import { execFile } from 'node:child_process';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Member } from './member.ts';

/** A trouble that passes. */
export interface Trouble {
  readonly name: string;
  /** How often it comes among the usual number of kills. */
  readonly times: number;
  /** Resolves when it is over. */
  run(): Promise<void>;
}

export interface World {
  readonly title: string;
  readonly members: readonly Member[];
  /** Addresses of the hosts that serve. */
  readonly bases: readonly string[];
  readonly apiKey: string;
  readonly troubles: readonly Trouble[];
  /** What the troubles have done so far, for the report. */
  readonly met: Readonly<Record<string, number>>;
  /** Troubles come as often as they do among so many kills, or in proportion. */
  readonly usualKills: number;
  /** Longest time between two kills. */
  readonly gapMs: number;
  /** How often each task was completed, as the store's own trigger counted it. */
  completions(): Promise<ReadonlyMap<number, number>>;
  /** Tasks that another process took over. */
  takenOver(): Promise<number>;
  close(): Promise<void>;
}

const run = promisify(execFile);

/** A small disk. */
export interface Disk {
  readonly path: string;
  /** Takes all of its space for a while. */
  fill(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** @returns null where this machine mounts none, which takes Linux and root */
export async function mountDisk(path: string, mebibytes: number): Promise<Disk | null> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'tmpfs', path]);
  } catch {
    return null;
  }
  return {
    path,
    async fill(ms) {
      const ballast = join(path, 'ballast');
      const file = await open(ballast, 'w');
      try {
        for (;;) await file.write(new Uint8Array(2 ** 20));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
      await sleep(ms);
      await rm(ballast);
    },
    close: async () => void (await run('umount', [path])),
  };
}

export type Clock = Awaited<ReturnType<typeof settableClock>>;

/** A clock of members that can be set: the file that they read. */
export async function settableClock(path: string) {
  await writeFile(path, '0');
  return {
    path,
    /** Wrong by this much while something happens. */
    async during(stepMs: number, work: () => Promise<void>): Promise<void> {
      await writeFile(path, String(stepMs));
      await work();
      await writeFile(path, '0');
    },
  };
}

const YEAR_MS = 365 * 86_400_000;

/** The clock of a member jumps a year ahead or back, also across a restart, and returns. */
export async function jumpYears(member: Member, clock: Clock, sign: number): Promise<void> {
  await clock.during(sign * YEAR_MS, async () => {
    await sleep(1000);
    if (await member.kill()) member.start();
    await member.ready(20_000);
    await sleep(1000);
  });
}

/** Starts and ends each member once, which shows that it can, and leaves its code compiled. */
export async function rehearse(make: () => readonly Member[]): Promise<void> {
  const members = make();
  for (const member of members) member.start();
  const ready = await Promise.all(members.map((member) => member.ready(60_000)));
  await Promise.all(members.map((member) => member.close('SIGTERM')));
  const at = ready.indexOf(false);
  if (at >= 0) throw new Error(members[at]!.refusals[0] ?? `${members[at]!.name} does not start`);
}
