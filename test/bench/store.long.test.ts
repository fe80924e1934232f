/** The benchmark of the store measures every figure. What they are is for quiet machines. */
import { describe, expect, it } from 'vitest';
import { judge } from '../../bench/support/bars.ts';
import { start } from '../middleware/process.ts';
import { overPostgres } from '../support/postgres.ts';
import { hasRgw } from '../support/rgw.ts';

const NAMES = [
  /^puts with hints$/,
  /^claims at 32, beside \d+ finished$/,
  /^cycles of .* at 32, beside \d+ finished$/,
  /^claims, a transaction open for [\d.]+ s$/,
  /^put to worker, p50$/,
  /^put to worker, p99$/,
  /^takeover of a lease of \d+ ms, worst of \d+$/,
  /^slowest page of \d+: /,
  /^HOT part of \d+ heartbeats$/,
];

overPostgres('newest', () => {
  it('measures every figure, each with its bar', async () => {
    const blobs = hasRgw();
    const args = ['store', '--quick', ...(blobs ? ['--blobs'] : [])];
    const { code, stdout, stderr } = await start('bench/main.ts', args).ended;
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trim().split('\n');
    const { bench, figures } = JSON.parse(lines.at(-1)!);
    expect(bench).toBe('store');
    const names = [...NAMES, ...(blobs ? [/^resident with \d+ uploads of \d+ MiB at once$/] : [])];
    expect(figures.length).toBe(names.length);
    for (const [i, name] of names.entries()) {
      expect(figures[i].name).toMatch(name);
      expect(figures[i].value).toBeGreaterThan(0);
      expect(figures[i].bar).toBeGreaterThan(0);
      expect(figures[i].fdatasyncMs).toBeGreaterThan(0);
      const line = lines.find((text) => text.startsWith(`  ${figures[i].name}`));
      expect(line).toMatch(figures[i].pass ? / [≥≤] [\d.]+ {2}pass$/ : / [≥≤] [\d.]+ {2}FAIL$/);
    }
  });
});

describe('a bar', () => {
  const rate = { name: 'puts', unit: '/s', atLeast: 1000 } as const;
  const time = { name: 'page', unit: 'ms', atMost: 5 } as const;

  it('is what has to be reached, or must not be exceeded', () => {
    expect(judge({ ...rate, value: 1000 }, 0.2)).toMatchObject({ bar: 1000, pass: true });
    expect(judge({ ...rate, value: 999 }, 0.2)).toMatchObject({ bar: 1000, pass: false });
    expect(judge({ ...time, value: 5 }, 0.2)).toMatchObject({ bar: 5, pass: true });
    expect(judge({ ...time, value: 5.1 }, 0.2)).toMatchObject({ bar: 5, pass: false });
  });

  it('is half of a rate on a slow disk, and of nothing else', () => {
    expect(judge({ ...rate, value: 500 }, 2)).toMatchObject({ bar: 500, pass: true });
    expect(judge({ ...rate, value: 499 }, 2)).toMatchObject({ bar: 500, pass: false });
    expect(judge({ ...time, value: 5.1 }, 2)).toMatchObject({ bar: 5, pass: false });
    const share = { name: 'HOT', unit: '%', atLeast: 90, value: 89 } as const;
    expect(judge(share, 2)).toMatchObject({ bar: 90, pass: false });
  });
});
