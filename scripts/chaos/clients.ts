/**
 * Clients that know nothing but the wire contract: they create, upload and notify, in one file or
 * in parts, or send a batch in one request; they repeat what was not answered, under the same
 * Idempotency-Key, at any host; they follow each accepted task to its end and check its result
 * against what they sent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem } from '../../src/wire/triple.ts';

const PATIENCE_MS = 8000;
/** After a request that nobody answered. */
const UNHEARD_MS = 600;
/** Longest wait that an answer can ask for here. */
const MAX_WAIT_MS = 2000;
const AGGSIGN = '/v1/svc/aggsign';

/** A batch of a client, and what became of it. */
export interface Job {
  readonly way: 'direct' | 'steps' | 'parts';
  readonly items: readonly TaskItem[];
  /** Once a 201 or 202 has named it. */
  id: number | null;
  /** A repeat was told that what its first request made is gone: accepted, and lost unnamed. */
  gone: boolean;
  /** Completed, and the result is of these items. */
  verified: boolean;
  /** The bytes of that result. */
  result?: string;
  /** Why it is lost. */
  fault: string | null;
  /** The last record that was seen, or what went wrong with the last request. */
  seen: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Most parts of a task, and the longest time between two. */
const MAX_PARTS = 3;
const BETWEEN_MS = 1500;

/** The time is over. */
class Late extends Error {}

/** The answer to a repeat whose first request was accepted, and its task removed since. */
class Gone extends Error {}

export interface ClientsOptions {
  readonly bases: readonly string[];
  readonly apiKey: string;
  /** When they give up, as performance.now() tells time. */
  readonly endMs: number;
}

export class Clients {
  readonly #options: ClientsOptions;
  /** Requests whose outcome was not heard, and requests that were asked to come again. */
  unheard = 0;
  putOff = 0;
  /** Results that were fetched again, and those that could not be, or not to their end. */
  fetched = 0;
  withheld = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /**
   * Submits the batch and follows it to its end. Never throws: the job says what happened.
   *
   * @param sent called once it is submitted, or cannot be
   */
  async run(job: Job, sent: () => void): Promise<void> {
    const note = (error: unknown) => {
      if (error instanceof Late) return;
      job.fault = (error as Error).message;
      job.gone = error instanceof Gone;
    };
    const ways = { direct: this.#direct, steps: this.#steps, parts: this.#parts };
    const id = await ways[job.way].call(this, job).catch(note);
    sent();
    if (id === undefined) return;
    job.id = id;
    await this.#follow(job).catch(note);
  }

  /**
   * Fetches the result of a completed job again. If it is served as a whole one, its bytes are the
   * same as before; otherwise the job is lost.
   */
  async recheck(job: Job): Promise<void> {
    try {
      const answer = await this.#ask(null, 'GET', `/v1/svc/tasks/${job.id}`);
      const { result_path: url } = JSON.parse(expected(answer, 200));
      const file = await this.#send('GET', url, {}).catch(() => null);
      if (file?.status !== 200) this.withheld++;
      else if (file.text === job.result) this.fetched++;
      else throw new Error('a damaged result was served as a whole one');
    } catch (error) {
      if (error instanceof Late) return;
      job.fault = (error as Error).message;
      job.verified = false;
    }
  }

  /** The ids of all tasks that the service lists. */
  async list(): Promise<number[]> {
    const ids: number[] = [];
    let cursor = '';
    do {
      const query = `limit=100&cursor=${encodeURIComponent(cursor)}`;
      const page = JSON.parse((await this.#ask(null, 'GET', `/v1/svc/tasks?${query}`)).text);
      ids.push(...page.tasks.map(({ id }: { id: number }) => id));
      cursor = page.next;
    } while (cursor !== '');
    return ids;
  }

  /** A list that comes in pieces, some of them late. */
  async #parts(job: Job): Promise<number> {
    const key = crypto.randomUUID();
    const body = '{"parts":true}';
    const created = await this.#ask(job, 'POST', `${AGGSIGN}/task`, { key, body });
    const id: number = JSON.parse(expected(created, 201)).process_id;
    job.id = id;
    const size = Math.ceil(job.items.length / (1 + Math.floor(MAX_PARTS * Math.random())));
    for (let part = 0; part * size < job.items.length; part++) {
      if (part > 0) await sleep(BETWEEN_MS * Math.random());
      const items = job.items.slice(part * size, (part + 1) * size);
      await this.#part(job, part, { key: `${key}.${part}`, body: formatTaskFile(items) });
    }
    expected(await this.#ask(job, 'POST', `${AGGSIGN}/notify/${id}`), 202);
    return id;
  }

  async #part(job: Job, part: number, file: { key: string; body: string }): Promise<void> {
    const path = `${AGGSIGN}/task/${job.id}/part`;
    for (;;) {
      const ticket = JSON.parse(
        expected(await this.#ask(job, 'POST', path, { key: file.key }), 201),
      );
      if (ticket.part !== part) throw new Error(`part ${part} was given the number ${ticket.part}`);
      if (ticket.status !== 'created') return;
      const renewed = await this.#ask(job, 'POST', path, { body: JSON.stringify({ part }) });
      // A worker has taken the file of a request that was not answered.
      if (renewed.status === 409) continue;
      const { url } = JSON.parse(expected(renewed, 201));
      const answer = await this.#ask(job, 'PUT', url, { body: file.body });
      if (answer.status === 200) return;
      if (answer.status !== 403 && answer.status !== 409) expected(answer, 200);
    }
  }

  async #direct(job: Job): Promise<number> {
    const body = `{"data":${formatTaskFile(job.items)}}`;
    const answer = await this.#ask(job, 'POST', AGGSIGN, { body, key: crypto.randomUUID() });
    return JSON.parse(expected(answer, 202)).process_id;
  }

  async #steps(job: Job): Promise<number> {
    const key = crypto.randomUUID();
    const created = await this.#ask(job, 'POST', `${AGGSIGN}/task`, { key });
    const ticket = JSON.parse(expected(created, 201));
    const id: number = ticket.process_id;
    job.id = id;
    let { url } = ticket;
    const body = formatTaskFile(job.items);
    for (;;) {
      const answer = await this.#ask(job, 'PUT', url, { body });
      if (answer.status !== 403) {
        expected(answer, 200);
        break;
      }
      // The url has ended, by the clock of whoever judges it: there is always another.
      const again = await this.#ask(job, 'POST', `${AGGSIGN}/task/${id}/url`);
      ({ url } = JSON.parse(expected(again, 200)));
    }
    expected(await this.#ask(job, 'POST', `${AGGSIGN}/notify/${id}`), 202);
    return id;
  }

  async #follow(job: Job): Promise<void> {
    for (;;) {
      await sleep(300 + 700 * Math.random());
      const answer = await this.#ask(job, 'GET', `/v1/svc/tasks/${job.id}`);
      job.seen = answer.text;
      const record = JSON.parse(expected(answer, 200));
      if (record.status === 'completed') {
        if (await this.#check(job, record.result_path)) return;
      } else if (/^(failed|cancelled|expired)$/.test(record.status)) {
        throw new Error(answer.text);
      }
    }
  }

  /** @returns false if the result could not be fetched, and is to be asked for again */
  async #check(job: Job, url: string): Promise<boolean> {
    const answer = await this.#send('GET', url, {}).catch(() => null);
    if (answer === null || answer.status !== 200) {
      job.seen = `completed, but its result: ${answer?.status} ${answer?.text}`;
      return false;
    }
    const result = parseResultFile(answer.text);
    if (result.processId !== job.id || !verifyResultFile(result, job.items)) {
      throw new Error(`the result of ${job.id} is not that of its batch`);
    }
    job.verified = true;
    job.result = answer.text;
    return true;
  }

  /** Asks until there is an answer that means something. */
  async #ask(
    job: Job | null,
    method: string,
    to: string,
    more: { readonly body?: string; readonly key?: string } = {},
  ): Promise<Answer> {
    const { bases, apiKey } = this.#options;
    for (;;) {
      if (performance.now() > this.#options.endMs) throw new Late();
      const base = bases[Math.floor(Math.random() * bases.length)]!;
      const own = to.startsWith('/');
      const headers = {
        ...(own && { authorization: apiKey }),
        ...(more.body !== undefined && { 'content-type': 'application/json' }),
        ...(more.key !== undefined && { 'idempotency-key': more.key }),
      };
      let waitMs = 200;
      try {
        const sent = { headers, ...(more.body !== undefined && { body: more.body }) };
        const answer = await this.#send(method, own ? base + to : to, sent);
        if (!comesAgain(answer)) return answer;
        this.putOff++;
        waitMs = Math.min(answer.retryMs, MAX_WAIT_MS);
        if (job) job.seen = `${method} ${to}: ${answer.status} ${answer.text}`;
      } catch (error) {
        this.unheard++;
        waitMs = UNHEARD_MS;
        if (job) job.seen = `${method} ${to}: ${(error as Error).message}`;
      }
      await sleep(waitMs * (0.5 + Math.random()));
    }
  }

  async #send(
    method: string,
    url: string,
    init: { readonly headers?: Record<string, string>; readonly body?: string },
  ): Promise<Answer & { readonly retryMs: number }> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { method, signal, ...init });
    const text = await response.text();
    const retryMs = 1000 * Number(response.headers.get('retry-after') ?? 0.2);
    return { status: response.status, text, retryMs };
  }
}

function comesAgain({ status, text }: Answer): boolean {
  if (status >= 500 || status === 429 || status === 408) return true;
  // The first request with the key is still at work, or died and holds it for a while.
  if (status === 409) return text.includes('IDEMPOTENCY_CONFLICT');
  // A bucket that did not get the whole body in time.
  return status === 400 && /RequestTimeout|IncompleteBody/.test(text);
}

function expected({ status, text }: Answer, wanted: number): string {
  if (status === wanted) return text;
  const message = `${status} instead of ${wanted}: ${text}`;
  throw text.includes('IDEMPOTENCY_GONE') ? new Gone(message) : new Error(message);
}
