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

/** One value more of a projection; number 136 is U or V. */
const more =
  (name: keyof Projection, index: number, by: bigint) =>
  (sent: Projection): Projection => ({
    ...sent,
    [name]: sent[name].with(index, sent[name][index]! + by),
  });

/** Half of U more in every row: all x are what they were. */
const agreeing = ({ y, star }: Projection): Projection => ({
  y: y.map((value, j) => value + (j < 136 ? 1n : 2n)),
  star: star.map((value, j) => value - (j < 136 ? 1n : 0n)),
});

export const faults: readonly (readonly [string, Faults])[] = [
  [
    'a norm that is one too large',
    {
      witness: (value) => ({
        ...value,
        S: value.S.map((item) =>
          item.map((poly, t) => (t === 16 ? poly.with(63, poly[63]! + 1n) : poly)),
        ),
      }),
    },
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
  ['a projection', { y: at(0, more('y', 7, 1n)) }],
  ['a shifted projection', { y: at(0, more('star', 135, 1n)) }],
  ['a projection and a sum that agree', { y: at(0, agreeing) }],
  ['the sum of the lower halves', { y: at(0, more('y', 136, 2n)) }],
  ['its parity', { y: at(0, more('y', 136, -1n)) }],
  ['the sum of the upper halves', { y: at(0, more('star', 136, 2n)) }],
  ['a functional', { w: (list) => list.with(2, list[2]! + 1n) }],
  ['tail: t', { t: at(TAIL, first) }],
  ['tail: g of two rows', { g: at(TAIL, (list) => bumpAt(list, 1)) }],
  ['tail: h of two rows', { h: at(TAIL, (list) => bumpAt(list, 1)) }],
  ['tail: a lift', { lifts: at(TAIL, (list) => bumpAt(list, 1)) }],
  ['tail: a projection', { y: at(TAIL, more('y', 7, -1n)) }],
  ['tail: a shifted projection', { y: at(TAIL, more('star', 0, -1n)) }],
  ['tail: the sum of the lower halves', { y: at(TAIL, more('y', 136, -2n)) }],
  ['tail: its parity', { y: at(TAIL, more('y', 136, 1n)) }],
  ['tail: the sum of the upper halves', { y: at(TAIL, more('star', 136, -2n)) }],
  ['tail: z', { z: at(TAIL, (value) => ({ ...value, z: bumpAt(value.z, 2) })) }],
  ['tail: e', { z: at(TAIL, (value) => ({ ...value, e: bumpAt(value.e, 2) })) }],
];

/**
 * One of each kind that ../adversary/relation.test.ts has not: padding, a commitment, the answer. A
 * witness, a projection and a functional are there.
 */
export const KINDS: readonly string[] = ['padding that is not zero', 'level 0: g', 'tail: z'];

/** Tests that both builds of the fast verifier refuse the proofs of these cheating provers. */
export function refused(tried: typeof faults): void {
  test.each(tried)('%s', { timeout: 600_000 }, (_, fault) => {
    const { section } = referenceSection('falcon512', 1, undefined, fault);
    for (const module of ['plain', 'relaxed'] as const) {
      expect(judge(section, { module })).toBeUndefined();
    }
  });
}
