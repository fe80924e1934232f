/**
 * Sends what the store has queued for webhooks. Any number of processes do it on one store: each
 * delivery is under a lease while one of them sends it.
 *
 *   claim ─▶ post ─▶ 2xx: gone │ else: again after RETRY_MS, then given up
 */
import { describe } from '../describe.ts';
import type { Logger } from '../options/options.ts';
import type { TaskNews, TaskStore } from '../stores/port/taskStore.ts';
import type { ClaimedDelivery, Settlement, WebhookStore } from '../stores/port/webhookStore.ts';
import type { Resolve } from './address.ts';
import type { DeliveryEvent } from './deliveryEvent.ts';
import { messageBody, SIGNATURE_HEADER, signatureOf } from './message.ts';
import { post } from './post.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Until the next try: nine tries in 25 hours. */
export const RETRY_MS: readonly number[] = [
  10_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  8 * HOUR_MS,
  13 * HOUR_MS,
];

export interface SenderOptions {
  readonly store: WebhookStore & Pick<TaskStore, 'watch'>;
  readonly allowPrivate: boolean;
  readonly logger: Logger;
  /** Told of every try that has ended. */
  readonly onDelivery?: (event: DeliveryEvent) => void;
  /** For tests, like the rest. */
  readonly resolve?: Resolve;
  readonly retryMs?: readonly number[];
  readonly disableMs?: number;
  readonly timeoutMs?: number;
  readonly leaseMs?: number;
  readonly lookMs?: number;
  readonly pauseMs?: number;
}

export interface Sender {
  start(): void;
  /** What is being sent may arrive for `graceMs`; the rest is sent again later. */
  stop(graceMs: number): Promise<void>;
}

/** With its defaults. */
type Filled = Required<Omit<SenderOptions, 'resolve'>> & Pick<SenderOptions, 'resolve'>;

/** At once, of one process. */
const MAX_SENDING = 4;

const DEFAULTS = {
  onDelivery: () => {},
  retryMs: RETRY_MS,
  /** A webhook at which nothing has arrived for three days is disabled. */
  disableMs: 72 * HOUR_MS,
  timeoutMs: 10_000,
  /** Longer than a try. */
  leaseMs: 30_000,
  /** Between two looks, if no news come. */
  lookMs: 5000,
  /** A webhook that failed is left alone for this long, so that others are not kept waiting. */
  pauseMs: 10_000,
} as const;

export function createSender(given: SenderOptions): Sender {
  const options: Filled = { ...DEFAULTS, ...given };
  const { store, logger, leaseMs, lookMs } = options;
  const stopping = new AbortController();
  const sending = new Set<Promise<void>>();
  let stopped = false;
  const bell = createBell(lookMs);
  let unwatch = () => {};
  let looping: Promise<void> | null = null;

  const loop = async () => {
    while (!stopped) {
      let next: ClaimedDelivery | null = null;
      bell.silence();
      try {
        next = sending.size < MAX_SENDING ? await store.claimDelivery(leaseMs) : null;
      } catch (error) {
        logger.warn('webhooks cannot be read', { error: describe(error) });
      }
      if (next === null) {
        if (!stopped) await bell.wait();
        continue;
      }
      const sent = deliver(next, options, stopping.signal).finally(() => {
        sending.delete(sent);
        bell.ring();
      });
      sending.add(sent);
    }
  };

  return {
    start() {
      const hear = ({ state }: TaskNews) => {
        if (state === 'completed' || state === 'failed') bell.ring();
      };
      unwatch = store.watch(hear);
      looping = loop();
    },
    async stop(graceMs) {
      stopped = true;
      unwatch();
      bell.ring();
      const timer = setTimeout(() => stopping.abort(), graceMs);
      await looping;
      await Promise.all(sending);
      clearTimeout(timer);
    },
  };
}

/** Wakes the one who waits; a ring that nobody waited for is not lost. */
function createBell(longestMs: number) {
  let rung = false;
  let wake = () => {};
  return {
    silence() {
      rung = false;
    },
    ring() {
      rung = true;
      wake();
    },
    /** Until it rings, or has rung since it was silenced; no longer than that. */
    wait: () =>
      new Promise<void>((resolve) => {
        if (rung) {
          resolve();
          return;
        }
        const timer = setTimeout(resolve, longestMs);
        timer.unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}

async function deliver(
  delivery: ClaimedDelivery,
  options: Filled,
  signal: AbortSignal,
): Promise<void> {
  const { store, logger, onDelivery } = options;
  const { owner, taskId, attempt } = delivery;
  const error = await attemptPost(delivery, options, signal);
  // The lease ends by itself, and another process sends it.
  if (signal.aborted && error !== null) return;
  const { retryMs, pauseMs, disableMs } = options;
  const wait = retryMs[attempt - 1] ?? null;
  const outcome: Settlement =
    error === null
      ? { arrived: true }
      : { arrived: false, error, retryMs: wait, pauseMs, disableMs };
  const facts = { owner, task: taskId, attempt };
  if (error !== null) logger.warn('webhook failed', { ...facts, error, retryMs: wait });
  else logger.debug('webhook sent', facts);
  const ended = error === null ? 'sent' : wait === null ? 'given_up' : 'failed';
  onDelivery({ taskId, attempt, outcome: ended });
  try {
    await store.settleDelivery(delivery, outcome);
  } catch (fault) {
    logger.warn('webhook not settled', { ...facts, error: describe(fault) });
  }
}

/** @returns null if it has arrived, else why not */
async function attemptPost(
  delivery: ClaimedDelivery,
  { allowPrivate, timeoutMs, resolve }: Filled,
  signal: AbortSignal,
): Promise<string | null> {
  const body = messageBody(delivery);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'falconry',
    [SIGNATURE_HEADER]: signatureOf(delivery.secret, body, Date.now()),
  };
  try {
    const options = { headers, body, allowPrivate, timeoutMs, signal, resolve };
    const status = await post(delivery.url, options);
    return status >= 200 && status < 300 ? null : `the answer was ${status}`;
  } catch (error) {
    return (error as Error).message;
  }
}
