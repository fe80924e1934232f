/** The figures of the service as tables: see ../service.ts. */
import { CONNECTIONS, type EndpointFigures } from './serviceEndpoints.ts';
import type { ListFigure } from './serviceLists.ts';
import { MEMORY_BAR_BYTES, type MemoryFigure } from './serviceMemory.ts';
import { GREEDY_BAR, IDLE_BAR_BYTES, type NeighbourFigures } from './serviceNeighbours.ts';
import { WAIT_BAR_MS, type WaitFigure } from './serviceParsing.ts';
import { PLAIN, type ProcessFigure } from './serviceProcesses.ts';
import type { SoakFigure } from './serviceSoak.ts';

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`.padStart(10);
const rate = (value: number) => value.toFixed(0).padStart(8);
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const held = (good: boolean) => (good ? 'held' : 'NOT held');

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}
const times = ({ p50Ms, p99Ms, p999Ms }: Times) => `${ms(p50Ms)} ${ms(p99Ms)} ${ms(p999Ms)}`;

/** Of plain Hono, and of the signer alone, at 32 connections. */
const ENDPOINT_BARS = { 'progress of a task': 0.6, 'list of 10': 0.6 };
const SIGNER_BAR = 0.35;

export function printEndpoints({ figures, batches, signerPerSecond }: EndpointFigures): void {
  for (const connections of CONNECTIONS) {
    const title = connections === 1 ? '1 connection' : `${connections} connections`;
    console.log(`${title.padEnd(34)}      /s        p50        p99       p999  of plain`);
    for (const { name, at } of figures) {
      const { perSecond, ofPlain, refused, ...rest } = at[connections];
      const share = `${(100 * ofPlain).toFixed(0)} %`.padStart(9);
      const note = refused > 0 ? `  and ${refused} asked to retry later` : '';
      console.log(`${name.padEnd(34)}${rate(perSecond)} ${times(rest)} ${share}${note}`);
    }
    console.log('');
  }
  console.log(`${batches} batches were aggregated meanwhile`);
  const at32 = (name: string) => figures.find((figure) => figure.name === name)!.at[32];
  for (const [name, bar] of Object.entries(ENDPOINT_BARS)) {
    const { ofPlain } = at32(name);
    console.log(
      `  bar: ${name} at ${bar} of plain Hono: ${ofPlain.toFixed(2)}, ${held(ofPlain >= bar)}`,
    );
  }
  const share = at32('sign 32 bytes').perSecond / signerPerSecond;
  console.log(
    `  bar: sign at ${SIGNER_BAR} of the signer alone (${signerPerSecond.toFixed(0)}/s): ` +
      `${share.toFixed(2)}, ${held(share >= SIGNER_BAR)}\n`,
  );
}

export function printParsing(figures: readonly WaitFigure[]): void {
  console.log('A read of a task, while batches are parsed');
  console.log(`${''.padEnd(34)}       p50        p99       p999   plain p99`);
  for (const { name, task, plain, batches } of figures) {
    const beside = `${ms(plain.p99Ms)}  (${batches} batches)`;
    console.log(`  ${name.padEnd(32)}${times(task)}  ${beside}`);
  }
  // The messages of the last ones are as large as they may be: no ordinary batches.
  const bars = figures.slice(1, -1).map(({ task }) => task.p99Ms);
  const good = bars.every((value) => value <= WAIT_BAR_MS);
  console.log(`  bar: p99 of at most ${WAIT_BAR_MS} ms with ordinary batches: ${held(good)}\n`);
}

export function printLists({ count, figures, ratios, buildSeconds }: ListFigure): void {
  console.log(`Lists of ${count} tasks (written in ${buildSeconds.toFixed(1)} s), 100 a page`);
  console.log(`${''.padEnd(34)}      /s        p50        p99       p999`);
  for (const { name, perSecond, ...rest } of figures) {
    console.log(`  ${name.padEnd(32)}${rate(perSecond)} ${times(rest)}`);
  }
  for (const { name, ratio } of ratios) {
    console.log(`  ${name}: ${ratio.toFixed(2)} times the time of the first page`);
  }
  console.log('');
}

export function printSoak({ seconds, requests, tasks, quarters, peakBytes, growth }: SoakFigure) {
  console.log(
    `Soak of ${seconds.toFixed(0)} s: ${requests} requests, ${tasks} tasks from begin to end`,
  );
  console.log(
    `  resident, medians of the quarters: ${quarters.map(mb).join(', ')}; peak ${mb(peakBytes)}; ` +
      `the last is ${growth.toFixed(2)} times the second\n`,
  );
}

export function printMemory({ clients, bodyBytes, before, uploads, direct }: MemoryFigure): void {
  console.log(`Memory of the server, resident; ${mb(before)} before`);
  console.log(
    `  ${clients} uploads of ${mb(bodyBytes)} at once: peak ${mb(uploads.peakBytes)}, ` +
      `${uploads.accepted} accepted, ${uploads.seconds.toFixed(1)} s`,
  );
  console.log(
    `  ${clients} direct requests of ${mb(bodyBytes)} at once: peak ${mb(direct.peakBytes)}, ` +
      `${direct.accepted} accepted, ${direct.refused} asked to retry later, ` +
      `${direct.seconds.toFixed(1)} s`,
  );
  const peak = Math.max(uploads.peakBytes, direct.peakBytes);
  const bar = `bar: at most ${mb(MEMORY_BAR_BYTES)}`;
  console.log(`  ${bar}: ${held(peak <= MEMORY_BAR_BYTES)}\n`);
}

export function printNeighbours({ alone, beside, greedy, idle }: NeighbourFigures): void {
  console.log('Reads of five polite clients    p50        p99       p999');
  console.log(`  alone                  ${times(alone)}`);
  console.log(`  beside a greedy one    ${times(beside)}`);
  const rises = beside.p99Ms / alone.p99Ms;
  console.log(
    `  the greedy one: ${greedy.perSecond.toFixed(0)} answers a second, ` +
      `${greedy.refusedPerSecond.toFixed(0)} of them refusals; ` +
      `bar: p99 at most ${GREEDY_BAR} times: ${rises.toFixed(1)}, ${held(rises <= GREEDY_BAR)}\n`,
  );
  console.log(
    `${idle.streams} idle streams and ${idle.connections} idle connections: ` +
      `${mb(idle.beforeBytes)} before, ${mb(idle.withBytes)} with them; ` +
      `bar: at most ${mb(IDLE_BAR_BYTES)}: ${held(idle.withBytes <= IDLE_BAR_BYTES)}\n`,
  );
}

/**
 * How much more two processes may cost than plain Hono in two. On more than two cores, the second
 * process is to bring 1.6 times as many answers.
 */
const CPU_BAR = 1.1;

export function printProcesses(figures: readonly ProcessFigure[]): void {
  console.log('One process, and two by node:cluster, 32 connections');
  const rise = ({ name, cpuMicroseconds }: ProcessFigure) =>
    cpuMicroseconds / figures.find((x) => x.name === name && x.processes === 1)!.cpuMicroseconds;
  for (const figure of figures) {
    const { name, processes, perSecond, cpuMicroseconds } = figure;
    const one = figures.find((x) => x.name === name && x.processes === 1)!;
    const plain = rise(figures.find((x) => x.name === PLAIN && x.processes === processes)!);
    const bar = CPU_BAR * Math.max(1, plain);
    console.log(
      `  ${`${processes} × ${name}`.padEnd(22)}${rate(perSecond)}/s ` +
        `(${(perSecond / one.perSecond).toFixed(2)})  ` +
        `${cpuMicroseconds.toFixed(0)} µs of CPU each (${rise(figure).toFixed(2)}; ` +
        `bar ${bar.toFixed(2)}: ${held(rise(figure) <= bar)})`,
    );
  }
  console.log('');
}
