/**
 * The right sides of the lifts (docs/protocol.md, 7.6, 8.4, 10.1) and the padding (10.3), which
 * every level has.
 */
import { FORM_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import { type Seed, sampleShorts } from '../challenges.ts';
import { DEGREE, LIFTS, Q, Q_BITS } from '../constants.ts';
import { formAt } from '../forms.ts';
import type { Run } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { addProduct, type Folding } from './folding.ts';

/** The sum of weight_j value_j; the weights are i64 at an address. */
export function weighted(
  lab: Labrador,
  weightsAt: number,
  values: ArrayLike<number | bigint>,
): bigint {
  const weights = new BigInt64Array(lab.kernels.memory.buffer, weightsAt, values.length);
  let sum = 0n;
  for (let j = 0; j < values.length; j++) sum += weights[j]! * BigInt(values[j]!);
  return sum;
}

/**
 * b += sum of beta_k b^(k+1). The constant coefficients are `constants`; `bytes` has the others.
 */
export function reduceLifts(
  lab: Labrador,
  b: number,
  beta: Forms,
  bytes: Uint8Array,
  constants: readonly bigint[],
): void {
  lab.scope(() => {
    const values = lab.coefs(LIFTS);
    const count = LIFTS * (DEGREE - 1);
    lab.kernels.unpackBits(values.at, lab.put(bytes), count, Q_BITS, Q);
    const sent = lab.i64(values).slice(0, count);
    for (const [k, constant] of constants.entries()) {
      const lift = new BigInt64Array(DEGREE);
      lift[0] = constant % Q;
      lift.set(sent.subarray((DEGREE - 1) * k, (DEGREE - 1) * (k + 1)), 1);
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
