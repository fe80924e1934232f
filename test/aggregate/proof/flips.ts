/** Every byte of a small proof changed, header and salts included, before `verifyAggregate`. */
import { expect, test } from 'vitest';
import { aggregate, verifyAggregate } from '../../../src/aggregate/index.ts';
import { signedItems } from '../../reference/items.ts';
import { fact } from '../../support/facts.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';

/** A sample of them, a prime number apart; all of them in the nightly run. */
const STEP = NIGHTLY ? 1 : SHORT_RUN ? 1511 : 251;

/**
 * The bytes of one half, `half` of 0 or 1: a file of its own for each, so that two cores share the
 * work.
 */
export function testFlips(half: number): void {
  test(`every byte flipped, half ${half + 1} of 2`, { timeout: 7_200_000 }, async (context) => {
    const items = signedItems('falcon512', 1);
    const good = await aggregate(items, { format: 'proof' });
    expect(verifyAggregate(good, items)).toBe(true);
    const accepted: string[] = [];
    let tried = 0;
    for (let at = half * STEP; at < good.length; at += 2 * STEP) {
      // by turns one bit and all of them
      const mask = (at >> 1) % 9 === 8 ? 255 : 1 << ((at >> 1) % 9);
      const bytes = good.slice();
      bytes[at]! ^= mask;
      if (verifyAggregate(bytes, items)) accepted.push(`byte ${at} by ${mask}`);
      tried += 1;
    }
    expect(accepted).toEqual([]);
    expect(verifyAggregate(good, items)).toBe(true);
    fact(context, 'bytes flipped', `half ${half + 1}: ${tried} of ${good.length}, all refused`);
  });
}
