/**
 * Tasks in the memory of this process, for tests and for hosts that want nothing kept: everything is gone when the
 * process ends. The same rules as on disk.
 */
import { isFinal, isRunning, type ListedTask, type TaskState } from '../task.ts';
import type { AnswerRow, Table, TaskRow } from './table.ts';
import { type TableStoreOptions, tableStore } from './tableStore.ts';
import type { ApiKeyRecord, ApiKeyStore, TaskStore } from './taskStore.ts';

/** @returns a store that forgets everything with its process. */
export function memoryStore(options: TableStoreOptions = {}): TaskStore & ApiKeyStore {
  return tableStore(memoryTable(), options);
}

function memoryTable(): Table {
  const rows = new Map<number, TaskRow>();
  /** Ids of each client, ascending, since ids only grow. */
  const idsByClient = new Map<number, number[]>();
  /** Ids of rows that are not final: the queue looks at nothing else. */
  const open = new Set<number>();
  const answers = new Map<string, AnswerRow>();
  const secrets = new Map<string, Uint8Array>();
  const keys = new Map<string, ApiKeyRecord>();
  const lastNumbers = new Map<string, number>();
  /** Steps that undo the running transaction, in the order in which they were done. */
  let undo: (() => void)[] = [];

  const openRows = () => Array.from(open, (id) => rows.get(id)!);
  const put = (row: TaskRow) => {
    const before = rows.get(row.id);
    undo.push(() => (before ? place(before) : drop(row.id)));
    place(row);
  };
  const place = (row: TaskRow) => {
    rows.set(row.id, row);
    if (isFinal(row.state)) open.delete(row.id);
    else open.add(row.id);
  };
  const drop = (id: number) => {
    const ids = idsByClient.get(rows.get(id)!.clientId)!;
    ids.splice(indexAbove(ids, id - 1), 1);
    rows.delete(id);
    open.delete(id);
  };
  const addId = ({ clientId, id }: TaskRow) => {
    const ids = idsByClient.get(clientId);
    if (ids) ids.splice(indexAbove(ids, id), 0, id);
    else idsByClient.set(clientId, [id]);
  };
  /** Sets or deletes one entry of a map, undoably. */
  const set = <V>(map: Map<string, V>, name: string, value: V | undefined) => {
    const before = map.get(name);
    undo.push(() => (before === undefined ? map.delete(name) : map.set(name, before)));
    if (value === undefined) map.delete(name);
    else map.set(name, value);
  };

  return {
    async write(work) {
      undo = [];
      try {
        return work();
      } catch (error) {
        for (const step of undo.reverse()) step();
        throw error;
      }
    },
    lastNumber: (name) => lastNumbers.get(name) ?? 0,
    setLastNumber: (name, number) => set(lastNumbers, name, number),
    insert(row) {
      addId(row);
      put(row);
    },
    row: (id) => rows.get(id),
    update(id, changes) {
      const row = { ...rows.get(id)!, ...changes };
      put(row);
      return row;
    },
    delete(id) {
      const row = rows.get(id)!;
      undo.push(() => {
        addId(row);
        place(row);
      });
      drop(id);
    },
    list({ clientId, after, order = 'asc', state }, limit) {
      const ids = idsByClient.get(clientId) ?? [];
      const found: ListedTask[] = [];
      const step = order === 'asc' ? 1 : -1;
      let at = step === 1 ? 0 : ids.length - 1;
      if (after !== undefined) {
        at = step === 1 ? indexAbove(ids, after) : indexAbove(ids, after - 1) - 1;
      }
      for (; at >= 0 && at < ids.length && found.length < limit; at += step) {
        const row = rows.get(ids[at]!)!;
        if (state === undefined || row.state === state) found.push(listed(row));
      }
      return found;
    },
    usage(clientId) {
      let [openTasks, storedBytes] = [0, 0];
      for (const id of idsByClient.get(clientId) ?? []) {
        const row = rows.get(id)!;
        if (!isFinal(row.state)) openTasks++;
        storedBytes += (row.input?.bytes ?? 0) + (row.result?.blob.bytes ?? 0);
      }
      return { openTasks, storedBytes };
    },
    counts() {
      const counts: Partial<Record<TaskState, number>> = {};
      for (const { state } of rows.values()) counts[state] = (counts[state] ?? 0) + 1;
      return counts;
    },
    firstWaiting(nowMs) {
      const due = openRows().filter((row) => row.state === 'waiting' && row.dueMs! <= nowMs);
      return due.sort(inTurn)[0];
    },
    endedLeases: (nowMs) => openRows().filter((row) => isRunning(row.state) && row.dueMs! <= nowMs),
    earliestDueMs() {
      const due = openRows().flatMap((row) => row.dueMs ?? []);
      return due.length === 0 ? null : Math.min(...due);
    },
    overdue(nowMs, limit) {
      const before = (row: TaskRow) => !row.submitted && row.expiresAtMs <= nowMs;
      return openRows().filter(before).slice(0, limit);
    },
    finishedBefore(ms, limit) {
      const old = (row: TaskRow) => row.finishedMs !== null && row.finishedMs <= ms;
      return Array.from(rows.values()).filter(old).slice(0, limit);
    },
    referenced(wanted) {
      const known = new Set<string | undefined>();
      for (const row of rows.values()) known.add(row.input?.key).add(row.result?.blob.key);
      return new Set(wanted.filter((key) => known.has(key)));
    },

    answer: (clientId, key) => answers.get(`${clientId} ${key}`),
    putAnswer: (row) => set(answers, `${row.clientId} ${row.key}`, row),
    deleteAnswer: (clientId, key) => set(answers, `${clientId} ${key}`, undefined),
    deleteAnswersBefore(createdMs) {
      for (const [name, row] of answers) {
        if (row.createdMs < createdMs) set(answers, name, undefined);
      }
    },

    secret(name, fresh) {
      if (!secrets.has(name)) set(secrets, name, fresh);
      return secrets.get(name)!;
    },

    apiKeys: () => Array.from(keys.values()),
    apiKey: (sha256) => keys.get(sha256),
    putApiKey: (record) => set(keys, record.sha256, record),
    deleteApiKey(sha256) {
      const known = keys.has(sha256);
      set(keys, sha256, undefined);
      return known;
    },

    close() {},
  };
}

function inTurn(a: TaskRow, b: TaskRow): number {
  const order = a.submittedAt < b.submittedAt ? -1 : a.submittedAt > b.submittedAt ? 1 : 0;
  return a.turn - b.turn || order || a.id - b.id;
}

function listed(row: TaskRow): ListedTask {
  const { id, clientId, state, count, createdAt, submittedAt, finishedAt, result } = row;
  return { id, clientId, state, count, createdAt, submittedAt, finishedAt, result };
}

/** @returns the index of the first element above the value in an ascending list, or its length. */
function indexAbove(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
