/** The checks of a machine, which tests can replace, and of a service at an address. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { falcon512, type ModuleName, ready } from '../../falcon/index.ts';
import { binarySizeText } from '../../wire/sizes.ts';
import type { Io } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import { isMissing } from '../lib/io.ts';
import { proxyAdvice } from '../lib/text.ts';

/** A fault prevents the service from working or makes it unsafe; a warning may not matter. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault';
  readonly check: string;
  readonly message: string;
  readonly advice?: string;
}

const finding =
  (level: Finding['level']) =>
  (check: string, message: string, advice?: string): Finding =>
    advice === undefined ? { level, check, message } : { level, check, message, advice };
export const ok = finding('ok');
export const warning = finding('warning');
export const fault = finding('fault');

type Found = Finding | readonly Finding[];
export type Check<Subject> = (subject: Subject) => Found | Promise<Found>;

export async function runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Promise<Finding[]> {
  const found: Found[] = [];
  for (const check of checks) found.push(await check(subject));
  return found.flat();
}

const PATIENCE_MS = 10_000;

/** The facts of this machine; tests replace them. */
export const thisHost = () => ({
  nodeVersion: process.versions.node,
  /** The build that the engine runs; rejects if it runs none. */
  module: async (): Promise<ModuleName> => {
    await ready();
    return falcon512.module;
  },
  /** Rejects if threads cannot be started. */
  startThread: async (): Promise<void> => {
    await once(new Worker('', { eval: true }), 'exit');
  },
  availableBytes: () => process.availableMemory(),
  /** Rejects if the package is not installed. */
  load: (name: string): Promise<unknown> => import(name),
  nowMs: () => Date.now(),
  fetch: (url: string) => fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) }),
});
export type Host = Readonly<ReturnType<typeof thisHost>>;

export async function readManifest() {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  type Manifest = { version: string; engines: { node: string } };
  return JSON.parse(text) as Manifest & { peerDependencies: Record<string, string> };
}

interface Machine {
  readonly host: Host;
  readonly manifest: Awaited<ReturnType<typeof readManifest>>;
}

export const MACHINE_CHECKS: readonly Check<Machine>[] = [
  checkNode,
  checkModule,
  checkThreads,
  checkMemory,
  checkClock,
  checkPackages,
];

function checkNode({ manifest, host: { nodeVersion } }: Machine): Finding {
  const wanted = manifest.engines.node.replace('>=', '');
  const [a = 0, b = 0] = nodeVersion.split('.').map(Number);
  const [major = 0, minor = 0] = wanted.split('.').map(Number);
  if (a > major || (a === major && b >= minor)) return ok('node', `Node ${nodeVersion}`);
  return fault('node', `Node ${nodeVersion} is too old`, `install Node ${wanted} or newer`);
}

async function checkModule({ host }: Machine): Promise<Finding> {
  try {
    const name = await host.module();
    if (name === 'relaxed') return ok('webassembly', 'SIMD and relaxed SIMD');
    const advice = 'a newer Node, on a processor that has it, is faster';
    return warning('webassembly', 'SIMD, but no relaxed SIMD: it works, more slowly', advice);
  } catch (error) {
    const advice = 'start Node without options that turn WebAssembly off, such as --jitless';
    return fault('webassembly', `it cannot be run: ${(error as Error).message}`, advice);
  }
}

async function checkThreads({ host }: Machine): Promise<Finding> {
  try {
    await host.startThread();
    return ok('threads', `they start; ${availableParallelism()} processors`);
  } catch (error) {
    const advice = 'raise the limit of processes (ulimit -u, TasksMax, pids), or of memory';
    return fault('threads', `none can be started: ${(error as Error).message}`, advice);
  }
}

/** Memory of Node and a thread for a small batch, and for one of the largest size. */
const LEAST_BYTES = 200 * 2 ** 20;
const COMFORTABLE_BYTES = 768 * 2 ** 20;

function checkMemory({ host }: Machine): Finding {
  const bytes = host.availableBytes();
  const message = `${binarySizeText(bytes)} available`;
  if (bytes >= COMFORTABLE_BYTES) return ok('memory', message);
  const advice = 'give it 768 MiB: see the sizes in docs/operating.md';
  return bytes >= LEAST_BYTES
    ? warning('memory', `${message}: too little for large batches`, advice)
    : fault('memory', `${message}: too little for any aggregate`, advice);
}

/** No correct clock shows an earlier time. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);

function checkClock({ host: { nowMs } }: Machine): Finding {
  const now = new Date(nowMs()).toISOString();
  if (nowMs() >= EARLIEST_MS) return ok('clock', now);
  return fault('clock', `${now} is in the past: urls and keys would not expire`, 'set it, by NTP');
}

const PURPOSES: Readonly<Record<string, string>> = {
  hono: 'falconry serve and worker',
  '@hono/node-server': 'falconry serve and worker',
  pg: '--database',
  aws4fetch: '--blobs',
  'prom-client': '--metrics-port',
  '@opentelemetry/api': 'spans of requests and tasks',
};

function checkPackages({ manifest, host }: Machine): Promise<Finding[]> {
  const peers = Object.entries(manifest.peerDependencies);
  const check = async ([name, range]: [string, string]) => {
    const use = PURPOSES[name] ?? 'some features';
    try {
      await host.load(name);
      return ok('packages', `${name} is installed, for ${use}`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const named = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
      if (named || isMissing(error, name)) {
        return ok('packages', `${name} is not installed: only for ${use}`);
      }
      const advice = `npm install '${name}@${range}'`;
      return fault('packages', `${name} cannot be loaded, for ${use}`, advice);
    }
  };
  return Promise.all(peers.map(check));
}

/** Signed requests to buckets, and urls of files, allow no more than some minutes. */
const SKEW_MS = 60_000;

/** Checks the version and the clock of the service at `--url`, if that is given. */
export async function checkRemote(
  { values: { url }, origins }: Config<'url'>,
  { manifest: { version }, host: { fetch, nowMs } }: Machine,
  env: Io['env'],
): Promise<Finding[]> {
  if (origins.url.source === 'default') return [];
  const startMs = nowMs();
  let response: Response;
  let theirs: unknown;
  try {
    response = await fetch(`${url}/v1/openapi.json`);
    theirs = response.ok && (await response.json())?.info?.version;
  } catch (error) {
    const { cause, message } = error as Error;
    const why = cause instanceof Error ? cause.message || cause.name : message;
    const advice = proxyAdvice(env) || 'start it, or correct --url';
    return [fault('service', `${url} cannot be reached: ${why}`, advice)];
  }
  if (typeof theirs !== 'string' || !/^[\w.+-]{1,40}$/.test(theirs)) {
    const message = `${url} answers with ${response.status}, but not as falconry`;
    return [fault('service', message, 'correct --url: it ends before /v1')];
  }
  const tookMs = nowMs() - startMs;
  const answer = `${url} answers in ${Math.round(tookMs)} ms; version ${theirs}`;
  const differs = `${answer}, this is ${version}`;
  const found =
    theirs === version
      ? ok('service', answer)
      : warning('service', differs, 'use the same version on both sides');
  const skewMs = Date.parse(response.headers.get('date') ?? '') - nowMs();
  if (!(Math.abs(skewMs) > SKEW_MS + tookMs)) return [found];
  const message = `the clock of the service is ${Math.round(skewMs / 1000)} s from this one`;
  return [found, warning('clock', message, 'set both by NTP: urls expire too early, or too late')];
}
