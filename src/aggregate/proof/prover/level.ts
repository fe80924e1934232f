/** An ordinary level (docs/protocol.md, 8), and the steps that it shares with level 0. */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { type Coefs, FORM_BYTES } from '../../wasm.ts';
import { filledBy, gather, placesOfForms, placesOfRows } from '../columns.ts';
import type { OrdinaryFields, ProjectionFields } from '../fields.ts';
import { liftsOf, scalarsBehind } from '../lifts.ts';
import { coefsOf, joinLists, slice, type Values, valuesOf } from '../ring.ts';
import { paddingOf, type Run } from '../shapes.ts';
import { ABSORB, SEED } from '../transcript.ts';
import type { KeySize } from './columnProver.ts';
import { combineLifts, liftCoefficients } from './combine.ts';
import { commitOuter, storeCutT, storeG, storeH, storeInner, storeT } from './commit.ts';
import { carryConstraints, distinctA, type LevelInput, type Target } from './constraintsBehind.ts';
import type { Context } from './context.ts';
import { amortiseExtension, combineExtension, type Extension, liftExtension } from './extension.ts';
import { drawRowChallenges, sendLifts, sendProjection } from './messages.ts';
import { newOutput, type Output, type ProvedLevel } from './output.ts';
import { coveredBy, type Projected, project as projectPlaces } from './project.ts';
import { liftHidden, scalarsOfPart, scalarsOnHidden } from './scalars.ts';

/** The input of a level that takes the output of another one. */
export const inputOf = (output: Output): LevelInput => ({ outputs: [output], rows: output.parts });

/**
 * Proves an ordinary level after level 0, or the merged level.
 *
 * @param keys those of this level and of all after it, unless level 0 was proved before
 */
export async function proveLevel(
  context: Context,
  params: OrdinaryLevel,
  input: LevelInput,
  keys?: readonly KeySize[],
): Promise<ProvedLevel> {
  const { lab, level, provers } = context;
  const { outputs } = input;
  const before = outputs[0]!.params;
  const distinct = outputs.length * distinctA(before.f);
  const output = newOutput(lab, context.keys, level, params, distinct);
  const mark = lab.kernels.mark();
  provers.split(params.n, filledBy(params, params.lengths));
  const opened = await context.all('commit', [0, 0.8], 'openRows', (columns) => ({
    number: level,
    params,
    columns,
    rows: gather(lab.i16(input.rows), placesOfRows(params, 64), columns),
    before,
    ...(keys && { keys }),
  }));
  const t = opened.map((part) => part.t);
  const extension = params.ct > 0 ? storeCutT(context, output, t) : undefined;
  if (extension === undefined) storeT(context, output, t, 0);
  const g = opened.map((part) => part.g);
  storeG(context, output, g);
  const u1 = commitOuter(context, ABSORB.u1, output, 0);
  await context.pause('project');

  const options = { input, extension };
  const { lifts, scalars, ...sent } = await projectAndLift(context, output, options);
  const finishing = {
    carried: (seed: Uint8Array) => carry(context, params, input, output, seed, scalars),
    extension,
  };
  const second = await finishLevel(context, output, lifts, paddingOf(params), finishing);
  const shown = {
    ...(params.parts === undefined && { before: outputs[0] as Output }),
    lifts,
    sent,
  };
  context.show({ number: level, output, ...shown });
  lab.kernels.reset(mark);
  return { output, fields: { first: [u1], ...sent, second } };
}

/**
 * Makes y and the lifts.
 *
 * @param options.w the functionals of level 0
 * @param options.input of every other level
 * @param options.extension of the rows, if the inner commitments are cut
 * @returns their fields to send, the lifts themselves, and the scalars on hidden messages
 */
export async function projectAndLift(
  context: Context,
  output: Output,
  {
    w = [],
    input,
    extension,
  }: {
    readonly w?: readonly number[];
    readonly input?: LevelInput;
    readonly extension?: Extension | undefined;
  },
): Promise<
  Pick<OrdinaryFields, 'counter' | 'w' | 'b'> &
    ProjectionFields & {
      readonly lifts: Coefs;
      readonly scalars: readonly (readonly Coefs[] | undefined)[];
    }
> {
  const { lab } = context;
  const project = async (jl: Uint8Array): Promise<Projected[]> => {
    const shares = await context.all('project', [0.5, 0.9], 'project', () => ({ jl }));
    if (extension !== undefined) {
      const covered = coveredBy(extension.places);
      shares.push(lab.scope(() => projectPlaces(lab, covered, context.seedOf(jl))));
    }
    return shares[0]!.map((_, part) => ({
      y: sumIntegers(shares.map((share) => share[part]!.y)),
      ofX: sumIntegers(shares.map((share) => share[part]!.ofX)),
    }));
  };
  const { params } = output;
  const { counter, jl, ...projections } = await sendProjection(context, params, project, w);
  await context.pause('lift');
  const lift = context.transcript.seed(SEED.lift);
  const all = await context.all('lift', [0, 1], 'lift', () => ({ jl, lift }));
  const scalars = input === undefined ? [] : scalarsOnInput(context, params, input, lift);
  for (const [part, ofPart] of scalars.entries()) {
    if (ofPart !== undefined) all.push(liftHidden(lab, input!.outputs[part]!.hidden, ofPart));
  }
  if (extension !== undefined) {
    const [a, b] = [context.seedOf(jl), context.seedOf(lift)];
    all.push(liftExtension(lab, extension, liftsOf(context.level).count, a, b));
  }
  const lifts = coefsOf(lab, all);
  const b = sendLifts(context, lifts, output);
  await context.pause('combine');
  return { counter, ...projections, w, b, lifts, scalars };
}

/** The factors of the hidden messages of every output. */
function scalarsOnInput(
  context: Context,
  { parts }: Shape,
  { outputs }: LevelInput,
  lift: Uint8Array,
): (Coefs[] | undefined)[] {
  const { lab, level } = context;
  const { end } = scalarsBehind(outputs[0]!.params, level - 1);
  return outputs.map((output, part) => {
    const scalars = scalarsOfPart(lab, context.seedOf(lift), end, parts && part);
    return scalarsOnHidden(lab, output, scalars);
  });
}

/** Sums projections, which are integers and not values mod q. */
const sumIntegers = ([first, ...others]: readonly Values[]): Values =>
  others.reduce((sum, list) => sum.map((x, i) => x + list[i]!), first!);

/**
 * Makes the combination, h, c and z, and the rest of the output for the next level.
 *
 * @param options.carried see `carry`; omitted at level 0
 * @param options.extension of the rows, if the inner commitments are cut
 * @returns u'_2, or the commitment to its digits
 */
export async function finishLevel(
  context: Context,
  output: Output,
  lifts: Coefs,
  padding: readonly Run[],
  {
    carried,
    extension,
  }: {
    readonly carried?: (seed: Uint8Array) => Promise<Values>;
    readonly extension?: Extension | undefined;
  } = {},
): Promise<Uint8Array> {
  const { lab } = context;
  const { params } = output;
  const seed = context.transcript.seed(SEED.combine);
  const base = await carried?.(seed);
  const beta = liftCoefficients(lab, context.seedOf(seed));
  if (params.w === 0) combineLifts(lab, beta, lifts, output.b);
  const length = FORM_BYTES * output.beta.count;
  lab.bytes(output.beta.at, length).set(lab.bytes(beta.at, length));
  const h = await context.all('combine', [0.3, 0.9], 'combine', (columns) => ({
    seed,
    padding,
    ...(base && { base: gather(base, placesOfForms(params, 64), columns) }),
  }));
  if (extension !== undefined) h.push(combineExtension(lab, extension, beta));
  storeH(context, output, h);
  const u2 = commitOuter(context, ABSORB.u2, output, output.outers.length - 1);
  await context.pause('amortise');
  await amortise(context, output, extension);
  return u2;
}

/** Computes z in digits, and phi_z, for the next level. */
async function amortise(
  context: Context,
  output: Output,
  extension: Extension | undefined,
): Promise<void> {
  const { lab } = context;
  const { n, f, b, outSq, lengthX, xSq } = output.params;
  const seed = drawRowChallenges(context, output.c);
  const sums = await context.all('amortise', [0, 0.9], 'amortise', () => ({ seed }));
  lab.scope(() => {
    const z = coefsOf(lab, [joinLists(sums.map((sum) => sum.z))]);
    context.requireFit(lab.kernels.decomposeMany(output.z.at, z.at, n, f, b));
  });
  output.phiZ = joinLists(sums.map((sum) => sum.phiZ));
  if (extension !== undefined) {
    const { e, phiE } = amortiseExtension(lab, extension, output.c);
    storeInner(context, output, e);
    output.phiE = phiE;
  }
  if (lab.normSq(slice(output.v, 0, lengthX)) > BigInt(xSq)) context.fail('norm of x');
  if (lab.normSq(output.parts) > BigInt(outSq)) context.fail('norm');
}

/**
 * E1 to E6 of the previous level, and (Q) and (T_b), on the parts of this one.
 *
 * @param target receives everything except the linear forms
 * @param scalars of (Q) and (T_b) for every output, if the previous level hides its messages
 * @returns the linear forms on the places of `placesOfForms`
 */
export async function carry(
  context: Context,
  shape: Shape,
  input: LevelInput,
  target: Target,
  seed: Uint8Array,
  scalars: readonly (readonly Coefs[] | undefined)[],
): Promise<Values> {
  const { lab, provers, level } = context;
  const { outputs } = input;
  const { params } = outputs[0]!;
  const onZ = await context.all(
    'combine',
    [0, 0.3],
    'carryAmortised',
    (columns) => ({
      number: level,
      params,
      columns,
      phiZ: outputs.map(({ phiZ }) => phiZ.slice(64 * columns.from, 64 * columns.to)),
      isMerged: shape.parts !== undefined,
      seed,
    }),
    provers.columnsOf(params.n),
  );
  return lab.scope(() => {
    const onV = carryConstraints(lab, context.seedOf(seed), shape, input, target, scalars);
    const digits = outputs.map((_, part) => onZ.map((share) => share[part]!));
    return joinLists([...digits.flat(), valuesOf(lab, onV)]);
  });
}
