/**
 * Cheating provers against the relation (level 0): each sends a proof of a false statement or of
 * a witness that is none. The verifier refuses it, and accepts it without the one check that is
 * there to stop it.
 * Those of other kinds are in relation.long.test.ts.
 */
import { expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import {
  type Attack,
  expectStopped,
  minus,
  type Poly,
  plus,
  stranger,
  witnessOf,
} from './attack.ts';
import { attack, LONG, tooLong, wrapped } from './relation.ts';
import { SHORT } from './rows.ts';

attack('norm β² + 1: w has the constant coefficient 1', () => {
  const { item, S } = tooLong(1n);
  const witness = () => witnessOf(S, 1n);
  return { row: SHORT, items: [item], faults: { witness }, off: ['L'], omit: ['L'] };
});

attack('norm β² + 1: Y makes up for it where S is 1', () => {
  const { item, S } = tooLong(1n);
  let alpha: Poly = [];
  const faults: Faults = {
    witness: () => witnessOf(S, 0n),
    alpha: (list) => {
      alpha = list[0]!;
      return list;
    },
    // S_8 = 1, so N1 loses α
    Y: ([y]) => [y!.map((poly, t) => (t === 8 ? poly.map((x, j) => x - alpha[j]!) : poly))],
  };
  return { row: SHORT, items: [item], faults, off: ['K'], omit: ['K'] };
});

attack('norm β² + 1: two parts of Y make up for it, against each other', () => {
  const { item, S } = tooLong(1n);
  let alpha: Poly = [];
  const faults: Faults = {
    witness: () => witnessOf(S, 0n),
    alpha: (list) => {
      alpha = list[0]!;
      return list;
    },
    // S_8 = 1 and S_9 = 0, so N1 loses α; the parts of Y have the sum they should have
    Y: ([y]) => [y!.with(8, minus(y![8]!, alpha)).with(9, plus(y![9]!, alpha))],
  };
  return { row: SHORT, items: [item], faults, off: ['tau'], omit: ['tau'] };
});

attack(
  'norm β² + q: only the norm of the projection sees it',
  () => {
    const { item, S } = wrapped();
    const witness = () => witnessOf(S, 0n);
    return { row: SHORT, items: [item], faults: { witness }, off: ['projectionNorm'] };
  },
  /^projectionNorm: level 0/,
);

attack('no signature at all: s1 = s2 = 0 under the key of a stranger', () => {
  const { item } = stranger([]);
  return { row: SHORT, items: [item], faults: {}, off: ['F'], omit: ['F'] };
});

test('w_j that wraps around q is refused by its range', LONG, () => {
  const faults: Faults = { w: (w) => w.with(4, 2n ** 31n - 1n) };
  const items = [signedItem('falcon512', 1)];
  // Without the range it still does not satisfy (F): the wrap needs luck in all ten functionals.
  const both: Attack = { row: SHORT, items, faults, off: ['functionalRange', 'F'], omit: ['F'] };
  expect(expectStopped(both)).toBe('functionalRange: w 4');
});
