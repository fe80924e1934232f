/** The tail (docs/protocol.md, 9): the last level, whose values are sent in the clear. */
import { concat } from '../../../shared/bytes.ts';
import type { TailLevel } from '../../parameters/rows.ts';
import {
  COEFS_BYTES,
  type Coefs,
  type Labrador,
  SMALL_BYTES,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import type { Seed } from '../challenges.ts';
import { type Placed, placesOfForms, placesOfRows } from '../columns.ts';
import { Q_BITS } from '../constants.ts';
import type { TailFields } from '../fields.ts';
import { formAt } from '../forms.ts';
import { liftsOf, scalarsBehind } from '../lifts.ts';
import { coefsOf, slice } from '../ring.ts';
import { paddingOf } from '../shapes.ts';
import { ABSORB, dataOfH, dataOfT, SEAL, SEED } from '../transcript.ts';
import { combineForms, combineLifts, combinePadding, liftCoefficients } from './combine.ts';
import { distinctA, writeForms } from './constraintsBehind.ts';
import type { Context } from './context.ts';
import { carry, inputOf } from './level.ts';
import { drawRowChallenges, sendLifts, sendProjection } from './messages.ts';
import type { Output } from './output.ts';
import { type Covered, collapse, coveredBy, numbersOfX, project } from './project.ts';
import { liftHidden, scalarsOfPart, scalarsOnHidden } from './scalars.ts';
import {
  amortised,
  innerCommitments,
  liftsOfRows,
  linearGarbage,
  quadraticGarbage,
} from './steps.ts';

/** @returns the fields of the tail, except for the retry byte */
export async function proveTail(
  context: Context,
  params: TailLevel,
  before: Output,
): Promise<Omit<TailFields, 'retry'>> {
  const { lab } = context;
  const { s, places } = openTail(lab, params, before);
  const { e, ...committed } = commitTail(context, params, s);
  await context.pause('project');

  appendExtensions(lab, params, e, s, places);
  const covered = coveredBy(places, numbersOfX(params, before.params));
  const projected = (seed: Uint8Array) => project(lab, covered, context.seedOf(seed));
  const { counter, jl, ...projections } = await sendProjection(context, params, projected);
  await context.pause('lift');
  const seeds = [context.seedOf(jl), context.seed(SEED.lift)] as const;
  const { F, lifts, scalars } = await liftTail(context, before, s, covered, seeds);
  const b = sendLifts(context, lifts);
  await context.pause('combine');

  const phi = await combineTail(context, params, before, F, lifts, scalars);
  const h = linearGarbage(lab, phi, s);
  const garbage = sealGarbage(context, params, h);
  context.show({ number: context.level, before, lifts, h, sent: { ...projections, b } });
  await context.pause('amortise');
  const message = amortiseTail(context, params, s);
  return { ...committed, counter, ...projections, b, ...garbage, ...message };
}

interface TailRows {
  /** (s_a, e_a): n columns, then kappa */
  readonly s: Vecs;
  /** the places that the projection covers */
  readonly places: Placed[];
}

/** The rows of the tail as left by the previous level: e_a is still zero. */
function openTail(lab: Labrador, params: TailLevel, before: Output): TailRows {
  const s = lab.vecs(params.r, params.n + params.kappa);
  const places = placesOfRows(params).map((placed) => ({
    ...placed,
    at: before.parts.at + placed.at,
  }));
  for (const { row, column, count, at } of places) {
    lab.kernels.widesToVec(lab.row(s, row), column, at, SMALL_BYTES, count);
  }
  return { s, places };
}

/** Computes t' and g, absorbed with the seal of t. @returns them, and e of all rows */
function commitTail(
  context: Context,
  { n, r, kappa, cut, pairs }: TailLevel,
  s: Vecs,
): Pick<TailFields, 't' | 'g' | 'sealT'> & { readonly e: Smalls } {
  const { lab } = context;
  const key = context.keys.take(kappa, { from: 0, to: n })!;
  const inner = innerCommitments(lab, key, { ...s, columns: n, blocks: key.blocks });
  const all = quadraticGarbage(lab, s);
  const e: Smalls = {
    kind: 'smalls',
    at: lab.room(SMALL_BYTES * r * kappa, true),
    count: r * kappa,
  };
  const sent = (r - 1) * kappa;
  const high = lab.coefs(sent);
  for (let i = 0; i < sent; i++) {
    const [to, low] = [high.at + COEFS_BYTES * i, e.at + SMALL_BYTES * i];
    lab.kernels.cutLow(to, low, inner.at + COEFS_BYTES * i, cut);
  }
  const t = context.pack(high, Q_BITS - cut);
  const g = numbersOf(lab, slice(all, 0, pairs - 1));
  const last = concat(
    context.pack(slice(inner, sent, kappa)),
    context.pack(slice(all, pairs - 1, 1)),
  );
  const sealT = context.transcript.seal(SEAL.t, last);
  context.absorb(ABSORB.t, dataOfT({ t, g, sealT }));
  return { t, g, sealT, e };
}

/** Adds e_a to the rows and to the places of the projection. */
function appendExtensions(
  lab: Labrador,
  { n, r, kappa }: TailLevel,
  e: Smalls,
  s: Vecs,
  places: Placed[],
): void {
  for (let row = 0; row < r; row++) {
    const at = e.at + SMALL_BYTES * row * kappa;
    lab.kernels.widesToVec(lab.row(s, row), n, at, SMALL_BYTES, kappa);
    places.push({ row, column: n, count: kappa, at, number: r * n + row * kappa, part: 0 });
  }
}

/** Computes F of both lifts, the lifts, and the scalars on hidden messages. */
async function liftTail(
  context: Context,
  before: Output,
  s: Vecs,
  covered: readonly Covered[],
  [jl, lift]: readonly [jl: Seed, lift: Seed],
): Promise<{
  F: readonly Vecs[];
  lifts: Coefs;
  scalars: readonly (readonly Coefs[] | undefined)[];
}> {
  const { lab } = context;
  const { count } = liftsOf(context.level);
  const F = Array.from({ length: count }, () => lab.vecs(s.rows, s.columns));
  const ofAll = scalarsOfPart(lab, lift, scalarsBehind(before.params, context.level - 1).end);
  for (const done of collapse(lab, F, covered, jl, () => ofAll)) {
    await context.pause('lift', done);
  }
  const all = [liftsOfRows(lab, F, s)];
  const scalars = scalarsOnHidden(lab, before, ofAll);
  if (scalars !== undefined) all.push(liftHidden(lab, before.hidden, scalars));
  return { F, lifts: coefsOf(lab, all), scalars: [scalars] };
}

/** Computes phi of all rows, in the place of the first of F. */
async function combineTail(
  context: Context,
  params: TailLevel,
  before: Output,
  F: readonly Vecs[],
  lifts: Coefs,
  scalars: readonly (readonly Coefs[] | undefined)[],
): Promise<Vecs> {
  const { lab } = context;
  const phi = F[0]!;
  const bytes = context.transcript.seed(SEED.combine);
  const seed = context.seedOf(bytes);
  const base = lab.vecs(phi.rows, phi.columns);
  const b = lab.coefs(1);
  const target = { a: new Map<number, number>(), aForms: lab.forms(distinctA(before.params.f)), b };
  const forms = await carry(context, params, inputOf(before), target, bytes, scalars);
  const places = placesOfForms(params, 64);
  for (let row = 0; row < params.r; row++) {
    const to = { ...base, at: lab.row(base, row), rows: 1 };
    writeForms(lab, to, params, row, before.params.b, places, forms);
  }
  const coefficients = liftCoefficients(lab, seed);
  combineLifts(lab, coefficients, lifts, b);
  combineForms(lab, [...F, base], coefficients);
  combinePadding(lab, seed, params.n, paddingOf(params), { from: 0, to: phi.columns }, phi);
  return phi;
}

/** Computes h of the pairs that are sent, absorbed with the seal of h. */
function sealGarbage(
  context: Context,
  { pairs }: TailLevel,
  all: Coefs,
): Pick<TailFields, 'h' | 'sealH'> {
  const h = context.pack(slice(all, 1, pairs - 2));
  const sealH = context.transcript.seal(SEAL.h, context.pack(slice(all, pairs - 1, 1)));
  context.absorb(ABSORB.h, dataOfH({ h, sealH }));
  return { h, sealH };
}

/** Computes z and e, the last message. */
function amortiseTail(
  context: Context,
  { n, r, kappa, outSq }: TailLevel,
  s: Vecs,
): Pick<TailFields, 'z' | 'e'> {
  const { lab } = context;
  const c = lab.forms(r);
  drawRowChallenges(context, c);
  if (squaresAreEqual(lab, formAt(c, 0), formAt(c, r - 1))) context.fail('challenges');
  const message = amortised(lab, c, s);
  const z = numbersOf(lab, slice(message, 0, n));
  const e = numbersOf(lab, slice(message, n, kappa));
  // Exact if every value has a code: the codes bound them by 2^20. `encodeTail` rejects a value
  // without one.
  const normSq = [z, e].reduce((sum, part) => part.reduce((all, x) => all + x * x, sum), 0);
  if (normSq > outSq) context.fail('norm');
  return { z, e };
}

function numbersOf(lab: Labrador, coefs: Coefs): Float64Array {
  const values = lab.i64(coefs);
  const numbers = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) numbers[i] = Number(values[i]!);
  return numbers;
}

/** Returns whether two forms have the same square mod q. */
function squaresAreEqual(lab: Labrador, x: number, y: number): boolean {
  return lab.scope(() => {
    const [a, b] = [lab.forms(1).at, lab.forms(1).at];
    lab.kernels.mulForm(a, x, x);
    lab.kernels.mulForm(b, y, y);
    lab.kernels.subForm(a, a, b);
    const difference = lab.coefs(1);
    lab.kernels.formToCoefs(difference.at, a);
    return lab.i64(difference).every((value) => value === 0n);
  });
}
