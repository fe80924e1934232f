/** Faults of the slow prover, one at a time. */
import { expect, test } from 'vitest';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import { at, bumpAt, type Poly } from '../faults.ts';
import { judge, referenceSection } from './sections.ts';

const TAIL = 1;

const first = <T extends readonly Poly[]>(list: readonly T[]): readonly (readonly Poly[])[] => [
  bumpAt(list[0]!, 0),
  ...list.slice(1),
];

/** y_j or y*_j, and nothing else. */
const moved = (value: Projection, which: keyof Projection, j: number, by: bigint): Projection => ({
  ...value,
  [which]: value[which].with(j, value[which][j]! + by),
});

/** ε_0 is one more than it should be. */
const longer: NonNullable<Faults['witness']> = (value) => ({
  ...value,
  S: value.S.map((item) =>
    item.map((poly, t) => (t === 16 ? poly.with(63, poly[63]! + 1n) : poly)),
  ),
});

/** A longer witness, and g of S and Y as it would be of a right one. */
function madeUp(): Faults {
  let excess = 0n;
  let alpha: Poly = [];
  return {
    witness: (value, place) => {
      excess = 2n * value.S[0]![16]![63]! + 1n;
      return longer(value, place);
    },
    alpha: (list) => {
      [alpha] = list as [Poly];
      return list;
    },
    // the rows are S, W and Y
    g: at(0, (list) =>
      list.with(
        2,
        list[2]!.map((x, j) => x - excess * alpha[j]!),
      ),
    ),
  };
}

/** Faults by name, and of how many items the proof is, if it is not one. */
export const faults: readonly (readonly [string, Faults, count?: number])[] = [
  ['a norm that is too large, and g that makes up for it', madeUp()],
  ['a norm that is one too large', { witness: longer }],
  [
    'the places of an item that is not there',
    { rows: at(0, (list) => [bumpAt(list[0]!, 3 * 17), ...list.slice(1)]) },
    3,
  ],
  [
    's1 and s2 that are no signature',
    { witness: (value) => ({ ...value, S: value.S.map((item) => bumpAt(item, 9)) }) },
  ],
  ['a second copy under another alpha', { alpha: (list) => bumpAt(list, 0) }],
  ['padding that is not zero', { rows: at(0, (list) => [list[0]!, bumpAt(list[1]!, 5)]) }],
  ['a second copy that is not one', { rowsY: at(0, (list) => [bumpAt(list[0]!, 4)]) }],
  ['level 0: t', { t: at(0, first) }],
  ['level 0: g', { g: at(0, (list) => bumpAt(list, 3)) }],
  ['level 0: h', { h: at(0, (list) => bumpAt(list, 1)) }],
  ['level 0: a lift', { lifts: at(0, (list) => bumpAt(list, 1)) }],
  ['a projection', { y: at(0, (value) => moved(value, 'y', 7, 1n)) }],
  ['its partner', { y: at(0, (value) => moved(value, 'star', 7, 1n)) }],
  [
    'projections and sums that agree',
    // U and V by 1 each: (U + V)/2 by 1, (V - U)/2 by 0
    {
      y: at(0, ({ y, star }) => ({
        y: y.map((x) => x + 1n),
        star: star.with(136, star[136]! + 1n),
      })),
    },
  ],
  ['the sum of the lower halves', { y: at(0, (value) => moved(value, 'y', 136, 2n)) }],
  ['the sum of the upper halves', { y: at(0, (value) => moved(value, 'star', 136, 2n)) }],
  ['its parity', { y: at(0, (value) => moved(value, 'y', 136, -1n)) }],
  ['a functional', { w: (list) => list.with(2, list[2]! + 1n) }],
  ['tail: t', { t: at(TAIL, first) }],
  ['tail: g of two rows', { g: at(TAIL, (list) => bumpAt(list, 1)) }],
  ['tail: h of two rows', { h: at(TAIL, (list) => bumpAt(list, 1)) }],
  ['tail: a lift', { lifts: at(TAIL, (list) => bumpAt(list, 1)) }],
  ['tail: a projection', { y: at(TAIL, (value) => moved(value, 'y', 7, -1n)) }],
  ['tail: its partner', { y: at(TAIL, (value) => moved(value, 'star', 7, -1n)) }],
  ['tail: the sum of the lower halves', { y: at(TAIL, (value) => moved(value, 'y', 136, -2n)) }],
  ['tail: the parity of the other', { y: at(TAIL, (value) => moved(value, 'star', 136, 1n)) }],
  ['tail: z', { z: at(TAIL, (value) => ({ ...value, z: bumpAt(value.z, 2) })) }],
  [
    'tail: e, far off',
    {
      z: at(TAIL, ({ z, e }) => ({ z, e: e.with(2, e[2]!.with(3, e[2]![3]! + 1000n)) })),
    },
  ],
  ['tail: e', { z: at(TAIL, (value) => ({ ...value, e: bumpAt(value.e, 2) })) }],
];

/**
 * One of each kind that ../adversary/relation.test.ts has not: padding, a commitment, the answer. A
 * witness, a projection and a functional are there.
 */
export const KINDS: readonly string[] = ['padding that is not zero', 'level 0: g', 'tail: z'];

/** Tests that both builds of the fast verifier refuse the proofs of these cheating provers. */
export function refused(tried: typeof faults): void {
  for (const [name, fault, count = 1] of tried) {
    test(name, { timeout: 600_000 }, () => {
      const { section } = referenceSection('falcon512', count, undefined, fault);
      for (const module of ['plain', 'relaxed'] as const) {
        expect(judge(section, { module })).toBeUndefined();
      }
    });
  }
}
