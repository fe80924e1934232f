/**
 * Cheating provers against (T_b) and the value D that it holds hidden lifts to (docs/protocol.md,
 * 8.5): errors of a projection, of p or of D itself that hide in coefficients 0 and 32 of a lift.
 */
import { describe, expect, test } from 'vitest';
import { liftCount } from '../../reference/prover/lift.ts';
import { Q } from '../../reference/prover/ring.ts';
import type { Constraint, Faults, FaultValues } from '../../reference/prover/trace.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { at } from '../faults.ts';
import {
  type Attack,
  expectAccepted,
  expectRefused,
  expectStopped,
  forged,
  lacking,
  zeros,
} from './attack.ts';
import { HIDING, IN_LONG, IN_SHORT, LONG } from './hidden.ts';
import { BEHIND_ZERO, CHAIN, TWO } from './rows.ts';

/** A check that both sides lack at one level stops it, and it alone. */
function stopped(attack: Pick<Attack, 'row' | 'faults'>, off: Constraint, level: number): void {
  const both = { off: [off], omit: [off], at: level } as const;
  expect(expectStopped({ ...attack, ...both })).toMatch(/^seal/);
}

const more = (x: bigint): bigint => (x + 1n) % Q;

describe.each(HIDING)('$name', ({ row, level }) => {
  const behind = level + 1;

  const isTaken = row !== BEHIND_ZERO || IN_SHORT;
  test.skipIf(!isTaken)('a projection of zeros: the lifts keep what they are', LONG, () => {
    stopped({ row, faults: { y: at(level, zeros) } }, 'Tb', behind);
  });

  const lifts = Array.from({ length: liftCount(level) }, (_, i) => i);
  const taken = lifts.filter((lift) => (lift === 1 ? IN_SHORT : IN_LONG));
  test.skipIf(row !== BEHIND_ZERO).each(taken)('coefficient 32 of lift %i', LONG, (lift) => {
    const b32: Faults['b32'] = (list) => list.with(lift, more(list[lift]!));
    stopped({ row, faults: { b32 } }, `Tb${lift + 1}` as Constraint, behind);
  });

  // an error of y is in the values of all lifts: each of them sees it by itself
  test.skipIf(row !== TWO || level !== 1).each(lifts)(
    '(T_b) of lift %i alone is left out',
    LONG,
    (lift) => {
      const off = `Tb${lift + 1}` as 'Tb1';
      const omit = { omit: new Set([off]), omitAt: behind };
      const proof = forged({ row, faults: { y: at(level, zeros) } }, omit);
      expect(verifyReferenceSection({ ...proof, ...lacking([off], behind) }).ok).toBe(false);
    },
  );
});

/** Level 1 is hidden, and so are the levels on both sides of it. */
describe.skipIf(!IN_LONG)('an error of the level before goes into hidden lifts', () => {
  const p: Faults['p'] = at(0, (value: FaultValues['p']) =>
    value.message === 'A' ? { ...value, p: value.p.with(7, more(value.p[7]!)) } : value,
  );
  const yX: Faults['yX'] = at(1, zeros);
  const b32: Faults['b32'] = at(0, (list) => list.with(2, more(list[2]!)));

  test.each([
    ['p', { p }],
    ['y of x', { yX }],
  ] as const)('%s is wrong, and (T_b) is forgotten two levels on', LONG, (_, faults) => {
    stopped({ row: TWO, faults }, 'Tb', 2);
  });

  test.each([
    ['(P_x)', 'Px', { yX }],
    ['(Q)', 'Q', { p }],
    ['(T_b)', 'Tb', { b32 }],
  ] as const)('%s is left out of F and D of the level between', LONG, (_, off, faults) => {
    const omit = { omit: new Set([off]), omitAt: 1 };
    const proof = forged({ row: CHAIN, faults }, omit);
    expect(expectRefused(proof)).toMatch(/^seal/);
    expectAccepted(proof, lacking([off], 1));
  });

  /**
   * With their left sides in F these equations would ask for zeros. No prover satisfies that, not
   * even an honest one: who forgets a right side finds out.
   */
  test('no proof is accepted by who forgets their right sides alone', LONG, () => {
    const honest = forged({ row: CHAIN, faults: {} });
    expectAccepted(honest, {});
    for (const off of ['rightOfPx', 'rightOfQ', 'rightOfTb'] as const) {
      expect(verifyReferenceSection({ ...honest, ...lacking([off], 1) }).ok).toBe(false);
    }
  });
});
