/** Sections 6 and 8 of docs/protocol.md: an ordinary level, and the end that level 0 shares. */
import { keyMatrix, MATRICES } from './challenges.ts';
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
import { type Ordinary, pairCount } from './parameters.ts';
import { add, digitsOf, inner, normSq, type Poly, reduce } from './ring.ts';
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
  type Projection,
  placesOf,
  project,
  type Rows,
} from './steps.ts';

/** Matrix times vector modulo q. */
export const apply = (matrix: Rows, vector: readonly Poly[]): Poly[] =>
  matrix.map((row) => inner(row, vector));

/** Commits to digits, cuts, sends and absorbs: an outer block. */
export function outerBlock(
  context: Context,
  name: string,
  { kappa1, cut }: Ordinary,
  matrices: { B: number; C?: number },
  vT: readonly Poly[],
  from: number,
  vG: readonly Poly[],
): OuterBlock {
  const B = keyMatrix(context.level, matrices.B, kappa1, vT.length);
  const C =
    matrices.C === undefined ? undefined : keyMatrix(context.level, matrices.C, kappa1, vG.length);
  const onT = apply(B, vT);
  const u = C === undefined ? onT : apply(C, vG).map((poly, k) => reduce(add(poly, onT[k]!)));
  const values = cutLow(context.use('u', { name, u }).u, cut);
  const bytes = pack(values.sent, 44 - cut);
  context.send(name, bytes);
  context.absorb(name, bytes);
  return { name, B, from, C, hat: values.hat, e: values.e };
}

/** A level up to its projection. */
export interface Started {
  readonly params: Ordinary;
  readonly cut: Cut;
  readonly A: Rows;
  readonly t: Rows;
  readonly g: readonly Poly[];
  readonly vT: readonly Poly[];
  readonly vG: readonly Poly[];
  readonly blocks: readonly OuterBlock[];
  readonly projected: readonly Projected[];
  readonly projection: Projection;
  /** level 0: more linear forms in the lifts */
  readonly extra?: ExtraForm;
  readonly base: (seed: Uint8Array) => Base;
}

/** Lifts, combination, h, c, z, v. */
export function finishLevel(context: Context, started: Started): Output {
  const { level } = context;
  const { params, cut, A, vT, vG, blocks, projected, projection, extra } = started;
  const { rows, padding } = cut;
  const { f, b, fu, bu, kappa1, outSq } = params;

  const lifts = lift(context, rows, projected, projection, extra);
  const seed = context.transcript.seed('combine');
  const combined = combine(context, seed, params, started.base(seed), lifts, padding);

  const h = context.use('h', linearGarbageOf(combined.phi, rows));
  const vH = digitMajor(h, fu, bu);
  const D = keyMatrix(level, MATRICES.D, kappa1, fu * pairCount(params.r));
  const values = cutLow(context.use('u', { name: 'u2', u: apply(D, vH) }).u, params.cut);
  const bytes = pack(values.sent, 44 - params.cut);
  context.send('u2', bytes);
  context.absorb('u2', bytes);

  const c = challengesOf(context.transcript.seed('amortise'), level, params.r);
  const { z } = context.use('z', { z: amortise(c, rows), e: [] });
  const phiZ = amortiseForms(c, combined.phi);
  const digits = z.map((poly) => digitsOf(poly, f, b));
  const zDigits = Array.from({ length: f }, (_, i) => digits.map((list) => list[i]!));
  const v = [...vT, ...vG, ...vH, ...blocks.flatMap(({ e }) => e), ...values.e];
  const parts = [...zDigits, v];
  context.show({ ...started, ...lifts, combined, h, c, z, phiZ, parts });
  if (!parts.flat().every((poly) => poly.every(isOutput))) context.fail('16 bits');
  if (normSq(parts.flat()) > BigInt(outSq)) context.fail('norm');
  return { params, A, blocks, D, hat2: values.hat, c, phiZ, combined, parts };
}

/** Section 8. */
export function proveOrdinary(context: Context, params: Ordinary, before: Output): Output {
  const { level } = context;
  const { n, fu, bu, fg, bg, kappa } = params;
  const honest = cutIntoRows(params, before.parts);
  const cut = { rows: context.use('rows', honest.rows), padding: honest.padding } as Cut;
  const A = keyMatrix(level, MATRICES.A, kappa, n);
  const t = context.use('t', innerCommitments(A, cut.rows));
  const g = context.use('g', garbageOf(cut.rows));
  const vT = digitsOfT(t, fu, bu);
  const vG = digitMajor(g, fg, bg);
  const matrices = { B: MATRICES.B, C: MATRICES.C };
  const block = outerBlock(context, 'u1', params, matrices, vT, 0, vG);
  const projected = placesOf(cut);
  const projection = project(context, context.transcript.seed('jl'), projected, params);
  return finishLevel(context, {
    params,
    cut,
    A,
    t,
    g,
    vT,
    vG,
    blocks: [block],
    projected,
    projection,
    base: (seed) => carriedConstraints(context, seed, params, before),
  });
}
