/** Section 9 of docs/protocol.md: the last level, with its values in clear. */
import { keyMatrix, MATRICES } from './challenges.ts';
import { carriedConstraints, combine, type Output } from './combine.ts';
import type { Context } from './context.ts';
import { concat, pack, pack44 } from './encode.ts';
import { pairCount, pairsOf, type Tail } from './parameters.ts';
import { centre, equal, multiply, normSq, type Poly, ZERO } from './ring.ts';
import {
  amortise,
  amortiseForms,
  type Cut,
  challengesOf,
  cutIntoRows,
  cutLow,
  garbageOf,
  innerCommitments,
  lift,
  linearGarbageOf,
  placesOf,
  project,
  send,
} from './steps.ts';

/** A seal over values that are not sent. */
function sealOf(context: Context, label: string, data: Uint8Array): Uint8Array {
  return context.use('seal', { label, seal: context.transcript.seal(label, data) }).seal;
}

export function proveTail(context: Context, params: Tail, before: Output): void {
  const { level } = context;
  const { n, r, kappa, cut: low, outSq, kZ, kE, kG } = params;
  const last = r - 1;
  const honest = cutIntoRows(params, before.parts);
  const cut = { rows: context.use('rows', honest.rows), padding: honest.padding } as Cut;

  // 9.1
  const A = keyMatrix(level, MATRICES.A, kappa, n);
  const t = context.use('t', innerCommitments(A, cut.rows));
  const dropped = t.map((list, a) => (a < last ? cutLow(list, low) : undefined));
  const e = dropped.map((values) => values?.e ?? new Array<Poly>(kappa).fill(ZERO));
  const tCut = context.use(
    'tCut',
    dropped.slice(0, last).map((values) => values!.sent),
  );
  const extended = cut.rows.map((row, a) => [...row, ...e[a]!]);
  const padding = cut.padding.map((row) => [...row, ...new Array<boolean>(kappa).fill(false)]);

  // 9.2: t', g, seal of t
  const g = context.use('g', garbageOf(cut.rows));
  const tBytes = pack(tCut.flat(), 44 - low);
  const tSeal = sealOf(context, 't', concat(pack44(t[last]!), pack44([g.at(-1)!])));
  context.send('t', tBytes);
  send(
    context,
    'g',
    g.slice(0, -1).map((poly, index) => ({ values: centre(poly), k: kG[index]! })),
  );
  context.send('sealT', tSeal);
  context.absorb('t', concat(tBytes, pack44(g.slice(0, -1)), tSeal));

  // 9.3
  const projected = [
    ...placesOf(cut),
    ...e.flatMap((list, a) =>
      list.map((poly, i) => ({ number: r * n + a * kappa + i, poly, row: a, column: n + i })),
    ),
  ];
  const projection = project(context, context.transcript.seed('jl'), projected, params);
  const lifts = lift(context, extended, projected, projection);
  const seed = context.transcript.seed('combine');
  const base = carriedConstraints(context, seed, params, before);
  const combined = combine(context, seed, params, base, lifts, padding);

  // h, all but the first and the last
  const h = context.use('h', linearGarbageOf(combined.phi, extended));
  const hBytes = pack44(h.slice(1, -1));
  const hSeal = sealOf(context, 'h', pack44([h.at(-1)!]));
  context.send('h', hBytes);
  context.send('sealH', hSeal);
  context.absorb('h', concat(hBytes, hSeal));

  // the last message
  const c = challengesOf(context.transcript.seed('amortise'), level, r);
  const message = context.use('z', { z: amortise(c, cut.rows), e: amortise(c, e) });
  const phiZ = amortiseForms(c, combined.phi);
  context.show({
    params,
    cut,
    A,
    t,
    tHat: dropped.map((values, a) => values?.hat ?? t[a]!),
    g,
    e,
    extended,
    ...lifts,
    projected,
    projection,
    combined,
    h,
    c,
    z: message.z,
    eSum: message.e,
    phiZ,
    pairs: pairsOf(r).slice(0, pairCount(r)),
  });
  if (equal(multiply(c[last]!, c[last]!), multiply(c[0]!, c[0]!))) context.fail('challenges');
  send(
    context,
    'z',
    message.z.map((values) => ({ values, k: kZ })),
  );
  send(
    context,
    'e',
    message.e.map((values) => ({ values, k: kE })),
  );
  if (normSq([...message.z, ...message.e]) > BigInt(outSq)) context.fail('norm');
}
