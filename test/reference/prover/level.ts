/** Sections 6 and 8 of docs/protocol.md: an ordinary level, and the end that level 0 shares. */
import { keyMatrix } from './challenges.ts';
import {
  type Base,
  carriedConstraints,
  combine,
  isOutput,
  type OuterBlock,
  type Output,
} from './combine.ts';
import type { Context } from './context.ts';
import { pack } from './encode.ts';
import type { Ordinary } from './parameters.ts';
import { digitsOf, inner, normSq, type Poly } from './ring.ts';
import {
  amortise,
  amortiseForms,
  type Cut,
  challengesOf,
  cutIntoRows,
  cutLow,
  digitMajor,
  digitsOfT,
  type ExtraForm,
  garbageOf,
  innerCommitments,
  lift,
  linearGarbageOf,
  type Projected,
  type Projecting,
  placesOf,
  project,
  type Rows,
} from './steps.ts';

/** Commits to polynomials of v from place `from` on, cuts, sends and absorbs: an outer block. */
export function outerBlock(
  context: Context,
  name: string,
  { kappa1, cut }: Ordinary,
  values: readonly Poly[],
  from: number,
): OuterBlock {
  const honest = keyMatrix(kappa1, values.length).map((row) => inner(row, values));
  const { sent, hat, e } = cutLow(context.use('u', { name, u: honest }).u, cut);
  const bytes = pack(sent, 44 - cut);
  context.send(name, bytes);
  context.absorb(name, bytes);
  return { name, from, count: values.length, hat, e };
}

/** A level up to its projection. */
export interface Started {
  readonly params: Ordinary;
  readonly cut: Cut;
  readonly t: Rows;
  readonly g: readonly Poly[];
  readonly vT: readonly Poly[];
  readonly vG: readonly Poly[];
  readonly blocks: readonly OuterBlock[];
  readonly projected: readonly Projected[];
  readonly projecting: Projecting;
  /** level 0: more linear forms in the lifts */
  readonly extra?: ExtraForm;
  readonly base: (seed: Uint8Array) => Base;
}

/** Lifts, combination, h, c, z, v. */
export function finishLevel(context: Context, started: Started): Output {
  const { level } = context;
  const { params, cut, vT, vG, projected, projecting, extra } = started;
  const { rows, padding } = cut;
  const { f, b, fu, bu, outSq } = params;

  const lifts = lift(context, rows, projected, projecting, extra);
  const seed = context.transcript.seed('combine');
  const combined = combine(context, seed, params, started.base(seed), lifts, padding);

  const h = context.use('h', linearGarbageOf(combined.phi, rows));
  const vH = digitMajor(h, fu, bu);
  const before = [...vT, ...vG];
  const blocks = [...started.blocks, outerBlock(context, 'u2', params, vH, before.length)];

  const c = challengesOf(context.transcript.seed('amortise'), level, params.r);
  const { z } = context.use('z', { z: amortise(c, rows), e: [] });
  const phiZ = amortiseForms(c, combined.phi);
  const digits = z.map((poly) => digitsOf(poly, f, b));
  const zDigits = Array.from({ length: f }, (_, i) => digits.map((list) => list[i]!));
  const v = [...before, ...vH, ...blocks.flatMap(({ e }) => e)];
  const parts = [...zDigits, v];
  context.show({ ...started, blocks, ...lifts, combined, h, c, z, phiZ, parts });
  if (!parts.flat().every((poly) => poly.every(isOutput))) context.fail('16 bits');
  if (normSq(parts.flat()) > BigInt(outSq)) context.fail('norm');
  return { params, blocks, c, phiZ, combined, parts };
}

/** Section 8. */
export function proveOrdinary(context: Context, params: Ordinary, before: Output): Output {
  const { n, fu, bu, fg, bg, kappa } = params;
  const honest = cutIntoRows(params, before.parts);
  const cut = { rows: context.use('rows', honest.rows), padding: honest.padding } as Cut;
  const t = context.use('t', innerCommitments(keyMatrix(kappa, n), cut.rows));
  const g = context.use('g', garbageOf(cut.rows));
  const vT = digitsOfT(t, fu, bu);
  const vG = digitMajor(g, fg, bg);
  const block = outerBlock(context, 'u1', params, [...vT, ...vG], 0);
  const projected = placesOf(cut);
  const projecting = project(context, projected, params);
  return finishLevel(context, {
    params,
    cut,
    t,
    g,
    vT,
    vG,
    blocks: [block],
    projected,
    projecting,
    base: (seed) => carriedConstraints(context, seed, params, before),
  });
}
