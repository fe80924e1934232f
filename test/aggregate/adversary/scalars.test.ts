/**
 * Cheating provers against equations that share a scalar (docs/protocol.md, 8.5): errors i and -i
 * in two of them, for every pair of kinds and within each kind.
 */
import { expect, test } from 'vitest';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults, FaultValues, SharedScalars } from '../../reference/prover/trace.ts';
import { at } from '../faults.ts';
import { expectStopped } from './attack.ts';
import { IN_LONG, IN_SHORT, LONG } from './hidden.ts';
import { BEHIND_ZERO } from './rows.ts';

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

type Pair = readonly [name: string, Spoil, Spoil, off: readonly SharedScalars[]];

// the first of each kind share omega_0
const KINDS: readonly Pair[] = [
  ['(P) and (P_x)', ofP(0), ofPx(0), ['scalarsOfPx']],
  ['(P) and (Q)', ofP(0), ofQ('A', 0, 0), ['scalarsOfQ']],
  ['(P) and (T_b)', ofP(0), ofTb(0), ['scalarsOfTb']],
  ['(P_x) and (Q)', ofPx(0), ofQ('A', 0, 0), ['scalarsOfPx', 'scalarsOfQ']],
  ['(P_x) and (T_b)', ofPx(0), ofTb(0), ['scalarsOfPx', 'scalarsOfTb']],
  ['(Q) and (T_b)', ofQ('A', 0, 0), ofTb(0), ['scalarsOfQ', 'scalarsOfTb']],
];
const WITHIN: readonly Pair[] = [
  ['rows of (P)', ofP(7), ofP(136), ['scalarsOfProjections']],
  ['rows of (P_x)', ofPx(7), ofPx(135), ['scalarsOfProjections']],
  ['messages of (Q)', ofQ('A', 5, 7), ofQ('2', 5, 7), ['scalarsOfMessages']],
  ['rows of (Q)', ofQ('b', 0, 3), ofQ('b', 5, 3), ['scalarsOfRows']],
  ['places of (Q)', ofQ('B', 2, 0), ofQ('B', 2, 7), ['scalarsOfPlaces']],
  ['lifts of (T_b)', ofTb(0), ofTb(2), ['scalarsOfLifts']],
];

const ALL = [...KINDS, ...WITHIN];
/** One with (P) and one without. */
const SOME = [KINDS[0]!, KINDS[5]!];
const TAKEN = ALL.filter((pair) => (SOME.includes(pair) ? IN_SHORT : IN_LONG));

test.each(TAKEN)('errors in equations of %s', LONG, (_, first, second, off) => {
  const faults = both(first(1n), second(-1n));
  const attack = { row: BEHIND_ZERO, faults, off, omit: off, at: 1 };
  expect(expectStopped(attack)).toMatch(/^seal/);
});
