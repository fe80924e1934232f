/** Token buckets by a clock of the test's own. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AnonymousLimiter, RequestLimiter } from '../../src/middleware/http/rateLimits.ts';

afterEach(() => vi.restoreAllMocks());

/** How many requests of a key pass at a time, before the first that is refused. */
function passing(limiter: RequestLimiter, key: string, nowMs: number, rate?: Rate): number {
  for (let count = 0; ; count++) {
    try {
      limiter.take(key, rate, nowMs);
    } catch {
      return count;
    }
  }
}
type Rate = ConstructorParameters<typeof RequestLimiter>[0];

function retryAfter(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { headers: Record<string, string> }).headers['retry-after'];
  }
}

describe('a bucket', () => {
  it('gives a burst at once, then the sustained rate, and never more than a burst', () => {
    const limiter = new RequestLimiter({ perSecond: 10, burst: 4 });
    expect(passing(limiter, 'a', 0)).toBe(4);
    expect(passing(limiter, 'a', 99)).toBe(0);
    for (let second = 1; second <= 5; second++) {
      // Ten in a second, asked for one by one.
      let passed = 0;
      for (let step = 1; step <= 100; step++) {
        passed += passing(limiter, 'a', 99 + 1000 * (second - 1) + 10 * step);
      }
      expect(passed).toBe(10);
    }
    expect(passing(limiter, 'a', 1e9)).toBe(4);
    expect(passing(limiter, 'b', 0)).toBe(4);
  });

  it('takes a new rate at once', () => {
    const limiter = new RequestLimiter({ perSecond: 1, burst: 2 });
    expect(passing(limiter, 'a', 0)).toBe(2);
    expect(passing(limiter, 'a', 1000, { perSecond: 3, burst: 9 })).toBe(3);
    expect(passing(limiter, 'a', 100_000, { perSecond: 3, burst: 9 })).toBe(9);
    expect(passing(limiter, 'a', 101_000)).toBe(1);
  });

  it('is in debt after a request that costs more than it holds, which waits until it is full', () => {
    const limiter = new RequestLimiter({ perSecond: 1, burst: 4 });
    const take = (cost: number, nowMs: number) => limiter.take('a', undefined, nowMs, cost);
    take(3, 0);
    expect(retryAfter(() => take(3, 0))).toBe('2');
    expect(retryAfter(() => take(10, 2999))).toBe('1');
    take(10, 3000);
    expect(retryAfter(() => take(1, 3000))).toBe('7');
    limiter.charge('a', -5);
    expect(retryAfter(() => take(1, 3000))).toBe('2');
    expect(passing(limiter, 'a', 5000)).toBe(1);
  });

  it('is charged for bodies by their bytes, without a refusal', () => {
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const limiter = new RequestLimiter({ perSecond: 1, burst: 4 });
    limiter.chargeBody('a', 128 * 1024 - 1);
    limiter.chargeBody('b', 256 * 1024);
    limiter.chargeBody('c', 32 * 1024 * 1024);
    expect([...'abc'].map((key) => passing(limiter, key, 0))).toEqual([4, 2, 0]);
    expect(retryAfter(() => limiter.check('c', undefined, 0))).toBe('253');
    expect(retryAfter(() => limiter.check('c', undefined, 0, 0))).toBe('252');
    expect(retryAfter(() => limiter.check('a', undefined, 0, 0))).toBe(undefined);
  });

  it('names the wait until the next token, in whole seconds, at least one', () => {
    const limiter = new RequestLimiter({ perSecond: 0.25, burst: 1 });
    limiter.take('a', undefined, 0);
    expect(retryAfter(() => limiter.take('a', undefined, 0))).toBe('4');
    expect(retryAfter(() => limiter.check('a', undefined, 2500))).toBe('2');
    expect(retryAfter(() => limiter.check('a', undefined, 3999))).toBe('1');
    expect(retryAfter(() => limiter.check('a', undefined, 4000))).toBe(undefined);
  });
});

it('an address over its limit is served for credentials that were valid', () => {
  const limiter = new AnonymousLimiter({ perSecond: 0.001, burst: 2 });
  limiter.good('valid', 7);
  for (let i = 0; i < 2; i++) {
    limiter.admit('10.0.0.1', 'guess');
    limiter.refused('10.0.0.1');
  }
  expect(() => limiter.admit('10.0.0.1', 'guess')).toThrow(
    expect.objectContaining({ status: 429 }),
  );
  expect(() => limiter.refused('10.0.0.1')).toThrow(expect.objectContaining({ status: 429 }));
  limiter.admit('10.0.0.1', 'valid');
  limiter.admit('10.0.0.2', 'guess');
});
