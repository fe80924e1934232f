/**
 * Reads request bodies, never more than the limit. A body whose Content-Length exceeds it is
 * refused before a byte is read; a chunked body is counted as it arrives, and a compressed one as
 * it is decompressed. Senders that are too slow are refused, and each client may use only its share
 * of the memory. The form of a direct request's items is checked by tasks/readBatch.ts, their
 * signatures and uploaded files by tasks/performTask.ts.
 */
import { pipeline, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { Context } from 'hono';
import { concat } from '../../shared/bytes.ts';
import { isCodedError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/wait.ts';
import type { BodyShare } from './bodyBudget.ts';
import { type BodyEncoding, requireForm } from './bodyType.ts';
import { pages } from './buffers.ts';
import { sendContinue } from './continue.ts';
import { arrivedBody, type BodyReader, readerOf } from './direct.ts';
import { ProblemError } from './problems.ts';
import { type JsonLimits, parseStrictJson } from './strictJson.ts';

interface Speed {
  /** Longest pause, and the longest time by which a sender may fall behind. */
  readonly pauseMs: number;
  /** 0: no minimum speed; every chunk restores all patience. */
  readonly minBytesPerSecond: number;
}

/**
 * How long to wait for a sender. Waiting uses it up, and every byte restores
 * `1 / minBytesPerSecond` seconds of it, up to `pauseMs`. So a sender may pause for `pauseMs`, must
 * keep up the minimum speed over any longer time, and must send a body of n bytes within
 * `pauseMs` and `n / minBytesPerSecond` seconds (within twice that, if every wait is a long one).
 */
export class SenderPatience {
  readonly #speed: Speed;
  #leftMs: number;

  constructor(speed: Speed) {
    this.#speed = speed;
    this.#leftMs = speed.pauseMs;
  }

  /** How long to wait for the next chunk; negative if the sender is too slow. */
  get leftMs(): number {
    return this.#leftMs;
  }

  /**
   * A chunk of `bytes` arrived after `waitedMs`. One wait costs at most half of all patience: if it
   * took longer, this process may have been busy with something else.
   */
  received(bytes: number, waitedMs: number): void {
    const { pauseMs, minBytesPerSecond } = this.#speed;
    const gainedMs = bytes === 0 ? 0 : (1000 * bytes) / minBytesPerSecond;
    const spentMs = Math.min(waitedMs, pauseMs / 2);
    this.#leftMs = Math.min(pauseMs, this.#leftMs - spentMs + gainedMs);
  }
}

interface BodyLimits extends Speed {
  /** Largest body, as sent and decompressed. */
  readonly maxBytes: number;
}

/** Returns the limits of a body under these settings. */
export function bodyLimits(
  settings: { readonly bodyIdleTimeoutMs: number; readonly minBodyBytesPerSecond: number },
  maxBytes: number,
): BodyLimits {
  const { bodyIdleTimeoutMs: pauseMs, minBodyBytesPerSecond: minBytesPerSecond } = settings;
  return { maxBytes, pauseMs, minBytesPerSecond };
}

/**
 * Returns the Content-Length, if there is one.
 *
 * @throws ProblemError `BODY_TOO_LARGE`, or `INVALID_HEADER` if it is not a number
 */
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
 * The body as a stream of chunks, decompressed. It fails if the body exceeds the limit, if the
 * sender is too slow, or if the sender disconnects before the end.
 *
 * @throws (while iterating) ProblemError `BODY_TOO_LARGE`, `REQUEST_TIMEOUT`, `INCOMPLETE_BODY`,
 *   `MALFORMED_GZIP`
 */
export async function* bodyChunks(
  c: Context,
  limits: BodyLimits,
  encoding: BodyEncoding = 'identity',
): AsyncGenerator<Uint8Array> {
  const sent = sentChunks(c, limits);
  if (encoding === 'identity') return yield* sent;
  let seen = 0;
  for await (const chunk of gunzipped(sent)) {
    seen += chunk.length;
    if (seen > limits.maxBytes) throw tooLarge(limits.maxBytes);
    yield chunk;
  }
}

/**
 * Some hosts decompress a chunk in one go, and deflate expands a byte to at most 1032: so a chunk
 * expands to at most 4 MiB.
 */
const PIECE_BYTES = 4096;

/**
 * Decompresses. Reading ends as soon as the caller stops, so a caller who counts is safe from
 * decompression bombs.
 *
 * Uses `node:zlib`, since the `DecompressionStream` of Node 24 may throw an uncatchable error if
 * reading ends early, which ends the process.
 *
 * @throws (while iterating) what `packed` throws; ProblemError `MALFORMED_GZIP` unless it is
 *   exactly one complete gzip member
 */
export async function* gunzipped(packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const failure: { error?: unknown } = {};
  const source = Readable.from(pieces(packed, failure), { highWaterMark: 1 });
  const unpacked = createGunzip({ rejectGarbageAfterEnd: true });
  // Reading `unpacked` reports every failure. It also ends the source if the caller stops. Don't
  // wait for that: the sender may be silent now, waiting for its answer.
  pipeline(source, unpacked, () => {});
  try {
    for await (const chunk of unpacked) yield chunk as Uint8Array;
  } catch (error) {
    throw 'error' in failure ? failure.error : new ProblemError('MALFORMED_GZIP', { cause: error });
  }
}

/** Splits into short chunks. Keeps the error, since streams may replace it. */
async function* pieces(
  packed: AsyncGenerator<Uint8Array>,
  failure: { error?: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of packed) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        yield chunk.subarray(at, at + PIECE_BYTES);
      }
    }
  } catch (error) {
    failure.error = error;
    throw error;
  }
}

/** The body as it was sent. */
async function* sentChunks(c: Context, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const announced = announcedLength(c, limits.maxBytes);
  sendContinue(c);
  const whole = arrivedBody(c.req.raw);
  if (whole !== null) {
    if (whole.length > limits.maxBytes) throw tooLarge(limits.maxBytes);
    return yield whole;
  }
  const reader = readerOf(c.req.raw);
  if (reader === null) return;
  const patience = new SenderPatience(limits);
  let seen = 0;
  let ended = false;
  try {
    for (;;) {
      const value = await nextChunk(reader, patience);
      if (value === undefined) break;
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

/** How much to read after an error, so that the sender gets to read the response. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
const MAX_DISCARDING_MS = 30_000;

/** Reads the rest. Cancelling would leave it in the socket, and the connection unusable. */
async function discard(reader: BodyReader): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), MAX_DISCARDING_MS);
  try {
    for (let bytes = 0; bytes < MAX_DISCARDED_BYTES; ) {
      const { value } = await reader.read();
      if (value === undefined) return;
      bytes += value.length;
    }
    // Node's adapter throws an uncatchable error if it still has a chunk to deliver.
    await setImmediate();
    await reader.cancel();
  } catch {
    // The connection is gone.
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @returns undefined at the end
 * @throws ProblemError `REQUEST_TIMEOUT` if the sender pauses for too long, or is too slow
 */
async function nextChunk(
  reader: BodyReader,
  patience: SenderPatience,
): Promise<Uint8Array | undefined> {
  const startMs = performance.now();
  const { value } = await withTimeout(reader.read(), patience.leftMs, tooSlow);
  if (value === undefined) return undefined;
  patience.received(value.length, performance.now() - startMs);
  if (patience.leftMs < 0) throw tooSlow();
  return value;
}

const tooSlow = () => new ProblemError('REQUEST_TIMEOUT', { headers: { connection: 'close' } });

/** Like `withBlocks`, with the body as one array. */
export function withBody<T>(
  c: Context,
  limits: BodyLimits,
  share: BodyShare,
  use: (bytes: Uint8Array) => Promise<T>,
  encoding?: BodyEncoding,
): Promise<T> {
  return withBlocks(c, limits, share, (blocks) => use(blocks.whole()), encoding);
}

/**
 * Passes the whole body to `use`. It counts as the client's memory until `use` ends. Only bytes
 * that have arrived count, so that a large Content-Length alone cannot use up the share.
 */
async function withBlocks<T>(
  c: Context,
  limits: BodyLimits,
  share: BodyShare,
  use: (blocks: Blocks) => Promise<T>,
  encoding?: BodyEncoding,
): Promise<T> {
  let taken = 0;
  try {
    const blocks = new Blocks();
    for await (const chunk of bodyChunks(c, limits, encoding)) {
      share.take(chunk.length);
      taken += chunk.length;
      blocks.add(chunk);
    }
    return await use(blocks);
  } finally {
    share.give(taken);
  }
}

const MIN_BLOCK_BYTES = 4096;
const MAX_BLOCK_BYTES = 1024 * 1024;

/**
 * Joins chunks as they arrive. A sender may split a body into single bytes, and an array for each
 * would take a hundred times its size.
 */
export class Blocks {
  #full: Uint8Array<ArrayBuffer>[] = [];
  #block = new Uint8Array(0);
  #used = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#used === this.#block.length) this.#next();
      const part = piece.subarray(at, at + this.#block.length - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.length;
      this.#bytes += part.length;
      at += part.length;
    }
  }

  /** All bytes. */
  whole(): Uint8Array {
    const last = this.#block.subarray(0, this.#used);
    return this.#full.length === 0 ? last : concat(...this.#full, last);
  }

  /** Returns the blocks, of which the last one may not be full, and empties this. */
  take(): ArrayBuffer[] {
    const blocks = [...this.#full, this.#block].map(({ buffer }) => buffer);
    this.#full = [];
    this.#block = new Uint8Array(0);
    this.#used = 0;
    this.#bytes = 0;
    return blocks;
  }

  #next(): void {
    if (this.#used > 0) this.#full.push(this.#block);
    const bytes = Math.max(MIN_BLOCK_BYTES, Math.min(MAX_BLOCK_BYTES, this.#bytes));
    this.#block = new Uint8Array(bytes < MIN_PAGES_BYTES ? new ArrayBuffer(bytes) : pages(bytes));
    this.#used = 0;
  }
}

/** From this length on, blocks consist of whole pages. */
const MIN_PAGES_BYTES = 256 * 1024;

/** Looks at the body itself only if no header tells, since access already starts reading it. */
function saysNoBody(c: Context): boolean {
  const length = c.req.header('content-length');
  if (length !== undefined) return length === '0';
  return c.req.header('transfer-encoding') === undefined && c.req.raw.body === null;
}

/** Reads a JSON body: checks type, length and form, and passes its value to `use`. */
export function withParsedBody<T>(
  c: Context,
  limits: BodyLimits & JsonLimits,
  share: BodyShare,
  use: (value: unknown) => Promise<T>,
): Promise<T> {
  return withJsonBody(c, limits, share, (blocks) => use(parseStrictJson(blocks.whole(), limits)));
}

/** Reads a JSON body: checks type and length, and passes it to `use` before it is parsed. */
export async function withJsonBody<T>(
  c: Context,
  limits: BodyLimits,
  share: BodyShare,
  use: (blocks: Blocks) => Promise<T>,
): Promise<T> {
  // A missing body is reported as such, whatever its type.
  if (saysNoBody(c))
    throw new ProblemError('MALFORMED_JSON', { message: 'A JSON body is required' });
  return withBlocks(c, limits, share, use, requireForm(c));
}
