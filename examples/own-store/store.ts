/**
 * A task store of your own: rows in a Map, each method one turn of the event loop. Nothing survives
 * the process; a store in a database has the same methods.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type {
  AnswerHold,
  BeginAnswer,
  Claim,
  ClientLimits,
  ListedTask,
  NewTask,
  NotifyOutcome,
  PutOutcome,
  Sweep,
  Task,
  TaskNews,
  TaskState,
  TaskStore,
  UploadOutcome,
} from 'falconry/middleware';

type Row = { -readonly [Name in keyof Task]: Task[Name] } & {
  submitted: boolean;
  turn: number;
  dueMs: number;
  finishedMs: number;
};

interface Answer {
  readonly fingerprint: string;
  readonly token: string;
  endMs: number;
  madeMs: number;
  taskId: number | null;
}

const FINAL: readonly TaskState[] = ['completed', 'failed', 'cancelled', 'expired'];
const isFinal = ({ state }: Row) => FINAL.includes(state);
const isHeld = ({ state }: Row) => state === 'verifying' || state === 'aggregating';
const isEarly = ({ state }: Row) => state === 'created' || state === 'uploaded';

/** Returns a copy for readers, without the store's own fields. */
function told({ submitted, turn, dueMs, finishedMs, ...task }: Row): Task {
  return structuredClone(task);
}

function listed(row: Row): ListedTask {
  const { id, state, count, createdAt, submittedAt, finishedAt, result } = row;
  const resultKey = result?.blob.key ?? null;
  return { id, state, count, createdAt, submittedAt, finishedAt, resultKey };
}

/**
 * @param nowMs the clock, in milliseconds since 1970; the suites set it
 */
export function mapStore(nowMs: () => number = Date.now): TaskStore {
  const rows = new Map<number, Row>();
  const answers = new Map<string, Answer>();
  const secrets = new Map<string, Uint8Array>();
  const clients = new Map<string, number>();
  const listeners = new Set<(news: TaskNews) => void>();
  const lastTurns = new Map<number, number>();
  let lastId = 0;
  let turn = 0;
  let ticks = 0;

  const at = () => {
    const nanoseconds = String(++ticks).padStart(9, '0');
    return `${new Date(nowMs()).toISOString().slice(0, 19)}.${nanoseconds}Z`;
  };
  const own = (id: number, clientId: number) => {
    const row = rows.get(id);
    return row?.clientId === clientId ? row : undefined;
  };
  const all = () => [...rows.values()];
  const tell = (row: Row) => {
    const { id, clientId, state, attempt } = row;
    for (const listener of listeners) listener({ id, clientId, state, attempt, own: true });
  };
  const change = (row: Row, changes: Partial<Row>): Row => {
    Object.assign(row, changes, { updatedAt: at() });
    if (changes.state !== undefined) tell(row);
    return row;
  };
  /** Ends the task. @returns the keys of files that are no longer needed */
  const end = (row: Row, state: TaskState, changes: Partial<Row> = {}): string[] => {
    const blobs = row.input ? [row.input.key] : [];
    const ended = { input: null, finishedAt: at(), finishedMs: nowMs(), quarantined: false };
    change(row, { state, ...ended, ...changes });
    return blobs;
  };
  const giveBack = (row: Row, changes: Partial<Row>) =>
    change(row, { state: 'waiting', progress: null, ...changes });
  const held = (id: number, attempt: number) => {
    const row = rows.get(id);
    if (!row || !isHeld(row)) return undefined;
    return row.attempt === attempt ? row : undefined;
  };
  const whileHeld = (id: number, attempt: number, work: (row: Row) => unknown) => {
    const row = held(id, attempt);
    return row !== undefined && work(row) !== false;
  };
  const usage = (clientId: number) => {
    const mine = all().filter((row) => row.clientId === clientId);
    const bytes = (row: Row) => (row.input?.bytes ?? 0) + (row.result?.blob.bytes ?? 0);
    return {
      openTasks: mine.filter((row) => !isFinal(row)).length,
      storedBytes: mine.reduce((sum, row) => sum + bytes(row), 0),
    };
  };
  /** The turn in which a task waits: the one after the client's last task. */
  const nextTurn = (clientId: number) => {
    const next = Math.max(turn, (lastTurns.get(clientId) ?? -1) + 1);
    lastTurns.set(clientId, next);
    return next;
  };
  const fits = (row: Row, bytes: number, { storedBytes = Infinity }: ClientLimits) =>
    usage(row.clientId).storedBytes - (row.input?.bytes ?? 0) + bytes <= storedBytes;
  const nameOf = ({ clientId, key }: Pick<AnswerHold, 'clientId' | 'key'>) => `${clientId} ${key}`;
  const stillHeld = (hold: AnswerHold) => {
    const answer = answers.get(nameOf(hold));
    return answer?.token === hold.token && answer.taskId === null ? answer : undefined;
  };

  function newRow(task: NewTask): Row {
    const { clientId, state, threads } = task;
    // Ids only have to grow; they need no prefix from the clock.
    const id = ++lastId;
    const now = at();
    const waits = state === 'waiting';
    return {
      ...{ id, clientId, state, threads, kind: 'aggregate' },
      ...{ parent: null, part: null, parts: null },
      ...{ attempt: 0, failures: 0, losses: 0, quarantined: false, count: task.count ?? 0 },
      ...{ createdAt: now, submittedAt: now, updatedAt: now, finishedAt: null },
      ...{ requestId: task.requestId ?? null, traceparent: task.traceparent ?? null },
      ...{ input: task.input ?? null, result: null, error: null, progress: null },
      ...{ submitted: waits, expiresAtMs: nowMs() + task.ttlMs, dueMs: nowMs(), finishedMs: 0 },
      turn: waits ? nextTurn(clientId) : 0,
    };
  }

  const requests: Pick<TaskStore, 'put' | 'upload' | 'notify' | 'renew' | 'cancel' | 'remove'> = {
    async put(task, { limits = {}, hold } = {}): Promise<PutOutcome> {
      const answer = hold && stillHeld(hold);
      if (hold && !answer) return { ok: false, reason: 'superseded' };
      const used = usage(task.clientId);
      const { openTasks = Infinity, storedBytes = Infinity } = limits;
      if (used.openTasks >= openTasks) return { ok: false, reason: 'openTasks' };
      const bytes = task.input?.bytes ?? 0;
      if (used.storedBytes + bytes > storedBytes) return { ok: false, reason: 'storedBytes' };
      const row = newRow(task);
      rows.set(row.id, row);
      if (answer) answer.taskId = row.id;
      tell(row);
      return { ok: true, task: told(row) };
    },
    async upload(id, input, limits = {}): Promise<UploadOutcome> {
      const row = rows.get(id);
      if (!row) return { ok: false, reason: 'missing' };
      if (!isEarly(row) || row.expiresAtMs <= nowMs()) return { ok: false, reason: 'state' };
      if (!fits(row, input.bytes, limits)) return { ok: false, reason: 'storedBytes' };
      const replaced = row.input?.key ?? null;
      return { ok: true, replaced, task: told(change(row, { state: 'uploaded', input })) };
    },
    async notify(id, clientId, input, limits = {}): Promise<NotifyOutcome> {
      const row = own(id, clientId);
      if (!row) return { ok: false, reason: 'missing' };
      if (row.submitted) return { ok: true, task: told(row), first: false };
      if (!isEarly(row) || row.expiresAtMs <= nowMs()) return { ok: false, reason: 'ended' };
      if (input && !fits(row, input.bytes, limits)) return { ok: false, reason: 'storedBytes' };
      if (input) change(row, { state: 'uploaded', input });
      if (row.state !== 'uploaded') return { ok: false, reason: 'notUploaded' };
      const waits = { submitted: true, submittedAt: at(), dueMs: nowMs() };
      change(row, { state: 'waiting', turn: nextTurn(clientId), ...waits });
      return { ok: true, task: told(row), first: true };
    },
    async renew(id, clientId, ttlMs) {
      const row = own(id, clientId);
      if (!row || !isEarly(row)) return null;
      return told(change(row, { expiresAtMs: nowMs() + ttlMs }));
    },
    async cancel(id, clientId) {
      const row = own(id, clientId);
      if (!row) return { ok: false, reason: 'missing' };
      if (isFinal(row)) return { ok: false, reason: 'final' };
      const blobs = end(row, 'cancelled');
      return { ok: true, blobs, task: told(row) };
    },
    async remove(id, clientId) {
      const row = own(id, clientId);
      if (!row) return { ok: false, reason: 'missing' };
      if (!isFinal(row)) return { ok: false, reason: 'unfinished' };
      rows.delete(id);
      return { ok: true, blobs: row.result ? [row.result.blob.key] : [] };
    },
  };

  const queue: Pick<
    TaskStore,
    'claim' | 'extend' | 'extendAll' | 'finish' | 'fail' | 'release' | 'setAside' | 'putBack'
  > = {
    async claim({ leaseMs, threads }): Promise<Claim> {
      for (const row of all()) {
        if (!isHeld(row) || row.dueMs > nowMs()) continue;
        giveBack(row, { losses: row.losses + 1, dueMs: nowMs() });
      }
      const waiting = all().filter((row) => row.state === 'waiting' && !row.quarantined);
      const due = waiting.filter(({ dueMs }) => dueMs <= nowMs());
      const submitted = ({ submittedAt }: Row) => submittedAt;
      due.sort((a, b) => a.turn - b.turn || (submitted(a) < submitted(b) ? -1 : 1));
      const [row] = due;
      if (!row) {
        const times = [...waiting, ...all().filter(isHeld)].map(({ dueMs }) => dueMs);
        const nextMs = times.length === 0 ? null : Math.max(0, Math.min(...times) - nowMs());
        return { task: null, nextMs };
      }
      turn = Math.max(turn, row.turn);
      const lease = { dueMs: nowMs() + leaseMs, threads, attempt: row.attempt + 1 };
      return { task: told(change(row, { state: 'verifying', ...lease })) };
    },
    extend: async (id, attempt, { leaseMs, ...changes }) =>
      whileHeld(id, attempt, (row) => change(row, { ...changes, dueMs: nowMs() + leaseMs })),
    async extendAll(attempts, leaseMs) {
      const mine = attempts.flatMap(({ id, attempt }) => held(id, attempt) ?? []);
      for (const row of mine) row.dueMs = nowMs() + leaseMs;
      return new Set(mine.map(({ id }) => id));
    },
    finish: async (id, attempt, result) =>
      whileHeld(
        id,
        attempt,
        (row) => row.state === 'aggregating' && end(row, 'completed', { result }),
      ),
    fail: async (id, attempt, error, retry) =>
      whileHeld(id, attempt, (row) => {
        const failures = row.failures + (retry?.blameless ? 0 : 1);
        if (!retry) return end(row, 'failed', { failures, error });
        return giveBack(row, { failures, dueMs: nowMs() + retry.delayMs });
      }),
    release: async (id, attempt) =>
      whileHeld(id, attempt, (row) => giveBack(row, { dueMs: nowMs() })),
    setAside: async (id, attempt, error) =>
      whileHeld(id, attempt, (row) => giveBack(row, { error, quarantined: true })),
    async putBack(id) {
      const row = rows.get(id);
      if (!row?.quarantined) return false;
      change(row, { quarantined: false, error: null, failures: 0, dueMs: nowMs() });
      return true;
    },
  };

  const keys: Pick<TaskStore, 'beginAnswer' | 'extendAnswer' | 'abandonAnswer'> = {
    async beginAnswer(clientId, key, fingerprint, holdMs): Promise<BeginAnswer> {
      const found = answers.get(nameOf({ clientId, key }));
      if (found && found.fingerprint !== fingerprint) return { kind: 'mismatch' };
      if (found && found.taskId !== null) {
        const row = rows.get(found.taskId);
        return { kind: 'replay', task: row ? told(row) : null };
      }
      if (found && found.endMs > nowMs()) {
        return { kind: 'running', retryMs: found.endMs - nowMs() };
      }
      const token = randomUUID();
      const times = { endMs: nowMs() + holdMs, madeMs: nowMs() };
      answers.set(nameOf({ clientId, key }), { fingerprint, token, taskId: null, ...times });
      return { kind: 'held', hold: { clientId, key, token } };
    },
    async extendAnswer(hold, holdMs) {
      const answer = stillHeld(hold);
      if (answer) answer.endMs = nowMs() + holdMs;
      return answer !== undefined;
    },
    async abandonAnswer(hold) {
      if (stillHeld(hold)) answers.delete(nameOf(hold));
    },
  };

  return {
    ...requests,
    ...queue,
    ...keys,
    async get(id, clientId) {
      const row = rows.get(id);
      return row && (clientId === undefined || row.clientId === clientId) ? told(row) : null;
    },
    async list({ clientId, limit, after, order = 'asc', state }) {
      const sign = order === 'asc' ? 1 : -1;
      const mine = all().filter(
        (row) =>
          row.clientId === clientId &&
          (state === undefined || row.state === state) &&
          (after === undefined || sign * (row.id - after) > 0),
      );
      mine.sort((a, b) => sign * (a.id - b.id));
      return { tasks: mine.slice(0, limit).map(listed) };
    },
    usage: async (clientId) => usage(clientId),
    async depth() {
      const waiting = all().filter((row) => row.state === 'waiting' && !row.quarantined);
      const count = (state: TaskState) => all().filter((row) => row.state === state).length;
      const since = waiting.map(({ submittedAt }) => Date.parse(submittedAt));
      return {
        states: {
          created: count('created'),
          uploaded: count('uploaded'),
          waiting: waiting.length,
          verifying: count('verifying'),
          aggregating: count('aggregating'),
        },
        quarantined: count('waiting') - waiting.length,
        oldestWaitingMs: since.length === 0 ? null : Math.max(0, nowMs() - Math.min(...since)),
      };
    },
    async sweep({ answerMs, retentionMs = Infinity }): Promise<Sweep> {
      const over = all().filter((row) => isEarly(row) && row.expiresAtMs <= nowMs());
      const blobs = over.flatMap((row) => end(row, 'expired'));
      const old = all().filter((row) => isFinal(row) && row.finishedMs + retentionMs <= nowMs());
      for (const row of old) {
        rows.delete(row.id);
        if (row.result) blobs.push(row.result.blob.key);
      }
      for (const [name, { madeMs }] of answers) {
        if (madeMs + answerMs <= nowMs()) answers.delete(name);
      }
      return { expired: over.map(({ id }) => id), removed: old.length, blobs, more: false };
    },
    async referenced(some) {
      const used = all().flatMap(({ input, result }) => [input?.key, result?.blob.key]);
      return new Set(some.filter((key) => used.includes(key)));
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async secret(name) {
      const known = secrets.get(name) ?? new Uint8Array(randomBytes(32));
      secrets.set(name, known);
      return known;
    },
    async clientNamed(name) {
      const number = clients.get(name) ?? clients.size + 1;
      clients.set(name, number);
      return number;
    },
    open: async () => {},
    ping: async () => {},
    close: async () => {},
  };
}
