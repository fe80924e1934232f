/** Another process holds the file for eight seconds; the service waits for it for five at most. */
import { expect, it } from 'vitest';
import { fact } from '../support/facts.ts';
import { whileLocked } from './lockedStore.ts';

it('a file that is locked for 8 s stops writes only', { timeout: 120_000 }, async (context) => {
  const { refusedMs, othersMs, warnings } = await whileLocked(8000);
  const middle = othersMs[othersMs.length >> 1]!;
  const slow = othersMs[Math.floor(0.95 * othersMs.length)]!;
  expect(refusedMs).toBeGreaterThan(4500);
  expect(refusedMs).toBeLessThan(8000);
  expect(othersMs.length).toBeGreaterThan(20);
  expect(middle).toBeLessThan(250);
  // Far from the time of the lock, also where the machine has other work.
  expect(slow).toBeLessThan(1000);
  expect(warnings.length).toBeGreaterThan(0);
  expect(warnings.length).toBeLessThan(15);
  fact(
    context,
    'locked file',
    `a write is refused after ${refusedMs.toFixed(0)} ms; ${othersMs.length} other requests: ` +
      `${middle.toFixed(0)} ms in the middle, ${slow.toFixed(0)} ms at 95 %`,
  );
});
