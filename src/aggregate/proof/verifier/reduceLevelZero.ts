/** Level 0 (docs/protocol.md, 7): what is claimed after it, from what its parts have folded. */
import type { Parameters } from '../../parameters/rows.ts';
import type { Labrador } from '../../wasm.ts';
import { prepareOmega, prepareTheta } from '../challenges.ts';
import { projectionOf } from '../projection.ts';
import { joined } from '../ring.ts';
import {
  BETA_SQ,
  FUNCTIONALS,
  firstRows,
  LIFTS,
  P,
  pairIndex,
  Q,
  ROWS_OF_PROJECTION,
} from '../shapes.ts';
import type { FoldedItems } from './foldItems.ts';
import { addProduct, constantForm, zeroForm } from './folding.ts';
import { openChallenges, openSeeds } from './openSeeds.ts';
import type { ParsedOrdinary } from './parse.ts';
import type { Claim, QuadraticTerm } from './reduceConstraints.ts';
import { claimOf } from './reduceLevel.ts';
import { addLifts, weighted } from './reduceLifts.ts';
import type { FirstSeeds } from './replay.ts';

/** Parts of the witness. */
const [S, Y] = [0, 2] as const;

/**
 * @param folded of all columns, in order
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
    const open = openSeeds(lab, seeds, 0);
    const { c, beta } = openChallenges(lab, seeds, open, 0, level.r);
    const values = functionals(fields.w, folded);
    if (values === undefined) return undefined;
    const omega = prepareOmega(lab, open.lift);
    const theta = prepareTheta(lab, open.lift);
    const b = zeroForm(lab);
    const projection = projectionOf(fields.y);
    const constants = Array.from(
      { length: LIFTS },
      (_, k) =>
        weighted(lab, omega + 8 * ROWS_OF_PROJECTION * k, projection) +
        weighted(lab, theta + 8 * FUNCTIONALS * k, values),
    );
    addLifts(lab, b, beta, fields.b, constants);
    const betaSq = BigInt(BETA_SQ[parameters.set]);
    const norms = BigInt64Array.from({ length: 64 }, (_, j) => {
      const sum = folded.reduce((all, { alphas }) => all + alphas[j]!, 0);
      return BigInt(sum) * betaSq;
    });
    addProduct(lab, b, constantForm(lab, 1n), norms);
    const phi = joined(folded.map((part) => part.phi));
    return claimOf(lab, 0, level, fields, { c, phi, quadratic: quadraticOf(parameters), b });
  });
}

/** p w_j + C_j. @returns undefined if one is out of range */
function functionals(w: Int32Array, folded: readonly FoldedItems[]): bigint[] | undefined {
  const values = Array.from({ length: FUNCTIONALS }, (_, j) => {
    const sum = folded.reduce((all, { sums }) => all + sums[j]!, 0);
    return BigInt(P) * BigInt(w[j]!) + BigInt(sum);
  });
  return values.every((x) => x <= Q / 2n && x >= -(Q / 2n)) ? values : undefined;
}

/** N1: the rows of S against the rows of Y. */
function quadraticOf({ levels }: Parameters): QuadraticTerm[] {
  const level = levels[0]!;
  const first = firstRows(level);
  const factor = new BigInt64Array(64);
  factor[0] = 1n;
  return Array.from({ length: level.rows[S]! }, (_, a) => ({
    pair: pairIndex(level.r, a, first[Y]! + a),
    factor,
  }));
}
