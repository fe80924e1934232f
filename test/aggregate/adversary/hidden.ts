/** Cheating provers of hidden messages: how they change what a level carries to the next one. */
import { expect } from 'vitest';
import {
  type Message,
  type MessageName,
  type Ordinary,
  placeOf,
  readParameters,
} from '../../reference/prover/parameters.ts';
import { digitMajor, type Projection, projectAll } from '../../reference/prover/steps.ts';
import type { Constraint, Faults, FaultValues } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { at } from '../faults.ts';
import {
  type Attack,
  expectAccepted,
  expectRefused,
  expectStopped,
  type Forged,
  forged,
  lacking,
  type Poly,
  zero,
} from './attack.ts';
import { BEHIND_ZERO, CHAIN, TWO } from './rows.ts';

export const LONG = { timeout: 600_000 };

/** The long run repeats nothing of the short one; the nightly run takes all. */
export const IN_SHORT = SHORT_RUN || NIGHTLY;
export const IN_LONG = !SHORT_RUN;

type Cheat = Pick<Attack, 'row' | 'faults'>;

/** Constraints that both sides lack, at one level or everywhere, stop it, and they alone. */
export function stopped(cheat: Cheat, off: readonly Constraint[], at?: number, why = /^seal/) {
  const attack = { ...cheat, off, omit: off, ...(at !== undefined && { at }) };
  expect(expectStopped(attack)).toMatch(why);
}

/** The whole verifiers refuse it. */
export const refused = (cheat: Cheat, why = /^seal/): void =>
  expect(expectRefused(forged(cheat))).toMatch(why);

/** Accepted if prover and verifier lack the constraints at a level. */
export function acceptedWithout(cheat: Cheat, off: readonly Constraint[], at: number): Forged {
  const proof = forged(cheat, { omit: new Set(off), omitAt: at });
  expectAccepted(proof, lacking(off, at));
  return proof;
}

/** A hidden message: of which level, and what judges it there. */
export interface Hidden {
  readonly row: TableRow;
  readonly level: number;
  readonly message: MessageName;
  readonly name: string;
}

const allOf = (row: TableRow, level: number, messages: string, behind: string): Hidden[] =>
  Array.from(messages, (letter): Hidden => {
    const message = letter as MessageName;
    return { row, level, message, name: `${message} of level ${level}, ${behind}` };
  });

/**
 * Every message of every kind of level, divided among the short run and the long one: level 0
 * before the tail; before a level with two blocks of E1; before the tail and before a level after
 * that one.
 */
export const MESSAGES: readonly Hidden[] = [
  ...(IN_SHORT ? allOf(BEHIND_ZERO, 0, 'Ab2', 'before the tail') : []),
  ...(IN_LONG ? allOf(BEHIND_ZERO, 0, 'B', 'before the tail') : []),
  ...(IN_LONG ? allOf(TWO, 0, 'ABb2', 'before level 1') : []),
  ...(IN_LONG ? allOf(TWO, 1, '1b2', 'before the tail') : []),
  ...(IN_LONG ? allOf(CHAIN, 1, '1b2', 'before level 2') : []),
];

/** One of them for each level that hides some. */
export const HIDING: readonly Hidden[] = MESSAGES.filter(
  ({ row, level }, i) => MESSAGES.findIndex((one) => one.row === row && one.level === level) === i,
).map((hidden) => ({ ...hidden, name: hidden.name.replace(/^\w of /, '') }));

/** The messages of a list that belong to the level of one of them. */
export const ofLevel = (list: readonly Hidden[], { row, level }: Hidden): Hidden[] =>
  list.filter((one) => one.row === row && one.level === level);

export const levelOf = ({ row, level }: Pick<Hidden, 'row' | 'level'>): Ordinary =>
  readParameters(row).levels[level]!;

/** Where a message stands in x. */
export const messageOf = (hidden: Hidden): Message =>
  levelOf(hidden).messages.find(({ name }) => name === hidden.message)!;

/** Changes v of a level when the next one takes it over: all of the level is done by then. */
export function carried(
  { row, level }: Pick<Hidden, 'row' | 'level'>,
  change: (v: readonly Poly[], params: Ordinary) => readonly Poly[],
): Faults {
  const { levels, tail } = readParameters(row);
  const params = levels[level]!;
  const shape = levels[level + 1] ?? tail;
  const places = Array.from({ length: params.m }, (_, i) => placeOf(shape, params.f, i));
  return {
    rows: at(level + 1, (rows: readonly (readonly Poly[])[]) => {
      const changed = rows.map((row) => [...row]);
      const v = places.map(({ row, column }) => rows[row]![column]!);
      for (const [i, poly] of change(v, params).entries()) {
        const { row, column } = places[i]!;
        changed[row]![column] = poly;
      }
      return changed;
    }),
  };
}

/**
 * Two digits of a message gathered in the lower one: it stands for the same, and is longer than X
 * allows.
 */
export const gathered = (hidden: Hidden): Pick<Faults, 'x'> => ({
  x: at(hidden.level, (value: FaultValues['x']) => {
    if (value.message !== hidden.message) return value;
    const { w } = levelOf(hidden);
    const { polynomials } = messageOf(hidden);
    const [low, high] = [value.x[0]!, value.x[polynomials]!];
    const both = low.map((x, i) => x + (high[i]! << BigInt(w)));
    return { message: value.message, x: value.x.with(0, both).with(polynomials, zero()) };
  }),
});

/** Every x of a level as a fault gets it, before it is changed and after. */
export function watched({ level }: Hidden, { x }: Pick<Faults, 'x'>) {
  const [before, after]: [Poly[], Poly[]] = [[], []];
  const watching: Faults['x'] = (value: FaultValues['x'], place) => {
    const changed = x!(value, place);
    if (place.level !== level) return changed;
    before.push(...value.x);
    after.push(...changed.x);
    return changed;
  };
  return { before, after, watching };
}

/** The projection of an x by the matrix of the level behind. */
export function projectionOfX(
  { row, level }: Pick<Hidden, 'row' | 'level'>,
  jl: Uint8Array,
  x: readonly Poly[],
): Projection {
  const { levels, tail } = readParameters(row);
  const shape = levels[level + 1] ?? tail;
  const places = x.map((poly, i) => {
    const { row, column } = placeOf(shape, levels[level]!.f, i);
    return { number: row * shape.n + column, poly, row, column };
  });
  return projectAll(jl, level + 1, places);
}

/** A list with other values from a place on. */
export const put = <T>(list: readonly T[], from: number, values: readonly T[]): T[] =>
  list.map((value, i) => values[i - from] ?? value);

/** x of a message in v becomes that of these values. */
export function withDigits(hidden: Hidden, v: readonly Poly[], values: readonly Poly[]): Poly[] {
  const { digits, polynomials, at } = messageOf(hidden);
  if (values.length !== polynomials) throw new RangeError(`${values.length} polynomials`);
  return put(v, at, digitMajor(values, digits, levelOf(hidden).w));
}
