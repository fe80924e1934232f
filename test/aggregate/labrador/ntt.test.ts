import { describe, expect, test } from 'vitest';
import * as plan from '../../../scripts/generate/labradorPlan.ts';
import { bitReverse, LANE_MAX, powMod } from '../../../scripts/generate/modular.ts';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { labradorModule } from './area.ts';
import {
  add,
  centred,
  HALF_Q,
  hardPolys,
  mod,
  multiply,
  type Poly,
  sigma,
  source,
} from './plain.ts';

const { PRIMES, PRODUCT, Q, ROOTS } = plan;
const random = source('labrador ntt');

describe('the plan', () => {
  test('primes, roots and modulus are what they must be', () => {
    for (const [i, p] of PRIMES.entries()) {
      for (let d = 2; d * d <= p; d++) expect(p % d).not.toBe(0);
      expect(powMod(ROOTS[i]!, 64, p)).toBe(p - 1);
    }
    expect(Q).toBe(17592186044299n);
    expect(Q % 8n).toBe(3n);
    expect(PRODUCT > 2n ** 81n && PRODUCT < 2n ** 82n).toBe(true);
  });

  test('no 16-bit lane overflows, in any transform, for any input it allows', () => {
    for (const [i, p] of PRIMES.entries()) {
      for (const [bound, reduces] of [
        [plan.SMALL_MAX, plan.SMALL_REDUCES],
        [LANE_MAX + 1, plan.FORWARD_REDUCES], // -2^15 too
        [plan.limbsBound(p), plan.FORWARD_REDUCES],
      ] as const) {
        const bounds = plan.forwardBounds(i, bound, reduces);
        expect(Math.max(...bounds)).toBeLessThanOrEqual(LANE_MAX);
        expect(bounds.at(-1)).toBeLessThanOrEqual((p + 1) / 2);
      }
      expect(Math.max(...plan.inverseBounds(i, plan.INVERSE_MAX))).toBeLessThanOrEqual(LANE_MAX);
      expect(plan.limbsBound(p)).toBeLessThanOrEqual(28603);
    }
  });

  test('no 32-bit lane overflows: products of a block, sums over blocks, reconstruction', () => {
    expect(2 * plan.PAIRS * plan.FORM_MAX ** 2).toBeLessThan(2 ** 31);
    const sums = [0, 0, 0];
    let quotient = 0;
    for (const [i, p] of PRIMES.entries()) {
      expect(plan.blockBound(p)).toBeLessThanOrEqual(LANE_MAX);
      expect((plan.MAX_BLOCKS * plan.blockBound(p)) / 65536 + p / 2).toBeLessThanOrEqual(
        plan.INVERSE_MAX,
      );
      quotient += plan.residueBound(i) * plan.reciprocal(p);
      for (const [limb, value] of plan.limbs(plan.centredQ(plan.cofactor(i))).entries()) {
        expect(Math.abs(value)).toBeLessThanOrEqual(16384);
        sums[limb]! += plan.residueBound(i) * Math.abs(value);
      }
    }
    expect(quotient + 2 ** 27).toBeLessThan(2 ** 31);
    for (const sum of sums) expect(sum + 6 * 16384).toBeLessThan(2 ** 31);
    expect(plan.reconstructionMargin()).toBeLessThan(2 ** -13.4); // of P: 2^-12.4 of P/2
    expect(plan.MAX_BLOCKS).toBe(6940);
  });
});

describe.each(BOTH_MODULES)('NTT form, %s module', async (module) => {
  const m = await labradorModule(module);
  const { exports } = m;
  const [A, B, C] = m.rooms(512, 512, 512);
  const [FA, FB, FC] = m.rooms(768, 768, 768);
  const fromSmall = (form: number, at: number, poly: Poly) => {
    m.writeSmall(at, poly);
    exports.smallToForm!(form, at);
  };
  const fromCoefs = (form: number, at: number, poly: Poly) => {
    m.writeCoefs(at, poly);
    exports.coefsToForm!(form, at);
  };
  const expectForm = (form: number) => {
    for (const [i, p] of PRIMES.entries()) {
      for (const x of m.lanes(form + 128 * i, 64)) {
        if (Math.abs(x) > (p + 1) / 2) throw new Error(`${x} is too large for ${p}`);
      }
    }
  };
  const coefs = (form: number): Poly => {
    exports.formToCoefs!(C, form);
    return m.readCoefs(C);
  };

  test('round trip of small polynomials', () => {
    for (const [name, bound] of [
      ['smallToForm', plan.SMALL_MAX],
      ['wideToForm', LANE_MAX],
    ] as const) {
      const polys = hardPolys(random, BigInt(bound));
      if (bound === LANE_MAX) polys.push(...polys.map((a) => a.map((x) => (x < 0n ? x - 1n : x))));
      for (const a of polys) {
        m.writeSmall(A, a);
        exports[name]!(FA, A);
        expectForm(FA);
        expect(coefs(FA)).toEqual(a);
      }
    }
  });

  test('the value at position 8i + v is that at the root of bit-reversed index 8v + i', () => {
    const a = random.poly(1000n);
    fromSmall(FA, A, a);
    for (const [i, p] of PRIMES.entries()) {
      for (let position = 0; position < 64; position++) {
        const index = 8 * (position % 8) + Math.floor(position / 8);
        const root = BigInt(powMod(ROOTS[i]!, 2 * bitReverse(index, 6) + 1, p));
        const value = a.reduceRight((sum, x) => mod(sum * root + x, BigInt(p)), 0n);
        const stored = BigInt(m.lanes(FA + 128 * i, 64)[position]!);
        expect(mod(stored * 2n ** 15n, BigInt(p))).toBe(value);
      }
    }
  });

  test('round trip of polynomials mod q, and of integers up to 2^44', () => {
    for (const bound of [HALF_Q, Q - 1n, 2n ** 44n, 2n ** 29n, 2n ** 14n]) {
      for (const a of hardPolys(random, bound)) {
        fromCoefs(FA, A, a);
        expectForm(FA);
        expect(coefs(FA)).toEqual(a.map((x) => centred(x)));
      }
    }
  });

  test('round trip of integers whose limbs are extreme', () => {
    const values = [-8192n, 8191n].flatMap((l0) =>
      [-32768n, 32767n, -32767n].flatMap((l1) =>
        [-16384n, -16383n, 16383n, 0n].map((l2) => l0 + 2n ** 14n * l1 + 2n ** 30n * l2),
      ),
    );
    const inRange = values.filter((x) => x <= 2n ** 44n && x >= -(2n ** 44n));
    expect(inRange.length).toBeGreaterThan(18);
    for (let shift = 0; shift < inRange.length; shift++) {
      const a = Array.from({ length: 64 }, (_, j) => inRange[(shift + j * j) % inRange.length]!);
      fromCoefs(FA, A, a);
      expectForm(FA);
      expect(coefs(FA)).toEqual(a.map((x) => centred(x)));
      m.writeCoefs(A, new Array<bigint>(64).fill(inRange[shift]!));
      exports.coefsToForm!(FA, A);
      expect(coefs(FA)).toEqual(new Array<bigint>(64).fill(centred(inRange[shift]!)));
    }
  });

  test('products', () => {
    for (const [boundA, boundB] of [
      [plan.SMALL_MAX, plan.SMALL_MAX],
      [1, 1],
      [plan.SMALL_MAX, 2],
    ] as const) {
      const as = hardPolys(random, BigInt(boundA));
      const bs = hardPolys(random, BigInt(boundB)).reverse();
      for (const [i, a] of as.entries()) {
        const b = bs[i]!;
        fromSmall(FA, A, a);
        fromSmall(FB, B, b);
        exports.mulForm!(FC, FA, FB);
        expectForm(FC);
        expect(coefs(FC)).toEqual(multiply(a, b).map((x) => centred(x)));
      }
    }
  });

  test('products of polynomials mod q by short ones, as integers far beyond q', () => {
    const extremes = hardPolys(random, HALF_Q);
    for (const [i, a] of extremes.entries()) {
      const b = hardPolys(random, 8191n)[(i * 7) % 20]!;
      fromCoefs(FA, A, a);
      fromSmall(FB, B, b);
      exports.mulForm!(FC, FA, FB);
      expect(coefs(FC)).toEqual(multiply(a, b).map((x) => centred(x)));
    }
  });

  test('sums, differences, and X -> 1/X', () => {
    for (let i = 0; i < 10; i++) {
      const [a, b] = [random.poly(HALF_Q), random.poly(HALF_Q)];
      fromCoefs(FA, A, a);
      fromCoefs(FB, B, b);
      exports.addForm!(FC, FA, FB);
      expectForm(FC);
      expect(coefs(FC)).toEqual(add(a, b).map((x) => centred(x)));
      exports.subForm!(FC, FA, FB);
      expectForm(FC);
      expect(coefs(FC)).toEqual(a.map((x, j) => centred(x - b[j]!)));
      exports.sigmaForm!(FC, FA);
      expect(coefs(FC)).toEqual(sigma(a));
    }
  });

  test('reconstruction at the edge of its range, and past it', () => {
    const RESIDUES = m.room(768);
    const limit = ((PRODUCT / 2n) * (2n ** 20n - 194n)) / 2n ** 20n; // 2^-12.4 = 194 / 2^20
    const reconstruct = (integers: bigint[], shift: bigint): Poly => {
      for (const [i, p] of PRIMES.entries()) {
        const inverseValue = BigInt(plan.cofactorInverse(i));
        const lanes = m.lanes(RESIDUES + 128 * i, 64);
        for (const [j, x] of integers.entries()) {
          // every representative that the bound allows
          let a = Number(mod(x * inverseValue, BigInt(p))) - (shift === 0n ? 0 : p);
          if (shift === 2n) a = a < -p / 2 ? a + p : a;
          if (Math.abs(a) > plan.residueBound(i)) a += a > 0 ? -p : p;
          lanes[j] = a;
        }
      }
      exports.reconstruct!(C, RESIDUES);
      return m.readCoefs(C);
    };
    for (const shift of [0n, 1n, 2n]) {
      for (let round = 0; round < 8; round++) {
        const integers = Array.from({ length: 64 }, (_, j) =>
          j % 4 === 0
            ? limit - BigInt(j)
            : j % 4 === 1
              ? BigInt(j) - limit
              : random.between(-limit, limit),
        );
        expect(reconstruct(integers, shift)).toEqual(integers.map((x) => centred(x)));
      }
      // around multiples and halves of q
      const edges = [0n, 1n, -1n, HALF_Q, -HALF_Q, HALF_Q + 1n, -HALF_Q - 1n, Q, -Q, Q - 1n];
      const integers = Array.from(
        { length: 64 },
        (_, j) => edges[j % 10]! + Q * BigInt(j % 7) * 2n ** 30n,
      );
      expect(reconstruct(integers, shift)).toEqual(integers.map((x) => centred(x)));
    }
    // Half of P away the answer is another one: the bound is not idle.
    const past = new Array<bigint>(64).fill(PRODUCT / 2n + 2n ** 70n);
    expect(reconstruct(past, 0n)).not.toEqual(past.map((x) => centred(x)));
  });

  test('scalars mod q, in pairs, up to the ends of 64 bits', () => {
    const canonical = exports.canonicalQ as unknown as (x: bigint) => bigint;
    const near = [0n, HALF_Q, Q, 2n * Q, 2n ** 44n, 2n ** 45n, Q * 2n ** 18n, 2n ** 63n - 4n]
      .flatMap((x) => [x, -x])
      .flatMap((x) => Array.from({ length: 7 }, (_, i) => x + BigInt(i - 3)));
    const any = Array.from({ length: 2000 }, () => random.between(-(2n ** 63n), 2n ** 63n - 1n));
    // whole folds away from the ends of the range that is centred
    const folds = Array.from({ length: 200 }, () => {
      const high = random.between(-(2n ** 19n), 2n ** 19n - 1n);
      return high * 2n ** 44n + random.between(0n, 1n) * (2n ** 44n - 1n);
    });
    const values = [...near, ...any, ...folds, -(2n ** 63n), 2n ** 63n - 1n];
    const AT = m.room(8 * values.length);
    const view = new BigInt64Array(m.buffer, AT, values.length);
    view.set(values);
    expect(values.length % 2).toBe(0);
    exports.centreMany!(AT, values.length);
    expect([...view]).toEqual(values.map((x) => centred(x)));
    for (const x of values) expect(canonical(centred(x))).toBe(mod(x, Q));
  });
});
