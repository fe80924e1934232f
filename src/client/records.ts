/** Answers, read: ids exact, members that the contract fixes checked, everything else passed on. */
import type { SignAnswer, TaskListItem, TaskPage, TaskRecord, UploadTicket } from './types.ts';
import { asObject, malformed, readId } from './wire.ts';

/** What a task can be, told from its status text. */
export type Outcome = 'open' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'unknown';

/** Texts that servers are known to use while there is still work to do or to wait for. */
const OPEN = new Set([
  'wait for task file upload',
  'created',
  'wait for notification',
  'uploaded',
  'wait for falcon signature verify',
  'waiting',
  'falcon signature verify',
  'verifying',
  'falcon signature aggregation',
  'aggregating',
]);

/** The contract fixes few texts: those of other servers are read by their first word, else `unknown`. */
export function outcomeOf(status: string): Outcome {
  const text = status.trim().toLowerCase();
  if (OPEN.has(text) || text.startsWith('wait')) return 'open';
  const word = /^[a-z]+/.exec(text)?.[0] ?? '';
  if (/^(completed?|done|finished|succeeded|success)$/.test(word)) return 'completed';
  if (/^(failed|failure|error|rejected|invalid)$/.test(word)) return 'failed';
  if (/^(cancell?ed|aborted)$/.test(word)) return 'cancelled';
  return word === 'expired' ? 'expired' : 'unknown';
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readRecord(value: unknown): TaskRecord {
  const record = asObject(value, 'The progress record');
  const id = readId(record.process_id);
  if (id === null) throw malformed('The progress record has no process_id');
  if (typeof record.status !== 'string') throw malformed('The progress record has no status');
  return {
    ...(record as unknown as TaskRecord),
    client_id: readId(record.client_id) ?? '0',
    process_id: id,
    batch_size: count(record.batch_size),
    VCPUs: count(record.VCPUs),
  };
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readTicket(value: unknown): UploadTicket {
  const ticket = asObject(value, 'The answer to the creation of a task');
  const id = readId(ticket.process_id);
  if (id === null) throw malformed('The answer to the creation of a task has no process_id');
  if (typeof ticket.url !== 'string' || !/^https?:\/\//i.test(ticket.url)) {
    throw malformed('The answer to the creation of a task has no absolute url');
  }
  return { ...(ticket as unknown as UploadTicket), process_id: id };
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readPage(value: unknown): TaskPage {
  const page = asObject(value, 'The list of tasks');
  if (!Array.isArray(page.tasks)) throw malformed('The list of tasks has no tasks');
  const { next } = page;
  return {
    tasks: page.tasks.map(readListItem),
    next: next === undefined || next === null || next === false ? '' : String(next),
  };
}

function readListItem(value: unknown): TaskListItem {
  const item = asObject(value, 'An element of the list of tasks');
  const id = readId(item.id);
  if (id === null) throw malformed('An element of the list of tasks has no id');
  if (typeof item.status !== 'string') {
    throw malformed('An element of the list of tasks has no status');
  }
  const meta = asObject(item.meta ?? {}, 'The meta of a task');
  return {
    ...(item as unknown as TaskListItem),
    id,
    meta: { ...(meta as unknown as TaskListItem['meta']), count: count(meta.count) },
  };
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readSignAnswer(value: unknown): SignAnswer {
  const answer = asObject(value, 'The answer of the signing endpoint');
  for (const name of ['digest', 'public_key', 'signature'] as const) {
    const text = answer[name];
    if (typeof text !== 'string' || !/^0x(?:[0-9A-Fa-f]{2})*$/.test(text)) {
      throw malformed(`The answer of the signing endpoint has no ${name}`);
    }
  }
  return answer as unknown as SignAnswer;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
