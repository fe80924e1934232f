/** The checks of a machine, which tests can replace, and of a service at an address. */

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { falcon512, ready } from '../../falcon/index.ts';
import { binarySizeText } from '../../wire/sizes.ts';
import type { Config } from '../lib/config.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** What the checks ask of the machine. */
export interface Host {
  readonly nodeVersion: string;
  /** The build that the engine runs; rejects if it runs none. */
  readonly module: () => Promise<'plain' | 'relaxed'>;
  /** Rejects if threads cannot be started. */
  readonly startThread: () => Promise<void>;
  readonly availableBytes: () => number;
  /** Rejects if the package is not installed. */
  readonly load: (name: string) => Promise<unknown>;
  readonly nowMs: () => number;
  readonly fetch: (url: string) => Promise<Response>;
}

const PATIENCE_MS = 10_000;

/** This machine. */
export const thisHost = (): Host => ({
  nodeVersion: process.versions.node,
  module: async () => {
    await ready();
    return falcon512.module;
  },
  startThread: () =>
    new Promise((resolve, reject) => {
      const worker = new Worker('', { eval: true });
      worker.once('error', reject);
      worker.once('exit', () => resolve());
    }),
  availableBytes: () => process.availableMemory(),
  load: (name) => import(name),
  nowMs: () => Date.now(),
  fetch: (url) => fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) }),
});

export interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export async function readManifest(): Promise<Manifest> {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  return JSON.parse(text) as Manifest;
}

/** Whether falconry can run here. */
export async function checkMachine(manifest: Manifest, host: Host): Promise<Finding[]> {
  return [
    checkNode(manifest, host),
    await checkModule(host),
    await checkThreads(host),
    checkMemory(host),
    checkClock(host),
    ...(await checkPackages(manifest, host)),
  ];
}

function checkNode({ engines }: Manifest, { nodeVersion }: Host): Finding {
  const wanted = engines.node.replace('>=', '');
  const [a = 0, b = 0] = nodeVersion.split('.').map(Number);
  const [major = 0, minor = 0] = wanted.split('.').map(Number);
  if (a > major || (a === major && b >= minor)) return ok('node', `Node ${nodeVersion}`);
  return fault('node', `Node ${nodeVersion} is too old`, `install Node ${wanted} or newer`);
}

async function checkModule({ module }: Host): Promise<Finding> {
  try {
    const name = await module();
    if (name === 'relaxed') return ok('webassembly', 'SIMD and relaxed SIMD');
    const advice = 'a newer Node, on a processor that has it, is quicker';
    return warning('webassembly', 'SIMD, but no relaxed SIMD: it works, more slowly', advice);
  } catch (error) {
    const advice = 'start Node without options that turn WebAssembly off, such as --jitless';
    return fault('webassembly', `it cannot be run: ${(error as Error).message}`, advice);
  }
}

async function checkThreads({ startThread }: Host): Promise<Finding> {
  try {
    await startThread();
    return ok('threads', `they start; ${availableParallelism()} processors`);
  } catch (error) {
    const advice = 'raise the limit of processes (ulimit -u, TasksMax, pids), or of memory';
    return fault('threads', `none can be started: ${(error as Error).message}`, advice);
  }
}

const MIB = 2 ** 20;
/** What Node and a thread need for a small batch, and for one of the largest size. */
const LEAST_BYTES = 200 * MIB;
const COMFORTABLE_BYTES = 768 * MIB;

function checkMemory({ availableBytes }: Host): Finding {
  const bytes = availableBytes();
  const message = `${binarySizeText(bytes)} available`;
  if (bytes >= COMFORTABLE_BYTES) return ok('memory', message);
  const advice = 'give it 768 MiB: see the sizes in docs/operating.md';
  if (bytes >= LEAST_BYTES)
    return warning('memory', `${message}: too little for large batches`, advice);
  return fault('memory', `${message}: too little for any aggregate`, advice);
}

/** No clock that is right shows an earlier time. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);

function checkClock({ nowMs }: Host): Finding {
  const now = new Date(nowMs()).toISOString();
  if (nowMs() >= EARLIEST_MS) return ok('clock', now);
  return fault('clock', `${now} is in the past: urls and keys would not end`, 'set it, by NTP');
}

/** What the peers are for. */
const PURPOSES: Readonly<Record<string, string>> = {
  hono: 'falconry serve and worker',
  '@hono/node-server': 'falconry serve and worker',
  pg: '--database',
  aws4fetch: '--blobs',
  'prom-client': '--metrics-port',
  '@opentelemetry/api': 'spans of requests and tasks',
};

async function checkPackages({ peerDependencies }: Manifest, { load }: Host): Promise<Finding[]> {
  return Promise.all(
    Object.entries(peerDependencies).map(async ([name, range]) => {
      const use = PURPOSES[name] ?? 'some features';
      try {
        await load(name);
        return ok('packages', `${name} is installed, for ${use}`);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)) {
          return ok('packages', `${name} is not installed: only for ${use}`);
        }
        const advice = `npm install '${name}@${range}'`;
        return fault('packages', `${name} cannot be loaded, for ${use}`, advice);
      }
    }),
  );
}

/** Signed requests to buckets and urls of files bear no more than some minutes. */
const SKEW_MS = 60_000;

/** The service at `--url`, if that is given: its version and its clock. */
export async function checkRemote(
  { values: { url }, origins }: Config<'url'>,
  { version }: Manifest,
  { fetch, nowMs }: Host,
): Promise<Finding[]> {
  if (origins.url.source === 'default') return [];
  const startMs = nowMs();
  let response: Response;
  let theirs: unknown;
  try {
    response = await fetch(`${url}/v1/openapi.json`);
    const document = response.ok ? await response.json() : null;
    theirs = (document as { info?: { version?: unknown } } | null)?.info?.version;
  } catch (error) {
    const { cause, message } = error as Error;
    const why = cause instanceof Error ? cause.message || cause.name : message;
    return [fault('service', `${url} cannot be reached: ${why}`, 'start it, or correct --url')];
  }
  if (typeof theirs !== 'string' || !/^[\w.+-]{1,40}$/.test(theirs)) {
    const message = `${url} answers with ${response.status}, but not as falconry`;
    return [fault('service', message, 'correct --url: it ends before /v1')];
  }
  const tookMs = nowMs() - startMs;
  const said = `${url} answers in ${Math.round(tookMs)} ms; version ${theirs}`;
  const found = [
    theirs === version
      ? ok('service', said)
      : warning('service', `${said}, this is ${version}`, 'use the same version on both sides'),
  ];
  const skewMs = Date.parse(response.headers.get('date') ?? '') - nowMs();
  if (Math.abs(skewMs) > SKEW_MS + tookMs) {
    const message = `the clock of the service is ${Math.round(skewMs / 1000)} s from this one`;
    found.push(warning('clock', message, 'set both by NTP: urls end too early, or too late'));
  }
  return found;
}
