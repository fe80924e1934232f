/** The mutation run: what it lists, and what it makes of a small program. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { enumerate, type Mutant, mutated } from '../../scripts/mutants/enumerate.ts';
import { coveredFiles, read } from '../../scripts/mutants/map.ts';
import { difference, table } from '../../scripts/mutants/report.ts';
import { type Lane, Limits, type Outcome, openLanes } from '../../scripts/mutants/trial.ts';

const FILE = 'test/scripts/mutants/norm.ts';
const CHECKS = 'test/scripts/mutants/norm.checks.ts';
const text = read(FILE);
const mutants = enumerate(FILE, text);
const ofOperators = (list: readonly Mutant[]): string[] =>
  list.map(({ id }) => id.split(':').slice(-2).join(' '));
const named = (end: string): Mutant => mutants.find(({ id }) => id.endsWith(end))!;

describe('the list', () => {
  test('every branch and comparison of the small program', () => {
    expect(ofOperators(mutants)).toEqual([
      ...['bound1 inclusive', 'bound1 shifted', 'condition1 true', 'condition1 false'],
      ...['side1 left', 'side1 right', 'equality1 negated'],
      ...['bound2 inclusive', 'bound2 shifted', 'verdict1 negated', 'verdict2 negated'],
    ]);
    expect(mutants[0]!.id).toBe(`${FILE}:isShort:bound1:inclusive`);
    expect(difference(text, named('bound2:shifted'))).toBe(
      '  -   if (values.length === 0 || sum > most) return false;\n' +
        '  +   if (values.length === 0 || sum > (most) + 1) return false;',
    );
  });

  test('an id outlives edits elsewhere', () => {
    const before = 'const more = (x: number) => (x < 3 ? 1 : 2);\n\n';
    const after = enumerate(FILE, before + text);
    const own = after.filter((mutant) => mutant.function === 'isShort');
    expect(own.map(({ id }) => id)).toEqual(mutants.map(({ id }) => id));
    expect(after).toHaveLength(mutants.length + 4);
  });

  test('kernels: decorators, steps of loops, lanes, picks, status', () => {
    const kernel = `
// @ts-ignore: decorator
@inline
export function clamp(at: usize, n: i32): i32 {
  let status = OK;
  for (const end = at + 64; at < end; at += 16) {
    if (v128.any_true(i16x8.gt_s(v128.load(at), LIMIT))) return TOO_WIDE;
    status |= min(check(at), n);
  }
  return status;
}
`;
    const list = enumerate('assembly/x.ts', kernel);
    expect(ofOperators(list)).toEqual([
      ...['bound1 shifted', 'condition1 true', 'condition1 false'],
      ...['bound2 ge', 'status1 ok', 'status2 off', 'pick1 first', 'pick1 second'],
    ]);
    const changes = list.map((mutant) => difference(kernel, mutant).split('\n')[1]);
    expect(changes[0]).toContain('at < (end) - 16;');
    expect(changes[3]).toContain('i16x8.ge_s(');
    for (const mutant of list) expect(mutated(kernel, mutant)).not.toBe(kernel);
  });

  test('functions can be left out, those that are not there cannot', () => {
    expect(enumerate(FILE, text, { except: ['isShort'] })).toEqual([]);
    expect(enumerate(FILE, text, { only: ['isShort'] })).toHaveLength(mutants.length);
    expect(() => enumerate(FILE, text, { only: ['isLong'] })).toThrow('isLong');
    expect(() => enumerate(FILE, 'const = 1;')).toThrow();
  });

  test('every file that judges has a rule, and its mutants parse', () => {
    const covered = coveredFiles();
    expect(covered.length).toBeGreaterThan(45);
    const ids = covered.flatMap(({ file, scope }) =>
      enumerate(file, read(file), scope).map(({ id }) => id),
    );
    expect(ids.length).toBeGreaterThan(1000);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('those called equivalent exist, are few, and have reasons', () => {
    const all = new Set(
      coveredFiles().flatMap(({ file, scope }) =>
        enumerate(file, read(file), scope).map(({ id }) => id),
      ),
    );
    const list = JSON.parse(read('scripts/mutants/equivalent.json')) as Record<string, string>[];
    expect(list.length).toBeLessThanOrEqual(10);
    for (const { id, reason } of list) {
      expect(all).toContain(id);
      expect(reason).toMatch(/\w{3}/);
    }
  });
});

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

test('the table counts by file', () => {
  const [a, b, c] = mutants as [Mutant, Mutant, Mutant];
  const rows = table([
    { mutant: a, state: 'killed' },
    { mutant: b, state: 'survived' },
    { mutant: { ...c, file: 'x.ts' }, state: 'same' },
  ]).split('\n');
  expect(rows.map((row) => row.split(/ +/).slice(1).join(' '))).toEqual([
    'mutants killed equivalent survived',
    '2 1 0 1',
    '1 0 1 0',
    '3 1 1 1',
  ]);
});
