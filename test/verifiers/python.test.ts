/** The second verifier is one short file that needs nothing but Python, and one that adds to it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const sourceOf = (name: string): string =>
  readFileSync(new URL(`../../verifiers/python/${name}`, import.meta.url), 'utf8');
const text = sourceOf('verify.py');
const lines = text.split('\n').slice(0, -1);

/** Modules of the standard library that read, count and hash; none that starts or loads code. */
const MODULES = [
  ...['base64', 'bisect', 'collections', 'hashlib', 'itertools', 'json', 'math', 'pathlib'],
  ...['re', 'struct', 'sys'],
];

test('it has at most 855 lines of at most 100 columns', () => {
  expect(lines.length).toBeGreaterThan(300);
  expect(lines.length).toBeLessThanOrEqual(855);
  expect(lines.filter((line) => [...line].length > 100)).toEqual([]);
});

test('they import some modules of the standard library alone', () => {
  const importedBy = (source: string): string[] =>
    source.split('\n').flatMap((line) => {
      const [, list] = /^\s*(?:from|import) +([\w., ]+?)(?: import .*| as V)?$/.exec(line) ?? [];
      return list?.split(/, */) ?? [];
    });
  const merged = sourceOf('merged.py');
  const more = ['json', 'pathlib', 'struct', 'collections', 'verify', 'verify'];
  expect(importedBy(text).toSorted()).toEqual(MODULES);
  expect(importedBy(merged)).toEqual(more);
  expect(text + merged).not.toMatch(/__import__|importlib|\beval\(|\bexec\(/);
});
