/**
 * The expected squares of rows in the search, against polynomials that are drawn and multiplied.
 */
import { describe, expect, it } from 'vitest';
import { TAU } from '../../scripts/parameters/constants.ts';
import {
  foldedRuns,
  lowDigitsOfLifts,
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
  return { gauss, selfConjugate, challenge };
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
