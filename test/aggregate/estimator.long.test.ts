/** The parameters by an estimate in another language; skipped where there is no Python. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Commitment, commitmentsOf } from '../../scripts/parameters/binding.ts';
import { readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { FOUND } from './parameterRows.ts';

const script = fileURLToPath(new URL('../../scripts/parameters/estimator.py', import.meta.url));
const table = fileURLToPath(new URL('../../vectors/table.json', import.meta.url));
const run = (...args: string[]) => spawnSync('python3', [script, ...args], { encoding: 'utf8' });
const hasPython = spawnSync('python3', ['--version']).status === 0;

const TABLE: readonly TableRow[] = JSON.parse(readFileSync(table, 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'falconry-estimator-'));
const found = join(folder, 'found.json');
beforeAll(() => writeFileSync(found, JSON.stringify(FOUND)));
afterAll(() => rmSync(folder, { recursive: true }));

test.skipIf(!hasPython)(
  'every commitment has 133 bits, 136 in quarters',
  { timeout: 600_000 },
  () => {
    const { status, stdout } = run();
    expect(stdout).toContain('102 rows');
    expect(stdout).toContain('below 133, or 136 in quarters: 0');
    expect(status).toBe(0);
    // and it would say so if one had not
    expect(run('134').status).toBe(1);
  },
);

test.skipIf(!hasPython)('so have rows that hide messages', { timeout: 600_000 }, () => {
  const { status, stdout } = run(found);
  expect(stdout).toContain('3 rows, 57 commitments, 9 of them in quarters');
  expect(stdout).toContain('below 133, or 136 in quarters: 0');
  expect(status).toBe(0);
  expect(run(found, '133', '137').status).toBe(1);
  expect(run(found, '134', '136').status).toBe(1);
});

const NAMES: Readonly<Record<Commitment['name'], string>> = {
  'inner, first branch': 'inner_1',
  'inner, second branch': 'inner_2',
  outer: 'outer',
  quarters: 'quarters',
};

test.skipIf(!hasPython).each([
  ['the table', table, TABLE],
  ['rows that hide messages', found, FOUND],
] as const)('both know the same commitments, shapes and norms: %s', (_, path, rows) => {
  const lines = run(path, '--all').stdout.trimEnd().split('\n');
  const expected = rows.flatMap((row) => {
    const parameters = readRow(row);
    const levels = [...parameters.levels, parameters.tail];
    return commitmentsOf(parameters).map(({ level, name, rank, normSq }) => {
      const { r, lengths } = levels[level]!;
      const polynomials = lengths.reduce((a, b) => a + b);
      const text = [row[0], row[1], level, r, polynomials, NAMES[name], rank].join(' ');
      return { text, log2: Math.log2(Number(normSq)) / 2 };
    });
  });
  expect(lines.map((line) => line.split(' ').slice(0, -1).join(' '))).toEqual(
    expected.map(({ text }) => text),
  );
  for (const [i, line] of lines.entries()) {
    expect(Math.abs(Number(line.split(' ').at(-1)) - expected[i]!.log2)).toBeLessThan(1e-4);
  }
});
