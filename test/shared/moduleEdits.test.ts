/**
 * One build of a module from the other: every difference that there can be, and the real modules.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editsBetween } from '../../scripts/moduleEdits.ts';
import { applyEdits } from '../../src/shared/moduleEdits.ts';

const built = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../build/${name}.wasm`, import.meta.url)));

test('any bytes from any others', () => {
  // Few values, so that long runs agree.
  const bytes = fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 200 });
  fc.assert(
    fc.property(bytes, bytes, (from, to) => {
      const [a, b] = [Uint8Array.from(from), Uint8Array.from(to)];
      expect(applyEdits(a, editsBetween(a, b))).toEqual(b);
    }),
    { numRuns: 300 },
  );
});

test.each(['falcon', 'labrador'])('%s: the relaxed build in a few kilobytes', (name) => {
  const edits = editsBetween(built(name), built(`${name}.relaxed`));
  expect(applyEdits(built(name), edits)).toEqual(built(`${name}.relaxed`));
  expect(edits.length).toBeLessThan(8000);
});

test('numbers of several bytes', () => {
  const from = new Uint8Array(70_000).map((_, i) => (i * 2654435761) >>> 24);
  const inserted = new Uint8Array(300).fill(7);
  const to = new Uint8Array([...from.subarray(0, 20_000), ...inserted, ...from.subarray(20_200)]);
  const edits = editsBetween(from, to);
  expect(applyEdits(from, edits)).toEqual(to);
  expect(edits.length).toBeLessThan(400);
});
