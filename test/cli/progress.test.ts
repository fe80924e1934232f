/** The time left in progress bars, with a clock of the test's own. */
import { describe, expect, it } from 'vitest';
import { createEta, leftText } from '../../src/cli/eta.ts';
import { createProgress } from '../../src/cli/progress.ts';

const TOTAL = 10_000;

/** Work at these rates per second, one after the other; what is said every half second. */
function foretold(total: number, ...parts: readonly (readonly [rate: number, seconds: number])[]) {
  let ms = 5_000_000;
  let done = 0;
  const eta = createEta(done, ms);
  const said: (number | undefined)[] = [];
  for (const [rate, seconds] of parts) {
    for (let step = 0; step < 10 * seconds; step++) {
      ms += 100;
      done += rate / 10;
      if (rate > 0) eta.note(done, ms);
      if (step % 5 === 4) said.push(eta.leftMs(total, ms));
    }
  }
  return said;
}

describe('an estimate', () => {
  it('waits a few seconds, and is then exact for work at an even rate', () => {
    const said = foretold(TOTAL, [100, 20]);
    expect(said.slice(0, 5)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(said.at(5)! / 1000).toBeCloseTo(97, 6);
    expect(said.at(-1)! / 1000).toBeCloseTo(80, 6);
  });

  it('follows another speed, but not at once', () => {
    // 2000 are done, then it goes on ten times as slowly.
    const said = foretold(TOTAL, [100, 20], [10, 40]);
    const [soon, late] = [said[41]! / 1000, said.at(-1)! / 1000];
    expect(soon).toBeGreaterThan(80);
    expect(soon).toBeLessThan(120);
    // 7600 at 10 a second.
    expect(late).toBeGreaterThan(650);
    expect(late).toBeLessThan(760);
  });

  it('does not jump about where progress comes in jerks', () => {
    const eta = createEta(0, 0);
    const said: number[] = [];
    for (let ms = 500, done = 0; ms <= 60_000; ms += 500) {
      if (ms % 2000 === 0) eta.note((done += 200), ms);
      const left = eta.leftMs(TOTAL, ms);
      if (ms > 20_000) said.push(ms + left!);
    }
    // 100 s in all.
    expect(Math.min(...said)).toBeGreaterThan(80_000);
    expect(Math.max(...said)).toBeLessThan(125_000);
  });

  it('grows in a stall', () => {
    const said = foretold(TOTAL, [100, 10], [0, 30]);
    const stall = said.slice(20) as number[];
    expect(stall).toEqual(stall.toSorted((a, b) => a - b));
    expect(stall.at(-1)! / stall[0]!).toBeGreaterThan(10);
  });

  it('says nothing of work that is done, or has not begun', () => {
    expect(foretold(500, [100, 8]).at(-1)).toBeUndefined();
    expect(foretold(TOTAL, [0, 20]).at(-1)).toBeUndefined();
  });
});

it.each([
  [200, 'a few seconds left'],
  [13_000, 'about 15 s left'],
  [57_400, 'about 55 s left'],
  [57_500, 'about 1 min left'],
  [89_000, 'about 1 min left'],
  [91_000, 'about 2 min left'],
  [3_540_000, 'about 59 min left'],
  [3_570_000, 'about 1 h left'],
  [47 * 3_600_000, 'about 47 h left'],
  [49 * 3_600_000, 'about 2 days left'],
])('%d ms are %s', (ms, text) => {
  expect(leftText(ms)).toBe(text);
});

describe('the bar', () => {
  const bar = () => {
    let ms = 0;
    let text = '';
    const stderr = { isTTY: true, columns: 100, write: (part: unknown) => (text += part) };
    const progress = createProgress({ stderr, env: { NO_COLOR: '1' } }, false, () => ms);
    const last = () => text.split('\r\x1b[2K').at(-1)!;
    return { progress, last, at: (seconds: number) => (ms = seconds * 1000) };
  };

  it('shows the time left once it can be told', () => {
    const { progress, last, at } = bar();
    for (let s = 0; s <= 10; s++) {
      at(s);
      progress.update({ phase: 'verifying', done: s * 10, total: 1300 });
      if (s === 2) expect(last()).toMatch(/20 of 1300$/);
    }
    expect(last()).toMatch(/100 of 1300 {2}about 2 min left$/);
    progress.end();
  });

  it('takes what was there before for no work of this phase', () => {
    const { progress, last, at } = bar();
    for (let s = 0; s <= 10; s++) {
      at(s);
      progress.update({ phase: 'uploading', done: 9e6 + s * 1e3, total: 10e6, unit: 'bytes' });
    }
    expect(last()).toMatch(/about 17 min left$/); // 990 kB at 1 kB/s
    at(11);
    progress.update({ phase: 'waiting', done: 0, total: 10 });
    expect(last()).not.toContain('left');
    progress.end();
  });
});
