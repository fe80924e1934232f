/** What levels compute of their rows (docs/protocol.md, 6 to 9), in all columns or in some: commitments, garbage, lifts, amortisation. */
import type { Coefs, Forms, Labrador, Smalls, Sums, Vecs } from '../../wasm.ts';
import { SMALL, SUMS } from '../challenges.ts';
import { pairIndex } from '../shapes.ts';

/** A row's view of vecs, or several rows'. */
export const rowsOf = (vecs: Vecs, from: number, rows: number): Vecs => ({
  ...vecs,
  at: vecs.at + from * vecs.stride,
  rows,
});

export const rowAddresses = (vecs: Vecs): number[] =>
  Array.from({ length: vecs.rows }, (_, i) => vecs.at + i * vecs.stride);

/** t_a = A s_a of all rows of s: row by row, kappa polynomials each. */
export function innerCommitments(lab: Labrador, A: Vecs, s: Vecs): Coefs {
  const out = lab.coefs(s.rows * A.rows);
  lab.scope(() => {
    const sums = lab.sums(s.rows * A.rows);
    lab.products(sums, s, A);
    lab.kernels.manySumsToCoefs(out.at, sums.at, sums.count);
  });
  return out;
}

/** g_ab, pair by pair. */
export function quadraticGarbage(lab: Labrador, s: Vecs): Coefs {
  const out = lab.coefs((s.rows * (s.rows + 1)) / 2);
  lab.scope(() => {
    const sums = lab.sums(out.count);
    lab.pairProducts(sums, s);
    lab.kernels.manySumsToCoefs(out.at, sums.at, sums.count);
  });
  return out;
}

/** h_ab, pair by pair. */
export function linearGarbage(lab: Labrador, phi: Vecs, s: Vecs): Coefs {
  const r = s.rows;
  const out = lab.coefs((r * (r + 1)) / 2);
  lab.scope(() => {
    const { kernels } = lab;
    const sums = lab.sums(r * r);
    lab.products(sums, phi, s);
    const pairs = lab.sums(out.count);
    const add = (to: number, from: number): void =>
      kernels.addSums(pairs.at + SUMS * to, sums.at + SUMS * from);
    for (let a = 0; a < r; a++) {
      for (let b = a; b < r; b++) {
        const pair = pairIndex(r, a, b);
        add(pair, a * r + b);
        if (a !== b) add(pair, b * r + a);
      }
    }
    kernels.manySumsToCoefs(out.at, pairs.at, pairs.count);
  });
  return out;
}

/** b^(k+1) += sum of <F_a, s_a>: three sums. */
export function addLifts(lab: Labrador, sums: Sums, F: readonly Vecs[], s: Vecs): void {
  for (const [k, { at }] of F.entries()) {
    // rows lie behind each other, so that all of them are one long row
    lab.kernels.products(sums.at + SUMS * k, at, 1, 0, s.at, 1, 0, s.rows * s.blocks);
  }
}

/** Sums as polynomials mod q. */
export function coefsOfSums(lab: Labrador, sums: Sums): Coefs {
  const coefs = lab.coefs(sums.count);
  lab.kernels.manySumsToCoefs(coefs.at, sums.at, sums.count);
  return coefs;
}

/** Sum of c_a x_a column by column, as polynomials that are centred mod q. */
export function amortised(lab: Labrador, c: Forms, x: Vecs): Coefs {
  const out = lab.coefs(x.columns);
  lab.scope(() => {
    const sum = lab.vecs(1, x.columns);
    lab.combine(sum, 0, rowAddresses(x), c);
    lab.kernels.vecToCoefs(out.at, sum.at, 0, x.columns);
  });
  return out;
}

/** Small polynomials in one row of NTT forms. */
export function vecOf(lab: Labrador, smalls: Smalls): Vecs {
  const vec = lab.vecs(1, smalls.count);
  lab.kernels.widesToVec(vec.at, 0, smalls.at, SMALL, smalls.count);
  return vec;
}
