/**
 * The store on PostgreSQL against its bars, on a server of its own, everything on this machine:
 *
 *   plain commits: a changed row each, and nothing else; what the machine can do
 *   puts, claims, whole cycles, and claims beside a transaction that does not end, a second
 *   the time from `put` to a worker, and from the end of a worker to the next one
 *   pages of 10^6 tasks; heartbeats that touch no index
 *   with `--blobs`: memory of a service through which 100 clients send 32 MiB each into a bucket
 *
 * The bars are those of a fast disk. A commit waits for the disk, so on a slow one half of each
 * rate is enough; the time of one `fdatasync` stands beside each part.
 */
import type { BenchOptions } from './main.ts';
import { type JudgedBar, judged } from './support/bars.ts';
import { machine, ownVersions } from './support/machine.ts';
import {
  measureClaims,
  measureCycles,
  measureOldTransaction,
  measurePlainCommits,
  measurePuts,
} from './support/storeRates.ts';
import {
  measureHeartbeats,
  measureLatency,
  measurePages,
  measureTakeover,
} from './support/storeTimes.ts';
import { measureUploads } from './support/storeUploads.ts';
import { makeWorld } from './support/storeWorld.ts';

export async function run({ quick, blobs }: BenchOptions): Promise<void> {
  const host = machine();
  console.log(`${host.cpu}, ${host.cores} cores, load ${host.load}`);
  console.log(`Node ${host.node}, falconry ${ownVersions().falconry}\n`);
  const startMs = performance.now();
  const { plainCommits, figures } = await measureStore(quick);
  if (blobs) {
    const [clients, bytes] = quick ? [5, 1 << 20] : [100, 32 << 20];
    figures.push(...(await judged('uploads', () => measureUploads(clients, bytes))));
  }
  const seconds = (performance.now() - startMs) / 1000;
  const missed = figures.filter(({ pass }) => !pass).length;
  console.log(`\n${figures.length - missed} of ${figures.length} bars in ${seconds.toFixed(0)} s`);
  if (quick) console.log('Quick: small counts, so the figures say little.');
  if (host.load > host.cores / 2) {
    console.log(`Other work was running (load ${host.load}): run it again on a quiet machine.`);
  }
  const of = { bench: 'store', quick, machine: host, versions: ownVersions() };
  console.log(JSON.stringify({ ...of, plainCommits, figures }, round));
}

interface StoreFigures {
  /** A second. */
  readonly plainCommits: number;
  readonly figures: JudgedBar[];
}

async function measureStore(quick: boolean): Promise<StoreFigures> {
  const finished = quick ? 200_000 : 1_000_000;
  const seconds = quick ? 0.5 : 6;
  const startMs = performance.now();
  const world = await makeWorld(finished);
  const made = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`${finished} finished tasks (${made} s)`);
  try {
    const plainCommits = await measurePlainCommits(world, seconds);
    console.log(`${plainCommits.toFixed(0)} plain commits a second`);
    const figures = [
      ...(await judged('puts', () => measurePuts(world, seconds))),
      ...(await judged('claims', () => measureClaims(world, seconds))),
      ...(await judged('cycles', () => measureCycles(world, seconds))),
      ...(await judged('old transaction', () => measureOldTransaction(world, quick ? 1.5 : 30))),
      ...(await judged('latency', () => measureLatency(world, quick ? 100 : 1000))),
      ...(await judged('takeover', () => measureTakeover(world, quick ? 2 : 8, 2000))),
      ...(await judged('pages', () => measurePages(world, quick ? 10 : 200))),
      ...(await judged('heartbeats', () => measureHeartbeats(world, 1000, seconds))),
    ];
    return { plainCommits, figures };
  } finally {
    await world.close();
  }
}

/** Rounds to what was measured: five digits would claim too much. */
const round = (_key: string, value: unknown) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
