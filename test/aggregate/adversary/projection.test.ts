/**
 * Cheating provers against the projection by bits and the sums of the two halves (docs/protocol.md,
 * 5.3): what is sent of it are y'_j, y'*_j, U and V, what is held to a bound is x_j = 2 y'_j - par
 * and x*_j = 2 y'*_j - par. Each is accepted without the one thing that stops it.
 *
 * Those things are rows of a matrix and no checks of the verifier, so they are taken from the
 * matrix that both sides draw.
 */
import { describe, expect, test, vi } from 'vitest';
import { headerOf, signedItem } from '../../reference/items.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import { hashOfRow } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { keyRow } from '../../reference/verifier/challenges.ts';
import { centred, multiply } from '../../reference/verifier/ring.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { toyProof } from '../reference/toyProofs.ts';
import { expectStopped, type Poly, plus, Q, RANDOM_ROWS, scaled } from './attack.ts';
import { SHORT } from './rows.ts';
import {
  far,
  type Lie,
  type List,
  lieOfMean,
  lieOfParity,
  normOf,
  signsOf,
  squares,
  withSums,
} from './sums.ts';

/** Parts of the projection; a test takes one of them away from both sides. */
const has = vi.hoisted(() => ({
  /** omega_136, the share of row 136 in the lifts: it ties U and V to the witness */
  rowOfSums: true,
  /**
   * entries 0 and 1; without them entries are the signs 2 pi - 1, row 136 is zero, and y' is the
   * projection by signs
   */
  bits: true,
}));

vi.mock('../../reference/verifier/challenges.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../reference/verifier/challenges.ts')>();
  return {
    ...real,
    scalars: (...args: Parameters<typeof real.scalars>) =>
      weights(real.scalars(...args), 2 * RANDOM_ROWS, 0n),
    projectionOf: (...args: Parameters<typeof real.projectionOf>) =>
      matrix(real.projectionOf(...args)),
  };
});
vi.mock('../../reference/prover/challenges.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../reference/prover/challenges.ts')>();
  return {
    ...real,
    omegas: (...args: Parameters<typeof real.omegas>) =>
      weights(real.omegas(...args), RANDOM_ROWS, [0n, 0n] as const),
    projectionOf: (...args: Parameters<typeof real.projectionOf>) =>
      matrix(real.projectionOf(...args)),
  };
});

/** Omegas, and only they, go on behind the random rows: there they become zero. */
const weights = <T>(list: T[], from: number, none: T): T[] =>
  has.rowOfSums || list.length <= from ? list : list.map((x, i) => (i < from ? x : none));

const matrix = (entries: Int8Array): Int8Array =>
  has.bits ? entries : entries.map((x, i) => (i < 64 * RANDOM_ROWS ? 2 * x - 1 : 0));

const LONG = { timeout: 600_000 };
const ITEMS = [signedItem('falcon512', 1)];
const ALL_LEVELS = [
  ['level 0', 0],
  ['tail', 1],
] as const;
/** Each proof takes seconds: the tail waits for the long run. */
const LEVELS = SHORT_RUN ? ALL_LEVELS.slice(0, 1) : ALL_LEVELS;
const LOOSE = 2n ** 42n;

/** A row with another bound on the input of a level: nothing of a transcript depends on it. */
function heldTo(inSq: bigint, level: number, row: TableRow = SHORT): TableRow {
  const [set, bucket, levels] = row;
  const at = level === levels.length - 1 ? 3 : 10;
  return [set, bucket, levels.with(level, levels[level]!.with(at, Number(inSq)))] as TableRow;
}

/** Whom to fool, and how. */
interface Attempt {
  readonly row: TableRow;
  readonly faults: Faults;
  /** the row of the verifier, if it is another one: the prover is done when it is asked */
  readonly judgedBy?: () => TableRow;
}

function judge({ row, faults, judgedBy = () => row }: Attempt) {
  const all = { ...faults, unchecked: true, ignore: () => true };
  const proof = toyProof(row, {
    items: ITEMS,
    header: headerOf(ITEMS, [hashOfRow(row)]),
    faults: all,
  });
  const verdict = verifyReferenceSection({ ...proof, row: judgedBy() });
  return { verdict, accepted: { ok: true, length: proof.bytes.length } };
}

/** Runs an action while both sides lack one part. */
function without<T>(what: keyof typeof has, action: () => T): T {
  has[what] = false;
  try {
    return action();
  } finally {
    has[what] = true;
  }
}

describe.each(LEVELS)('a sum of coefficients that is wrong, %s', (name, level) => {
  /**
   * A witness beyond the bound: x as it is has a larger norm than the verifier allows, and x with
   * another sum has not.
   *
   * @param least what is to be gained, in thousandths of the norm; counters with less are passed
   *   over
   */
  function attempt(more: (sent: Projection) => Lie, least: bigint): Attempt {
    let [long, short] = [0n, 0n];
    const y: Faults['y'] = (sent, place) => {
      if (place.level !== level) return sent;
      const lie = withSums(sent, more(sent));
      [long, short] = [normOf(sent), normOf(lie)];
      // no counter is taken for the second one
      return 1000n * (long - short) > least * long ? lie : far(sent);
    };
    const judgedBy = () => {
      const inSq = (short + 287n) / 288n;
      expect(long).toBeGreaterThan(288n * inSq);
      expect(1000n * (long - short)).toBeGreaterThan(least * long);
      return heldTo(inSq, level);
    };
    return { row: heldTo(LOOSE, level), faults: { y }, judgedBy };
  }
  function expectStoppedBySums(make: () => Attempt): void {
    const { verdict } = judge(make());
    expect(verdict).toMatchObject({ ok: false, why: expect.stringMatching(/^sealH/) });
    const weak = without('rowOfSums', () => judge(make()));
    expect(weak.verdict).toEqual(weak.accepted);
  }

  test.skipIf(SHORT_RUN)('it takes the mean out of x, so that a longer witness fits', LONG, () => {
    expectStoppedBySums(() => attempt(lieOfMean, 3n));
  });

  test.skipIf(SHORT_RUN)(
    'its parity alone: y is the same, every x is nearer to the mean by one',
    LONG,
    () => {
      expectStoppedBySums(() => attempt(lieOfParity, 0n));
    },
  );

  test.skipIf(SHORT_RUN || (!NIGHTLY && level > 0))(
    `y that agrees with it: the other rows see it too, ${name}`,
    LONG,
    () => {
      // half of U more in every row: all x are what they were
      const more = 2n ** 20n;
      const y: Faults['y'] = (sent, place) =>
        place.level === level
          ? {
              y: sent.y.map((value, j) => value + (j < RANDOM_ROWS ? more : 2n * more)),
              star: sent.star.map((value, j) => value - (j < RANDOM_ROWS ? more : 0n)),
            }
          : sent;
      const shared = { row: heldTo(LOOSE, level), faults: { y } };
      const why = expectStopped({ ...shared, items: ITEMS, off: ['J'], omit: ['J'] });
      expect(why).toMatch(/^sealH/);
      expect(without('rowOfSums', () => judge(shared).verdict.ok)).toBe(false);
    },
  );
});

/**
 * Half-integers in the witness of the tail: 1/2 modulo q in every coefficient of two digits, one of
 * g and one of h, with the digit below each made up so that g and h are what they are. The two
 * stand in one column of two rows. A challenge c has an odd number of odd coefficients, so c (1 + X
 * + ... + X^63) is odd everywhere, and the sum of two of them is even: z has no half, and all that
 * is sent in the end are short integers. Signs give 128 halves with signs, an integer for every
 * row.
 */
describe('half-integers, where everything that is sent is short', () => {
  const TAIL = 1;
  const HALF = (Q + 1n) / 2n; // 1/2 modulo q
  const DIGIT = 9n; // bits of a digit of g and of h
  const ONES = new Array<bigint>(64).fill(1n);
  /**
   * places among the digits of g and of h: digit 1 of g_00 and digit 2 of h_12, and the digits
   * below; v has 15 digits of t, 30 of g, 30 of h
   */
  const [ofG, ofH] = [
    { column: 6, below: 0 },
    { column: 16, below: 10 },
  ];
  /** columns of M: in u_B five digits of t stand before those of g */
  const columnInM = { g: 5, h: 0 };
  const placeInV = { g: 15, h: 45 };
  const N = 40; // columns of the tail, whose rows 3 and 4 are v
  /** SHORT with codes of g for all residues: products with halves are not short, and need not be */
  const WIDE_G = SHORT.with(
    2,
    SHORT[2].with(TAIL, SHORT[2][TAIL]!.with(8, new Array<number>(14).fill(280))),
  ) as unknown as TableRow;

  const half = (poly: Poly): Poly => poly.map((x) => centred(x + HALF));
  const below = (poly: Poly): Poly => poly.map((x) => x - (1n << (DIGIT - 1n)));
  function withHalves(rows: readonly (readonly Poly[])[]): readonly (readonly Poly[])[] {
    const changes = new Map([
      [placeInV.g + ofG.column, half],
      [placeInV.g + ofG.below, below],
      [placeInV.h + ofH.column, half],
      [placeInV.h + ofH.below, below],
    ]);
    return rows.map((row, a) =>
      a < 3 ? row : row.map((poly, column) => changes.get(N * (a - 3) + column)?.(poly) ?? poly),
    );
  }
  /** The change of the outer commitment to the digits. */
  function added(first: number, { column, below: other }: typeof ofG): Poly {
    const key = keyRow(0, first + column + 1).slice(first);
    const on = (element: Poly, factor: bigint) => scaled(multiply(element, ONES), factor);
    return plus(on(key[column]!, HALF), on(key[other]!, -(1n << (DIGIT - 1n))));
  }
  const commitment: Faults['u'] = (value) => {
    const more = {
      uB: () => added(columnInM.g, ofG),
      u2: () => added(columnInM.h, ofH),
    }[value.name];
    return more === undefined ? value : { ...value, u: [plus(value.u[0]!, more())] };
  };

  /** the projection of the last attempt, modulo q */
  let seen: Projection = { y: [], star: [] };
  /** squared norm of the tail's rows before they are changed */
  let honest = 0n;
  const attempt = (send: (sent: Projection) => Projection): Attempt => ({
    row: heldTo(LOOSE, 0, WIDE_G),
    faults: {
      u: commitment,
      rows: (rows, { level }) => {
        if (level !== TAIL) return rows;
        honest = squares(rows.flat(2));
        return withHalves(rows);
      },
      y: (sent, { level }) => {
        if (level !== TAIL) return sent;
        seen = { y: sent.y.map(centred), star: sent.star.map(centred) };
        return send(seen);
      },
      z: (value, { level }) =>
        level === TAIL ? { z: value.z.map((poly) => poly.map(centred)), e: value.e } : value,
    },
  });
  /** The projection by signs, as a verifier of signs takes it: y' = x, U = V = 0. */
  const bySigns = ({ y, star }: Projection): Projection => ({
    y: y.with(RANDOM_ROWS, 0n),
    star: star.with(RANDOM_ROWS, 0n),
  });
  /** The sums that the witness has; y and y* as near as integers come to x and x*. */
  const byBits = ({ y, star }: Projection): Projection => {
    const [U, V] = [y[RANDOM_ROWS]!, star[RANDOM_ROWS]!];
    const near = (list: List, sum: bigint, last: bigint): List =>
      list.map((x, j) => (j === RANDOM_ROWS ? last : (centred(2n * x - sum) + sum) >> 1n));
    return { y: near(y, U + V, U), star: near(star, V - U, V) };
  };
  const isLarge = (x: bigint): boolean => x > Q / 4n || x < -Q / 4n;

  /** As short as the projection by signs of an honest witness. */
  const expectShort = (x: List): void =>
    expect(squares(x)).toBeLessThan(4n * BigInt(RANDOM_ROWS) * honest);

  test('a verifier that projects by signs takes it', LONG, () => {
    const { verdict, accepted } = without('bits', () => judge(attempt(bySigns)));
    expect(verdict).toEqual(accepted);
    expectShort([...seen.y, ...seen.star]);
    // it does judge: what is no projection is refused
    const wrong = (sent: Projection) => {
      const { y, star } = bySigns(sent);
      return { y: y.with(7, y[7]! + 1n), star };
    };
    expect(without('bits', () => judge(attempt(wrong)).verdict)).toMatchObject({
      why: expect.stringMatching(/^sealH/),
    });
  });

  test('bits see it: half of the sums are no integers', LONG, () => {
    const { verdict } = judge(attempt(byBits));
    expect(verdict).toMatchObject({ ok: false, why: expect.stringMatching(/^sealH/) });
    for (const list of [seen.y, seen.star]) {
      const large = list.slice(0, RANDOM_ROWS).filter(isLarge).length;
      // within five standard deviations of the half
      expect(Math.abs(large - RANDOM_ROWS / 2)).toBeLessThan(2.5 * Math.sqrt(RANDOM_ROWS));
      // row 136 does not see it, and what signs see of it is short
      expect(isLarge(list[RANDOM_ROWS]!)).toBe(false);
    }
    expectShort(signsOf(seen).flat().map(centred));
  });
});
