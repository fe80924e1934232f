/**
 * A status that nobody knows refuses. The module has none; it stands for a fault, or for a code
 * that is added there and forgotten here.
 */
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/falcon/batch.ts';
import { createFalcon } from '../../src/falcon/index.ts';
import { FALCON_512, reasonOf } from '../../src/falcon/params.ts';
import { decodePublicKey, decodeSignature } from '../../src/falcon/points.ts';
import { prepareKey, verifyOne } from '../../src/falcon/verify.ts';
import { bestModule, type Machine, machine } from '../../src/falcon/wasm.ts';
import { InputBytes } from '../../src/shared/arguments.ts';
import { testRandom } from '../support/random.ts';

const UNKNOWN = [-77, -11, 1, 99];
const random = testRandom('status');
const falcon = createFalcon('falcon512');
const { publicKey, secretKey } = falcon.keygen(random.bytes(48));
const message = random.bytes(50);
const signature = falcon.sign(message, secretKey);
const items = [0, 1, 2].map(() => ({ publicKey, message, signature }));

/** The module, except for some of its functions. */
function changed(functions: Partial<Machine['exports']>): Machine {
  const real = machine(bestModule());
  return Object.create(real, { exports: { value: { ...real.exports, ...functions } } }) as Machine;
}

const input = (name: string, bytes: Uint8Array): InputBytes => new InputBytes(name, bytes);
const one = (on: Machine): string | undefined =>
  verifyOne(on, FALCON_512, input('s', signature), input('m', message), input('k', publicKey));
const all = (on: Machine) => new Batch(on, FALCON_512, items).run();
const everyItem = (reason: string) => items.map((_, index) => ({ index, reason }));

test('the names of the others stay', () => {
  expect([-1, -2, -3, -4, -5, -6].map(reasonOf)).toEqual([
    ...['publicKeyHeader', 'publicKeyRange', 'signatureHeader', 'signatureLength'],
    ...['signatureEncoding', 'signatureMismatch'],
  ]);
});

test('the module as it is accepts', () => {
  expect(one(changed({}))).toBeUndefined();
  expect(all(changed({}))).toEqual([]);
});

describe.each(UNKNOWN)('status %i', (status) => {
  const reason = 'signatureMismatch';

  test('of a signature', () => {
    expect(one(changed({ verify: () => status }))).toBe(reason);
  });

  test('of a key', () => {
    const on = changed({ prepare: () => status, prepareBatchKey: () => status });
    expect(prepareKey(on, FALCON_512, new Uint8Array(publicKey))).toBe(reason);
    expect(all(on)).toEqual(everyItem(reason));
  });

  test('of items of a batch, whatever count comes with it', () => {
    for (const count of [0, -1, items.length]) {
      const on = changed({
        verifyBatch(logn, length, twoWay) {
          const real = machine(bestModule()).exports;
          real.verifyBatch(logn, length, twoWay);
          const { buffer } = real.memory;
          for (let i = 0; i < length; i++) {
            new Int32Array(buffer, real.BATCH_RECORDS.value, 6 * length)[6 * i + 5] = status;
          }
          return count;
        },
      });
      expect(all(on)).toEqual(everyItem(reason));
    }
  });
});

test.each([-77, -11, 3, 99])('decoders, status %i', (status) => {
  const real = machine(bestModule());
  const { exports } = real;
  const refusing = { decodeSignature: () => status, decodePublicKey: () => status };
  try {
    Object.assign(real, { exports: { ...exports, ...refusing } });
    expect(decodeSignature(signature)).toBe('signatureMismatch');
    expect(decodePublicKey('falcon512', publicKey)).toBe('signatureMismatch');
  } finally {
    Object.assign(real, { exports });
  }
  expect(decodeSignature(signature)).toMatchObject({ parameterSet: 'falcon512' });
});

test('an item that the module has not judged is invalid', () => {
  expect(all(changed({ verifyBatch: () => 0 }))).toEqual(everyItem('signatureMismatch'));
});
