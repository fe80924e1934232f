/**
 * The metrics of `falconry serve` for Prometheus, fed by the service's events and the calls of its
 * ports. Labels are routes, states, verbs and the like: never a client, a task or an address.
 */
import type { Counter, Histogram, Registry } from 'prom-client';
import type { PortCall, QueueDepth, RunnerEvent, ServiceEvent } from '../../middleware/index.ts';
import { IoFailure } from '../lib/command.ts';

type Prometheus = typeof import('prom-client');

/** What is asked when the metrics are read. */
export interface Gauged {
  /** @returns null if the store does not tell */
  depth(): Promise<QueueDepth | null>;
  ready(): Promise<boolean>;
  /** The number of tasks that this process works on. */
  running(): number;
  /** Free bytes on the disk of the embedded store and its files; null if it has none. */
  freeBytes(): Promise<number | null>;
}

const REQUEST_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const PHASE_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 180];
const CALL_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2, 10];
const RESULT_BYTES = [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7];

/** A caller may send any other word: all of those are one. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** @throws IoFailure if prom-client is not installed */
export async function loadMetrics(threads: number): Promise<Metrics> {
  let prometheus: Prometheus;
  try {
    prometheus = await import('prom-client');
  } catch (error) {
    if (!/'prom-client'/.test((error as Error).message)) throw error;
    throw new IoFailure('metrics need the package prom-client: npm install prom-client@15', {
      cause: error,
    });
  }
  return new Metrics(prometheus, threads);
}

export class Metrics {
  readonly registry: Registry;
  readonly #requests: Counter;
  readonly #requestSeconds: Histogram;
  readonly #attempts: Counter;
  readonly #signatures: Counter;
  readonly #storeSeconds: Histogram;
  readonly #blobSeconds: Histogram;
  readonly #trouble: Counter;
  readonly #lostLeases: Counter;
  readonly #staleWrites: Counter;
  readonly #phaseSeconds: Histogram;
  readonly #claims: Counter;
  readonly #resultBytes: Histogram;
  readonly #failedCalls: Counter;
  readonly #hints: Counter;
  readonly #swept: Counter;
  readonly #prometheus: Prometheus;

  constructor(prometheus: Prometheus, threads: number) {
    // Not the one that all of the process share: what a host of its own adds there is its own.
    const registry = new prometheus.Registry();
    const registers = [registry];
    const counter = (name: string, help: string, ...labelNames: string[]) =>
      new prometheus.Counter({ name, help, labelNames, registers });
    const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
      new prometheus.Histogram({ name, help, buckets, labelNames, registers });
    const gauge = (name: string, help: string) => new prometheus.Gauge({ name, help, registers });
    prometheus.collectDefaultMetrics({ register: registry });
    this.#prometheus = prometheus;
    this.registry = registry;
    gauge('falconry_threads', 'Worker threads for tasks').set(threads);

    const ofRequest = ['route', 'method', 'status'];
    this.#requests = counter('http_requests_total', 'Answered requests', ...ofRequest);
    this.#requestSeconds = histogram(
      'http_request_duration_seconds',
      'From a request to the end of its answer',
      REQUEST_SECONDS,
      ...ofRequest,
    );
    this.#claims = counter('falconry_claims_total', 'Tasks taken from the queue');
    this.#attempts = counter('falconry_attempts_total', 'Ended attempts at tasks', 'outcome');
    this.#lostLeases = counter('falconry_lost_leases_total', 'Tasks lost to another worker');
    this.#staleWrites = counter(
      'falconry_stale_writes_total',
      'Outcomes that the store refused, since another worker had the task',
    );
    this.#phaseSeconds = histogram(
      'falconry_task_phase_seconds',
      'Phases of tasks; the last one of an attempt may have ended early',
      PHASE_SECONDS,
      'phase',
    );
    this.#signatures = counter('falconry_signatures_total', 'Signatures in completed tasks');
    this.#resultBytes = histogram(
      'falconry_result_bytes',
      'Sizes of aggregates',
      RESULT_BYTES,
      'format',
    );
    const calls = 'Calls of the store';
    this.#storeSeconds = histogram('falconry_store_seconds', calls, CALL_SECONDS, 'verb');
    const blobCalls = 'Calls of the store of files';
    this.#blobSeconds = histogram('falconry_blob_seconds', blobCalls, CALL_SECONDS, 'verb');
    const failed = 'Calls of the stores that failed';
    this.#failedCalls = counter('falconry_failed_calls_total', failed, 'port', 'verb');
    const hints = 'News of tasks that other processes changed';
    this.#hints = counter('falconry_hints_total', hints, 'kind');
    const trouble = 'Times that a worker met trouble with the store or the files';
    this.#trouble = counter('falconry_trouble_total', trouble);
    this.#swept = counter('falconry_swept_tasks_total', 'Tasks that ended by time', 'kind');
    // So that a rate is known from the first one on.
  }

  /** Adds what is asked when the metrics are read. */
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
    new Gauge({
      name: 'falconry_oldest_waiting_seconds',
      help: 'Age of the oldest task in the queue; 0 if it is empty',
      registers,
      async collect() {
        const found = await depth();
        this.set(found === null ? Number.NaN : (found.oldestWaitingMs ?? 0) / 1000);
      },
    });
    new Gauge({
      name: 'falconry_tasks_in_work',
      help: 'Tasks that this process works on',
      registers,
      collect() {
        this.set(running());
      },
    });
    new Gauge({
      name: 'falconry_disk_free_bytes',
      help: 'Free bytes on the disk of the data directory; NaN if nothing is kept there',
      registers,
      async collect() {
        this.set((await freeBytes()) ?? Number.NaN);
      },
    });
    new Gauge({
      name: 'falconry_ready',
      help: 'Whether /readyz says 200',
      registers,
      async collect() {
        this.set((await ready()) ? 1 : 0);
      },
    });
  }

  readonly onEvent = (event: ServiceEvent): void => {
    switch (event.type) {
      case 'request': {
        const { path: route, status, durationMs } = event;
        const method = METHODS.has(event.method) ? event.method : 'OTHER';
        const labels = { route, method, status: String(status) };
        this.#requests.inc(labels);
        this.#requestSeconds.observe(labels, durationMs / 1000);
        return;
      }
      case 'work':
        this.#note(event.event);
        return;
      case 'hint':
        this.#hints.inc({ kind: event.state });
        return;
      case 'swept':
        this.#swept.inc({ kind: 'expired' }, event.expired);
        this.#swept.inc({ kind: 'removed' }, event.removed);
        return;
      case 'task':
    }
  };

  readonly onPortCall = ({ port, verb, durationMs, failed }: PortCall): void => {
    const seconds = port === 'store' ? this.#storeSeconds : this.#blobSeconds;
    seconds.observe({ verb }, durationMs / 1000);
    if (failed) this.#failedCalls.inc({ port, verb });
  };

  #note(event: RunnerEvent): void {
    switch (event.type) {
      case 'claimed':
        this.#claims.inc();
        return;
      case 'phase':
        this.#phaseSeconds.observe({ phase: event.phase }, event.durationMs / 1000);
        return;
      case 'trouble':
        this.#trouble.inc();
        return;
      case 'completed':
        this.#signatures.inc(event.signatures);
        this.#resultBytes.observe({ format: event.format }, event.aggregateBytes);
        break;
      case 'lost':
        this.#lostLeases.inc();
        if (event.stale) this.#staleWrites.inc();
        break;
      default:
    }
    this.#attempts.inc({ outcome: event.type });
  }
}
