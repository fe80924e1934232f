/** The tail (docs/protocol.md, 9): the last level, with its values in clear. */

import { concat } from '../../../bytes.ts';
import type { TailLevel } from '../../parameters/rows.ts';
import type { Coefs } from '../../wasm.ts';
import { COEFS, expandKeys, FORM, SMALL } from '../challenges.ts';
import { placesOfRows } from '../columns.ts';
import { ABSORB, MATRIX, SEAL, SEED } from '../labels.ts';
import { collapse, projected } from '../projection.ts';
import { coefsOf, slice } from '../ring.ts';
import { LIFTS, paddingOf } from '../shapes.ts';
import { addPadding, combineForms, combineLifts, distinctA, liftCoefficients } from './combine.ts';
import type { Context } from './context.ts';
import { carry } from './level.ts';
import type { Output } from './output.ts';
import { RiceWriter } from './rice.ts';
import { amortisingChallenges, sendLifts, sendProjection } from './send.ts';
import {
  addLifts,
  amortised,
  coefsOfSums,
  innerCommitments,
  linearGarbage,
  quadraticGarbage,
} from './steps.ts';

export async function proveTail(
  context: Context,
  params: TailLevel,
  before: Output,
): Promise<void> {
  const { lab, level } = context;
  const { kernels } = lab;
  const { n, r, kappa, cut, pairs } = params;
  const width = n + kappa;
  const A = expandKeys(lab, level, MATRIX.A, kappa, { to: n }, width);
  const s = lab.vecs(r, width);
  const places = placesOfRows(params).map((placed) => ({
    ...placed,
    at: before.parts.at + placed.at,
  }));
  for (const { row, column, count, at } of places) {
    kernels.widesToVec(lab.row(s, row), column, at, SMALL, count);
  }

  // t', g, seal of t; the columns of e are zero so far
  const t = innerCommitments(lab, A, s);
  const g = quadraticGarbage(lab, s);
  const e = { kind: 'smalls', at: lab.room(SMALL * r * kappa, true), count: r * kappa } as const;
  const sent = (r - 1) * kappa;
  const high = lab.coefs(sent);
  for (let i = 0; i < sent; i++) {
    kernels.cutLow(high.at + COEFS * i, e.at + SMALL * i, t.at + COEFS * i, cut);
  }
  const tBytes = context.pack(high, 44 - cut);
  const lastT = context.pack(slice(t, sent, kappa));
  const tSeal = context.transcript.seal(
    SEAL.t,
    concat(lastT, context.pack(slice(g, pairs - 1, 1))),
  );
  context.send(tBytes);
  sendRice(
    context,
    'g',
    params.riceG.map((k, pair) => ({ coefs: slice(g, pair, 1), k })),
  );
  context.send(tSeal);
  context.absorb(ABSORB.t, concat(tBytes, context.pack(slice(g, 0, pairs - 1)), tSeal));
  await context.pause('project');

  for (let row = 0; row < r; row++) {
    const at = e.at + SMALL * row * kappa;
    kernels.widesToVec(lab.row(s, row), n, at, SMALL, kappa);
    places.push({ row, column: n, count: kappa, at, number: r * n + row * kappa });
  }
  const jl = context.seed(SEED.jl);
  const counter = await sendProjection(context, params, (counter) =>
    projected(lab, places, { seed: jl, counter }),
  );
  await context.pause('lift');
  const F = Array.from({ length: LIFTS }, () => lab.vecs(r, width));
  const projection = { seed: jl, counter };
  for (const share of collapse(lab, F, places, projection, context.seed(SEED.lift))) {
    await context.pause('lift', share);
  }
  const sums = lab.sums(LIFTS);
  addLifts(lab, sums, F, s);
  const lifts = coefsOfSums(lab, sums);
  sendLifts(context, lifts);
  await context.pause('combine');

  const bytes = context.transcript.seed(SEED.combine);
  const seed = context.seedOf(bytes);
  const base = lab.vecs(r, width);
  const b = lab.coefs(1);
  const aForms = lab.forms(distinctA(before.params.f));
  const target = { a: new Map<number, number>(), aForms, b };
  const onParts = coefsOf(lab, [await carry(context, params, before, target, bytes)]);
  for (const { row, column, count, at } of placesOfRows(params, COEFS)) {
    kernels.coefsToVec(lab.row(base, row), column, onParts.at + at, COEFS, count);
  }
  const coefficients = liftCoefficients(lab, seed);
  combineLifts(lab, coefficients, lifts, b);
  combineForms(lab, [...F, base], coefficients);
  const phi = F[0]!;
  addPadding(lab, seed, n, paddingOf(params), { from: 0, to: width }, phi);
  const h = linearGarbage(lab, phi, s);
  const hBytes = context.pack(slice(h, 1, pairs - 2));
  const hSeal = context.transcript.seal(SEAL.h, context.pack(slice(h, pairs - 1, 1)));
  context.send(hBytes);
  context.send(hSeal);
  context.absorb(ABSORB.h, concat(hBytes, hSeal));
  await context.pause('amortise');

  const c = lab.forms(r);
  amortisingChallenges(context, c);
  if (squaresAreEqual(context, c.at, c.at + FORM * (r - 1))) context.fail('challenges');
  const message = amortised(lab, c, s);
  sendRice(context, 'z', [{ coefs: slice(message, 0, n), k: params.riceZ }]);
  sendRice(context, 'e', [{ coefs: slice(message, n, kappa), k: params.riceE }]);
  // the codes bound every value by 2^20, so that the sum is exact
  const normSq = lab.i64(message).reduce((sum, x) => sum + Number(x) ** 2, 0);
  if (normSq > params.outSq) context.fail('norm');
}

/** A Rice field; the level fails if a value has no code. */
function sendRice(
  context: Context,
  name: string,
  lists: readonly { coefs: Coefs; k: number }[],
): void {
  const rice = new RiceWriter();
  for (const { coefs, k } of lists) {
    if (!rice.write(context.lab.i64(coefs), k)) context.fail(`code of ${name}`);
  }
  context.send(rice.bytes());
}

/** Whether two forms have the same square mod q. */
function squaresAreEqual(context: Context, x: number, y: number): boolean {
  const { lab } = context;
  return lab.scope(() => {
    const [a, b] = [lab.forms(1), lab.forms(1)];
    lab.kernels.mulForm(a.at, x, x);
    lab.kernels.mulForm(b.at, y, y);
    lab.kernels.subForm(a.at, a.at, b.at);
    const difference = lab.coefs(1);
    lab.kernels.formToCoefs(difference.at, a.at);
    return lab.i64(difference).every((value) => value === 0n);
  });
}
