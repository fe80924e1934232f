/**
 * Claims tasks from the store and performs them: claim, heartbeat, outcome.
 *
 *   claim ─▶ handler ─▶ finish | fail | back to waiting
 *              ▲
 *            heartbeat: extends the lease, writes progress, detects cancellation and loss
 *
 * The store decides. When a heartbeat finds that the attempt is not the current one, the handler is
 * aborted and nothing more is written. If this process dies, the lease ends, and any runner on the
 * same store takes over the task.
 *
 * A task fails only for its own faults. After other faults (the store is unreachable, the disk is
 * full) it is retried for as long as they last. A task whose workers die is suspect:
 *
 *   suspect (2 dead workers, or lost 3 times with its whole process) ─▶ isolated attempts
 *   isolated worker dies, and `maxFailures` are reached ─▶ set aside, with its input
 *
 * The death of a whole process proves nothing, since it ran other tasks too and may have been
 * killed. So losses make a task suspect, but only an isolated worker's death counts against it.
 */
import { CodedError, toCodedError } from '../../shared/errors.ts';
import { Alarm, withTimeout } from '../../shared/wait.ts';
import type { RunnerEvent } from '../events.ts';
import {
  type Task,
  type TaskError,
  TaskFailure,
  type TaskProgress,
  type TaskResult,
} from '../stores/port/task.ts';
import type { Claim, PartStore, Retry, TaskNews, TaskStore } from '../stores/port/taskStore.ts';
import { answerMs, Heartbeat, Lease, noAnswer, Run, type TaskContext } from './lease.ts';

export type { TaskContext };

/** The work itself. Leaves nothing behind if it is stopped early. */
export interface TaskHandler {
  /**
   * Does the work of one attempt. The blob of the result is stored when this resolves; its key
   * belongs to this attempt alone.
   *
   * @throws CodedError (a {@link TaskFailure} to say more): retried when retriable, else the task
   *   has failed. `THREAD_LOST` means that the worker died of this task.
   */
  run(task: Task, context: TaskContext): Promise<TaskResult>;
  /** Deletes blobs. */
  discard(keys: readonly string[]): Promise<void>;
}

export interface RunnerOptions {
  readonly store: TaskStore;
  /** For tasks with parts. */
  readonly parts?: PartStore | null;
  readonly handler: TaskHandler;
  /** Threads per task (`VCPUs`). */
  readonly threads: number;
  /** Tasks at a time. Default 2: one is read while the other computes. */
  readonly concurrency?: number;
  /** Silence after which a worker loses its task. Default 10 s. */
  readonly leaseMs?: number;
  /** Interval of polling the queue. Default 1 s. */
  readonly pollMs?: number;
  /** Interval of heartbeats, which detect cancellation by other processes. Default 800 ms. */
  readonly beatMs?: number;
  /**
   * Dead workers after which a task is set aside, if the last one was isolated. Default 5, of which
   * at least three were.
   */
  readonly maxFailures?: number;
  /** First delay before a retry; doubles each time, up to two minutes. Default 1 s. */
  readonly retryMs?: number;
  readonly onEvent?: (event: RunnerEvent) => void;
  /** Wraps an attempt, from its claim to its outcome; for traces. */
  readonly around?: (task: Task, attempt: () => Promise<void>) => Promise<void>;
}

export interface Runner {
  /** Number of running tasks. */
  readonly running: number;
  /** Starts to claim tasks. Idempotent. */
  start(): void;
  /** Polls the queue now. Not needed after changes through the same store object. */
  wake(): void;
  /**
   * Stops claiming, lets running tasks finish for `graceMs`, then aborts them and returns them to
   * the queue. Every call returns the same promise, which does not reject.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Results of parts are damaged or gone: they are made again, and then merged again. */
export class DamagedParts extends CodedError {
  readonly parts: readonly number[];

  constructor(parts: readonly number[], cause?: unknown) {
    super('FILE_DAMAGED', { message: `Results of parts are damaged: ${parts.join(', ')}`, cause });
    this.parts = parts;
  }
}

const MAX_RETRY_MS = 120_000;
/** Dead workers after which a task is isolated. */
const SUSPECT_FAILURES = 2;
/** Losses after which a task is isolated. */
const SUSPECT_LOSSES = 3;
/** Shortest wait for a retry or the end of a lease. */
const MIN_WAIT_MS = 5;

export function createRunner(options: RunnerOptions): Runner {
  return new TaskRunner({
    concurrency: 2,
    leaseMs: 10_000,
    pollMs: 1000,
    beatMs: 800,
    maxFailures: 5,
    retryMs: 1000,
    parts: null,
    onEvent: () => {},
    around: (_task, attempt) => attempt(),
    ...options,
  });
}

class TaskRunner implements Runner {
  readonly #options: Required<RunnerOptions>;
  /** Not a map: a task can be claimed again while an attempt that lost it is still ending. */
  readonly #runs = new Set<Run>();
  readonly #alarm = new Alarm();
  readonly #heartbeat: Heartbeat;
  #looping: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  #unwatch = () => {};

  constructor(options: Required<RunnerOptions>) {
    this.#options = options;
    const { store, leaseMs, beatMs, onEvent } = options;
    const onTrouble = (error: unknown) => onEvent({ type: 'trouble', error });
    this.#heartbeat = new Heartbeat({ store, leaseMs, beatMs, onTrouble });
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

  /** Handles news from the store: a task is waiting, or a running one was cancelled or lost. */
  #notice(task: TaskNews): void {
    if (task.state === 'waiting') this.wake();
    for (const run of this.#runs) {
      if (run.task.id !== task.id) continue;
      const { attempt } = run.task;
      // News of an earlier attempt from another process may be late.
      if (task.attempt < attempt) continue;
      if (task.state === 'cancelled') run.abort('cancelled');
      else if (task.attempt > attempt || task.state === 'waiting') run.abort('lost');
    }
  }

  async #loop(): Promise<void> {
    const { concurrency, pollMs, onEvent } = this.#options;
    while (!this.#stopped) {
      this.#alarm.set();
      let waitMs = pollMs;
      try {
        while (!this.#stopped && this.#runs.size < concurrency) {
          const claimed = await this.#claim();
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

  /** A task that is claimed too late goes back: its claim may be repeated by then. */
  #claim(): Promise<Claim> {
    const { store, leaseMs, threads, onEvent } = this.#options;
    const claiming = store.claim({ leaseMs, threads });
    return withTimeout(claiming, answerMs(leaseMs), () => {
      claiming
        .then(({ task }) => task && store.release(task.id, task.attempt))
        .catch((error) => onEvent({ type: 'trouble', error }));
      this.wake();
      return noAnswer();
    });
  }

  #begin(task: Task): void {
    const { onEvent, around } = this.#options;
    const run = new Run(task);
    this.#runs.add(run);
    onEvent({ type: 'claimed', ...run.named });
    run.done = around(task, () => this.#see(run))
      .catch((error) => onEvent({ type: 'trouble', error }))
      .finally(() => {
        this.#runs.delete(run);
        this.wake();
      });
  }

  /** One attempt from the claim to its outcome. */
  async #see(run: Run): Promise<void> {
    const { store, parts, handler, leaseMs, onEvent } = this.#options;
    const onTrouble = (error: unknown) => onEvent({ type: 'trouble', error });
    const onPhase = (phase: TaskProgress['phase'], durationMs: number) =>
      onEvent({ type: 'phase', ...run.named, phase, durationMs });
    const heartbeat = this.#heartbeat;
    const isolated = isSuspect(run.task);
    const lease = new Lease(run, {
      store,
      parts,
      leaseMs,
      heartbeat,
      isolated,
      onTrouble,
      onPhase,
    });
    try {
      const result = await handler.run(run.task, lease.context);
      await this.#settleResult(run, lease, result);
    } catch (error) {
      if (run.ending === null) await this.#settleFault(run, lease, toCodedError(error));
      else if (run.ending === 'shutdown') await this.#settleShutdown(run, lease);
      else if (run.ending === 'lost') onEvent({ type: 'lost', ...run.named, stale: false });
      else onEvent({ type: 'cancelled', ...run.named });
    } finally {
      lease.end();
    }
  }

  async #settleResult(run: Run, lease: Lease, result: TaskResult): Promise<void> {
    const { store, onEvent } = this.#options;
    const { id, attempt, input } = run.task;
    const accepted = await lease.write(() => store.finish(id, attempt, result));
    if (accepted) {
      lease.end();
      const { format, aggregateBytes } = result;
      // Those of parts were counted when they were done.
      const signatures = run.task.kind === 'merge' ? 0 : lease.signatures;
      onEvent({ type: 'completed', ...run.named, signatures, format, aggregateBytes });
    } else onEvent(refusedOutcome(run));
    // The result of a part may be that of the attempt that took over.
    const isShared = run.task.kind === 'part' && run.ending !== 'cancelled';
    if (accepted || !isShared) await this.#discard(accepted ? input?.key : result.blob.key);
  }

  async #settleFault(run: Run, lease: Lease, error: CodedError): Promise<void> {
    const { store, parts, onEvent } = this.#options;
    const { id, attempt, input, part } = run.task;
    const own = error instanceof TaskFailure ? error.shown : shownError(error);
    const shown = part === null ? own : { ...own, part };
    const type = this.#fateOf(run.task, lease, error);
    const retry = type === 'retried' ? this.#retryOf(run.task, error) : undefined;
    const accepted = await lease.write(() => {
      if (error instanceof DamagedParts) return parts!.remake(id, attempt, error.parts);
      return type === 'setAside'
        ? store.setAside(id, attempt, shown)
        : store.fail(id, attempt, shown, retry);
    });
    onEvent(accepted ? { type, ...run.named, error } : refusedOutcome(run));
    if (accepted && type === 'failed') await this.#discard(input?.key);
  }

  /** Decides the outcome of a fault. */
  #fateOf({ failures }: Task, lease: Lease, error: CodedError): 'failed' | 'retried' | 'setAside' {
    if (!error.retriable) return 'failed';
    const guilty = lease.context.isolated && isDeath(error);
    return guilty && failures + 1 >= this.#options.maxFailures ? 'setAside' : 'retried';
  }

  #retryOf({ attempt, failures, losses }: Task, error: CodedError): Retry {
    const delayMs = (tries: number) => Math.min(MAX_RETRY_MS, this.#options.retryMs * 2 ** tries);
    // The attempts so far that neither ended a worker nor were lost.
    if (!isDeath(error)) {
      return { delayMs: delayMs(Math.max(0, attempt - 1 - failures - losses)), blameless: true };
    }
    // The first retry after a dead worker need not wait.
    return { delayMs: failures === 0 ? 0 : delayMs(failures) };
  }

  async #settleShutdown(run: Run, lease: Lease): Promise<void> {
    const { store, onEvent } = this.#options;
    const { id, attempt } = run.task;
    const accepted = await lease.write(() => store.release(id, attempt));
    onEvent(accepted ? { type: 'released', ...run.named } : refusedOutcome(run));
  }

  /**
   * Deletes a blob unless a task needs it: an outcome may have been written although its
   * confirmation was lost. If it fails, the housekeeper deletes the blob later.
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

/** Returns whether the worker died. */
const isDeath = ({ code }: CodedError): boolean => code === 'THREAD_LOST';

const isSuspect = ({ failures, losses }: Task): boolean =>
  failures >= SUSPECT_FAILURES || losses >= SUSPECT_LOSSES;

/** Returns the event for an outcome that the store refused. */
const refusedOutcome = ({ ending, named }: Run): RunnerEvent =>
  ending === 'cancelled'
    ? { type: 'cancelled', ...named }
    : { type: 'lost', ...named, stale: true };

/** Returns the part of an error that clients see, without its cause. */
function shownError({ code, message, invalid }: CodedError): TaskError {
  return { code, message, ...(invalid && { invalid }) };
}
