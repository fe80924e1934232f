/**
 * The second verifier on proofs of version 3, which a slow prover of toy rows makes: its own tests
 * are in v3/, in its own language.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

for (const [name, count] of [
  ['Proofs', 3],
  ['Sizes', 2],
  ['Parser', 6],
  ['Order', 3],
  ['Functionals', 1],
  ['Adversaries', 8],
] as const) {
  test(`${name}: ${count} tests`, { timeout: 600_000 }, () => {
    const run = spawnSync('python3', ['-B', '-m', 'unittest', `test_v3.${name}`], {
      cwd: fileURLToPath(new URL('v3/', import.meta.url)),
      encoding: 'utf8',
    });
    expect(run.stderr).toContain(`Ran ${count} test`);
    expect(run.stderr).toMatch(/\nOK\n$/);
    expect(run.status).toBe(0);
  });
}
