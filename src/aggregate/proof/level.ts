/** An ordinary level (docs/protocol.md, 8), and the end that level 0 shares with it. */
import type { OrdinaryLevel } from '../parameters/rows.ts';
import type { Coefs, Vecs } from '../wasm.ts';
import { COEFS, type Seed, SMALL, vecsToFill } from './challenges.ts';
import {
  addPadding,
  carriedConstraints,
  combineForms,
  combineLifts,
  distinctA,
} from './combine.ts';
import { commitOuter, note, storeG, storeH, storeT } from './commit.ts';
import type { Context } from './context.ts';
import { ABSORB, SEED } from './labels.ts';
import { newOutput, type Output } from './output.ts';
import { LIFTS, paddingOf, type Run } from './shapes.ts';
import {
  amortised,
  amortisingChallenges,
  collapse,
  filledBy,
  innerCommitments,
  linearGarbage,
  type Placed,
  placesOfPart,
  project,
  quadraticGarbage,
  sendLifts,
} from './steps.ts';

/** Puts the output of the level before into rows: their places. */
export function placeOutput(
  context: Context,
  level: { n: number } & Shapes,
  before: Output,
  s: Vecs,
): Placed[] {
  const { lab } = context;
  let at = before.parts.at;
  const places = level.lengths.flatMap((length, part) => {
    const list = placesOfPart(level, part, length, at);
    at += SMALL * length;
    return list;
  });
  for (const { row, column, count, at: from } of places) {
    lab.kernels.widesToVec(lab.row(s, row), column, from, SMALL, count);
  }
  return places;
}
type Shapes = Pick<OrdinaryLevel, 'n' | 'lengths' | 'rows' | 'r' | 'pairs'>;

/** Combination, h, c, z, and what the next level takes over. */
export async function finishLevel(
  context: Context,
  output: Output,
  s: Vecs,
  F: readonly Vecs[],
  lifts: Coefs,
  padding: readonly Run[],
  constraints: { base?: (seed: Seed) => Vecs; late?: (phi: Vecs) => void },
): Promise<void> {
  const { lab } = context;
  const { kernels } = lab;
  const { n, f, b, outSq } = output.params;
  const seed = context.seed(SEED.combine);
  const base = constraints.base?.(seed);
  const coefficients = combineLifts(lab, seed, lifts, output.b);
  const phi = combineForms(lab, F, base, coefficients);
  constraints.late?.(phi);
  addPadding(lab, seed, n, padding, phi);
  await context.pause('combine');

  storeH(context, output, linearGarbage(lab, phi, s));
  const key = output.keys.D;
  const terms = [{ key, from: output.pieces.h, count: key.columns }];
  commitOuter(context, ABSORB.u2, output, output.hats.length - 1, terms);
  await context.pause('amortise');

  amortisingChallenges(context, output.c);
  const z = amortised(lab, output.c, s);
  note(context, kernels.decomposeMany(output.z.at, z.at, n, f, b));
  const phiZ = amortised(lab, output.c, phi);
  kernels.coefsToVec(output.phiZ.at, 0, phiZ.at, COEFS, n);
  if (lab.normSq(output.parts) > BigInt(outSq)) context.fail('norm');
}

export async function proveOrdinary(
  context: Context,
  params: OrdinaryLevel,
  before: Output,
): Promise<Output> {
  const { lab, level } = context;
  const { r, n, fu, kappa } = params;
  const output = newOutput(lab, level, params, [fu * r * kappa], distinctA(before.params.f));
  const mark = lab.kernels.mark();
  const filled = filledBy(params, params.lengths);
  const s = vecsToFill(lab, n, filled);
  const places = placeOutput(context, params, before, s);
  storeT(context, output, innerCommitments(lab, output.keys.A, s), 0);
  storeG(context, output, quadraticGarbage(lab, s));
  const { B, C } = output.keys;
  commitOuter(context, ABSORB.u1, output, 0, [
    { key: B[0]!, from: output.pieces.t, count: B[0]!.columns },
    { key: C, from: output.pieces.g, count: C.columns },
  ]);
  await context.pause('project');

  const projection = project(context, places, params);
  await context.pause('lift');
  const F = Array.from({ length: LIFTS }, () => vecsToFill(lab, n, filled));
  await collapse(context, F, places, projection, context.seed(SEED.lift));
  const lifts = sendLifts(context, F, s);
  await context.pause('combine');

  await finishLevel(context, output, s, F, lifts, paddingOf(params), {
    base: (seed) => {
      const base = lab.vecs(r, n);
      carriedConstraints(lab, seed, params, before, base, output);
      return base;
    },
  });
  lab.kernels.reset(mark);
  return output;
}
