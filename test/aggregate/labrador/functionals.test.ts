import { describe, expect, test } from 'vitest';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { labradorModule } from './area.ts';
import { centred, HALF_Q, source } from './plain.ts';

const random = source('labrador functionals');

describe.each(BOTH_MODULES)('functionals, %s module', async (module) => {
  const m = await labradorModule(module);
  const { exports } = m;
  const [THETA, RHO, OUT] = m.rooms(240, 1280, 1536);

  test('ten of them into three lifts, at the largest values too', () => {
    for (const [theta, rho] of [
      [() => HALF_Q, () => 6144n],
      [() => -HALF_Q, () => 6144n],
      [() => 2n ** 29n - 2n ** 14n, () => -6144n],
      [() => random.between(-HALF_Q, HALF_Q), () => random.between(-6144n, 6144n)],
    ] as const) {
      const thetas = Array.from({ length: 3 }, () => Array.from({ length: 10 }, theta));
      const rhos = Array.from({ length: 10 }, () => Array.from({ length: 64 }, rho));
      const start = Array.from({ length: 3 }, () => random.poly(HALF_Q));
      new BigInt64Array(m.buffer, THETA, 30).set(thetas.flat());
      for (const [j, poly] of rhos.entries()) m.writeSmall(RHO + 128 * j, poly);
      for (const [k, poly] of start.entries()) m.writeCoefs(OUT + 512 * k, poly);
      exports.functionalsStart!(THETA);
      exports.addFunctionals!(OUT, RHO, 128);
      for (const [k, poly] of start.entries()) {
        const expected = poly.map((v, c) =>
          centred(rhos.reduce((sum, r, j) => sum + thetas[k]![j]! * r[c]!, v)),
        );
        expect(m.readCoefs(OUT + 512 * k)).toEqual(expected);
      }
    }
  });
});
