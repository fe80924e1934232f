/** An ordinary level (docs/protocol.md, 8), and the steps that level 0 has in common with it. */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import type { Coefs } from '../../wasm.ts';
import { filledBy, gather } from '../columns.ts';
import type { OrdinaryFields } from '../fields.ts';
import { coefsOf, joinLists, sumOfLists, type Values, valuesOf } from '../ring.ts';
import { paddingOf, type Run } from '../shapes.ts';
import { ABSORB, SEED } from '../transcript.ts';
import { carryConstraints, distinctA, type Target } from './carry.ts';
import { combineLifts, liftCoefficients } from './combine.ts';
import { commitOuter, requireFit, storeG, storeH, storeT } from './commit.ts';
import type { Context } from './context.ts';
import { drawRowChallenges, sendLifts, sendProjection } from './messages.ts';
import { newOutput, type Output, type ProvedLevel } from './output.ts';

/** An ordinary level after level 0. */
export async function proveLevel(
  context: Context,
  params: OrdinaryLevel,
  before: Output,
): Promise<ProvedLevel> {
  const { lab, level, provers } = context;
  const output = newOutput(lab, context.keys, level, params, distinctA(before.params.f));
  const mark = lab.kernels.mark();
  provers.split(params.n, filledBy(params, params.lengths));
  const rows = lab.i16(before.parts);
  const opened = await context.all('commit', [0, 0.8], 'openRows', (columns) => ({
    number: level,
    params,
    columns,
    rows: gather(rows, params, columns),
  }));
  const t = opened.map((part) => part.t);
  storeT(context, output, t, 0);
  const g = opened.map((part) => part.g);
  storeG(context, output, g);
  const u1 = commitOuter(context, ABSORB.u1, output, 0);
  await context.pause('project');

  const { lifts, ...sent } = await projectAndLift(context, params);
  const second = await finishLevel(context, output, lifts, paddingOf(params), (seed) =>
    carry(context, params, before, output, seed),
  );
  lab.kernels.reset(mark);
  return { output, fields: { first: [u1], ...sent, second } };
}

/** y and the lifts. @returns what is sent of them, and the lifts themselves */
export async function projectAndLift(
  context: Context,
  params: OrdinaryLevel,
  w: readonly number[] = [],
): Promise<Pick<OrdinaryFields, 'counter' | 'y' | 'w' | 'b'> & { readonly lifts: Coefs }> {
  const project = async (jl: Uint8Array): Promise<Values> =>
    sumOfLists(await context.all('project', [0.5, 0.9], 'project', () => ({ jl })));
  const { counter, jl, y } = await sendProjection(context, params, project, w);
  await context.pause('lift');
  const lift = context.transcript.seed(SEED.lift);
  const all = await context.all('lift', [0, 1], 'lift', () => ({ jl, lift }));
  const lifts = coefsOf(context.lab, all);
  const b = sendLifts(context, lifts);
  await context.pause('combine');
  return { counter, y, w, b, lifts };
}

/**
 * The combination, h, c and z, and all that the next level takes over.
 *
 * @param carried see `carry`; left out at level 0
 * @returns u'_2
 */
export async function finishLevel(
  context: Context,
  output: Output,
  lifts: Coefs,
  padding: readonly Run[],
  carried?: (seed: Uint8Array) => Promise<Values>,
): Promise<Uint8Array> {
  const { lab } = context;
  const { params } = output;
  const seed = context.transcript.seed(SEED.combine);
  const base = await carried?.(seed);
  combineLifts(lab, liftCoefficients(lab, context.seedOf(seed)), lifts, output.b);
  const h = await context.all('combine', [0.3, 0.9], 'combine', (columns) => ({
    seed,
    padding,
    ...(base !== undefined && { base: gather(base, params, columns) }),
  }));
  storeH(context, output, h);
  const u2 = commitOuter(context, ABSORB.u2, output, output.outers.length - 1);
  await context.pause('amortise');
  await amortise(context, output);
  return u2;
}

/** z in digits, and phi_z, for the next level. */
async function amortise(context: Context, output: Output): Promise<void> {
  const { lab } = context;
  const { n, f, b, outSq } = output.params;
  const seed = drawRowChallenges(context, output.c);
  const sums = await context.all('amortise', [0, 0.9], 'amortise', () => ({ seed }));
  lab.scope(() => {
    const z = coefsOf(lab, [joinLists(sums.map((sum) => sum.z))]);
    requireFit(context, lab.kernels.decomposeMany(output.z.at, z.at, n, f, b));
  });
  output.phiZ = joinLists(sums.map((sum) => sum.phiZ));
  if (lab.normSq(output.parts) > BigInt(outSq)) context.fail('norm');
}

/**
 * E1 to E6 of the level before, on the parts of this one.
 *
 * @param target receives all but the linear forms
 * @returns the linear forms
 */
export async function carry(
  context: Context,
  shape: Shape,
  before: Output,
  target: Target,
  seed: Uint8Array,
): Promise<Values> {
  const { lab, provers, level } = context;
  const { params, phiZ } = before;
  const onZ = await context.all(
    'combine',
    [0, 0.3],
    'carryAmortised',
    (columns) => ({
      number: level,
      params,
      columns,
      phiZ: phiZ.slice(64 * columns.from, 64 * columns.to),
      seed,
    }),
    provers.columnsOf(params.n),
  );
  return lab.scope(() => {
    const onV = carryConstraints(lab, context.seedOf(seed), shape, before, target);
    const digits = Array.from({ length: params.f }, (_, i) => onZ.map((part) => part[i]!));
    return joinLists([...digits.flat(), valuesOf(lab, onV)]);
  });
}
