/**
 * The lease of an attempt on its task: extended by the heartbeat of the process while the handler
 * works, lost if the store reports that another attempt holds the task.
 */
import { CodedError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/wait.ts';
import type { BlobRef, Task, TaskProgress } from '../stores/port/task.ts';
import type { Attempt, Extension, PartStore, TaskStore } from '../stores/port/taskStore.ts';

/** The handler's connection to the runner. */
export interface TaskContext {
  /** Aborted if the task is cancelled or lost, or the runner shuts down: stop within a second. */
  readonly signal: AbortSignal;
  /** True if the task is suspect: work on it in a separate worker. */
  readonly isolated: boolean;
  /** Reports progress, which is written with the next beat, so it may be called often. */
  report(progress: TaskProgress): void;
  /** Reports the task file with its SHA-256, if it had none. */
  hashed(input: BlobRef): Promise<void>;
  /** Returns the parts of the task in order. */
  parts(): Promise<readonly Task[]>;
  /** Reports the number of signatures, once known. */
  counted(count: number): Promise<void>;
  /** verifying → aggregating. @throws the signal's reason if the attempt has lost the task */
  aggregating(progress: TaskProgress): Promise<void>;
}

/** The time of the store for an answer on which a lease depends, so that there is a second try. */
export const answerMs = (leaseMs: number): number => leaseMs / 3;

/**
 * Waits for the store, which may have met a broken connection: after a third of the lease, asks it
 * again.
 */
async function asked<T>(leaseMs: number, ask: () => Promise<T>): Promise<T> {
  const late = noAnswer();
  const first = withTimeout(ask(), answerMs(leaseMs), () => late);
  return first.catch((error) => {
    if (error !== late) throw error;
    return withTimeout(ask(), answerMs(leaseMs), noAnswer);
  });
}

export const noAnswer = () =>
  new CodedError('STORE_UNAVAILABLE', {
    cause: new Error('no answer within a third of the lease'),
  });

/** Longest wait before an outcome is written again. */
const MAX_WAIT_MS = 300;

/** The reason why a handler was aborted. */
type Ending = 'cancelled' | 'lost' | 'shutdown';

/** An attempt at a task, as the runner sees it. */
export class Run {
  readonly task: Task;
  /** Resolves when the attempt is completely over; never rejects. */
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

  /** The reason for the abort; null if the attempt was not aborted. */
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
  readonly parts: PartStore | null;
  readonly leaseMs: number;
  readonly heartbeat: Heartbeat;
  readonly isolated: boolean;
  /** Called if the store did not answer. */
  readonly onTrouble: (error: unknown) => void;
  /** Called at the end of each phase. */
  readonly onPhase: (phase: TaskProgress['phase'], durationMs: number) => void;
}

/** Keeps the lease alive until `end`, and writes the handler's progress to the store. */
export class Lease {
  /** For the handler. */
  readonly context: TaskContext;
  readonly #run: Run;
  readonly #options: LeaseOptions;
  #phase: TaskProgress['phase'] = 'read';
  #phaseMs = performance.now();
  #signatures: number;
  #extendedMs = performance.now();
  /** Progress that the store does not have yet. */
  #progress: TaskProgress | undefined;
  #ended = false;

  constructor(run: Run, options: LeaseOptions) {
    this.#run = run;
    this.#options = options;
    this.#signatures = run.task.count;
    const tell = async (more: Omit<Extension, 'leaseMs' | 'progress'>) => {
      await this.extend(more);
      run.signal.throwIfAborted();
    };
    this.context = {
      signal: run.signal,
      isolated: options.isolated,
      report: (progress) => this.#note(progress),
      parts: () => options.parts!.parts(run.task.id),
      hashed: (input) => tell({ input }),
      counted: (count) => {
        this.#signatures = count;
        return tell({ count });
      },
      aggregating: (progress) => {
        this.#note(progress);
        return tell({ state: 'aggregating' });
      },
    };
    options.heartbeat.keep(this);
  }

  get attempt(): Attempt {
    const { id, attempt } = this.#run.task;
    return { id, attempt };
  }

  /** False once it has ended, or is known to be lost. */
  get isOurs(): boolean {
    const { ending } = this.#run;
    return !this.#ended && ending !== 'lost' && ending !== 'cancelled';
  }

  /** True if there is progress that the store does not have yet. */
  get hasNews(): boolean {
    return this.#progress !== undefined;
  }

  /** Writes an outcome; retries while the store fails and the lease may still hold. */
  async write(outcome: () => Promise<boolean>): Promise<boolean> {
    for (let waitMs = 25; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      try {
        return await outcome();
      } catch (error) {
        this.#options.onTrouble(error);
        // It may have been written. Once the lease has ended, another attempt finds out.
        if (this.#sinceExtendedMs() > this.#options.leaseMs) return false;
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
    this.#options.heartbeat.drop(this);
    this.#options.onPhase(this.#phase, performance.now() - this.#phaseMs);
  }

  #note(progress: TaskProgress): void {
    this.#progress = progress;
    if (progress.phase === this.#phase) return;
    const nowMs = performance.now();
    this.#options.onPhase(this.#phase, nowMs - this.#phaseMs);
    this.#phase = progress.phase;
    this.#phaseMs = nowMs;
  }

  #sinceExtendedMs(): number {
    return performance.now() - this.#extendedMs;
  }

  /** The store did not answer. After the end of the lease, another attempt may have the task. */
  miss(): void {
    if (this.#sinceExtendedMs() > this.#options.leaseMs) this.#run.abort('lost');
  }

  /** Takes the store's answer to a request of `askedMs` to extend the lease. */
  async hear(ours: boolean, askedMs: number): Promise<void> {
    // The new lease counts from the request, since it is unknown when it was granted.
    if (ours) this.#extendedMs = askedMs;
    else if (this.isOurs) await this.#lost();
  }

  /** Extends the lease, and writes the progress. */
  async extend(more: Omit<Extension, 'leaseMs' | 'progress'> = {}): Promise<void> {
    const { id, attempt } = this.#run.task;
    const progress = this.#progress;
    this.#progress = undefined;
    let askedMs = 0;
    const news = progress ? { ...more, progress } : more;
    const { store, leaseMs } = this.#options;
    const ours = await asked(leaseMs, () => {
      askedMs = performance.now();
      return store.extend(id, attempt, { leaseMs, ...news });
    });
    await this.hear(ours, askedMs);
  }

  /** Finds out whether a task that is not held any more was cancelled. */
  async #lost(): Promise<void> {
    const now = await this.#options.store.get(this.#run.task.id);
    this.#run.abort(now === null || now.state === 'cancelled' ? 'cancelled' : 'lost');
  }
}

interface HeartbeatOptions {
  readonly store: TaskStore;
  readonly leaseMs: number;
  /** Maximum time between two beats. */
  readonly beatMs: number;
  /** Called if the store did not answer. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * The heartbeat of a process: with every beat, one write to the store extends all leases and
 * returns which tasks are still held. A task with progress to report gets its own write, which
 * extends its lease as well.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #everyMs: number;
  readonly #leases = new Set<Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#everyMs = Math.min(options.beatMs, options.leaseMs / 3);
  }

  /** Keeps the lease alive until `drop`. */
  keep(lease: Lease): void {
    this.#leases.add(lease);
    this.#timer ??= setTimeout(this.#beat, this.#everyMs);
  }

  drop(lease: Lease): void {
    this.#leases.delete(lease);
    if (this.#leases.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #beat = async (): Promise<void> => {
    const timer = this.#timer;
    const leases = Array.from(this.#leases).filter((lease) => lease.isOurs);
    const silent = leases.filter((lease) => !lease.hasNews);
    const telling = leases.filter((lease) => lease.hasNews);
    await Promise.all([this.#extend(silent), ...telling.map((lease) => this.#tell(lease))]);
    // Unless it was stopped meanwhile, and perhaps started again.
    if (this.#timer === timer) this.#timer = setTimeout(this.#beat, this.#everyMs);
  };

  async #extend(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const { store, leaseMs, onTrouble } = this.#options;
    let askedMs = 0;
    try {
      const attempts = leases.map((lease) => lease.attempt);
      const held = await asked(leaseMs, () => {
        askedMs = performance.now();
        return store.extendAll(attempts, leaseMs);
      });
      const settled = leases.map((lease) => lease.hear(held.has(lease.attempt.id), askedMs));
      await Promise.all(settled);
    } catch (error) {
      onTrouble(error);
      for (const lease of leases) lease.miss();
    }
  }

  async #tell(lease: Lease): Promise<void> {
    try {
      await lease.extend();
    } catch (error) {
      this.#options.onTrouble(error);
      lease.miss();
    }
  }
}
