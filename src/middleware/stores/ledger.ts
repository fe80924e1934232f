/**
 * The tasks of a table: their steps through the state machine, the order in which they are served,
 * and the notification of listeners. All changes happen inside `write`.
 */
import { isFinal, type TaskState } from '../../wire/taskStates.ts';
import { canGo, isRunning, type Task, timestamp } from '../task.ts';
import type { Table, TaskChanges, TaskRow } from './table.ts';
import type { TaskNews } from './taskStore.ts';

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
  readonly nowMs: () => number;
  readonly #listeners = new Set<(news: TaskNews) => void>();
  /** Rows changed by the current transaction. */
  #changed: TaskRow[] = [];

  constructor(table: Table, nowMs: () => number) {
    this.table = table;
    this.nowMs = nowMs;
  }

  /** Runs a transaction; listeners are told of changed tasks once it is committed. */
  async write<T>(work: () => T): Promise<T> {
    const { outcome, told } = await this.table.write(() => {
      this.#changed = [];
      return { outcome: work(), told: this.#changed };
    });
    if (this.#listeners.size > 0 && told.length > 0) {
      const news = told.map(newsOf);
      queueMicrotask(() => {
        for (const listener of this.#listeners) for (const one of news) listener(one);
      });
    }
    return outcome;
  }

  /** @returns a function that removes the listener */
  watch(listener: (news: TaskNews) => void): () => void {
    // A wrapper, so that a function added twice is called twice and removed one by one.
    const own = (news: TaskNews) => listener(news);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  close(): void {
    this.#listeners.clear();
    this.table.close();
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
    return publicTask(row);
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
    return { task: publicTask(after), blobs: row.input ? [row.input.key] : [] };
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
    const id = Math.max((this.nowMs() - ID_EPOCH_MS) * IDS_PER_MS, table.lastNumber('task') + 1);
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

/** A row without the fields that only the store needs. */
export function publicTask(row: TaskRow): Task {
  const { submitted, turn, dueMs, finishedMs, ...task } = row;
  return task;
}
