/** Everything from nothing: proofs, rules, the executor against the engine. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../scripts/generated.ts';

test.each([['--fresh'], ['--rules'], ['--validate']])(
  'npm run prove -- %s',
  (option) => {
    const args = [join(ROOT, 'scripts/prove/main.ts'), option];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).toBe(0);
  },
  3_600_000,
);
