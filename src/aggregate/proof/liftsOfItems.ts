/** The linear forms of the lifts at level 0 (docs/protocol.md, 7.6). */
import type { OrdinaryLevel } from '../parameters/rows.ts';
import type { Forms, Vecs } from '../wasm.ts';
import {
  COEFS,
  FORM,
  prepareOmega,
  prepareTheta,
  type Seed,
  samplePsi,
  vecsToFill,
} from './challenges.ts';
import type { Context } from './context.ts';
import { SEED, STREAM } from './labels.ts';
import { FUNCTIONALS, LIFTS, Q, runsOf } from './shapes.ts';
import { filledBy, type Placed } from './steps.ts';

const W_FACTOR = 1n << 13n;

interface Input {
  readonly params: OrdinaryLevel;
  readonly bucket: number;
  readonly width: number;
  /** items */
  readonly count: number;
  readonly placesS: readonly Placed[];
  readonly projection: { readonly seed: Seed; readonly counter: number };
  readonly alphas: Forms;
  /** sigma of the parts of the functionals, `partsStride` bytes each */
  readonly parts: number;
  readonly partsStride: number;
}

/** F of the three lifts, r rows of n each. */
export async function liftsOfItems(context: Context, input: Input): Promise<Vecs[]> {
  const { lab } = context;
  const { params, placesS, width } = input;
  const { n } = params;
  // rows of W are cleared: padding may stand between their two digits
  const filled = filledBy(params, [width * input.count, 0, width * input.count]);
  const F = Array.from({ length: LIFTS }, () => vecsToFill(lab, n, filled));
  const seed = context.seed(SEED.lift);
  prepareOmega(lab, seed);
  prepareTheta(lab, seed);
  const firstY = params.rows[0]! + params.rows[1]!;
  for (const { row, count, number } of placesS) {
    startLifts(context, input, F, seed, row, firstY + row);
    for (let at = number; at < number + count; ) {
      // the places of one item
      const item = Math.floor(at / width);
      const t = at - item * width;
      const here = Math.min(width - t, number + count - at);
      const parts = input.parts + input.partsStride * FUNCTIONALS * item;
      const alpha = input.alphas.at + FORM * item;
      lab.kernels.liftRun(at - number, at, t, here, parts, alpha);
      at += here;
      await context.pause('lift', (0.9 * at) / (width * input.count));
    }
  }
  liftsOfNorms(context, input, F, seed);
  return F;
}

/** Tells the module what stays the same over a row: streams, rows of the lifts, where functionals stand. */
function startLifts(
  { lab }: Context,
  { projection, width, partsStride }: Input,
  F: readonly Vecs[],
  seed: Seed,
  rowS: number,
  rowY: number,
): void {
  const { buffer } = lab.kernels.memory;
  const [key, word13, word14] = projection.seed.nonce(STREAM.projection, 0, projection.counter);
  new Uint32Array(buffer, lab.kernels.LIFT.value, 12).set([
    ...[key, word13, word14, seed.at],
    ...F.map((vecs) => lab.row(vecs, rowS)),
    ...F.map((vecs) => lab.row(vecs, rowY)),
    ...[partsStride, width - 1],
  ]);
}

/** psi_i at W_i0 and 2^13 psi_i at W_i1. */
function liftsOfNorms(
  { lab }: Context,
  { params, bucket, count }: Input,
  F: readonly Vecs[],
  seed: Seed,
): void {
  lab.scope(() => {
    const word = lab.room(8);
    const low = lab.coefs(count);
    const high = lab.coefs(count);
    for (const [k, vecs] of F.entries()) {
      lab.i64(low).fill(0n);
      lab.i64(high).fill(0n);
      for (let item = 0; item < count; item++) {
        samplePsi(lab, seed, k, item, word);
        const psi = new BigInt64Array(lab.kernels.memory.buffer, word, 1)[0]!;
        lab.i64(low)[64 * item] = psi;
        lab.i64(high)[64 * item] = (psi * W_FACTOR) % Q;
      }
      for (const [start, list] of [
        [0, low],
        [bucket, high],
      ] as const) {
        let at = list.at;
        for (const { row, from, to } of runsOf(params, 1, start, start + count)) {
          lab.kernels.coefsToVec(lab.row(vecs, row), from, at, COEFS, to - from);
          at += COEFS * (to - from);
        }
      }
    }
  });
}
