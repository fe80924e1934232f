/**
 * What a level leaves to the next one: the constraints E1 to E6 on its output (docs/protocol.md, 10.1), folded over the rows of the next
 * level at once.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import type { Forms, Labrador, Vecs } from '../../wasm.ts';
import { FORM, type Seed } from '../challenges.ts';
import { SHORT } from '../labels.ts';
import { firstRows, pairIndex, piecesOf } from '../shapes.ts';
import { addProduct, constantForm, type Folding, formAt, scaled, shortForms } from './folding.ts';
import {
  addOuter,
  type Challenges,
  type Claim,
  type FoldedKeys,
  Part,
  putGarbage,
  putInner,
  type QuadraticTerm,
} from './reduceConstraints.ts';

/**
 * Adds the claim of the level before to phi_z, and its right side to the form at `b`.
 *
 * @returns a_ab of this level
 */
export function foldClaim(
  folding: Folding,
  shape: Shape,
  claim: Claim,
  folded: FoldedKeys,
  combine: Seed,
  b: number,
): QuadraticTerm[] {
  const { lab } = folding;
  const { level } = claim;
  return lab.scope(() => {
    const outers = claim.outer.length;
    const count = level.kappa1 * (outers - 1);
    const challenges: Challenges = {
      outer: shortForms(lab, combine, SHORT.outer, 0, count),
      garbage: shortForms(lab, combine, SHORT.garbage, 0, level.kappa1),
      amortised: shortForms(lab, combine, SHORT.amortised, 0, level.kappa),
      delta: shortForms(lab, combine, SHORT.quadratic, 0, 1).at,
      gamma: shortForms(lab, combine, SHORT.constraint, 0, 1).at,
    };
    const c: Forms = { kind: 'forms', at: lab.put(claim.c), count: level.r };
    const pieces = piecesOf(level, outers);
    const v = new Part(lab, shape.rows[level.f]!, shape.n);
    // E3 and E5 on z, before digits and signs: phi_z, and A folded
    const z = new Part(lab, shape.rows[0]!, shape.n);
    z.putValues(claim.phi);
    const foldedA = new Part(lab, shape.rows[0]!, shape.n);
    foldedA.putBlocks(0, folded.inner);
    const more = new Part(lab, shape.rows[level.f]!, shape.n);

    addOuter(lab, v, claim, pieces, folded.outer, challenges, b);
    putInner(lab, more, claim, c, challenges);
    putGarbage(lab, more, claim, pieces, c, challenges);
    addProduct(lab, b, challenges.gamma, claim.b);
    foldParts(folding, shape, level, [z.vecs, foldedA.vecs], [v.vecs, more.vecs]);
    return quadraticOf(lab, shape, level, challenges.delta);
  });
}

/** The rows of z_0, z_1, ... have phi = -2^(b i) z in common; those of v have their own. Both z and v are sums. */
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
    const form = lab.room(FORM);
    for (let row = 0; row < shape.rows[0]!; row++) {
      const coefficient = lab.room(FORM, true);
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

/** a_ab from -delta <z, z>. */
function quadraticOf(
  lab: Labrador,
  shape: Shape,
  { f, b }: OrdinaryLevel,
  delta: number,
): QuadraticTerm[] {
  const first = firstRows(shape);
  const coefs = lab.coefs(1);
  lab.kernels.formToCoefs(coefs.at, delta);
  const value = lab.i64(coefs).slice();
  const terms: QuadraticTerm[] = [];
  for (let i = 0; i < f; i++) {
    for (let k = i; k < f; k++) {
      const factor = scaled(value, (i === k ? -1n : -2n) << BigInt(b * (i + k)));
      for (let row = 0; row < shape.rows[i]!; row++) {
        terms.push({ pair: pairIndex(shape.r, first[i]! + row, first[k]! + row), factor });
      }
    }
  }
  return terms;
}
