/** How many requests a client may make: a bucket of tokens for each, refilled all the time. */
import { ProblemError } from './problems.ts';

interface Bucket {
  tokens: number;
  atMs: number;
}

export class RequestLimiter {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<number, Bucket>();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** @throws ProblemError `RATE_LIMITED` with the seconds to wait, when the client's bucket is empty */
  take(clientId: number, nowMs = performance.now()): void {
    let bucket = this.#buckets.get(clientId);
    if (bucket === undefined) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#forgetFull(nowMs);
      this.#buckets.set(clientId, (bucket = { tokens: this.#burst, atMs: nowMs }));
    }
    bucket.tokens = this.#refilled(bucket, nowMs);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) {
      const waitSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / this.#perSecond));
      throw new ProblemError('RATE_LIMITED', { headers: { 'retry-after': String(waitSeconds) } });
    }
    bucket.tokens--;
  }

  #refilled(bucket: Bucket, nowMs: number): number {
    const gained = ((nowMs - bucket.atMs) / 1000) * this.#perSecond;
    return Math.min(this.#burst, bucket.tokens + Math.max(0, gained));
  }

  /** A full bucket says no more than a missing one. */
  #forgetFull(nowMs: number): void {
    for (const [clientId, bucket] of this.#buckets) {
      if (this.#refilled(bucket, nowMs) >= this.#burst) this.#buckets.delete(clientId);
    }
  }
}

const MAX_BUCKETS = 10_000;
