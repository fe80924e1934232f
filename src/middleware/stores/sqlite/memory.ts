/**
 * Tasks in the memory of this process, for tests and for hosts that need nothing to be kept. The
 * rules are the same as on disk.
 */
import { isFinal, type UnfinishedState } from '../../../wire/taskStates.ts';
import type {
  Ageing,
  ClientQuota,
  Holdings,
  OperatorStore,
  UnfinishedQuery,
} from '../port/operatorStore.ts';
import { isRunning, type ListedTask } from '../port/task.ts';
import type { ApiKeyStore, ClientUsage, ListQuery, TaskStore } from '../port/taskStore.ts';
import {
  type AnswerRow,
  type ApiKeyRow,
  noTasks,
  type RetiredRow,
  type Table,
  type TaskChanges,
  type TaskRow,
} from '../rules/table.ts';
import { type TableStoreOptions, tableStore } from './tableStore.ts';

/** @returns a store that loses everything when the process ends */
export function memoryStore(
  options: TableStoreOptions = {},
): TaskStore & ApiKeyStore & OperatorStore {
  return tableStore(new MemoryTable(), options);
}

class MemoryTable implements Table {
  readonly #tasks = new TaskMap();
  readonly #answers = new Map<string, AnswerRow>();
  readonly #secrets = new Map<string, Uint8Array>();
  readonly #keys = new Map<string, ApiKeyRow>();
  readonly #quotas = new Map<string, ClientQuota>();
  readonly #retired = new Map<string, readonly RetiredRow[]>();
  readonly #clients = new Map<string, number>();
  readonly #lastNumbers = new Map<string, number>();
  /** Steps that undo the current transaction, in the order in which it was done. */
  #undo: (() => void)[] = [];

  async write<T>(work: () => T): Promise<T> {
    this.#undo = [];
    try {
      return work();
    } catch (error) {
      for (const step of this.#undo.reverse()) step();
      throw error;
    }
  }

  /** Sets or deletes an entry of a map so that it can be undone. */
  #set<V>(map: Map<string, V>, name: string, value: V | undefined): void {
    const before = map.get(name);
    this.#undo.push(() => (before === undefined ? map.delete(name) : map.set(name, before)));
    if (value === undefined) map.delete(name);
    else map.set(name, value);
  }

  lastNumber(name: string): number {
    return this.#lastNumbers.get(name) ?? 0;
  }

  setLastNumber(name: string, number: number): void {
    this.#set(this.#lastNumbers, name, number);
  }

  insert(row: TaskRow): void {
    this.#undo.push(() => this.#tasks.remove(row.id));
    this.#tasks.add(row);
  }

  row(id: number): TaskRow | undefined {
    return this.#tasks.get(id);
  }

  update(id: number, changes: TaskChanges): TaskRow {
    const before = this.#tasks.get(id)!;
    const row = { ...before, ...changes };
    this.#undo.push(() => this.#tasks.replace(before));
    this.#tasks.replace(row);
    return row;
  }

  delete(id: number): void {
    const row = this.#tasks.get(id)!;
    this.#undo.push(() => this.#tasks.add(row));
    this.#tasks.remove(id);
  }

  list({ clientId, after, order = 'asc', state }: ListQuery, limit: number): ListedTask[] {
    const ids = this.#tasks.idsOf(clientId);
    const found: ListedTask[] = [];
    const step = order === 'asc' ? 1 : -1;
    let at = step === 1 ? 0 : ids.length - 1;
    if (after !== undefined) {
      at = step === 1 ? indexAbove(ids, after) : indexAbove(ids, after - 1) - 1;
    }
    for (; at >= 0 && at < ids.length && found.length < limit; at += step) {
      const row = this.#tasks.get(ids[at]!)!;
      if (state === undefined || row.state === state) found.push(listed(row));
    }
    return found;
  }

  unfinished({ limit, after = 0, quarantined }: UnfinishedQuery): TaskRow[] {
    const fits = (row: TaskRow) =>
      row.id > after && (quarantined === undefined || row.quarantined === quarantined);
    const rows = this.#tasks.open().filter(fits);
    return rows.sort((a, b) => a.id - b.id).slice(0, limit);
  }

  usage(clientId: number): ClientUsage {
    let [openTasks, storedBytes] = [0, 0];
    for (const id of this.#tasks.idsOf(clientId)) {
      const row = this.#tasks.get(id)!;
      if (!isFinal(row.state)) openTasks++;
      storedBytes += bytesOf(row);
    }
    return { openTasks, storedBytes };
  }

  holdings(clientId: number): Omit<Holdings, 'apiKeys'> {
    const rows = this.#tasks.idsOf(clientId).map((id) => this.#tasks.get(id)!);
    const blobs = rows.flatMap((row) => [row.input ?? [], row.result?.blob ?? []].flat());
    const of = `${clientId} `;
    return {
      tasks: rows.length,
      unfinished: rows.filter((row) => !isFinal(row.state)).length,
      files: blobs.length,
      bytes: blobs.reduce((sum, { bytes }) => sum + bytes, 0),
      answers: Array.from(this.#answers.keys()).filter((name) => name.startsWith(of)).length,
      named: Array.from(this.#clients.values()).includes(clientId),
    };
  }

  tasksOf(clientId: number, which: 'final' | 'unfinished', limit: number): TaskRow[] {
    const rows = this.#tasks.idsOf(clientId).map((id) => this.#tasks.get(id)!);
    return rows.filter((row) => isFinal(row.state) === (which === 'final')).slice(0, limit);
  }

  ageing(nowMs: number, beforeMs: number | null): Ageing[] {
    const rows = [
      ...this.overdue(nowMs, Infinity),
      ...(beforeMs === null ? [] : this.finishedBefore(beforeMs, Infinity)),
    ];
    const clients = new Set(rows.map((row) => row.clientId));
    return Array.from(clients)
      .sort((a, b) => a - b)
      .map((clientId) => {
        const own = rows.filter((row) => row.clientId === clientId);
        const ends = own.flatMap((row) => row.finishedAt ?? []).sort();
        return {
          clientId,
          expiring: own.length - ends.length,
          removing: ends.length,
          bytes: own.reduce((sum, row) => sum + bytesOf(row), 0),
          oldestEnd: ends[0] ?? null,
          newestEnd: ends.at(-1) ?? null,
        };
      });
  }

  depth(): ReturnType<Table['depth']> {
    const states = noTasks();
    let quarantined = 0;
    let oldestWaitingAt: string | null = null;
    for (const row of this.#tasks.open()) {
      if (row.quarantined) quarantined++;
      else {
        states[row.state as UnfinishedState]++;
        const older = oldestWaitingAt === null || row.submittedAt < oldestWaitingAt;
        if (row.state === 'waiting' && older) oldestWaitingAt = row.submittedAt;
      }
    }
    return { states, quarantined, oldestWaitingAt };
  }

  firstWaiting(nowMs: number): TaskRow | undefined {
    const canGo = ({ state, dueMs }: TaskRow) =>
      state === 'waiting' && dueMs !== null && dueMs <= nowMs;
    const due = this.#tasks.open().filter(canGo);
    return due.sort(inTurn)[0];
  }

  endedLeases(nowMs: number): TaskRow[] {
    return this.#tasks.open().filter((row) => isRunning(row.state) && row.dueMs! <= nowMs);
  }

  earliestDueMs(): number | null {
    const due = this.#tasks.open().flatMap((row) => row.dueMs ?? []);
    return due.length === 0 ? null : Math.min(...due);
  }

  overdue(nowMs: number, limit: number): TaskRow[] {
    const before = (row: TaskRow) => !row.submitted && row.expiresMs <= nowMs;
    return this.#tasks.open().filter(before).slice(0, limit);
  }

  finishedBefore(ms: number, limit: number): TaskRow[] {
    const old = (row: TaskRow) => row.finishedMs !== null && row.finishedMs <= ms;
    return Array.from(this.#tasks.all()).filter(old).slice(0, limit);
  }

  referenced(wanted: readonly string[]): Set<string> {
    const known = new Set<string | undefined>();
    for (const row of this.#tasks.all()) known.add(row.input?.key).add(row.result?.blob.key);
    return new Set(wanted.filter((key) => known.has(key)));
  }

  answer(clientId: number, key: string): AnswerRow | undefined {
    return this.#answers.get(`${clientId} ${key}`);
  }

  putAnswer(row: AnswerRow): void {
    this.#set(this.#answers, `${row.clientId} ${row.key}`, row);
  }

  deleteAnswer(clientId: number, key: string): void {
    this.#set(this.#answers, `${clientId} ${key}`, undefined);
  }

  deleteAnswersBefore(createdMs: number): void {
    for (const [name, row] of this.#answers) {
      if (row.createdMs < createdMs) this.#set(this.#answers, name, undefined);
    }
  }

  secret(name: string, fresh: Uint8Array): Uint8Array {
    if (!this.#secrets.has(name)) this.#set(this.#secrets, name, fresh);
    return this.#secrets.get(name)!;
  }

  knownSecret(name: string): Uint8Array | undefined {
    return this.#secrets.get(name);
  }

  replaceSecret(name: string, value: Uint8Array): void {
    this.#set(this.#secrets, name, value);
  }

  retiredSecrets(name: string): RetiredRow[] {
    return [...(this.#retired.get(name) ?? [])];
  }

  putRetiredSecret(name: string, row: RetiredRow): void {
    this.#set(this.#retired, name, [row, ...this.retiredSecrets(name)]);
  }

  deleteRetiredSecrets(name: string, ms: number): void {
    const kept = this.retiredSecrets(name).filter(({ retiredMs }) => retiredMs > ms);
    this.#set(this.#retired, name, kept);
  }

  quota(clientId: number): ClientQuota | undefined {
    return this.#quotas.get(String(clientId));
  }

  quotas(): (ClientQuota & { clientId: number })[] {
    const all = Array.from(this.#quotas, ([id, quota]) => ({ clientId: Number(id), ...quota }));
    return all.sort((a, b) => a.clientId - b.clientId);
  }

  putQuota(clientId: number, quota: ClientQuota | undefined): void {
    this.#set(this.#quotas, String(clientId), quota);
  }

  clientNamed(name: string): number | undefined {
    return this.#clients.get(name);
  }

  putClientName(name: string, clientId: number): void {
    this.#set(this.#clients, name, clientId);
  }

  forgetClient(clientId: number): void {
    for (const [name, id] of this.#clients) {
      if (id === clientId) this.#set(this.#clients, name, undefined);
    }
    for (const name of this.#answers.keys()) {
      if (name.startsWith(`${clientId} `)) this.#set(this.#answers, name, undefined);
    }
    this.#set(this.#lastNumbers, `turn of ${clientId}`, undefined);
    this.putQuota(clientId, undefined);
  }

  apiKeys(): ApiKeyRow[] {
    return Array.from(this.#keys.values());
  }

  apiKey(sha256: string): ApiKeyRow | undefined {
    return this.#keys.get(sha256);
  }

  putApiKey(row: ApiKeyRow): void {
    this.#set(this.#keys, row.sha256, row);
  }

  deleteApiKey(sha256: string): boolean {
    const known = this.#keys.has(sha256);
    this.#set(this.#keys, sha256, undefined);
    return known;
  }

  async close(): Promise<void> {}
}

/** Tasks by id, by client, and those that are not final. */
class TaskMap {
  readonly #rows = new Map<number, TaskRow>();
  /** Ids of each client, ascending, since ids only grow. */
  readonly #idsByClient = new Map<number, number[]>();
  /** Ids of rows that are not final, which is all that the queue looks at. */
  readonly #open = new Set<number>();

  get(id: number): TaskRow | undefined {
    return this.#rows.get(id);
  }

  all(): Iterable<TaskRow> {
    return this.#rows.values();
  }

  open(): TaskRow[] {
    return Array.from(this.#open, (id) => this.#rows.get(id)!);
  }

  /** Ascending; not to be changed. */
  idsOf(clientId: number): readonly number[] {
    return this.#idsByClient.get(clientId) ?? [];
  }

  add(row: TaskRow): void {
    const ids = this.#idsByClient.get(row.clientId);
    if (ids) ids.splice(indexAbove(ids, row.id), 0, row.id);
    else this.#idsByClient.set(row.clientId, [row.id]);
    this.replace(row);
  }

  replace(row: TaskRow): void {
    this.#rows.set(row.id, row);
    if (isFinal(row.state)) this.#open.delete(row.id);
    else this.#open.add(row.id);
  }

  remove(id: number): void {
    const ids = this.#idsByClient.get(this.#rows.get(id)!.clientId)!;
    ids.splice(indexAbove(ids, id - 1), 1);
    this.#rows.delete(id);
    this.#open.delete(id);
  }
}

function bytesOf({ input, result }: TaskRow): number {
  return (input?.bytes ?? 0) + (result?.blob.bytes ?? 0);
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
