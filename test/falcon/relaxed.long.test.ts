/** No relaxed instruction meets an input on which engines may differ. */
import { describe, expect, test } from 'vitest';
import { createFalcon, useFalconModule } from '../../src/falcon/index.ts';
import type { SignatureFormat } from '../../src/falcon/types.ts';
import type { TestExports } from '../support/assembly.ts';
import { testRandom } from '../support/random.ts';
import { compileTraps } from '../support/relaxedTraps.ts';

const TARGET = 'falcon.relaxed';
const instanceOf = (module: WebAssembly.Module) => {
  const exports = new WebAssembly.Instance(module).exports as unknown as TestExports;
  const at = (region: string) => (exports[region] as unknown as WebAssembly.Global).value as number;
  return { exports, at };
};

test('keys, signatures of every form and kind, verification: one by one, and in pairs', async () => {
  useFalconModule(await compileTraps('assembly/falcon/index.ts', TARGET));
  const random = testRandom('relaxed');
  for (const name of ['falcon512', 'falcon1024'] as const) {
    const falcon = createFalcon(name, { module: 'relaxed' });
    const { publicKey, secretKey } = falcon.keygen(random.bytes(48));
    const expanded = falcon.expandSecretKey(secretKey);
    const formats: SignatureFormat[] = ['compressed', 'padded', 'constantTime'];
    const items = Array.from({ length: 60 }, (_, i) => {
      const message = random.bytes(random.between(0, 400));
      const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
      const format = formats[i % 3]!;
      const signature = falcon.sign(message, i < 6 ? secretKey : expanded, { format, testSeed });
      return { message, publicKey, signature };
    });
    for (const { message } of items.slice(0, 12)) {
      for (const key of [secretKey, expanded]) {
        const det = falcon.det.sign(message, key, { format: 'constantTime' });
        expect(falcon.det.verify(det, message, publicKey)).toBe(true);
        const derived = falcon.sign(message, key, { salt: 'derived' });
        expect(falcon.verify(derived, message, publicKey)).toBe(true);
      }
    }
    for (const { message, signature } of items.slice(0, 12)) {
      expect(falcon.verify(signature, message, publicKey)).toBe(true);
    }
    expect(falcon.verifyBatch(items)).toEqual([]);
    // damaged ones decode to anything
    const damaged = items.map((item) => {
      const signature = item.signature.slice();
      signature[random.between(41, signature.length - 1)]! ^= 1 << random.below(8);
      return { ...item, signature };
    });
    expect(falcon.verifyBatch(damaged)).toHaveLength(60);
  }
});

describe('what engines may differ on traps', () => {
  test('(-2^15)^2, in any lane', async () => {
    const { exports, at } = instanceOf(await compileTraps('assembly/test/zq.ts', TARGET));
    const lanes = (region: string) => new Int16Array(exports.memory.buffer, at(region), 8);
    for (let lane = 0; lane < 8; lane++) {
      for (const [x, companion, traps] of [
        [-32768, -32768, true],
        [-32768, -32767, false],
        [-32767, -32768, false],
      ] as const) {
        lanes('A').fill(0)[lane] = x;
        lanes('C').fill(0)[lane] = companion;
        if (traps) expect(() => exports.mulmod!(16)).toThrow(WebAssembly.RuntimeError);
        else exports.mulmod!(16);
      }
    }
  });

  test('an index beyond the bytes that is not negative', async () => {
    const planted = (path: string, source: string) =>
      path === 'assembly/falcon/rejection.gen.ts' ? source.replaceAll('128', '127') : source;
    const pointOf = (module: WebAssembly.Module) => {
      const { exports, at } = instanceOf(module);
      exports.shakeInit!(at('STATE'));
      exports.shakeFlip!(at('STATE'));
      // passes over some words
      exports.squeezePoint!(at('OUT_A'), at('STATE'), 9);
    };
    const entry = 'assembly/test/keccak.ts';
    pointOf(await compileTraps(entry, TARGET));
    const module = await compileTraps(entry, TARGET, planted);
    expect(() => pointOf(module)).toThrow(WebAssembly.RuntimeError);
  });
});
