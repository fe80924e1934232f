/** The lemmas of docs/soundness.md that Coq checks, and the figures that Python recomputes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { skipLoudly } from '../support/postgres.ts';
import { findProgram } from '../support/programs.ts';

const FOLDER = fileURLToPath(new URL('../../proofs/', import.meta.url));
const TABLE = join(FOLDER, '../vectors/table.json');
const MINUTES = 60_000;
const has = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { encoding: 'utf8' }).status === 0;

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: FOLDER, encoding: 'utf8' });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
  return stdout;
}

describe('lemmas', () => {
  if (findProgram('coqc') === undefined) {
    skipLoudly('Coq checks the lemmas', 'the Debian packages of proofs/README.md');
    return;
  }
  test('make -C proofs', { timeout: 60 * MINUTES }, () => {
    run('make', 'clean');
    expect(run('make')).toMatch(/\d+ theorems checked, no axioms\n$/);
  });
});

describe('figures', () => {
  if (!has('/usr/bin/python3', '-c', 'import mpmath')) {
    skipLoudly('Python recomputes the figures', 'the Debian package python3-mpmath');
    return;
  }
  test.each([
    ['the table, with a simulation of BKZ for every pair', 'table.py', '--bkz'],
    ['the certificate of Lemma 5', 'lemma5.py'],
  ])('%s', { timeout: 60 * MINUTES }, (_, ...args) => {
    const lines = run('/usr/bin/python3', '-B', ...args)
      .trimEnd()
      .split('\n');
    expect(lines.filter((line) => line.startsWith('MISSED'))).toEqual([]);
    expect(lines.at(-1)).toBe('0 missed');
    expect(lines.length).toBeGreaterThan(5);
  });

  test.each([
    ['vectors/table.json', [], /^MISSED whole ranks: at least 1[0-2]\d\./m],
    ['vectors/mergedTable.json', [TABLE], /^MISSED merged, whole ranks: 1[0-2]\d\./m],
  ])(
    'a larger norm than the ranks of %s allow is noticed',
    { timeout: MINUTES },
    (path, before, missed) => {
      const rows = JSON.parse(readFileSync(join(FOLDER, '..', path), 'utf8'));
      // outSq of the tail of the last row
      rows.at(-1)[2].at(-1)[4] *= 16;
      const folder = mkdtempSync(join(tmpdir(), 'falconry-proofs-'));
      const file = join(folder, 'rows.json');
      writeFileSync(file, JSON.stringify(rows));
      const args = ['-B', 'table.py', ...before, file];
      const { status, stdout } = spawnSync('/usr/bin/python3', args, {
        cwd: FOLDER,
        encoding: 'utf8',
      });
      rmSync(folder, { recursive: true });
      expect(stdout).toMatch(missed);
      expect(status).toBe(1);
    },
  );
});
