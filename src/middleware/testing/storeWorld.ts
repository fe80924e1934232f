/**
 * A store under test, with a clock that the test sets, and shorthands for what most tests need. No
 * test of a contract waits.
 */
import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict';
import type { TaskState } from '../../wire/taskStates.ts';
import type { ServiceStore } from '../stores/port/serviceStore.ts';
import type { BlobRef, Task, TaskResult } from '../stores/port/task.ts';
import type { ClaimOptions, NewTask, TaskStore } from '../stores/port/taskStore.ts';

/** A store with the ports that a suite is about. */
type Tasks = Pick<ServiceStore, 'tasks'>;
/** A store that has this port, too. */
export type WithPort<Port extends keyof ServiceStore> = Tasks & Required<Pick<ServiceStore, Port>>;

export interface OpenedStore<Store = Tasks> {
  /** New, empty and open. */
  readonly store: Store;
  /**
   * A second view of the same data, as another process would have it; the store itself where there
   * is none.
   */
  readonly other: Store;
  /** Closes both, and removes what the test has left. */
  close(): Promise<void>;
}

/**
 * Opens a new store for a test.
 *
 * @param nowMs the clock that the store must follow, in ms since 1970; the test sets it, also back
 */
export type OpenStore<Store = Tasks> = (nowMs: () => number) => Promise<OpenedStore<Store>>;

/** Declares a test over a store of its own. */
export type DeclareTest<Store extends Tasks = Tasks> = (
  name: string,
  body: (world: StoreWorld<Store>) => Promise<void>,
) => void;

/** @returns what declares tests, each with a new store that is closed at its end */
export function testsOn<Store extends Tasks>(
  runner: TestRunner,
  open: OpenStore<Store>,
): DeclareTest<Store> {
  return (name, body) => {
    runner.it(name, async () => {
      const world = await StoreWorld.open(open);
      try {
        await body(world);
      } finally {
        await world.close();
      }
    });
  };
}

const START_MS = Date.UTC(2026, 10, 21);
export const HOUR_MS = 3_600_000;
export const CLAIM: ClaimOptions = { leaseMs: 1000, threads: 3 };

export class StoreWorld<Store extends Tasks = Tasks> {
  clockMs = START_MS;
  #opened!: OpenedStore<Store>;
  #blobs = 0;

  static async open<Store extends Tasks>(open: OpenStore<Store>): Promise<StoreWorld<Store>> {
    const world = new StoreWorld<Store>();
    world.#opened = await open(() => world.clockMs);
    return world;
  }

  get ports(): Store {
    return this.#opened.store;
  }

  get otherPorts(): Store {
    return this.#opened.other;
  }

  get store(): Store['tasks'] {
    return this.ports.tasks;
  }

  get other(): Store['tasks'] {
    return this.otherPorts.tasks;
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  blob(bytes = 10): BlobRef & { readonly sha256: string } {
    const sha256 = String(++this.#blobs).padStart(64, '0');
    return { key: `inputs/${this.#blobs}.json`, bytes, sha256 };
  }

  result(id: number, attempt: number): TaskResult {
    const blob = { key: `results/${attempt}/${id}.json`, bytes: 7, sha256: 'e'.repeat(64) };
    return { blob, format: 'bundle', aggregateBytes: 3 };
  }

  async add(more: Partial<NewTask> = {}): Promise<Task> {
    const created = { clientId: 1, state: 'created', threads: 2 } as const;
    const outcome = await this.store.put({ ...created, ttlMs: HOUR_MS, ...more });
    if (!outcome.ok) throw new Error(outcome.reason);
    return outcome.task;
  }

  addWaiting(more: Partial<NewTask> = {}): Promise<Task> {
    return this.add({ state: 'waiting', input: this.blob(), ...more });
  }

  async addClaimed(more: Partial<NewTask> = {}): Promise<Task> {
    const { id } = await this.addWaiting(more);
    const claimed = await this.claim();
    strictEqual(claimed?.id, id);
    return claimed!;
  }

  /** Brings a new task of client 1 into the state. */
  async addIn(state: TaskState): Promise<Task> {
    const { store } = this;
    if (state === 'waiting') return this.addWaiting();
    if (state === 'created' || state === 'uploaded' || state === 'expired') {
      const { id } = await this.add({ ttlMs: 10 });
      if (state === 'uploaded') await store.upload(id, this.blob());
      if (state === 'expired') {
        this.clockMs += 10;
        await store.sweep({ answerMs: HOUR_MS });
      }
      return this.known(id);
    }
    const { id, attempt } = await this.addClaimed();
    if (state === 'aggregating' || state === 'completed') {
      await store.extend(id, attempt, { leaseMs: 1000, state: 'aggregating' });
    }
    if (state === 'completed') await store.finish(id, attempt, this.result(id, attempt));
    if (state === 'failed') await store.fail(id, attempt, { code: 'INTERNAL', message: 'm' });
    if (state === 'cancelled') await store.cancel(id, 1);
    return this.known(id);
  }

  /** The task that the next claim gets, or null. */
  async claim(from: TaskStore = this.store): Promise<Task | null> {
    return (await from.claim(CLAIM)).task;
  }

  async nextClaimMs(): Promise<number | null> {
    const claimed = await this.store.claim(CLAIM);
    if (claimed.task) throw new Error('a task is waiting');
    return claimed.nextMs;
  }

  async known(id: number): Promise<Task> {
    return (await this.other.get(id))!;
  }
}

export interface TestRunner {
  /** Groups the tests that `body` declares. */
  describe(name: string, body: () => void): unknown;
  /** Declares a test, which fails if the promise of `body` rejects. */
  it(name: string, body: () => Promise<void>): unknown;
}

/**
 * Asserts that a value has at least the members of `expected`, and in them the same values; lists
 * have the same length.
 *
 * @throws AssertionError that shows those members of the value that were expected
 */
export function matches(value: unknown, expected: object, message?: string): void {
  if (typeof value !== 'object' || value === null) {
    fail(message ?? `expected an object, got ${String(value)}`);
  }
  deepStrictEqual(shared(value, expected), expected, message);
}

/** Of `value`, only what `expected` has as well. */
function shared(value: unknown, expected: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (typeof expected !== 'object' || expected === null) return value;
  if (Array.isArray(value)) {
    return Array.isArray(expected) ? value.map((each, i) => shared(each, expected[i])) : value;
  }
  if (Object.getPrototypeOf(expected) !== Object.prototype) return value;
  const members = Object.keys(expected).filter((name) => name in value);
  const pairs = members.map((name) => [
    name,
    shared(value[name as keyof typeof value], expected[name as keyof typeof expected]),
  ]);
  return Object.fromEntries(pairs);
}
