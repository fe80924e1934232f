/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first request with a key does
 * the work, and every repeat gets the same answer, even after a crash: the task is kept under the
 * key in the transaction that makes it.
 */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { sha256 } from '../../shared/hash.ts';
import type { Task } from '../stores/port/task.ts';
import type { AnswerHold, PutOptions, TaskStore } from '../stores/port/taskStore.ts';
import { ProblemError } from './problems.ts';

/** Of a process that died nothing is heard: after this time its key can be used again. */
const HOLD_MS = 15_000;

/** What precedes the body in the fingerprint of a request. */
export const requestLine = (c: Context): string =>
  `${c.req.method} ${new URL(c.req.url).pathname}\n`;

/** What makes two requests the same. */
export const requestFingerprint = (line: string, body: Uint8Array): string =>
  sha256(line, body).toString('hex');

/** Whether a request may be a repeat, so that its fingerprint is needed. */
export const isRepeatable = (c: Context): boolean => c.req.header('idempotency-key') !== undefined;

/** The key of a request. The draft quotes it, most clients do not; both mean the same key. */
function requestKey(c: Context): string | null {
  const header = c.req.header('idempotency-key');
  if (header === undefined) return null;
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (!/^[\x21-\x7e]{1,255}$/.test(key) || key.includes('"')) {
    throw new ProblemError('INVALID_HEADER', {
      message: 'Idempotency-Key must be 1 to 255 printable characters without spaces',
    });
  }
  return key;
}

/** A request that may be repeated. */
export interface Repeatable {
  readonly clientId: number;
  readonly store: TaskStore;
  /** Called for a request that `isRepeatable`. */
  fingerprint(): string;
  /** Creates the task, with these options for `store.put`. */
  make(options: Pick<PutOptions, 'hold'>): Promise<Task>;
}

/**
 * @returns the task of this request, or of the first one with the same key, as it is now
 * @throws CodedError `IDEMPOTENCY_GONE` if that task has been removed
 */
export async function taskOnce(c: Context, work: Repeatable): Promise<Task> {
  const key = requestKey(c);
  if (key === null) return work.make({});

  const { store, clientId } = work;
  const begun = await store.beginAnswer(clientId, key, work.fingerprint(), HOLD_MS);
  switch (begun.kind) {
    case 'replay':
      if (begun.task === null) throw new CodedError('IDEMPOTENCY_GONE');
      return begun.task;
    case 'running':
      throw new ProblemError('IDEMPOTENCY_CONFLICT', {
        headers: { 'retry-after': String(Math.max(1, Math.ceil(begun.retryMs / 1000))) },
      });
    case 'mismatch':
      throw new CodedError('IDEMPOTENCY_MISMATCH');
    case 'held':
      return makeHeld(work, begun.hold);
  }
}

async function makeHeld(work: Repeatable, hold: AnswerHold): Promise<Task> {
  const beat = setInterval(() => {
    // If the hold is lost, `put` says so.
    work.store.extendAnswer(hold, HOLD_MS).catch(() => {});
  }, HOLD_MS / 3);
  try {
    return await work.make({ hold });
  } catch (error) {
    // Without effect if the task was made after all: then the key belongs to it.
    await work.store.abandonAnswer(hold).catch(() => {});
    throw error;
  } finally {
    clearInterval(beat);
  }
}
