/**
 * The right sides of the lifts (docs/protocol.md, 7.6, 8.4, 10.1) and the padding (10.3), common to
 * all levels.
 */
import type { Forms, Labrador } from '../../wasm.ts';
import { type Seed, shortForms } from '../challenges.ts';
import type { Pair } from '../claim.ts';
import { portionsOf } from '../columns.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import { formAt } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { numbersOf, type Values } from '../ring.ts';
import type { Run } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { addProduct, type Folding } from './folding.ts';

/** Weights and values are multiplied in halves of 22 bits. */
const HALF_BITS = 22n;
const HALF = 2 ** 22;
/** Sums of this many products are exact in numbers. */
const RUN = 128;
/** Places of the padding whose challenges are sampled at the same time. */
const PADDING_RUN = 256;

/**
 * The sum of weight_j value_j, of integers that are at most 2^44 in magnitude: their halves are at
 * most 2^22, so 256 products of halves are at most 2^52.
 */
export function weighted(weights: Float64Array, values: Float64Array): bigint {
  let sum = 0n;
  for (let j = 0; j < values.length; ) {
    const end = Math.min(j + RUN, values.length);
    let [low, middle, high] = [0, 0, 0];
    for (; j < end; j++) {
      const upper = Math.floor(weights[j]! / HALF);
      const lower = weights[j]! - HALF * upper;
      const valueUpper = Math.floor(values[j]! / HALF);
      const valueLower = values[j]! - HALF * valueUpper;
      low += lower * valueLower;
      middle += lower * valueUpper + upper * valueLower;
      high += upper * valueUpper;
    }
    sum += BigInt(low) + ((BigInt(middle) + (BigInt(high) << HALF_BITS)) << HALF_BITS);
  }
  return sum;
}

/**
 * The coefficients 0 and 32 of each lift that follow from the equations over S_q (8.4): sum of
 * omega_j (y_j + y*_j i) with i = X^32.
 *
 * @param omegas those of every lift, two words for each equation
 * @param rights y_0, y*_0, y_1, ..., followed by the right sides of all other equations
 */
export function liftedRights(omegas: readonly Values[], rights: Float64Array): Pair[] {
  const straight = rights.map((value, i) => (i % 2 === 0 ? value : -value));
  const crossed = rights.map((_, i) => rights[i ^ 1]!);
  return omegas.map((omega) => {
    const weights = numbersOf(omega);
    return [weighted(weights, straight) % Q, weighted(weights, crossed) % Q];
  });
}

/**
 * b += sum of beta_k b^(k+1).
 *
 * @param bytes the coefficients that are sent
 * @param known the others, of each lift
 */
export function reduceLifts(
  lab: Labrador,
  b: number,
  beta: Forms,
  number: number,
  bytes: Uint8Array,
  known: readonly Pair[],
): void {
  const shape = liftsOf(number);
  const each = shape.sent.length;
  lab.scope(() => {
    const values = lab.coefs(shape.count);
    lab.kernels.unpackBits(values.at, lab.put(bytes), shape.count * each, Q_BITS, Q);
    const sent = lab.i64(values).slice(0, shape.count * each);
    for (let k = 0; k < shape.count; k++) {
      const lift = new BigInt64Array(DEGREE);
      for (const [i, j] of shape.sent.entries()) lift[j] = sent[each * k + i]!;
      for (const [i, j] of shape.known.entries()) lift[j] = known[k]![i]! % Q;
      addProduct(lab, b, formAt(beta, k), lift);
    }
  });
}

/**
 * Adds the challenges to the places of the runs. The first column of the folding is column
 * `skipped`.
 */
export function reducePadding(
  folding: Folding,
  combine: Seed,
  n: number,
  runs: readonly Run[],
  skipped = 0,
): void {
  const { lab } = folding;
  for (const { row, from: start, to } of runs) {
    for (const [from, count] of portionsOf(start, to, PADDING_RUN)) {
      lab.scope(() => {
        const forms = shortForms(lab, combine, SHORT.padding, row * n + from, count);
        for (let i = 0; i < count; i++) folding.add(row, from + i - skipped, formAt(forms, i));
      });
    }
  }
}
