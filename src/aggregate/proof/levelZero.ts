/** Level 0 (docs/protocol.md, 7): the level whose rows hold the signatures. */
import type { ParameterSet } from '../../falcon/index.ts';
import type { Parameters, Shape } from '../parameters/rows.ts';
import type { Forms, Smalls, Vecs } from '../wasm.ts';
import { FORM, formsOf, SMALL, sampleAlphas, vecsToFill } from './challenges.ts';
import { commitOuter, storeG, storeT } from './commit.ts';
import type { Context } from './context.ts';
import { Functionals, partsBytes } from './functionals.ts';
import { ABSORB, SEED } from './labels.ts';
import { finishLevel } from './level.ts';
import { liftsOfItems } from './liftsOfItems.ts';
import { newOutput, type Output } from './output.ts';
import {
  BETA_SQ,
  degreeOf,
  FUNCTIONALS,
  firstRows,
  P,
  paddingOfZero,
  pairIndex,
  runsOf,
} from './shapes.ts';
import {
  constantForm,
  filledBy,
  innerCommitments,
  placesOfPart,
  project,
  quadraticGarbage,
  rowsOf,
  sendLifts,
} from './steps.ts';
import { type Decoded, writeS, writeW } from './witness.ts';

const W_BITS = 13n;

export async function proveLevelZero(
  context: Context,
  set: ParameterSet,
  parameters: Parameters,
  items: readonly Decoded[],
): Promise<Output> {
  const { lab } = context;
  const { kernels } = lab;
  const { bucket, width } = parameters;
  const params = parameters.levels[0]!;
  const { n, r, fu, kappa } = params;
  const count = items.length;
  const [, firstW, firstY] = firstRows(params) as [number, number, number];
  const perRow = fu * kappa;
  const output = newOutput(lab, 0, params, [firstY * perRow, (r - firstY) * perRow], 1);
  const { keys, pieces } = output;
  const mark = kernels.mark();

  const S = writeS(lab, set, items, width);
  const W = writeW(lab, set, S, width, bucket);
  const filled = filledBy(params, [S.count, W.count, S.count]);
  const s = vecsToFill(lab, n, filled);
  const placesS = placesOfPart(params, 0, S.count, S.at);
  for (const { row, count: columns, at } of placesS) {
    kernels.smallsToVec(lab.row(s, row), 0, at, SMALL, columns);
  }
  for (const { row, count: columns, at } of placesOfPart(params, 1, W.count, W.at)) {
    kernels.widesToVec(lab.row(s, row), 0, at, SMALL, columns);
  }
  storeT(context, output, innerCommitments(lab, keys.A, rowsOf(s, 0, firstY)), 0);
  commitOuter(context, ABSORB.uA, output, 0, [
    { key: keys.B[0]!, from: pieces.t, count: keys.B[0]!.columns },
  ]);
  await context.pause('commit', 0.3);

  const alphas = formsOf(lab, sampleAlphas(lab, context.seed(SEED.alpha), count));
  writeY(context, s, { first: firstY, n, width }, S, alphas);
  storeT(context, output, innerCommitments(lab, keys.A, rowsOf(s, firstY, r - firstY)), firstY);
  await context.pause('commit', 0.6);
  storeG(context, output, quadraticGarbage(lab, s));
  commitOuter(context, ABSORB.uB, output, 1, [
    { key: keys.B[1]!, from: pieces.t + keys.B[0]!.columns, count: keys.B[1]!.columns },
    { key: keys.C, from: pieces.g, count: keys.C.columns },
  ]);
  await context.pause('project');

  const jl = context.seed(SEED.jl);
  const functionals = await makeFunctionals(context, set, items);
  const projection = project(context, placesS, params, functionals.w, jl);
  await context.pause('lift');

  const F = await liftsOfItems(context, {
    params,
    bucket,
    width,
    count,
    placesS,
    projection,
    alphas,
    parts: functionals.at,
    partsStride: partsBytes(degreeOf(set)),
  });
  const lifts = sendLifts(context, F, s);
  await context.pause('combine');

  // N1
  constantForm(lab, output.aForms.at, 1n);
  output.a.clear();
  for (let row = 0; row < firstW; row++) {
    output.a.set(pairIndex(r, row, row + firstY), output.aForms.at);
  }
  rightSide(context, output, alphas, BigInt(BETA_SQ[degreeOf(set)]));
  await finishLevel(context, output, s, F, lifts, paddingOfZero(parameters, count), {
    late: (phi) => subtractAlphas(context, phi, { ...params, bucket }, alphas),
  });
  kernels.reset(mark);
  return output;
}

/** Y: alpha_i sigma(S_it), in the rows from `first` on. */
function writeY(
  { lab }: Context,
  s: Vecs,
  { first, n, width }: { first: number; n: number; width: number },
  S: Smalls,
  alphas: Forms,
): void {
  for (let place = 0; place < S.count; ) {
    const item = Math.floor(place / width);
    const row = Math.floor(place / n);
    const end = Math.min((item + 1) * width, (row + 1) * n, S.count);
    const column = place - row * n;
    const alpha = alphas.at + FORM * item;
    const from = S.at + SMALL * place;
    const to = lab.row(s, first + row);
    lab.kernels.twistedToVec(to, column, from, SMALL, end - place, alpha);
    place = end;
  }
}

/** sigma of the parts of all functionals at `at`, item after item, and the bytes of w. */
async function makeFunctionals(
  context: Context,
  set: ParameterSet,
  items: readonly Decoded[],
): Promise<{ at: number; w: Uint8Array }> {
  const { lab } = context;
  const n = degreeOf(set);
  const stride = FUNCTIONALS * partsBytes(n);
  const at = lab.room(stride * items.length);
  const functionals = new Functionals(lab, context.seed(SEED.rho), n);
  const difference = new Int16Array(n);
  for (const [i, { h, c, s1, s2 }] of items.entries()) {
    for (let j = 0; j < n; j++) difference[j] = s1[j]! - c[j]!;
    functionals.write(
      i,
      h,
      at + stride * i,
      Int16Array.from(s1, (x, j) => x - c[j]!),
      s2,
    );
    if (i % 16 === 0) await context.pause('project', i / items.length);
  }
  const w = new Uint8Array(4 * FUNCTIONALS);
  const view = new DataView(w.buffer);
  for (const [j, sum] of functionals.sums().entries()) {
    const value = sum / P;
    if ((value | 0) !== value) context.fail('functional');
    view.setInt32(4 * j, value, true);
  }
  return { at, w };
}

/** b of N1 without the lifts: beta^2 times the sum of all alpha_i. */
function rightSide({ lab }: Context, output: Output, alphas: Forms, betaSq: bigint): void {
  const { kernels } = lab;
  lab.scope(() => {
    const sum = lab.forms(1);
    constantForm(lab, sum.at, 0n);
    for (let i = 0; i < alphas.count; i++) {
      kernels.addForm(sum.at, sum.at, alphas.at + FORM * i);
    }
    const factor = lab.forms(1);
    constantForm(lab, factor.at, betaSq);
    kernels.mulForm(sum.at, sum.at, factor.at);
    kernels.formToCoefs(output.b.at, sum.at);
  });
}

/** N1 on W: -alpha_i on the low digits, -2^13 alpha_i on the high ones. */
function subtractAlphas(
  { lab }: Context,
  phi: Vecs,
  shape: Shape & { bucket: number },
  alphas: Forms,
): void {
  const { kernels } = lab;
  lab.scope(() => {
    const form = lab.forms(1);
    const factor = lab.forms(1);
    const term = lab.forms(1);
    for (const [digit, start] of [0, shape.bucket].entries()) {
      constantForm(lab, factor.at, 1n << (W_BITS * BigInt(digit)));
      let item = 0;
      for (const { row, from, to } of runsOf(shape, 1, start, start + alphas.count)) {
        for (let column = from; column < to; column++, item++) {
          kernels.mulForm(term.at, alphas.at + FORM * item, factor.at);
          kernels.loadColumn(form.at, lab.row(phi, row), column);
          kernels.subForm(form.at, form.at, term.at);
          kernels.storeColumn(lab.row(phi, row), column, form.at);
        }
      }
    }
  });
}
