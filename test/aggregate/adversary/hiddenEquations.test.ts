/**
 * Cheating provers against the equations of hidden messages (docs/protocol.md, 8.5 and 10.1): x
 * that stands for another û or for lifts that are none, against E1, E2 and E6; wrong p, and digits
 * that p is not of, against (Q); errors that hide in coefficients 0 and 32 of a lift, against (T_b)
 * and its value D; errors i and -i in two equations that share a scalar.
 *
 * Without x on their left sides E1, E2 and E6 ask that the rest is constant. That holds for no
 * short vector, be it honest or not; so what both sides lack is the whole equation, in E6 that of
 * the lifts.
 */
import { describe, expect, test } from 'vitest';
import { omegas } from '../../reference/prover/challenges.ts';
import { liftCount } from '../../reference/prover/lift.ts';
import { add, inverse, multiply, Q, reduce } from '../../reference/prover/ring.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Constraint, Faults, FaultValues } from '../../reference/prover/trace.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { at, bumped } from '../faults.ts';
import * as attack from './attack.ts';
import {
  acceptedWithout,
  carried,
  HIDING,
  type Hidden,
  IN_LONG,
  IN_SHORT,
  LONG,
  levelOf,
  MESSAGES,
  ofLevel,
  put,
  refused,
  stopped,
  withDigits,
} from './hidden.ts';
import { kernelOf, solve } from './linear.ts';
import { BEHIND_ZERO, CHAIN, TWO } from './rows.ts';

type FaultsOf = (list: readonly Hidden[]) => attack.Attack['faults'];
const OUTER = MESSAGES.filter(({ message }) => message !== 'b');
const has = (list: readonly Hidden[], level: number, name: string) =>
  list.some((hidden) => hidden.level === level && hidden.message === name);

describe('x that recomposes to û + 1 in one coefficient', () => {
  const faultsOf = (list: readonly Hidden[]): Faults => ({
    x: (value, { level }) =>
      has(list, level, value.message)
        ? { message: value.message, x: value.x.with(0, bumped(value.x[0]!)) }
        : value,
  });
  test.each(OUTER)('$name', LONG, (hidden) => {
    refused({ row: hidden.row, faults: faultsOf([hidden]) });
  });
  describe.each(['E1', 'E2'] as const)('without %s', (off) => {
    test.each(HIDING)('behind $name', LONG, (hidden) => {
      const list = ofLevel(OUTER, hidden).filter(
        ({ message }) => (message === '2') === (off === 'E2'),
      );
      if (list.length === 0) return;
      acceptedWithout({ row: hidden.row, faults: faultsOf(list) }, [off], hidden.level + 1);
    });
  });
});

/** û without its constant is 2^cut u': so e is smaller by 2^(cut - 1). */
describe('the constant of û left out', () => {
  const faultsOf = (list: readonly Hidden[], seen: attack.Seen): Faults =>
    carried(list[0]!, (v, { cut, kappa1, pieces }) => {
      const half = 1n << BigInt(cut - 1);
      return list.reduce((all, { level, message }) => {
        const block = seen.level(level).blocks.findIndex(({ name }) => name === `u${message}`);
        const place = pieces.outer + block * kappa1;
        const changed = all[place]!.map((x) => x - half);
        return all.with(place, changed);
      }, v as attack.Poly[]);
    });
  test.each(OUTER.filter(({ row }) => row === BEHIND_ZERO))('$name', LONG, (hidden) => {
    refused({ row: hidden.row, faults: (seen) => faultsOf([hidden], seen) });
  });
  const whole = HIDING.filter(({ row }) => (row === BEHIND_ZERO ? IN_SHORT : row === TWO));
  test.each(whole)('all of them, and without it behind $name', LONG, (hidden) => {
    const { row, level } = hidden;
    const all = levelOf(hidden).messages.map(({ name }) => ({ ...hidden, message: name }));
    const outer = all.filter(({ message }) => message !== 'b');
    const faults = (seen: attack.Seen) => faultsOf(outer, seen);
    attack.expectStopped({ row, faults, off: ['constantOfU'], at: level + 1 });
  });
});

/** y_0 is too large by one; what that adds to T of every lift. */
const wrongY = (level: number): Faults => ({
  y: at(level, ({ y, star }: Projection) => ({ y: y.with(0, y[0]! + 1n), star })),
});
const errorsOf = (level: number, lift: Uint8Array): attack.Poly[] =>
  Array.from({ length: liftCount(level) }, (_, k) => {
    const [real, imaginary] = omegas(lift, level, k)[0]!;
    return attack.monomial(real).with(32, level === 0 ? 0n : imaginary);
  });

describe.each(HIDING)('lifts, $name', (first) => {
  const hidden: Hidden = { ...first, message: 'b' };
  const { row, level } = hidden;
  const behind = level + 1;
  const isTaken = row === BEHIND_ZERO ? IN_SHORT : row === TWO;

  test.skipIf(!isTaken)('with the values of a wrong y, and nothing else', LONG, () => {
    const faults = (seen: attack.Seen): Faults => ({
      ...wrongY(level),
      lifts: at(level, (lifts: FaultValues['lifts']) => {
        const errors = errorsOf(level, seen.seed('lift'));
        return lifts.map((b, k) => reduce(add(b, errors[k]!)));
      }),
    });
    stopped({ row, faults }, ['liftsOfHidden'], level);
  });

  const isChanged = isTaken && !(row === TWO && level === 0);
  test.skipIf(!isChanged)('changed by x after beta', LONG, () => {
    const faults = (seen: attack.Seen): Faults => ({
      ...wrongY(level),
      ...carried(hidden, (v) => {
        const { lifts, liftSeed, combined } = seen.level(level);
        const errors = hiddenErrors(errorsOf(level, liftSeed), combined.beta);
        const changed = lifts.map((b, k) => attack.plus(b, errors[k]!));
        return withDigits(hidden, v, changed);
      }),
    });
    stopped({ row, faults }, ['Qb'], behind);
  });

  const isZeros = row !== BEHIND_ZERO || IN_SHORT;
  test.skipIf(!isZeros)('that keep what they are, under a projection of zeros', LONG, () => {
    stopped({ row, faults: { y: at(level, attack.zeros) } }, ['Tb'], behind);
  });

  const lifts = Array.from({ length: liftCount(level) }, (_, i) => i);
  const taken = lifts.filter((lift) => (lift === 1 ? IN_SHORT : IN_LONG));
  test.skipIf(row !== BEHIND_ZERO).each(taken)('coefficient 32 of lift %i', LONG, (lift) => {
    const b32: Faults['b32'] = (list) => list.with(lift, next(list[lift]!));
    stopped({ row, faults: { b32 } }, [`Tb${lift + 1}` as Constraint], behind);
  });

  // an error of y is in the values of all lifts: each of them sees it by itself
  const isTwo = row === TWO && level === 1;
  test.skipIf(!isTwo).each(lifts)('(T_b) of lift %i alone is left out', LONG, (lift) => {
    const off = `Tb${lift + 1}` as 'Tb1';
    const omit = { omit: new Set([off]), omitAt: behind };
    const proof = attack.forged({ row, faults: { y: at(level, attack.zeros) } }, omit);
    expect(verifyReferenceSection({ ...proof, ...attack.lacking([off], behind) }).ok).toBe(false);
  });
});

const next = (x: bigint): bigint => (x + 1n) % Q;

/** Changes with these T whose sum with beta is zero. */
function hiddenErrors(errors: readonly attack.Poly[], beta: readonly attack.Poly[]): attack.Poly[] {
  const [last, own] = [errors.length - 1, errors.length - 2];
  const unit = inverse(beta[last]!).map((x) => -x);
  const sum = errors.slice(0, last).map((error, k) => multiply(beta[k]!, error));
  const fixed = multiply(unit, sum.reduce(add));
  // two coefficients of the last but one are free, for T of the last
  const columns = [1, 2].map((i) => multiply(unit, multiply(beta[own]!, attack.monomial(1n, i))));
  const T = (poly: attack.Poly) => [poly[0]!, poly[32]!];
  const free = solve(columns.map(T), T(attack.minus(errors[last]!, fixed)));
  const more = attack.monomial(0n).with(1, free[0]!).with(2, free[1]!);
  const changed = errors.with(own, attack.plus(errors[own]!, more));
  const rest = reduce(add(fixed, multiply(unit, multiply(beta[own]!, more))));
  expect(T(attack.minus(rest, errors[last]!)).map((x) => x % Q)).toEqual([0n, 0n]);
  return changed.with(last, rest);
}

/** Level 1 is hidden, and so are the levels on both sides of it. */
describe.skipIf(!IN_LONG)('an error of the level before goes into hidden lifts', () => {
  const p: Faults['p'] = at(0, (value: FaultValues['p']) =>
    value.message === 'A' ? { ...value, p: value.p.with(7, next(value.p[7]!)) } : value,
  );
  const yX: Faults['yX'] = at(1, attack.zeros);
  const b32: Faults['b32'] = at(0, (list) => list.with(2, next(list[2]!)));

  test.each([
    ['p', { p }],
    ['y of x', { yX }],
  ] as const)('%s is wrong, and (T_b) is forgotten two levels on', LONG, (_, faults) => {
    stopped({ row: TWO, faults }, ['Tb'], 2);
  });

  test.each([
    ['(P_x)', 'Px', { yX }],
    ['(Q)', 'Q', { p }],
    ['(T_b)', 'Tb', { b32 }],
  ] as const)('%s is left out of F and D of the level between', LONG, (_, off, faults) => {
    const proof = acceptedWithout({ row: CHAIN, faults }, [off], 1);
    expect(attack.expectRefused(proof)).toMatch(/^seal/);
  });

  /**
   * With their left sides in F these equations would ask for zeros. No prover satisfies that, not
   * even an honest one: who forgets a right side finds out.
   */
  test('no proof is accepted by who forgets their right sides alone', LONG, () => {
    const honest = attack.forged({ row: CHAIN, faults: {} });
    attack.expectAccepted(honest, {});
    for (const off of ['rightOfPx', 'rightOfQ', 'rightOfTb'] as const) {
      expect(verifyReferenceSection({ ...honest, ...attack.lacking([off], 1) }).ok).toBe(false);
    }
  });
});

/**
 * (Q) stops what is done to any of these messages, and it alone: each is refused by itself, all of
 * a level together are accepted without (Q) at the level behind.
 *
 * @param isAccepted where that is to be seen, by default everywhere
 */
function expectQ(
  list: readonly Hidden[],
  faultsOf: FaultsOf,
  isAccepted: (hidden: Hidden) => boolean = () => true,
): void {
  test.each(list)('$name', LONG, (hidden) => {
    refused({ row: hidden.row, faults: faultsOf([hidden]) });
  });
  const levels = HIDING.filter((hidden) => ofLevel(list, hidden).length > 0);
  test.each(levels.filter(isAccepted))('without (Q) behind $name', LONG, (hidden) => {
    const faults = faultsOf(ofLevel(list, hidden));
    acceptedWithout({ row: hidden.row, faults }, ['Q'], hidden.level + 1);
  });
}

describe('digits of another û or of other lifts, under the p of the first ones', () => {
  expectQ(MESSAGES, (list) => (seen) => {
    const change = (hidden: Hidden, v: readonly attack.Poly[]): readonly attack.Poly[] =>
      hidden.message === 'b' ? withOtherLifts(hidden, seen, v) : withAnotherCut(hidden, seen, v);
    return carried(list[0]!, (v) => list.reduce((all, hidden) => change(hidden, all), v));
  });
});

/** One more in u', and e that makes up for it. */
function withAnotherCut(
  hidden: Hidden,
  seen: attack.Seen,
  v: readonly attack.Poly[],
): attack.Poly[] {
  const { cut, kappa1, pieces } = levelOf(hidden);
  const { blocks } = seen.level(hidden.level);
  const number = blocks.findIndex(({ name }) => name === `u${hidden.message}`);
  const place = pieces.outer + number * kappa1;
  const more = (poly: attack.Poly, value: bigint): attack.Poly => poly.with(5, poly[5]! + value);
  const [first, ...rest] = blocks[number]!.hat.map((poly) => poly.map((x) => x >> BigInt(cut)));
  const changed = v.with(place, more(v[place]!, 1n << BigInt(cut)));
  return withDigits(hidden, changed, [more(first!, 1n), ...rest]);
}

/** The first two lifts changed against each other, when beta is known: (T_b) and E6 hold. */
function withOtherLifts(
  hidden: Hidden,
  seen: attack.Seen,
  v: readonly attack.Poly[],
): attack.Poly[] {
  const { lifts, combined } = seen.level(hidden.level);
  const [first, second] = combined.beta as [attack.Poly, attack.Poly];
  // T of both changes is zero: four equations in the coefficients 0 to 4 of gamma
  const columns = [0, 1, 2, 3, 4].map((i) =>
    [first, second].flatMap((beta) => {
      const product = multiply(beta, attack.monomial(1n, i));
      return [product[0]!, product[32]!];
    }),
  );
  const gamma = put(attack.monomial(0n), 0, kernelOf(columns));
  const [one, other] = [multiply(second, gamma), multiply(first, gamma).map((x) => -x)];
  expect([one[0], one[32], other[0], other[32]].map((x) => x! % Q)).toEqual([0n, 0n, 0n, 0n]);
  expect(one.some((x) => x !== 0n)).toBe(true);
  const [a, b, ...rest] = lifts;
  return withDigits(hidden, v, [attack.plus(a!, one), attack.plus(b!, other), ...rest]);
}

describe.skipIf(!IN_LONG)('p of the message before, of this level or of the one before', () => {
  const list = MESSAGES.filter(
    ({ row, level, message }) => row === TWO && message === (level === 0 ? 'B' : '1'),
  );
  expectQ(list, (changed) => {
    let last: readonly bigint[] = [];
    const p: Faults['p'] = ({ message, p: honest }, { level }) => {
      const used = has(changed, level, message) ? last : honest;
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
      return { message, p: honest.map((x, i) => (i === number ? next(x) : x)) };
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

/** One equation, by the place of its right side: what is added to it, times i. */
type Spoil = (error: bigint) => Faults;

const inStar = (j: number, error: bigint) =>
  at(1, ({ y, star }: Projection) => ({ y, star: star.with(j, star[j]! + error) }));
const ofP =
  (j: number): Spoil =>
  (error) => ({ y: inStar(j, error) });
const ofPx =
  (j: number): Spoil =>
  (error) => ({ yX: inStar(j, error) });
const ofQ =
  (message: string, row: number, j: number): Spoil =>
  (error) => ({
    p: at(0, (value: FaultValues['p']) => {
      const place = 16 * row + j + 8;
      if (value.message !== message) return value;
      return { ...value, p: value.p.with(place, value.p[place]! + error) };
    }),
  });
const ofTb =
  (lift: number): Spoil =>
  (error) => ({ b32: (list) => list.with(lift, list[lift]! + error) });

/** Both faults, of one kind or of two. */
function both(first: Faults, second: Faults): Faults {
  type Fault = (value: unknown, place: unknown) => unknown;
  const merged = { ...first } as Record<string, Fault>;
  for (const [name, fault] of Object.entries(second) as [string, Fault][]) {
    const other = merged[name];
    merged[name] = other ? (value, place) => fault(other(value, place), place) : fault;
  }
  return merged as Faults;
}

const [P0, X0, Q0, T0] = [ofP(0), ofPx(0), ofQ('A', 0, 0), ofTb(0)];
// the first of each kind share omega_0; one pair with (P) and one without are in the short run
type Pair = readonly [name: string, Spoil, Spoil, shared: string, isShort?: boolean];
const PAIRS: readonly Pair[] = [
  ['(P) and (P_x)', P0, X0, 'Px', true],
  ['(P) and (Q)', P0, Q0, 'Q'],
  ['(P) and (T_b)', P0, T0, 'Tb'],
  ['(P_x) and (Q)', X0, Q0, 'Px Q'],
  ['(P_x) and (T_b)', X0, T0, 'Px Tb'],
  ['(Q) and (T_b)', Q0, T0, 'Q Tb', true],
  ['rows of (P)', ofP(7), ofP(136), 'Projections'],
  ['rows of (P_x)', ofPx(7), ofPx(135), 'Projections'],
  ['messages of (Q)', ofQ('A', 5, 7), ofQ('2', 5, 7), 'Messages'],
  ['rows of (Q)', ofQ('b', 0, 3), ofQ('b', 5, 3), 'Rows'],
  ['places of (Q)', ofQ('B', 2, 0), ofQ('B', 2, 7), 'Places'],
  ['lifts of (T_b)', ofTb(0), ofTb(2), 'Lifts'],
];
const TAKEN = PAIRS.filter(([, , , , isShort]) => (isShort ? IN_SHORT : IN_LONG));

test.for(TAKEN)('errors i and -i in equations of %s', LONG, ([, first, second, shared]) => {
  const off = shared.split(' ').map((name) => `scalarsOf${name}` as Constraint);
  stopped({ row: BEHIND_ZERO, faults: both(first(1n), second(-1n)) }, off, 1);
});
