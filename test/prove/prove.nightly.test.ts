/** Everything from nothing: proofs, rules, the executor against the engine, mutants. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../scripts/generated.ts';
import { readModule } from '../../scripts/prove/modules.ts';
import { claimsOf, isProved } from '../../scripts/prove/reals.ts';
import { hasZ3 } from '../../scripts/prove/smt.ts';

test.each([['--fresh'], ['--rules'], ['--reals'], ['--validate'], ['--mutants']])(
  'npm run prove -- %s',
  (option) => {
    const args = [join(ROOT, 'scripts/prove/main.ts'), option];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).toBe(0);
  },
  3_600_000,
);

/** The table of constants in realInteger.ts: eight numbers, these two first. */
const FIRST = [0x8000000000000000n, 0x7ff0000000000000n];
const SOME = /^(add, lane 0: (x is .* (0|2|40) exp|.*zero)|mul, lane 0|sqrt, lane 0: r(ad|oundi))/;

test.skipIf(!hasZ3()).each([0, 1, 2, 3, 4, 5, 6, 7])(
  'arithmetic on reals is not proved with another constant %i',
  (i) => {
    const module = readModule('falcon.integer')!;
    const data = module.data.map(({ at, bytes }) => ({ at, bytes: bytes.slice() }));
    const places = data.flatMap(({ bytes }) => {
      const view = new DataView(bytes.buffer);
      return Array.from({ length: bytes.length >> 3 }, (_, k) => 8 * k)
        .filter((at) =>
          FIRST.every(
            (value, k) =>
              at + 8 * k + 8 <= bytes.length && view.getBigUint64(at + 8 * k, true) === value,
          ),
        )
        .map((at) => ({ bytes, at }));
    });
    expect(places).toHaveLength(1);
    const [{ bytes, at }] = places as [(typeof places)[0]];
    bytes[at + 8 * i]! ^= 1;
    const claims = claimsOf({ ...module, data }).filter(({ name }) => SOME.test(name));
    expect(claims.length).toBeGreaterThan(10);
    expect(claims.some((claim) => !isProved(claim))).toBe(true);
  },
  3_600_000,
);
