/** The metrics of `falconry serve`, made from the events of the service. */
import { statfs } from 'node:fs/promises';
import type { FalconService, PortCall, ServiceEvent } from 'falconry/middleware';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const registry = new Registry();
const registers = [registry];
collectDefaultMetrics({ register: registry });

const counter = (name: string, ...labelNames: string[]) =>
  new Counter({ name, help: name, labelNames, registers });
const histogram = (name: string, buckets: number[], ...labelNames: string[]) =>
  new Histogram({ name, help: name, buckets, labelNames, registers });

const FAST = [0.0002, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 2, 10]; // seconds
const SLOW = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 180];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const ofRequest = ['route', 'method', 'status'];
const requests = counter('http_requests_total', ...ofRequest);
const requestSeconds = histogram('http_request_duration_seconds', FAST, ...ofRequest);
const claims = counter('falconry_claims_total');
const attempts = counter('falconry_attempts_total', 'outcome');
const lostLeases = counter('falconry_lost_leases_total');
const staleWrites = counter('falconry_stale_writes_total');
const phaseSeconds = histogram('falconry_task_phase_seconds', SLOW, 'phase');
const signatures = counter('falconry_signatures_total');
const resultBytes = histogram('falconry_result_bytes', [1e3, 1e4, 1e5, 3e5, 1e6, 1e7], 'format');
const trouble = counter('falconry_trouble_total');
const callSeconds = {
  store: histogram('falconry_store_seconds', FAST, 'verb'),
  blobs: histogram('falconry_blob_seconds', FAST, 'verb'),
};
const failedCalls = counter('falconry_failed_calls_total', 'port', 'verb');
const hints = counter('falconry_hints_total', 'kind');
const swept = counter('falconry_swept_tasks_total', 'kind');
const damaged = counter('falconry_damaged_files_total', 'file');
const clockAhead = new Gauge({
  name: 'falconry_clock_ahead_seconds',
  help: 'falconry_clock_ahead_seconds',
  registers,
});

/** Counts calls to the store and to the files: the option `onPortCall`. */
export function onPortCall({ port, verb, durationMs, failed }: PortCall): void {
  callSeconds[port].observe({ verb }, durationMs / 1000);
  if (failed) failedCalls.inc({ port, verb });
}

/** Counts requests and work: the option `onEvent`. */
export function onEvent(event: ServiceEvent): void {
  if (event.type === 'request') {
    // Clients may send any word as a method; labels must be few.
    const method = METHODS.includes(event.method) ? event.method : 'OTHER';
    const labels = { route: event.path, method, status: String(event.status) };
    requests.inc(labels);
    requestSeconds.observe(labels, event.durationMs / 1000);
  } else if (event.type === 'hint') {
    hints.inc({ kind: event.state });
  } else if (event.type === 'damaged') {
    damaged.inc({ file: 'result' });
  } else if (event.type === 'swept') {
    clockAhead.set(event.aheadMs / 1000);
    swept.inc({ kind: 'expired' }, event.expired);
    swept.inc({ kind: 'removed' }, event.removed);
  } else if (event.type === 'work') {
    onWork(event.event);
  }
}

type WorkEvent = Extract<ServiceEvent, { type: 'work' }>['event'];

function onWork(work: WorkEvent): void {
  if (work.type === 'claimed') claims.inc();
  else if (work.type === 'trouble') trouble.inc();
  else if (work.type === 'phase') {
    phaseSeconds.observe({ phase: work.phase }, work.durationMs / 1000);
  } else {
    attempts.inc({ outcome: work.type });
    if (work.type === 'retried' && work.error.code === 'FILE_DAMAGED') {
      damaged.inc({ file: 'input' });
    }
    if (work.type === 'completed') {
      signatures.inc(work.signatures);
      resultBytes.observe({ format: work.format }, work.aggregateBytes);
    } else if (work.type === 'lost') {
      lostLeases.inc();
      if (work.stale) staleWrites.inc();
    }
  }
}

/** Adds the gauges, which ask the service each time the metrics are read. */
export function addGauges(service: FalconService, directory: string, threads: number): void {
  const gauge = (name: string, collect: (gauge: Gauge) => unknown, ...labelNames: string[]) =>
    new Gauge({
      name,
      help: name,
      labelNames,
      registers,
      async collect() {
        await collect(this);
      },
    });
  const depthOrNull = () => service.depth().catch(() => null); // null: the store does not respond
  gauge('falconry_threads', (it) => it.set(threads));
  gauge('falconry_tasks_in_work', (it) => it.set(service.running));
  gauge('falconry_disk_free_bytes', async (it) => {
    const { bavail, bsize } = await statfs(directory);
    it.set(bavail * bsize);
  });
  gauge('falconry_ready', async (it) => it.set((await service.health()).ready ? 1 : 0));
  gauge('falconry_oldest_waiting_seconds', async (it) => {
    const depth = await depthOrNull();
    it.set(depth === null ? Number.NaN : (depth.oldestWaitingMs ?? 0) / 1000);
  });
  const showTasks = async (it: Gauge) => {
    it.reset();
    const depth = await depthOrNull();
    if (depth === null) return;
    for (const [state, count] of Object.entries(depth.states)) it.set({ state }, count);
    it.set({ state: 'quarantined' }, depth.quarantined);
  };
  gauge('falconry_tasks', showTasks, 'state');
}
