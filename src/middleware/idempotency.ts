/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first request with a key does
 * the work, and every repeat gets the same answer, even after a crash: the answer is stored in the
 * same transaction as the task.
 */
import type { Context } from 'hono';
import { CodedError } from '../errors.ts';
import { sha256 } from './hash.ts';
import { ProblemError } from './problems.ts';
import type { AnswerHold, PutOptions, StoredAnswer, TaskStore } from './stores/taskStore.ts';
import type { Task } from './task.ts';

/** After this time a key whose process died can be used again. */
const HOLD_MS = 120_000;

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
  /** The bytes that make two requests the same. */
  readonly body: Uint8Array;
  /** The answer stored for repeats; called in the transaction that creates the task. */
  answerOf(task: Task): StoredAnswer;
  /** Creates the task, with these options for `store.put`. */
  make(options: Pick<PutOptions, 'answer'>): Promise<Task>;
}

/** @returns the answer to send: that of this request, or of the first one with the same key */
export async function answerOnce(c: Context, work: Repeatable): Promise<StoredAnswer> {
  const key = requestKey(c);
  if (key === null) return work.answerOf(await work.make({}));

  const { store, clientId } = work;
  const request = `${c.req.method} ${new URL(c.req.url).pathname}\n`;
  const fingerprint = sha256(request, work.body).toString('hex');
  const begun = await store.beginAnswer(clientId, key, fingerprint, HOLD_MS);
  switch (begun.kind) {
    case 'replay':
      return begun.answer;
    case 'running':
      throw new CodedError('IDEMPOTENCY_CONFLICT');
    case 'mismatch':
      throw new CodedError('IDEMPOTENCY_MISMATCH');
    case 'held':
      return work.answerOf(await makeHeld(work, begun.hold));
  }
}

async function makeHeld(work: Repeatable, hold: AnswerHold): Promise<Task> {
  try {
    return await work.make({ answer: { hold, of: work.answerOf } });
  } catch (error) {
    await work.store.abandonAnswer(hold);
    throw error;
  }
}
