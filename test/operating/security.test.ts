/** SECURITY.md names tests that there are, for every risk of the list. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from './operatingFiles.ts';

const text = readFileSync(new URL('SECURITY.md', ROOT), 'utf8');
const section = /\n## The service, by the OWASP[^\n]*\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
const rows = section
  .split('\n')
  .filter((line) => /^\| API\d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** The tests of a row: file and title. */
const shown = rows.flatMap(([, risk = '', , , by = '']) => {
  const tests = [...by.matchAll(/`([^`]+)`: “([^”]+)”/g)];
  return tests.map(([, file, title]) => [risk, file!, title!] as const);
});

/** Whether a test of this title is in the file, as it is written there. */
function hasTest(file: string, title: string): boolean {
  const path = new URL(file, ROOT);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, 'utf8');
  const escaped = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return (
    new RegExp(`\\b(it|test)(\\.\\w+)?(\\([^\\n]*\\))?\\(\\s*(['"\`])${escaped}\\4`).test(source) ||
    new RegExp(`\\.each\\([\\s\\S]{0,2000}?\\)\\(\\s*(['"\`])${escaped}\\1`).test(source)
  );
}

describe('the list of risks', () => {
  it('has all ten, in order, each with its tests', () => {
    const numbers = rows.map(([, risk = '']) => Number(/^API(\d+) /.exec(risk)![1]));
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const [, risk = '', means, done, by = ''] of rows) {
      for (const cell of [means, done]) expect(cell, risk).toMatch(/\w{3}/);
      expect(by.replace(/`[^`]+`: “[^”]+”/g, ''), risk).toMatch(/^(; )*$/);
      expect(shown.filter(([of]) => of === risk).length, risk).toBeGreaterThanOrEqual(2);
    }
  });

  it.each(shown)('%s: %s has “%s”', (_, file, title) => {
    expect(hasTest(file, title)).toBe(true);
  });

  it('a title that no test has would be noticed', () => {
    const [, file, title] = shown[0]!;
    expect(hasTest(file, `${title}!`)).toBe(false);
    expect(hasTest(file.replace('.ts', '.js'), title)).toBe(false);
    // A word of a comment is no test.
    expect(hasTest('test/operating/security.test.ts', 'SECURITY.md names tests')).toBe(false);
  });
});
