/**
 * No branch, select or address of a secret call depends on a secret, but for the places listed in
 * places.ts.
 */
import { expect, test } from 'vitest';
import { EDITS } from '../../src/falcon/falcon.relaxed.wasm.gen.ts';
import { MODULE } from '../../src/falcon/falcon.wasm.gen.ts';
import { moduleBytes } from '../../src/shared/moduleEdits.ts';
import { ON_INTEGERS } from './places.ts';
import { HOOKS, traceSuite } from './suite.ts';
import { tracer } from './tracer.ts';
import { sectionsOf } from './wasmCode.ts';

const product = tracer('falcon.relaxed', HOOKS);
traceSuite(() => product, 24);
traceSuite(() => tracer('falcon.integer', HOOKS), 4, ON_INTEGERS);

test('what is traced is the product’s code', async () => {
  const { code } = await product;
  /** All but names and the like. */
  const essence = (module: Uint8Array) =>
    sectionsOf(module)
      .filter(({ id }) => id !== 0)
      .map(({ id, bytes }) => ({ id, bytes: Buffer.from(bytes).toString('base64') }));
  expect(essence(code)).toEqual(essence(Buffer.from(moduleBytes(MODULE, EDITS))));
});
