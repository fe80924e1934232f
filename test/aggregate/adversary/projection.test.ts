/**
 * Cheating provers against the projection by bits and the sums of the halves (docs/protocol.md,
 * 5.3): what is sent of it are y'_j, y*'_j, U and V, what is held to a bound are x_j = 2 y_j - (U +
 * V) and x*_j = 2 y*_j - (V - U). Each is accepted without the one thing that stops it.
 *
 * Those things are rows of a matrix and no checks of the verifier, so they are taken from the
 * matrix that both sides draw.
 */
import { describe, expect, test, vi } from 'vitest';
import { headerOf, signedItem } from '../../reference/items.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { keyRow } from '../../reference/verifier/challenges.ts';
import { centred, multiply } from '../../reference/verifier/ring.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { toyProof } from '../reference/toyProofs.ts';
import { expectStopped, type Poly, plus, Q, RANDOM_ROWS, scaled } from './attack.ts';
import { SHORT } from './rows.ts';

/** Parts of the projection; a test takes one of them away from both sides. */
const has = vi.hoisted(() => ({
  /**
   * omega_136, the share of the row of lower halves in the lifts; without it nothing ties U and V
   * to the witness
   */
  rowOfHalves: true,
  /**
   * entries 0 and 1; without them entries are the signs 2 pi - 1, there is no row of halves, and y'
   * is the projection by signs
   */
  bits: true,
}));

vi.mock('../../reference/verifier/challenges.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../reference/verifier/challenges.ts')>();
  return {
    ...real,
    scalars: (...args: Parameters<typeof real.scalars>) => weights(real.scalars(...args)),
    projectionOf: (...args: Parameters<typeof real.projectionOf>) =>
      matrix(real.projectionOf(...args)),
  };
});
vi.mock('../../reference/prover/challenges.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../reference/prover/challenges.ts')>();
  return {
    ...real,
    omegas: (...args: Parameters<typeof real.omegas>) => {
      const list = real.omegas(...args);
      return has.rowOfHalves ? list : list.with(RANDOM_ROWS, [0n, 0n]);
    },
    projectionOf: (...args: Parameters<typeof real.projectionOf>) =>
      matrix(real.projectionOf(...args)),
  };
});

/** Scalars; two for each of 137 rows are omega. */
const weights = (list: bigint[]): bigint[] =>
  has.rowOfHalves || list.length !== 2 * (RANDOM_ROWS + 1) ? list : list.with(-2, 0n).with(-1, 0n);

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

type List = readonly bigint[];
const sumOf = (list: List): bigint => list.reduce((sum, x) => sum + x, 0n);
const squares = (list: List): bigint => sumOf(list.map((x) => x * x));
/** U + V, of which x_j is held to the half, and V - U, likewise of x*_j. */
const sumsOf = ({ y, star }: Projection): [plain: bigint, crossed: bigint] => {
  const [u, v] = [y[RANDOM_ROWS]!, star[RANDOM_ROWS]!];
  return [u + v, v - u];
};
/** x_j and x*_j of a projection. */
function signsOf(value: Projection): { x: bigint[]; star: bigint[] } {
  const [plain, crossed] = sumsOf(value);
  return {
    x: value.y.slice(0, RANDOM_ROWS).map((each) => 2n * each - plain),
    star: value.star.slice(0, RANDOM_ROWS).map((each) => 2n * each - crossed),
  };
}
const signedNormSq = (value: Projection): bigint => {
  const { x, star } = signsOf(value);
  return squares(x) + squares(star);
};

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
  const proof = toyProof(row, { items: ITEMS, header: headerOf(ITEMS), faults: all });
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

/** What is added to U + V and to V - U: both even, or both odd. */
type More = readonly [plain: bigint, crossed: bigint];

/** U and V that are others: y' make up for it, and no other row of the matrix sees it. */
const withSums = ({ y, star }: Projection, [plain, crossed]: More): Projection => ({
  y: y.with(RANDOM_ROWS, y[RANDOM_ROWS]! + (plain - crossed) / 2n),
  star: star.with(RANDOM_ROWS, star[RANDOM_ROWS]! + (plain + crossed) / 2n),
});
/** No counter is taken for it. */
const hopeless = ({ y, star }: Projection): Projection => ({
  y: y.map(() => 2n ** 40n),
  star: star.map(() => 2n ** 40n),
});

describe.each(LEVELS)('sums of coefficients that are wrong, %s', (name, level) => {
  /**
   * A witness beyond the bound: x as it is has a larger norm than the verifier allows, and x with
   * another sum has not.
   *
   * @param least what is to be gained, in thousandths of the norm; counters with less are passed
   *   over
   */
  function attempt(more: (value: Projection) => More, least: bigint): Attempt {
    let [long, short] = [0n, 0n];
    const y: Faults['y'] = (value, place) => {
      if (place.level !== level) return value;
      const lie = withSums(value, more(value));
      [long, short] = [signedNormSq(value), signedNormSq(lie)];
      return 1000n * (long - short) > least * long ? lie : hopeless(value);
    };
    const judgedBy = () => {
      const inSq = (short + 287n) / 288n;
      expect(long).toBeGreaterThan(288n * inSq);
      expect(1000n * (long - short)).toBeGreaterThan(least * long);
      return heldTo(inSq, level);
    };
    return { row: heldTo(LOOSE, level), faults: { y }, judgedBy };
  }
  function expectStoppedByHalves(make: () => Attempt): void {
    const { verdict } = judge(make());
    expect(verdict).toMatchObject({ ok: false, why: expect.stringMatching(/^sealH/) });
    const weak = without('rowOfHalves', () => judge(make()));
    expect(weak.verdict).toEqual(weak.accepted);
  }

  // nothing but the mean is to be gained, whatever the witness is: some thousandths, since the
  // signs are random
  test.skipIf(SHORT_RUN)('it takes the mean out of x, so that a longer witness fits', LONG, () => {
    const mean = (x: List) => 2n * BigInt(Math.round(Number(sumOf(x)) / RANDOM_ROWS / 2));
    const means = (value: Projection): More => {
      const { x, star } = signsOf(value);
      return [mean(x), mean(star)];
    };
    expectStoppedByHalves(() => attempt(means, 3n));
  });

  test.skipIf(SHORT_RUN)(
    'its parity alone: y is the same, every x is nearer to the mean by one',
    LONG,
    () => {
      const sign = (x: List) => (sumOf(x) > 0n ? 1n : -1n);
      expectStoppedByHalves(() =>
        attempt((value) => {
          const { x, star } = signsOf(value);
          return [sign(x), sign(star)];
        }, 0n),
      );
    },
  );

  test.skipIf(SHORT_RUN || (!NIGHTLY && level > 0))(
    `y that agrees with it: the other rows see it too, ${name}`,
    LONG,
    () => {
      // U is 2^21 more, so half of that in every row: all x are what they were
      const y: Faults['y'] = (value, place) =>
        place.level === level
          ? {
              y: value.y.map((x, j) => x + (j < RANDOM_ROWS ? 2n ** 20n : 2n ** 21n)),
              star: value.star.map((x, j) => x - (j < RANDOM_ROWS ? 2n ** 20n : 0n)),
            }
          : value;
      const shared = { row: heldTo(LOOSE, level), faults: { y } };
      const why = expectStopped({ ...shared, items: ITEMS, off: ['J'], omit: ['J'] });
      expect(why).toMatch(/^sealH/);
      expect(without('rowOfHalves', () => judge(shared).verdict.ok)).toBe(false);
    },
  );
});

/**
 * Half-integers in the witness of the tail: 1/2 modulo q in every coefficient of two digits, one of
 * g and one of h, with the digit below each made up so that g and h are what they are. A challenge
 * c has an even number of odd coefficients, so c (1 + X + ... + X^63) is even everywhere: z has no
 * half, and all that is sent in the end are short integers. Signs give 128 halves with signs, an
 * integer for every row.
 */
describe('half-integers, where everything that is sent is short', () => {
  const TAIL = 1;
  const HALF = (Q + 1n) / 2n; // 1/2 modulo q
  const DIGIT = 9n; // bits of a digit of g and of h
  const ONES = new Array<bigint>(64).fill(1n);
  /**
   * places in v_g and v_h: digit 1 of g_00 and digit 2 of h_12, and the digits below; v has 15
   * digits of t, 30 of g, 30 of h
   */
  const [ofG, ofH] = [
    { column: 6, below: 0 },
    { column: 16, below: 10 },
  ];
  const placeInV = { g: 15, h: 45 };
  /** v_g stands behind the digits of t of one row in its commitment, v_h by itself */
  const columnsBefore = { uB: 5, u2: 0 };
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
  function added(before: number, { column, below: other }: typeof ofG): Poly {
    const key = keyRow(0, before + column + 1);
    const on = (element: Poly, factor: bigint) => scaled(multiply(element, ONES), factor);
    return plus(on(key[before + column]!, HALF), on(key[before + other]!, -(1n << (DIGIT - 1n))));
  }
  const commitment: Faults['u'] = (value) => {
    const { uB, u2 } = columnsBefore;
    const more = { uB: () => added(uB, ofG), u2: () => added(u2, ofH) }[value.name];
    return more === undefined ? value : { ...value, u: [plus(value.u[0]!, more())] };
  };

  /** the projection of the last attempt, modulo q */
  let seen: Projection = { y: [], star: [] };
  /** squared norm of the tail's rows before they are changed */
  let honest = 0n;
  const attempt = (send: (value: Projection) => Projection): Attempt => ({
    row: heldTo(LOOSE, 0, WIDE_G),
    faults: {
      u: commitment,
      rows: (rows, { level }) => {
        if (level !== TAIL) return rows;
        honest = squares(rows.flat(2));
        return withHalves(rows);
      },
      y: (value, { level }) => {
        if (level !== TAIL) return value;
        seen = { y: value.y.map(centred), star: value.star.map(centred) };
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
  /** The sums that the witness has; y as near as integers come to x. */
  const byBits = (value: Projection): Projection => {
    const [plain, crossed] = sumsOf(value);
    const near = (list: List, sum: bigint) =>
      list.map((x, j) => (j === RANDOM_ROWS ? x : (centred(2n * x - sum) + sum) >> 1n));
    return { y: near(value.y, plain), star: near(value.star, crossed) };
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
    const wrong = (value: Projection): Projection => {
      const { y, star } = bySigns(value);
      return { y: y.with(7, y[7]! + 1n), star };
    };
    expect(without('bits', () => judge(attempt(wrong)).verdict)).toMatchObject({
      why: expect.stringMatching(/^sealH/),
    });
  });

  test('bits see it: half of the sums are no integers', LONG, () => {
    const { verdict } = judge(attempt(byBits));
    expect(verdict).toMatchObject({ ok: false, why: expect.stringMatching(/^sealH/) });
    for (const rows of [seen.y, seen.star]) {
      const large = rows.slice(0, RANDOM_ROWS).filter(isLarge).length;
      // within five standard deviations of the half
      expect(Math.abs(large - RANDOM_ROWS / 2)).toBeLessThan(2.5 * Math.sqrt(RANDOM_ROWS));
      // the row of halves does not see it, and what signs see of it is short
      expect(isLarge(rows[RANDOM_ROWS]!)).toBe(false);
    }
    const { x, star } = signsOf(seen);
    expectShort([...x, ...star].map(centred));
  });
});
