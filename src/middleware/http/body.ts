/**
 * Reads request bodies, but never more than is allowed. A body that announces too large a length is
 * refused before a byte is read; one without a length (chunked) is counted as it arrives. The bytes
 * buffered by all requests together are limited, too.
 */
import type { Context } from 'hono';
import { CodedError, isCodedError } from '../../errors.ts';
import { ProblemError } from '../problems.ts';
import { type JsonLimits, parseStrictJson } from './strictJson.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** Longest pause between two pieces of a body. */
  readonly idleTimeoutMs: number;
}

/** Counts the bytes that all requests buffer at once; a request over the limit is refused. */
export class BodyBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** @throws CodedError `OVERLOADED` if that many bytes are not available now */
  take(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes) throw new CodedError('OVERLOADED');
    this.#usedBytes += bytes;
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}

/** @throws ProblemError `UNSUPPORTED_MEDIA_TYPE` unless the body says it is plain JSON in UTF-8 */
export function requireJsonType(c: Context): void {
  const type = c.req.header('content-type') ?? '';
  const [essence, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  const plain = parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
  const encoding = c.req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (essence === 'application/json' && plain && encoding === 'identity') return;
  const headers = { accept: 'application/json' };
  if (encoding !== 'identity') {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'The body must not be compressed',
      headers: { 'accept-encoding': 'identity' },
    });
  }
  throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', { headers });
}

/** The announced length, or undefined; refuses one that is too large or not a number. */
export function announcedLength(c: Context, maxBytes: number): number | undefined {
  const text = c.req.header('content-length');
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) {
    throw new ProblemError('INVALID_HEADER', { message: 'Content-Length is not a number' });
  }
  const length = Number(text);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return length;
}

const tooLarge = (maxBytes: number) =>
  new ProblemError('BODY_TOO_LARGE', { message: `The body is larger than ${maxBytes} bytes` });

/**
 * The body as a stream of pieces. It fails if the body exceeds the limit, if the sender pauses for
 * too long, or if the sender disconnects before the announced end.
 *
 * @throws (while iterating) ProblemError `BODY_TOO_LARGE`, `REQUEST_TIMEOUT`, `INCOMPLETE_BODY`
 */
export async function* bodyChunks(c: Context, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const announced = announcedLength(c, limits.maxBytes);
  const body = c.req.raw.body;
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let seen = 0;
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await nextChunk(reader, limits.idleTimeoutMs);
      if (done) break;
      seen += value.length;
      if (seen > limits.maxBytes) throw tooLarge(limits.maxBytes);
      yield value;
    }
    ended = true;
    if (announced !== undefined && seen !== announced) throw new ProblemError('INCOMPLETE_BODY');
  } catch (error) {
    if (isCodedError(error)) throw error;
    throw new ProblemError('INCOMPLETE_BODY', { cause: error });
  } finally {
    if (!ended) void discard(reader);
  }
}

/** Bytes that are still read after an error, so that the sender gets to read the answer. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** Reads the rest. Cancelling would leave it in the socket, and the connection unusable. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    for (let bytes = 0; bytes < MAX_DISCARDED_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
    await reader.cancel();
  } catch {
    // The connection is gone.
  }
}

/** If this process was busy, what arrived in the meantime can still be read within this time. */
const SECOND_LOOK_MS = 50;

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>, idleTimeoutMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const giveUp = () =>
      reject(new ProblemError('REQUEST_TIMEOUT', { headers: { connection: 'close' } }));
    timer = setTimeout(() => {
      timer = setTimeout(giveUp, SECOND_LOOK_MS);
    }, idleTimeoutMs);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The whole body, at most `maxBytes`, counted in the budget while `use` runs. Only bytes that have
 * arrived count, so that announced lengths alone cannot exhaust the budget.
 */
export async function withBody<T>(
  c: Context,
  limits: BodyLimits,
  budget: BodyBudget,
  use: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  let taken = 0;
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bodyChunks(c, limits)) {
      budget.take(chunk.length);
      taken += chunk.length;
      chunks.push(chunk);
    }
    const bytes = chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
    chunks.length = 0;
    return await use(bytes);
  } finally {
    budget.give(taken);
  }
}

/** Looks at the body itself only if no header tells, since that already starts to read it. */
function saysNoBody(c: Context): boolean {
  const length = c.req.header('content-length');
  if (length !== undefined) return length === '0';
  return c.req.header('transfer-encoding') === undefined && c.req.raw.body === null;
}

/** Reads a JSON body: checks type, length, UTF-8 and JSON, and passes the value to `use`. */
export async function withJsonBody<T>(
  c: Context,
  limits: BodyLimits & JsonLimits,
  budget: BodyBudget,
  use: (value: unknown, bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  // A missing body is reported as such, whatever its type.
  if (saysNoBody(c))
    throw new ProblemError('MALFORMED_JSON', { message: 'A JSON body is required' });
  requireJsonType(c);
  return withBody(c, limits, budget, (bytes) => use(parseStrictJson(bytes, limits), bytes));
}
