/** Reservations and turns by themselves; what they do for the service is in quotas.test.ts. */
import { describe, expect, it } from 'vitest';
import { type Reservation, Reservations } from '../../src/middleware/routes/reservations.ts';
import { UploadTurns } from '../../src/middleware/routes/uploadTurns.ts';

describe('reservations', () => {
  const many = new Reservations();
  const none = async () => 0;

  it('of a client share its limit; those of others do not count', async () => {
    const first = many.open(1, 100, none);
    const second = many.open(1, 100, none);
    expect(await first.cover(60)).toBe(true);
    expect(await second.cover(41)).toBe(false);
    expect(await second.cover(40, 60)).toBe(true);
    expect(many.heldBytes(1)).toBe(100);
    expect(await many.open(2, 100, none).cover(100)).toBe(true);
    first.close();
    first.close();
    expect(many.heldBytes(1)).toBe(40);
    expect(await second.cover(100)).toBe(true);
    second.close();
    expect(await second.cover(1)).toBe(false);
    expect(many.heldBytes(1)).toBe(0);
  });

  it('take more than is needed while there is room', async () => {
    const reservation = many.open(1, 100, none);
    for (const [needed, wanted, held] of [
      [10, 16, 16],
      [12, 40, 16],
      [20, 32, 32],
      [90, 128, 100],
    ] as const) {
      expect(await reservation.cover(needed, wanted)).toBe(true);
      expect(many.heldBytes(1)).toBe(held);
    }
    reservation.close();
  });

  it('without a known length give way to older ones of their kind', async () => {
    const [oldest, known, newer, newest] = [0, 1, 2, 3].map(() => many.open(1, 100, none));
    expect(await oldest!.cover(20, 25)).toBe(true);
    expect(await known!.cover(30)).toBe(true);
    expect(await newer!.cover(20, 25)).toBe(true);
    expect(await newest!.cover(20, 25)).toBe(true);
    expect(await newest!.cover(30, 35)).toBe(false);
    let isCovered = false;
    const covering = oldest!.cover(40, 45).then((is) => (isCovered = is));
    await new Promise(setImmediate);
    expect([newest, newer].map((each) => each!.ending.aborted)).toEqual([true, false]);
    expect(isCovered).toBe(false);
    newest!.close();
    expect(await covering).toBe(true);
    expect([await newest!.cover(1, 2), await newer!.cover(21, 22)]).toEqual([false, true]);
    // One of known length neither ends others nor is ended.
    newer!.ending.addEventListener('abort', () => newer!.close());
    expect(await known!.cover(60)).toBe(false);
    expect(await oldest!.cover(71, 80)).toBe(false);
    expect([known!.ending.aborted, newer!.ending.aborted]).toEqual([false, true]);
    for (const each of [oldest, known]) each!.close();
    expect(many.heldBytes(1)).toBe(0);
  });

  it('count bytes that were stored while the store was asked', async () => {
    const first = many.open(1, 100, none);
    await first.cover(70);
    let answers = 0;
    let stored = 0;
    const second = many.open(1, 100, async () => {
      const known = stored;
      // The first one is stored after the store has looked, and before it answers.
      if (answers++ === 0) {
        stored = 70;
        first.close();
      }
      return known;
    });
    expect(await second.cover(50)).toBe(false);
    expect(answers).toBe(2);
    expect(await second.cover(30)).toBe(true);
    second.close();
  });

  it('that are closed while the store is asked take nothing', async () => {
    const late: Reservation = many.open(1, 100, async () => {
      late.close();
      return 0;
    });
    expect(await late.cover(10)).toBe(false);
    expect(many.heldBytes(1)).toBe(0);
  });
});

describe('turns', () => {
  it('go to the last that asked, and are forgotten at the end', async () => {
    const turns = new UploadTurns(1);
    const first = await turns.take(1, 7);
    const second = turns.take(1, 7);
    const third = turns.take(1, 7);
    expect(first.signal.aborted).toBe(true);
    first.end();
    await expect(second).rejects.toMatchObject({ code: 'CONFLICT' });
    const last = await third;
    expect([last.waited, last.signal.aborted]).toEqual([true, false]);
    await expect(turns.take(1, 8)).rejects.toMatchObject({ code: 'TOO_MANY_UPLOADS' });
    last.end();
    const other = await turns.take(1, 8);
    expect(other.waited).toBe(false);
    other.end();
  });
});
