/**
 * The right sides of the lifts (docs/protocol.md, 7.6, 8.4, 10.1) and the padding (10.3), which
 * every level has.
 */
import { FORM_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import { type Seed, sampleShorts } from '../challenges.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import { formAt } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import type { Run } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { addProduct, type Folding } from './folding.ts';

/** The sum of weight_j value_j. */
export const weighted = (weights: BigInt64Array, values: readonly bigint[]): bigint =>
  values.reduce((sum, value, j) => sum + weights[j]! * value, 0n);

/**
 * The coefficients 0 and 32 that the equations over S_q give to each lift (8.4): sum of omega_j
 * (y_j + y*_j i) with i = X^32.
 *
 * @param omegas those of every lift, two words for each equation
 * @param rights y_0, y*_0, y_1, ..., and the right sides of all other equations behind them
 */
export function liftedRights(
  omegas: readonly BigInt64Array[],
  rights: readonly bigint[],
): [real: bigint, imaginary: bigint][] {
  const straight = rights.map((value, i) => (i % 2 === 0 ? value : -value));
  const crossed = rights.map((_, i) => rights[i ^ 1]!);
  return omegas.map((omega) => [weighted(omega, straight) % Q, weighted(omega, crossed) % Q]);
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
  known: readonly (readonly bigint[])[],
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
 * The places of the runs gain their challenges. The first column of the folding is column
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
  lab.scope(() => {
    const form = lab.room(FORM_BYTES);
    for (const { row, from, to } of runs) {
      for (let column = from; column < to; column++) {
        lab.scope(() => {
          const short = sampleShorts(lab, combine, SHORT.padding, row * n + column, 1);
          lab.kernels.smallToForm(form, short.at);
        });
        folding.add(row, column - skipped, form);
      }
    }
  });
}
