/**
 * Cheating provers against the argument: wrong commitments, garbage, lifts, padding, projections
 * and last messages, at every level. Each is accepted without the check that stops it.
 */
import { expect, test } from 'vitest';
import { signedItem } from '../../reference/items.ts';
import type { Constraint, Faults } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import type { Checks } from '../../reference/verifier/checks.ts';
import { NIGHTLY } from '../../support/run.ts';
import { at, bumpAt } from '../faults.ts';
import { expectStopped, monomial, type Poly, zeros } from './attack.ts';
import { NARROW_1, NARROW_OUTPUT, NARROW_TAIL, SHORT, THREE } from './rows.ts';

/**
 * The level between level 0 and the tail: longer proofs, so most of its attacks wait for the
 * nightly run.
 */

const LONG = { timeout: 600_000 };
/** number of the tail in SHORT */
const TAIL = 1;
const ITEMS = [signedItem('falcon512', 1)];

function attack(
  name: string,
  faults: Faults,
  off: readonly (keyof Checks)[],
  omit?: readonly Constraint[],
  row: TableRow = SHORT,
  why?: RegExp,
): void {
  const later = !NIGHTLY && (row === THREE || row === NARROW_1);
  test.skipIf(later)(name, LONG, () => {
    const reason = expectStopped({ row, items: ITEMS, faults, off, ...(omit && { omit }) });
    if (why !== undefined) expect(reason).toMatch(why);
  });
}

for (const level of [0, 1]) {
  const row = level === 0 ? SHORT : THREE;
  for (const name of level === 0 ? ['uA', 'uB'] : ['u1']) {
    const u: Faults['u'] = at(level, (value) =>
      value.name === name ? { name, u: bumpFar(value.u) } : value,
    );
    attack(`level ${level}: ${name} is not the commitment`, { u }, ['E1'], ['E1'], row);
  }
  const u2: Faults['u'] = at(level, (value) =>
    value.name === 'u2' ? { name: 'u2', u: bumpFar(value.u) } : value,
  );
  attack(`level ${level}: u2 is not the commitment`, { u: u2 }, ['E2'], ['E2'], row);

  const t: Faults['t'] = at(level, (list) => [bumpAt(list[0]!, 0), ...list.slice(1)]);
  attack(`level ${level}: t is not that of the row`, { t }, ['E3'], ['E3'], row);

  const g: Faults['g'] = at(level, (list) => bumpAt(list, level === 0 ? 3 : list.length - 1));
  attack(`level ${level}: wrong g`, { g }, ['E4'], ['E4'], row);

  const h: Faults['h'] = at(level, (list) => bumpAt(list, 1));
  attack(`level ${level}: wrong h of two rows`, { h }, ['E5'], ['E5'], row);

  // h_00 and h_11 change against each other: their sum is right
  const r = level === 0 ? 3 : 5;
  const swap: Faults['h'] = at(level, (list) =>
    bumpAt(list, 0).with(r, list[r]!.with(3, list[r]![3]! - 1n)),
  );
  attack(`level ${level}: wrong h of rows with themselves`, { h: swap }, ['E5'], ['E5'], row);
}

for (const level of [0, 1]) {
  const lifts: Faults['lifts'] = at(level, (list) => bumpAt(list, 1));
  const row = level === 0 ? SHORT : THREE;
  attack(
    `level ${level}: a lift that is not the value of the form`,
    { lifts },
    ['E6'],
    ['E6'],
    row,
  );
}
attack(
  'tail: a lift that is not the value of the form',
  { lifts: at(TAIL, (list: readonly Poly[]) => bumpAt(list, 1)) },
  ['sealH'],
  undefined,
  SHORT,
  /^sealH/,
);

attack(
  'tail: t of a row that is sent',
  { tCut: (list) => [bumpAt(list[0]!, 0), ...list.slice(1)] },
  ['sealT'],
  undefined,
  SHORT,
  /^sealT/,
);
attack(
  'tail: t of the last row, sealed',
  {
    t: at(TAIL, (list: readonly (readonly Poly[])[]) => [
      ...list.slice(0, -1),
      bumpAt(list.at(-1)!, 0),
    ]),
  },
  ['sealT'],
  undefined,
  SHORT,
  /^sealT/,
);
for (const [name, place] of [
  ['a pair that is sent, without a part in E6', 3],
  ['the last pair, sealed', 14],
] as const) {
  const g: Faults['g'] = at(TAIL, (list) => bumpAt(list, place));
  attack(`tail: g of ${name}`, { g }, ['sealT'], undefined, SHORT, /^sealT/);
}
for (const [name, place] of [
  ['a pair that is sent', 2],
  ['a row with itself', 5],
  ['the last pair, sealed', 14],
] as const) {
  const h: Faults['h'] = at(TAIL, (list) => bumpAt(list, place));
  attack(`tail: h of ${name}`, { h }, ['sealH'], undefined, SHORT, /^sealH/);
}
for (const label of ['t', 'h'] as const) {
  const seal: Faults['seal'] = (value) =>
    value.label === label ? { label, seal: value.seal.map((x) => x ^ 1) } : value;
  attack(`the seal of ${label}`, { seal }, [label === 't' ? 'sealT' : 'sealH']);
}

attack(
  'the last message: a z that opens nothing',
  {
    z: at(TAIL, (value: { z: readonly Poly[]; e: readonly Poly[] }) => ({
      ...value,
      z: bumpAt(value.z, 7),
    })),
  },
  ['sealT', 'sealH'],
);
attack(
  'the last message: an e that opens nothing',
  {
    z: at(TAIL, (value: { z: readonly Poly[]; e: readonly Poly[] }) => ({
      ...value,
      e: bumpAt(value.e, 0),
    })),
  },
  ['sealT', 'sealH'],
);

const J = ['projectionNorm'] as const;
attack(
  'level 1: an input beyond its bound',
  {},
  J,
  undefined,
  NARROW_1,
  /^projectionNorm: level 1/,
);
attack('tail: an input beyond its bound', {}, J, undefined, NARROW_TAIL, /^projectionNorm: tail/);
attack('the last message is too long', {}, ['outputNorm'], undefined, NARROW_OUTPUT, /^outputNorm/);
const noY: Faults['y'] = at(1, zeros);
attack('level 1: a projection of zeros', { y: noY }, ['J'], ['J'], NARROW_1);
attack('tail: a projection of zeros', { y: noY }, ['J'], ['J'], NARROW_TAIL);

/**
 * Padding of one row; 1 and X^32 have squares that cancel, so that no other constraint sees them.
 */
for (const [name, proof, row, first, kind] of [
  ['tail', SHORT, 0, 18, 'z_0'],
  ['tail', SHORT, 1, 18, 'z_1'],
  ['tail', SHORT, 4, 38, 'v'],
  ['level 1', THREE, 0, 18, 'z_0'],
  ['level 1', THREE, 2, 18, 'z_2'],
  ['level 1', THREE, 4, 38, 'v'],
] as const) {
  const rows: Faults['rows'] = at(1, (list: readonly (readonly Poly[])[]) =>
    list.map((polys, a) =>
      a === row ? polys.with(first, monomial(1n)).with(first + 1, monomial(1n, 32)) : polys,
    ),
  );
  const off = ['padding'] as const;
  attack(`${name}: padding of the row of ${kind}`, { rows }, off, off, proof);
}

/** A change that the cut of the low bits cannot hide. */
function bumpFar(list: readonly Poly[]): readonly Poly[] {
  return list.with(0, list[0]!.with(3, list[0]![3]! + (1n << 30n)));
}
