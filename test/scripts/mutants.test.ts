/** The mutation run: what it lists. */
import { describe, expect, test } from 'vitest';
import { enumerate, type Mutant, mutated } from '../../scripts/mutants/enumerate.ts';
import { coveredFiles, read } from '../../scripts/mutants/map.ts';
import { difference, table } from '../../scripts/mutants/report.ts';

const FILE = 'test/scripts/mutants/norm.ts';
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
    expect(list.length).toBeLessThanOrEqual(12);
    for (const { id, reason } of list) {
      expect(all).toContain(id);
      expect(reason).toMatch(/\w{3}/);
    }
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
