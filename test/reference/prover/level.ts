/** Sections 6 and 8 of docs/protocol.md: an ordinary level, and the end that level 0 shares. */
import { type Behind, behindOf } from './behind.ts';
import { carriedConstraints } from './carried.ts';
import { keyMatrix } from './challenges.ts';
import { type Base, combine, isOutput, type OuterBlock, type Output } from './combine.ts';
import type { Context } from './context.ts';
import { pack } from './encode.ts';
import { type HiddenMessage, hide, joinHidden } from './hidden.ts';
import { type ExtraForm, type Lifts, lift } from './lift.ts';
import type { MessageName, Ordinary } from './parameters.ts';
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
  extendedBy,
  garbageOf,
  innerCommitments,
  linearGarbageOf,
  type Projected,
  type Projecting,
  placesOf,
  placesOfE,
  project,
  type Rows,
} from './steps.ts';

/**
 * Commits to polynomials of v from place `from` on, cuts, sends and absorbs: an outer block. A
 * hidden level takes u centred, and sends the quarters of its digits.
 */
export function outerBlock(
  context: Context,
  name: string,
  params: Ordinary,
  values: readonly Poly[],
  from: number,
): OuterBlock {
  const { kappa1, cut, w } = params;
  const honest = keyMatrix(kappa1, values.length).map((row) => inner(row, values));
  const low = cutLow(context.use('u', { name, u: honest }).u, cut, w > 0);
  const { sent, hat, e } = context.use('cutU', { name, ...low });
  const block = { name, from, count: values.length, hat, e };
  if (w > 0) {
    const { hidden, bytes } = hide(context, params, name.slice(1) as MessageName, sent);
    context.absorb(name, bytes);
    return { ...block, hidden };
  }
  const bytes = pack(sent, 44 - cut);
  context.send(name, bytes);
  context.absorb(name, bytes);
  return block;
}

/** The inner commitments to the rows of a level. */
export interface Committed {
  readonly t: Rows;
  /** digits of t, or of t' */
  readonly vT: readonly Poly[];
  /** e_a by row; empty ones unless inner commitments are cut */
  readonly e: Rows;
  /** (s_a, e_a) */
  readonly extended: Rows;
}

/** A level up to its projection. */
export interface Started extends Committed {
  readonly params: Ordinary;
  readonly cut: Cut;
  readonly g: readonly Poly[];
  readonly vG: readonly Poly[];
  readonly blocks: readonly OuterBlock[];
  readonly projected: readonly Projected[];
  readonly projecting: Projecting;
  /** the hidden level before, if it is one */
  readonly behind?: Behind | undefined;
  /** level 0: more linear forms in the lifts */
  readonly extra?: ExtraForm;
  readonly base: (seed: Uint8Array) => Base;
}

/** The same without what only its lifts depend on. */
export type Lifted = Omit<Started, 'projected' | 'projecting' | 'behind' | 'extra'>;

/** The level whose lifts are hidden; undefined if they are sent. */
const hidingOf = (params: Ordinary): Ordinary | undefined => (params.w > 0 ? params : undefined);

/** Lifts, combination, h, c, z, v. */
export function finishLevel(context: Context, started: Started): Output {
  const { params, extended, projected, projecting, behind, extra } = started;
  const hiding = hidingOf(params);
  const list = projected;
  const lifts = lift(context, { rows: extended, list, projecting, behind, extra, hiding });
  return finishLifted(context, started, lifts);
}

/** A level up to its lifts: combination, h, c, z, v. */
export function finishLifted(context: Context, started: Lifted, lifts: Lifts): Output {
  const { level } = context;
  const { params, cut, e, extended } = started;
  const { n, fu, bu, r, pieces } = params;
  const seed = context.transcript.seed('combine');
  const padding = extendedBy(cut.padding, e, false);
  const combined = combine(context, seed, params, started.base(seed), lifts, padding);

  const h = context.use('h', linearGarbageOf(combined.phi, extended));
  const vH = digitMajor(h, fu, bu);
  const blocks = [...started.blocks, outerBlock(context, 'u2', params, vH, pieces.h)];

  const c = challengesOf(context.transcript.seed('amortise'), level, r);
  const honest = { z: amortise(c, cut.rows), e: amortise(c, e) };
  const { z, e: eSum } = context.use('z', honest);
  const forms = amortiseForms(c, combined.phi);
  const [phiZ, phiE] = [forms.slice(0, n), forms.slice(n)];
  const { parts, x } = outputOf(context, started, { blocks, ...lifts, vH, z, eSum });
  const shown = { blocks, ...lifts, combined, h, c, z, eSum, phiZ, phiE, x, parts };
  context.show({ ...started, ...shown });
  return { params, blocks, c, phiZ, phiE, combined, parts };
}

/** Section 6.2: the witness of the next level; the level fails if it is too long. */
function outputOf(
  context: Context,
  { params, vT, vG }: Lifted,
  made: {
    blocks: readonly OuterBlock[];
    hiddenLifts?: HiddenMessage;
    vH: readonly Poly[];
    z: readonly Poly[];
    eSum: readonly Poly[];
  },
): { parts: Rows; x: readonly Poly[] } {
  const { f, b, outSq } = params;
  const { blocks, hiddenLifts, vH, z, eSum } = made;
  const byDigit = (list: readonly Poly[]): Poly[][] => {
    const digits = list.map((poly) => digitsOf(poly, f, b));
    return Array.from({ length: f }, (_, i) => digits.map((all) => all[i]!));
  };
  const hidden = [...blocks.map((block) => block.hidden), hiddenLifts];
  const x = joinHidden(
    context,
    params,
    hidden.filter((one) => one !== undefined),
  );
  const vE = byDigit(eSum).flat();
  const v = [...x, ...vT, ...vG, ...vH, ...vE, ...blocks.flatMap(({ e }) => e)];
  const parts = [...byDigit(z), v];
  if (!parts.flat().every((poly) => poly.every(isOutput))) context.fail('16 bits');
  if (normSq(parts.flat()) > BigInt(outSq)) context.fail('norm');
  return { parts, x };
}

/** Section 6.2: t of some rows, its digits or those of t', and the e_a. */
export function commitRows(context: Context, params: Ordinary, rows: Rows): Committed {
  const { n, kappa, ft, bu, ct } = params;
  const t = context.use('t', innerCommitments(keyMatrix(kappa, n), rows));
  if (ct === 0) {
    const none = t.map((): Poly[] => []);
    return { t, vT: context.use('vT', digitsOfT(t, ft, bu)), e: none, extended: rows };
  }
  const dropped = t.map((list) => cutLow(list, ct, true));
  const tCut = context.use(
    'tCut',
    dropped.map(({ sent }) => sent),
  );
  const e = context.use(
    'e',
    dropped.map((values) => values.e),
  );
  const extended = rows.map((row, a) => [...row, ...e[a]!]);
  return { t, vT: digitsOfT(tCut, ft, bu), e, extended };
}

/** Section 8. */
export function proveOrdinary(context: Context, params: Ordinary, before: Output): Output {
  const { fg, bg, pieces } = params;
  const honest = cutIntoRows(params, before.parts);
  const cut = { rows: context.use('rows', honest.rows), padding: honest.padding } as Cut;
  const committed = commitRows(context, params, cut.rows);
  const g = context.use('g', garbageOf(cut.rows));
  const vG = digitMajor(g, fg, bg);
  const block = outerBlock(context, 'u1', params, [...committed.vT, ...vG], pieces.t);
  const ofE = context.omits('eInProjection') ? [] : placesOfE(params, committed.e);
  const projected = [...placesOf(cut), ...ofE];
  const behind = behindOf(params, cut, before);
  const projecting = project(context, projected, params, { behind });
  return finishLevel(context, {
    params,
    cut,
    ...committed,
    g,
    vG,
    blocks: [block],
    projected,
    projecting,
    behind,
    base: (seed) => carriedConstraints(context, seed, params, before),
  });
}
