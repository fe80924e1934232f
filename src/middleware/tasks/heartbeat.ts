/**
 * The heartbeat of a process: with every beat one write to the store extends all its leases and
 * tells which tasks are not its own any more. Only a task that has progress to report is written by
 * itself, which extends its lease as well.
 */
import type { Attempt, TaskStore } from '../stores/port/taskStore.ts';

/** A lease, as the heartbeat sees it (lease.ts). */
export interface Beating {
  readonly attempt: Attempt;
  /** False once it has ended, or is known to be lost. */
  readonly isOurs: boolean;
  /** Whether there is progress that the store does not have yet. */
  readonly hasNews: boolean;
  /** The store was asked then to extend the lease, and says whether the task is ours. */
  hear(ours: boolean, askedMs: number): Promise<void>;
  /** The store did not answer. */
  miss(): void;
  /** Extends the lease, and writes the progress. */
  extend(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly store: TaskStore;
  readonly leaseMs: number;
  /** The time between two beats, at most. */
  readonly beatMs: number;
  /** The store did not answer. */
  readonly onTrouble: (error: unknown) => void;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #everyMs: number;
  readonly #leases = new Set<Beating>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#everyMs = Math.min(options.beatMs, options.leaseMs / 3);
  }

  /** Keeps the lease alive until `drop`. */
  keep(lease: Beating): void {
    this.#leases.add(lease);
    this.#timer ??= setTimeout(this.#beat, this.#everyMs);
  }

  drop(lease: Beating): void {
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

  async #extend(leases: readonly Beating[]): Promise<void> {
    if (leases.length === 0) return;
    const { store, leaseMs, onTrouble } = this.#options;
    const askedMs = performance.now();
    try {
      const attempts = leases.map((lease) => lease.attempt);
      const held = await store.extendAll(attempts, leaseMs);
      const settled = leases.map((lease) => lease.hear(held.has(lease.attempt.id), askedMs));
      await Promise.all(settled);
    } catch (error) {
      onTrouble(error);
      for (const lease of leases) lease.miss();
    }
  }

  async #tell(lease: Beating): Promise<void> {
    try {
      await lease.extend();
    } catch (error) {
      this.#options.onTrouble(error);
      lease.miss();
    }
  }
}
