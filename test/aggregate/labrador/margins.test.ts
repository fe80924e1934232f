/** What the transforms leave free of 16 and 32 bits, computed from their generated text. */
import { describe, expect, test } from 'vitest';
import { labradorPassesSource, labradorTablesSource } from '../../../scripts/generate/labrador.ts';
import * as labradorPlan from '../../../scripts/generate/labradorPlan.ts';
import { RESIDUES } from '../../../scripts/prove/references.ts';
import { type Interval, Overflow, scriptOf } from '../../support/intervals.ts';
import { type Extent, runOnIntervals, sumsOf, tablesOf } from './intervals.ts';

const passes = scriptOf(labradorPassesSource());
const tables = tablesOf(labradorTablesSource());
const formMax = (prime: number) => (labradorPlan.PRIMES[prime]! + 1) / 2;

interface Transform {
  readonly name: string;
  /** What the vector at an offset of the input can hold. */
  readonly input: (prime: number, at: number) => Interval;
  readonly largest: (prime: number) => number;
  /** The largest lane inside, by prime: at least 0.013 bits below 2^15. */
  readonly inside: readonly number[];
}
const within = (bound: number): Interval => [-bound, bound];
const limb = (at: number): Interval => {
  const bound = labradorPlan.LIMB_BOUNDS[Math.floor(at / 128)]!;
  return at < 256 ? [-bound, bound - 1] : within(bound);
};
const TRANSFORMS: readonly Transform[] = [
  {
    name: 'forwardSmall',
    input: () => within(labradorPlan.SMALL_MAX),
    largest: formMax,
    inside: [29715, 32039, 30194, 26036, 26140, 23179],
  },
  {
    name: 'forwardAny',
    input: () => [-32768, 32767],
    largest: formMax,
    inside: [32214, 32331, 31565, 29952, 28469, 24283],
  },
  {
    name: 'forwardLimbs',
    input: (_prime, at) => limb(at),
    largest: formMax,
    inside: [30864, 32268, 31489, 27275, 26770, 25611],
  },
  {
    name: 'inverseOfForm',
    input: (prime) => within(formMax(prime)),
    largest: (prime) => RESIDUES[prime]!,
    inside: [30575, 32200, 31887, 28640, 26030, 25699],
  },
  {
    name: 'inverseOfSums',
    input: (prime) => sumsOf(labradorPlan.blockBound(labradorPlan.PRIMES[prime]!)),
    largest: (prime) => RESIDUES[prime]!,
    inside: [30973, 31945, 32461, 25829, 25480, 23799],
  },
];

describe.each(TRANSFORMS)('$name', ({ name, input, largest, inside }) => {
  const from = passes.indexOf(`function ${name}(`);
  const own = passes.slice(from, passes.indexOf('\n}\n', from) + 3);
  const extents = (text: string): Extent[] =>
    labradorPlan.PRIMES.map((_, prime) =>
      runOnIntervals(text, name, tables, prime, (at) => input(prime, at)),
    );

  test('no lane overflows, and the margins are the known ones', () => {
    const found = extents(own);
    expect(found.map((extent) => extent.inside)).toEqual(inside);
    for (const [prime, { result }] of found.entries()) {
      expect(result).toBeLessThanOrEqual(largest(prime));
    }
  });

  test('without any one of its reductions, some lane overflows, or a result is too large', () => {
    const lines = own.split('\n');
    const reductions = lines.flatMap((line, i) => (line.includes('= reduceLane(') ? [i] : []));
    expect(reductions.length).toBeGreaterThan(4);
    const idle = reductions.filter((at) => {
      const without = lines.with(at, lines[at]!.replace(/reduceLane\((\w+), one, p\)/, '$1'));
      try {
        return extents(without.join('\n')).every(({ result }, i) => result <= largest(i));
      } catch (error) {
        expect(error).toBeInstanceOf(Overflow);
        return false;
      }
    });
    expect(idle).toEqual([]);
  });
});

test('32-bit lanes: products of a block, quotient and limbs of the reconstruction', () => {
  const bits = (x: number) => Number(Math.log2(2 ** 31 / x).toFixed(3));
  let quotient = 2 ** 27;
  const sums = labradorPlan
    .limbs(labradorPlan.centredQ(labradorPlan.PRODUCT))
    .map((limb) => 6 * Math.abs(limb));
  for (const [i, p] of labradorPlan.PRIMES.entries()) {
    quotient += labradorPlan.residueBound(i) * labradorPlan.reciprocal(p);
    for (const [j, limb] of labradorPlan
      .limbs(labradorPlan.centredQ(labradorPlan.cofactor(i)))
      .entries()) {
      sums[j]! += labradorPlan.residueBound(i) * Math.abs(limb);
    }
  }
  expect(
    [2 * labradorPlan.PAIRS * labradorPlan.FORM_MAX ** 2, quotient, ...sums].map(bits),
  ).toEqual([0.517, 0.391, 1.822, 2.373, 2.432]);
});

test('sums over blocks keep the bound that the inverse transform was planned for', () => {
  for (const p of labradorPlan.PRIMES) {
    const [, most] = sumsOf(labradorPlan.blockBound(p));
    expect(Math.floor((most + p * 32768) / 65536)).toBeLessThanOrEqual(labradorPlan.INVERSE_MAX);
  }
});
