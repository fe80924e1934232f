/**
 * The constraints E1 to E6 that a level leaves to the next one (docs/protocol.md, 10.1), folded
 * directly over the rows of the next level. The prover's counterpart is
 * `../prover/constraintsBehind.ts`.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { FORM_BYTES, type Forms, type Labrador, type Vecs } from '../../wasm.ts';
import { type Seed, shortForms } from '../challenges.ts';
import { Q } from '../constants.ts';
import { constantForm, formAt, writeConstant } from '../forms.ts';
import type { Values } from '../ring.ts';
import { firstRows, outersOf, pairIndex, piecesOf } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { addProduct, type Folding } from './folding.ts';
import {
  type Challenges,
  type Claim,
  type FoldedKeys,
  PartForms,
  type QuadraticTerm,
  reduceExtension,
  reduceGarbage,
  reduceInner,
  reduceOuter,
} from './reduceConstraints.ts';
import { reduceHidden } from './reduceHidden.ts';

/**
 * Adds the claim of the previous level to phi_z, and its right side to the form at `b`.
 *
 * @param omegas the scalars of the lifts of this level
 * @returns a_ab of this level
 */
export function reduceCarry(
  folding: Folding,
  shape: Shape,
  claim: Claim,
  folded: FoldedKeys,
  combine: Seed,
  omegas: readonly Values[],
  b: number,
): QuadraticTerm[] {
  const { lab } = folding;
  const { level } = claim;
  return lab.scope(() => {
    const outers = outersOf(level, claim.number).length;
    const { kappa1 } = level;
    const firsts = Array.from({ length: outers - 1 }, (_, i) =>
      shortForms(lab, combine, SHORT.outer, i * kappa1, kappa1),
    );
    const challenges: Challenges = {
      outer: [...firsts, shortForms(lab, combine, SHORT.garbage, 0, kappa1)],
      amortised: shortForms(lab, combine, SHORT.amortised, 0, level.kappa),
      delta: shortForms(lab, combine, SHORT.quadratic, 0, 1).at,
      gamma: shortForms(lab, combine, SHORT.constraint, 0, 1).at,
    };
    const c: Forms = { kind: 'forms', at: lab.put(claim.c), count: level.r };
    const pieces = piecesOf(level, outers);
    const v = new PartForms(lab, shape.rows[level.f]!, shape.n);
    // E3 and E5 on z, before digits and signs: phi_z, and the folded A.
    const z = new PartForms(lab, shape.rows[0]!, shape.n);
    z.putValues(claim.phi);
    const foldedA = new PartForms(lab, shape.rows[0]!, shape.n);
    foldedA.putBlocks(0, folded.inner);
    const more = new PartForms(lab, shape.rows[level.f]!, shape.n);

    reduceOuter(lab, v, claim, pieces, folded.outer, challenges, b);
    reduceHidden(folding, v, more, claim, folded.quarters, challenges, omegas, b);
    reduceExtension(lab, v, claim, pieces);
    reduceInner(lab, more, claim, pieces, c, challenges, b);
    reduceGarbage(lab, more, claim, pieces, c, challenges);
    addProduct(lab, b, challenges.gamma, claim.b);
    foldParts(folding, shape, level, [z.vecs, foldedA.vecs], [v.vecs, more.vecs]);
    return quadraticOfSquares(lab, shape, level, challenges.delta);
  });
}

/**
 * Folds the parts: equal rows of z_0, z_1, ... have the form of z, times -2^(b i); rows of v have
 * separate forms.
 *
 * @param z the summands of the form on z
 * @param v the summands of the form on v
 */
function foldParts(
  folding: Folding,
  shape: Shape,
  { f, b }: OrdinaryLevel,
  z: readonly Vecs[],
  v: readonly Vecs[],
): void {
  const { lab, c } = folding;
  const first = firstRows(shape);
  lab.scope(() => {
    const vectors: number[] = [];
    const coefficients: number[] = [];
    const negative = Array.from({ length: f }, (_, i) => constantForm(lab, -(1n << BigInt(b * i))));
    const form = lab.room(FORM_BYTES);
    for (let row = 0; row < shape.rows[0]!; row++) {
      const coefficient = lab.room(FORM_BYTES, true);
      for (let i = 0; i < f; i++) {
        lab.kernels.mulForm(form, formAt(c, first[i]! + row), negative[i]!);
        lab.kernels.addForm(coefficient, coefficient, form);
      }
      for (const summand of z) {
        vectors.push(lab.row(summand, row));
        coefficients.push(coefficient);
      }
    }
    for (const summand of v) {
      for (let row = 0; row < summand.rows; row++) {
        vectors.push(lab.row(summand, row));
        coefficients.push(formAt(c, first[f]! + row));
      }
    }
    folding.addVectors(vectors, coefficients, 0, shape.n);
  });
}

/** a_ab of -delta <z, z>. */
function quadraticOfSquares(
  lab: Labrador,
  shape: Shape,
  { f, b }: OrdinaryLevel,
  delta: number,
): QuadraticTerm[] {
  const first = firstRows(shape);
  const coefs = lab.coefs(1);
  const form = lab.room(FORM_BYTES);
  const terms: QuadraticTerm[] = [];
  for (let k = 0; k < f; k++) {
    for (let i = 0; i <= k; i++) {
      writeConstant(lab, form, ((i === k ? -1n : -2n) << BigInt(b * (i + k))) % Q);
      lab.kernels.mulForm(form, form, delta);
      lab.kernels.formToCoefs(coefs.at, form);
      const factor = lab.i64(coefs).slice();
      const pairs = Array.from({ length: shape.rows[i]! }, (_, row) =>
        pairIndex(shape.r, first[i]! + row, first[k]! + row),
      );
      terms.push({ pairs, factor });
    }
  }
  return terms;
}
