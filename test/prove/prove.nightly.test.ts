/** Everything from nothing: proofs, rules, the executor against the engine, mutants. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../scripts/generated.ts';
import { readModule } from '../../scripts/prove/modules.ts';
import { claimsOf, isProved } from '../../scripts/prove/reals.ts';
import { hasZ3 } from '../../scripts/prove/smt.ts';

test.each([
  ['--fresh', /\n\d+ of \d+ statements proved/],
  ['--rules', /^proved|^SKIPPED/],
  ['--reals', /statements proved\n$|^SKIPPED/],
  ['--validate', / operations alone, \d+ trials: /],
  // at least 400 mutants
  ['--mutants', /\n([4-9]\d\d|\d{4,}) mutants: /],
])(
  'npm run prove -- %s',
  (option, says) => {
    const args = [join(ROOT, 'scripts/prove/main.ts'), option];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toMatch(says);
  },
  10_800_000,
);

/** The table of constants in realInteger.ts begins with these, and has eight. */
const FIRST = [0x80, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f];
const SOME = /^(add, lane 0: (x is .* (0|2|40) exp|.*zero)|mul, lane 0|sqrt, lane 0: r(ad|oundi))/;

test.skipIf(!hasZ3()).each([0, 1, 2, 3, 4, 5, 6, 7])(
  'arithmetic on reals is not proved with another constant %i',
  (i) => {
    const module = readModule('falcon.integer')!;
    const data = module.data.map(({ at, bytes }) => ({ at, bytes: bytes.slice() }));
    const places = data.flatMap(({ bytes }) => {
      const at = Buffer.from(bytes).indexOf(Buffer.from(FIRST));
      return at < 0 ? [] : [{ bytes, at: at - 7 }];
    });
    expect(places).toHaveLength(1);
    const [{ bytes, at }] = places as [(typeof places)[0]];
    // zeros at the ends of data are not stored
    bytes[at + 8 * i + (i < 4 ? 7 : 0)]! ^= 1;
    const claims = claimsOf({ ...module, data }).filter(({ name }) => SOME.test(name));
    expect(claims.length).toBeGreaterThan(10);
    expect(claims.some((claim) => !isProved(claim))).toBe(true);
  },
  3_600_000,
);
