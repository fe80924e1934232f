/**
 * Cheating provers against the argument: wrong commitments, garbage, lifts, padding, projections
 * and last messages, at every level. Each is accepted without the check that stops it.
 */
import { describe, expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import type { Constraint, Faults } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { TOY_ROWS } from '../../reference/toyRows.ts';
import type { Checks } from '../../reference/verifier/checks.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { NIGHTLY } from '../../support/run.ts';
import { at, bumpAt } from '../faults.ts';
import { expectStopped, forged, monomial, type Poly, zeros } from './attack.ts';
import { NARROW_1, NARROW_OUTPUT, NARROW_TAIL, SHORT, THREE } from './rows.ts';

const LONG = { timeout: 600_000 };
const items = [signedItem('falcon512', 1)];

/** What it changes, and the checks that stop it: constraints are left out by the prover, too. */
type Attack = readonly [
  name: string,
  row: TableRow,
  faults: Faults,
  off: readonly (keyof Checks)[],
  why?: RegExp,
];
const omitted = (off: Attack[3]) => off.filter((name) => !/^seal|Norm$/.test(name)) as Constraint[];

/** number of the tail in SHORT */
const TAIL = 1;
type Rows = readonly (readonly Poly[])[];
const bumpFirst = ([first, ...rest]: Rows): Rows => [bumpAt(first!, 0), ...rest];
/** A change that the cut of the low bits cannot hide. */
const bumpFar = (list: readonly Poly[]): readonly Poly[] =>
  list.with(0, list[0]!.with(3, list[0]![3]! + (1n << 30n)));

const ofLevel = (level: number, row: TableRow, pair: number, r: number): Attack[] => [
  ...[...(level === 0 ? ['uA', 'uB'] : ['u1']), 'u2'].map((name): Attack => {
    const u: Faults['u'] = at(level, (value) =>
      value.name === name ? { name, u: bumpFar(value.u) } : value,
    );
    return [`${name} is not the commitment`, row, { u }, [name === 'u2' ? 'E2' : 'E1']];
  }),
  ['t is not that of the row', row, { t: at(level, bumpFirst) }, ['E3']],
  ['wrong g', row, { g: at(level, (list) => bumpAt(list, pair)) }, ['E4']],
  ['wrong h of two rows', row, { h: at(level, (list) => bumpAt(list, 1)) }, ['E5']],
  [
    // h_00 and h_11 change against each other: their sum is right
    'wrong h of rows with themselves',
    row,
    { h: at(level, (list) => bumpAt(list, 0).with(r, list[r]!.with(3, list[r]![3]! - 1n))) },
    ['E5'],
  ],
  ['a wrong lift', row, { lifts: at(level, (list) => bumpAt(list, 1)) }, ['E6']],
];

/** Padding of one row; 1 and X^32 have squares that cancel: no other constraint sees them. */
const padding = (row: TableRow, kind: string, number: number, first: number): Attack => {
  const rows: Faults['rows'] = at(1, (list: Rows) =>
    list.map((polys, a) =>
      a === number ? polys.with(first, monomial(1n)).with(first + 1, monomial(1n, 32)) : polys,
    ),
  );
  return [`padding of the row of ${kind}`, row, { rows }, ['padding']];
};

const ofTail = (name: 'g' | 'h', what: string, place: number): Attack => {
  const seal = name === 'g' ? 'sealT' : 'sealH';
  const faults = { [name]: at(TAIL, (list: readonly Poly[]) => bumpAt(list, place)) };
  return [`${name} of ${what}`, SHORT, faults, [seal], new RegExp(`^${seal}`)];
};
const lastMessage = (name: 'z' | 'e', place: number): Attack => {
  const z: Faults['z'] = at(TAIL, (value) => ({ ...value, [name]: bumpAt(value[name], place) }));
  return [`the last message: ${name} that opens nothing`, SHORT, { z }, ['sealT', 'sealH']];
};
const wrongSeal = (label: 't' | 'h'): Attack => {
  const seal: Faults['seal'] = (value) =>
    value.label === label ? { label, seal: value.seal.map((x) => x ^ 1) } : value;
  return [`the seal of ${label}`, SHORT, { seal }, [label === 't' ? 'sealT' : 'sealH']];
};

const noY: Faults = { y: at(1, zeros) };
const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  'level 0': ofLevel(0, SHORT, 3, 3),
  'level 1': [
    ...ofLevel(1, THREE, -1, 5),
    ['an input beyond its bound', NARROW_1, {}, ['projectionNorm'], /^projectionNorm: level 1/],
    ['a projection of zeros', NARROW_1, noY, ['J']],
    padding(THREE, 'z_0', 0, 18),
    padding(THREE, 'z_2', 2, 18),
    padding(THREE, 'v', 4, 38),
  ],
  tail: [
    [
      'a lift that is not the value of the form',
      SHORT,
      { lifts: at(TAIL, (list) => bumpAt(list, 1)) },
      ['sealH'],
      /^sealH/,
    ],
    ['t of a row that is sent', SHORT, { tCut: bumpFirst }, ['sealT'], /^sealT/],
    [
      't of the last row, sealed',
      SHORT,
      { t: at(TAIL, (list) => list.with(-1, bumpAt(list.at(-1)!, 0))) },
      ['sealT'],
      /^sealT/,
    ],
    ofTail('g', 'a pair that is sent, without a part in E6', 3),
    ofTail('g', 'the last pair, sealed', 14),
    ofTail('h', 'a pair that is sent', 2),
    ofTail('h', 'a row with itself', 5),
    ofTail('h', 'the last pair, sealed', 14),
    wrongSeal('t'),
    wrongSeal('h'),
    lastMessage('z', 7),
    lastMessage('e', 0),
    ['an input beyond its bound', NARROW_TAIL, {}, ['projectionNorm'], /^projectionNorm: tail/],
    ['the last message is too long', NARROW_OUTPUT, {}, ['outputNorm'], /^outputNorm/],
    ['a projection of zeros', NARROW_TAIL, noY, ['J']],
    padding(SHORT, 'z_0', 0, 18),
    padding(SHORT, 'z_1', 1, 18),
    padding(SHORT, 'v', 4, 38),
  ],
};

// longer proofs, so most of these wait for the nightly run
const isTried = ([, row]: Attack) => NIGHTLY || (row !== THREE && row !== NARROW_1);
const TRIED = Object.entries(ATTACKS)
  .map(([level, attacks]) => [level, attacks.filter(isTried)] as const)
  .filter(([, attacks]) => attacks.length > 0);

describe.each(TRIED)('%s', (_, attacks) => {
  test.for(attacks)('%s', LONG, ([, row, faults, off, why = /./]) => {
    const omit = omitted(off);
    const reason = expectStopped({ row, items, faults, off, ...(omit.length > 0 && { omit }) });
    expect(reason).toMatch(why);
  });
});

const more = (list: readonly bigint[], place: number, by = 1n) =>
  list.with(place, list[place]! + by);
const moved = (half: 'y' | 'star', place: number, by: bigint): Faults => ({
  y: (value) => ({ ...value, [half]: more(value[half], place, by) }),
});
/** The places of the second item are padding. */
const ONE_OF_TWO = TOY_ROWS['two digits, no cut']!;
const lastBumped = (list: readonly Poly[]) => bumpAt(list, list.length - 1);

test.each<[string, Faults, Constraint[]]>([
  ['padding', { rowsY: (rows) => rows.with(-1, lastBumped(rows.at(-1)!)) }, ['padding']],
  ['y is not the projection', moved('y', 17, 1n), ['J']],
  ['y* is not the projection', moved('star', 135, -1n), ['J']],
  ['U is not the sum of the lower halves', moved('y', 136, 1n), ['J']],
  ['V is not the sum of the upper halves', moved('star', 136, 1n), ['J']],
  ['w_j is one too large', { w: (w) => more(w, 4) }, ['F']],
  ['Y is not the product', { Y: bumpFirst }, ['K', 'N1']],
])('one item of two: %s', LONG, (_, faults, off) => {
  const attack = { row: ONE_OF_TWO, items, faults, off, omit: off };
  expectStopped(attack);
  const weak = forged(attack, { omit: new Set(off) });
  expect(verifyReferenceSection(weak).ok).toBe(false);
});
