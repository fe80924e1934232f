/** A series of a million signatures, with the benchmark that judges the memory of its verifier. */
import { expect, test } from 'vitest';
import { start } from '../middleware/process.ts';
import { fact } from '../support/facts.ts';

const COUNTS = [10_000, 1_000_000];

test('a million signatures are verified in the memory of ten thousand', {
  timeout: 3 * 3_600_000,
}, async (context) => {
  const { code, stdout, stderr } = await start('bench/main.ts', ['series', ...COUNTS.map(String)])
    .ended;
  expect(stderr).toBe('');
  const { flat, cases } = JSON.parse(stdout.trim().split('\n').at(-1)!);
  expect([code, flat], stdout).toEqual([0, true]);
  for (const [i, { count, make, verify }] of cases.entries()) {
    expect(count).toBe(COUNTS[i]);
    expect(verify.bytes).toBe(make.bytes);
    expect(make.bytes / count).toBeLessThan(12);
    const [made, verified] = [make, verify].map(({ cpuMs }) => (cpuMs / 1000).toFixed(1));
    const told = `${made} s to make, ${verified} s and ${verify.liveMb.toFixed(1)} MB to verify`;
    fact(context, 'series', `${count}: ${make.bytes} bytes; ${told}`);
  }
});
