/**
 * Takes tasks from the store and carries each one through: claim, heartbeat, outcome.
 *
 *   claim ─▶ handler ─▶ finish | fail | back to waiting
 *              ▲
 *            beats: extends the lease, writes progress, learns that the task was cancelled or lost
 *
 * The store is the truth. When a beat finds that the attempt is not the current one, the handler is
 * aborted and nothing more is written. If this process dies, the lease ends, and any runner on the
 * same store takes the task over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CodedError, toCodedError } from '../../errors.ts';
import type { TaskNews, TaskStore } from '../stores/taskStore.ts';
import { type Task, type TaskError, TaskFailure, type TaskResult } from '../task.ts';
import { Lease, Run, type TaskContext } from './lease.ts';

export type { TaskContext };

/** The work itself. If it stops early, it leaves nothing behind. */
export interface TaskHandler {
  /**
   * Does the work of one attempt. The blob of the result is stored when this resolves; its key
   * belongs to this attempt alone.
   *
   * @throws CodedError (a {@link TaskFailure} to say more): retried when retriable, else the task
   *   has failed
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
  /** Silence after which a worker loses its task. Default 10 s. */
  readonly leaseMs?: number;
  /** Time between two looks into the queue if nothing wakes the runner. Default 1 s. */
  readonly pollMs?: number;
  /** Attempts with a retriable fault before the task fails. Default 5. */
  readonly maxFailures?: number;
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
   * Takes no more tasks, lets those in work end for `graceMs`, then aborts them and gives them back
   * to the queue. The promise is the same for every call, and does not reject.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

const MAX_RETRY_MS = 30_000;
/** Shortest wait for a retry or the end of a lease. */
const MIN_WAIT_MS = 5;

export function createRunner(options: RunnerOptions): Runner {
  return new TaskRunner({
    concurrency: 2,
    leaseMs: 10_000,
    pollMs: 1000,
    maxFailures: 5,
    retryMs: 1000,
    onEvent: () => {},
    ...options,
  });
}

class TaskRunner implements Runner {
  readonly #options: Required<RunnerOptions>;
  /** Not a map: a task can be claimed again while an attempt that lost it is still ending. */
  readonly #runs = new Set<Run>();
  readonly #alarm = new Alarm();
  #looping: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  /** Attempts in a row that found no room for their result. */
  #fullTimes = 0;
  #unwatch = () => {};

  constructor(options: Required<RunnerOptions>) {
    this.#options = options;
  }

  get running(): number {
    return this.#runs.size;
  }

  start(): void {
    if (this.#looping || this.#stopped) return;
    this.#unwatch = this.#options.store.watch((news) => this.#notice(news));
    this.#looping = this.#loop();
  }

  wake(): void {
    this.#alarm.ring();
  }

  stop({ graceMs = 10_000 } = {}): Promise<void> {
    this.#stopped ??= this.#drain(graceMs);
    return this.#stopped;
  }

  async #drain(graceMs: number): Promise<void> {
    // `#stopped` is set only once this has returned a promise: the loop must see it.
    await Promise.resolve();
    this.wake();
    await this.#looping;
    const timer = setTimeout(() => {
      for (const run of this.#runs) run.abort('shutdown');
    }, graceMs);
    await Promise.all(Array.from(this.#runs, (run) => run.done));
    clearTimeout(timer);
    this.#unwatch();
  }

  /** Told by the store: a task is waiting, or one of ours was taken away. */
  #notice(task: TaskNews): void {
    if (task.state === 'waiting') this.wake();
    for (const run of this.#runs) {
      if (run.task.id !== task.id) continue;
      if (task.state === 'cancelled') run.abort('cancelled');
      else if (task.attempt !== run.task.attempt || task.state === 'waiting') run.abort('lost');
    }
  }

  async #loop(): Promise<void> {
    const { store, concurrency, pollMs, leaseMs, threads, onEvent } = this.#options;
    while (!this.#stopped) {
      this.#alarm.set();
      let waitMs = pollMs;
      try {
        while (!this.#stopped && this.#runs.size < concurrency) {
          const claimed = await store.claim({ leaseMs, threads });
          if (claimed.task === null) {
            waitMs = Math.min(pollMs, Math.max(MIN_WAIT_MS, claimed.nextMs ?? pollMs));
            break;
          }
          this.#begin(claimed.task);
        }
      } catch (error) {
        onEvent({ type: 'trouble', error });
      }
      if (!this.#stopped) await this.#alarm.wait(waitMs);
    }
  }

  #begin(task: Task): void {
    const { onEvent } = this.#options;
    const run = new Run(task);
    this.#runs.add(run);
    onEvent({ type: 'claimed', taskId: task.id });
    run.done = this.#see(run)
      .catch((error) => onEvent({ type: 'trouble', error }))
      .finally(() => {
        this.#runs.delete(run);
        this.wake();
      });
  }

  /** One attempt from the claim to its outcome. */
  async #see(run: Run): Promise<void> {
    const { store, handler, leaseMs, onEvent } = this.#options;
    const onTrouble = (error: unknown) => onEvent({ type: 'trouble', error });
    const lease = new Lease(run, { store, leaseMs, onTrouble });
    try {
      const result = await handler.run(run.task, lease.context);
      await this.#settleResult(run, lease, result);
    } catch (error) {
      if (run.ending === null) await this.#settleFault(run, lease, toCodedError(error));
      else if (run.ending === 'shutdown') await this.#settleShutdown(run, lease);
      else onEvent({ type: run.ending, taskId: run.task.id });
    } finally {
      lease.end();
    }
  }

  async #settleResult(run: Run, lease: Lease, result: TaskResult): Promise<void> {
    const { store, onEvent } = this.#options;
    const { id, attempt, input } = run.task;
    const accepted = await lease.write(() => store.finish(id, attempt, result));
    this.#fullTimes = 0;
    onEvent({ type: accepted ? 'completed' : refusalOf(run), taskId: id });
    await this.#discard(accepted ? input?.key : result.blob.key);
  }

  async #settleFault(run: Run, lease: Lease, error: CodedError): Promise<void> {
    const { store, maxFailures, retryMs, onEvent } = this.#options;
    const { id, attempt, failures } = run.task;
    if (error.code === 'STORAGE_FULL') return this.#settleFull(run, lease, error);
    const shown = error instanceof TaskFailure ? error.shown : shownError(error);
    const retry = error.retriable && failures + 1 < maxFailures;
    // A thread that died concerns only this task: its first retry need not wait.
    const atOnce = error.code === 'THREAD_LOST' && failures === 0;
    const delayMs = atOnce ? 0 : Math.min(MAX_RETRY_MS, retryMs * 2 ** failures);
    const accepted = await lease.write(() =>
      store.fail(id, attempt, shown, retry ? { delayMs } : undefined),
    );
    if (!accepted) {
      onEvent({ type: refusalOf(run), taskId: id });
    } else if (retry) {
      onEvent({ type: 'retried', taskId: id, error });
    } else {
      onEvent({ type: 'failed', taskId: id, error });
      await this.#discard(run.task.input?.key);
    }
  }

  /**
   * A full disk is not the task's fault: it goes back to the queue without counting a failure. This
   * runner keeps it for a while, so as not to take it again at once.
   */
  async #settleFull(run: Run, lease: Lease, error: CodedError): Promise<void> {
    const { retryMs, onEvent } = this.#options;
    onEvent({ type: 'trouble', error });
    const delayMs = Math.min(MAX_RETRY_MS, retryMs * 2 ** Math.min(this.#fullTimes++, 10));
    await sleep(delayMs, undefined, { signal: run.signal }).catch(() => {});
    if (run.ending === null || run.ending === 'shutdown') await this.#settleShutdown(run, lease);
    else onEvent({ type: run.ending, taskId: run.task.id });
  }

  async #settleShutdown({ task }: Run, lease: Lease): Promise<void> {
    const { store, onEvent } = this.#options;
    await lease.write(() => store.release(task.id, task.attempt));
    onEvent({ type: 'released', taskId: task.id });
  }

  /**
   * Deletes a blob unless a task needs it: an outcome may have been written although its
   * confirmation was lost. What cannot be deleted now is left to the housekeeper.
   */
  async #discard(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    const { store, handler, onEvent } = this.#options;
    try {
      const needed = await store.referenced([key]);
      if (!needed.has(key)) await handler.discard([key]);
    } catch (error) {
      onEvent({ type: 'trouble', error });
    }
  }
}

/** Why the store refused an outcome. */
const refusalOf = ({ ending }: Run) => (ending === 'cancelled' ? 'cancelled' : 'lost');

/** A wait that can be cut short, also by what happened between `set` and `wait`. */
class Alarm {
  #rung = false;
  #wakeUp = () => {};

  set(): void {
    this.#rung = false;
  }

  ring(): void {
    this.#rung = true;
    this.#wakeUp();
  }

  async wait(ms: number): Promise<void> {
    if (this.#rung) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The part of an error that clients see: its code and text, never its cause. */
function shownError({ code, message, invalid }: CodedError): TaskError {
  return { code, message, ...(invalid && { invalid }) };
}
