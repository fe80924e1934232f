/**
 * The proof about hidden messages in the level after a hidden one (docs/protocol.md, 8.5): (Q),
 * about their products with the key matrix, and (T_b), about the lifts. The prover has both, in
 * `Output.hidden`, and multiplies them by their scalars. They become a linear form on the digits,
 * x, only once the lifts are combined.
 */
import { COEFS_BYTES, type Coefs, type Forms, type Labrador } from '../../wasm.ts';
import { type Seed, sampleOmegas } from '../challenges.ts';
import { DEGREE } from '../constants.ts';
import { LOW_BITS } from '../foldKeys.ts';
import { formAt, zeroForms } from '../forms.ts';
import { QUARTERS_AT } from '../lifts.ts';
import { EQUATIONS_OF_ROW } from '../quarters.ts';
import { centred, type Values, writeParts } from '../ring.ts';
import type { Output } from './output.ts';
import { coefsOfSums } from './steps.ts';

/**
 * The scalars of all equations of a level for every lift: those of (P), (P_x), (Q) and (T_b), two
 * words each (docs/protocol.md, 8.5); of a part, times its upsilon (docs/merged.md, 1.4).
 *
 * @param words number of words before those of the parts
 * @param part counted from 0; undefined if the level takes the output of one level
 */
export function scalarsOfPart(
  lab: Labrador,
  lift: Seed,
  words: number,
  part?: number,
): readonly Values[] {
  if (part === undefined) return sampleOmegas(lab, lift, words);
  return sampleOmegas(lab, lift, words + 2 * (part + 1)).map((omega) => {
    const [a, b] = [omega[words + 2 * part]!, omega[words + 2 * part + 1]!];
    const scalars = omega.slice(0, words);
    for (let i = 0; i < words; i += 2) {
      const [c, d] = [omega[i]!, omega[i + 1]!];
      scalars[i] = centred(a * c - b * d);
      scalars[i + 1] = centred(a * d + b * c);
    }
    return scalars;
  });
}

/**
 * The factors by which (Q) and (T_b) multiply each polynomial of `Output.hidden`, for every lift of
 * the next level. Valid until the enclosing scope ends.
 *
 * @param scalars of all equations of that level, from `scalarsOfPart`
 * @returns undefined if nothing is hidden
 */
export function scalarsOnHidden(
  lab: Labrador,
  { params, hidden }: Pick<Output, 'params' | 'hidden'>,
  scalars: readonly Values[],
): Coefs[] | undefined {
  if (params.w === 0) return undefined;
  const rows = params.k * params.messages.length;
  const first = QUARTERS_AT;
  const ofLifts = first + 2 * EQUATIONS_OF_ROW * rows;
  return scalars.map((omega) => {
    const coefs = lab.coefs(hidden.count);
    const values = lab.i64(coefs).fill(0n);
    for (let row = 0, word = first; row < rows; row++) {
      for (let j = 0; j < EQUATIONS_OF_ROW; j++, word += 2) {
        // omega_j X^-4j, with X^32 for i; X^-4j is -X^(64 - 4j)
        const at = DEGREE * row - 4 * j;
        if (j === 0) values[at] = omega[word]!;
        else values[at + DEGREE] = -omega[word]!;
        values[at + DEGREE / 2] = omega[word + 1]!;
      }
    }
    for (let row = rows, word = ofLifts; row < hidden.count; row++, word += 2) {
      values[DEGREE * row] = omega[word]!;
      values[DEGREE * row + DEGREE / 2] = omega[word + 1]!;
    }
    return coefs;
  });
}

/** Splits residues into low + 2^22 high, so that products with other residues stay exact. */
function partsOf(lab: Labrador, coefs: Coefs): readonly [low: Coefs, high: Coefs] {
  const parts = [lab.coefs(coefs.count), lab.coefs(coefs.count)] as const;
  writeParts(lab.i64(parts[0]), lab.i64(parts[1]), lab.i64(coefs), LOW_BITS);
  return parts;
}

/**
 * The contribution of (Q) and (T_b) to the lifts. The polynomials of `scalars` have at most 16
 * coefficients, the parts of which are at most 2^22: as integers the sums are below count 2^26 q/2,
 * and exact for any count below 2^10.
 */
export function liftHidden(lab: Labrador, hidden: Coefs, scalars: readonly Coefs[]): Values {
  const { kernels } = lab;
  return lab.scope(() => {
    const { count } = hidden;
    const polynomials = lab.vecs(1, count);
    kernels.coefsToVec(polynomials.at, 0, hidden.at, COEFS_BYTES, count);
    const factors = lab.vecs(2 * scalars.length, count);
    for (const [i, part] of scalars.flatMap((coefs) => partsOf(lab, coefs)).entries()) {
      kernels.coefsToVec(lab.row(factors, i), 0, part.at, COEFS_BYTES, count);
    }
    const sums = lab.sums(factors.rows);
    lab.products(sums, factors, polynomials);
    const parts = lab.i64(coefsOfSums(lab, sums));
    return BigInt64Array.from({ length: DEGREE * scalars.length }, (_, i) => {
      const at = i + DEGREE * Math.floor(i / DEGREE);
      return centred(parts[at]! + (parts[at + DEGREE]! << BigInt(LOW_BITS)));
    });
  });
}

/** The parts of sum of beta_k scalars^(k), low and high, in NTT form. */
export function combineScalars(
  lab: Labrador,
  beta: Forms,
  scalars: readonly Coefs[],
): readonly [low: Forms, high: Forms] {
  const { kernels } = lab;
  const { count } = scalars[0]!;
  const parts = [lab.forms(count), lab.forms(count)] as const;
  lab.scope(() => {
    const sums = zeroForms(lab, count);
    const product = lab.forms(1).at;
    for (const [k, coefs] of scalars.entries()) {
      for (let i = 0; i < count; i++) {
        kernels.coefsToForm(product, coefs.at + COEFS_BYTES * i);
        kernels.mulForm(product, product, formAt(beta, k));
        kernels.addForm(formAt(sums, i), formAt(sums, i), product);
      }
    }
    const whole = lab.coefs(count);
    kernels.formsToCoefs(whole.at, sums.at, count);
    for (const [i, part] of partsOf(lab, whole).entries()) {
      for (let j = 0; j < count; j++) {
        kernels.coefsToForm(formAt(parts[i]!, j), part.at + COEFS_BYTES * j);
      }
    }
  });
  return parts;
}
