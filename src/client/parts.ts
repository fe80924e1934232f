/** Submission in parts: a list of any length, as it comes, each part with its own retries. */
import type { HostSignal } from '../shared/hostTypes.ts';
import { type Triple, toTriple } from '../wire/triple.ts';
import { ClientError, malformed } from './clientError.ts';
import type { Http } from './http.ts';
import { asObject, readId } from './records.ts';
import { outcomeUnknown } from './retry.ts';
import type { Item, SubmitProgress, TaskId } from './types.ts';

/** Items as they come. */
export type ItemStream = Iterable<Triple | Item> | AsyncIterable<Triple | Item>;

/** Uploads at a time; each holds the file of a part in memory. */
const AT_ONCE = 3;
/** How often the upload of a part is begun again, beyond the retries of its requests. */
const REPEATS = 4;
/** Less than the service accepts, since the last item of a part may be long. */
const FILL = 0.95;

/** What the service accepts, from its answer to the creation of a task with parts. */
interface PartsTicket {
  readonly id: TaskId;
  readonly maxBytes: number;
  readonly falcon512: number;
  readonly falcon1024: number;
}

interface PartTicket {
  readonly url: string;
  /** True if the part waits for its file. */
  readonly isOpen: boolean;
}

export interface PartsOptions {
  /** `/v1/<service>/aggsign` */
  readonly path: string;
  readonly idempotencyKey: string;
  readonly signal: HostSignal | undefined;
  readonly onProgress: ((progress: SubmitProgress) => void) | undefined;
  /** PUTs a file to a signed URL. */
  upload(url: string, file: Uint8Array): Promise<void>;
}

/**
 * Creates a task and uploads all its parts. With the same key and items, continues where an earlier
 * call was interrupted.
 *
 * @returns the id of the task, whose list is still open
 * @throws ClientError; errors of the items as they are
 */
export async function uploadParts(
  http: Http,
  items: ItemStream,
  options: PartsOptions,
): Promise<TaskId> {
  const { onProgress } = options;
  const tell = (step: SubmitProgress['step'], done: number, total: number) =>
    onProgress?.({ step, done, total });
  tell('create', 0, 1);
  const ticket = readPartsTicket(await post(http, options, 'task', '', { parts: true }));
  tell('create', 1, 1);
  const known = Array.isArray(items) ? evenly(items, ticket) : undefined;
  const running = new Set<Promise<void>>();
  let [made, done] = [0, 0];
  let fault: unknown;
  const report = () => tell('parts', done, Math.max(known?.parts ?? 0, made));
  try {
    for await (const file of partFiles(items, ticket, known?.items)) {
      if (fault !== undefined) break;
      const number = made++;
      const part = await announce(http, options, ticket.id, number);
      const sending = send(http, options, { id: ticket.id, number, file }, part)
        .then(() => {
          done++;
          report();
        })
        .catch((error) => {
          fault ??= error;
        })
        .finally(() => running.delete(sending));
      running.add(sending);
      report();
      if (running.size >= AT_ONCE) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (fault !== undefined) throw fault;
  if (made === 0) throw new RangeError('"items" must have at least one element');
  return ticket.id;
}

/** Returns an even division of a list into as few parts as possible. */
function evenly(items: readonly (Triple | Item)[], { falcon512, falcon1024 }: PartsTicket) {
  const large = items.filter(isLarge).length;
  const small = items.length - large;
  const parts = Math.max(1, Math.ceil(small / falcon512) + Math.ceil(large / falcon1024));
  return { parts, items: Math.ceil(items.length / parts) };
}

const KEY_BYTES_512 = 897;

/** Returns whether an item is one of Falcon-1024. */
const isLarge = (item: Triple | Item): boolean =>
  'publicKey' in item
    ? item.publicKey.length > KEY_BYTES_512
    : item.public_key.length > 2 + 2 * KEY_BYTES_512;

/** Yields the task files of the parts. */
async function* partFiles(
  items: ItemStream,
  { maxBytes, falcon512, falcon1024 }: PartsTicket,
  maxItems = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let lines: string[] = [];
  let [bytes, small, large] = [0, 0, 0];
  const file = () => new TextEncoder().encode(`[${lines.join(',\n')}]\n`);
  for await (const item of items) {
    const line = JSON.stringify(toTriple(item));
    const isFull =
      lines.length >= maxItems ||
      (isLarge(item) ? large >= falcon1024 : small >= falcon512) ||
      bytes + line.length > FILL * maxBytes;
    if (isFull && lines.length > 0) {
      yield file();
      lines = [];
      [bytes, small, large] = [0, 0, 0];
    }
    lines.push(line);
    bytes += line.length + 2;
    if (isLarge(item)) large++;
    else small++;
  }
  if (lines.length > 0) yield file();
}

/** Gets the URL of a part; a repeat of the same number gets the same part. */
async function announce(http: Http, options: PartsOptions, id: TaskId, number: number) {
  const answer = await post(http, options, `task/${id}/part`, `.${number}`);
  return readPartTicket(answer, number);
}

/**
 * Uploads a part. An answer may be lost, or the URL expire: then the part itself tells whether it
 * has its file.
 */
async function send(
  http: Http,
  options: PartsOptions,
  { id, number, file }: { readonly id: TaskId; readonly number: number; readonly file: Uint8Array },
  first: PartTicket,
): Promise<void> {
  let { url, isOpen } = first;
  for (let tries = 0; isOpen; tries++) {
    try {
      return await options.upload(url, file);
    } catch (error) {
      const passes =
        error instanceof ClientError &&
        (outcomeUnknown(error) || [403, 409].includes(error.status!));
      if (!passes || tries === REPEATS) throw error;
      ({ isOpen } = await announce(http, options, id, number));
      if (!isOpen) return;
      const renewed = await post(http, options, `task/${id}/part`, null, { part: number });
      ({ url } = readPartTicket(renewed, number));
    }
  }
}

/** @param suffix of the Idempotency-Key; null for none */
function post(
  http: Http,
  { path, idempotencyKey, signal }: PartsOptions,
  to: string,
  suffix: string | null,
  body?: object,
): Promise<unknown> {
  return http.json({
    method: 'POST',
    to: { path: `${path}/${to}` },
    ...(body && { body: JSON.stringify(body) }),
    ...(suffix !== null && { headers: { 'idempotency-key': idempotencyKey + suffix } }),
    repeat: 'safe',
    signal,
  });
}

function readPartsTicket(value: unknown): PartsTicket {
  const ticket = asObject(value, 'The answer to the creation of a task');
  const id = readId(ticket.process_id);
  const { max_part_bytes: maxBytes, max_part_items } = ticket;
  const { falcon512, falcon1024 } = asObject(max_part_items ?? {}, 'The limits of parts');
  const limits = [maxBytes, falcon512, falcon1024];
  if (id === null || !limits.every((limit) => Number(limit) >= 1)) {
    throw malformed('The server has no tasks with parts');
  }
  return { id, maxBytes, falcon512, falcon1024 } as PartsTicket;
}

function readPartTicket(value: unknown, number: number): PartTicket {
  const { part, url, status } = asObject(value, 'The answer to the announcement of a part');
  if (part !== number) throw malformed(`The server gave the number ${part} to part ${number}`);
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) throw malformed('A part has no url');
  return { url, isOpen: status === 'created' || status === 'failed' };
}
