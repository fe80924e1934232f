/**
 * The tasks of a table: their steps through the state machine, their order in the queue, and the
 * notification of listeners. All changes happen inside `write`.
 */
import { isFinal, type TaskState } from '../../../wire/taskStates.ts';
import { Listeners } from '../port/parts.ts';
import { canGo, isRunning, type Task, timestamp } from '../port/task.ts';
import { SUSPECT_MS, type SuspectClock, type TaskNews } from '../port/taskStore.ts';
import type { Table, TaskChanges, TaskRow } from './table.ts';

/**
 * Ids have the milliseconds since 2025 in the high 41 of 53 bits, and a count below. They are
 * unique and increase because the table keeps the last one; they follow time until the year 2094.
 */
const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const IDS_PER_MS = 4096;

/** An ended task, and the keys of its blobs that can be deleted. */
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

  /** The time by which API keys end: a suspect clock counts, so that none lives too long. */
  readonly presentMs = (): number => this.nowMs() + this.#clock.suspectMs();

  /** Returns such a time as text, by the wall clock. */
  readonly toldTime = (ms: number): string => {
    const told = this.#clock.onWallMs(ms - this.#clock.suspectMs());
    return new Date(told).toISOString();
  };

  /** Catches up with the time of other processes on the same table. */
  meetClock(): void {
    this.#clock.meet(this.table.lastNumber('clock'));
  }

  /** @returns null unless the clock is suspect */
  suspectClock(): SuspectClock | null {
    const aheadMs = this.#clock.suspectMs();
    if (aheadMs === 0) return null;
    const sinceMs = this.#suspectSinceMs(aheadMs) ?? this.nowMs();
    return { aheadMs, leftMs: Math.max(0, sinceMs + SUSPECT_MS - this.nowMs()) };
  }

  /** The time of the store when the clock was first found so far ahead, if it was before. */
  #suspectSinceMs(aheadMs: number): number | null {
    const isOther = Math.abs(aheadMs - this.table.lastNumber('suspect by')) > SUSPECT_MS;
    return isOther ? null : this.table.lastNumber('suspect since');
  }

  /**
   * Notes a suspect clock, and believes it after a day of running. The time of the store passes
   * only while it runs, so restarts count as well. Only inside `write`.
   */
  judgeClock(): SuspectClock | null {
    const { table } = this;
    const suspect = this.suspectClock();
    if (suspect === null) {
      if (table.lastNumber('suspect by') > 0) table.setLastNumber('suspect by', 0);
    } else if (this.#suspectSinceMs(suspect.aheadMs) === null) {
      table.setLastNumber('suspect since', this.nowMs());
      table.setLastNumber('suspect by', suspect.aheadMs);
    } else if (suspect.leftMs === 0) this.acceptClock();
    return suspect;
  }

  /**
   * Moves the time of the store to that of a suspect clock, and with it the times since it is
   * suspect. Processes adopt the time with their next transaction. Only inside `write`.
   */
  acceptClock(): SuspectClock | null {
    const suspect = this.suspectClock();
    if (suspect === null) return null;
    const { aheadMs } = suspect;
    this.table.shiftTimes(this.#suspectSinceMs(aheadMs) ?? this.nowMs(), aheadMs);
    this.table.setLastNumber('clock', this.nowMs() + aheadMs);
    this.table.setLastNumber('suspect by', 0);
    return suspect;
  }

  /** Runs a transaction, and notifies listeners of changed tasks after the commit. */
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

  /** Returns the task if it belongs to this client, and is no part. */
  owned(id: number, clientId: number): TaskRow | undefined {
    const row = this.table.row(id);
    return row?.clientId === clientId && row.parent === null ? row : undefined;
  }

  /** Returns the task if this attempt holds it. */
  held(id: number, attempt: number): TaskRow | undefined {
    const row = this.table.row(id);
    return row && row.attempt === attempt && isRunning(row.state) ? row : undefined;
  }

  insert(row: TaskRow): Task {
    this.table.insert(row);
    this.#changed.push(row);
    return this.told(row);
  }

  /** Returns the task of a row, without the fields that only the store needs. */
  told(row: TaskRow): Task {
    const { submitted, turn, dueMs, finishedMs, expiresMs, ...task } = row;
    return { ...task, expiresAtMs: this.#clock.onWallMs(expiresMs) };
  }

  /** @throws Error for an illegal step */
  change(row: TaskRow, changes: TaskChanges): TaskRow {
    const { state = row.state } = changes;
    if (state !== row.state && !canGo(row.state, state, row.kind)) {
      throw new Error(`no step leads from ${row.state} to ${state}`);
    }
    const after = this.table.update(row.id, { updatedAt: timestamp(), ...changes });
    this.#changed.push(after);
    return after;
  }

  /** Ends a task, and cancels its parts. The caller deletes its input. */
  end(row: TaskRow, state: TaskState, extra: TaskChanges = {}): Ended {
    const at = timestamp();
    const times = { updatedAt: at, finishedAt: at, finishedMs: this.nowMs() };
    const cleared = { dueMs: null, input: null, quarantined: false };
    const after = this.change(row, { state, ...times, ...cleared, ...extra });
    if (row.parts) this.table.cancelParts(row.id);
    return { task: this.told(after), blobs: row.input ? [row.input.key] : [] };
  }

  /** Ends the attempt of a part, which keeps its row. */
  endPart(row: TaskRow, state: 'completed' | 'failed', extra: TaskChanges): TaskRow {
    const at = timestamp();
    return this.change(row, { state, updatedAt: at, finishedAt: at, dueMs: null, ...extra });
  }

  /** Removes a final task. @returns the keys of its blobs, or null for a task that is not final */
  remove(row: TaskRow): readonly string[] | null {
    if (!isFinal(row.state)) return null;
    this.table.delete(row.id);
    return [row.input, row.result?.blob].flatMap((blob) => (blob ? [blob.key] : []));
  }

  /** Returns an id above the last one, even if the clock stands still or goes back. */
  nextTaskId(): number {
    const { table } = this;
    const byClock = (this.nowMs() - ID_EPOCH_MS) * IDS_PER_MS;
    const id = Math.max(byClock, table.lastNumber('task') + 1);
    table.setLastNumber('task', id);
    return id;
  }

  /**
   * Returns the place of a client's next task in the queue: one turn after its last one, but not
   * before the current turn. So clients take turns however many tasks each has, and an idle client
   * saves up no turns.
   */
  nextTurn(clientId: number): number {
    const { table } = this;
    const name = `turn of ${clientId}` as const;
    const turn = Math.max(table.lastNumber('turn'), table.lastNumber(name) + 1);
    table.setLastNumber(name, turn);
    return turn;
  }

  /** Notes that the queue has reached this turn. */
  reachTurn(turn: number): void {
    if (turn > this.table.lastNumber('turn')) this.table.setLastNumber('turn', turn);
  }
}

function newsOf({ id, clientId, state, attempt, parent }: TaskRow): TaskNews {
  return { id, clientId, state, attempt, own: true, ...(parent !== null && { isPart: true }) };
}

export interface Clocks {
  /** A monotonic clock, in milliseconds. */
  readonly steadyMs: () => number;
  /** Unix time in milliseconds, which may jump forward or back. */
  readonly wallMs: () => number;
}

/** Maximum age of the kept time while there are writes. */
const KEEP_EVERY_MS = 1000;

/**
 * The time of a store. It never goes back, even if the wall clock does.
 *
 *   now = ahead + steady clock of the process        ahead: fixed at the start, so that now is the
 *                                                    wall clock's time or the last one kept, if
 *                                                    that is later; the latter as well if the
 *                                                    wall clock is suspect
 *
 * The table keeps the time, along with other writes. A process that reads a time later than its own
 * adopts it, so that all processes on one file agree.
 */
class StoreClock {
  readonly #wallMs: () => number;
  readonly #steadyMs: () => number;
  #aheadMs: number;

  /** @param keptMs the last time kept, or 0 */
  constructor({ steadyMs, wallMs }: Clocks, keptMs: number) {
    this.#wallMs = wallMs;
    this.#steadyMs = steadyMs;
    const startMs = wallMs();
    const isSuspect = keptMs > 0 && startMs - keptMs > SUSPECT_MS;
    this.#aheadMs = (isSuspect ? keptMs : Math.max(startMs, keptMs)) - steadyMs();
  }

  /** By how much the wall clock is too far ahead; 0 if it is not. */
  suspectMs(): number {
    const aheadMs = Math.floor(this.#wallMs() - this.nowMs());
    return aheadMs > SUSPECT_MS ? aheadMs : 0;
  }

  /** The time of the store, in whole milliseconds. */
  nowMs(): number {
    return Math.floor(this.#steadyMs() + this.#aheadMs);
  }

  /**
   * Adopts a later time.
   *
   * @returns the time to keep now, or null if the kept one is recent enough
   */
  meet(keptMs: number): number | null {
    const nowMs = this.nowMs();
    if (keptMs > nowMs) this.#aheadMs += keptMs - nowMs;
    return nowMs - keptMs >= KEEP_EVERY_MS ? nowMs : null;
  }

  /**
   * Converts a time of the store to Unix time. The difference between the clocks is rounded to
   * seconds, so that every call returns the same.
   */
  onWallMs(ms: number): number {
    return ms + 1000 * Math.round((this.#wallMs() - this.nowMs()) / 1000);
  }
}
