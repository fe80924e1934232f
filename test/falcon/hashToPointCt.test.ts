/** The hash to point of the constant-time form gives the points of the other one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { BOTH_MODULES, compileEntry } from '../support/assembly.ts';
import { testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';
import { decodeSignature } from '../support/reference.ts';

const COMPRESSED = 0;
const CONSTANT_TIME = 2;
const SETS = [
  { degree: 512, logn: 9, words: 748 },
  { degree: 1024, logn: 10, words: 1360 },
] as const;

describe.each(BOTH_MODULES)('%s module', async (module) => {
  const { exports, at } = await compileEntry('keccak', module);
  const view = (region: string, length: number) =>
    new Uint8Array(exports.memory.buffer, at(region), length);

  test.each(SETS)('Falcon-$degree: the same point of random messages', ({ degree, logn }) => {
    const random = testRandom(`hash ${degree}`);
    const point = (format: number, message: Uint8Array): Int16Array => {
      view('INPUT_A', message.length).set(message);
      exports.shakeInit!(at('STATE'));
      exports.shakeAbsorb!(at('STATE'), at('INPUT_A'), message.length);
      exports.shakeFlip!(at('STATE'));
      exports.squeezePointFor!(format, at('OUT_A'), at('STATE'), logn);
      return new Int16Array(exports.memory.buffer, at('OUT_A'), degree).slice();
    };
    for (let i = 0; i < 1000; i++) {
      const message = random.bytes(random.between(0, 300));
      expect(point(CONSTANT_TIME, message)).toEqual(point(COMPRESSED, message));
    }
  });

  describe.each(SETS)('Falcon-$degree: words are kept in order', ({ degree, logn, words }) => {
    /** The first kept ones by a plain loop, less 2^15. */
    const kept = (all: readonly number[]) =>
      all
        .filter((word) => word < 61445)
        .slice(0, degree)
        .map((word) => word - 32768);

    const byModule = (all: readonly number[]): number[] => {
      const data = new DataView(exports.memory.buffer, at('WORDS'), 2 * words);
      for (const [i, word] of all.entries()) data.setUint16(2 * i, word);
      // what is beyond the words belongs to others, zeros at a real call
      view('WORDS', 2720 + 528).fill(0, 2 * words);
      exports.keepWords!(at('OUT_A'), 2 * words, logn);
      const out = [...new Int16Array(exports.memory.buffer, at('OUT_A'), degree)];
      const moves = view('WORDS', 2 * (2720 + 528)).subarray(2720 + 528);
      moves.fill(0);
      return out;
    };

    test('limits, runs, and as many refused ones as there is room for', () => {
      const room = words - degree;
      const numbered = (isRefused: (i: number) => boolean) =>
        Array.from({ length: words }, (_, i) => (isRefused(i) ? 61445 + i : i));
      for (const list of [
        numbered(() => false),
        numbered((i) => i < room),
        numbered((i) => i >= degree),
        numbered((i) => i % 3 === 0 && i < 3 * room),
        numbered((i) => i % 2 === 1 && i < 2 * room),
        numbered((i) => i >= 5 && i < 5 + room),
        // in every lane
        ...Array.from({ length: 8 }, (_, lane) =>
          Array.from(
            { length: words },
            (_, i) => [61444, 61445, 0, 65535, 32768, 32767, 61444, 1][(i + lane) % 8]!,
          ),
        ),
      ]) {
        const want = kept(list);
        expect(byModule(list).slice(0, want.length)).toEqual(want);
      }
    });

    test('any words with enough kept ones', () => {
      const word = fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 0, max: 61444 }) },
        { weight: 1, arbitrary: fc.integer({ min: 61445, max: 65535 }) },
      );
      fc.assert(
        fc.property(fc.array(word, { minLength: words, maxLength: words }), (list) => {
          const want = kept(list);
          expect(byModule(list).slice(0, want.length)).toEqual(want);
        }),
        { numRuns: 50 },
      );
    });
  });
});

test.each([
  [512, falcon512],
  [1024, falcon1024],
] as const)('Falcon-%i: a constant-time signature is one of the same point', (degree, falcon) => {
  const { publicKey, secretKey } = testKeys(degree, 0);
  const random = testRandom(`forms ${degree}`);
  const items = Array.from({ length: 12 }, (_, i) => {
    const message = random.bytes(i * 1000); // beyond 8192 bytes it is streamed
    const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
    const [compressed, constantTime] = (['compressed', 'constantTime'] as const).map((format) =>
      falcon.sign(message, secretKey, { format, testSeed }),
    );
    return { message, publicKey, signature: constantTime!, compressed: compressed! };
  });
  for (const { message, signature, compressed } of items) {
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
    expect(decodeSignature(signature)).toEqual(decodeSignature(compressed));
  }
  // in pairs with the other forms, in either place, and with themselves
  for (const mixed of [
    items,
    items.map((item, i) => (i % 2 ? item : { ...item, signature: item.compressed })),
    items.map((item, i) => (i % 2 ? { ...item, signature: item.compressed } : item)),
  ]) {
    expect(falcon.verifyBatch(mixed)).toEqual([]);
    const damaged = mixed.map((item, i) =>
      i === 5 ? { ...item, message: random.bytes(5) } : item,
    );
    expect(falcon.verifyBatch(damaged).map(({ index }) => index)).toEqual([5]);
  }
});
