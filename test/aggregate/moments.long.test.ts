/**
 * What the search expects of squares of rows, and of the norms of x and e, against polynomials that
 * are drawn and multiplied.
 */
import { describe, expect, it } from 'vitest';
import { DEVIATIONS_OF_X, ROOM_FOR_ERRORS, TAU } from '../../scripts/parameters/constants.ts';
import {
  boundOfX,
  messagesOf,
  momentsOfX,
  normSqOfCut,
  runsOfE,
  runsOfX,
} from '../../scripts/parameters/hidden.ts';
import {
  foldedRuns,
  lengthOf,
  lowDigitsOfLifts,
  normSqOf,
  type Row,
  square,
} from '../../scripts/parameters/moments.ts';
import { testRandom } from '../support/random.ts';

const DEGREE = 64;
type Poly = Float64Array;

function product(a: Poly, b: Poly): Poly {
  const out = new Float64Array(DEGREE);
  for (let i = 0; i < DEGREE; i++) {
    if (a[i] === 0) continue;
    for (let j = 0; j < DEGREE; j++) {
      if (i + j < DEGREE) out[i + j]! += a[i]! * b[j]!;
      else out[i + j - DEGREE]! -= a[i]! * b[j]!;
    }
  }
  return out;
}

const add = (a: Poly, b: Poly): Poly => a.map((x, i) => x + b[i]!);

function drawing(label: string) {
  const random = testRandom(`moments ${label}`);
  const unit = () => (random.below(2 ** 32 - 1) + 1) / 2 ** 32;
  const gauss = (variance: number): Poly =>
    Float64Array.from({ length: DEGREE }, () => {
      return Math.sqrt(-2 * variance * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
    });
  /** Uniform in 13 bits with the symmetry of the w_i, whose coefficient 0 is zero. */
  const selfConjugate = (): Poly => {
    const out = new Float64Array(DEGREE);
    for (let j = 1; j < DEGREE / 2; j++) {
      out[j] = random.below(2 ** 13) - 2 ** 12;
      out[DEGREE - j] = -out[j]!;
    }
    return out;
  };
  /**
   * 28 of +-1, 12 of +-2 and 2 of +-3 in random places: a challenge without the test of its
   * operator norm.
   */
  const challenge = (): Poly => {
    const out = new Float64Array(DEGREE);
    for (let pos = 22; pos < DEGREE; pos++) {
      const at = random.below(pos + 1);
      out[pos] = out[at]!;
      out[at] = (random.below(2) === 0 ? 1 : -1) * (pos < 50 ? 1 : pos < 62 ? 2 : 3);
    }
    return out;
  };
  /** Uniform in (-2^(bits-1), 2^(bits-1)]: what is cut off. */
  const error = (bits: number): Poly =>
    Float64Array.from({ length: DEGREE }, () => 2 ** (bits - 1) - random.below(2 ** bits));
  /** Uniform in [-2^(bits-1), 2^(bits-1)), of up to 52 bits. */
  const wide = (bits: number): Poly =>
    Float64Array.from({ length: DEGREE }, () => {
      const high = random.below(2 ** (bits - 20)) - 2 ** (bits - 21);
      return high * 2 ** 20 + random.below(2 ** 20);
    });
  return { gauss, selfConjugate, challenge, error, wide };
}

/** Balanced digits (docs/protocol.md, 1): all but the last one have b bits. */
function digits(x: Poly, count: number, b: number): Poly[] {
  const base = 2 ** b;
  let left = x;
  return Array.from({ length: count }, (_, j) => {
    if (j === count - 1) return left;
    const digit = left.map((value) => value - base * Math.floor((value + base / 2) / base));
    left = left.map((value, i) => (value - digit[i]!) / base);
    return digit;
  });
}

const sumOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const normSq = (polynomials: readonly Poly[]): number =>
  sumOf(polynomials.map((x) => x.reduce((sum, value) => sum + value * value, 0)));

/** Mean and standard deviation. */
function spread(values: readonly number[]): { mean: number; deviation: number } {
  const mean = sumOf(values) / values.length;
  const squares = sumOf(values.map((value) => (value - mean) ** 2));
  return { mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}

/** Every row by itself. */
const once = (rows: readonly Row[]) => rows.map((row) => ({ row, times: 1 }));

/** Mean square of a coefficient of the square of a row, over `trials` draws of it. */
function measured(trials: number, draw: () => readonly Poly[]): number {
  let sum = 0;
  for (let trial = 0; trial < trials; trial++) {
    const squared = draw()
      .map((column) => product(column, column))
      .reduce(add);
    sum += squared.reduce((total, x) => total + x * x, 0) / DEGREE;
  }
  return sum / trials;
}

const run = (length: number, variance: number) => ({ length, variance, mean: 0 });
const near = (value: number, expected: number, share: number): void => {
  expect(value / expected).toBeGreaterThan(1 - share);
  expect(value / expected).toBeLessThan(1 + share);
};

describe('the square of a row', () => {
  it('is ruled by a few wide columns', () => {
    const { gauss } = drawing('wide');
    const wide = () => [
      ...Array.from({ length: 60 }, () => gauss(1)),
      ...Array.from({ length: 3 }, () => gauss(300)),
    ];
    const expected = square([run(60, 1), run(3, 300)]);
    near(measured(200, wide), expected, 0.08);
    // a count of the mean variance would be far off
    expect(expected).toBeGreaterThan(10 * square([run(63, (60 + 900) / 63)]));
  });

  it('has twice the energy where one row rules a folded column', () => {
    const { gauss, challenge } = drawing('shared');
    const rows: Row[] = [[run(12, 100)], [run(12, 1)], [run(12, 1)]];
    const expected = square(foldedRuns(once(rows), 12));
    const fold = () => {
      const c = rows.map(challenge);
      return Array.from({ length: 12 }, () =>
        rows.map(([only], a) => product(c[a]!, gauss(only!.variance))).reduce(add),
      );
    };
    near(measured(250, fold), expected, 0.12);
    near(expected / square([run(12, TAU * 102)]), 2, 0.1);
  });

  it('adds up over self-conjugate columns, at the first level and after a fold', () => {
    const { gauss, selfConjugate, challenge } = drawing('conjugate');
    const columns = 24;
    const low = lowDigitsOfLifts(columns, 13);
    const draw = () => Array.from({ length: columns }, selfConjugate);
    // 62 of 64 coefficients are free here
    const share = (62 / 64) ** 2;
    near(measured(60, draw), square([low]) * share, 0.1);

    const rows: Row[] = [[low], [run(columns, low.variance / 4)]];
    const expected = square(foldedRuns(once(rows), columns));
    const fold = () => {
      const [c, d] = [challenge(), challenge()];
      return draw().map((column) => add(product(c, column), product(d, gauss(low.variance / 4))));
    };
    near(measured(200, fold), expected * share, 0.15);
    const apart = rows.map(([only]) => [run(columns, only!.variance)]);
    expect(expected).toBeGreaterThan(3 * square(foldedRuns(once(apart), columns)));
  });
});

describe('the digits of hidden messages', () => {
  it.each([
    [true, 7, 7, 2],
    [true, 5, 10, 3],
    [false, 4, 5, 2],
    [false, 3, 0, 3],
    [false, 6, 15, 6],
  ])('have the moments that X is made of: level 0 %s, %s rows, cut %s, w %s', (...shape) => {
    const [isFirst, kappa1, cut, w] = shape;
    const { wide } = drawing(`x ${shape.join()}`);
    const messages = messagesOf(isFirst, kappa1, cut);
    const draw = (): Poly[] =>
      messages.flatMap(({ length, bits }) =>
        Array.from({ length }, () => digits(wide(bits), Math.ceil(bits / w), w)).flat(),
      );
    const runs = runsOfX(messages, w);
    expect(draw().length).toBe(lengthOf(runs));
    const trials = 150;
    const { mean, deviation } = spread(Array.from({ length: trials }, () => normSq(draw())));
    const expected = momentsOfX(messages, w);
    expect(normSqOf(runs)).toBeCloseTo(expected.mean, 6);
    expect(Math.abs(mean - expected.mean)).toBeLessThan((4 * deviation) / Math.sqrt(trials));
    near(deviation, expected.deviation, 0.17);
    const above = boundOfX(messages, w) - expected.mean - DEVIATIONS_OF_X * expected.deviation;
    expect(above).toBeGreaterThanOrEqual(0);
    expect(above).toBeLessThan(1);
  });
});

describe('the errors of cut inner commitments', () => {
  it.each([
    [11, 12, 5],
    [7, 9, 4],
    [6, 14, 10],
  ])('have room in a projection: %s rows, %s polynomials, %s bits', (r, kappa, ct) => {
    const { error } = drawing(`errors ${[r, kappa, ct].join()}`);
    const draw = () => normSq(Array.from({ length: r * kappa }, () => error(ct)));
    const { mean, deviation } = spread(Array.from({ length: 100 }, draw));
    const expected = normSqOfCut(r, kappa, ct);
    near(mean, expected, 0.01);
    // uniform: a square has the variance 4/5 of its squared mean
    near(deviation / expected, Math.sqrt(4 / 5 / (DEGREE * r * kappa)), 0.17);
    const room = ROOM_FOR_ERRORS.numerator / ROOM_FOR_ERRORS.denominator;
    // more than most: the projection of a vector that is a little longer passes nearly as often
    expect(mean + deviation).toBeLessThan(room * expected);
  });

  it.each([
    [11, 2, 5, 5],
    [7, 1, 12, 11],
    [6, 2, 7, 10],
    [8, 3, 4, 8],
    [11, 2, 7, 12],
  ])(
    'have digits, folded, of the expected norm: %s rows, %s digits of %s bits, cut %s',
    (...shape) => {
      const [r, f, b, ct] = shape;
      const kappa = 6;
      const { error, challenge } = drawing(`e ${shape.join()}`);
      const fold = (): Poly[][] => {
        const c = Array.from({ length: r }, challenge);
        return Array.from({ length: kappa }, () =>
          digits(c.map((one) => product(one, error(ct))).reduce(add), f, b),
        );
      };
      const runs = runsOfE({ r, f, b, ct }, kappa);
      expect(lengthOf(runs)).toBe(f * kappa);
      const trials = Array.from({ length: 120 }, fold);
      const { mean, deviation } = spread(trials.map((columns) => normSq(columns.flat())));
      // the errors of whole digits are uniform on 2^ct values, and so a little longer
      expect(Math.abs(mean / normSqOf(runs) - 1)).toBeLessThan(0.02);
      expect(deviation / mean).toBeLessThan(0.12);
      // what top digits add to the square of a row
      const tops = trials.map((columns) => columns.map((column) => column[f - 1]!));
      near(
        measured(tops.length, () => tops.pop()!),
        square([runs.at(-1)!]),
        0.15,
      );
    },
  );
});
