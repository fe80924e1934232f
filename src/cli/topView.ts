/** What `falconry top` shows: the difference of two looks at a server, as lines of text. */
import { binarySizeText } from '../wire/sizes.ts';
import type { ServerStatus, Spread, Total } from './serverStatus.ts';
import { printable } from './service.ts';

/** What happened between two looks, a second. */
export interface View {
  readonly at: ServerStatus;
  readonly rates: Readonly<Record<Total, number>>;
  /** Medians and 99th percentiles in milliseconds; null if nothing happened. */
  readonly latencies: Readonly<Record<string, Latency | null>>;
}

interface Latency {
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/**
 * The status in an answer; without control characters, since it is shown on a terminal.
 *
 * @throws Error if it is something else
 */
export function readStatus(text: string): ServerStatus {
  const status = JSON.parse(text, (_, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  ) as Partial<ServerStatus> | null;
  const { totals, seconds, memory, event_loop_ms, checks, uptime_s, time } = status ?? {};
  const parts = [totals, seconds, seconds?.phases, memory, event_loop_ms, checks];
  const whole = parts.every((part) => typeof part === 'object' && part !== null);
  if (whole && typeof uptime_s === 'number' && typeof time === 'string') {
    return status as ServerStatus;
  }
  throw new Error('it is not a metrics port of falconry serve');
}

/** @param before an earlier look; null: since the server's start */
export function viewOf(at: ServerStatus, before: ServerStatus | null): View {
  // After a restart the earlier totals are those of another process.
  const earlier = before !== null && before.uptime_s <= at.uptime_s ? before : null;
  const seconds =
    earlier === null
      ? Math.max(1, at.uptime_s)
      : Math.max(0.001, (Date.parse(at.time) - Date.parse(earlier.time)) / 1000);
  const rates = Object.entries(at.totals).map(([name, total]) => {
    const rate = (total - (earlier?.totals[name as Total] ?? 0)) / seconds;
    return [name, Math.round(1000 * rate) / 1000];
  });
  const old = earlier === null ? {} : spreadsOf(earlier);
  const latencies = Object.entries(spreadsOf(at)).map(([name, spread]) => [
    name,
    latencyOf(spread, old[name]),
  ]);
  return { at, rates: Object.fromEntries(rates), latencies: Object.fromEntries(latencies) };
}

/** Every spread by its name in the view. */
function spreadsOf({ seconds: { phases, ...others } }: ServerStatus): Record<string, Spread> {
  const named = Object.entries(phases).map(([phase, spread]) => [`phase_${phase}`, spread]);
  return { ...others, ...Object.fromEntries(named) };
}

function latencyOf({ le, counts }: Spread, since: Spread | undefined): Latency | null {
  const fresh = counts.map((count, i) => count - (since?.counts[i] ?? 0));
  const all = fresh.at(-1) ?? 0;
  if (all <= 0) return null;
  const at = (part: number) => Math.round(1e5 * quantile(le, fresh, part * all)) / 100;
  return { p50_ms: at(0.5), p99_ms: at(0.99) };
}

/** Linear within the bucket that holds it; the last bound, if it is beyond. */
function quantile(le: readonly number[], counts: readonly number[], rank: number): number {
  const i = counts.findIndex((count) => count >= rank);
  const high = le[i];
  if (high === undefined) return le.at(-1) ?? 0;
  const low = le[i - 1] ?? 0;
  const below = counts[i - 1] ?? 0;
  return low + ((high - low) * (rank - below)) / Math.max(1, counts[i]! - below);
}

const STATES = ['created', 'uploaded', 'waiting', 'verifying', 'aggregating', 'quarantined'];

/** The lines of a view; the text of a server is printed without its control characters. */
export function linesOf({ at, rates, latencies }: View, colour: boolean): string[] {
  const paint = (code: number, text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  const name = (text: string) => paint(1, text.padEnd(11));
  const bad = (value: number, text: string) => (value > 0 ? paint(31, text) : text);
  const ready = at.ready ? paint(32, 'ready') : paint(31, `not ready (${faultsOf(at)})`);
  const tasks = STATES.map((state) => `${state} ${at.tasks?.[state] ?? 0}`).join('  ');
  const [mem, heap] = [at.memory.rss, at.memory.heap].map(binarySizeText);
  const shown = (each: string, of = each) => {
    const found = latencies[of];
    const text = found ? `${inMs(found.p50_ms)} / ${inMs(found.p99_ms)}` : '-';
    return `${each} ${text}`;
  };
  const { p50, p99 } = at.event_loop_ms;
  return [
    `${name('server')} ${ready}  up ${inTime(at.uptime_s)}  ${at.time.slice(11, 19)} UTC`,
    `${name('queue')} ${at.tasks === null ? paint(31, 'unknown') : tasks}`,
    `${name('oldest')} ${at.oldest_waiting_s === null ? '-' : inTime(at.oldest_waiting_s)}`,
    `${name('work')} ${at.in_work} tasks on ${at.threads} threads`,
    `${name('requests')} ${perSecond(rates.requests)}  ${bad(
      rates.errors,
      `errors ${perSecond(rates.errors)}`,
    )}`,
    `${name('tasks')} completed ${perSecond(rates.completed)}  failed ${perSecond(rates.failed)}` +
      `  signatures ${perSecond(rates.signatures)}`,
    `${name('trouble')} ${(['retried', 'lost', 'stale', 'trouble'] as const)
      .map((each) => bad(rates[each], `${each} ${perSecond(rates[each])}`))
      .join('  ')}`,
    `${name('p50 / p99')} ${['requests', 'store', 'blobs'].map((each) => shown(each)).join('  ')}`,
    `${name('')} ${['read', 'verify', 'aggregate']
      .map((each) => shown(each, `phase_${each}`))
      .join('  ')}`,
    `${name('process')} memory ${mem}, heap ${heap}  event loop ${inMs(p50)} / ${inMs(p99)}`,
  ];
}

/** What is wrong, in words. */
function faultsOf({ state, checks }: ServerStatus): string {
  const wrong = Object.entries(checks).filter(([, found]) => found !== 'ok');
  return [state, ...wrong.map((each) => each.join(': '))].join(', ');
}

const perSecond = (rate: number) => `${rate >= 100 ? rate.toFixed(0) : rate.toFixed(1)}/s`;

function inMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 10 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}

function inTime(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}
