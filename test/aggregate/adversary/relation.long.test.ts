/** More cheating provers against the relation (level 0), of the kinds of relation.test.ts. */
import { expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import {
  type Attack,
  BETA_SQ,
  centredPoint,
  craft,
  expectStopped,
  minus,
  monomial,
  normSq,
  type Poly,
  plus,
  s1OfNorm,
  scaled,
  stranger,
  witnessOf,
  zero,
  zeros,
} from './attack.ts';
import { attack, LONG, tooLong, wrapped } from './relation.ts';
import { AMONG_MANY, NARROW_0, PAIR, SHORT } from './rows.ts';

/** Faults that depend on the alpha of the first item. */
function afterAlpha(faultsOf: (alpha: () => Poly) => Faults): Faults {
  let first: Poly = [];
  const alpha: Faults['alpha'] = (list) => {
    first = list[0]!;
    return list;
  };
  return { alpha, ...faultsOf(() => first) };
}

for (const [name, row, place] of [
  ['the places of an item that is not there', PAIR, 17],
  ['the padding behind the places of such an item', PAIR, 34],
] as const) {
  attack(`norm β² + 1: ${name} make up for it`, () => {
    const { item, S } = tooLong(1n);
    const faults = afterAlpha((alpha) => ({
      witness: () => witnessOf(S, 0n),
      rows: (rows, { level }) =>
        level > 0
          ? rows
          : rows.map((polys, a) => (a === 0 ? polys.with(place, monomial(1n)) : polys)),
      rowsY: ([polys]) => [polys!.with(place, scaled(alpha(), -1n))],
    }));
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

attack('norm β² + 1: w is not the polynomial of the norms', () => {
  const { item, S } = tooLong(1n);
  const witness = () => witnessOf(S, 0n);
  return { row: SHORT, items: [item], faults: { witness }, off: ['N1'], omit: ['N1'] };
});

attack('norm β² + 1: Y of two items makes up for it, against each other', () => {
  // an item that is valid, and one that has 1 where it has 0
  const s1 = s1OfNorm(BETA_SQ - 1n); // s2 = 1
  expect(s1[511]).toBe(0n);
  const valid = craft(s1.with(511, s1[7]!).with(7, 0n));
  const long = craft(s1.with(511, s1[7]!).with(7, 1n));
  expect([valid, long].map(({ S }) => normSq(S))).toEqual([BETA_SQ, BETA_SQ + 1n]);
  const [one, other] = [witnessOf(long.S, 0n), witnessOf(valid.S)];
  const faults = afterAlpha((alpha) => ({
    witness: () => ({ S: [...one.S, ...other.S], W: [...one.W, ...other.W] }),
    // S_7 of the two differ by 1, so N1 loses α_0; place 7 of Y has the sum it should have
    Y: ([y, z]) => [y!.with(7, minus(y![7]!, alpha())), z!.with(7, plus(z![7]!, alpha()))],
  }));
  return { row: PAIR, items: [long.item, valid.item], faults, off: ['eta'], omit: ['eta'] };
});

attack('norm β² + 1: the padding of an S row and of its Y row make up for it', () => {
  const { item, S } = tooLong(1n);
  const faults = afterAlpha((alpha) => ({
    witness: () => witnessOf(S, 0n),
    rows: (rows, { level }) =>
      level > 0 ? rows : rows.map((polys, a) => (a === 0 ? polys.with(17, monomial(1n)) : polys)),
    rowsY: ([polys]) => [polys!.with(17, scaled(alpha(), -1n))],
  }));
  return { row: SHORT, items: [item], faults, off: ['padding'], omit: ['padding'] };
});

attack('norm β² + q with a projection of zeros: y is not that of the witness', () => {
  const { item, S } = wrapped();
  const faults: Faults = {
    witness: () => witnessOf(S, 0n),
    y: (sent, { level }) => (level === 0 ? zeros(sent) : sent),
  };
  return { row: SHORT, items: [item], faults, off: ['J'], omit: ['J'] };
});

attack('the trivial forgery (c, 0), where the projection allows it: α = 0', () => {
  const forged = stranger([]);
  const c = centredPoint(forged);
  const part = (k: number) => Array.from({ length: 64 }, (_, t) => c[k + 8 * t]!);
  const S = Array.from({ length: 17 }, (_, t) => (t < 8 ? part(t) : zero()));
  expect(normSq(S)).toBeGreaterThan(100n * BETA_SQ);
  const faults: Faults = {
    witness: () => ({ S: [S], W: [[zero(), zero()]] }),
    alpha: (list) => list.map(zero),
  };
  return { row: AMONG_MANY, items: [forged.item], faults, off: ['alpha'] };
});

attack('norm β² + 1: Y makes up for it where S is 1', () => {
  const { item, S } = tooLong(1n);
  const faults = afterAlpha((alpha) => ({
    witness: () => witnessOf(S, 0n),
    // S_8 = 1, so N1 loses α
    Y: ([y]) => [y!.map((poly, t) => (t === 8 ? poly.map((x, j) => x - alpha()[j]!) : poly))],
  }));
  return { row: SHORT, items: [item], faults, off: ['K'], omit: ['K'] };
});

attack('norm β² + 1: two parts of Y make up for it, against each other', () => {
  const { item, S } = tooLong(1n);
  const faults = afterAlpha((alpha) => ({
    witness: () => witnessOf(S, 0n),
    // S_8 = 1 and S_9 = 0, so N1 loses α; the parts of Y have the sum they should have
    Y: ([y]) => [y!.with(8, minus(y![8]!, alpha())).with(9, plus(y![9]!, alpha()))],
  }));
  return { row: SHORT, items: [item], faults, off: ['tau'], omit: ['tau'] };
});

test('w_j that wraps around q is refused by its range', LONG, () => {
  const faults: Faults = { w: (w) => w.with(4, 2n ** 31n - 1n) };
  const items = [signedItem('falcon512', 1)];
  // Without the range it still does not satisfy (F): the wrap needs luck in all ten functionals.
  const both: Attack = { row: SHORT, items, faults, off: ['functionalRange', 'F'], omit: ['F'] };
  expect(expectStopped(both)).toBe('functionalRange: w 4');
});
