/**
 * The hold of an attempt on its task: extended by the heartbeat of the process (heartbeat.ts) while
 * the handler works, lost if the store says that the task is not held by this attempt any more.
 */
import { CodedError } from '../../shared/errors.ts';
import type { Task, TaskProgress } from '../stores/port/task.ts';
import type { Attempt, TaskStore } from '../stores/port/taskStore.ts';
import type { Beating, Heartbeat } from './heartbeat.ts';

/** What a handler gets besides its task. */
export interface TaskContext {
  /** Aborted when the task is cancelled or lost, or the runner shuts down: stop within a second. */
  readonly signal: AbortSignal;
  /** The task is suspect: work on it alone, in a worker that nothing else depends on. */
  readonly isolated: boolean;
  /** Reports progress, which is written with the next beat, so it may be called often. */
  report(progress: TaskProgress): void;
  /** Reports the number of signatures, once known. */
  counted(count: number): Promise<void>;
  /** verifying → aggregating. @throws the signal's reason if the task is not ours any more */
  aggregating(progress: TaskProgress): Promise<void>;
}

/** Longest wait before an outcome is written again. */
const MAX_WAIT_MS = 300;

/** The reason why a handler was aborted. */
export type Ending = 'cancelled' | 'lost' | 'shutdown';

/** An attempt at a task, as the runner sees it. */
export class Run {
  readonly task: Task;
  /** Resolves when nothing of this attempt is left to do; never rejects. */
  done: Promise<void> = Promise.resolve();
  readonly #controller = new AbortController();
  #ending: Ending | null = null;

  constructor(task: Task) {
    this.task = task;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The attempt, as events name it. */
  get named() {
    const { id, attempt, requestId } = this.task;
    return { taskId: id, attempt, ...(requestId !== null && { requestId }) };
  }

  /** Null while nothing has ended the attempt from outside. */
  get ending(): Ending | null {
    return this.#ending;
  }

  /** Aborts the handler; only the first reason counts. */
  abort(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#controller.abort(new CodedError(ending === 'cancelled' ? 'CANCELLED' : 'ABORTED'));
  }
}

interface LeaseOptions {
  readonly store: TaskStore;
  readonly leaseMs: number;
  readonly heartbeat: Heartbeat;
  readonly isolated: boolean;
  /** The store did not answer. */
  readonly onTrouble: (error: unknown) => void;
  /** A phase of the work is over. */
  readonly onPhase: (phase: TaskProgress['phase'], durationMs: number) => void;
}

/** Keeps the lease alive until `end`, and carries the handler's news to the store. */
export class Lease implements Beating {
  /** For the handler. */
  readonly context: TaskContext;
  readonly #run: Run;
  readonly #store: TaskStore;
  readonly #leaseMs: number;
  readonly #heartbeat: Heartbeat;
  readonly #onTrouble: (error: unknown) => void;
  readonly #onPhase: LeaseOptions['onPhase'];
  #phase: TaskProgress['phase'] = 'read';
  #phaseMs = performance.now();
  #signatures: number;
  #extendedMs = performance.now();
  /** Progress that the store does not have yet. */
  #progress: TaskProgress | undefined;
  #ended = false;

  constructor(run: Run, options: LeaseOptions) {
    const { store, leaseMs, heartbeat, isolated, onTrouble, onPhase } = options;
    this.#run = run;
    this.#store = store;
    this.#leaseMs = leaseMs;
    this.#heartbeat = heartbeat;
    this.#onTrouble = onTrouble;
    this.#onPhase = onPhase;
    this.#signatures = run.task.count;
    const tell = async (more: { state?: 'aggregating'; count?: number }) => {
      await this.extend(more);
      run.signal.throwIfAborted();
    };
    this.context = {
      signal: run.signal,
      isolated,
      report: (progress) => this.#note(progress),
      counted: (count) => {
        this.#signatures = count;
        return tell({ count });
      },
      aggregating: (progress) => {
        this.#note(progress);
        return tell({ state: 'aggregating' });
      },
    };
    heartbeat.keep(this);
  }

  get attempt(): Attempt {
    const { id, attempt } = this.#run.task;
    return { id, attempt };
  }

  get isOurs(): boolean {
    const { ending } = this.#run;
    return !this.#ended && ending !== 'lost' && ending !== 'cancelled';
  }

  get hasNews(): boolean {
    return this.#progress !== undefined;
  }

  /** Writes an outcome; tries again while the store has trouble and the lease may still hold. */
  async write(outcome: () => Promise<boolean>): Promise<boolean> {
    for (let waitMs = 25; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      try {
        return await outcome();
      } catch (error) {
        this.#onTrouble(error);
        // It is unknown whether it was written; after the lease, another attempt finds out.
        if (this.#sinceExtendedMs() > this.#leaseMs) return false;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  /** The number of signatures, as far as it is known. */
  get signatures(): number {
    return this.#signatures;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeat.drop(this);
    this.#onPhase(this.#phase, performance.now() - this.#phaseMs);
  }

  #note(progress: TaskProgress): void {
    this.#progress = progress;
    if (progress.phase === this.#phase) return;
    const nowMs = performance.now();
    this.#onPhase(this.#phase, nowMs - this.#phaseMs);
    this.#phase = progress.phase;
    this.#phaseMs = nowMs;
  }

  #sinceExtendedMs(): number {
    return performance.now() - this.#extendedMs;
  }

  /** After the end of the lease, the task may be another's. */
  miss(): void {
    if (this.#sinceExtendedMs() > this.#leaseMs) this.#run.abort('lost');
  }

  async hear(ours: boolean, askedMs: number): Promise<void> {
    // The new lease counts from the request, since it is unknown when it was granted.
    if (ours) this.#extendedMs = askedMs;
    else if (this.isOurs) await this.#lost();
  }

  async extend(more: { state?: 'aggregating'; count?: number } = {}): Promise<void> {
    const { id, attempt } = this.#run.task;
    const progress = this.#progress;
    this.#progress = undefined;
    const askedMs = performance.now();
    const news = progress ? { ...more, progress } : more;
    const ours = await this.#store.extend(id, attempt, { leaseMs: this.#leaseMs, ...news });
    await this.hear(ours, askedMs);
  }

  /** The task is not ours any more; the store tells whether it was cancelled. */
  async #lost(): Promise<void> {
    const now = await this.#store.get(this.#run.task.id);
    this.#run.abort(now === null || now.state === 'cancelled' ? 'cancelled' : 'lost');
  }
}
