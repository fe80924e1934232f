/**
 * The state of a server as JSON, at `/status` of its metrics port: totals since the start, and what
 * is so now. `falconry top` shows the difference of two looks.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Histogram } from 'prom-client';
import type { Health, QueueDepth } from '../middleware/index.ts';
import type { Metrics } from './metrics.ts';

/** How often something took how long: counts of everything up to each bound, in seconds. */
export interface Spread {
  /** Ascending; there is one more count, of everything. */
  readonly le: readonly number[];
  readonly counts: readonly number[];
}

export interface ServerStatus {
  readonly time: string;
  readonly uptime_s: number;
  readonly ready: boolean;
  readonly state: Health['state'];
  readonly checks: Health['checks'];
  /** By state, of all clients; null if the store does not tell. */
  readonly tasks: Readonly<Record<string, number>> | null;
  readonly oldest_waiting_s: number | null;
  readonly in_work: number;
  readonly threads: number;
  readonly totals: Readonly<Record<Total, number>>;
  readonly seconds: {
    readonly requests: Spread;
    readonly store: Spread;
    readonly blobs: Spread;
    /** By phase. */
    readonly phases: Readonly<Record<string, Spread>>;
  };
  readonly memory: { readonly rss: number; readonly heap: number };
  /** Since the last look; in milliseconds. */
  readonly event_loop_ms: { readonly p50: number; readonly p99: number };
}

/** What is counted. `errors` are answers with a status from 500. */
export type Total =
  | 'requests'
  | 'errors'
  | 'completed'
  | 'failed'
  | 'retried'
  | 'lost'
  | 'stale'
  | 'trouble'
  | 'signatures';

/** What is asked at every look. */
export interface Looked {
  health(): Promise<Health>;
  depth(): Promise<QueueDepth | null>;
  running(): number;
}

/** Between two looks at the event loop: what it measures is this and the delay. */
const LOOK_MS = 10;

/** @returns a function that looks at the server */
export function watchServer(metrics: Metrics, looked: Looked): () => Promise<ServerStatus> {
  // Of its own: that of the metrics starts anew at each of their readers' looks.
  const delay = monitorEventLoopDelay({ resolution: LOOK_MS });
  delay.enable();
  return async () => {
    const [{ ready, state, checks }, depth] = await Promise.all([looked.health(), looked.depth()]);
    const { rss, heapUsed: heap } = process.memoryUsage();
    const inMs = (percent: number) =>
      Math.max(0, Math.round(delay.percentile(percent) / 1e5 - 10 * LOOK_MS) / 10);
    const loop = { p50: inMs(50), p99: inMs(99) };
    delay.reset();
    return {
      time: new Date().toISOString(),
      uptime_s: Math.round(process.uptime()),
      ready,
      state,
      checks,
      tasks: depth && { ...depth.states, quarantined: depth.quarantined },
      oldest_waiting_s: depth && (depth.oldestWaitingMs ?? 0) / 1000,
      in_work: looked.running(),
      threads: metrics.threads,
      totals: await totalsOf(metrics),
      seconds: await secondsOf(metrics),
      memory: { rss, heap },
      event_loop_ms: loop,
    };
  };
}

async function totalsOf(metrics: Metrics): Promise<ServerStatus['totals']> {
  const [requests, attempts] = await Promise.all([metrics.requests.get(), metrics.attempts.get()]);
  const sum = (values: readonly { readonly value: number }[]) =>
    values.reduce((total, { value }) => total + value, 0);
  const alone = async (metric: Metrics['trouble']) => sum((await metric.get()).values);
  const outcomes = (outcome: string) =>
    sum(attempts.values.filter(({ labels }) => labels.outcome === outcome));
  return {
    requests: sum(requests.values),
    errors: sum(requests.values.filter(({ labels }) => Number(labels.status) >= 500)),
    completed: outcomes('completed'),
    failed: outcomes('failed'),
    retried: outcomes('retried'),
    lost: await alone(metrics.lostLeases),
    stale: await alone(metrics.staleWrites),
    trouble: await alone(metrics.trouble),
    signatures: await alone(metrics.signatures),
  };
}

async function secondsOf(metrics: Metrics): Promise<ServerStatus['seconds']> {
  const phases: Record<string, Spread> = {};
  for (const phase of ['read', 'verify', 'aggregate', 'store']) {
    phases[phase] = await spreadOf(metrics.phaseSeconds, (labels) => labels.phase === phase);
  }
  return {
    // A stream of events lasts as long as its reader likes.
    requests: await spreadOf(
      metrics.requestSeconds,
      ({ route }) => !String(route).endsWith('/events'),
    ),
    store: await spreadOf(metrics.storeSeconds),
    blobs: await spreadOf(metrics.blobSeconds),
    phases,
  };
}

type Labels = Partial<Record<string, string | number>>;

/** The buckets of a histogram, over all labels that fit. */
async function spreadOf(
  histogram: Histogram,
  fits: (labels: Labels) => boolean = () => true,
): Promise<Spread> {
  const { values } = await histogram.get();
  const counts = new Map<number, number>();
  for (const { labels, value, metricName } of values) {
    if (!metricName?.endsWith('_bucket') || !fits(labels)) continue;
    const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  const bounds = [...counts.keys()].toSorted((a, b) => a - b);
  return {
    le: bounds.filter((bound) => bound < Infinity),
    counts: bounds.map((bound) => counts.get(bound)!),
  };
}
