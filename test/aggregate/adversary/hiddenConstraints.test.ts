/**
 * Cheating provers against E1, E2 and E6 with hidden messages in them (docs/protocol.md, 10.1): x
 * that stands for another û, or for lifts that are none.
 *
 * Without x on their left sides E1, E2 and E6 ask that the rest is constant. That holds for no
 * short vector, be it honest or not; so what both sides lack is the whole equation, in E6 that of
 * the lifts.
 */
import { describe, expect, test } from 'vitest';
import { omegas } from '../../reference/prover/challenges.ts';
import { add, inverse, multiply, Q, reduce } from '../../reference/prover/ring.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults, FaultValues } from '../../reference/prover/trace.ts';
import { at, bumped } from '../faults.ts';
import {
  type Attack,
  expectAccepted,
  expectRefused,
  expectStopped,
  forged,
  lacking,
  minus,
  monomial,
  type Poly,
  plus,
  type Seen,
} from './attack.ts';
import {
  carried,
  HIDING,
  type Hidden,
  IN_SHORT,
  LONG,
  levelOf,
  MESSAGES,
  ofLevel,
  withDigits,
} from './hidden.ts';
import { solve } from './linear.ts';
import { BEHIND_ZERO, TWO } from './rows.ts';

const OUTER = MESSAGES.filter(({ message }) => message !== 'b');

describe('x that recomposes to û + 1 in one coefficient', () => {
  const faultsOf = (list: readonly Hidden[]): Faults => ({
    x: (value, { level }) =>
      list.some((hidden) => hidden.level === level && hidden.message === value.message)
        ? { message: value.message, x: value.x.with(0, bumped(value.x[0]!)) }
        : value,
  });
  test.each(OUTER)('$name', LONG, (hidden) => {
    const attack = { row: hidden.row, faults: faultsOf([hidden]) };
    expect(expectRefused(forged(attack))).toMatch(/^seal/);
  });
  describe.each(['E1', 'E2'] as const)('without %s', (off) => {
    test.each(HIDING)('behind $name', LONG, (hidden) => {
      const { row, level } = hidden;
      const list = ofLevel(OUTER, hidden).filter(
        ({ message }) => (message === '2') === (off === 'E2'),
      );
      if (list.length === 0) return;
      const omit = { omit: new Set([off]), omitAt: level + 1 };
      expectAccepted(forged({ row, faults: faultsOf(list) }, omit), lacking([off], level + 1));
    });
  });
});

/** û without its constant is 2^cut u': so e is smaller by 2^(cut - 1). */
describe('the constant of û left out', () => {
  const faultsOf = (list: readonly Hidden[], seen: Seen): Faults =>
    carried(list[0]!, (v, { cut, kappa1, pieces }) =>
      list.reduce((all, { level, message }) => {
        const block = seen.level(level).blocks.findIndex(({ name }) => name === `u${message}`);
        const place = pieces.outer + block * kappa1;
        const half = 1n << BigInt(cut - 1);
        return all.with(
          place,
          all[place]!.map((x) => x - half),
        );
      }, v as Poly[]),
    );
  test.each(OUTER.filter(({ row }) => row === BEHIND_ZERO))('$name', LONG, (hidden) => {
    const faults = (seen: Seen) => faultsOf([hidden], seen);
    expect(expectRefused(forged({ row: hidden.row, faults }))).toMatch(/^seal/);
  });
  const whole = HIDING.filter(({ row }) => (row === BEHIND_ZERO ? IN_SHORT : row === TWO));
  test.each(whole)('all of them, and without it behind $name', LONG, (hidden) => {
    const { row, level } = hidden;
    const all = levelOf(hidden).messages.map(({ name }) => ({ ...hidden, message: name }));
    const outer = all.filter(({ message }) => message !== 'b');
    const faults = (seen: Seen) => faultsOf(outer, seen);
    expectStopped({ row, faults, off: ['constantOfU'], at: level + 1 });
  });
});

/** y_0 is too large by one; what that adds to T of every lift. */
const wrongY = (level: number): Faults => ({
  y: at(level, ({ y, star }: Projection) => ({ y: y.with(0, y[0]! + 1n), star })),
});
function errorsOf({ level }: Hidden, lift: Uint8Array): Poly[] {
  return Array.from({ length: level === 0 ? 3 : 2 }, (_, k) => {
    const [real, imaginary] = omegas(lift, level, k)[0]!;
    return monomial(real).with(32, level === 0 ? 0n : imaginary);
  });
}

describe.each(HIDING)('$name', ({ row, level, name }) => {
  const hidden: Hidden = { row, level, name, message: 'b' };

  const isTaken = row === BEHIND_ZERO ? IN_SHORT : row === TWO;

  test.skipIf(!isTaken)('lifts with the values of a wrong y, and nothing else', LONG, () => {
    const faults = (seen: Seen): Faults => ({
      ...wrongY(level),
      lifts: at(level, (lifts: FaultValues['lifts']) => {
        const errors = errorsOf(hidden, seen.seed('lift'));
        return lifts.map((b, k) => reduce(add(b, errors[k]!)));
      }),
    });
    const off = ['liftsOfHidden'] as const;
    const attack: Attack = { row, faults, off, omit: off, at: level };
    expect(expectStopped(attack)).toMatch(/^seal/);
  });

  test.skipIf(!isTaken || (row === TWO && level === 0))(
    'lifts changed by x after beta',
    LONG,
    () => {
      const faults = (seen: Seen): Faults => ({
        ...wrongY(level),
        ...carried(hidden, (v) => {
          const { lifts, liftSeed, combined } = seen.level(level);
          const errors = hiddenErrors(errorsOf(hidden, liftSeed), combined.beta);
          return withDigits(
            hidden,
            v,
            lifts.map((b, k) => plus(b, errors[k]!)),
          );
        }),
      });
      const off = ['Qb'] as const;
      const attack: Attack = { row, faults, off, omit: off, at: level + 1 };
      expect(expectStopped(attack)).toMatch(/^seal/);
    },
  );
});

/** Changes with these T whose sum with beta is zero. */
function hiddenErrors(errors: readonly Poly[], beta: readonly Poly[]): Poly[] {
  const [last, own] = [errors.length - 1, errors.length - 2];
  const unit = inverse(beta[last]!).map((x) => -x);
  const sum = errors
    .slice(0, last)
    .map((error, k) => multiply(beta[k]!, error))
    .reduce(add);
  const fixed = multiply(unit, sum);
  // two coefficients of the last but one are free, for T of the last
  const columns = [1, 2].map((i) => multiply(unit, multiply(beta[own]!, monomial(1n, i))));
  const T = (poly: Poly) => [poly[0]!, poly[32]!];
  const free = solve(columns.map(T), T(minus(errors[last]!, fixed)));
  const more = monomial(0n).with(1, free[0]!).with(2, free[1]!);
  const changed = errors.with(own, plus(errors[own]!, more));
  const rest = reduce(add(fixed, multiply(unit, multiply(beta[own]!, more))));
  expect(T(minus(rest, errors[last]!)).map((x) => x % Q)).toEqual([0n, 0n]);
  return changed.with(last, rest);
}
