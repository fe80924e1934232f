/** The table of the proof by an estimate in another language; skipped where there is no Python. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/parameters/estimator.py', import.meta.url));
const run = (...args: string[]) => spawnSync('python3', [script, ...args], { encoding: 'utf8' });
const hasPython = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!hasPython)('every commitment has 133 bits of core-SVP', { timeout: 600_000 }, () => {
  const { status, stdout } = run();
  expect(stdout).toContain('92 rows');
  expect(stdout).toContain('below 133: 0');
  expect(status).toBe(0);
  // and it would say so if one had not
  expect(run('134').status).toBe(1);
});

test.skipIf(!hasPython)('rows of shorter commitments have them too', () => {
  const path = fileURLToPath(new URL('../../scripts/parameters/shorter.json', import.meta.url));
  const { status, stdout } = run(path);
  expect(stdout).toContain('3 rows');
  expect(stdout).toContain('below 133: 0');
  expect(status).toBe(0);
});
