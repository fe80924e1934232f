/**
 * Cheating provers against (Q) (docs/protocol.md, 8.5): digits that p is not of, p of other digits,
 * and p that is wrong in one number. Each is refused by itself; all of a level together are
 * accepted without (Q) at the level behind.
 */
import { describe, expect, test } from 'vitest';
import { multiply, Q } from '../../reference/prover/ring.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import {
  type Attack,
  expectAccepted,
  expectRefused,
  forged,
  lacking,
  monomial,
  type Poly,
  plus,
  type Seen,
} from './attack.ts';
import {
  carried,
  HIDING,
  type Hidden,
  IN_LONG,
  LONG,
  levelOf,
  MESSAGES,
  ofLevel,
  put,
  withDigits,
} from './hidden.ts';
import { kernelOf } from './linear.ts';
import { BEHIND_ZERO, TWO } from './rows.ts';

type FaultsOf = (list: readonly Hidden[]) => Attack['faults'];

/**
 * (Q) stops what is done to any of these messages, and it alone.
 *
 * @param isAccepted where that is to be seen, by default everywhere
 */
function expectQ(
  list: readonly Hidden[],
  faultsOf: FaultsOf,
  isAccepted: (hidden: Hidden) => boolean = () => true,
): void {
  test.each(list)('$name', LONG, (hidden) => {
    const faults = faultsOf([hidden]);
    expect(expectRefused(forged({ row: hidden.row, faults }))).toMatch(/^seal/);
  });
  const levels = HIDING.filter((hidden) => ofLevel(list, hidden).length > 0);
  test.each(levels.filter(isAccepted))('without (Q) behind $name', LONG, (hidden) => {
    const [off, at] = [['Q'] as const, hidden.level + 1];
    const omit = { omit: new Set(off), omitAt: at };
    const faults = faultsOf(ofLevel(list, hidden));
    expectAccepted(forged({ row: hidden.row, faults }, omit), lacking(off, at));
  });
}

describe('digits of another û or of other lifts, under the p of the first ones', () => {
  expectQ(MESSAGES, (list) => (seen) => {
    const change = (hidden: Hidden, v: readonly Poly[]): readonly Poly[] =>
      hidden.message === 'b' ? withOtherLifts(hidden, seen, v) : withAnotherCut(hidden, seen, v);
    return carried(list[0]!, (v) => list.reduce((all, hidden) => change(hidden, all), v));
  });
});

/** One more in u', and e that makes up for it. */
function withAnotherCut(hidden: Hidden, seen: Seen, v: readonly Poly[]): Poly[] {
  const { cut, kappa1, pieces } = levelOf(hidden);
  const { blocks } = seen.level(hidden.level);
  const number = blocks.findIndex(({ name }) => name === `u${hidden.message}`);
  const place = pieces.outer + number * kappa1;
  const more = (poly: Poly, value: bigint): Poly => poly.with(5, poly[5]! + value);
  const [first, ...rest] = blocks[number]!.hat.map((poly) => poly.map((x) => x >> BigInt(cut)));
  const changed = v.with(place, more(v[place]!, 1n << BigInt(cut)));
  return withDigits(hidden, changed, [more(first!, 1n), ...rest]);
}

/** The first two lifts changed against each other, when beta is known: (T_b) and E6 hold. */
function withOtherLifts(hidden: Hidden, seen: Seen, v: readonly Poly[]): Poly[] {
  const { lifts, combined } = seen.level(hidden.level);
  const [first, second] = combined.beta as [Poly, Poly];
  // T of both changes is zero: four equations in the coefficients 0 to 4 of gamma
  const columns = [0, 1, 2, 3, 4].map((i) =>
    [first, second].flatMap((beta) => {
      const product = multiply(beta, monomial(1n, i));
      return [product[0]!, product[32]!];
    }),
  );
  const gamma = put(monomial(0n), 0, kernelOf(columns));
  const [one, other] = [multiply(second, gamma), multiply(first, gamma).map((x) => -x)];
  expect([one[0], one[32], other[0], other[32]].map((x) => x! % Q)).toEqual([0n, 0n, 0n, 0n]);
  expect(one.some((x) => x !== 0n)).toBe(true);
  const [a, b, ...rest] = lifts;
  return withDigits(hidden, v, [plus(a!, one), plus(b!, other), ...rest]);
}

describe.skipIf(!IN_LONG)('p of the message before, of this level or of the one before', () => {
  const list = MESSAGES.filter(
    ({ row, level, message }) => row === TWO && message === (level === 0 ? 'B' : '1'),
  );
  expectQ(list, (changed) => {
    let last: readonly bigint[] = [];
    const p: Faults['p'] = ({ message, p: honest }, { level }) => {
      const isIt = changed.some((one) => one.level === level && one.message === message);
      const used = isIt ? last : honest;
      last = honest;
      return { message, p: used };
    };
    return { p };
  });
});

describe('p that is wrong in one number', () => {
  // every row, and j below 8 and from 8 on, come up
  const numberOf = (hidden: Hidden) => (23 * MESSAGES.indexOf(hidden) + 3) % 96;
  const faultsOf: FaultsOf = (changed) => {
    const p: Faults['p'] = ({ message, p: honest }, { level }) => {
      const hidden = changed.find((one) => one.level === level && one.message === message);
      const number = hidden === undefined ? -1 : numberOf(hidden);
      return { message, p: honest.map((x, i) => (i === number ? (x + 1n) % Q : x)) };
    };
    return { p };
  };
  // elsewhere p was wrong altogether, above, and was accepted without (Q)
  expectQ(MESSAGES, faultsOf, ({ row }) => row === BEHIND_ZERO);

  test('in all rows and both halves of a row', () => {
    const numbers = MESSAGES.map(numberOf);
    expect(new Set(numbers.map((x) => (x % 16 < 8 ? 'low' : 'high'))).size).toBe(2);
    const rows = new Set(numbers.map((x) => Math.floor(x / 16)));
    expect(rows.size).toBe(Math.min(6, MESSAGES.length));
  });
});
