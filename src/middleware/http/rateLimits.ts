/** Rate limits: of the requests of a client, and of the refused requests of an address. */
import { toHex } from '../../shared/bytes.ts';
import { sha256 } from '../../shared/hash.ts';
import { randomBytes } from '../../shared/random.ts';
import type { Rate } from './clientLimits.ts';
import { ProblemError } from './problems.ts';

interface Bucket {
  tokens: number;
  atMs: number;
  rate: Rate;
}

/** A bucket of tokens for each key, refilled continuously. */
export class RequestLimiter {
  readonly #rate: Rate;
  readonly #buckets = new Map<number | string, Bucket>();

  /** @param rate of every key that has none of its own */
  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /**
   * Takes the tokens that a request costs. One that costs more than a full bucket holds needs a
   * full bucket, and leaves a debt.
   *
   * @throws ProblemError `RATE_LIMITED` with the seconds to wait if there are too few
   */
  take(key: number | string, rate = this.#rate, nowMs = performance.now(), cost = 1): void {
    const bucket = this.#bucketOf(key, rate, nowMs);
    bucket.rate = rate;
    bucket.tokens = refilled(bucket, nowMs);
    bucket.atMs = nowMs;
    const needed = Math.min(cost, rate.burst);
    if (bucket.tokens < needed) throw refusal(bucket, needed);
    bucket.tokens -= cost;
  }

  /** Takes what a request turned out to cost beyond what was taken; less than 0: gives it back. */
  charge(key: number | string, cost: number): void {
    this.#bucketOf(key, this.#rate, performance.now()).tokens -= cost;
  }

  /** A body counts as one more request for each of its {@link BYTES_PER_REQUEST}, unpacked. */
  chargeBody(key: number | string, bytes: number): void {
    this.charge(key, Math.floor(bytes / BYTES_PER_REQUEST));
  }

  /** Throws when `take` would, but takes nothing. A cost of 0 refuses only those in debt. */
  check(key: number | string, rate?: Rate, nowMs = performance.now(), cost = 1): void {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return;
    const now = { ...bucket, rate: rate ?? bucket.rate, tokens: refilled(bucket, nowMs) };
    const needed = Math.min(cost, now.rate.burst);
    if (now.tokens < needed) throw refusal(now, needed);
  }

  #bucketOf(key: number | string, rate: Rate, nowMs: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#makeRoom(nowMs);
      this.#buckets.set(key, (bucket = { tokens: rate.burst, atMs: nowMs, rate }));
    }
    return bucket;
  }

  /** Full buckets are the same as missing ones. If all are in use, the oldest is dropped. */
  #makeRoom(nowMs: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (refilled(bucket, nowMs) >= bucket.rate.burst) this.#buckets.delete(key);
    }
    if (this.#buckets.size < MAX_BUCKETS) return;
    this.#buckets.delete(this.#buckets.keys().next().value!);
  }
}

const MAX_BUCKETS = 10_000;

/** To unpack and read them takes as long as to answer a small request. */
const BYTES_PER_REQUEST = 128 * 1024;

function refilled({ tokens, atMs, rate }: Bucket, nowMs: number): number {
  const gained = ((nowMs - atMs) / 1000) * rate.perSecond;
  return Math.min(rate.burst, tokens + Math.max(0, gained));
}

function refusal({ tokens, rate }: Bucket, needed = 1): ProblemError {
  const waitSeconds = Math.max(1, Math.ceil((needed - tokens) / rate.perSecond));
  return new ProblemError('RATE_LIMITED', { headers: { 'retry-after': String(waitSeconds) } });
}

/** Names of headers that usually identify a caller: a key, a cookie, a token, a certificate. */
const CREDENTIAL = /^cookie$|auth|token|jwt|session|assertion|api-?key|cert/;

/**
 * @param names of the headers that identify a caller, in lower case; by default, all headers that
 *   usually do
 * @returns those headers of the request, joined; empty if it has none
 */
export function credentialsOf(headers: Headers, names?: readonly string[]): string {
  const found: string[] = [];
  headers.forEach((value, name) => {
    if (names?.includes(name) ?? CREDENTIAL.test(name)) found.push(`${name}: ${value}`);
  });
  return found.join('\n');
}

/**
 * Counts requests without valid credentials (an API key, or what the host's `authenticate` reads)
 * by address. Once an address is over its limit, only credentials that were valid recently are
 * checked: their owners are served as usual, even if a stranger behind the same proxy floods the
 * service.
 */
export class AnonymousLimiter {
  readonly #limiter: RequestLimiter;
  /** Keyed hashes of the credentials that were valid most recently, and whose they were. */
  readonly #good = new Map<string, number>();
  readonly #salt = toHex(randomBytes(16));

  constructor(rate: Rate) {
    this.#limiter = new RequestLimiter(rate);
  }

  /**
   * @returns the client that had these credentials last, if they were valid recently
   * @throws ProblemError `RATE_LIMITED` if the address is over its limit, credentials unknown
   */
  admit(address: string, credentials: string): number | undefined {
    const last = this.#good.get(this.#hash(credentials));
    if (last === undefined) this.#limiter.check(address);
    return last;
  }

  /**
   * Counts a refused request.
   *
   * @throws ProblemError `RATE_LIMITED` once the address is over its limit, instead of the refusal
   */
  refused(address: string): void {
    this.#limiter.take(address);
  }

  good(credentials: string, clientId: number): void {
    // Without credentials, a request cannot be told from others of its address.
    if (credentials === '') return;
    const hash = this.#hash(credentials);
    if (!this.#good.has(hash) && this.#good.size >= MAX_GOOD_KEYS) {
      this.#good.delete(this.#good.keys().next().value!);
    }
    this.#good.set(hash, clientId);
  }

  #hash(credentials: string): string {
    return sha256(this.#salt + credentials).toString('base64url');
  }
}

const MAX_GOOD_KEYS = 10_000;
