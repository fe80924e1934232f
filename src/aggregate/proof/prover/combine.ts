/** All constraints into one (docs/protocol.md, 10): what the level before leaves, lifts, padding. */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import type { Coefs, Forms, Labrador, Vecs } from '../../wasm.ts';
import { COEFS, FORM, formsOf, type Seed, SMALL, sampleShorts } from '../challenges.ts';
import { type Columns, runsWithin } from '../columns.ts';
import { SHORT } from '../labels.ts';
import { type Blocks, constantForm, vecOf } from '../ring.ts';
import { firstRows, LIFTS, pairIndex, Q, type Run } from '../shapes.ts';
import type { Output } from './output.ts';
import { rowAddresses } from './steps.ts';

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
 * E1 to E6 of the level before, with their challenges.
 *
 * @param foldedA its inner key, folded by the challenges of E3
 * @param target gets all but the linear forms
 * @returns the linear forms on z_0, z_1, ..., v, one behind the other
 */
export function carriedConstraints(
  lab: Labrador,
  seed: Seed,
  shape: Shape,
  before: Output,
  foldedA: Blocks,
  target: Target,
): Coefs {
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

  squares(lab, shape, f, b, delta, target);
  const forms = lab.coefs(f * n + m);
  kernels.formsToCoefs(forms.at + COEFS * f * n, vForms.at, m);
  onDigits(lab, before.params, foldedA, before.phiZ, forms.at);
  return forms;
}

/** E3 and E5 on the digits of z: -2^(b i) (folded A + phi_z). */
function onDigits(
  lab: Labrador,
  { n, f, b }: OrdinaryLevel,
  foldedA: Blocks,
  phiZ: Vecs,
  out: number,
): void {
  const { kernels } = lab;
  lab.scope(() => {
    const minus = lab.forms(2);
    for (const at of [minus.at, minus.at + FORM]) constantForm(lab, at, -1n);
    const row = lab.vecs(1, n);
    lab.combine(row, 0, [vecOf(lab, foldedA).at, phiZ.at], minus);
    const power = lab.forms(1);
    constantForm(lab, power.at, 1n << BigInt(b));
    for (let i = 0; i < f; i++) {
      if (i > 0) lab.combine(row, 0, [row.at], power);
      kernels.vecToCoefs(out + COEFS * n * i, row.at, 0, n);
      kernels.coefsToVec(row.at, 0, out + COEFS * n * i, COEFS, n);
    }
  });
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

/** beta_k in NTT form, with a fourth that is 1. */
export function liftCoefficients(lab: Labrador, seed: Seed): Forms {
  const coefficients = lab.forms(LIFTS + 1);
  lab.scope(() => {
    const shorts = sampleShorts(lab, seed, SHORT.lift, 0, LIFTS);
    lab.kernels.smallsToForms(coefficients.at, shorts.at, LIFTS);
    constantForm(lab, coefficients.at + FORM * LIFTS, 1n);
  });
  return coefficients;
}

/** beta_k times the lifts, added to b. */
export function combineLifts(lab: Labrador, coefficients: Forms, lifts: Coefs, b: Coefs): void {
  const { kernels } = lab;
  lab.scope(() => {
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
}

/** phi of every row into the first of the vectors: their sum by the coefficients. */
export function combineForms(lab: Labrador, all: readonly Vecs[], coefficients: Forms): void {
  const phi = all[0]!;
  for (let row = 0; row < phi.rows; row++) {
    const rows = all.map((vecs) => lab.row(vecs, row));
    lab.combine(phi, row, rows, coefficients);
  }
}

/** The constraints of padding: their challenges are all that phi, which has these columns of n, has there. */
export function addPadding(
  lab: Labrador,
  seed: Seed,
  n: number,
  padding: readonly Run[],
  columns: Columns,
  phi: Vecs,
): void {
  for (const { row, from, to } of runsWithin(padding, columns)) {
    lab.scope(() => {
      const count = to - from;
      const shorts = sampleShorts(lab, seed, SHORT.padding, row * n + from, count);
      lab.kernels.smallsToVec(lab.row(phi, row), from - columns.from, shorts.at, SMALL, count);
    });
  }
}
