/** An ordinary level (docs/protocol.md, 8), and the steps that level 0 shares with it. */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import type { Coefs } from '../../wasm.ts';
import { COEFS } from '../challenges.ts';
import { gather } from '../columns.ts';
import { ABSORB, SEED } from '../labels.ts';
import { coefsOf, joined, joinedBlocks, sumOf, type Values, valuesOf } from '../ring.ts';
import { paddingOf, type Run } from '../shapes.ts';
import { carriedConstraints, combineLifts, distinctA, liftCoefficients } from './combine.ts';
import { commitOuter, note, storeG, storeH, storeT } from './commit.ts';
import type { Context } from './context.ts';
import { newOutput, type Output } from './output.ts';
import { amortisingChallenges, sendLifts, sendProjection } from './send.ts';

/** y, with `more` behind it, and the lifts. */
export async function projectAndLift(
  context: Context,
  params: OrdinaryLevel,
  jl: Uint8Array,
  more?: Uint8Array,
): Promise<Coefs> {
  const project = async (counter: number): Promise<Values> =>
    sumOf(await context.all('project', [0.5, 0.9], 'project', () => ({ jl, counter })));
  const counter = await sendProjection(context, params, project, more);
  await context.pause('lift');
  const lift = context.transcript.seed(SEED.lift);
  const all = await context.all('lift', [0, 1], 'lift', () => ({ jl, counter, lift }));
  const lifts = coefsOf(context.lab, all);
  sendLifts(context, lifts);
  await context.pause('combine');
  return lifts;
}

/**
 * Combination, h, c, z, and what the next level takes over.
 *
 * @param carried what the level before leaves, see carriedConstraints
 */
export async function finishLevel(
  context: Context,
  output: Output,
  lifts: Coefs,
  padding: readonly Run[],
  carried?: (seed: Uint8Array) => Promise<Values>,
): Promise<void> {
  const { lab } = context;
  const { kernels } = lab;
  const { params } = output;
  const { n, f, b, outSq } = params;
  const seed = context.transcript.seed(SEED.combine);
  const base = await carried?.(seed);
  combineLifts(lab, liftCoefficients(lab, context.seedOf(seed)), lifts, output.b);
  const h = await context.all('combine', [0.3, 0.9], 'combine', (columns) => ({
    seed,
    padding,
    ...(base !== undefined && { base: gather(base, params, columns) }),
  }));
  storeH(context, output, coefsOf(lab, h));
  const key = output.keys.D;
  const terms = [{ key, from: output.pieces.h, count: key.columns }];
  commitOuter(context, ABSORB.u2, output, output.hats.length - 1, terms);
  await context.pause('amortise');

  const amortise = amortisingChallenges(context, output.c);
  const sums = await context.all('amortise', [0, 0.9], 'amortise', () => ({ seed: amortise }));
  lab.scope(() => {
    const z = coefsOf(lab, [joined(sums.map((sum) => sum.z))]);
    note(context, kernels.decomposeMany(output.z.at, z.at, n, f, b));
    const phiZ = coefsOf(lab, [joined(sums.map((sum) => sum.phiZ))]);
    kernels.coefsToVec(output.phiZ.at, 0, phiZ.at, COEFS, n);
  });
  if (lab.normSq(output.parts) > BigInt(outSq)) context.fail('norm');
}

/** E1 to E6 of the level before, on the parts of this one; the rest goes to the output. */
export async function carry(
  context: Context,
  params: Parameters<typeof carriedConstraints>[2],
  before: Output,
  target: Parameters<typeof carriedConstraints>[5],
  seed: Uint8Array,
): Promise<Values> {
  const { lab, team, level } = context;
  const { n, kappa } = before.params;
  const foldedA = await context.all(
    'combine',
    [0, 0.3],
    'foldKey',
    (columns) => ({ number: level - 1, kappa, columns, seed }),
    team.columnsOf(n),
  );
  return lab.scope(() =>
    valuesOf(
      lab,
      carriedConstraints(lab, context.seedOf(seed), params, before, joinedBlocks(foldedA), target),
    ),
  );
}

export async function proveOrdinary(
  context: Context,
  params: OrdinaryLevel,
  before: Output,
): Promise<Output> {
  const { lab, level, team } = context;
  const { r, fu, kappa } = params;
  const output = newOutput(lab, level, params, [fu * r * kappa], distinctA(before.params.f));
  const mark = lab.kernels.mark();
  team.split(params.n);
  const rows = lab.i16(before.parts);
  const opened = await context.all('commit', [0, 0.8], 'openRows', (columns) => ({
    number: level,
    params,
    columns,
    rows: gather(rows, params, columns),
  }));
  storeT(
    context,
    output,
    coefsOf(
      lab,
      opened.map(({ t }) => t),
    ),
    0,
  );
  storeG(
    context,
    output,
    coefsOf(
      lab,
      opened.map(({ g }) => g),
    ),
  );
  const { B, C } = output.keys;
  commitOuter(context, ABSORB.u1, output, 0, [
    { key: B[0]!, from: output.pieces.t, count: B[0]!.columns },
    { key: C, from: output.pieces.g, count: C.columns },
  ]);
  await context.pause('project');

  const lifts = await projectAndLift(context, params, context.transcript.seed(SEED.jl));
  await finishLevel(context, output, lifts, paddingOf(params), (seed) =>
    carry(context, params, before, output, seed),
  );
  lab.kernels.reset(mark);
  return output;
}
