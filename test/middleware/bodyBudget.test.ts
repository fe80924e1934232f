/** Who gets how much of the memory for bodies, and how long a slow sender is waited for. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { SenderPatience, withBody } from '../../src/middleware/http/body.ts';
import { BodyBudget } from '../../src/middleware/http/bodyBudget.ts';

const MIB = 1024 * 1024;

describe('the share of a client', () => {
  /** Takes pieces until it is refused; the number of bytes that it then holds. */
  const greedy = (budget: BodyBudget, clientId: number, piece = 1024): number => {
    const share = budget.of(clientId);
    for (let held = 0; ; held += piece) {
      try {
        share.take(piece);
      } catch (error) {
        expect(error).toMatchObject({ code: 'OVERLOADED', retriable: true });
        return held;
      }
    }
  };

  it('is half for one, and an n+1st for each of n who take all they get', () => {
    for (const clients of [1, 2, 3, 7]) {
      const budget = new BodyBudget(128 * MIB);
      const shares = Array.from({ length: clients }, (_, id) => budget.of(id));
      const held = new Array(clients).fill(0);
      // In turns, until nobody gets any more.
      for (let more = true; more; ) {
        more = false;
        shares.forEach((share, id) => {
          try {
            share.take(65_536);
            held[id] += 65_536;
            more = true;
          } catch {
            // Has its share.
          }
        });
      }
      const fair = (128 * MIB) / (clients + 1);
      for (const bytes of held) expect(Math.abs(bytes - fair)).toBeLessThanOrEqual(2 * 65_536);
      expect(budget.freeBytes).toBeGreaterThanOrEqual(fair - 65_536);
    }
  });

  it('comes back, for the client and for all, when a body is done', () => {
    const budget = new BodyBudget(1000);
    const held = greedy(budget, 1, 10);
    expect(held).toBe(500);
    budget.of(1).give(held);
    expect(budget.freeBytes).toBe(1000);
    expect(greedy(budget, 2, 10)).toBe(500);
  });

  it('leaves something to whoever comes next, whatever the others do', () => {
    const step = fc.record({ client: fc.nat(5), bytes: fc.integer({ min: 1, max: 400 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const budget = new BodyBudget(1000);
        const held = new Map<number, number>();
        for (const { client, bytes } of steps) {
          const before = budget.freeBytes;
          const mine = held.get(client) ?? 0;
          const fits = mine + bytes <= before - bytes;
          const take = () => budget.of(client).take(bytes);
          if (fits) take();
          else expect(take).toThrow();
          if (fits) held.set(client, mine + bytes);
          expect(budget.freeBytes).toBe(fits ? before - bytes : before);
          expect(budget.freeBytes).toBeGreaterThan(0);
        }
      }),
    );
  });
});

describe('patience with a sender', () => {
  const speed = { pauseMs: 30_000, minBytesPerSecond: 1000 };

  it('is used up by waiting, and restored by bytes', () => {
    const patience = new SenderPatience(speed);
    patience.received(0, 14_000);
    patience.received(0, 15_000);
    expect(patience.leftMs).toBe(1000);
    patience.received(5000, 500);
    expect(patience.leftMs).toBe(5500);
    patience.received(1_000_000, 5000);
    expect(patience.leftMs).toBe(30_000);
  });

  it('survives one long wait, which may have been our own', () => {
    const patience = new SenderPatience(speed);
    patience.received(1, 1_000_000);
    expect(patience.leftMs).toBe(15_001);
    patience.received(1, 1_000_000);
    patience.received(1, 1_000_000);
    expect(patience.leftMs).toBeLessThan(0);
  });

  it.each([
    ['little', 0],
    ['much: bytes are not saved up', 100_000_000],
  ])('ends for a byte every ten seconds soon after the pause, whoever sent %s', (_, bytes) => {
    const patience = new SenderPatience(speed);
    patience.received(bytes, 0);
    let drops = 0;
    for (; patience.leftMs >= 0; drops++) patience.received(1, 10_000);
    expect(drops).toBe(4);
  });

  it('never ends at the lowest speed, and is at most pause + bytes / speed below it', () => {
    const steady = new SenderPatience(speed);
    for (let i = 0; i < 10_000; i++) steady.received(1000, 1000);
    expect(steady.leftMs).toBe(30_000);
    const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.nat(15_000)), {
      minLength: 200,
      maxLength: 400,
    });
    fc.assert(
      fc.property(pieces, (steps) => {
        const patience = new SenderPatience(speed);
        let sent = 0;
        let spentMs = 0;
        for (const [bytes, waitedMs] of steps) {
          if (waitedMs > patience.leftMs) break;
          patience.received(bytes, waitedMs);
          sent += bytes;
          spentMs += waitedMs;
          expect(spentMs).toBeLessThanOrEqual(30_000 + sent + 1e-6);
        }
      }),
    );
  });

  it('knows no lowest speed of 0, only pauses', () => {
    const patience = new SenderPatience({ pauseMs: 100, minBytesPerSecond: 0 });
    for (let i = 0; i < 1000; i++) patience.received(1, 99);
    expect(patience.leftMs).toBe(100);
    patience.received(0, 99);
    expect(patience.leftMs).toBe(50);
  });
});

/** Bytes of everything that is still needed. */
function heldMemory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it('a body in single bytes takes little more memory than its bytes', async () => {
  const count = 200_000;
  let before = 0;
  let grown = 0;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent === 0) before = heldMemory();
        if (sent === count - 1) grown = heldMemory() - before;
        controller.enqueue(Uint8Array.of(sent & 255));
        if (++sent === count) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const limits = { maxBytes: MIB, pauseMs: 60_000, minBytesPerSecond: 0 };
  const share = new BodyBudget(4 * MIB).of(1);
  const app = new Hono().post('/', (c) =>
    withBody(c, limits, share, async (bytes) => {
      const good = bytes.length === count && bytes.every((byte, i) => byte === (i & 255));
      return c.text(String(good));
    }),
  );
  const answer = await app.request('/', { method: 'POST', body, duplex: 'half' } as RequestInit);
  expect(await answer.text()).toBe('true');
  expect(grown).toBeLessThan(8 * MIB);
});
