/** Level 0 (docs/protocol.md, 7): its claim, from the folds of its columns. */
import type { OrdinaryLevel, Parameters } from '../../parameters/rows.ts';
import type { Labrador, Vecs } from '../../wasm.ts';
import { prepareTheta, sampleOmegas } from '../challenges.ts';
import type { Claim, Pair, QuadraticTerm } from '../claim.ts';
import { BETA_SQ, FALCON_Q, FUNCTIONALS, Q } from '../constants.ts';
import { constantForm, zeroForms } from '../forms.ts';
import { PROJECTION_LENGTH, projectionOf } from '../projection.ts';
import { joinLists, numbersOf, type Values } from '../ring.ts';
import { firstRowOfY, PART, pairIndex } from '../shapes.ts';
import type { FoldedItems } from './foldItems.ts';
import { addProduct } from './folding.ts';
import { hiddenFields, readB32 } from './hidden.ts';
import { openSeeds } from './openSeeds.ts';
import type { ParsedOrdinary } from './parse.ts';
import { claimOf } from './reduceLevel.ts';
import { liftedRights, reduceLifts, weighted } from './reduceLifts.ts';
import type { FirstSeeds } from './replay.ts';

/**
 * The claim of level 0.
 *
 * @param folded the folds of all columns, in order
 * @returns undefined if a functional is out of its range (7.3)
 */
export function reduceLevelZero(
  lab: Labrador,
  parameters: Parameters,
  folded: readonly FoldedItems[],
  fields: ParsedOrdinary,
  seeds: FirstSeeds,
): Claim | undefined {
  const level = parameters.levels[0]!;
  return lab.scope(() => {
    const { lift, c, beta } = openSeeds(lab, seeds, 0, level.r);
    const values = functionalValues(fields.w, folded);
    if (values === undefined) return undefined;
    const omegas = sampleOmegas(lab, lift, PROJECTION_LENGTH);
    const theta = prepareTheta(lab, lift);
    const b = zeroForms(lab, 1).at;
    const buffer = lab.kernels.memory.buffer as ArrayBuffer;
    const thetas = omegas.map((_, k) =>
      numbersOf(new BigInt64Array(buffer, theta + 8 * FUNCTIONALS * k, FUNCTIONALS)),
    );
    const functionals = Float64Array.from(values, Number);
    const constants = liftedRights(omegas, Float64Array.from(projectionOf(fields.y))).map(
      ([constant], k) => constant + weighted(thetas[k]!, functionals),
    );
    const lifts = knownOfLifts(lab, level, fields, constants);
    if (level.w === 0) reduceLifts(lab, b, beta, 0, fields.b, lifts);
    const betaSq = BigInt(BETA_SQ[parameters.set]);
    const norms = BigInt64Array.from({ length: 64 }, (_, j) => {
      const sum = folded.reduce((all, { alphas }) => all + alphas[j]!, 0);
      return BigInt(sum) * betaSq;
    });
    addProduct(lab, b, constantForm(lab, 1n), norms);
    // A single one may be a vector, and is returned as it is.
    const phi: Values | Vecs = joinLists(folded.map((part) => part.phi as Values));
    const combined = { c, phi, quadratic: [ofNorms(parameters)], b };
    return claimOf(lab, 0, level, fields, combined, beta, lifts);
  });
}

/**
 * Coefficients 0 of the lifts, which the verifier knows, and if the lifts are hidden coefficients
 * 32, which were sent (otherwise these values are not read).
 */
function knownOfLifts(
  lab: Labrador,
  level: OrdinaryLevel,
  fields: ParsedOrdinary,
  constants: readonly bigint[],
): Pair[] {
  const b32 = readB32(lab, hiddenFields(level, fields).b32);
  return constants.map((constant, k) => [constant % Q, b32[k]!]);
}

/** Computes p w_j + C_j. @returns undefined if one is out of range (7.3) */
function functionalValues(w: Int32Array, folded: readonly FoldedItems[]): bigint[] | undefined {
  const values = Array.from({ length: FUNCTIONALS }, (_, j) => {
    const sum = folded.reduce((all, { sums }) => all + sums[j]!, 0);
    return BigInt(FALCON_Q) * BigInt(w[j]!) + BigInt(sum);
  });
  return values.every((x) => x <= Q / 2n && x >= -(Q / 2n)) ? values : undefined;
}

/** a_ab of N1: 1 for a row of S and its row of Y. */
function ofNorms({ levels }: Parameters): QuadraticTerm {
  const level = levels[0]!;
  const factor = new BigInt64Array(64);
  factor[0] = 1n;
  const pairs = Array.from({ length: level.rows[PART.S]! }, (_, a) =>
    pairIndex(level.r, a, firstRowOfY(level) + a),
  );
  return { pairs, factor };
}
