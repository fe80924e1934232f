/** Cheating provers against cut inner commitments (docs/protocol.md, 6.2, 6.3, 8.3, 10.1). */
import { describe, expect, test } from 'vitest';
import { pairsOf } from '../../reference/prover/parameters.ts';
import { inner, type Poly } from '../../reference/prover/ring.ts';
import {
  amortise,
  challengesOf,
  type Projection,
  placesOfE,
  projectAll,
} from '../../reference/prover/steps.ts';
import type { Faults, FaultValues } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { at } from '../faults.ts';
import { expectAccepted, forged, lacking, monomial, plus, type Seen } from './attack.ts';
import { acceptedWithout, IN_LONG, IN_SHORT, LONG, levelOf, refused, stopped } from './hidden.ts';
import { CUT, TWO } from './rows.ts';

type Rows = readonly (readonly Poly[])[];

const level = 1;
const PLACES: readonly (readonly [string, TableRow])[] = [
  ...(IN_SHORT ? [['an open level', CUT] as const] : []),
  ...(IN_LONG ? [['a hidden level behind a hidden one', TWO] as const] : []),
];

/** What e is honestly, and zeros in its place. */
function withoutE(): { honest: () => Rows; fault: Pick<Faults, 'e'> } {
  let seen: Rows = [];
  const fault = {
    e: at(level, (rows: Rows) => {
      seen = rows;
      return rows.map((list) => list.map(() => monomial(0n)));
    }),
  };
  return { honest: () => seen, fault };
}

describe.each(PLACES)('%s', (_, row) => {
  const { r } = levelOf({ row, level });

  test('e = 0, and t stands for what it stood for', LONG, () => {
    stopped({ row, faults: withoutE().fault }, ['E3'], level + 1);
  });

  test.skipIf(!IN_LONG)('e as in E3, and h, lifts and y of rows without it', LONG, () => {
    const faults = (seen: Seen): Faults => {
      const { honest, fault } = withoutE();
      const z: Faults['z'] = at(level, (value: FaultValues['z']) => {
        const c = challengesOf(seen.seed('amortise'), level, r);
        return { z: value.z, e: amortise(c, honest()) };
      });
      return { ...fault, z };
    };
    stopped({ row, faults }, ['eInE5'], level + 1);
  });

  test.skipIf(!IN_LONG)('e in the quadratic form', LONG, () => {
    stopped({ row, faults: withSquares(level, r) }, ['E4']);
  });
});

/**
 * g of rows with their e. E6 reads such a g where E4 of the level before has squares of z: so E4 is
 * left out at every level.
 */
function withSquares(where: number, r: number): Faults {
  let e: Rows = [];
  return {
    e: at(where, (rows: Rows) => (e = rows)),
    g: at(where, (g: readonly Poly[]) =>
      pairsOf(r).map(([a, b], i) => plus(g[i]!, inner(e[a]!, e[b]!))),
    ),
  };
}

/** Digits of t' and of e hold it, and so does every other equation. */
test.skipIf(!IN_SHORT)('e of a row of length 2^30, and y of a short one', LONG, () => {
  const params = levelOf({ row: CUT, level });
  const { ct } = params;
  const change = (rows: Rows, by: bigint): Rows =>
    rows.with(0, rows[0]!.with(0, plus(rows[0]![0]!, monomial(by, 9))));
  const long = {
    tCut: at(level, (rows: Rows) => change(rows, 1n << BigInt(30 - ct))),
    e: at(level, (rows: Rows) => change(rows, 1n << 30n)),
  };
  const faults = (seen: Seen): Faults => ({
    ...long,
    y: at(level, ({ y, star }: Projection): Projection => {
      const none = Array.from({ length: params.r }, () => [monomial(0n)]);
      const only = placesOfE(params, change(none, 1n << 30n));
      const more = projectAll(seen.seed('jl'), level, only);
      const without = (all: readonly bigint[], some: readonly bigint[]) =>
        all.map((x, j) => x - some[j]!);
      return { y: without(y, more.y), star: without(star, more.star) };
    }),
  });
  refused({ row: CUT, faults });
  acceptedWithout({ row: CUT, faults: long }, ['eInProjection'], level);
});

test.skipIf(!IN_LONG)('e in the quadratic form of the tail', LONG, () => {
  const tail = 2;
  const attack = { row: CUT, faults: withSquares(tail, 4) };
  refused(attack, /^sealT/);
  const weak = forged(attack, { omit: new Set(['E4']) });
  const verdict = verifyReferenceSection({ ...weak, ...lacking(['E4']) });
  expect(verdict).toMatchObject({ why: expect.stringMatching(/^sealT/) });
  expectAccepted(weak, lacking(['E4', 'eOutOfG']));
});
