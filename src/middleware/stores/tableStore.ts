/**
 * The rules of the port, over any table: which step is legal when, who holds what, what a limit counts. Each verb is
 * one transaction of the table; see `taskStore.ts` for what each one promises.
 */
import {
  canGo,
  isFinal,
  isRunning,
  TASK_STATES,
  type Task,
  type TaskError,
  type TaskState,
  timestamp,
} from '../task.ts';
import type { AnswerRow, Table, TaskChanges, TaskRow } from './table.ts';
import type { ApiKeyStore, PutOptions, TaskStore } from './taskStore.ts';

/** Most rows that one sweep changes of a kind, so that it never holds the store for long. */
const SWEEP_ROWS = 500;

/**
 * Ids are milliseconds since 2025 in the high 41 bits of 53, and a count below: unique and growing because the table
 * keeps the last one, time-ordered until the year 2094.
 */
const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const IDS_PER_MS = 4096;

const LOST: TaskError = {
  code: 'THREAD_LOST',
  message: 'The workers that took this task ended before it was done, too often to try again',
};

export interface TableStoreOptions {
  /** The clock of leases and expiry, in Unix milliseconds; for tests. */
  readonly nowMs?: () => number;
}

export function tableStore(
  table: Table,
  { nowMs = Date.now }: TableStoreOptions = {},
): TaskStore & ApiKeyStore {
  const listeners = new Set<(task: Task) => void>();
  /** Rows that the transaction at work has changed. */
  let changed: TaskRow[] = [];

  /** One transaction; the changed tasks are told to the listeners once it is committed. */
  const write = async <T>(work: () => T): Promise<T> => {
    const { outcome, told } = await table.write(() => {
      changed = [];
      return { outcome: work(), told: changed };
    });
    if (listeners.size > 0 && told.length > 0) {
      const tasks = told.map(publicTask);
      queueMicrotask(() => {
        for (const listener of listeners) for (const task of tasks) listener(task);
      });
    }
    return outcome;
  };

  const change = (row: TaskRow, changes: TaskChanges): TaskRow => {
    if (changes.state !== undefined && changes.state !== row.state) {
      if (!canGo(row.state, changes.state)) {
        throw new Error(`no step leads from ${row.state} to ${changes.state}`);
      }
    }
    const after = table.update(row.id, { updatedAt: timestamp(), ...changes });
    changed.push(after);
    return after;
  };

  /** Ends a task. The input is not needed any more: its key goes to the caller. */
  const end = (row: TaskRow, state: TaskState, extra: TaskChanges = {}) => {
    const at = timestamp();
    const times = { updatedAt: at, finishedAt: at, finishedMs: nowMs() };
    const after = change(row, { state, ...times, dueMs: null, input: null, ...extra });
    return { task: publicTask(after), blobs: row.input ? [row.input.key] : [] };
  };

  const owned = (id: number, clientId: number): TaskRow | undefined => {
    const row = table.row(id);
    return row?.clientId === clientId ? row : undefined;
  };

  const held = (id: number, attempt: number): TaskRow | undefined => {
    const row = table.row(id);
    return row && row.attempt === attempt && isRunning(row.state) ? row : undefined;
  };

  /** Grows with the clock, and above the last one when the clock stands still or goes back. */
  const nextTaskId = (): number => {
    const id = Math.max((nowMs() - ID_EPOCH_MS) * IDS_PER_MS, table.lastNumber('task') + 1);
    table.setLastNumber('task', id);
    return id;
  };

  /**
   * The place of a client's next task in the queue: one turn behind its last one, and no earlier than what is
   * being handed out now. So clients take turns, however many tasks one of them has waiting, and a client that
   * was away has saved nothing up.
   */
  const nextTurn = (clientId: number): number => {
    const name = `turn of ${clientId}` as const;
    const turn = Math.max(table.lastNumber('turn'), table.lastNumber(name) + 1);
    table.setLastNumber(name, turn);
    return turn;
  };

  const keepAnswer = (options: PutOptions, task: Task): void => {
    if (!options.answer) return;
    const { hold, of } = options.answer;
    const row = table.answer(hold.clientId, hold.key)!;
    table.putAnswer({ ...row, answer: of(task) });
  };

  const stillHeld = (options: PutOptions): boolean => {
    if (!options.answer) return true;
    const { clientId, key, token } = options.answer.hold;
    const row = table.answer(clientId, key);
    return row !== undefined && row.answer === null && row.token === token;
  };

  return {
    async put(task, options = {}) {
      return write(() => {
        if (!stillHeld(options)) return { ok: false, reason: 'superseded' } as const;
        const { openTasks = Infinity, storedBytes = Infinity } = options.limits ?? {};
        const usage = table.usage(task.clientId);
        if (usage.openTasks + 1 > openTasks) return { ok: false, reason: 'openTasks' } as const;
        if (usage.storedBytes + (task.input?.bytes ?? 0) > storedBytes) {
          return { ok: false, reason: 'storedBytes' } as const;
        }
        const at = timestamp();
        const waiting = task.state === 'waiting';
        const row: TaskRow = {
          id: nextTaskId(),
          clientId: task.clientId,
          kind: 'aggregate',
          state: task.state,
          attempt: 0,
          failures: 0,
          losses: 0,
          count: task.count ?? 0,
          threads: task.threads,
          progress: null,
          createdAt: at,
          submittedAt: at,
          updatedAt: at,
          finishedAt: null,
          expiresAtMs: task.expiresAtMs,
          input: task.input ?? null,
          result: null,
          error: null,
          submitted: waiting,
          turn: waiting ? nextTurn(task.clientId) : 0,
          dueMs: waiting ? nowMs() : null,
          finishedMs: null,
        };
        table.insert(row);
        changed.push(row);
        keepAnswer(options, publicTask(row));
        return { ok: true, task: publicTask(row) } as const;
      });
    },

    async get(id, clientId) {
      const row = clientId === undefined ? table.row(id) : owned(id, clientId);
      return row ? publicTask(row) : null;
    },

    async list(query) {
      const tasks = table.list(query, query.limit + 1);
      const more = tasks.length > query.limit;
      if (more) tasks.pop();
      return { tasks, more };
    },

    async usage(clientId) {
      return table.usage(clientId);
    },

    async counts() {
      const known = table.counts();
      const counts = {} as Record<TaskState, number>;
      for (const state of TASK_STATES) counts[state] = known[state] ?? 0;
      return counts;
    },

    async upload(id, input, limits = {}) {
      return write(() => {
        const row = table.row(id);
        if (!row) return { ok: false, reason: 'missing' } as const;
        if (!canGo(row.state, 'uploaded') || row.expiresAtMs <= nowMs()) {
          return { ok: false, reason: 'state' } as const;
        }
        const othersBytes = table.usage(row.clientId).storedBytes - (row.input?.bytes ?? 0);
        if (othersBytes + input.bytes > (limits.storedBytes ?? Infinity)) {
          return { ok: false, reason: 'storedBytes' } as const;
        }
        const task = publicTask(change(row, { state: 'uploaded', input }));
        return { ok: true, task, replaced: row.input?.key ?? null } as const;
      });
    },

    async notify(id, clientId, input) {
      return write(() => {
        let row = owned(id, clientId);
        if (!row) return { ok: false, reason: 'missing' } as const;
        if (row.submitted) return { ok: true, task: publicTask(row), first: false } as const;
        if (isFinal(row.state) || row.expiresAtMs <= nowMs()) {
          return { ok: false, reason: 'ended' } as const;
        }
        if (input) row = change(row, { state: 'uploaded', input });
        if (row.state !== 'uploaded') return { ok: false, reason: 'notUploaded' } as const;
        const at = timestamp();
        const times = { updatedAt: at, submittedAt: at, dueMs: nowMs() };
        const turn = nextTurn(clientId);
        row = change(row, { state: 'waiting', submitted: true, turn, ...times });
        return { ok: true, task: publicTask(row), first: true } as const;
      });
    },

    async renew(id, clientId, expiresAtMs) {
      return write(() => {
        const row = owned(id, clientId);
        if (!row || row.submitted || isFinal(row.state)) return null;
        return publicTask(change(row, { expiresAtMs }));
      });
    },

    async cancel(id, clientId) {
      return write(() => {
        const row = owned(id, clientId);
        if (!row) return { ok: false, reason: 'missing' } as const;
        if (isFinal(row.state)) return { ok: false, reason: 'final' } as const;
        return { ok: true, ...end(row, 'cancelled') } as const;
      });
    },

    async remove(id, clientId) {
      return write(() => {
        const row = owned(id, clientId);
        if (!row) return { ok: false, reason: 'missing' } as const;
        if (!isFinal(row.state)) return { ok: false, reason: 'unfinished' } as const;
        table.delete(id);
        return { ok: true, blobs: blobsOf(row) } as const;
      });
    },

    async claim({ leaseMs, threads, maxLosses }) {
      const dueMs = table.earliestDueMs();
      if (dueMs === null || dueMs > nowMs()) return null;
      return write(() => {
        for (const row of table.endedLeases(nowMs())) {
          const losses = row.losses + 1;
          if (losses > maxLosses) end(row, 'failed', { losses, error: LOST, progress: null });
          else change(row, { state: 'waiting', losses, dueMs: nowMs(), progress: null });
        }
        const row = table.firstWaiting(nowMs());
        if (!row) return null;
        if (row.turn > table.lastNumber('turn')) table.setLastNumber('turn', row.turn);
        const claim = { attempt: row.attempt + 1, dueMs: nowMs() + leaseMs, threads };
        return publicTask(change(row, { state: 'verifying', ...claim }));
      });
    },

    async extend(id, attempt, { leaseMs, state, count, progress }) {
      return write(() => {
        const row = held(id, attempt);
        if (!row) return false;
        change(row, {
          dueMs: nowMs() + leaseMs,
          ...(state && { state }),
          ...(count !== undefined && { count }),
          ...(progress && { progress }),
        });
        return true;
      });
    },

    async finish(id, attempt, result) {
      return write(() => {
        const row = held(id, attempt);
        if (row?.state !== 'aggregating') return false;
        end(row, 'completed', { result });
        return true;
      });
    },

    async fail(id, attempt, error, retry) {
      return write(() => {
        const row = held(id, attempt);
        if (!row) return false;
        const failures = row.failures + 1;
        if (!retry) end(row, 'failed', { failures, error });
        else {
          const dueMs = nowMs() + retry.delayMs;
          change(row, { state: 'waiting', failures, dueMs, progress: null });
        }
        return true;
      });
    },

    async release(id, attempt) {
      return write(() => {
        const row = held(id, attempt);
        if (!row) return false;
        change(row, { state: 'waiting', dueMs: nowMs(), progress: null });
        return true;
      });
    },

    async nextClaimMs() {
      const dueMs = table.earliestDueMs();
      return dueMs === null ? null : Math.max(0, dueMs - nowMs());
    },

    async sweep({ retentionMs, answerMs }) {
      return write(() => {
        const blobs: string[] = [];
        const overdue = table.overdue(nowMs(), SWEEP_ROWS);
        for (const row of overdue) blobs.push(...end(row, 'expired').blobs);
        const old =
          retentionMs === undefined ? [] : table.finishedBefore(nowMs() - retentionMs, SWEEP_ROWS);
        for (const row of old) {
          table.delete(row.id);
          blobs.push(...blobsOf(row));
        }
        table.deleteAnswersBefore(nowMs() - answerMs);
        return { expired: overdue.length, removed: old.length, blobs };
      });
    },

    async referenced(keys) {
      return table.referenced(keys);
    },

    async beginAnswer(clientId, key, fingerprint, holdMs) {
      return write(() => {
        const row = table.answer(clientId, key);
        if (row && row.fingerprint !== fingerprint) return { kind: 'mismatch' } as const;
        if (row?.answer) return { kind: 'replay', answer: row.answer } as const;
        if (row && row.heldUntilMs > nowMs()) return { kind: 'running' } as const;
        const token = crypto.randomUUID();
        const times = { heldUntilMs: nowMs() + holdMs, createdMs: nowMs() };
        const fresh: AnswerRow = { clientId, key, fingerprint, token, ...times, answer: null };
        table.putAnswer(fresh);
        return { kind: 'held', hold: { clientId, key, token } } as const;
      });
    },

    async abandonAnswer({ clientId, key, token }) {
      await write(() => {
        const row = table.answer(clientId, key);
        if (row?.token === token && row.answer === null) table.deleteAnswer(clientId, key);
      });
    },

    watch(listener) {
      // A wrapper, so that the same function given twice is told twice and ended one by one.
      const own = (task: Task) => listener(task);
      listeners.add(own);
      return () => void listeners.delete(own);
    },

    async secret(name) {
      const fresh = crypto.getRandomValues(new Uint8Array(32));
      return write(() => table.secret(name, fresh));
    },

    async putApiKey({ sha256, name, clientId }) {
      return write(() => {
        if (table.apiKey(sha256)) return null;
        // A new client never gets the number of an old one whose keys are gone: its tasks are still there.
        const last = table.lastNumber('client');
        const owner = clientId ?? last + 1;
        if (owner > last) table.setLastNumber('client', owner);
        const record = { sha256, name, clientId: owner, createdAt: timestamp() };
        table.putApiKey(record);
        return record;
      });
    },

    async findApiKey(sha256) {
      return table.apiKey(sha256) ?? null;
    },

    async listApiKeys() {
      return table.apiKeys();
    },

    async removeApiKey(sha256) {
      return write(() => table.deleteApiKey(sha256));
    },

    async close() {
      listeners.clear();
      table.close();
    },
  };
}

function publicTask(row: TaskRow): Task {
  const { submitted, turn, dueMs, finishedMs, ...task } = row;
  return task;
}

function blobsOf(row: TaskRow): string[] {
  return [row.input, row.result?.blob].flatMap((blob) => (blob ? [blob.key] : []));
}
