import { describe, expect, test } from 'vitest';
import { forwardBounds, Q } from '../../scripts/generate/nttPlan.ts';
import { BOTH_MODULES, compileEntry } from '../support/assembly.ts';
import { testRandom } from '../support/random.ts';

const mod = (x: number) => ((x % Q) + Q) % Q;
const random = testRandom('ntt');
const coefficients = (n: number, bound: number) => {
  const bytes = random.bytes(4 * n);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return Int16Array.from(
    { length: n },
    (_, i) => (view.getUint32(4 * i, true) % (2 * bound + 1)) - bound,
  );
};

/** a * b in Z_q[X]/(X^n + 1), by the definition. */
function schoolbook(a: Int16Array, b: Int16Array): number[] {
  const n = a.length;
  const c = new Array<number>(n).fill(0);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const product = a[i]! * b[j]!;
      if (i + j < n) c[i + j]! += product;
      else c[i + j - n]! -= product;
    }
  }
  return c.map(mod);
}

/** Where a polynomial has -13219, one bit each, lowest first; 13219 elsewhere. */
const fromSigns = (hex: string): Int16Array =>
  Int16Array.from({ length: 4 * hex.length }, (_, i) =>
    (Number.parseInt(hex[i >> 2]!, 16) >> (i & 3)) & 1 ? -13219 : 13219,
  );

/**
 * Found by climbing. Behind the passes over halves, coefficients 403 of both add up to 33321, and
 * one of them has to be reduced before.
 */
const UNREDUCED = fromSigns(
  [
    '6645460153ec1a410095b63d6bbb60310c570f960dfcfab24fb398b17503f2b7',
    '34c870511f7f4e173b6851beb18e5884900cd14bd54c3ffd8a38e33b4b9381ed',
    '7ad6af7f42fcff85f656a8e234a43b8c652080d16238c40d0ab1be4a441ae938',
    'ce63245eeef63db3202f0da684f9b5b7fa1c5c9dd0771a824afaaeb48462a1e9',
  ].join(''),
);

describe.each(BOTH_MODULES)('number-theoretic transform, %s module', async (module) => {
  const { exports, at } = await compileEntry('ntt', module);
  const [A, B, PREPARED] = ['A', 'B', 'PREPARED'].map(at) as [number, number, number];
  const poly = (region: number, n: number) => new Int16Array(exports.memory.buffer, region, n);

  test('the last level of 1024 adds what would not fit unreduced', () => {
    poly(A, 1024).set(UNREDUCED);
    exports.intt!(A, 10);
    exports.centrePoly!(A, 10);
    exports.ntt!(A, 10);
    exports.canonicalPoly!(A, 10);
    expect([...poly(A, 1024)]).toEqual([...UNREDUCED].map(mod));
  });

  describe.each([9, 10])('logn %i', (logn) => {
    const n = 1 << logn;

    test('products are those of the definition, prepared or not', () => {
      for (const bound of [1, 127, 2047, 6144]) {
        const a = coefficients(n, bound);
        const b = coefficients(n, 6144);
        const c = schoolbook(a, b);
        for (const prepared of [true, false]) {
          poly(A, n).set(a);
          poly(B, n).set(b);
          exports.ntt!(A, logn);
          exports.ntt!(B, logn);
          if (prepared) {
            exports.preparePoly!(PREPARED, B, logn);
            exports.pointwisePrepared!(A, PREPARED, logn);
          } else {
            exports.pointwise!(A, B, logn);
          }
          exports.intt!(A, logn);
          exports.canonicalPoly!(A, logn);
          expect([...poly(A, n)]).toEqual(c);
        }
      }
    });

    test('X^i transforms to values whose product over i steps wraps to -1 at X^n', () => {
      // X^(n-1) * X = -1
      poly(A, n).fill(0)[n - 1] = 1;
      poly(B, n).fill(0)[1] = 1;
      exports.ntt!(A, logn);
      exports.ntt!(B, logn);
      exports.pointwise!(A, B, logn);
      exports.intt!(A, logn);
      exports.centrePoly!(A, logn);
      expect(poly(A, n)[0]).toBe(-1);
      expect(
        poly(A, n)
          .subarray(1)
          .every((x) => x === 0),
      ).toBe(true);
    });

    test('round trip, and the bounds hold on the inputs that push them hardest', () => {
      const worst = forwardBounds(logn, 6144).at(-1)!;
      let largest = 0;
      const inputs = [
        new Int16Array(n).fill(6144),
        new Int16Array(n).fill(-6144),
        Int16Array.from({ length: n }, (_, i) => (i % 2 ? 6144 : -6144)),
        Int16Array.from({ length: n }, (_, i) => (i % 64 < 32 ? 6144 : -6144)),
        ...Array.from({ length: 200 }, () => coefficients(n, 1).map((x) => x * 6144)),
        ...Array.from({ length: 100 }, () => coefficients(n, 6144)),
      ];
      for (const input of inputs) {
        poly(A, n).set(input);
        exports.ntt!(A, logn);
        for (const x of poly(A, n)) largest = Math.max(largest, Math.abs(x));
        exports.centrePoly!(A, logn);
        exports.intt!(A, logn);
        for (const x of poly(A, n)) {
          if (Math.abs(x) > 12288) throw new Error(`intt gives ${x}`);
        }
        exports.centrePoly!(A, logn);
        expect(poly(A, n).every((x, i) => x === input[i])).toBe(true);
      }
      expect(largest).toBeGreaterThan(Q); // values do run past q
      expect(largest).toBeLessThanOrEqual(worst);
    });

    test('inverse of every value, and zero is told', () => {
      // all residues appear: n values at a time
      for (let from = 0; from < Q; from += n) {
        const values = Int16Array.from({ length: n }, (_, i) => ((from + i) % Q) - 6144);
        poly(A, n).set(values);
        poly(B, n).set(values);
        const hasZero = values.some((x) => mod(x) === 0);
        expect(exports.invertPoly!(A, logn)).toBe(hasZero ? 1 : 0);
        exports.pointwise!(A, B, logn);
        exports.canonicalPoly!(A, logn);
        const wrong = poly(A, n).findIndex((x, i) => x !== (mod(values[i]!) === 0 ? 0 : 1));
        expect(wrong).toBe(-1);
      }
    });

    test('nothing outside the polynomial is written', () => {
      const memory = new Uint8Array(exports.memory.buffer);
      poly(A, n).set(coefficients(n, 6144));
      const before = memory.slice();
      exports.ntt!(A, logn);
      exports.intt!(A, logn);
      exports.centrePoly!(A, logn);
      expect(memory.every((byte, i) => byte === before[i])).toBe(true);
    });
  });
});
