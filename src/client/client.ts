/** The client: one method per operation of the service, and combinations of several operations. */
import { isBytes } from '../shared/arguments.ts';
import { encodeWireHex } from '../wire/hex.ts';
import { toTriple } from '../wire/triple.ts';
import { type Packed, packed, taskFile, toWireStatement } from './batch.ts';
import { ClientError, malformed } from './clientError.ts';
import { recordEvents } from './events.ts';
import { type Call, Http, readJson } from './http.ts';
import { readCall, readClientOptions, type Settings } from './options.ts';
import { type ItemStream, uploadParts } from './parts.ts';
import {
  asObject,
  isEnd,
  outcomeOf,
  readPage,
  readRecord,
  readSignAnswer,
  readTicket,
  taskId,
} from './records.ts';
import { fetchResult, type ResultOptions } from './result.ts';
import { outcomeUnknown } from './retry.ts';
import {
  acceptedRecord,
  maxItemsWithoutParts,
  newIdempotencyKey,
  notifyUploaded,
  repeatUnderKey,
} from './submit.ts';
import type {
  Batch,
  CallOptions,
  ClientOptions,
  Item,
  ResultFile,
  SignAnswer,
  StatementInput,
  SubmitProgress,
  TaskId,
  TaskIdInput,
  TaskListItem,
  TaskPage,
  TaskRecord,
  TaskResult,
  Triple,
  UploadTicket,
} from './types.ts';
import { upload as sendFile, type UploadOptions } from './upload.ts';
import { type TaskReader, type WaitOptions, waitForTask } from './waitFor.ts';

/** Options of lists. */
export interface ListOptions extends CallOptions {
  /** Lists only tasks with this status text. */
  readonly status?: string | undefined;
  /** Maximum number of tasks per page, 1 to 1000; the server's default is 100. */
  readonly limit?: number | undefined;
  /** Default: oldest first (`asc`). Other servers may not support `desc`. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** Options of a single page. */
export interface PageOptions extends ListOptions {
  /** `next` of the previous page; default: the first page. */
  readonly cursor?: string | undefined;
}

/** Options of methods that create a task. */
export interface CreateOptions extends CallOptions {
  /** Creation requests with the same key create one task. Default: a new key for every call. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of `submit`. */
export interface SubmitOptions extends CreateOptions {
  readonly onProgress?: ((progress: SubmitProgress) => void) | undefined;
}

/**
 * See {@link createClient}. All methods reject with a ClientError, or with a TypeError or
 * RangeError for wrong arguments.
 */
export interface Client {
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;

  /** Signs a message (bytes, or hex with `0x`) with a key of the service, for testing. */
  sign(message: Uint8Array | string, options?: CallOptions): Promise<SignAnswer>;

  /** Creates a task. Returns its id and the upload URL of its file. */
  createTask(options?: CreateOptions): Promise<UploadTicket>;

  /** Requests a new upload URL if the first has expired. Other servers may not support this. */
  renewUpload(id: TaskIdInput, options?: CallOptions): Promise<UploadTicket>;

  /** Uploads the task file to the URL of a ticket. Repeatable until the notification. */
  upload(to: UploadTicket | string, items: Batch, options?: UploadOptions): Promise<void>;

  /** Announces that the file is uploaded, which starts the work. Repeatable. */
  notify(id: TaskIdInput, options?: CallOptions): Promise<TaskRecord>;

  /** Submits a batch in one request, without a file. */
  aggregate(items: readonly (Triple | Item)[], options?: CreateOptions): Promise<TaskRecord>;

  /**
   * Creates a task, uploads its file, and notifies. A list that is longer than a task file of the
   * service, and items as they come, are uploaded in parts; the result is a merged proof or a
   * series. With the same `idempotencyKey` and items, an interrupted submission in parts continues.
   */
  submit(items: Batch | ItemStream, options?: SubmitOptions): Promise<TaskRecord>;

  /**
   * Returns whether `submit` uploads so many items in parts: the list is too long for one file, and
   * the server accepts parts.
   */
  needsParts(count: number, options?: CallOptions): Promise<boolean>;

  /** Returns the progress record of a task. */
  task(id: TaskIdInput, options?: CallOptions): Promise<TaskRecord>;

  /**
   * Iterates over all tasks, fetching pages on demand. Never requests a page twice.
   *
   * @throws ClientError `REPEATED_CURSOR` if the server repeats a cursor or a whole page
   */
  tasks(options?: ListOptions): AsyncGenerator<TaskListItem, void, undefined>;

  /** Returns one page of the list. */
  page(options?: PageOptions): Promise<TaskPage>;

  /**
   * Cancels a task and returns its record. A task that has ended is not changed. (If it ends during
   * the request, the service removes it, and the result is null.)
   */
  cancel(id: TaskIdInput, options?: CallOptions): Promise<TaskRecord | null>;

  /** Removes a task and its files, after cancelling it if it is unfinished. */
  remove(id: TaskIdInput, options?: CallOptions): Promise<void>;

  /**
   * Yields the progress record at every change, over one connection, until the task or the
   * connection ends.
   */
  events(id: TaskIdInput, options?: CallOptions): AsyncGenerator<TaskRecord, void, undefined>;

  /**
   * Waits until the task ends: by server-sent events, or by polling if the server has none.
   *
   * @throws ClientError `TASK_FAILED` (with `invalid`), `TASK_CANCELLED`, `TASK_EXPIRED`, each with
   *   `record`
   */
  waitFor(
    task: TaskIdInput | TaskRecord | UploadTicket,
    options?: WaitOptions,
  ): Promise<TaskRecord>;

  /**
   * Fetches the result of a completed task, and verifies it if statements are given.
   *
   * @throws ClientError `NO_RESULT` if there is no result (yet), `BAD_RESULT` if it is not valid
   */
  result(id: TaskIdInput, options?: ResultOptions): Promise<TaskResult>;

  /** Has the service verify an aggregate for an ordered list. To verify locally, use `result`. */
  verify(
    aggregate: Uint8Array | string | Pick<ResultFile, 'aggregate'>,
    statements: readonly StatementInput[],
    options?: CallOptions,
  ): Promise<boolean>;
}

/**
 * Creates a client of a service. It keeps no connection and need not be closed.
 *
 * @throws TypeError, RangeError for unknown options and wrong values
 * @example
 * ```ts
 * const client = createClient({ baseUrl: 'https://example.com/falcon', apiKey });
 * const { process_id } = await client.submit(items);
 * await client.waitFor(process_id, { onProgress: ({ status }) => console.log(status) });
 * const { aggregate } = await client.result(process_id, { statements: items }); // verified
 * ```
 */
export function createClient(options: ClientOptions): Client {
  return new HttpClient(readClientOptions(options));
}

class HttpClient implements Client, TaskReader {
  readonly http: Http;
  readonly tasksPath: string;
  readonly #aggsign: string;
  readonly #settings: Settings;

  constructor(settings: Settings) {
    const { serviceName } = settings;
    this.http = new Http(settings);
    this.tasksPath = `/v1/${serviceName}/tasks`;
    this.#aggsign = `/v1/${serviceName}/aggsign`;
    this.#settings = settings;
  }

  get baseUrl(): string {
    return this.http.base;
  }

  async sign(message: Uint8Array | string, options?: CallOptions): Promise<SignAnswer> {
    const { signal } = readCall(options);
    const digest = typeof message === 'string' ? message : encodeWireHex(message);
    const body = JSON.stringify({ digest });
    // Nothing is stored, so a repeat only creates another signature.
    const call = { method: 'POST', to: { path: '/v1/falcon/sign' }, body, repeat: 'safe' } as const;
    return readSignAnswer(await this.http.json({ ...call, signal }));
  }

  async createTask(options?: CreateOptions): Promise<UploadTicket> {
    const { idempotencyKey, signal } = readCall(options, 'idempotencyKey');
    const answer = await this.http.json({
      method: 'POST',
      to: { path: `${this.#aggsign}/task` },
      headers: { 'idempotency-key': idempotencyKey ?? newIdempotencyKey() },
      // If the server ignores keys, a repeat leaves behind at most a task without a file.
      repeat: 'safe',
      signal,
    });
    return readTicket(answer);
  }

  async renewUpload(id: TaskIdInput, options?: CallOptions): Promise<UploadTicket> {
    const { signal } = readCall(options);
    const to = { path: `${this.#aggsign}/task/${taskId(id)}/url` };
    return readTicket(await this.http.json({ method: 'POST', to, repeat: 'safe', signal }));
  }

  async upload(to: UploadTicket | string, items: Batch, options?: UploadOptions) {
    const read = readCall(options, 'onProgress');
    const url = typeof to === 'string' ? to : to.url;
    const file = await this.#pack(url, await taskFile(items));
    await sendFile(this.http, this.#settings.uploadBy, url, file, read);
  }

  /** Encodes the body for this URL. */
  async #pack(url: string, body: Uint8Array): Promise<Packed> {
    const own = url.startsWith(`${this.http.base}/`);
    return own && this.#settings.compress === 'gzip' ? packed(body) : { body, headers: {} };
  }

  notify(id: TaskIdInput, options?: CallOptions): Promise<TaskRecord> {
    const call = readCall(options);
    const path = `${this.#aggsign}/notify`;
    const record = (each: TaskId) => this.record(each, call.signal);
    return notifyUploaded(this.http, path, taskId(id), record, call);
  }

  async aggregate(items: readonly (Triple | Item)[], options?: CreateOptions): Promise<TaskRecord> {
    const { idempotencyKey = newIdempotencyKey(), signal } = readCall(options, 'idempotencyKey');
    const request = new TextEncoder().encode(JSON.stringify({ data: items.map(toTriple) }));
    const sent = await this.#pack(`${this.http.base}${this.#aggsign}`, request);
    const { text, headers } = await this.http.send({
      method: 'POST',
      to: { path: this.#aggsign },
      body: sent.body,
      headers: { ...sent.headers, 'idempotency-key': idempotencyKey },
      repeat: repeatUnderKey(this.http, this.#settings.idempotencyKeys, this.#aggsign, signal),
      transfer: true,
      signal,
    });
    const body = text.trim() === '' ? undefined : readJson(text, `POST ${this.#aggsign}`);
    return acceptedRecord(body, headers.get('location'), (id) => this.record(id, signal));
  }

  async submit(items: Batch | ItemStream, options?: SubmitOptions): Promise<TaskRecord> {
    const { onProgress, ...create } = readCall(options, 'idempotencyKey', 'onProgress');
    const { signal } = create;
    const tell = (step: SubmitProgress['step'], done: number, total = 1) =>
      onProgress?.({ step, done, total });
    if (
      isStream(items) ||
      (Array.isArray(items) && (await this.needsParts(items.length, create)))
    ) {
      const { idempotencyKey = newIdempotencyKey() } = create;
      const upload = async (url: string, file: Uint8Array) => {
        const { uploadBy } = this.#settings;
        await sendFile(this.http, uploadBy, url, await this.#pack(url, file), { signal });
      };
      const own = { path: this.#aggsign, idempotencyKey, signal, onProgress, upload };
      const id = await uploadParts(this.http, items as ItemStream, own);
      return this.#notifyTold(id, tell, signal);
    }
    const file = await taskFile(items as Batch);
    tell('create', 0);
    const ticket = await this.createTask(create);
    tell('create', 1);
    await this.upload(ticket, file, {
      signal,
      onProgress: onProgress && (({ done, total }) => tell('upload', done, total)),
    });
    return this.#notifyTold(ticket.process_id, tell, signal);
  }

  async #notifyTold(
    id: TaskId,
    tell: (step: 'notify', done: number) => void,
    signal: AbortSignal | undefined,
  ): Promise<TaskRecord> {
    tell('notify', 0);
    const record = await this.notify(id, { signal });
    tell('notify', 1);
    return record;
  }

  async needsParts(count: number, options?: CallOptions): Promise<boolean> {
    if (count <= MAX_EVERYWHERE) return false;
    const { signal } = options ?? {};
    return count > (await maxItemsWithoutParts(this.http, this.#aggsign, signal));
  }

  #get(path: string, signal: AbortSignal | undefined): Promise<unknown> {
    return this.http.json({ method: 'GET', to: { path }, repeat: 'safe', signal });
  }

  task(id: TaskIdInput, options?: CallOptions): Promise<TaskRecord> {
    const { signal } = readCall(options);
    return this.record(taskId(id), signal);
  }

  async record(id: TaskId, signal?: AbortSignal): Promise<TaskRecord> {
    const record = readRecord(await this.#get(`${this.tasksPath}/${id}`, signal));
    if (record.process_id !== id) throw malformed('The progress record belongs to another task');
    return record;
  }

  tasks(options?: ListOptions): AsyncGenerator<TaskListItem, void, undefined> {
    return this.#tasks(readCall(options, 'status', 'limit', 'order'));
  }

  async *#tasks(options: ListOptions): AsyncGenerator<TaskListItem, void, undefined> {
    const cursors = new Set<string>();
    let cursor: string | undefined;
    let before = '';
    for (;;) {
      const { tasks, next } = await this.page({
        ...options,
        ...(cursor !== undefined && { cursor }),
      });
      if (tasks.length === 0) return;
      const ids = tasks.map(({ id }) => id).join();
      if (ids === before) throw repeated();
      before = ids;
      yield* tasks;
      if (next === '') return;
      if (cursors.has(next)) throw repeated();
      cursors.add((cursor = next));
    }
  }

  async page(options?: PageOptions): Promise<TaskPage> {
    const { signal, ...own } = readCall(options, 'status', 'limit', 'order', 'cursor');
    const query = new URLSearchParams();
    for (const name of ['status', 'limit', 'order', 'cursor'] as const) {
      const value = own[name];
      if (value !== undefined) query.set(name, String(value));
    }
    const search = query.size > 0 ? `?${query}` : '';
    return readPage(await this.#get(this.tasksPath + search, signal));
  }

  async cancel(id: TaskIdInput, options?: CallOptions): Promise<TaskRecord | null> {
    const { signal } = readCall(options);
    const own = taskId(id);
    for (let count = 0; ; count++) {
      // DELETE removes a task that has ended, so it is sent only for an unfinished one.
      const record = await this.record(own, signal);
      if (isEnd(outcomeOf(record.status))) return record;
      try {
        return await this.#delete(own, 'unsafe', signal);
      } catch (error) {
        const lost = error instanceof ClientError && outcomeUnknown(error);
        if (!lost || count >= this.http.retries.times) throw error;
      }
    }
  }

  async remove(id: TaskIdInput, options?: CallOptions): Promise<void> {
    const { signal } = readCall(options);
    const own = taskId(id);
    let maybeGone = false;
    const repeat = async (error: ClientError): Promise<'safe'> => {
      maybeGone ||= outcomeUnknown(error);
      return 'safe';
    };
    try {
      // The first DELETE cancels an unfinished task.
      for (let left = 2; left > 0; left--) {
        if ((await this.#delete(own, repeat, signal)) === null) return;
        maybeGone = true;
      }
    } catch (error) {
      const gone = error instanceof ClientError && error.status === 404 && maybeGone;
      if (!gone) throw error;
    }
  }

  async #delete(id: TaskId, repeat: Call['repeat'], signal: AbortSignal | undefined) {
    const to = { path: `${this.tasksPath}/${id}` };
    const answer = await this.http.json({ method: 'DELETE', to, repeat, signal });
    return answer === undefined ? null : readRecord(answer);
  }

  events(id: TaskIdInput, options?: CallOptions): AsyncGenerator<TaskRecord, void> {
    const { signal } = readCall(options);
    return recordEvents(this.http, this.tasksPath, taskId(id), signal);
  }

  waitFor(task: TaskIdInput | TaskRecord | UploadTicket, options?: WaitOptions) {
    const read = readCall(options, 'onProgress', 'by', 'pollMs', 'patienceMs');
    const id = taskId(typeof task === 'object' ? task.process_id : task);
    return waitForTask(this, id, read);
  }

  async result(id: TaskIdInput, given?: ResultOptions): Promise<TaskResult> {
    const options = readCall(given, 'statements');
    const own = taskId(id);
    const record = await this.record(own, options.signal);
    let path = record.result_path;
    // The contract provides the URL in the list; this service also includes it in the record.
    if (path === undefined && ['completed', 'unknown'].includes(outcomeOf(record.status))) {
      path = (await this.findCompleted(own, options.signal))?.meta.result_path;
    }
    if (path === undefined) {
      const message = `Task ${own} has no result: it is "${record.status}"`;
      throw new ClientError('result', { code: 'NO_RESULT', message, record });
    }
    return fetchResult(this.http, own, new URL(path, `${this.http.base}/`).href, options);
  }

  async findCompleted(id: TaskId, signal?: AbortSignal): Promise<TaskListItem | null> {
    for await (const item of this.tasks({ status: 'completed', signal })) {
      if (item.id === id) return item;
    }
    return null;
  }

  async verify(
    aggregate: Uint8Array | string | Pick<ResultFile, 'aggregate'>,
    statements: readonly StatementInput[],
    options?: CallOptions,
  ): Promise<boolean> {
    const { signal } = readCall(options);
    const given =
      typeof aggregate === 'object' && 'aggregate' in aggregate ? aggregate.aggregate : aggregate;
    const hex = typeof given === 'string' ? given : encodeWireHex(given);
    const answer = await this.http.json({
      method: 'POST',
      to: { path: `${this.#aggsign}/verify` },
      body: JSON.stringify({ aggregate: hex, statements: statements.map(toWireStatement) }),
      repeat: 'safe',
      transfer: true,
      signal,
    });
    const { valid } = asObject(answer, 'The answer of the verification');
    if (typeof valid === 'boolean') return valid;
    throw malformed('The answer of the verification has no verdict');
  }
}

/** Signatures that every server accepts in a file. */
const MAX_EVERYWHERE = 1722;

const isStream = (items: Batch | ItemStream): items is ItemStream =>
  typeof items === 'object' &&
  !Array.isArray(items) &&
  !isBytes(items) &&
  (Symbol.asyncIterator in items || Symbol.iterator in items);

const repeated = () =>
  new ClientError('malformed', {
    code: 'REPEATED_CURSOR',
    message: 'The server repeats a page of the list',
  });
