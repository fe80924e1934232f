import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BatchItem, createFalcon } from '../../src/falcon/index.ts';
import { FALCON_512, FALCON_1024 } from '../../src/falcon/params.ts';
import { machine } from '../../src/falcon/wasm.ts';
import { BOTH_MODULES } from '../support/assembly.ts';
import { testRandom } from '../support/random.ts';

const IN_SIZE = machine('plain').input.length;
/**
 * Around a block of the hash (136 - 40), the limit of a batch's inline messages, and the module's
 * chunk.
 */
const LENGTHS = [
  ...[0, 1, 95, 96, 97, 231, 232, 4095, 4096, 4097],
  ...[IN_SIZE - 1, IN_SIZE, IN_SIZE + 1, 2 * IN_SIZE - 1, 2 * IN_SIZE, 2 * IN_SIZE + 1, 100_000],
];

describe.each(BOTH_MODULES)('long messages, %s module', (module) => {
  describe.each([FALCON_512, FALCON_1024])('$name', (params) => {
    const falcon = createFalcon(params.name, { module });
    const random = testRandom(`chunks ${params.name}`);
    const { publicKey, secretKey } = falcon.keygen(random.bytes(48));
    const key = falcon.preparePublicKey(publicKey);
    const expanded = falcon.expandSecretKey(secretKey);

    test('signed and verified at every length around a border, and tampering at either end is seen', () => {
      const items: BatchItem[] = [];
      for (const length of LENGTHS) {
        const message = random.bytes(length);
        const signature = falcon.sign(message, length % 2 ? secretKey : expanded);
        expect(falcon.verify(signature, message, publicKey)).toBe(true);
        expect(falcon.verify(signature, message, key)).toBe(true);
        items.push({ signature, message, publicKey: length % 3 ? publicKey : key });
        if (length === 0) continue;
        for (const at of [0, length - 1, Math.min(length - 1, IN_SIZE)]) {
          message[at]! ^= 0x80;
          expect(falcon.verify(signature, message, publicKey)).toBe(false);
          expect(falcon.verify(signature, message, key)).toBe(false);
          message[at]! ^= 0x80;
        }
        expect(falcon.verify(signature, message.subarray(1), publicKey)).toBe(false);
        expect(falcon.verify(signature, message.subarray(0, length - 1), publicKey)).toBe(false);
      }
      expect(falcon.verifyBatch(items)).toEqual([]);
      const shifted = items.map((item, i) => ({
        ...item,
        message: items[(i + 1) % items.length]!.message,
      }));
      expect(falcon.verifyBatch(shifted).map(({ index }) => index)).toEqual([...items.keys()]);
    });

    test('a message signed with given randomness gives the same signature however the key is held', () => {
      for (const length of [100, IN_SIZE, IN_SIZE + 1, 3 * IN_SIZE + 5]) {
        const message = random.bytes(length);
        const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
        const signature = falcon.sign(message, secretKey, { testSeed });
        expect(falcon.sign(message, expanded, { testSeed })).toEqual(signature);
        // a view into a larger buffer is the same message
        const larger = new Uint8Array(length + 7);
        larger.set(message, 3);
        expect(falcon.sign(larger.subarray(3, 3 + length), secretKey, { testSeed })).toEqual(
          signature,
        );
      }
    });

    test('absorbed in any pieces, the verdict is that of one piece', () => {
      const { exports, memory } = machine(module);
      const [IN, PK, SIG] = [exports.IN.value, exports.PK.value, exports.SIG.value];
      fc.assert(
        fc.property(
          fc.uint8Array({ maxLength: 3000 }),
          fc.array(fc.nat(400), { maxLength: 20 }),
          (message, cuts) => {
            const signature = falcon.sign(message, expanded);
            memory.set(publicKey, PK);
            memory.set(signature, SIG);
            exports.hashInit();
            exports.hashUpdate(SIG + 1, 40);
            let from = 0;
            for (const cut of [...cuts, message.length]) {
              const piece = message.subarray(from, from + cut);
              memory.set(piece, IN);
              exports.hashUpdate(IN, piece.length);
              from += piece.length;
            }
            expect(exports.verify(params.logn, signature.length, -1, 0)).toBe(0);
          },
        ),
        { numRuns: 60 },
      );
    });
  });
});
