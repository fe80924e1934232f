/** Level 0 (docs/protocol.md, 7): the level whose rows hold the signatures. */
import type { ParameterSet } from '../../../falcon/index.ts';
import type { Parameters } from '../../parameters/rows.ts';
import type { Columns } from '../columns.ts';
import { type ItemsShape, itemsWithin, owns } from '../itemColumns.ts';
import { ABSORB, SEED } from '../labels.ts';
import { centred, coefsOf, constantForm } from '../ring.ts';
import {
  BETA_SQ,
  degreeOf,
  FUNCTIONALS,
  firstRows,
  P,
  paddingOfZero,
  pairIndex,
} from '../shapes.ts';
import { commitOuter, storeG, storeT } from './commit.ts';
import type { Context } from './context.ts';
import { finishLevel, projectAndLift } from './level.ts';
import { newOutput, type Output } from './output.ts';
import type { SectionItem } from './witness.ts';

export async function proveLevelZero(
  context: Context,
  set: ParameterSet,
  parameters: Parameters,
  items: readonly SectionItem[],
): Promise<Output> {
  const { lab, team, transcript } = context;
  const { kernels } = lab;
  const { bucket, width } = parameters;
  const level = parameters.levels[0]!;
  const { n, r, fu, kappa } = level;
  const count = items.length;
  const shape: ItemsShape = { set, level, bucket, width, count };
  const [, firstW, firstY] = firstRows(level) as [number, number, number];
  const perRow = fu * kappa;
  const output = newOutput(lab, 0, level, [firstY * perRow, (r - firstY) * perRow], 1);
  const { keys, pieces } = output;
  const mark = kernels.mark();

  team.split(n);
  const parts = await context.all('commit', [0, 0.4], 'openItems', (columns) => ({
    shape,
    columns,
    items: itemsWithin(shape, columns).map((item) => items[item]!),
  }));
  const digits = normDigits(shape, team.columns, parts);
  const first = await context.all('commit', [0.4, 0.6], 'commitItems', () => ({ digits }));
  storeT(context, output, coefsOf(lab, first), 0);
  commitOuter(context, ABSORB.uA, output, 0, [
    { key: keys.B[0]!, from: pieces.t, count: keys.B[0]!.columns },
  ]);

  const alpha = transcript.seed(SEED.alpha);
  const second = await context.all('commit', [0.6, 1], 'commitTwisted', () => ({ alpha }));
  const t = second.map((share) => share.t);
  storeT(context, output, coefsOf(lab, t), firstY);
  const g = second.map((share) => share.g);
  storeG(context, output, coefsOf(lab, g));
  commitOuter(context, ABSORB.uB, output, 1, [
    { key: keys.B[1]!, from: pieces.t + keys.B[0]!.columns, count: keys.B[1]!.columns },
    { key: keys.C, from: pieces.g, count: keys.C.columns },
  ]);
  await context.pause('project');

  const jl = transcript.seed(SEED.jl);
  const rho = transcript.seed(SEED.rho);
  const sums = await context.all('project', [0, 0.5], 'functionals', () => ({ rho }));
  const lifts = await projectAndLift(context, level, jl, functionals(context, sums));

  // N1
  constantForm(lab, output.aForms.at, 1n);
  output.a.clear();
  for (let row = 0; row < firstW; row++) {
    output.a.set(pairIndex(r, row, row + firstY), output.aForms.at);
  }
  rightSide(context, output, BETA_SQ[degreeOf(set)], second);
  await finishLevel(context, output, lifts, paddingOfZero(parameters, count));
  kernels.reset(mark);
  return output;
}

/** W as a part of the level: the low digits of all items, then, `bucket` further, the high ones. */
function normDigits(
  shape: ItemsShape,
  shares: readonly Columns[],
  parts: readonly Int16Array[],
): Int16Array {
  const digits = new Int16Array(64 * 2 * shape.bucket);
  for (const [i, columns] of shares.entries()) {
    const owned = itemsWithin(shape, columns).filter((item) => owns(shape, columns, item));
    for (const [place, item] of owned.entries()) {
      for (const digit of [0, 1]) {
        const from = 64 * (2 * place + digit);
        digits.set(parts[i]!.subarray(from, from + 64), 64 * (digit * shape.bucket + item));
      }
    }
  }
  return digits;
}

/** The bytes of w, from the sums of every share. */
function functionals(context: Context, sums: readonly (readonly number[])[]): Uint8Array {
  const w = new Uint8Array(4 * FUNCTIONALS);
  const view = new DataView(w.buffer);
  for (let j = 0; j < FUNCTIONALS; j++) {
    const value = sums.reduce((sum, share) => sum + share[j]!, 0) / P;
    if ((value | 0) !== value) context.fail('functional');
    view.setInt32(4 * j, value, true);
  }
  return w;
}

/** b of N1 without the lifts: beta^2 times the sum of all alpha_i. */
function rightSide(
  { lab }: Context,
  output: Output,
  betaSq: number,
  shares: readonly { readonly alphas: Int32Array }[],
): void {
  const b = lab.i64(output.b);
  for (let j = 0; j < 64; j++) {
    const sum = shares.reduce((sum, { alphas }) => sum + alphas[j]!, 0);
    b[j] = centred(BigInt(sum) * BigInt(betaSq));
  }
}
