/**
 * Requests to the store. Each may be repeated, since a key is written once and always with the same
 * bytes: whatever may pass (5xx, 429, a broken line, silence) is tried again, signed anew.
 *
 * What the store says in an error may hold keys and signed urls. Only its status and its code, a
 * word, reach an error of ours.
 */
import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../../shared/errors.ts';
import type { CredentialsSource, SigningCredentials } from './credentials.ts';
import type { Parcel } from './preparedBody.ts';
import { signRequest, type Unsigned } from './signing.ts';

export interface StoreRequest extends Unsigned {
  readonly body?: Parcel;
  readonly signal?: AbortSignal | undefined;
}

/** A good answer, whose body is read or cancelled by whoever gets it. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly silence: Silence;
}

export interface RequestLimits {
  readonly tries: number;
  /** For all tries together. */
  readonly requestMs: number;
}

export interface RequestsOptions {
  readonly region: string;
  readonly credentials: CredentialsSource;
  readonly silenceMs: number;
  readonly requestMs: number;
  readonly nowMs: () => number;
}

export const MAX_TRIES = 4;

/** Before the second try, on average; twice as long before each further one. */
const PAUSE_MS = 100;

export class Requests {
  readonly #options: RequestsOptions;
  #skewMs: number | null = null;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** By how much the clock of the store is ahead of ours; null before its first answer. */
  get skewMs(): number | null {
    return this.#skewMs;
  }

  /**
   * @param use reads the answer, in the same try
   * @returns what `use` returns; null if the store has no such file
   * @throws CodedError `INPUT_CHANGED` for another version, `STORAGE_FULL`, `STORE_UNAVAILABLE`;
   *   the reason of the signal
   */
  async ask<T>(
    request: StoreRequest,
    use: (answer: StoreAnswer) => T | Promise<T>,
    limits: Partial<RequestLimits> = {},
  ): Promise<T | null> {
    const { tries = MAX_TRIES, requestMs = this.#options.requestMs } = limits;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), requestMs);
    const stop = AbortSignal.any([late.signal, ...(request.signal ? [request.signal] : [])]);
    try {
      for (let tried = 1; ; tried++) {
        try {
          return await this.#withKnownKey(request, stop, use);
        } catch (error) {
          request.signal?.throwIfAborted();
          if (!(error instanceof PassingFault)) throw error;
          if (late.signal.aborted) throw unavailable(`no answer within ${requestMs} ms`);
          if (tried >= tries) throw unavailable(error.message);
        }
        const pauseMs = PAUSE_MS * 2 ** (tried - 1) * (0.5 + Math.random());
        await sleep(pauseMs, undefined, { signal: stop }).catch(() => {});
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** If the credentials are refused, those that have taken their place get a turn. */
  async #withKnownKey<T>(
    request: StoreRequest,
    stop: AbortSignal,
    use: (answer: StoreAnswer) => T | Promise<T>,
  ): Promise<T | null> {
    const source = this.#options.credentials;
    const credentials = await source.current();
    try {
      return await this.#once(request, credentials, stop, use);
    } catch (error) {
      if (!(error instanceof RefusedKey)) throw error;
      const other = await source.otherThan(credentials);
      if (other === null) throw unavailable(error.message);
      return await this.#once(request, other, stop, use).catch((again: unknown) => {
        throw again instanceof RefusedKey ? unavailable(again.message) : again;
      });
    }
  }

  async #once<T>(
    request: StoreRequest,
    credentials: SigningCredentials,
    stop: AbortSignal,
    use: (answer: StoreAnswer) => T | Promise<T>,
  ): Promise<T | null> {
    const { region, silenceMs, nowMs } = this.#options;
    const { method, url, body } = request;
    const scope = { region, atMs: nowMs() };
    const headers = await signRequest(request, credentials, scope, body?.sha256);
    headers.set('accept-encoding', 'identity');
    if (body) headers.set('content-length', String(body.bytes));
    const silence = new Silence(silenceMs);
    const signal = AbortSignal.any([stop, silence.signal]);
    // Another host would need another signature, so no redirection is followed.
    const sent = body
      ? sendBody(url, headers, body, silence, signal)
      : fetch(url, { method, headers, redirect: 'manual', signal });
    const answer = await heard(silence, sent);
    this.#compareClocks(answer);
    if (!answer.ok) return refuse(answer, silence);
    return use({ status: answer.status, headers: answer.headers, body: answer.body, silence });
  }

  #compareClocks(answer: Response): void {
    const told = Date.parse(answer.headers.get('date') ?? '');
    // The header has whole seconds, so on average half a second is missing.
    if (Number.isFinite(told)) this.#skewMs = Math.round(told + 500 - this.#options.nowMs());
  }
}

/** Codes of faults that may pass, and come with the status 400. */
const PASSING_CODES: ReadonlySet<string> = new Set(['RequestTimeout', 'IncompleteBody']);

/** Codes of a full store, besides the status 507. */
const FULL_CODES: ReadonlySet<string> = new Set(['QuotaExceeded', 'XMinioStorageFull']);

/** 400, 401 or 403: perhaps the credentials have ended. An answer to HEAD does not say more. */
class RefusedKey extends Error {}

/**
 * @returns null for a file that is not there
 * @throws for every other bad answer, by its kind
 */
async function refuse(answer: Response, silence: Silence): Promise<null> {
  const { status } = answer;
  const code = await codeOf(answer, silence);
  if (status === 404 && code !== 'NoSuchBucket') return null;
  if (status === 412) throw new CodedError('INPUT_CHANGED');
  const told = `the blob store answered ${status}${code && ` ${code}`}`;
  if (status === 507 || FULL_CODES.has(code)) {
    throw new CodedError('STORAGE_FULL', { cause: new Error(told) });
  }
  const passing = status === 408 || status === 429 || (status >= 500 && status !== 501);
  if (passing || PASSING_CODES.has(code)) throw new PassingFault(told);
  if (status === 400 || status === 401 || status === 403) throw new RefusedKey(told);
  throw unavailable(told);
}

const MAX_ERROR_BYTES = 16 * 1024;

/** The code in the body of an error: a word, or nothing. */
async function codeOf({ body }: Response, silence: Silence): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  let text = '';
  while (text.length < MAX_ERROR_BYTES) {
    const { done, value } = await heard(silence, reader.read());
    if (done) return /<Code>(\w{1,64})<\/Code>/.exec(text)?.[1] ?? '';
    text += Buffer.from(value).toString('latin1');
  }
  await reader.cancel().catch(() => {});
  return '';
}

/** @param told for the log */
export function unavailable(told: string): CodedError {
  return new CodedError('STORE_UNAVAILABLE', { cause: new Error(told) });
}

/** Reads the rest of an answer that says nothing more, so that its line can be used again. */
export async function discard({ body, silence }: StoreAnswer): Promise<void> {
  const reader = body?.getReader();
  while (reader && !(await heard(silence, reader.read())).done);
}

/** @returns the answer, as `fetch` has it */
export function sendBody(
  url: URL,
  headers: Headers,
  body: Parcel,
  silence: Silence,
  signal: AbortSignal,
): Promise<Response> {
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const options = { method: 'PUT', headers: Object.fromEntries(headers), signal };
    const request = send(url, options, (answer) => resolve(responseOf(answer)));
    request.on('error', reject);
    const pieces = Readable.from(piecesOf(body, silence), { highWaterMark: 1 });
    // An answer that came before the end of the body counts more than the line that broke then.
    pipeline(pieces, request).catch(reject);
  });
}

/** Each piece that is taken breaks the silence. */
async function* piecesOf(body: Parcel, silence: Silence): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.bytes; ) {
    const piece = await body.piece(at);
    if (piece.length === 0) throw new Error('the body is shorter than it was');
    at += piece.length;
    silence.start();
    yield piece;
  }
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const status = answer.statusCode!;
  if (status === 204 || status === 304) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(streamOf(answer), { status, headers });
}

/** Its bytes. `Readable.toWeb` may throw where nobody can catch it, if its reader leaves early. */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = answer[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const { done, value } = await pieces.next();
        if (done) stream.close();
        else stream.enqueue(value);
      },
      cancel: () => void answer.destroy(),
    },
    { highWaterMark: 0 },
  );
}

/** A fault that need not last: the request is tried again. Its text may reach a log. */
export class PassingFault extends Error {}

/** Aborts its signal once nothing has been heard for a while. */
export class Silence {
  readonly ms: number;
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Counts from now on. */
  start(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#abort.abort(), this.ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Waits for the store, in a request or between two pieces of a body.
 *
 * @throws PassingFault whatever breaks
 */
export async function heard<T>(silence: Silence, work: Promise<T>): Promise<T> {
  silence.start();
  try {
    return await work;
  } catch (error) {
    throw new PassingFault(
      silence.signal.aborted
        ? `the blob store was silent for ${silence.ms} ms`
        : `the line to the blob store broke${systemCode(error)}`,
    );
  } finally {
    silence.stop();
  }
}

/** The code that the system gave, such as ECONNREFUSED. Texts of errors may hold addresses. */
function systemCode(error: unknown): string {
  const { cause = error } = (error ?? {}) as Error;
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? ` (${code})` : '';
}
