/** Bit strings against their definition, as one large integer. */
import { expect, test } from 'vitest';
import { BitWriter, packResidues } from '../../../src/aggregate/proof/bits.ts';
import { claimedBitsOf, Q_BITS, Q_NUMBER } from '../../../src/aggregate/proof/constants.ts';

/** The bytes of values of some widths, by definition. */
function byDefinition(list: readonly (readonly [value: number, width: number])[]): Uint8Array {
  let sum = 0n;
  let bits = 0;
  for (const [value, width] of list) {
    sum += BigInt(value) << BigInt(bits);
    bits += width;
  }
  return Uint8Array.from({ length: Math.ceil(bits / 8) }, (_, i) =>
    Number((sum >> BigInt(8 * i)) & 255n),
  );
}

test.each([1, 2, 7, 8, 9, 15, 16, 23, 24, 25, 31, 32, 33, 44, 47, 48])('%i bits', (width) => {
  const largest = 2 ** width - 1;
  const values = [largest, 0, 1, Math.floor(largest / 3), largest, largest, 0, 0, 1];
  for (let count = 0; count <= values.length; count++) {
    const list = values.slice(0, count).map((value) => [value, width] as const);
    const writer = new BitWriter((width * count) / 8);
    for (const [value] of list) writer.write(value, width);
    expect(writer.finish()).toEqual(byDefinition(list));
  }
});

test('residues, from integers of either sign', () => {
  const values = [0, 1, -1, Q_NUMBER - 1, 1 - Q_NUMBER, 0];
  const residues = [0, 1, Q_NUMBER - 1, Q_NUMBER - 1, 1, 0];
  expect(packResidues(values)).toEqual(byDefinition(residues.map((x) => [x, Q_BITS] as const)));
});

test('errors of sections add up, and never claim more than one proof does', () => {
  expect([1, 2, 4, 5, 178].map((n) => claimedBitsOf(n))).toEqual([128, 128, 128, 127, 122]);
  expect([1, 2, 5].map((n) => claimedBitsOf(0, n))).toEqual([126, 125, 124]);
  expect([0, 5, 10].map((n) => claimedBitsOf(n, 1))).toEqual([126, 126, 125]);
});
