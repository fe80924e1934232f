/** HTTP requests: address, API key, time limits, safe retries. Every failure is a ClientError. */
import type { HostResponse, HostSignal, HostStream } from '../shared/hostTypes.ts';
import { ClientError, malformed } from './clientError.ts';
import { parseExactJson } from './exactJson.ts';
import { checkKey, type Settings } from './options.ts';
import { readProblem } from './records.ts';
import { mayRepeat, type Repeat, readRetryAfter, systemCode, waitMs } from './retry.ts';
import type { CallOptions, ClientOptions, Fetch, RetryOptions } from './types.ts';

/** Limit for answers from a broken or hostile server; larger than any valid answer. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

/** One request and its retry policy. */
export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the base address, or an absolute URL outside the service. */
  readonly to: { readonly path: string } | { readonly url: string };
  /** A JSON body. A function creates it for each attempt, since a stream can be sent only once. */
  readonly body?: string | Uint8Array | (() => HostStream);
  readonly headers?: Readonly<Record<string, string>>;
  readonly repeat: Repeat | ((error: ClientError) => Promise<Repeat>);
  /** True if the request transfers much data and so has a longer time limit. */
  readonly transfer?: boolean;
  /** Sends an attempt; default: `fetch`. */
  readonly by?: (
    url: string,
    headers: Record<string, string>,
    signal: HostSignal,
  ) => Promise<Answer>;
}

/** An answer with its whole body. */
export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** Sends requests to a service, and to the URLs that it issues. */
export class Http {
  /** Without a trailing slash. */
  readonly base: string;
  readonly retries: Required<RetryOptions>;
  readonly hasOwnFetch: boolean;
  readonly #apiKey: ClientOptions['apiKey'];
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #transferTimeoutMs: number;
  readonly #signal: HostSignal | undefined;

  constructor(settings: Settings) {
    this.base = readBase(settings.baseUrl);
    this.retries = settings.retries;
    this.#apiKey = settings.apiKey;
    this.hasOwnFetch = settings.fetch !== undefined;
    this.#fetch = settings.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#timeoutMs = settings.timeoutMs;
    this.#transferTimeoutMs = settings.transferTimeoutMs;
    this.#signal = settings.signal;
  }

  /** Sends a request and retries it as allowed. @throws ClientError */
  async send(call: Call): Promise<Answer> {
    for (let count = 0; ; count++) {
      try {
        return await this.#attempt(call);
      } catch (error) {
        if (!(error instanceof ClientError) || count >= this.retries.times) throw error;
        const repeat = typeof call.repeat === 'string' ? call.repeat : await call.repeat(error);
        const ms = mayRepeat(error, repeat) ? waitMs(error, count, this.retries) : null;
        if (ms === null) throw error;
        await this.sleep(ms, call.signal);
      }
    }
  }

  /** Sends a request and parses the answer as JSON; `undefined` for an empty body. */
  async json(call: Call): Promise<unknown> {
    const { text } = await this.send(call);
    return text.trim() === '' ? undefined : readJson(text, describe(call));
  }

  /**
   * Makes one attempt, and yields the text of an event stream in pieces until the server ends it.
   *
   * @param firstMs maximum wait for the answer, and then for the first piece
   * @param silenceMs maximum wait for each further piece
   * @throws ClientError `NETWORK` if the connection breaks, `TIMEOUT` if a wait is too long,
   *   `MALFORMED_ANSWER` if the answer is not an event stream
   */
  async *events(call: Call, firstMs: number, silenceMs: number): AsyncGenerator<string> {
    const headers = await this.#headers(call);
    const link = linkSignals([this.#signal, call.signal], firstMs);
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      link.signal.throwIfAborted();
      const response = await this.#open(call, headers, link.signal);
      if (!response.ok) throw refusal(call, await readAnswer(response));
      reader = response.body?.getReader();
      if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
        throw malformed('The answer is not a stream of events');
      }
      const decoder = new TextDecoder();
      for (let limitMs = firstMs; reader !== undefined; limitMs = silenceMs) {
        link.startClock(limitMs);
        const { done, value } = await reader.read();
        link.stopClock();
        if (done) return;
        yield decoder.decode(value, { stream: true });
      }
    } catch (error) {
      throw toClientError(error, call, link);
    } finally {
      link.end();
      // An unread body would keep the connection busy.
      reader?.cancel().catch(() => {});
    }
  }

  /** Waits. @throws ClientError `ABORTED` if the signal of the call or the client aborts */
  async sleep(ms: number, signal?: HostSignal): Promise<void> {
    const link = linkSignals([this.#signal, signal], ms);
    await new Promise<unknown>((resolve) => {
      if (link.signal.aborted) resolve(null);
      link.signal.addEventListener('abort', resolve, { once: true });
    });
    link.end();
    if (!link.timedOut()) throw aborted(link.signal);
  }

  async #attempt(call: Call): Promise<Answer> {
    // Outside `try`: an error of the caller's function is not a network failure.
    const headers = await this.#headers(call);
    const limitMs = call.transfer ? this.#transferTimeoutMs : this.#timeoutMs;
    const link = linkSignals([this.#signal, call.signal], limitMs);
    try {
      link.signal.throwIfAborted();
      const answer = call.by
        ? await call.by(this.#url(call), headers, link.signal)
        : await readAnswer(await this.#open(call, headers, link.signal));
      if (answer.status < 200 || answer.status > 299) throw refusal(call, answer);
      return answer;
    } catch (error) {
      throw toClientError(error, call, link);
    } finally {
      link.end();
    }
  }

  /** Starts an attempt by `fetch`. */
  #open(call: Call, headers: Record<string, string>, signal: HostSignal): Promise<HostResponse> {
    const { method, body: given } = call;
    const body = typeof given === 'function' ? given() : (given as BodyInit | undefined);
    return this.#fetch(this.#url(call), {
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } as RequestInit);
  }

  #url({ to }: Call): string {
    return 'path' in to ? this.base + to.path : to.url;
  }

  async #headers({ to, body, by, headers }: Call): Promise<Record<string, string>> {
    const all: Record<string, string> = { ...headers };
    if (body !== undefined || by !== undefined) all['content-type'] ??= 'application/json';
    if ('path' in to && this.#apiKey !== undefined) {
      const key = typeof this.#apiKey === 'function' ? await this.#apiKey() : this.#apiKey;
      all.authorization = checkKey(key);
    }
    return all;
  }
}

/** Parses JSON; `what` names the request in errors. */
export function readJson(text: string, what: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw malformed(`${what} did not answer with JSON`, cause);
  }
}

/** Returns method and path, without the query, which may grant access. */
function describe({ method, to }: Call): string {
  const path = 'path' in to ? to.path : to.url;
  return `${method} ${path.split('?')[0]}`;
}

async function readAnswer(response: HostResponse): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await readText(response) };
}

async function readText(response: HostResponse): Promise<string> {
  if (response.body === null) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw malformed(`An answer has more than ${MAX_ANSWER_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function refusal(call: Call, { status, headers, text }: Answer): ClientError {
  const problem = readProblem(parseOrNothing(text));
  const said = problem?.detail ?? problem?.title;
  return new ClientError('problem', {
    code: problem?.code ?? `HTTP_${status}`,
    message: `${describe(call)} answered ${status}${said ? `: ${said}` : ''}`,
    status,
    problem,
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
  });
}

/** Parses JSON; returns `undefined` for any other text. */
export function parseOrNothing(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Creates the error of a call that a signal aborted. */
const aborted = ({ reason }: HostSignal): ClientError =>
  new ClientError('aborted', {
    code: 'ABORTED',
    message: 'The call was aborted by its signal',
    cause: reason,
  });

function toClientError(error: unknown, call: Call, link: Link): ClientError {
  if (error instanceof ClientError) return error;
  if (link.timedOut()) {
    const message = `${describe(call)} took too long`;
    return new ClientError('network', { code: 'TIMEOUT', message, cause: error });
  }
  if (link.signal.aborted) return aborted(link.signal);
  // The host's message might contain the URL with its query.
  const why = systemCode(error);
  const message = `${describe(call)} got no complete answer${why ? ` (${why})` : ''}`;
  return new ClientError('network', { code: 'NETWORK', message, cause: error });
}

type Link = ReturnType<typeof linkSignals>;

/** Combines signals and a time limit into one signal. `end` removes the listeners. */
function linkSignals(signals: readonly (AbortSignal | undefined)[], limitMs: number) {
  const controller = new AbortController();
  const ended = new AbortController();
  let late = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopClock = () => clearTimeout(timer);
  const startClock = (ms: number) => {
    stopClock();
    if (ms >= 2 ** 31) return;
    timer = setTimeout(() => {
      late = true;
      controller.abort(new DOMException('The request took too long', 'TimeoutError'));
    }, ms);
  };
  startClock(limitMs);
  for (const signal of signals) {
    const pass = () => controller.abort(signal?.reason);
    if (signal?.aborted) pass();
    signal?.addEventListener('abort', pass, { signal: ended.signal });
  }
  return {
    signal: controller.signal,
    timedOut: () => late,
    startClock,
    stopClock,
    end() {
      stopClock();
      ended.abort();
    },
  };
}

function readBase(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' && typeof (baseUrl as URL | null)?.href !== 'string') {
    throw new TypeError('"baseUrl" must be a url');
  }
  const here = (globalThis as { location?: { href?: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(String(baseUrl), here);
  } catch {
    throw new TypeError('"baseUrl" must be a url');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError('"baseUrl" must be an http or https url');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
