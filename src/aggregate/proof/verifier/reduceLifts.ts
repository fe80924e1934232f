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

/** The sum of weight_j value_j; the weights are i64 at an address. */
export function weighted(lab: Labrador, weightsAt: number, values: readonly bigint[]): bigint {
  const weights = new BigInt64Array(lab.kernels.memory.buffer, weightsAt, values.length);
  return values.reduce((sum, value, j) => sum + weights[j]! * value, 0n);
}

/**
 * The coefficients 0 and 32 that the projection gives to each lift (8.4): sum of omega_j (y_j +
 * y*_j i) with i = X^32.
 *
 * @param omega the address of i64[lifts][137][2]
 * @param y y_0, y*_0, y_1, ...
 */
export function liftedProjection(
  lab: Labrador,
  omega: number,
  lifts: number,
  y: readonly number[],
): [real: bigint, imaginary: bigint][] {
  const straight = y.map((value, i) => BigInt(i % 2 === 0 ? value : -value));
  const crossed = y.map((_, i) => BigInt(y[i ^ 1]!));
  return Array.from({ length: lifts }, (_, k) => {
    const at = omega + 8 * y.length * k;
    return [weighted(lab, at, straight), weighted(lab, at, crossed)];
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
