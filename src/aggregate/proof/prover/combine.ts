/**
 * The parts of the combined constraint common to all levels (docs/protocol.md, 10): lifts and
 * padding.
 */
import {
  COEFS_BYTES,
  type Coefs,
  type Forms,
  type Labrador,
  SMALL_BYTES,
  type Vecs,
} from '../../wasm.ts';
import { type Seed, sampleShorts } from '../challenges.ts';
import { type Columns, runsWithin } from '../columns.ts';
import { formAt, writeConstant } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import type { Run } from '../shapes.ts';
import { SHORT } from '../transcript.ts';

/** beta_k in NTT form, then 1. */
export function liftCoefficients(lab: Labrador, seed: Seed): Forms {
  const { count } = liftsOf(seed.level);
  const coefficients = lab.forms(count + 1);
  lab.scope(() => {
    const shorts = sampleShorts(lab, seed, SHORT.lift, 0, count);
    lab.kernels.smallsToForms(coefficients.at, shorts.at, count);
    writeConstant(lab, formAt(coefficients, count), 1n);
  });
  return coefficients;
}

/** b += sum of beta_k times lift k. */
export function combineLifts(lab: Labrador, coefficients: Forms, lifts: Coefs, b: Coefs): void {
  const { kernels } = lab;
  lab.scope(() => {
    const [sum, product] = [lab.forms(1).at, lab.forms(1).at];
    kernels.coefsToForm(sum, b.at);
    for (let k = 0; k < lifts.count; k++) {
      kernels.coefsToForm(product, lifts.at + COEFS_BYTES * k);
      kernels.mulForm(product, product, formAt(coefficients, k));
      kernels.addForm(sum, sum, product);
    }
    kernels.formToCoefs(b.at, sum);
  });
}

/**
 * Writes phi of every row, the sum of the vectors times their coefficients, into the first vector.
 */
export function combineForms(lab: Labrador, all: readonly Vecs[], coefficients: Forms): void {
  const phi = all[0]!;
  for (let row = 0; row < phi.rows; row++) {
    const rows = all.map((vecs) => lab.row(vecs, row));
    lab.combine(phi, row, rows, coefficients);
  }
}

/**
 * Writes the challenges of padding (10.3) into phi, which has the given columns of n and is zero
 * there.
 */
export function combinePadding(
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
      const column = from - columns.from;
      lab.kernels.smallsToVec(lab.row(phi, row), column, shorts.at, SMALL_BYTES, count);
    });
  }
}
