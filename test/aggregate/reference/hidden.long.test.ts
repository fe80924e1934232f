/**
 * The slow verifier's constraints on hidden messages and cut inner commitments: all of them hold on
 * what an honest level leaves, each of them fails when what it is about is changed, and every check
 * can be turned off by its name.
 */
import { describe, expect, test } from 'vitest';
import {
  HIDDEN_BETWEEN,
  HIDDEN_THRICE,
  HIDDEN_TWICE,
  HIDDEN_ZERO,
  SINGLE_DIGIT,
} from '../../reference/hiddenRows.ts';
import type { LevelRow, TableRow } from '../../reference/tableRow.ts';
import { formsOnX, scalarsOf, valuesOfLifts, weightsAtX } from '../../reference/verifier/behind.ts';
import type { Pair } from '../../reference/verifier/challenges.ts';
import { ALL_CHECKS, type Checks } from '../../reference/verifier/checks.ts';
import { combineClaim } from '../../reference/verifier/constraints.ts';
import { addExtensions, checkNorms } from '../../reference/verifier/level.ts';
import {
  combineForms,
  Folding,
  projectionForms,
  valuesOfY,
} from '../../reference/verifier/lifts.ts';
import {
  add,
  constant,
  equal,
  inner,
  mod,
  multiply,
  type Poly,
  scale,
  subtract,
  zero,
} from '../../reference/verifier/ring.ts';
import { type Ordinary, shapesOf } from '../../reference/verifier/shapes.ts';
import { stream } from '../../reference/verifier/streams.ts';
import { type Integers, type Left, leave, project } from './levelByHand.ts';
import { TOY2 } from './toyRows.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i + 3);
const levelOf = (row: TableRow, level: number): Ordinary => shapesOf(row).levels[level]!;
const without = (...names: (keyof Checks)[]): Checks => ({
  ...ALL_CHECKS,
  ...Object.fromEntries(names.map((name) => [name, false])),
});

const LEVELS: readonly (readonly [string, TableRow, number])[] = [
  ['level 0, hidden, cut', HIDDEN_ZERO, 0],
  ['level 0, hidden, no cut', HIDDEN_TWICE, 0],
  ['level 1, hidden, inner commitments cut', HIDDEN_TWICE, 1],
  ['level 1, hidden', HIDDEN_BETWEEN, 1],
  ['level 2, open, inner commitments cut', HIDDEN_BETWEEN, 2],
  ['level 1, hidden, z of one digit, inner commitments cut', SINGLE_DIGIT, 1],
  ['level 1, open', TOY2, 1],
];
const known = new Map<string, Left>();
function leftBy(name: string): Left {
  const [, row, level] = LEVELS.find(([other]) => other === name)!;
  const left = known.get(name) ?? leave(levelOf(row, level));
  known.set(name, left);
  return left;
}

describe('shapes', () => {
  test('lengths, worked out by hand', () => {
    const zero = levelOf(HIDDEN_ZERO, 0);
    // A, B, 2: one polynomial of 35 bits each in digits of two; b: three of 44 bits
    expect(zero.messages.map(({ name }) => name)).toEqual(['A', 'B', 'b', '2']);
    expect(zero.messages.map(({ digits }) => digits)).toEqual([18, 18, 22, 18]);
    expect(zero.messages.map(({ first }) => first)).toEqual([0, 18, 36, 102]);
    expect([zero.lengthOfX, zero.m]).toEqual([120, 120 + 5 * 3 + 9 * 6 + 3]);
    const one = levelOf(HIDDEN_TWICE, 1);
    expect(one.messages.map(({ name }) => name)).toEqual(['1', 'b', '2']);
    expect(one.messages.map(({ digits }) => digits)).toEqual([13, 15, 13]);
    expect([one.lengthOfX, one.ft]).toEqual([2 * 2 * 13 + 2 * 15, 5]);
    const pairs = (one.r * (one.r + 1)) / 2;
    expect(one.m).toBe(82 + 5 * one.r * 2 + 9 * pairs + 2 * 2 + 2 * 2);
    // 44 - 15 bits of t in digits of nine
    expect(levelOf(HIDDEN_THRICE, 2).ft).toBe(4);
    expect(levelOf(TOY2, 1).messages).toEqual([]);
  });

  test('the last five numbers of a level have their ranges', () => {
    const changed = (level: number, at: number, value: number) => {
      const [set, bucket, levels] = HIDDEN_TWICE;
      const row = (levels[level] as LevelRow).with(at, value);
      return () => shapesOf([set, bucket, levels.with(level, row)]);
    };
    const [w, k, x, tX, ct] = [13, 14, 15, 16, 17] as const;
    for (const [at, good, bad] of [
      [w, [2, 6], [0, 1, 7, 2.5, -1]],
      [k, [6, 7, 40], [0, 5, 6.5, -6]],
      [x, [1, 2 ** 43 - 1], [0, 2 ** 43, -1, 1.5]],
      [tX, [0, 143], [-1, 144, 0.5]],
      [ct, [0, 4, 15], [-4, 1, 3, 16, 4.5]],
    ] as const) {
      for (const value of good) expect(changed(1, at, value), `${at} ${value}`).not.toThrow();
      for (const value of bad) expect(changed(1, at, value), `${at} ${value}`).toThrow(RangeError);
    }
    expect(changed(0, ct, 4)).toThrow(RangeError);
    const [set, bucket, levels] = HIDDEN_BETWEEN;
    for (const at of [k, x, tX]) {
      const row = (levels[0] as LevelRow).with(at, 6);
      expect(() => shapesOf([set, bucket, levels.with(0, row)])).toThrow(RangeError);
    }
    const short = levels.map((row, i) => (i === 1 ? row.slice(0, 13) : row));
    expect(() => shapesOf([set, bucket, short])).toThrow(RangeError);
  });
});

describe.each(LEVELS)('what a level leaves: %s', (name) => {
  /** Left side minus right side of the combination, on these parts. */
  const residue = (checks: Checks, parts = leftBy(name).parts): Poly => {
    const { claim, z } = leftBy(name);
    const combined = combineClaim(claim, KEY, checks);
    let sum = scale(multiply(combined.delta, inner(z, z)), -1n);
    for (const [i, part] of parts.entries()) {
      sum = add(sum, inner(combined.parts[i]!, reduced(part)));
    }
    return subtract(sum, combined.b);
  };
  const isZero = (x: Poly) => equal(x, zero());

  test('v has m polynomials, and E1 to E6 hold', () => {
    const { claim, parts } = leftBy(name);
    expect(parts.at(-1)).toHaveLength(claim.shape.m);
    expect(isZero(residue(ALL_CHECKS))).toBe(true);
    expect(isZero(residue(without('E1', 'E4', 'E6')))).toBe(true);
    expect(isZero(residue(without('E2', 'E3', 'E5')))).toBe(true);
  });

  test('the constant of û is on the right side of E1 and E2', () => {
    const { hidden, shape } = leftBy(name).claim;
    const isRead = hidden !== undefined && shape.cut > 0;
    expect(isZero(residue(without('constantOfU')))).toBe(!isRead);
    expect(isZero(residue(without('constantOfU', 'E1', 'E2')))).toBe(true);
  });

  test('every place of v is held', () => {
    const v = combineClaim(leftBy(name).claim, KEY, ALL_CHECKS).parts.at(-1)!;
    expect(v.filter(isZero)).toEqual([]);
  });

  test('x and e are read where their checks say', () => {
    const { hidden, shape } = leftBy(name).claim;
    for (const check of ['xInE1', 'xInE2', 'xbInE6'] as const) {
      expect(isZero(residue(without(check))), check).toBe(hidden === undefined);
    }
    for (const check of ['eInE3', 'eInE5'] as const) {
      expect(isZero(residue(without(check))), check).toBe(shape.ct === 0);
    }
    expect(isZero(residue(without('E1', 'xInE1', 'E2', 'xInE2', 'E6', 'xbInE6')))).toBe(true);
    expect(isZero(residue(without('E3', 'eInE3', 'E5', 'eInE5')))).toBe(true);
  });
});

const reduced = (list: readonly Integers[]): Poly[] => list.map((a) => a.map(mod));

describe('behind a hidden level', () => {
  const HIDDEN = ['level 0, hidden, cut', LEVELS[5]![0]];
  const lifts = new Map<string, Pair[]>();
  const OTHERS = [5000, 5001];
  const xAt = (i: number) => 300 + i;
  const projections = new Map<string, ReturnType<typeof project>[]>();

  /** T of both lifts of a next level whose rows are x and two more places. */
  function liftsBy(name: string, checks: Checks): Pair[] {
    const { claim, x } = leftBy(name);
    const { shape } = claim;
    const id = `${name} ${JSON.stringify(checks)}`;
    const done = lifts.get(id);
    if (done !== undefined) return done;
    const level = shape.level + 1;
    const scalars = scalarsOf(KEY, level, shape, checks);
    const all = scalars.map((ofLift): Pair => {
      const one = [constant(1n)];
      const onX = formsOnX(shape, [ofLift], one);
      const form = (number: number, weights: readonly Pair[]): Poly =>
        combineForms(projectionForms(KEY, level, number, [weights]), one);
      const atX = weightsAtX(ofLift);
      const forms = [
        ...onX.map((phi, i) => add(form(xAt(i), atX), phi)),
        ...OTHERS.map((number) => form(number, ofLift.ofP)),
      ];
      const lift = inner(forms, reduced([...x.flat(), x[0]![0]!, x[0]![1]!]));
      return [lift[0]!, lift[32]!];
    });
    lifts.set(id, all);
    return all;
  }

  /** The projections y and y_x of the same places. */
  function projectionsBy(name: string) {
    const { claim, x } = leftBy(name);
    const level = claim.shape.level + 1;
    const places = x.flat().map((s, i) => [xAt(i), s] as const);
    const others = OTHERS.map((number, i) => [number, x[0]![i]!] as const);
    const both = projections.get(name) ?? [
      project(KEY, level, [...places, ...others]),
      project(KEY, level, places),
    ];
    projections.set(name, both);
    return both as [ReturnType<typeof project>, ReturnType<typeof project>];
  }

  /** Whether T of each lift is another than D, which these values are for. */
  function misses(
    name: string,
    checks: Checks,
    changes: Partial<Left['claim']['hidden']> = {},
    spoilY: (sent: ReturnType<typeof project>) => ReturnType<typeof project> = (sent) => sent,
  ): boolean[] {
    const { shape, hidden } = leftBy(name).claim;
    const [y, yOfX] = projectionsBy(name);
    const scalars = scalarsOf(KEY, shape.level + 1, shape, checks);
    const changed = { ...hidden!, ...changes };
    const values = valuesOfLifts(scalars, y, spoilY(yOfX), changed, checks);
    return liftsBy(name, checks).map(
      ([a, b], k) => a !== mod(values[k]![0]) || b !== mod(values[k]![1]),
    );
  }
  const NO = [false, false];
  const YES = [true, true];

  test.each(HIDDEN)('all equations hold; a sum that D lacks is missed: %s', (name) => {
    expect(misses(name, ALL_CHECKS)).toEqual(NO);
    for (const check of ['rightOfPx', 'rightOfQ', 'rightOfTb'] as const) {
      expect(misses(name, without(check)), check).toEqual(YES);
    }
  });

  test('an equation that is off has neither side', () => {
    for (const off of [
      ...([['J', 'Q', 'Tb'], ['Px'], ['Px136', 'QA', 'Qb'], ['QB', 'Q2']] as const),
      ...([
        ['scalarsOfPx', 'scalarsOfRows'],
        ['scalarsOfQ', 'scalarsOfLifts'],
      ] as const),
      ...([['scalarsOfTb', 'scalarsOfMessages'], ['scalarsOfPlaces']] as const),
    ]) {
      expect(misses(HIDDEN[0]!, without(...off)), off.join()).toEqual(NO);
    }
  });

  test.each(HIDDEN)('(Q): a wrong number is seen unless its check is off: %s', (name) => {
    const { shape, hidden } = leftBy(name).claim;
    const { p } = hidden!;
    for (const [m, message] of shape.messages.entries()) {
      for (const [row, c] of [
        [0, 0],
        [shape.k - 1, 15],
        [2, 8],
      ] as const) {
        const list = p[m]![row]!.with(c, mod(p[m]![row]![c]! + 1n));
        const changes = { p: p.with(m, p[m]!.with(row, list)) };
        expect(misses(name, ALL_CHECKS, changes)).toEqual(YES);
        expect(misses(name, without('Q'), changes)).toEqual(NO);
        for (const kind of ['A', 'B', '1', 'b', '2'] as const) {
          const expected = kind === message.name ? NO : YES;
          expect(misses(name, without(`Q${kind}`), changes)).toEqual(expected);
        }
      }
    }
  });

  test.each(HIDDEN)('(P_x) and (T_b): the same: %s', (name) => {
    const { values } = leftBy(name).claim.hidden!;
    for (const [lambda, [a, b]] of values.entries()) {
      for (const wrong of [
        [a + 1n, b],
        [a, b + 1n],
      ] as const) {
        const changes = { values: values.with(lambda, wrong) };
        expect(misses(name, ALL_CHECKS, changes)).toEqual(YES);
        expect(misses(name, without('Tb'), changes)).toEqual(NO);
      }
    }
    // a row that is off by one, and one of row 136 that leaves the others as they are
    for (const [at, by] of [
      [7, 1],
      [270, -3],
    ] as const) {
      const spoil = (sent: ReturnType<typeof project>) => ({
        ...sent,
        rows: sent.rows.with(at, sent.rows[at]! + by),
      });
      expect(misses(name, ALL_CHECKS, {}, spoil)).toEqual(YES);
      expect(misses(name, without('Px136'), {}, spoil)).toEqual(YES);
      expect(misses(name, without('Px'), {}, spoil)).toEqual(NO);
    }
    const spoilU = (sent: ReturnType<typeof project>) => {
      const [before, after] = [sent.U + sent.V, sent.U + 2 + sent.V];
      const [star, starAfter] = [sent.V - sent.U, sent.V - sent.U - 2];
      const by = Math.floor(before / 2) - Math.floor(after / 2);
      const byStar = Math.floor(star / 2) - Math.floor(starAfter / 2);
      const rows = sent.rows.map((x, i) => x + (i % 2 === 0 ? by : byStar));
      return { ...sent, rows, U: sent.U + 2 };
    };
    const spoiled = spoilU({ rows: new Array<number>(272).fill(0), U: 4, V: 3 });
    const same = valuesOfY({ rows: new Array<number>(272).fill(0), U: 4, V: 3 });
    expect(valuesOfY(spoiled).slice(0, 136)).toEqual(same.slice(0, 136));
    expect(misses(name, ALL_CHECKS, {}, spoilU)).toEqual(YES);
    expect(misses(name, without('Px136'), {}, spoilU)).toEqual(NO);
  });

  test('scalars are one stream: of (P), (P_x), (Q) and (T_b), two words each', () => {
    const shape = levelOf(HIDDEN_ZERO, 0);
    const count = 137 + 137 + 8 * 6 * 4 + 3;
    for (const sub of [0, 1]) {
      const bytes = stream(KEY, { type: 4, level: 1, sub }).take(11 * count);
      const all = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
      const word = (i: number) => BigInt.asUintN(44, all >> BigInt(44 * i));
      const pair = (i: number): Pair => [word(2 * i), word(2 * i + 1)];
      const { ofP, ofPx, ofQ, ofTb } = scalarsOf(KEY, 1, shape, ALL_CHECKS)[sub]!;
      expect([...ofP, ...ofPx, ...ofQ.flat(2), ...ofTb]).toEqual(
        Array.from({ length: count }, (_, i) => pair(i)),
      );
      expect(ofQ[3]![5]![7]).toEqual(pair(274 + 191));
      expect(ofQ[1]![2]![3]).toEqual(pair(274 + 48 + 16 + 3));
      // behind an open level the stream ends with ω_136, and it is the same up to there
      const open = scalarsOf(KEY, 1, undefined, ALL_CHECKS)[sub]!;
      expect(open).toEqual({ ofP, ofPx: [], ofQ: [], ofTb: [] });
    }
  });

  test('scalars of (T_b) that are left out: of one lift, and in the second lift', () => {
    const shape = levelOf(HIDDEN_ZERO, 0);
    const own = scalarsOf(KEY, 1, shape, ALL_CHECKS);
    const none = [0n, 0n];
    for (const l of [0, 1, 2]) {
      const left = scalarsOf(KEY, 1, shape, without(`Tb${l + 1}` as 'Tb1'));
      expect(left).toEqual(own.map((one) => ({ ...one, ofTb: one.ofTb.with(l, [0n, 0n]) })));
    }
    const [first, second] = scalarsOf(KEY, 1, shape, without('TbTwice'));
    expect([first, second]).toEqual([own[0], { ...own[1]!, ofTb: [none, none, none] }]);
  });

  test('scalars that are not of their own', () => {
    const shape = levelOf(HIDDEN_ZERO, 0);
    const of = (...names: (keyof Checks)[]) => scalarsOf(KEY, 1, shape, without(...names))[1]!;
    const own = of();
    expect(of('scalarsOfPx')).toEqual({ ...own, ofPx: own.ofP });
    const [ofP, ofPx] = [own.ofP, own.ofPx].map((list) => list.map(() => list[0]!));
    expect(of('scalarsOfProjections')).toEqual({ ...own, ofP, ofPx });
    const repeated = Array.from({ length: 192 }, (_, i) => own.ofP[i % 137]!);
    expect(of('scalarsOfQ').ofQ.flat(2)).toEqual(repeated);
    expect(of('scalarsOfTb')).toEqual({ ...own, ofTb: own.ofP.slice(0, 3) });
    expect(of('scalarsOfLifts').ofTb).toEqual(own.ofTb.map(() => own.ofTb[0]!));
    expect(of('scalarsOfMessages').ofQ).toEqual(own.ofQ.map(() => own.ofQ[0]!));
    const rows = own.ofQ.map((rowsOf) => rowsOf.map(() => rowsOf[0]!));
    expect(of('scalarsOfRows').ofQ).toEqual(rows);
    const places = own.ofQ.map((rowsOf) => rowsOf.map((row) => row.map(() => row[0]!)));
    expect(of('scalarsOfPlaces').ofQ).toEqual(places);
    const one = of('scalarsOfMessages', 'scalarsOfRows', 'scalarsOfPlaces').ofQ.flat(2);
    expect(new Set(one)).toEqual(new Set([own.ofQ[0]![0]![0]!]));
  });

  test('the norm of x is held to 288 X of the level before', () => {
    const before = { ...levelOf(HIDDEN_ZERO, 0), X: 2 };
    const zeros = { rows: new Array<number>(272).fill(0), U: 2, V: 0 };
    const judge = (value: number, checks = ALL_CHECKS) => {
      const yOfX = { ...zeros, rows: zeros.rows.with(200, value) };
      return () => checkNorms(checks, before, { y: zeros, yOfX }, 1, 'level 1');
    };
    expect(judge(12)).not.toThrow();
    expect(judge(13)).toThrow('normOfX: level 1');
    expect(judge(-13)).toThrow('normOfX: level 1');
    expect(judge(13, without('normOfX'))).not.toThrow();
    const both = { y: { ...zeros, rows: zeros.rows.with(3, 9) }, yOfX: zeros };
    expect(() => checkNorms(ALL_CHECKS, before, both, 1, 'tail')).toThrow('projectionNorm: tail');
    expect(() => checkNorms(without('projectionNorm'), before, both, 1, 'tail')).not.toThrow();
  });
});

test('e of cut inner commitments: polynomial i of row a is number r n + a kappa + i', () => {
  const shape = levelOf(HIDDEN_BETWEEN, 2);
  const { n, r, kappa, level } = shape;
  const scalars = scalarsOf(KEY, level, undefined, ALL_CHECKS);
  const beta = [constant(2n), constant(3n)];
  const lifting = { level, jl: KEY, scalars, beta };
  const weights = scalars.map(({ ofP }) => ofP);
  const c = Array.from({ length: r }, (_, a) => constant(BigInt(1 + a)));
  const folding = new Folding(c, n + kappa);
  addExtensions(folding, shape, kappa, lifting);
  const phi = folding.result();
  expect(phi).toHaveLength(n + 2);
  expect(phi.slice(0, n)).toEqual(new Array(n).fill(zero()));
  for (let i = 0; i < kappa; i++) {
    let expected = zero();
    for (let a = 0; a < r; a++) {
      const forms = projectionForms(KEY, level, r * n + 2 * a + i, weights);
      expected = add(expected, scale(combineForms(forms, beta), BigInt(1 + a)));
    }
    expect(phi[n + i]).toEqual(expected);
  }
});
