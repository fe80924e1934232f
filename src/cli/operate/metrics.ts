/**
 * The metrics of `falconry serve` for Prometheus, fed by the service's events and the calls of its
 * ports. Labels are routes, states or verbs, never a client, a task or an address.
 */
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PortCall, QueueDepth, RunnerEvent, ServiceEvent } from '../../middleware/index.ts';
import { load } from './stores.ts';

/** Values that are computed when the metrics are read. */
interface Gauged {
  /** Null if the store does not know. */
  depth(): Promise<QueueDepth | null>;
  ready(): Promise<boolean>;
  running(): number;
  /** Free bytes on the disk of the embedded store and its files; null if it has none. */
  freeBytes(): Promise<number | null>;
}

const CALL_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2, 10];

/** Any other method of a caller counts as OTHER. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

const NEEDED = 'metrics need the package prom-client: npm install prom-client@15';

/** @throws IoFailure if prom-client is not installed */
export async function loadMetrics(threads: number): Promise<Metrics> {
  return new Metrics(await load(['prom-client'], NEEDED, () => import('prom-client')), threads);
}

const OF_REQUEST = ['route', 'method', 'status'];

/** Name, help, labels; of histograms also buckets. */
const COUNTERS = {
  requests: ['http_requests_total', 'Answered requests', OF_REQUEST],
  claims: ['falconry_claims_total', 'Tasks taken from the queue', []],
  attempts: ['falconry_attempts_total', 'Ended attempts at tasks', ['outcome']],
  lostLeases: ['falconry_lost_leases_total', 'Tasks lost to another worker', []],
  staleWrites: ['falconry_stale_writes_total', 'Outcomes refused: another worker has the task', []],
  signatures: ['falconry_signatures_total', 'Signatures in completed tasks', []],
  failedCalls: ['falconry_failed_calls_total', 'Failed calls of the stores', ['port', 'verb']],
  hints: ['falconry_hints_total', 'News of tasks that other processes changed', ['kind']],
  trouble: ['falconry_trouble_total', 'Failures of the store or the files that workers met', []],
  damaged: ['falconry_damaged_files_total', 'Reads of damaged or missing files', ['file']],
  swept: ['falconry_swept_tasks_total', 'Tasks that expired or were removed', ['kind']],
} satisfies Record<string, [string, string, labels: string[]]>;

const HISTOGRAMS = {
  requestSeconds: [
    'http_request_duration_seconds',
    'From a request to the end of its answer',
    OF_REQUEST,
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  ],
  phaseSeconds: [
    'falconry_task_phase_seconds',
    'Phases of tasks; the last one of an attempt may have ended early',
    ['phase'],
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 180],
  ],
  resultBytes: [
    'falconry_result_bytes',
    'Sizes of aggregates',
    ['format'],
    [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7],
  ],
  storeSeconds: ['falconry_store_seconds', 'Calls of the store', ['verb'], CALL_SECONDS],
  blobSeconds: ['falconry_blob_seconds', 'Calls of the store of files', ['verb'], CALL_SECONDS],
} satisfies Record<string, [string, string, labels: string[], buckets: number[]]>;

export class Metrics {
  readonly registry: Registry;
  readonly #counters: Record<keyof typeof COUNTERS, Counter>;
  readonly #histograms: Record<keyof typeof HISTOGRAMS, Histogram>;
  readonly #clock: Gauge;
  readonly #prometheus: typeof import('prom-client');

  constructor(prometheus: typeof import('prom-client'), threads: number) {
    // Not the registry of the whole process, which belongs to the host.
    const registry = new prometheus.Registry();
    const registers = [registry];
    prometheus.collectDefaultMetrics({ register: registry });
    this.#prometheus = prometheus;
    this.registry = registry;
    const counters = Object.entries(COUNTERS).map(([key, [name, help, labelNames]]) => {
      return [key, new prometheus.Counter({ name, help, labelNames, registers })];
    });
    this.#counters = Object.fromEntries(counters);
    const histograms = Object.entries(HISTOGRAMS).map(
      ([key, [name, help, labelNames, buckets]]) => {
        return [key, new prometheus.Histogram({ name, help, labelNames, buckets, registers })];
      },
    );
    this.#histograms = Object.fromEntries(histograms);
    const clock = 'By how much the clock is too far ahead to remove anything; 0 if it is not';
    this.#clock = new prometheus.Gauge({
      name: 'falconry_clock_ahead_seconds',
      help: clock,
      registers,
    });
    const help = 'Worker threads for tasks';
    new prometheus.Gauge({ name: 'falconry_threads', help, registers }).set(threads);
  }

  gauge({ depth, ready, running, freeBytes }: Gauged): void {
    const registers = [this.registry];
    const { Gauge } = this.#prometheus;
    new Gauge({
      name: 'falconry_tasks',
      help: 'Unfinished tasks of all clients, by state',
      labelNames: ['state'],
      registers,
      async collect() {
        this.reset();
        const found = await depth();
        if (found === null) return;
        for (const [state, count] of Object.entries(found.states)) this.set({ state }, count);
        this.set({ state: 'quarantined' }, found.quarantined);
      },
    });
    const single = (name: string, help: string, value: () => Promise<number> | number) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await value());
        },
      });
    const oldest = 'Age of the oldest task in the queue; 0 if it is empty';
    single('falconry_oldest_waiting_seconds', oldest, async () => {
      const found = await depth();
      return found === null ? Number.NaN : (found.oldestWaitingMs ?? 0) / 1000;
    });
    single('falconry_tasks_in_work', 'Tasks that this process works on', running);
    const disk = 'Free bytes on the disk of the data directory; NaN if it is not used';
    single('falconry_disk_free_bytes', disk, async () => (await freeBytes()) ?? Number.NaN);
    single('falconry_ready', 'Whether /readyz returns 200', async () => Number(await ready()));
  }

  readonly onEvent = (event: ServiceEvent): void => {
    const { requests, hints, swept, damaged } = this.#counters;
    if (event.type === 'work') this.#note(event.event);
    else if (event.type === 'hint') hints.inc({ kind: event.state });
    else if (event.type === 'damaged') damaged.inc({ file: 'result' });
    else if (event.type === 'swept') {
      this.#clock.set(event.aheadMs / 1000);
      swept.inc({ kind: 'expired' }, event.expired);
      swept.inc({ kind: 'removed' }, event.removed);
    } else if (event.type === 'request') {
      const { path: route, status, durationMs } = event;
      const method = METHODS.has(event.method) ? event.method : 'OTHER';
      const labels = { route, method, status: String(status) };
      requests.inc(labels);
      this.#histograms.requestSeconds.observe(labels, durationMs / 1000);
    }
  };

  readonly onPortCall = ({ port, verb, durationMs, failed }: PortCall): void => {
    const { storeSeconds, blobSeconds } = this.#histograms;
    (port === 'store' ? storeSeconds : blobSeconds).observe({ verb }, durationMs / 1000);
    if (failed) this.#counters.failedCalls.inc({ port, verb });
  };

  #note(event: RunnerEvent): void {
    const { claims, attempts, lostLeases, staleWrites, signatures, trouble, damaged } =
      this.#counters;
    const { phaseSeconds, resultBytes } = this.#histograms;
    if (event.type === 'claimed') claims.inc();
    else if (event.type === 'trouble') trouble.inc();
    else if (event.type === 'phase') {
      phaseSeconds.observe({ phase: event.phase }, event.durationMs / 1000);
    } else attempts.inc({ outcome: event.type });
    if (event.type === 'completed') {
      signatures.inc(event.signatures);
      resultBytes.observe({ format: event.format }, event.aggregateBytes);
    }
    if (event.type === 'retried' && event.error.code === 'FILE_DAMAGED') {
      damaged.inc({ file: 'input' });
    }
    if (event.type !== 'lost') return;
    lostLeases.inc();
    if (event.stale) staleWrites.inc();
  }
}
