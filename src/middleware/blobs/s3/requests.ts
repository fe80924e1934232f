/**
 * Requests to the store. All are safe to repeat, since a key is always written with the same bytes.
 * After temporary faults (5xx, 429, a broken connection, silence), a request is signed anew and
 * repeated.
 *
 * The store's errors may contain keys and signed URLs, so only status and code are passed on.
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

interface StoreRequest extends Unsigned {
  readonly body?: Parcel;
  readonly signal?: AbortSignal | undefined;
}

/** A good answer. Its recipient must read or cancel the body. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly silence: Silence;
}

interface RequestLimits {
  readonly tries: number;
  /** Time limit for all tries together. */
  readonly requestMs: number;
}

interface RequestsOptions {
  readonly region: string;
  readonly credentials: CredentialsSource;
  readonly silenceMs: number;
  readonly requestMs: number;
  readonly nowMs: () => number;
}

export const MAX_TRIES = 4;

/** Average pause before the second try; doubles with each further one. */
const PAUSE_MS = 100;

export class Requests {
  readonly #options: RequestsOptions;
  #skewMs: number | null = null;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Milliseconds by which the store's clock is ahead; null before its first answer. */
  get skewMs(): number | null {
    return this.#skewMs;
  }

  /**
   * @param use reads the answer, within the same try
   * @returns the result of `use`; null if the store has no such file
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

  /** If the credentials are refused, tries again with newer ones. */
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
      if (other === null) throw unavailable(error);
      return await this.#once(request, other, stop, use).catch((again: unknown) => {
        throw again instanceof RefusedKey ? unavailable(again) : again;
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
    // Redirections are not followed, since another host would need another signature.
    const sent = body
      ? sendBody(url, headers, body, silence, signal)
      : fetch(url, { method, headers, redirect: 'manual', signal });
    const answer = await heard(silence, sent);
    this.#compareClocks(answer);
    if (!answer.ok) return refuse(answer, silence, region);
    return use({ status: answer.status, headers: answer.headers, body: answer.body, silence });
  }

  #compareClocks(answer: Response): void {
    const told = Date.parse(answer.headers.get('date') ?? '');
    // The header has whole seconds, so half a second is missing on average.
    if (Number.isFinite(told)) this.#skewMs = Math.round(told + 500 - this.#options.nowMs());
  }
}

/** Codes of temporary faults with status 400. */
const PASSING_CODES: ReadonlySet<string> = new Set(['RequestTimeout', 'IncompleteBody']);

/** Codes of a full store, besides the status 507. */
const FULL_CODES: ReadonlySet<string> = new Set(['QuotaExceeded', 'XMinioStorageFull']);

/** The store refuses the request. Answers to HEAD have no code that tells why. */
export class Refusal extends Error {}

/** 400, 401 or 403: the credentials may have expired. */
class RefusedKey extends Refusal {}

const REMEDIES: Readonly<Record<string, string>> = {
  AccessDenied:
    ': a policy must allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject',
  ExpiredToken: ': AWS_SESSION_TOKEN has expired',
  InvalidAccessKeyId: ': AWS_ACCESS_KEY_ID is unknown there',
  InvalidToken: ': AWS_SESSION_TOKEN is wrong',
  NoSuchBucket: ': the bucket is not there',
  RequestTimeTooSkewed: ': the clocks differ',
  SignatureDoesNotMatch: ': AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID',
};

/**
 * @returns null for a missing file
 * @throws the error for any other bad answer
 */
async function refuse(answer: Response, silence: Silence, region: string): Promise<null> {
  const { status, headers } = answer;
  const text = await textOf(answer, silence);
  const code = CODE.exec(text)?.[1] ?? '';
  if (status === 404 && code !== 'NoSuchBucket') return null;
  if (status === 412) throw new CodedError('INPUT_CHANGED');
  const header = headers.get('x-amz-bucket-region') ?? '';
  const theirs = REGION.exec(`<Region>${header}<${text}`)?.[1];
  const remedy =
    REMEDIES[code] ??
    (theirs === undefined || theirs === region
      ? ''
      : `: the bucket is in ${theirs}, not in ${region}; correct FALCONRY_S3_REGION`);
  const told = `the blob store answered ${status}${code && ` ${code}`}${remedy}`;
  if (status === 507 || FULL_CODES.has(code)) {
    throw new CodedError('STORAGE_FULL', { cause: new Error(told) });
  }
  const passing = status === 408 || status === 429 || (status >= 500 && status !== 501);
  if (passing || PASSING_CODES.has(code)) throw new PassingFault(told);
  if (status === 400 || status === 401 || status === 403) throw new RefusedKey(told);
  throw unavailable(new Refusal(told));
}

const CODE = /<Code>(\w{1,64})<\/Code>/;
/** An element, or a message: "the region 'us-east-1' is wrong; expecting 'eu-west-1'". */
const REGION = /(?:<Region>|expecting (?:'|&apos;|&#39;))([A-Za-z0-9-]{1,64})(?:<|'|&)/;

const MAX_ERROR_BYTES = 16 * 1024;

/** Returns the body of an error, or an empty string if it is long. */
async function textOf({ body }: Response, silence: Silence): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  let text = '';
  while (text.length < MAX_ERROR_BYTES) {
    const { done, value } = await heard(silence, reader.read());
    if (done) return text;
    text += Buffer.from(value).toString('latin1');
  }
  await reader.cancel().catch(() => {});
  return '';
}

/** @param told for the log */
export function unavailable(told: string | Refusal): CodedError {
  const cause = typeof told === 'string' ? new Error(told) : told;
  return new CodedError('STORE_UNAVAILABLE', { cause });
}

/** Reads the rest of an answer, so that its connection can be reused. */
export async function discard({ body, silence }: StoreAnswer): Promise<void> {
  const reader = body?.getReader();
  while (reader && !(await heard(silence, reader.read())).done);
}

/** Sends a body. @returns the answer, as by `fetch` */
function sendBody(
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
    // An early answer takes precedence over the broken connection that follows.
    pipeline(pieces, request).catch(reject);
  });
}

/** Yields the body's pieces. Each piece restarts the idle timer. */
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

/** Returns the body. `Readable.toWeb` may throw uncatchably if its reader stops early. */
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

/** A temporary fault: the request is repeated. Its text may be logged. */
export class PassingFault extends Error {}

/** Aborts its signal after a time without data. */
class Silence {
  readonly ms: number;
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Restarts the timer. */
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

/** Returns the system's code, such as ECONNREFUSED. Error texts may contain addresses. */
function systemCode(error: unknown): string {
  const { cause = error } = (error ?? {}) as Error;
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? ` (${code})` : '';
}
