/** All constraints into one (docs/protocol.md, 10): what the level before leaves, lifts, padding. */
import type { Shape } from '../parameters/rows.ts';
import type { Coefs, Forms, Labrador, Vecs } from '../wasm.ts';
import { COEFS, FORM, formsOf, type Seed, SMALL, sampleShorts } from './challenges.ts';
import { SHORT } from './labels.ts';
import type { Output } from './output.ts';
import { firstRows, LIFTS, pairIndex, Q, type Run } from './shapes.ts';
import { constantForm, placesOfPart, rowAddresses } from './steps.ts';

/** Quadratic coefficients and the right side; linear forms are in the vectors that were handed in. */
export interface Target {
  readonly a: Map<number, number>;
  readonly aForms: Forms;
  readonly b: Coefs;
}

/** Short challenges in NTT form. */
export const shortForms = (
  lab: Labrador,
  seed: Seed,
  kind: number,
  first: number,
  count: number,
): Forms => formsOf(lab, sampleShorts(lab, seed, kind, first, count));

/** Zero in NTT form. */
export function zeroForms(lab: Labrador, count: number): Forms {
  return { kind: 'forms', at: lab.room(FORM * count, true), count };
}

/** How many different a_ab a level has that follows a level of f digits. */
export const distinctA = (f: number): number => (f * (f + 1)) / 2;

/**
 * E1 to E6 of the level before, with their challenges: linear forms into `base`, r rows of zeros, the rest into `target`.
 */
export function carriedConstraints(
  lab: Labrador,
  seed: Seed,
  shape: Shape,
  before: Output,
  base: Vecs,
  target: Target,
): void {
  const { kernels } = lab;
  const { f, b, r, m, fu, bu, fg, bg, kappa, kappa1, cut, n, pairs } = before.params;
  const { keys, pieces, hats, c } = before;
  const vForms = zeroForms(lab, m);
  const right = zeroForms(lab, 1);
  const product = lab.forms(1);
  const gain = (place: number, form: number): void => {
    const at = vForms.at + FORM * place;
    kernels.addForm(at, at, form);
  };

  // E1, E2: every row of a matrix has its own challenge
  const spread = (matrix: Vecs, from: number, coefficients: Forms): void => {
    const row = lab.vecs(1, matrix.columns);
    lab.combine(row, 0, rowAddresses(matrix), coefficients);
    for (let column = 0; column < matrix.columns; column++) {
      kernels.loadColumn(product.at, row.at, column);
      gain(from + column, product.at);
    }
  };
  let atT = pieces.t;
  for (const [index, hat] of hats.entries()) {
    const isLast = index === hats.length - 1;
    const coefficients = isLast
      ? shortForms(lab, seed, SHORT.garbage, 0, kappa1)
      : shortForms(lab, seed, SHORT.outer, index * kappa1, kappa1);
    lab.scope(() => {
      if (isLast) spread(keys.D, pieces.h, coefficients);
      else {
        spread(keys.B[index]!, atT, coefficients);
        atT += keys.B[index]!.columns;
        if (index === hats.length - 2) spread(keys.C, pieces.g, coefficients);
      }
      for (let row = 0; row < kappa1; row++) {
        const coefficient = coefficients.at + FORM * row;
        if (cut > 0) gain(pieces.e[index]! + row, coefficient);
        kernels.coefsToForm(product.at, hat.at + COEFS * row);
        kernels.mulForm(product.at, product.at, coefficient);
        kernels.addForm(right.at, right.at, product.at);
      }
    });
  }

  // powers of two for digits of t and h, of g
  const powers = (count: number, bits: number): Forms => {
    const forms = lab.forms(count);
    for (let j = 0; j < count; j++) constantForm(lab, forms.at + FORM * j, 1n << BigInt(bits * j));
    return forms;
  };
  const powersU = powers(fu, bu);
  const powersG = powers(fg, bg);

  // E3 on the digits of t
  const rho = shortForms(lab, seed, SHORT.amortised, 0, kappa);
  const scaled = lab.forms(1);
  const addDigits = (form: number, place: number, step: number, digits: Forms): void => {
    for (let j = 0; j < digits.count; j++) {
      kernels.mulForm(scaled.at, form, digits.at + FORM * j);
      gain(place + j * step, scaled.at);
    }
  };
  for (let a = 0; a < r; a++) {
    for (let k = 0; k < kappa; k++) {
      kernels.mulForm(product.at, rho.at + FORM * k, c.at + FORM * a);
      addDigits(product.at, pieces.t + a * fu * kappa + k, kappa, powersU);
    }
  }

  // E4, E5, E6 on the digits of g and h
  const delta = shortForms(lab, seed, SHORT.quadratic, 0, 1);
  const epsilon = shortForms(lab, seed, SHORT.constraint, 0, 1);
  const cc = lab.forms(1);
  const onG = lab.forms(1);
  const coefs = lab.coefs(1);
  for (let first = 0; first < r; first++) {
    for (let second = first; second < r; second++) {
      const pair = pairIndex(r, first, second);
      kernels.mulForm(cc.at, c.at + FORM * first, c.at + FORM * second);
      kernels.mulForm(onG.at, delta.at, cc.at);
      if (first === second) kernels.addForm(cc.at, cc.at, epsilon.at);
      else kernels.addForm(onG.at, onG.at, onG.at);
      const a = before.a.get(pair);
      if (a !== undefined) {
        kernels.mulForm(product.at, epsilon.at, a);
        kernels.addForm(onG.at, onG.at, product.at);
        // back below q, so that the powers of two keep it below P/2
        kernels.formToCoefs(coefs.at, onG.at);
        kernels.coefsToForm(onG.at, coefs.at);
      }
      addDigits(onG.at, pieces.g + pair, pairs, powersG);
      addDigits(cc.at, pieces.h + pair, pairs, powersU);
    }
  }
  kernels.coefsToForm(product.at, before.b.at);
  kernels.mulForm(product.at, product.at, epsilon.at);
  kernels.addForm(right.at, right.at, product.at);
  kernels.formToCoefs(target.b.at, right.at);

  lab.scope(() => {
    const onV = lab.coefs(m);
    kernels.formsToCoefs(onV.at, vForms.at, m);
    placeCoefs(lab, shape, f, onV, base);
  });

  // E3 and E5 on the digits of z
  lab.scope(() => {
    const coefficients = zeroForms(lab, kappa + 1);
    for (let k = 0; k < kappa; k++) {
      const at = coefficients.at + FORM * k;
      kernels.subForm(at, at, rho.at + FORM * k);
    }
    constantForm(lab, coefficients.at + FORM * kappa, -1n);
    const row = lab.vecs(1, n);
    lab.combine(row, 0, [...rowAddresses(keys.A), before.phiZ.at], coefficients);
    const onZ = lab.coefs(n);
    const power = lab.forms(1);
    constantForm(lab, power.at, 1n << BigInt(b));
    for (let i = 0; i < f; i++) {
      if (i > 0) lab.combine(row, 0, [row.at], power);
      kernels.vecToCoefs(onZ.at, row.at, 0, n);
      kernels.coefsToVec(row.at, 0, onZ.at, COEFS, n);
      placeCoefs(lab, shape, i, onZ, base);
    }
  });

  squares(lab, shape, f, b, delta, target);
}

/** Polynomials mod q into the places of a part. */
function placeCoefs(lab: Labrador, shape: Shape, part: number, coefs: Coefs, base: Vecs): void {
  for (const { row, column, count, at } of placesOfPart(
    shape,
    part,
    coefs.count,
    coefs.at,
    COEFS,
  )) {
    lab.kernels.coefsToVec(lab.row(base, row), column, at, COEFS, count);
  }
}

/** <z, z> of E4 on equal rows of the digits. */
function squares(
  lab: Labrador,
  shape: Shape,
  f: number,
  b: number,
  delta: Forms,
  { a, aForms }: Target,
): void {
  const { kernels } = lab;
  const first = firstRows(shape);
  const coefs = lab.coefs(1);
  a.clear();
  let at = aForms.at;
  for (let i = 0; i < f; i++) {
    for (let k = i; k < f; k++, at += FORM) {
      const factor = (-(i === k ? 1n : 2n) * (1n << BigInt(b * (i + k)))) % Q;
      constantForm(lab, at, factor);
      kernels.mulForm(at, at, delta.at);
      kernels.formToCoefs(coefs.at, at);
      kernels.coefsToForm(at, coefs.at);
      for (let row = 0; row < shape.rows[0]!; row++) {
        a.set(pairIndex(shape.r, first[i]! + row, first[k]! + row), at);
      }
    }
  }
}

/** beta_k times the lifts, added to b; their NTT forms, with a fourth that is 1. */
export function combineLifts(lab: Labrador, seed: Seed, lifts: Coefs, b: Coefs): Forms {
  const { kernels } = lab;
  const coefficients = lab.forms(LIFTS + 1);
  lab.scope(() => {
    const shorts = sampleShorts(lab, seed, SHORT.lift, 0, LIFTS);
    kernels.smallsToForms(coefficients.at, shorts.at, LIFTS);
    constantForm(lab, coefficients.at + FORM * LIFTS, 1n);
    const sum = lab.forms(1);
    const product = lab.forms(1);
    kernels.coefsToForm(sum.at, b.at);
    for (let k = 0; k < LIFTS; k++) {
      kernels.coefsToForm(product.at, lifts.at + COEFS * k);
      kernels.mulForm(product.at, product.at, coefficients.at + FORM * k);
      kernels.addForm(sum.at, sum.at, product.at);
    }
    kernels.formToCoefs(b.at, sum.at);
  });
  return coefficients;
}

/** phi of every row into F[0]: the lifts by their coefficients, and the base if there is one. */
export function combineForms(
  lab: Labrador,
  F: readonly Vecs[],
  base: Vecs | undefined,
  coefficients: Forms,
): Vecs {
  const phi = F[0]!;
  const all = base === undefined ? F : [...F, base];
  const used = { ...coefficients, count: all.length };
  for (let row = 0; row < phi.rows; row++) {
    lab.combine(
      phi,
      row,
      all.map((vecs) => lab.row(vecs, row)),
      used,
    );
  }
  return phi;
}

/** The constraints of padding: their challenges are all that phi has there. */
export function addPadding(
  lab: Labrador,
  seed: Seed,
  n: number,
  padding: readonly Run[],
  phi: Vecs,
): void {
  for (const { row, from, to } of padding) {
    lab.scope(() => {
      const shorts = sampleShorts(lab, seed, SHORT.padding, row * n + from, to - from);
      lab.kernels.smallsToVec(lab.row(phi, row), from, shorts.at, SMALL, to - from);
    });
  }
}
