/**
 * Takes tasks from the store and sees each one through: claim, heartbeat, outcome.
 *
 *   claim ─▶ handler ─▶ finish | fail | back to waiting
 *              ▲
 *            beats: extends the lease, writes progress, learns that the task was cancelled or lost
 *
 * The store is the truth. What the runner knows about a task ends with its attempt: when a beat says that the
 * attempt is not the current one, the handler is aborted and nothing more is written. If this process dies, the
 * lease ends, and any runner on the same store takes the task over.
 */
import { CodedError, toCodedError } from '../../errors.ts';
import type { TaskStore } from '../stores/taskStore.ts';
import {
  isRunning,
  type Task,
  type TaskError,
  TaskFailure,
  type TaskProgress,
  type TaskResult,
} from '../task.ts';

/** What a handler gets beside its task. */
export interface TaskContext {
  /** Aborted when the task is cancelled or lost, or the runner shuts down: stop within a second. */
  readonly signal: AbortSignal;
  /** Tells progress; written with the next beat, so it may be called often. */
  report(progress: TaskProgress): void;
  /** Tells the number of signatures, once known. */
  counted(count: number): Promise<void>;
  /** verifying → aggregating. @throws the signal's reason when the task is not ours any more */
  aggregating(progress: TaskProgress): Promise<void>;
}

/** The work itself. One that stops early leaves nothing behind. */
export interface TaskHandler {
  /**
   * Does the work of one attempt. The result's blob is stored when this resolves; its key belongs to this attempt
   * alone.
   *
   * @throws CodedError (a {@link TaskFailure} to say more): retried when retriable, else the task has failed
   */
  run(task: Task, context: TaskContext): Promise<TaskResult>;
  /** Deletes blobs that are not needed any more. */
  discard(keys: readonly string[]): Promise<void>;
}

export type RunnerEvent =
  | { readonly type: 'claimed' | 'completed' | 'cancelled' | 'lost' | 'released'; taskId: number }
  | { readonly type: 'failed' | 'retried'; taskId: number; error: CodedError }
  /** The store or the disk did not answer; the runner carries on. */
  | { readonly type: 'trouble'; error: unknown };

export interface RunnerOptions {
  readonly store: TaskStore;
  readonly handler: TaskHandler;
  /** Threads that each task gets (`VCPUs`). */
  readonly threads: number;
  /** Tasks at a time. Default 2: one is read while the other computes. */
  readonly concurrency?: number;
  /** A task is taken over when nothing was heard of its worker for so long. Default 10 s. */
  readonly leaseMs?: number;
  /** Between two looks into the queue when nothing wakes the runner. Default 1 s. */
  readonly pollMs?: number;
  /** Attempts with a retriable fault before the task fails. Default 5. */
  readonly maxFailures?: number;
  /** Lost leases before the task fails. Default 25. */
  readonly maxLosses?: number;
  /** First delay before a retry; doubles each time, up to 30 s. Default 1 s. */
  readonly retryMs?: number;
  readonly onEvent?: (event: RunnerEvent) => void;
}

export interface Runner {
  /** Number of tasks in work. */
  readonly running: number;
  /** Starts to take tasks; a second call does nothing. */
  start(): void;
  /** Looks into the queue now. Not needed after changes through the same store object. */
  wake(): void;
  /**
   * Takes no more tasks, lets those in work end for `graceMs`, then aborts them and gives them back to the queue. The
   * promise is the same for every call, and does not reject.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

const MAX_RETRY_MS = 30_000;
/** Cancelled from another process: noticed within this. */
const BEAT_MS = 300;

/** Why a handler was aborted. */
type Ending = 'cancelled' | 'lost' | 'shutdown';

interface Run {
  readonly task: Task;
  readonly controller: AbortController;
  ending: Ending | null;
  /** Resolves when nothing of this attempt is left to do; never rejects. */
  done: Promise<void>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { store, handler, threads, concurrency = 2, leaseMs = 10_000, pollMs = 1000 } = options;
  const { maxFailures = 5, maxLosses = 25, retryMs = 1000, onEvent = () => {} } = options;
  /** A set and no map: a task can be back in our hands while an attempt that lost it still ends. */
  const runs = new Set<Run>();
  let looping: Promise<void> | null = null;
  let stopped: Promise<void> | null = null;
  let unwatch = () => {};
  /** Set when something happened since the queue was looked at; `wakeUp` ends the wait for it. */
  let woken = false;
  let wakeUp = () => {};

  const wake = () => {
    woken = true;
    wakeUp();
  };

  const endRun = (run: Run, ending: Ending) => {
    if (run.ending !== null) return;
    run.ending = ending;
    run.controller.abort(new CodedError(ending === 'cancelled' ? 'CANCELLED' : 'ABORTED'));
  };

  /** News from the store: a task waits, or one of ours was taken from us. */
  const notice = (task: Task) => {
    if (task.state === 'waiting') wake();
    for (const run of runs) {
      if (run.task.id !== task.id) continue;
      if (task.state === 'cancelled') endRun(run, 'cancelled');
      else if (task.attempt !== run.task.attempt || task.state === 'waiting') endRun(run, 'lost');
    }
  };

  const loop = async () => {
    while (!stopped) {
      woken = false;
      let waitMs = pollMs;
      try {
        while (!stopped && runs.size < concurrency) {
          const task = await store.claim({ leaseMs, threads, maxLosses });
          if (!task) break;
          begin(task);
        }
        if (runs.size < concurrency) {
          // A retry or a lease that ends sooner than the next look.
          waitMs = Math.min(pollMs, Math.max(5, (await store.nextClaimMs()) ?? pollMs));
        }
      } catch (error) {
        onEvent({ type: 'trouble', error });
      }
      if (!woken && !stopped) await pause(waitMs);
    }
  };

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const begin = (task: Task) => {
    const controller = new AbortController();
    const run: Run = { task, controller, ending: null, done: Promise.resolve() };
    runs.add(run);
    onEvent({ type: 'claimed', taskId: task.id });
    run.done = see(run)
      .catch((error) => onEvent({ type: 'trouble', error }))
      .finally(() => {
        runs.delete(run);
        wake();
      });
  };

  /** One attempt from the claim to its outcome. */
  const see = async (run: Run): Promise<void> => {
    const { task } = run;
    const lease = holdLease(run);
    try {
      const result = await handler.run(task, lease.context);
      const accepted = await lease.write(() => store.finish(task.id, task.attempt, result));
      if (accepted) {
        onEvent({ type: 'completed', taskId: task.id });
        await discard(task.input?.key);
      } else {
        onEvent({ type: run.ending === 'cancelled' ? 'cancelled' : 'lost', taskId: task.id });
        await discard(result.blob.key);
      }
    } catch (error) {
      if (run.ending === null) await settleFault(run, lease, toCodedError(error));
      else if (run.ending !== 'shutdown') onEvent({ type: run.ending, taskId: task.id });
      else {
        await lease.write(() => store.release(task.id, task.attempt));
        onEvent({ type: 'released', taskId: task.id });
      }
    } finally {
      lease.end();
    }
  };

  const settleFault = async (run: Run, lease: Lease, error: CodedError) => {
    const { id, attempt, failures } = run.task;
    const shown = error instanceof TaskFailure ? error.shown : shownError(error);
    const retry = error.retriable && failures + 1 < maxFailures;
    // A thread that died is nobody's trouble but this task's: its first repeat need not wait.
    const atOnce = error.code === 'THREAD_LOST' && failures === 0;
    const delayMs = atOnce ? 0 : Math.min(MAX_RETRY_MS, retryMs * 2 ** failures);
    const accepted = await lease.write(() =>
      store.fail(id, attempt, shown, retry ? { delayMs } : undefined),
    );
    if (!accepted) {
      onEvent({ type: run.ending === 'cancelled' ? 'cancelled' : 'lost', taskId: id });
    } else if (retry) {
      onEvent({ type: 'retried', taskId: id, error });
    } else {
      onEvent({ type: 'failed', taskId: id, error });
      await discard(run.task.input?.key);
    }
  };

  /**
   * Asks first: an outcome can be written although its confirmation was lost on the way. What cannot be deleted now is
   * left for the store's cleaning.
   */
  const discard = async (key: string | undefined) => {
    if (key === undefined) return;
    try {
      const needed = await store.referenced([key]);
      if (!needed.has(key)) await handler.discard([key]);
    } catch (error) {
      onEvent({ type: 'trouble', error });
    }
  };

  interface Lease {
    readonly context: TaskContext;
    /** Writes an outcome; tries again while the store has trouble and the lease may still hold. */
    write(outcome: () => Promise<boolean>): Promise<boolean>;
    end(): void;
  }

  /** Keeps the lease alive until `end`, and carries the handler's news to the store. */
  const holdLease = (run: Run): Lease => {
    const { id, attempt } = run.task;
    const everyMs = Math.min(BEAT_MS, leaseMs / 3);
    let extendedMs = performance.now();
    let progress: TaskProgress | undefined;
    let ended = false;
    let timer: NodeJS.Timeout | undefined;

    const extend = async (more: { state?: 'aggregating'; count?: number }) => {
      const news = progress;
      progress = undefined;
      const startedMs = performance.now();
      const mine = await store.extend(id, attempt, {
        leaseMs,
        ...more,
        ...(news && { progress: news }),
      });
      if (mine) extendedMs = startedMs;
      else await lostTo();
    };

    /** Not ours any more: by whose doing decides how the attempt ends. */
    const lostTo = async () => {
      const now = await store.get(id);
      endRun(run, now === null || now.state === 'cancelled' ? 'cancelled' : 'lost');
    };

    const beat = async () => {
      try {
        const due = performance.now() - extendedMs > leaseMs / 3;
        if (progress || due) await extend({});
        else {
          const now = await store.get(id);
          if (now?.attempt !== attempt || !isRunning(now.state)) await lostTo();
        }
      } catch (error) {
        onEvent({ type: 'trouble', error });
        if (performance.now() - extendedMs > leaseMs) endRun(run, 'lost');
      }
      if (!ended) timer = setTimeout(beat, everyMs);
    };
    timer = setTimeout(beat, everyMs);

    return {
      context: {
        signal: run.controller.signal,
        report(news) {
          progress = news;
        },
        async counted(count) {
          await extend({ count });
          run.controller.signal.throwIfAborted();
        },
        async aggregating(news) {
          progress = news;
          await extend({ state: 'aggregating' });
          run.controller.signal.throwIfAborted();
        },
      },
      async write(outcome) {
        for (let waitMs = 25; ; waitMs = Math.min(2 * waitMs, everyMs)) {
          try {
            return await outcome();
          } catch (error) {
            onEvent({ type: 'trouble', error });
            // Whether it was written is not known: after the lease somebody else finds out.
            if (performance.now() - extendedMs > leaseMs) return false;
            await new Promise((resolve) => setTimeout(resolve, waitMs));
          }
        }
      },
      end() {
        ended = true;
        clearTimeout(timer);
      },
    };
  };

  return {
    get running() {
      return runs.size;
    },
    start() {
      if (looping || stopped) return;
      unwatch = store.watch(notice);
      looping = loop();
    },
    wake,
    stop({ graceMs = 10_000 } = {}) {
      stopped ??= (async () => {
        // `stopped` is set by now: nothing above this line may run first.
        await Promise.resolve();
        wake();
        await looping;
        const timer = setTimeout(() => {
          for (const run of runs) endRun(run, 'shutdown');
        }, graceMs);
        await Promise.all(Array.from(runs, (run) => run.done));
        clearTimeout(timer);
        unwatch();
      })();
      return stopped;
    },
  };
}

/** What a client sees of an error: its code and its safe text, never its cause. */
function shownError({ code, message, invalid }: CodedError): TaskError {
  return { code, message, ...(invalid && { invalid }) };
}
