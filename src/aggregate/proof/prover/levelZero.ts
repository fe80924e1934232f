/** Level 0 (docs/protocol.md, 7): the level whose rows hold the signatures. */
import type { OrdinaryLevel, Parameters } from '../../parameters/rows.ts';
import type { Columns } from '../columns.ts';
import { BETA_SQ, FALCON_Q, FUNCTIONALS } from '../constants.ts';
import { writeConstant } from '../forms.ts';
import { filledByItems, type ItemsShape, itemsWithin, owns } from '../itemColumns.ts';
import { centred } from '../ring.ts';
import { firstRowOfY, firstRows, PART, paddingOfZero, pairIndex } from '../shapes.ts';
import { ABSORB, SEED } from '../transcript.ts';
import type { KeySize } from './columnProver.ts';
import type { StepInput } from './columnProvers.ts';
import { commitOuter, storeG, storeT } from './commit.ts';
import type { Context } from './context.ts';
import { finishLevel, projectAndLift } from './level.ts';
import { isI32 } from './messages.ts';
import { newOutput, type Output, type ProvedLevel } from './output.ts';
import type { SectionItem } from './witness.ts';

export async function proveLevelZero(
  context: Context,
  parameters: Omit<Parameters, 'tail'>,
  shape: ItemsShape,
  items: readonly SectionItem[],
): Promise<ProvedLevel> {
  const { lab, provers, transcript } = context;
  const { level } = shape;
  const output = newOutput(lab, context.keys, 0, level, 1);
  const mark = lab.kernels.mark();
  provers.split(level.n, filledByItems(shape));
  const keys = keySizes(parameters.levels);
  const uA = await commitSignatures(context, shape, items, keys, output);
  const { uB, alphas } = await commitTwisted(context, level, output);
  await context.pause('project');

  const rho = transcript.seed(SEED.rho);
  const sums = await context.all('project', [0, 0.5], 'functionals', () => ({ rho }));
  const w = functionalQuotients(context, sums);
  const { lifts, ...sent } = await projectAndLift(context, output, { w });

  constrainNorms(context, parameters, output, alphas);
  const padding = paddingOfZero(parameters, shape.count);
  const second = await finishLevel(context, output, lifts, padding);
  context.show({ number: 0, output, lifts, sent });
  lab.kernels.reset(mark);
  return { output, fields: { first: [uA, uB], ...sent, second } };
}

/** Rows and columns of the inner keys of levels. */
export const keySizes = (levels: readonly OrdinaryLevel[]): KeySize[] =>
  levels.map(({ kappa, n }) => ({ rows: kappa, columns: n }));

/** Commits to S and W. @returns u'_A */
async function commitSignatures(
  context: Context,
  shape: ItemsShape,
  items: readonly SectionItem[],
  keys: StepInput<'openItems'>['keys'],
  output: Output,
): Promise<Uint8Array> {
  const parts = await context.all('commit', [0, 0.4], 'openItems', (columns) => ({
    shape,
    columns,
    items: itemsWithin(shape, columns).map((item) => items[item]!),
    keys,
  }));
  const digits = joinNormDigits(shape, context.provers.columns, parts);
  const t = await context.all('commit', [0.4, 0.6], 'commitItems', () => ({ digits }));
  storeT(context, output, t, 0);
  return commitOuter(context, ABSORB.uA, output, 0);
}

/** Commits to Y and g. @returns u'_B, and the sums of alpha_i of every column prover */
async function commitTwisted(
  context: Context,
  level: ItemsShape['level'],
  output: Output,
): Promise<{ uB: Uint8Array; alphas: readonly Int32Array[] }> {
  const alpha = context.transcript.seed(SEED.alpha);
  const parts = await context.all('commit', [0.6, 1], 'commitTwisted', () => ({ alpha }));
  const t = parts.map((part) => part.t);
  storeT(context, output, t, firstRowOfY(level));
  const g = parts.map((part) => part.g);
  storeG(context, output, g);
  const uB = commitOuter(context, ABSORB.uB, output, 1);
  return { uB, alphas: parts.map(({ alphas }) => alphas) };
}

/**
 * W as a part of the level: the low digits of all items, followed, at offset `bucket`, by the high
 * ones.
 */
function joinNormDigits(
  shape: ItemsShape,
  columnsOfProvers: readonly Columns[],
  parts: readonly Int16Array[],
): Int16Array {
  const digits = new Int16Array(64 * 2 * shape.bucket);
  for (const [i, columns] of columnsOfProvers.entries()) {
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

/** w_j: the sums of the functionals over all column provers, divided by p (7.3). */
function functionalQuotients(
  context: Context,
  sums: readonly (readonly number[])[],
): readonly number[] {
  return Array.from({ length: FUNCTIONALS }, (_, j) => {
    const value = sums.reduce((sum, part) => sum + part[j]!, 0) / FALCON_Q;
    if (!isI32(value)) context.fail('functional');
    return value;
  });
}

/**
 * N1 (7.4): a_ab = 1 for a row of S and its row of Y, and on the right side beta^2 sum of alpha_i.
 */
function constrainNorms(
  { lab }: Context,
  { set, levels }: Pick<Parameters, 'set' | 'levels'>,
  { a, aForms, b }: Output,
  alphas: readonly Int32Array[],
): void {
  const level = levels[0]!;
  const firstY = firstRowOfY(level);
  writeConstant(lab, aForms.at, 1n);
  a.clear();
  for (let row = 0; row < firstRows(level)[PART.W]!; row++) {
    a.set(pairIndex(level.r, row, row + firstY), aForms.at);
  }
  const right = lab.i64(b);
  for (let j = 0; j < 64; j++) {
    const sum = alphas.reduce((all, part) => all + part[j]!, 0);
    right[j] = centred(BigInt(sum) * BigInt(BETA_SQ[set]));
  }
}
