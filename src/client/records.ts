/** Reads answers: exact ids, checked members of the contract, any other members unchanged. */
import { isWireHex } from '../wire/hex.ts';
import { isFinal, stateOfText } from '../wire/taskStates.ts';
import { malformed } from './clientError.ts';
import type {
  PartCounts,
  Problem,
  SignAnswer,
  TaskId,
  TaskIdInput,
  TaskListItem,
  TaskPage,
  TaskProgress,
  TaskRecord,
  UploadTicket,
} from './types.ts';

/** The outcome of a task; `open` if it has not ended; `unknown` for an unknown status. */
export type Outcome = 'open' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'unknown';

/**
 * Returns the outcome for a status text. The contract does not specify the texts of other servers,
 * so only the first word counts.
 */
export function outcomeOf(status: string): Outcome {
  const text = status.trim().toLowerCase();
  const state = stateOfText(text);
  if (state !== null) return isFinal(state) ? state : 'open';
  if (text.startsWith('wait')) return 'open';
  const word = /^[a-z]+/.exec(text)?.[0] ?? '';
  if (/^(completed?|done|finished|succeeded|success)$/.test(word)) return 'completed';
  if (/^(failed|failure|error|rejected|invalid)$/.test(word)) return 'failed';
  if (/^(cancell?ed|aborted)$/.test(word)) return 'cancelled';
  return word === 'expired' ? 'expired' : 'unknown';
}

/** Returns whether a task with this outcome has ended. */
export const isEnd = (outcome: Outcome): boolean => outcome !== 'open' && outcome !== 'unknown';

/** Checks that a part of an answer is an object. */
export function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw malformed(`${what} is not an object`);
}

/**
 * Reads a progress record. Unknown members are passed on; optional members with a wrong type are
 * omitted.
 *
 * @throws ClientError `MALFORMED_ANSWER` without an id or a status
 */
export function readRecord(value: unknown): TaskRecord {
  const record = asObject(value, 'The progress record');
  const id = requireId(record, 'process_id', 'The progress record');
  const { status, progress, error } = record;
  if (typeof status !== 'string') throw malformed('The progress record has no status');
  const rest = textsOnly(record, ['finished_at', 'result_path', 'result_expires_at', 'format']);
  delete rest.error;
  delete rest.result_bytes;
  delete rest.quarantined;
  delete rest.parts;
  const problem = readProblem(error);
  return {
    ...rest,
    client_id: readId(record.client_id) ?? '0',
    process_id: id,
    status,
    batch_size: count(record.batch_size),
    VCPUs: count(record.VCPUs),
    request_utc_time: text(record.request_utc_time),
    latest_status_update_iso_utc_time: text(record.latest_status_update_iso_utc_time),
    ...(progress !== undefined && { progress: readProgress(progress) }),
    ...(record.parts !== undefined && { parts: readParts(record.parts) }),
    ...(record.quarantined === true && { quarantined: true }),
    ...(problem && { error: problem }),
    ...(record.result_bytes !== undefined && { result_bytes: count(record.result_bytes) }),
  };
}

function readProgress(value: unknown): TaskProgress | null {
  if (typeof value !== 'object' || value === null) return null;
  const { phase, done, total } = value as Record<string, unknown>;
  return typeof phase === 'string' ? { phase, done: count(done), total: count(total) } : null;
}

function readParts(value: unknown): PartCounts {
  const { total, uploaded, done } = asObject(value, 'The counts of parts');
  return { total: count(total), uploaded: count(uploaded), done: count(done) };
}

/** Copies an object without those of the named members that are not strings. */
function textsOnly(
  object: Record<string, unknown>,
  names: readonly string[],
): Record<string, unknown> {
  const copy = { ...object };
  for (const name of names) if (typeof copy[name] !== 'string') delete copy[name];
  return copy;
}

/** Reads a problem document without members of wrong types; undefined if it is not an object. */
export function readProblem(value: unknown): Problem | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const texts = ['type', 'title', 'detail', 'code', 'id'];
  const problem = textsOnly(value as Record<string, unknown>, texts);
  for (const name of ['status', 'errors_total', 'stored_bytes', 'allowed_bytes', 'part']) {
    if (typeof problem[name] !== 'number') delete problem[name];
  }
  const { errors, invalid } = problem;
  if (!isListOf(errors, { path: 'string', message: 'string' })) delete problem.errors;
  if (!isListOf(invalid, { index: 'number', reason: 'string' })) delete problem.invalid;
  return problem;
}

/** Returns whether a value is an array of objects whose members have these types. */
function isListOf(value: unknown, types: Readonly<Record<string, string>>): boolean {
  const members = Object.entries(types);
  const isOne = (each: Record<string, unknown> | null) =>
    members.every(([name, type]) => typeof each?.[name] === type);
  return Array.isArray(value) && value.every(isOne);
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readTicket(value: unknown): UploadTicket {
  const what = 'The answer to the creation of a task';
  const ticket = asObject(value, what);
  const id = requireId(ticket, 'process_id', what);
  if (typeof ticket.url !== 'string' || !/^https?:\/\//i.test(ticket.url)) {
    throw malformed(`${what} has no absolute url`);
  }
  return { ...textsOnly(ticket, ['expires_at']), process_id: id, url: ticket.url };
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readPage(value: unknown): TaskPage {
  const page = asObject(value, 'The list of tasks');
  if (!Array.isArray(page.tasks)) throw malformed('The list of tasks has no tasks');
  const { next } = page;
  return {
    tasks: page.tasks.map(readListItem),
    next: typeof next === 'string' || readId(next) !== null ? String(next) : '',
  };
}

function readListItem(value: unknown): TaskListItem {
  const what = 'An element of the list of tasks';
  const item = asObject(value, what);
  const id = requireId(item, 'id', what);
  if (typeof item.status !== 'string') throw malformed(`${what} has no status`);
  const meta = asObject(item.meta ?? {}, 'The meta of a task');
  return {
    ...item,
    id,
    status: item.status,
    meta: {
      ...textsOnly(meta, ['finished_at', 'result_path', 'result_expires_at']),
      count: count(meta.count),
      created_at: text(meta.created_at),
      submitted_at: text(meta.submitted_at),
    },
  };
}

/** @throws ClientError `MALFORMED_ANSWER` */
export function readSignAnswer(value: unknown): SignAnswer {
  const what = 'The answer of the signing endpoint';
  const answer = asObject(value, what);
  for (const name of ['digest', 'public_key', 'signature']) {
    if (!isWireHex(answer[name])) throw malformed(`${what} has no ${name}`);
  }
  return answer as unknown as SignAnswer;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

// Task ids: a string of digits for callers, a JSON integer of any length on the wire.

/**
 * Returns the digits of an id.
 *
 * @throws TypeError for another type, RangeError for a string without digits or an inexact number
 */
export function taskId(id: TaskIdInput): TaskId {
  if (typeof id === 'string' || typeof id === 'bigint') {
    const text = String(id);
    if (/^\d{1,30}$/.test(text)) return text;
    throw new RangeError('"id" must be a string of digits');
  }
  if (typeof id !== 'number') {
    throw new TypeError(`"id" must be a string, a number or a bigint, not ${typeof id}`);
  }
  if (Number.isSafeInteger(id) && id >= 0) return String(id);
  throw new RangeError('"id" is not an exact number: pass it as a string or a bigint');
}

function requireId(object: Record<string, unknown>, name: string, what: string): TaskId {
  const id = readId(object[name]);
  if (id === null) throw malformed(`${what} has no ${name}`);
  return id;
}

/** Returns the id in an answer, or null if there is none. */
export function readId(value: unknown): TaskId | null {
  if (typeof value === 'string') return /^\d{1,30}$/.test(value) ? value : null;
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value);
  return exact && (value as bigint | number) >= 0 ? String(value) : null;
}
