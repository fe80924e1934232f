/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first request with a key does the
 * work, every repeat gets its answer again, also after a crash: the answer is stored in the same
 * transaction as the task.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { CodedError } from '../errors.ts';
import { ProblemError } from './problems.ts';
import type { AnswerHold, PutOptions, StoredAnswer, TaskStore } from './stores/taskStore.ts';
import type { Task } from './task.ts';

/** A key whose process died is free again after this. */
const HOLD_MS = 120_000;

/** The key of a request; the draft writes it as a quoted string, most clients bare: both are the same. */
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

/** What a request that may repeat hands over. */
export interface Repeatable {
  readonly clientId: number;
  readonly store: TaskStore;
  /** The bytes that make two requests the same. */
  readonly body: Uint8Array;
  /** What is stored for repeats; called in the transaction that makes the task. */
  answerOf(task: Task): StoredAnswer;
  /** Makes the task, with these options for `store.put`. */
  make(options: Pick<PutOptions, 'answer'>): Promise<Task>;
}

/** @returns the answer to send: of this request, or of the first with the same key */
export async function answerOnce(c: Context, work: Repeatable): Promise<StoredAnswer> {
  const key = requestKey(c);
  if (key === null) return work.answerOf(await work.make({}));

  const { store, clientId } = work;
  const fingerprint = createHash('sha256')
    .update(`${c.req.method} ${new URL(c.req.url).pathname}\n`)
    .update(work.body)
    .digest('hex');
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
