/**
 * The service under load, each server in its own process:
 *
 *   endpoints   requests per second and latency at 1 and 64 connections while a worker constantly
 *               aggregates batches of 1722, compared with a plain Hono server with one route that
 *               does nothing, at the same time on the same machine
 *   lists       first and last page of 10^6 tasks, of all and of one status
 *   memory      peak of the server while 50 clients upload the largest task file at once
 *
 * This process creates the load, so three processes compete for two cores. Ratios to the plain
 * server, under the same conditions, say more than absolute figures.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from './main.ts';
import { machine, ownVersions } from './support/machine.ts';
import { type EndpointFigure, measureEndpoints } from './support/serviceEndpoints.ts';
import { type ListFigure, measureLists } from './support/serviceLists.ts';
import { type MemoryFigure, measureMemory } from './support/serviceMemory.ts';

export async function run({ quick }: BenchOptions): Promise<void> {
  const host = machine();
  console.log(`${host.cpu}, ${host.cores} cores, load ${host.load}`);
  console.log(`Node ${host.node}, falconry ${ownVersions().falconry}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'falconry-bench-'));
  try {
    const endpoints = await measureEndpoints(join(folder, 'endpoints'), quick);
    printEndpoints(endpoints.figures);
    console.log(`${endpoints.batches} batches of 1722 were aggregated meanwhile\n`);
    const lists = await measureLists(join(folder, 'lists'), quick);
    printLists(lists);
    const memory = await measureMemory(join(folder, 'memory'), quick);
    printMemory(memory);
    if (host.load > host.cores / 2) {
      console.log(`Other work was running (load ${host.load}): run it again on a quiet machine.`);
    }
    const result = { bench: 'service', quick, machine: host, versions: ownVersions() };
    console.log(JSON.stringify({ ...result, endpoints, lists, memory }, round));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rounds to what was measured: five digits would claim too much. */
const round = (_key: string, value: unknown) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`.padStart(10);
const rate = (value: number) => value.toFixed(0).padStart(8);

function printEndpoints(figures: readonly EndpointFigure[]): void {
  const head = `${'1 connection'.padStart(22)}${'64 connections'.padStart(40)}`;
  console.log(`${''.padEnd(34)}${head}`);
  const columns = '     /s        p50        p99  of plain';
  console.log(`${''.padEnd(34)}${columns}  ${columns}`);
  for (const { name, one, many } of figures) {
    const cell = ({ perSecond, p50Ms, p99Ms, ofPlain }: EndpointFigure['one']) => {
      const share = `${(100 * ofPlain).toFixed(0)} %`.padStart(9);
      return `${rate(perSecond)} ${ms(p50Ms)} ${ms(p99Ms)} ${share}`;
    };
    console.log(`${name.padEnd(34)}${cell(one)} ${cell(many)}`);
  }
  console.log('');
}

function printLists({ count, figures, ratios, buildSeconds }: ListFigure): void {
  console.log(`Lists of ${count} tasks (written in ${buildSeconds.toFixed(1)} s), 100 a page`);
  for (const { name, perSecond, p50Ms, p99Ms } of figures) {
    console.log(`  ${name.padEnd(32)}${rate(perSecond)} ${ms(p50Ms)} ${ms(p99Ms)}`);
  }
  for (const { name, ratio } of ratios) {
    console.log(`  ${name}: ${ratio.toFixed(2)} times the time of the first page`);
  }
  console.log('');
}

function printMemory({ clients, fileBytes, before, uploads, direct }: MemoryFigure): void {
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(`Memory of the server, resident; ${mb(before)} before`);
  console.log(
    `  ${clients} uploads of ${mb(fileBytes)} at once: peak ${mb(uploads.peakBytes)}, ` +
      `${uploads.accepted} accepted, ${uploads.seconds.toFixed(1)} s`,
  );
  console.log(
    `  ${clients} direct requests of ${mb(fileBytes)} at once: peak ${mb(direct.peakBytes)}, ` +
      `${direct.accepted} accepted, ${direct.refused} asked to retry later, ` +
      `${direct.seconds.toFixed(1)} s\n`,
  );
}
