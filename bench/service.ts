/**
 * The service under load, each server in its own process:
 *
 *   endpoints   requests per second and latency at 1, 32 and 256 connections while a worker
 *               constantly aggregates batches of 1722, each beside a plain Hono server with one
 *               route that does nothing, on the same machine just before it
 *   parsing     how long a read of a task takes while batches of 1722 are parsed
 *   lists       first and last page of 10^6 tasks, of all and of one status
 *   soak        the server's memory under an even load: `--soak 10m`, or 30 s
 *   memory      peak of the server while 100 clients send the largest body at once
 *   neighbours  reads of five polite clients beside a greedy one; idle streams and connections
 *   processes   CPU time of a request when two processes serve on one port
 *
 * With `--scaled`, the tasks are in PostgreSQL and the files in a bucket, both started here; lists
 * of 10^6 tasks there are measured by the benchmark of the store. What follows a second `--` goes
 * to `falconry serve` as it is: `npm run bench -- service -- --threads 2`.
 *
 * This process creates the load, so three processes compete for two cores. Ratios to the plain
 * server, under the same conditions, say more than absolute figures.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from './main.ts';
import { machine, ownVersions } from './support/machine.ts';
import { measureEndpoints } from './support/serviceEndpoints.ts';
import { measureLists } from './support/serviceLists.ts';
import { measureMemory } from './support/serviceMemory.ts';
import { measureNeighbours } from './support/serviceNeighbours.ts';
import { measureParsing } from './support/serviceParsing.ts';
import { measureProcesses } from './support/serviceProcesses.ts';
import { measureSoak } from './support/serviceSoak.ts';
import {
  printEndpoints,
  printLists,
  printMemory,
  printNeighbours,
  printParsing,
  printProcesses,
  printSoak,
} from './support/serviceTables.ts';
import { withSharedStores } from './support/sharedStores.ts';

const SOAK_MS = 30_000;
const QUICK_SOAK_MS = 1000;

export function run(options: BenchOptions): Promise<void> {
  return options.scaled ? withSharedStores(() => measure(options)) : measure(options);
}

async function measure({ quick, scaled, serve, soakMs }: BenchOptions): Promise<void> {
  const host = machine();
  console.log(`${host.cpu}, ${host.cores} cores, load ${host.load}`);
  console.log(`Node ${host.node}, falconry ${ownVersions().falconry}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'falconry-bench-'));
  try {
    const endpoints = await measureEndpoints(join(folder, 'endpoints'), quick, serve);
    printEndpoints(endpoints);
    const parsing = await measureParsing(join(folder, 'parsing'), quick, serve);
    printParsing(parsing);
    const lists = isEmbedded(serve) ? await measureLists(join(folder, 'lists'), quick) : null;
    if (lists !== null) printLists(lists);
    const soakFor = soakMs ?? (quick ? QUICK_SOAK_MS : SOAK_MS);
    const soak = await measureSoak(join(folder, 'soak'), soakFor, serve);
    printSoak(soak);
    const memory = await measureMemory(join(folder, 'memory'), quick, serve);
    printMemory(memory);
    const neighbours = await measureNeighbours(join(folder, 'neighbours'), quick);
    printNeighbours(neighbours);
    await mkdir(join(folder, 'processes'));
    const processes = await measureProcesses(join(folder, 'processes'), quick);
    printProcesses(processes);
    if (host.load > host.cores / 2) {
      console.log(`Other work was running (load ${host.load}): run it again on a quiet machine.`);
    }
    // What was handed to the server may name a database with its password.
    const result = { bench: 'service', quick, scaled, machine: host, versions: ownVersions() };
    const figures = { endpoints, parsing, lists, soak, memory, neighbours, processes };
    console.log(JSON.stringify({ ...result, ...figures }, round));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Whether the tasks are in the server's own file. A store elsewhere needs its own way to get 10^6
 * tasks: it belongs here, beside `makeManyTasks`.
 */
const isEmbedded = (serve: readonly string[]): boolean =>
  process.env.FALCONRY_DATABASE === undefined &&
  !serve.some((word) => /^--database(-file)?(=|$)/.test(word));

/** Rounds to what was measured: five digits would claim too much. */
const round = (_key: string, value: unknown) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
