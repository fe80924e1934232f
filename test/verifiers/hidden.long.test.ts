/** The second verifier on toy rows with hidden messages; its own tests are in hidden/. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// biome-ignore format: several in a line
const GROUPS = [
  ['Proofs', 3], ['Container', 2], ['Table', 4], ['Sizes', 2], ['Parser', 8], ['Order', 3],
  ['Functionals', 1], ['Limits', 6],
] as const;

test('hidden/test_hidden.py', { timeout: 900_000 }, () => {
  const run = spawnSync('python3', ['-B', '-m', 'unittest', '-v', 'test_hidden'], {
    cwd: fileURLToPath(new URL('hidden/', import.meta.url)),
    encoding: 'utf8',
  });
  const all = GROUPS.reduce((sum, [, count]) => sum + count, 0);
  expect(run.stderr).toContain(`Ran ${all} tests`);
  expect(run.stderr).toMatch(/\nOK\n$/);
  expect(run.status).toBe(0);
  const found = GROUPS.map(([name]) => [name, run.stderr.split(`(test_hidden.${name}`).length - 1]);
  expect(found).toEqual(GROUPS);
});
