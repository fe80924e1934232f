/** Section 9 of docs/protocol.md: the last level, with its values in the clear. */
import { behindOf } from './behind.ts';
import { carriedConstraints } from './carried.ts';
import { keyMatrix } from './challenges.ts';
import { combine, type Output } from './combine.ts';
import type { Context } from './context.ts';
import { concat, pack, pack44 } from './encode.ts';
import { lift } from './lift.ts';
import { pairCount, pairsOf, type Tail } from './parameters.ts';
import { centre, equal, multiply, normSq, type Poly, ZERO } from './ring.ts';
import {
  amortise,
  amortiseForms,
  type Cut,
  challengesOf,
  cutIntoRows,
  cutLow,
  extendedBy,
  garbageOf,
  innerCommitments,
  linearGarbageOf,
  placesOf,
  placesOfE,
  project,
  type Rows,
  sendCoded,
} from './steps.ts';

/** A seal over values that are not sent. */
function sealOf(context: Context, label: string, data: Uint8Array): Uint8Array {
  return context.use('seal', { label, seal: context.transcript.seal(label, data) }).seal;
}

export function proveTail(context: Context, params: Tail, before: Output): void {
  const { level } = context;
  const { r } = params;
  const opened = openTail(context, params, before);
  const { cut, e, extended } = opened;
  const g = commitTail(context, params, opened);

  // 9.3
  const padding = extendedBy(cut.padding, e, false);
  const projected = [...placesOf(cut), ...placesOfE(params, e)];
  const behind = behindOf(params, cut, before);
  const projecting = project(context, projected, params, { behind });
  const lifts = lift(context, { rows: extended, list: projected, projecting, behind });
  const seed = context.transcript.seed('combine');
  const base = carriedConstraints(context, seed, params, before);
  const combined = combine(context, seed, params, base, lifts, padding);
  const h = sealGarbage(context, combined.phi, extended);

  // the last message
  const c = challengesOf(context.transcript.seed('amortise'), level, r);
  const { z, e: eSum } = context.use('z', { z: amortise(c, cut.rows), e: amortise(c, e) });
  const phiZ = amortiseForms(c, combined.phi);
  const pairs = pairsOf(r).slice(0, pairCount(r));
  const shown = { ...opened, g, ...lifts, projected, projecting, behind, combined, h, c };
  context.show({ params, ...shown, z, eSum, phiZ, pairs });
  const [first, last] = [c[0]!, c[r - 1]!];
  if (equal(multiply(last, last), multiply(first, first))) context.fail('challenges');
  sendMessage(context, params, z, eSum);
}

/** 9.1: the rows, t cut, and the extensions of the rows. */
function openTail(context: Context, params: Tail, before: Output) {
  const { n, r, kappa, cut: low } = params;
  const honest = cutIntoRows(params, before.parts);
  const cut = { rows: context.use('rows', honest.rows), padding: honest.padding } as Cut;
  const t = context.use('t', innerCommitments(keyMatrix(kappa, n), cut.rows));
  const dropped = t.map((list, a) => (a < r - 1 ? cutLow(list, low) : undefined));
  const none = new Array<Poly>(kappa).fill(ZERO);
  const e = context.use(
    'e',
    dropped.map((values) => values?.e ?? none),
  );
  const tHat = dropped.map((values, a) => values?.hat ?? t[a]!);
  const sent = dropped.slice(0, r - 1).map((values) => values!.sent);
  const tCut = context.use('tCut', sent);
  const extended = cut.rows.map((row, a) => [...row, ...e[a]!]);
  return { cut, t, tHat, tCut, e, extended };
}

/** 9.2: t', g and the seal of t. @returns g */
function commitTail(
  context: Context,
  { r, cut: low, tG }: Tail,
  { cut, t, tCut }: ReturnType<typeof openTail>,
): readonly Poly[] {
  const g = context.use('g', garbageOf(cut.rows));
  const sent = g.slice(0, -1);
  const tBytes = pack(tCut.flat(), 44 - low);
  const tSeal = sealOf(context, 't', concat(pack44(t[r - 1]!), pack44([g.at(-1)!])));
  context.send('t', tBytes);
  const fields = sent.map((poly, index) => ({ values: centre(poly), t: tG[index]! }));
  sendCoded(context, 'g', fields);
  context.send('sealT', tSeal);
  context.absorb('t', concat(tBytes, pack44(sent), tSeal));
  return g;
}

/** h of all pairs but the first and the last, and the seal of h. @returns h */
function sealGarbage(context: Context, phi: Rows, extended: Rows): readonly Poly[] {
  const h = context.use('h', linearGarbageOf(phi, extended));
  const hBytes = pack44(h.slice(1, -1));
  const hSeal = sealOf(context, 'h', pack44([h.at(-1)!]));
  context.send('h', hBytes);
  context.send('sealH', hSeal);
  context.absorb('h', concat(hBytes, hSeal));
  return h;
}

/** z and e, as long as they are short. */
function sendMessage(
  context: Context,
  { outSq, tZ, tE }: Tail,
  z: readonly Poly[],
  e: readonly Poly[],
): void {
  const ofZ = z.map((values, column) => ({ values, t: tZ[column]! }));
  const ofE = e.map((values) => ({ values, t: tE }));
  sendCoded(context, 'ze', [...ofZ, ...ofE]);
  if (normSq([...z, ...e]) > BigInt(outSq)) context.fail('norm');
}
