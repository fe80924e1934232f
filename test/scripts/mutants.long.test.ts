/** The mutation run: what it makes of a small program. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { enumerate, type Mutant } from '../../scripts/mutants/enumerate.ts';
import { read } from '../../scripts/mutants/map.ts';
import { type Lane, Limits, type Outcome, openLanes } from '../../scripts/mutants/trial.ts';

const FILE = 'test/scripts/mutants/norm.ts';
const CHECKS = 'test/scripts/mutants/norm.checks.ts';
const text = read(FILE);
const mutants = enumerate(FILE, text);
const named = (end: string): Mutant => mutants.find(({ id }) => id.endsWith(end))!;

describe('the trial', () => {
  const { lanes, end } = openLanes(1);
  const [lane] = lanes as [Lane];
  afterAll(end);
  const outcome = (mutant: Mutant, limits = new Limits()): Promise<Outcome> =>
    lane.try(mutant, [CHECKS], new Map(), limits);

  test('what its tests see and what they do not', async () => {
    const limits = new Limits();
    const states = new Map<string, string>();
    for (const mutant of mutants) {
      const { state } = await outcome(mutant, limits);
      states.set(mutant.id.split(':').slice(-2).join(' '), state);
    }
    const survivors = [...states].filter(([, state]) => state === 'survived');
    expect(survivors.map(([name]) => name)).toEqual(['bound2 shifted']);
    // The next one is the program itself again, on the disk and in memory.
    expect(readFileSync(FILE, 'utf8')).toBe(text);
    expect(await lane.limitOf(CHECKS)).toBeGreaterThan(0);
  });

  test('a loop that never ends is ended', async () => {
    const start = text.indexOf('i++');
    const endless: Mutant = { ...mutants[0]!, start, end: start + 3, replacement: '' };
    const limits = new Limits();
    await limits.of(CHECKS, lane);
    const { state, by } = await outcome(endless, limits);
    expect([state, by]).toEqual(['killed', `${CHECKS}: too late`]);
    expect((await outcome(named('condition1:false'))).state).toBe('killed');
  });

  test('tests that fail on the program as it is are no tests', async () => {
    const wrong = 'test/scripts/mutants/wrong.checks.ts';
    await expect(lane.limitOf(wrong)).rejects.toThrow('a wrong one');
  });
});
