/** The second verifier is one short file that needs nothing but Python. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = readFileSync(new URL('../../verifiers/python/verify.py', import.meta.url), 'utf8');
const lines = text.split('\n').slice(0, -1);

/** Modules of the standard library that read, count and hash; none that starts or loads code. */
const MODULES = [
  ...['base64', 'bisect', 'collections', 'hashlib', 'itertools', 'json', 'math', 'pathlib'],
  ...['re', 'struct', 'sys'],
];

test('it has at most 850 lines of at most 100 columns', () => {
  expect(lines.length).toBeGreaterThan(300);
  expect(lines.length).toBeLessThanOrEqual(850);
  expect(lines.filter((line) => [...line].length > 100)).toEqual([]);
});

test('it imports some modules of the standard library alone', () => {
  const imported = lines.flatMap((line) => {
    const [, list] = /^\s*(?:from|import) +([\w., ]+?)(?: import .*)?$/.exec(line) ?? [];
    return list?.split(/, */) ?? [];
  });
  expect(imported.toSorted()).toEqual(MODULES);
  expect(text).not.toMatch(/__import__|importlib|\beval\(|\bexec\(/);
});
