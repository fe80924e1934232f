/** Every check of the second verifier is noticed by a vector: without it, that one is accepted. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fact } from '../support/facts.ts';

const SCRIPT = fileURLToPath(new URL('../../verifiers/python/checks.py', import.meta.url));
const README = readFileSync(new URL('../../vectors/README.md', import.meta.url), 'utf8');
const NEW_ENOUGH = 'import sys; sys.exit(sys.version_info < (3, 9))';
const noPython = spawnSync('python3', ['-c', NEW_ENOUGH]).status !== 0;

test('checks.py', { timeout: 1_200_000 }, (context) => {
  if (noPython) return context.skip('no Python 3.9 or later on this machine');
  const run = spawnSync('python3', ['-B', SCRIPT], { encoding: 'utf8' });
  const lines = run.stdout.trim().split('\n');
  const of = (word: string) => lines.filter((line) => line.startsWith(`${word} `));
  expect(of('WRONG')).toEqual([]);
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  const [noticed, none] = [of('ok').length, of('none').length];
  expect(noticed).toBeGreaterThan(50);
  expect(noticed + none).toBe(lines.length);
  expect(none).toBeLessThan(20);
  // the command that the README names
  expect(README).toContain('python3 verifiers/python/checks.py');
  fact(context, 'verifiers', `checks.py: ${noticed} checks, each noticed by a vector`);
});

test('a check that no vector notices, or that is in no table, is an error', {
  timeout: 60_000,
}, (context) => {
  if (noPython) return context.skip('no Python 3.9 or later on this machine');
  const code = [
    'import sys; sys.path.insert(0, ".")',
    'import checks',
    'other = checks.NOTICED.replace("    bundle: magic", "    bundle: commitment")',
    'checks.NOTICED = other.replace("header: unknown kind", "header: no kind")',
    'sys.exit(checks.main(["magic"]))',
  ].join('\n');
  const cwd = fileURLToPath(new URL('../../verifiers/python/', import.meta.url));
  const run = spawnSync('python3', ['-B', '-c', code], { encoding: 'utf8', cwd });
  expect(run.stderr).toBe('');
  expect(run.stdout.match(/^WRONG .*/gm)).toEqual([
    expect.stringMatching(/'header: no kind' - no check of verify.py$/),
    expect.stringMatching(/'header: unknown kind' - in no table$/),
    expect.stringMatching(/'magic: .*' - bundle: commitment - \(False, .*\) \(False, .*\)$/),
  ]);
  expect(run.status).toBe(1);
});
