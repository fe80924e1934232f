/** The linear forms of the lifts at level 0 (docs/protocol.md, 7.6). */
import type { OrdinaryLevel } from '../parameters/rows.ts';
import type { Forms, Vecs } from '../wasm.ts';
import {
  COEFS,
  FORM,
  prepareOmega,
  prepareTheta,
  type Seed,
  SMALL,
  sampleEta,
  samplePsi,
  startProjection,
} from './challenges.ts';
import type { Context } from './context.ts';
import { SEED } from './labels.ts';
import { FUNCTIONALS, LIFTS, Q, runsOf } from './shapes.ts';
import type { Placed } from './steps.ts';

/** Polynomials between two looks at the clock. */
const BLOCK = 32;
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
  const { params, placesS, projection } = input;
  const { r, n } = params;
  const F = Array.from({ length: LIFTS }, () => lab.vecs(r, n));
  const seed = context.seed(SEED.lift);
  prepareOmega(lab, seed);
  prepareTheta(lab, seed);
  const firstY = params.rows[0]! + params.rows[1]!;
  const scratch = newScratch(context);
  let place = 0;
  for (const { row, count, number } of placesS) {
    for (let column = 0; column < count; column += BLOCK) {
      const here = Math.min(BLOCK, count - column);
      startProjection(projection.seed, projection.counter);
      lab.kernels.collapsePolys(scratch.coefs, number + column, here);
      for (let i = 0; i < here; i++, place++) {
        liftsOfPlace(context, input, F, seed, scratch, place, i, row, firstY + row, column + i);
      }
      await context.pause('lift', (0.9 * place) / (input.width * input.count));
    }
  }
  liftsOfNorms(context, input, F, seed);
  return F;
}

interface Scratch {
  /** i64[BLOCK][3][64] */
  readonly coefs: number;
  readonly eta: number;
  readonly form: number;
  readonly product: number;
  readonly twisted: number;
}

function newScratch({ lab }: Context): Scratch {
  return {
    coefs: lab.coefs(LIFTS * BLOCK).at,
    eta: lab.coefs(1).at,
    form: lab.forms(1).at,
    product: lab.forms(1).at,
    twisted: lab.forms(1).at,
  };
}

/** The forms at place P of S and of Y. */
function liftsOfPlace(
  { lab }: Context,
  { alphas, parts, partsStride, width }: Input,
  F: readonly Vecs[],
  seed: Seed,
  { coefs, eta, form, product, twisted }: Scratch,
  place: number,
  inBlock: number,
  rowS: number,
  rowY: number,
  column: number,
): void {
  const { kernels } = lab;
  const item = Math.floor(place / width);
  const t = place - item * width;
  const at = coefs + LIFTS * COEFS * inBlock;
  // the filling of the norm is in no functional
  if (t < width - 1) {
    kernels.addFunctionals(at, parts + partsStride * FUNCTIONALS * item + SMALL * t, partsStride);
  }
  for (const [k, vecs] of F.entries()) {
    sampleEta(lab, seed, k, place, eta);
    kernels.coefsToForm(form, eta);
    kernels.storeColumn(lab.row(vecs, rowY), column, form);
    kernels.mulForm(product, form, alphas.at + FORM * item);
    kernels.sigmaForm(twisted, product);
    kernels.coefsToForm(form, at + COEFS * k);
    kernels.subForm(form, form, twisted);
    kernels.storeColumn(lab.row(vecs, rowS), column, form);
  }
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
