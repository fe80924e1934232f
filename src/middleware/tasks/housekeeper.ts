/** Expires tasks, and deletes files that no task needs. */
import type { BlobStore } from '../blobs/port/blobStore.ts';
import { errorText, type Logger, type ServiceEvent } from '../events.ts';
import type { SuspectClock, TaskStore } from '../stores/port/taskStore.ts';

const SWEEP_EVERY_MS = 30_000;
const CLEAN_EVERY_MS = 3_600_000;
/** Time within which a new file may still become the file of a task. */
const ORPHAN_AGE_MS = 24 * 3_600_000;
const WARN_EVERY_MS = 3_600_000;
const ANSWER_LIFE_MS = 24 * 3_600_000;

interface HousekeeperOptions {
  readonly store: TaskStore;
  readonly blobs: BlobStore;
  /** Null: finished tasks are kept. */
  readonly retentionMs: number | null;
  readonly uploadUrlTtlMs: number;
  readonly logger: Logger;
  readonly onEvent: (event: ServiceEvent) => void;
  readonly isStopping: () => boolean;
}

/** @returns a function that stops it after its current round */
export function startHousekeeper(options: HousekeeperOptions): () => Promise<void> {
  const { store, blobs, retentionMs, uploadUrlTtlMs, logger, onEvent, isStopping } = options;
  let running: Promise<void> | null = null;
  let cleanedAtMs = 0;
  let warnedMs = Number.NEGATIVE_INFINITY;
  const warn = ({ aheadMs, leftMs }: SuspectClock): void => {
    if (performance.now() - warnedMs < WARN_EVERY_MS) return;
    warnedMs = performance.now();
    logger.warn('clock is suspect: nothing expires and nothing is removed', {
      aheadSeconds: Math.round(aheadMs / 1000),
      leftSeconds: Math.round(leftMs / 1000),
      accept: 'falconry doctor --accept-clock',
    });
  };
  const round = async () => {
    let clockErrorMs = 0;
    for (let more = true; more && !isStopping(); ) {
      const swept = await store.sweep({
        answerMs: ANSWER_LIFE_MS,
        ...(retentionMs !== null && { retentionMs }),
      });
      for (const key of swept.blobs) await blobs.delete(key);
      for (const id of [...swept.expired, ...(swept.parts ?? [])]) await blobs.uploads?.discard(id);
      const [expired, { removed, forgotten = 0 }] = [swept.expired.length, swept];
      const aheadMs = swept.suspect?.aheadMs ?? 0;
      onEvent({ type: 'swept', expired, removed, aheadMs });
      if (expired + removed + forgotten > 0) {
        logger.info('purged', { expired, removed, forgotten, files: swept.blobs.length });
      }
      if (swept.suspect) return warn(swept.suspect);
      more = swept.more;
      clockErrorMs = Math.abs(Date.now() - (swept.nowMs ?? Date.now()));
    }
    if (performance.now() - cleanedAtMs > CLEAN_EVERY_MS || cleanedAtMs === 0) {
      cleanedAtMs = performance.now();
      const referenced = (keys: readonly string[]) => store.referenced(keys);
      // A file uploaded to a bucket is part of its task only after the notification.
      // This host's clock may be wrong by as much as it differs from that of the store.
      const olderThanMs = Math.max(ORPHAN_AGE_MS, 2 * uploadUrlTtlMs) + clockErrorMs;
      const files = await blobs.clean({ olderThanMs, referenced });
      if (files > 0) logger.info('files without a task removed', { files });
    }
  };
  const tick = () => {
    running ??= round()
      .catch((error) => logger.error('housekeeping failed', { error: errorText(error) }))
      .finally(() => {
        running = null;
      });
  };
  // More often if URLs are short-lived.
  const everyMs = Math.min(SWEEP_EVERY_MS, Math.max(500, uploadUrlTtlMs / 2));
  const timer = setInterval(tick, everyMs);
  timer.unref();
  tick();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
