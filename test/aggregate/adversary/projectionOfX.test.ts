/**
 * Cheating provers against the projection of x and its bound (docs/protocol.md, 8.3, 8.5, 11.1): x
 * that is longer than X, as it is, behind the projection of another one, with sums that move the
 * centre, or counted elsewhere.
 */
import { describe, expect, test } from 'vitest';
import { centred, Q } from '../../reference/prover/ring.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults, FaultValues } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { at } from '../faults.ts';
import {
  expectAccepted,
  expectRefused,
  expectStopped,
  forged,
  lacking,
  monomial,
  type Seen,
  zeros,
} from './attack.ts';
import * as hidden from './hidden.ts';
import { inverseOf } from './linear.ts';
import { BEHIND_ZERO } from './rows.ts';
import { far, lieOfMean, lieOfParity, normOf, withSums } from './sums.ts';

const plus = (a: Projection, b: Projection, sign = 1n): Projection => ({
  y: a.y.map((y, j) => y + sign * b.y[j]!),
  star: a.star.map((y, j) => y + sign * b.star[j]!),
});

const ONE: hidden.Hidden = { row: BEHIND_ZERO, level: 0, message: 'b', name: 'lifts of level 0' };
const { row, level } = ONE;
const behind = level + 1;

describe.skipIf(!hidden.IN_SHORT)('x beyond X', () => {
  test('right û, right p, and all of it inside inSq', hidden.LONG, () => {
    const why = expectStopped({ row, faults: hidden.gathered(ONE), off: ['normOfX'] });
    expect(why).toMatch(/^normOfX/);
  });

  test('y of another x, which is short', hidden.LONG, () => {
    const faults = (seen: Seen): Faults => {
      const { before, watching } = hidden.watched(ONE, hidden.gathered(ONE));
      return {
        x: watching,
        yX: at(behind, () => hidden.projectionOfX(ONE, seen.seed('jl'), before)),
      };
    };
    hidden.stopped({ row, faults }, ['Px'], behind, /^sealH/);
  });

  test('counted twice in y, and not at all in its own projection', hidden.LONG, () => {
    const faults = (seen: Seen): Faults => {
      const { after, watching } = hidden.watched(ONE, hidden.gathered(ONE));
      return {
        x: watching,
        y: at(behind, (y) => plus(y, hidden.projectionOfX(ONE, seen.seed('jl'), after))),
        yX: at(behind, zeros),
      };
    };
    hidden.stopped({ row, faults }, ['scalarsOfPx'], behind, /^sealH/);
  });
});

describe('U and V of x that move the centre', () => {
  /** The row with another X: nothing of a transcript depends on it. */
  const heldTo = (X: bigint): TableRow => {
    const [set, bucket, levels] = row;
    return [set, bucket, levels.with(level, levels[level]!.with(15, Number(X)))];
  };

  /**
   * An x that is too long as it is, and not with other sums.
   *
   * @param least what is to be gained, in thousandths of the norm
   */
  function attempt(lieOf: typeof lieOfMean, least: bigint, more: Faults = {}) {
    let [long, short] = [0n, 0n];
    const yX = at(behind, (sent: Projection): Projection => {
      const lie = withSums(sent, lieOf(sent));
      [long, short] = [normOf(sent), normOf(lie)];
      // no counter is taken for the second one
      return 1000n * (long - short) > least * long ? lie : far(sent);
    });
    const proof = forged({ row, faults: { yX } }, more);
    const X = (short + 287n) / 288n;
    expect(long).toBeGreaterThan(288n * X);
    return { ...proof, row: heldTo(X) };
  }

  const LIES = [
    ...(hidden.IN_SHORT ? [['without their mean', lieOfMean, 3n] as const] : []),
    ...(hidden.IN_LONG ? [['nearer to the mean by one', lieOfParity, 0n] as const] : []),
  ];
  test.each(LIES)('%s', hidden.LONG, (_, lieOf, least) => {
    expect(expectRefused(attempt(lieOf, least))).toMatch(/^sealH/);
    const off = ['Px136'] as const;
    const omit = { omit: new Set(off), omitAt: behind };
    expectAccepted(attempt(lieOf, least, omit), lacking(off, behind));
  });
});

/**
 * Digits that are fractions modulo q and recompose to what they should. No short y and y_x are
 * theirs: neither has a code. So there is no proof without the bound on x alone; each of the two
 * projections sees them, and without both of them the rest is satisfied.
 */
test.skipIf(!hidden.IN_LONG)('digits 1/2 and (a - 1/2)/2^w', hidden.LONG, () => {
  const { w } = hidden.levelOf(ONE);
  const message = 'A';
  const { polynomials } = hidden.messageOf({ ...ONE, message });
  const half = (Q + 1n) / 2n;
  const halves = monomial(0n).map(() => centred(half));
  let isSeen = 0;
  const faults = (seen: Seen): Faults => {
    const { after, watching } = hidden.watched(ONE, {
      x: (value) => {
        if (value.message !== message) return value;
        const [low, high] = [value.x[0]!, value.x[polynomials]!];
        const rest = low.map((x, i) => x + (high[i]! << BigInt(w)) - half);
        const divided = rest.map((x) => centred(x * inverseOf(1n << BigInt(w))));
        return { message, x: value.x.with(0, halves).with(polynomials, divided) };
      },
    });
    const y = at(behind, (sent: Projection): Projection => {
      const honest = hidden.projectionOfX(ONE, seen.seed('jl'), after);
      const large = [...honest.y, ...honest.star].map((x) => centred(x));
      isSeen = large.filter((x) => x * x > 2n ** 62n).length;
      return zeros(sent);
    });
    const z: Faults['z'] = at(behind, (value: FaultValues['z']) => ({
      z: value.z.map((poly) => poly.map((x) => centred(x))),
      e: value.e,
    }));
    return { x: watching, y, yX: at(behind, zeros), z };
  };
  const attack = { row: withWideCodes(row), faults };
  const without = (...off: ('J' | 'Px')[]) =>
    [forged(attack, { omit: new Set(off), omitAt: behind }), lacking(off, behind)] as const;
  hidden.refused(attack, /^sealH/);
  for (const off of ['J', 'Px'] as const) {
    const [proof, weaker] = without(off);
    expect(verifyReferenceSection({ ...proof, ...weaker })).toMatchObject({ ok: false });
  }
  expectAccepted(...without('J', 'Px'));
  expect(isSeen).toBeGreaterThan(136 - 2.5 * Math.sqrt(272));
});

/** The row with a tail that takes every z mod q. The library has no room for such a z. */
function withWideCodes([set, bucket, levels]: TableRow): TableRow {
  const n = levels.at(-1)![0] as number;
  const tail = levels
    .at(-1)!
    .with(4, 2 ** 100)
    .with(7, [[n, 288]]);
  return [set, bucket, levels.with(-1, tail)];
}

/** No forgery: x is bound by X as well, and a verifier without it accepts nothing that is false. */
test.skipIf(!hidden.IN_SHORT)('x left out of y is a mismatch', hidden.LONG, () => {
  const faults = (seen: Seen): Faults => {
    const { after, watching } = hidden.watched(ONE, { x: (value) => value });
    const y = at(behind, (value: Projection) =>
      plus(value, hidden.projectionOfX(ONE, seen.seed('jl'), after), -1n),
    );
    return { x: watching, y };
  };
  hidden.refused({ row, faults }, /^sealH/);
});
