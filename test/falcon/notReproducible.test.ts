/** A host that computes otherwise signs as ever, but nothing that has to be reproducible. */
import { afterEach, describe, expect, test } from 'vitest';
import { EDITS } from '../../src/falcon/falcon.relaxed.wasm.gen.ts';
import { MODULE } from '../../src/falcon/falcon.wasm.gen.ts';
import { falcon512, falcon1024, useFalconModule } from '../../src/falcon/index.ts';
import { machine } from '../../src/falcon/wasm.ts';
import { moduleBytes } from '../../src/shared/moduleEdits.ts';
import { asciiOf } from '../support/algorand.ts';

const message = asciiOf('a message');
const refusal = expect.objectContaining({ code: 'NOT_REPRODUCIBLE', retriable: false });

const asShipped = () => new WebAssembly.Module(moduleBytes(MODULE, EDITS));
afterEach(() => useFalconModule(asShipped()));

/** The module with one byte changed: the last one of `found`, which occurs once. */
function changed(found: Uint8Array): WebAssembly.Module {
  const bytes = Buffer.from(moduleBytes(MODULE, EDITS));
  const at = bytes.indexOf(found);
  expect(at).toBeGreaterThan(0);
  expect(bytes.indexOf(found, at + 1)).toBe(-1);
  bytes[at + found.length - 1]! ^= 1;
  return new WebAssembly.Module(Uint8Array.from(bytes));
}

describe.each([
  // of "expand 32-byte k": the generator gives other numbers, so the sampler other signatures
  ['a constant of ChaCha20', Uint8Array.of(0x6e, 0x64, 0x20, 0x33)],
  ['the label of derived coins', asciiOf('falconry derived coins v1')],
  ['the label of derived salts', asciiOf('falconry salt v1')],
  ['the label of the constant salt', asciiOf('FALCON_DET')],
] as const)('%s is another one', (_, found) => {
  test.each([falcon512, falcon1024])('$name', (falcon) => {
    useFalconModule(changed(found));
    const { publicKey, secretKey } = falcon.keygen();
    using expanded = falcon.expandSecretKey(secretKey);
    const signature = falcon.sign(message, secretKey);
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
    for (const key of [secretKey, expanded, secretKey]) {
      expect(() => falcon.det.sign(message, key)).toThrow(refusal);
      expect(() => falcon.sign(message, key, { salt: 'derived' })).toThrow(refusal);
      expect(() => falcon.attached.seal(message, key, { salt: 'derived' })).toThrow(refusal);
    }
    expect(falcon.verify(falcon.sign(message, expanded), message, publicKey)).toBe(true);
  });
});

test('the answers are given once for each instance of the module, and each parameter set', () => {
  useFalconModule(asShipped());
  const { secretKey } = falcon512.keygen();
  const { exports, reproduces } = machine('relaxed');
  expect([...reproduces]).toEqual([]);
  // A key that is none is refused before.
  expect(() => falcon512.det.sign(message, secretKey.subarray(1))).toThrow(RangeError);
  expect([...reproduces]).toEqual([]);
  falcon512.det.sign(message, secretKey);
  expect([...reproduces]).toEqual([9]);
  falcon1024.sign(message, falcon1024.keygen().secretKey, { salt: 'derived' });
  expect([...reproduces]).toEqual([9, 10]);
  falcon512.sign(message, secretKey, { salt: 'derived' });
  expect(machine('relaxed').exports).toBe(exports);
});
