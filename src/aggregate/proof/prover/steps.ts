/**
 * The arithmetic of a level on its rows (docs/protocol.md, 6 to 9), in all columns or in some of
 * them: commitments, garbage, lifts, amortisation.
 */
import {
  type Coefs,
  type Forms,
  type Labrador,
  SUM_BYTES,
  type Sums,
  type Vecs,
} from '../../wasm.ts';
import { sumOfLists, type Values, valuesOf } from '../ring.ts';
import { pairIndex } from '../shapes.ts';

/** Some rows of a vector. */
export const rowRange = (vecs: Vecs, from: number, rows: number): Vecs => ({
  ...vecs,
  at: vecs.at + from * vecs.stride,
  rows,
});

/** t_a = A s_a of all rows of s: row by row, kappa polynomials each. */
export function innerCommitments(lab: Labrador, A: Vecs, s: Vecs): Coefs {
  return summed(lab, s.rows * A.rows, (sums) => lab.products(sums, s, A));
}

/** g_ab, pair by pair. */
export function quadraticGarbage(lab: Labrador, s: Vecs): Coefs {
  return summed(lab, (s.rows * (s.rows + 1)) / 2, (sums) => lab.pairProducts(sums, s));
}

/** h_ab, pair by pair. */
export function linearGarbage(lab: Labrador, phi: Vecs, s: Vecs): Coefs {
  const r = s.rows;
  return summed(lab, (r * (r + 1)) / 2, (pairs) => {
    const sums = lab.sums(r * r);
    lab.products(sums, phi, s);
    const add = (to: number, from: number): void =>
      lab.kernels.addSums(pairs.at + SUM_BYTES * to, sums.at + SUM_BYTES * from);
    for (let a = 0; a < r; a++) {
      for (let b = a; b < r; b++) {
        const pair = pairIndex(r, a, b);
        add(pair, a * r + b);
        if (a !== b) add(pair, b * r + a);
      }
    }
  });
}

/** The polynomials mod q of sums that `fill` adds up. */
function summed(lab: Labrador, count: number, fill: (sums: Sums) => void): Coefs {
  const out = lab.coefs(count);
  lab.scope(() => {
    const sums = lab.sums(count);
    fill(sums);
    lab.kernels.manySumsToCoefs(out.at, sums.at, count);
  });
  return out;
}

/** b^(k+1) += sum over the rows of <F_a, s_a>, of at most MAX_BLOCKS blocks in all. */
export function sumLifts(
  lab: Labrador,
  sums: Sums,
  F: readonly Vecs[],
  s: Vecs,
  rows = s.rows,
): void {
  for (const [k, { at }] of F.entries()) {
    // Rows are contiguous, so together they form one long row.
    lab.kernels.products(sums.at + SUM_BYTES * k, at, 1, 0, s.at, 1, 0, rows * s.blocks);
  }
}

/** The most blocks that a sum may cover (assembly/labrador/polyVec.ts). */
const MAX_BLOCKS = 6940;

/** The lifts of a level above 0: for every k the sum over the rows of <F_a, s_a>. */
export function liftsOfRows(lab: Labrador, F: readonly Vecs[], s: Vecs): Values {
  const step = Math.floor(MAX_BLOCKS / s.blocks);
  const lists: Values[] = [];
  for (let from = 0; from < s.rows; from += step) {
    const count = Math.min(step, s.rows - from);
    lists.push(
      lab.scope(() => {
        const sums = lab.sums(F.length);
        const some = F.map((vecs) => rowRange(vecs, from, count));
        sumLifts(lab, sums, some, rowRange(s, from, count));
        return valuesOf(lab, coefsOfSums(lab, sums));
      }),
    );
  }
  return sumOfLists(lists);
}

/** Sums as polynomials mod q. */
export function coefsOfSums(lab: Labrador, sums: Sums): Coefs {
  const coefs = lab.coefs(sums.count);
  lab.kernels.manySumsToCoefs(coefs.at, sums.at, sums.count);
  return coefs;
}

/** The sum of c_a x_a, column by column, as polynomials centred mod q. */
export function amortised(lab: Labrador, c: Forms, x: Vecs): Coefs {
  const out = lab.coefs(x.columns);
  lab.scope(() => {
    const sum = lab.vecs(1, x.columns);
    lab.combine(sum, 0, lab.addresses(x), c);
    lab.kernels.vecToCoefs(out.at, sum.at, 0, x.columns);
  });
  return out;
}
