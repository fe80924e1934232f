import { describe, expect, test } from 'vitest';
import { createFalcon } from '../../src/falcon/index.ts';
import { FALCON_512, FALCON_1024 } from '../../src/falcon/params.ts';
import { BOTH_MODULES } from '../support/assembly.ts';
import { craft, drawInvertible, fillSquares } from '../support/crafted.ts';
import { testRandom } from '../support/random.ts';
import { encodeSignature, normSquared } from '../support/reference.ts';

const message = new TextEncoder().encode('to the unit');

describe.each(BOTH_MODULES)('the norm test, %s module', (module) => {
  describe.each([FALCON_512, FALCON_1024])('$name', (params) => {
    const { name, logn, betaSq } = params;
    const n = 1 << logn;
    const falcon = createFalcon(name, { module });
    const random = testRandom(`verify ${name}`);

    /** All three ways to ask must agree. */
    function verdict(item: ReturnType<typeof craft>): boolean {
      const { signature, publicKey } = item;
      const single = falcon.verify(signature, item.message, publicKey);
      const prepared = falcon.preparePublicKey(publicKey);
      expect(falcon.verify(signature, item.message, prepared)).toBe(single);
      const other = falcon.verifyBatch([item, { ...item, publicKey: prepared }, item]);
      const reason = 'signatureMismatch';
      expect(other).toEqual(single ? [] : [0, 1, 2].map((index) => ({ index, reason })));
      return single;
    }

    const ternary = () =>
      drawInvertible(() => Array.from({ length: n }, () => random.below(3) - 1));

    test('exactly beta^2 is accepted, one more is not, with the weight in s2, in every form', () => {
      for (const form of ['compressed', 'padded', 'constantTime'] as const) {
        for (const excess of [0, 1]) {
          const s2 = new Array<number>(n).fill(0);
          // at most 2047 each; the squares at the front, ones behind keep s2 invertible
          fillSquares(s2, s2.keys(), betaSq - 1000, 2047);
          const s1 = new Array<number>(n).fill(0);
          fillSquares(s1, s1.keys(), 1000 + excess, 6144);
          expect(verdict(craft(form, s1, s2, message))).toBe(excess === 0);
        }
      }
    });

    test('the largest coefficients there are: refused, though sums pass 2^31', () => {
      for (const magnitude of [2047, 2046, 1024]) {
        const s2 = drawInvertible(() =>
          Array.from({ length: n }, () => (random.below(2) ? magnitude : -magnitude)),
        );
        const zero = new Array<number>(n).fill(0);
        const full = new Array<number>(n).fill(6144);
        expect(verdict(craft('constantTime', zero, s2, message))).toBe(false);
        expect(verdict(craft('constantTime', full, s2, message))).toBe(false);
        expect(
          verdict(
            craft(
              'constantTime',
              full.map((x) => -x),
              s2,
              message,
            ),
          ),
        ).toBe(false);
      }
    });

    test('norms that are short mod 2^32, in all or in each of four running sums', () => {
      const s2 = ternary();
      const rest = normSquared(s2);
      for (const short of [rest, rest + 1000, betaSq]) {
        const s1 = new Array<number>(n).fill(0);
        fillSquares(s1, s1.keys(), 2 ** 32 + short - rest, 6144);
        expect(normSquared(s1, s2) % 2 ** 32).toBe(short);
        expect(verdict(craft('compressed', s1, s2, message))).toBe(false);
      }
      // Lane k of the module's sums adds up coefficients 8j + 2k and 8j + 2k + 1.
      const s1 = new Array<number>(n).fill(0);
      for (let lane = 0; lane < 4; lane++) {
        const positions = [...s1.keys()].filter((i) => (i & 7) >> 1 === lane);
        const own = normSquared(positions.map((i) => s2[i]!));
        fillSquares(s1, positions, 2 ** 32 - own, 6144);
      }
      expect(normSquared(s1, s2)).toBe(4 * 2 ** 32);
      expect(verdict(craft('compressed', s1, s2, message))).toBe(false);
    });

    test('a sum that passes 2^31 with the very last square', () => {
      for (let lane = 0; lane < 4; lane++) {
        const last = n - 8 + 2 * lane;
        const s2 = drawInvertible(() =>
          Array.from({ length: n }, (_, i) => (i >> 1 === last >> 1 ? 2047 : random.below(3) - 1)),
        );
        const s1 = new Array<number>(n).fill(0);
        // The other sums are 2^31 together: as signed numbers, all of them would cancel.
        const others = [2 ** 30, 2 ** 30 - 2 ** 28, 2 ** 28];
        for (let sum = 0; sum < 4; sum++) {
          const positions = [...s1.keys()].filter((i) => (i & 7) >> 1 === sum);
          const own = normSquared(positions.map((i) => s2[i]!));
          const target = sum === lane ? 2 ** 31 : others.pop()!;
          fillSquares(s1, positions, target - own, 6144);
        }
        expect(normSquared(s1, s2)).toBe(2 ** 32);
        expect(verdict(craft('constantTime', s1, s2, message))).toBe(false);
      }
    });

    test('zero: s2 = 0 is well-formed, and never short against a random point', () => {
      const zero = new Array<number>(n).fill(0);
      const item = craft('padded', zero, ternary(), message);
      const signature = encodeSignature('padded', new Uint8Array(40), zero);
      expect(verdict({ ...item, signature })).toBe(false);
    });
  });
});
