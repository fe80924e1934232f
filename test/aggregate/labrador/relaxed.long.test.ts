/** No relaxed instruction of the proof's module meets an input on which engines may differ. */
import { expect, test } from 'vitest';
import { aggregate, useLabradorModule, verifyAggregate } from '../../../src/aggregate/index.ts';
import { signedItems } from '../../reference/items.ts';
import { compileTraps } from '../../support/relaxedTraps.ts';

test('proofs of both sets: the same bytes, made and verified', async () => {
  const items = [...signedItems('falcon512', 5), ...signedItems('falcon1024', 4)];
  const proof = await aggregate(items, { format: 'proof' });
  let relaxed = 0;
  const module = await compileTraps('assembly/labrador/index.ts', 'labrador.relaxed', (_, text) => {
    relaxed += text.split('.relaxed_').length - 1;
    return text;
  });
  expect(relaxed).toBeGreaterThan(0);
  useLabradorModule(module);
  expect(await aggregate(items, { format: 'proof' })).toEqual(proof);
  expect(verifyAggregate(proof, items)).toBe(true);
  proof[proof.length - 1000]! ^= 1;
  expect(verifyAggregate(proof, items)).toBe(false);
});
