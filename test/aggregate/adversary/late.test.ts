/**
 * Cheating provers against the order of the transcript (docs/protocol.md, 4): what they choose late
 * satisfies everything. Each is accepted by a verifier that absorbs that value too late, and by no
 * other.
 *
 * Y that is free after `rho` or the bits gains nothing by itself, since neither reads it; it must
 * not be free after `lift`.
 */
import { expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import { scalarsOf } from '../../reference/prover/behind.ts';
import { omegas, type Pair, tau } from '../../reference/prover/challenges.ts';
import type { ShownZero } from '../../reference/prover/identities.ts';
import * as ring from '../../reference/prover/ring.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults, FaultValues, Witness0 } from '../../reference/prover/trace.ts';
import { epsilon } from '../../reference/prover/witness.ts';
import { at } from '../faults.ts';
import * as attack from './attack.ts';
import {
  gathered,
  type Hidden,
  IN_LONG,
  IN_SHORT,
  LONG,
  levelOf,
  projectionOfX,
  watched,
} from './hidden.ts';
import { expectStoppedByOrder } from './late.ts';
import { shortSolution } from './lattice.ts';
import { solve } from './linear.ts';
import { tooLong } from './relation.ts';
import { BEHIND_LONG_Z, BEHIND_PAIR, BEHIND_ZERO } from './rows.ts';

/** Each of these makes four proofs. */
const NOW = test.skipIf(!IN_SHORT);
const LATER = test.skipIf(!IN_LONG);
const ROW = BEHIND_ZERO;
const LIFTS: Hidden = { row: ROW, level: 0, message: 'b', name: 'lifts of level 0' };
const step = (level: number, label: string) => ({ level, label });

/** y_0 is too large by one: so b_0 of every lift is wrong by the first number of omega_0. */
const wrongY = {
  y: at(0, ({ y, star }: Projection): Projection => ({ y: y.with(0, y[0]! + 1n), star })),
};
const errorsOf = (lift: Uint8Array): bigint[] => [0, 1, 2].map((k) => omegas(lift, 0, k)[0]![0]);
/** The lifts of level 0 with errors in them. */
const lifted = (errors: readonly attack.Poly[]) =>
  at(0, (lifts: readonly attack.Poly[]) =>
    lifts.map((b, k) => ring.reduce(ring.add(b, errors[k]!))),
  );

/**
 * Chosen after the scalars of (T_b), the three values meet three of four equations over Z_q, which
 * is as good as q^-1: so the verifier asks (T_b) in the first lift alone, two equations.
 */
LATER('b_32, after the lift of the next level', LONG, () => {
  expectStoppedByOrder({
    row: ROW,
    delay: { from: step(0, 'b'), until: step(1, 'b'), inTime: -17 },
    off: ['TbTwice'],
    at: 1,
    faults: (_, known) => {
      if (known === undefined) return wrongY;
      const { lifts } = scalarsOf(known.seed('lift'), 1, 0, levelOf(LIFTS));
      const errors = errorsOf(known.level(0).liftSeed);
      // the sum of omega_k (error_k + x_k i) is zero
      const sum = lifts.map(([a, b], k): Pair => [a * errors[k]!, b * errors[k]!]);
      const target = [0, 1].map((part) => sum.reduce((all, pair) => all - pair[part]!, 0n));
      const columns = lifts.slice(0, 2).map(([a, b]) => [-b, a]);
      const x = solve(columns, target);
      const b32: Faults['b32'] = (list) =>
        list.map((value, k) => ring.mod(value + (x[k] ?? 0n), ring.Q));
      return { ...wrongY, b32 };
    },
  });
});

/** Twenty small integers meet the four equations over Z_q that (P_x) is in the end. */
NOW('y of x, after the lift: any long x', LONG, () => {
  const PAIRS = 10;
  expectStoppedByOrder({
    row: ROW,
    delay: { from: step(1, 'y'), until: step(1, 'b'), inTime: 4 * (2 * attack.RANDOM_ROWS + 2) },
    faults: (seen, known) => {
      const { after, watching } = watched(LIFTS, gathered(LIFTS));
      const yX = at(1, (sent: Projection): Projection => {
        if (known === undefined) return attack.zeros(sent);
        const real = projectionOfX(LIFTS, seen.seed('jl'), after);
        const omega = [0, 1].map((k) => scalarsOf(known.seed('lift'), 1, k, levelOf(LIFTS)).omegaX);
        // what y_j and y*_j add to both parts of both sums
        const ofY = (j: number) => omega.flatMap((list): Pair => list[j]!);
        const ofStar = (j: number) => omega.flatMap((list): Pair => [-list[j]![1], list[j]![0]]);
        const all = real.y.map((_, j) => j);
        const target = [0, 1, 2, 3].map((i) =>
          all.reduce((sum, j) => sum + real.y[j]! * ofY(j)[i]! + real.star[j]! * ofStar(j)[i]!, 0n),
        );
        const chosen = all.slice(0, PAIRS);
        const x = shortSolution([...chosen.map(ofY), ...chosen.map(ofStar)], target);
        expect(x.every((value) => value * value < 2n ** 24n)).toBe(true);
        return {
          y: all.map((j) => (j < PAIRS ? x[j]! : 0n)),
          star: all.map((j) => (j < PAIRS ? x[PAIRS + j]! : 0n)),
        };
      });
      return { x: watching, yX };
    },
  });
});

/** Norms of two items that are wrong against each other: the sum of alpha_i d_i is zero. */
LATER('S and W, after alpha: norm β² + 1', LONG, () => {
  const { item, S } = tooLong(1n);
  const witness = (honest: Witness0, known: attack.Seen | undefined): Witness0 => {
    if (known === undefined) return honest;
    const [first, second] = (known.level(0) as ShownZero).alphas as [attack.Poly, attack.Poly];
    const power = second.findIndex((x, i) => i > 0 && x * x === 1n);
    // the constant coefficient of second gamma is 1
    const gamma = attack.monomial(-second[power]!, 64 - power);
    const d = [ring.multiplyZ(second, gamma), ring.multiplyZ(first, gamma).map((x) => -x)] as const;
    expect(d[0][0]).toBe(1n);
    const filled = honest.S[1]!.slice(0, -1);
    const other = [...filled, epsilon(attack.BETA_SQ + d[1][0]! - attack.normSq(filled))];
    const norms = [S, other].map(attack.normPolynomial);
    const W = norms.map((norm, i) => attack.digits(norm.map((x, j) => x - d[i]![j]!)));
    expect(norms.map((norm, i) => norm[0]! - d[i]![0]!)).toEqual([0n, 0n]);
    return { S: [S, other], W };
  };
  expectStoppedByOrder({
    row: BEHIND_PAIR,
    items: [item, signedItem('falcon512', 1)],
    delay: { from: step(0, 'uA'), until: step(0, 'uB'), inTime: 0 },
    faults: (_, known) => ({ witness: (honest) => witness(honest, known) }),
  });
});

/** S_8 = 1 and S_9 = 0: Y_8 loses alpha in (N1), and Y_9 makes up for it where tau sees them. */
LATER('Y, after the lift: norm β² + 1', LONG, () => {
  const { item, S } = tooLong(1n);
  const place = 8;
  const z: Faults['z'] = at(0, ({ z, e }: FaultValues['z']) => ({ z: z.map(ring.centre), e }));
  expectStoppedByOrder({
    row: BEHIND_LONG_Z,
    items: [item],
    delay: { from: step(0, 'uB'), until: step(0, 'b'), inTime: 0 },
    faults: (_, known) => {
      const shared = { z, witness: () => attack.witnessOf(S, 0n) };
      if (known === undefined) return shared;
      const { alphas, liftSeed } = known.level(0) as ShownZero;
      const [own, next] = [place, place + 1].map((t) => tau(liftSeed, 0, t)) as [
        attack.Poly,
        attack.Poly,
      ];
      const more = ring.multiply(alphas[0]!, ring.multiply(own, ring.inverse(next)));
      const Y: Faults['Y'] = ([y]) => [
        y!
          .with(place, ring.subtract(y![place]!, alphas[0]!))
          .with(place + 1, ring.centre(ring.add(y![place + 1]!, more))),
      ];
      return { ...shared, Y };
    },
  });
});

/** h_00 and h_11 hide any error of E6, where E5 does not see them. */
LATER('h, after c: a wrong y', LONG, () => {
  expectStoppedByOrder({
    row: ROW,
    delay: { from: step(0, 'u2'), until: step(1, 't'), inTime: 0 },
    faults: (seen, known) => {
      const lifts: Faults['lifts'] = (list, place) =>
        lifted(errorsOf(seen.seed('lift')).map((x) => attack.monomial(x)))(list, place);
      if (known === undefined) return { ...wrongY, lifts };
      const { c, combined, liftSeed, params } = known.level(0);
      const error = errorsOf(liftSeed)
        .map((x, k) => ring.scale(combined.beta[k]!, x))
        .reduce(ring.add);
      const [first, second] = [ring.multiply(c[0]!, c[0]!), ring.multiply(c[1]!, c[1]!)];
      const by = ring.multiply(error, ring.inverse(ring.reduce(ring.subtract(second, first))));
      const h: Faults['h'] = at(0, (list: readonly attack.Poly[]) =>
        list
          .with(0, ring.reduce(ring.add(list[0]!, ring.multiply(by, second))))
          .with(params.r, ring.reduce(ring.subtract(list[params.r]!, ring.multiply(by, first)))),
      );
      return { ...wrongY, lifts, h };
    },
  });
});

/** Lifts with wrong coefficients 0 whose sum with beta is right. */
LATER('b, after beta: a wrong y', LONG, () => {
  expectStoppedByOrder({
    row: ROW,
    delay: { from: step(0, 'b'), until: step(0, 'u2'), inTime: 0 },
    faults: (_, known) => {
      if (known === undefined) return wrongY;
      const { combined, liftSeed } = known.level(0);
      const [first, second, third] = errorsOf(liftSeed) as [bigint, bigint, bigint];
      const [a, b, c] = combined.beta as [attack.Poly, attack.Poly, attack.Poly];
      const unit = ring.inverse(c).map((x) => -x);
      // the third error from the others; the second one has a coefficient of X that is free
      const fixed = ring.multiply(unit, ring.add(ring.scale(a, first), ring.scale(b, second)));
      const free = ring.multiply(unit, ring.multiply(b, attack.monomial(1n, 1)));
      const [x] = solve([[free[0]!]], [third - fixed[0]!]);
      const last = ring.reduce(ring.add(fixed, ring.scale(free, x!)));
      const errors = [attack.monomial(first), attack.monomial(second).with(1, x!), last];
      expect(ring.mod(errors[2]![0]! - third, ring.Q)).toBe(0n);
      return { ...wrongY, lifts: lifted(errors) };
    },
  });
});
