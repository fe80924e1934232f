/**
 * The tasks of a table: their steps through the state machine, the order in which they are served,
 * and the notification of listeners. All changes happen inside `write`.
 */
import { isFinal, type TaskState } from '../../../wire/taskStates.ts';
import { Listeners } from '../port/parts.ts';
import { canGo, isRunning, type Task, timestamp } from '../port/task.ts';
import type { TaskNews } from '../port/taskStore.ts';
import type { Table, TaskChanges, TaskRow } from './table.ts';

/**
 * Ids are milliseconds since 2025 in the high 41 bits of 53, and a count below: unique and growing
 * because the table keeps the last one, time-ordered until the year 2094.
 */
const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const IDS_PER_MS = 4096;

/** A task that has ended, and the keys of blobs that are not needed any more. */
export interface Ended {
  readonly task: Task;
  readonly blobs: readonly string[];
}

export class Ledger {
  readonly table: Table;
  readonly #clock: StoreClock;
  readonly listeners = new Listeners();
  /** Rows changed by the current transaction. */
  #changed: TaskRow[] = [];

  constructor(table: Table, clocks: Clocks) {
    this.table = table;
    this.#clock = new StoreClock(clocks, table.lastNumber('clock'));
  }

  /** The time of the store. */
  readonly nowMs = (): number => this.#clock.nowMs();

  /** A time of the store as text, by the wall clock. */
  readonly toldTime = (ms: number): string => new Date(this.#clock.onWallMs(ms)).toISOString();

  /** Sees to it that the time is not behind that of another process on the same table. */
  meetClock(): void {
    this.#clock.meet(this.table.lastNumber('clock'));
  }

  /** Runs a transaction; listeners are told of changed tasks once it is committed. */
  async write<T>(work: () => T): Promise<T> {
    const { outcome, told } = await this.table.write(() => {
      const keptMs = this.#clock.meet(this.table.lastNumber('clock'));
      if (keptMs !== null) this.table.setLastNumber('clock', keptMs);
      this.#changed = [];
      return { outcome: work(), told: this.#changed };
    });
    if (told.length > 0) queueMicrotask(() => this.listeners.tell(told.map(newsOf)));
    return outcome;
  }

  async close(): Promise<void> {
    await this.table.close();
    this.listeners.clear();
  }

  /** The task, if it belongs to this client. */
  owned(id: number, clientId: number): TaskRow | undefined {
    const row = this.table.row(id);
    return row?.clientId === clientId ? row : undefined;
  }

  /** The task, if this attempt holds it. */
  held(id: number, attempt: number): TaskRow | undefined {
    const row = this.table.row(id);
    return row && row.attempt === attempt && isRunning(row.state) ? row : undefined;
  }

  insert(row: TaskRow): Task {
    this.table.insert(row);
    this.#changed.push(row);
    return this.told(row);
  }

  /** A row as it is told: without the fields that only the store needs. */
  told(row: TaskRow): Task {
    const { submitted, turn, dueMs, finishedMs, expiresMs, ...task } = row;
    return { ...task, expiresAtMs: this.#clock.onWallMs(expiresMs) };
  }

  /** @throws Error for a step that the state machine does not have */
  change(row: TaskRow, changes: TaskChanges): TaskRow {
    const { state = row.state } = changes;
    if (state !== row.state && !canGo(row.state, state)) {
      throw new Error(`no step leads from ${row.state} to ${state}`);
    }
    const after = this.table.update(row.id, { updatedAt: timestamp(), ...changes });
    this.#changed.push(after);
    return after;
  }

  /** Ends a task. Its input is not needed any more, so its key goes to the caller. */
  end(row: TaskRow, state: TaskState, extra: TaskChanges = {}): Ended {
    const at = timestamp();
    const times = { updatedAt: at, finishedAt: at, finishedMs: this.nowMs() };
    const cleared = { dueMs: null, input: null, quarantined: false };
    const after = this.change(row, { state, ...times, ...cleared, ...extra });
    return { task: this.told(after), blobs: row.input ? [row.input.key] : [] };
  }

  /** Removes a final task. @returns the keys of its blobs, or null for a task that is not final */
  remove(row: TaskRow): readonly string[] | null {
    if (!isFinal(row.state)) return null;
    this.table.delete(row.id);
    return [row.input, row.result?.blob].flatMap((blob) => (blob ? [blob.key] : []));
  }

  /** Follows the clock, and exceeds the last id even if the clock stands still or goes back. */
  nextTaskId(): number {
    const { table } = this;
    const byClock = (this.#clock.wallMs() - ID_EPOCH_MS) * IDS_PER_MS;
    const id = Math.max(byClock, table.lastNumber('task') + 1);
    table.setLastNumber('task', id);
    return id;
  }

  /**
   * The place of a client's next task in the queue: one turn after its last one, and not before the
   * current turn. So clients take turns, however many tasks one of them has waiting, and a client
   * that was idle has saved nothing up.
   */
  nextTurn(clientId: number): number {
    const { table } = this;
    const name = `turn of ${clientId}` as const;
    const turn = Math.max(table.lastNumber('turn'), table.lastNumber(name) + 1);
    table.setLastNumber(name, turn);
    return turn;
  }

  /** The queue has reached this turn. */
  reachTurn(turn: number): void {
    if (turn > this.table.lastNumber('turn')) this.table.setLastNumber('turn', turn);
  }
}

function newsOf({ id, clientId, state, attempt }: TaskRow): TaskNews {
  return { id, clientId, state, attempt, own: true };
}

export interface Clocks {
  /** Milliseconds that only pass: nobody can set this clock. */
  readonly steadyMs: () => number;
  /** Unix time in milliseconds, which may be set forward or back at any moment. */
  readonly wallMs: () => number;
}

/** The kept time is at most this much behind, as long as there are writes. */
const KEEP_EVERY_MS = 1000;

/**
 * The time of a store: it only goes forward, whatever happens to the clock on the wall.
 *
 *   now = ahead + steady clock of the process        ahead: fixed at the start, so that now is the
 *                                                    wall clock's time or the last one kept, if
 *                                                    that is later
 *
 * The table keeps the time now and then, along with other writes. Whoever reads a later one there
 * than its own takes it over, so that several processes on one file agree.
 */
export class StoreClock {
  readonly wallMs: () => number;
  readonly #steadyMs: () => number;
  #aheadMs: number;

  /** @param keptMs the last time kept, or 0 */
  constructor({ steadyMs, wallMs }: Clocks, keptMs: number) {
    this.wallMs = wallMs;
    this.#steadyMs = steadyMs;
    this.#aheadMs = Math.max(wallMs(), keptMs) - steadyMs();
  }

  /** The time of the store, in whole milliseconds. */
  nowMs(): number {
    return Math.floor(this.#steadyMs() + this.#aheadMs);
  }

  /**
   * Takes over a later time.
   *
   * @returns the time that is to be kept now, or null if the kept one is recent enough
   */
  meet(keptMs: number): number | null {
    const nowMs = this.nowMs();
    if (keptMs > nowMs) this.#aheadMs += keptMs - nowMs;
    return nowMs - keptMs >= KEEP_EVERY_MS ? nowMs : null;
  }

  /**
   * A time of the store as Unix time, to be told and compared with the wall clock. The difference
   * of the two is rounded to seconds, so that the same time is told each time.
   */
  onWallMs(ms: number): number {
    return ms + 1000 * Math.round((this.wallMs() - this.nowMs()) / 1000);
  }
}
