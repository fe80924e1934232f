/** More cheating provers against the relation (level 0), of the kinds of relation.test.ts. */
import { test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import { expectStopped, monomial, type Poly, scaled, witnessOf } from './attack.ts';
import { attack, LONG, tooLong } from './relation.ts';
import { NARROW_0, PAIR, SHORT } from './rows.ts';

for (const [name, row, place] of [
  ['the places of an item that is not there', PAIR, 17],
  ['the padding behind the places of such an item', PAIR, 34],
] as const) {
  attack(`norm β² + 1: ${name} make up for it`, () => {
    const { item, S } = tooLong(1n);
    let alpha: Poly = [];
    const faults: Faults = {
      witness: () => witnessOf(S, 0n),
      rows: (rows, { level }) =>
        level > 0
          ? rows
          : rows.map((polys, a) => (a === 0 ? polys.with(place, monomial(1n)) : polys)),
      alpha: (list) => {
        alpha = list[0]!;
        return list;
      },
      rowsY: ([polys]) => [polys!.with(place, scaled(alpha, -1n))],
    };
    return { row, items: [item], faults, off: ['padding'], omit: ['padding'] };
  });
}

attack('an honest witness beyond the bound of the projection', () => {
  const items = [signedItem('falcon512', 1)];
  return { row: NARROW_0, items, faults: {}, off: ['projectionNorm'] };
});

test('w_j that is off by one', LONG, () => {
  const faults: Faults = { w: (w) => w.with(9, w[9]! + 1n) };
  const items = [signedItem('falcon512', 1)];
  expectStopped({ row: SHORT, items, faults, off: ['F'], omit: ['F'] });
});

for (const [name, row, place] of [
  ['padding of the W row', SHORT, 9],
  ['W of an item that is not there', PAIR, 3],
] as const) {
  attack(name, () => {
    const items = [signedItem('falcon512', 1)];
    const rows: Faults['rows'] = (list, { level }) =>
      level > 0
        ? list
        : list.map((polys, a) => (a === 1 ? polys.with(place, monomial(-3n, 5)) : polys));
    return { row, items, faults: { rows }, off: ['padding'], omit: ['padding'] };
  });
}
