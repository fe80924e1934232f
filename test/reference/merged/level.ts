/**
 * Level 1 of a merged proof, which takes the outputs of many parts: docs/merged.md, 1.1 for its
 * shape, 1.3 for its projections, 1.4 for its lifts, 1.5 for its constraints, 1.6 for absent parts.
 * All else is an ordinary level of docs/protocol.md, section 8.
 */
import { formsOfX, type LiftScalars, scalarCount, scalarsOf } from '../prover/behind.ts';
import { formsOnOutput, squaresOfZ } from '../prover/carried.ts';
import { collapse, omegas, type Pair, projectionOf, short } from '../prover/challenges.ts';
import type { Base, Output } from '../prover/combine.ts';
import type { Context } from '../prover/context.ts';
import { concat, isI32 } from '../prover/encode.ts';
import { commitRows, finishLifted, outerBlock } from '../prover/level.ts';
import { type Lifts, liftsOf } from '../prover/lift.ts';
import { type Ordinary, placeOf } from '../prover/parameters.ts';
import { add, D, multiply, type Poly, reduce, ZERO } from '../prover/ring.ts';
import {
  cutIntoRows,
  digitMajor,
  garbageOf,
  type Projected,
  type Projection,
  passes,
  projectAll,
  type Rows,
  sendProjection,
  sumsOf,
} from '../prover/steps.ts';

const LEVEL = 1;
const LIFTS = [0, 1];
const COUNTERS = 16;

/** The bounds of a part row, and the indexes of the codes of y and y_x. */
export interface Bounds {
  readonly inP: number;
  readonly tP: number;
  readonly XP: number;
  readonly tXP: number;
}

/** What level 1 is made of. */
export interface Merging {
  /** level 0 of every part */
  readonly zero: Ordinary;
  readonly bounds: Bounds;
  /** P' */
  readonly most: number;
  /** level 1 */
  readonly params: Ordinary;
}

/** The polynomials of one part at level 1. */
export interface Block {
  /** z_0, ..., z_{f-1}, v, by POLY */
  readonly list: readonly Projected[];
  /** x, the beginning of v */
  readonly x: readonly Projected[];
}

/** The projections of a block and of its x. */
export interface BlockProjection {
  readonly all: Projection;
  /** if level 0 is hidden */
  readonly ofX?: Projection;
}

/** The scalars of a part in one lift: those of p. 8.5, and upsilon, which multiplies them all. */
export interface PartScalars {
  readonly ofEquations: LiftScalars;
  readonly upsilon: Pair;
}

/** Where a cheating prover deviates at level 1. */
export interface MergeFaults {
  /** the projections as they are sent */
  readonly projections?: (honest: readonly BlockProjection[]) => readonly BlockProjection[];
  /** the scalars with which F is made on the block of a part (from 0) */
  readonly scalars?: (honest: PartScalars, part: number) => PartScalars;
  /** coefficients that are those of the first part everywhere, for a verifier that does the same */
  readonly shares?: 'chi' | 'upsilon';
}

/** The number of segment z_i of a part (from 0); v is behind all of them. */
export const segmentOf = ({ most }: Merging, i: number, part: number): number => i * most + part;

/** Section 1.1: z_0^(1), ..., z_{f-1}^(P'), and all v as one; absent parts are undefined. */
function segmentsOf({ zero, most }: Merging, outputs: readonly Output[]): (Poly | undefined)[][] {
  const { f, n, m } = zero;
  const partOf = (i: number, part: number): readonly (Poly | undefined)[] =>
    outputs[part]?.parts[i] ?? new Array<undefined>(i < f ? n : m).fill(undefined);
  const numbers = Array.from({ length: most }, (_, part) => part);
  const z = Array.from({ length: f }, (_, i) => numbers.map((part) => [...partOf(i, part)]));
  return [...z.flat(), numbers.flatMap((part) => partOf(f, part))];
}

/** Section 1.3: the polynomials of a part (from 0), numbered as in every other part. */
function blockOf(merging: Merging, rows: Rows, part: number): Block {
  const { zero, params, most } = merging;
  const { f, n, m, pieces } = zero;
  const at = (segment: number, i: number, number: number): Projected => {
    const { row, column } = placeOf(params, segment, i);
    return { number, poly: rows[row]![column]!, row, column };
  };
  const z = Array.from({ length: f * n }, (_, number) =>
    at(segmentOf(merging, Math.floor(number / n), part), number % n, number),
  );
  const v = Array.from({ length: m }, (_, i) => at(f * most, part * m + i, f * n + i));
  return { list: [...z, ...v], x: v.slice(0, pieces.t) };
}

/** The projections of the first counter with which all pass; sent and absorbed. */
function projectBlocks(
  context: Context,
  { zero, bounds }: Merging,
  blocks: readonly Block[],
  faults: MergeFaults,
) {
  const { inP, tP, XP, tXP } = bounds;
  const { st } = context.transcript;
  for (let counter = 0; counter < COUNTERS; counter++) {
    context.transcript.st = st;
    context.absorb('counter', Uint8Array.of(counter));
    const seed = context.transcript.seed('jl');
    const of = (list: readonly Projected[]): Projection => projectAll(seed, LEVEL, list);
    const honest = blocks.map(({ list, x }) => ({
      all: of(list),
      ...(zero.w > 0 && { ofX: of(x) }),
    }));
    const projections = faults.projections?.(honest) ?? honest;
    const sent = projections.flatMap(({ all, ofX }, part) => [
      { name: `${part + 1}`, projection: all, bound: inP, t: tP },
      ...(ofX ? [{ name: `x${part + 1}`, projection: ofX, bound: XP, t: tXP }] : []),
    ]);
    const passed = sent.map(({ name, projection, bound, t }) =>
      passes(context, name.startsWith('x') ? 'x' : 'all', projection, { bound, t }),
    );
    if (passed.includes(false)) {
      if (counter < COUNTERS - 1) continue;
      context.fail('projection');
    }
    if (!sent.flatMap(({ projection }) => sumsOf(projection)).every(isI32)) context.fail('sum');
    context.send('counter', Uint8Array.of(counter));
    const absorbed = sent.map(({ name, projection, t }) =>
      sendProjection(context, [`y${name}`, `UV${name}`], projection, t),
    );
    context.absorb('y', concat(...absorbed));
    return { seed, counter, projections };
  }
  throw new Error('unreachable');
}

/** Section 1.4: those of p. 8.5, then upsilon of every part. */
export function mergedScalars(
  seed: Uint8Array,
  k: number,
  zero: Ordinary,
  parts: number,
): { ofEquations: LiftScalars; upsilons: Pair[] } {
  const before = zero.w > 0 ? zero : undefined;
  const first = scalarCount(before);
  return {
    ofEquations: scalarsOf(seed, LEVEL, k, before),
    upsilons: omegas(seed, LEVEL, k, first + parts).slice(first),
  };
}

const elementOf = ([a, b]: Pair): Poly => ZERO.with(0, a).with(D / 2, b);
const sumOf = ([a, b]: Pair, [c, d]: Pair): Pair => [a + c, b + d];

/** F of p. 8.5 on the block of a part, in its order: (P), on x also (P_x), (Q), (T_b). */
function formsOfPart(
  zero: Ordinary,
  { list, x }: Block,
  entries: (number: number) => Int8Array,
  scalars: LiftScalars,
): Poly[] {
  const { omega, omegaX } = scalars;
  const firstOfX = list.length - zero.m;
  const further = zero.w > 0 ? formsOfX({ params: zero }, scalars) : [];
  const onX = omegaX.map((pair, j) => sumOf(pair, omega[j]!));
  return list.map(({ number }) => {
    const inX = number - firstOfX;
    const isX = inX >= 0 && inX < x.length;
    const [form] = collapse(entries(number), [isX ? onX : omega]) as [Poly];
    return isX ? reduce(add(form, further[inX]!)) : form;
  });
}

/** Section 1.4: F of both lifts. */
function formsOfBlocks(
  { zero, params }: Merging,
  blocks: readonly Block[],
  seeds: { readonly jl: Uint8Array; readonly lift: Uint8Array },
  faults: MergeFaults,
): Poly[][][] {
  const known = new Map<number, Int8Array>();
  const entries = (number: number): Int8Array => {
    const found = known.get(number) ?? projectionOf(seeds.jl, LEVEL, number);
    known.set(number, found);
    return found;
  };
  return LIFTS.map((k) => {
    const drawn = mergedScalars(seeds.lift, k, zero, blocks.length);
    const F = Array.from({ length: params.r }, () => new Array<Poly>(params.n).fill(ZERO));
    const put = (list: readonly Projected[], forms: readonly Poly[], upsilon: Pair): void => {
      const factor = elementOf(upsilon);
      for (const [i, { row, column }] of list.entries()) {
        F[row]![column] = multiply(factor, forms[i]!);
      }
    };
    // all parts have the same forms, unless one of them is given other scalars
    const made = new Map<LiftScalars, Poly[]>();
    for (const [part, block] of blocks.entries()) {
      const upsilon = drawn.upsilons[faults.shares === 'upsilon' ? 0 : part]!;
      const honest: PartScalars = { ofEquations: drawn.ofEquations, upsilon };
      const used = faults.scalars?.(honest, part) ?? honest;
      const { ofEquations } = used;
      const forms = made.get(ofEquations) ?? formsOfPart(zero, block, entries, ofEquations);
      made.set(ofEquations, forms);
      put(block.list, forms, used.upsilon);
    }
    return F;
  });
}

/** Section 1.5: E1 to E6 of every part. */
function carriedOfParts(
  context: Context,
  seed: Uint8Array,
  merging: Merging,
  outputs: readonly Output[],
  faults: MergeFaults,
): Base {
  const { zero, params, most } = merging;
  const a = new Map<number, Poly>();
  const linear = params.lengths.map((length) => new Array<Poly>(length).fill(ZERO));
  let b = ZERO;
  for (const [part, output] of outputs.entries()) {
    const chi = short(seed, LEVEL, 'part', faults.shares === 'chi' ? 0 : part);
    const forms = formsOnOutput(context, seed, output, chi);
    const segments = Array.from({ length: zero.f }, (_, i) => segmentOf(merging, i, part));
    for (const [pair, value] of squaresOfZ(params, zero, forms.delta, segments)) {
      a.set(pair, value);
    }
    for (const [i, segment] of segments.entries()) linear[segment] = forms.linear[i]!;
    linear[zero.f * most]!.splice(part * zero.m, zero.m, ...forms.linear[zero.f]!);
    b = reduce(add(b, forms.b));
  }
  return { a, linear, b };
}

/** What level 1 shows of itself beyond what every level does. */
export interface ShownMerged {
  readonly merged: readonly Block[];
  readonly jlSeed: Uint8Array;
  readonly projections: readonly BlockProjection[];
}

/** The outputs of the level 0 of every part in, the output of level 1 out. */
export function proveMerged(
  context: Context,
  merging: Merging,
  outputs: readonly Output[],
  faults: MergeFaults,
): Output {
  const { params } = merging;
  const { fg, bg, w, pieces } = params;
  const { rows, padding } = cutIntoRows(params, segmentsOf(merging, outputs));
  const cut = { rows: context.use('rows', rows) as Poly[][], padding };
  const committed = commitRows(context, params, cut.rows);
  const g = context.use('g', garbageOf(cut.rows));
  const vG = digitMajor(g, fg, bg);
  const block = outerBlock(context, 'u1', params, [...committed.vT, ...vG], pieces.t);

  const merged = outputs.map((_, part) => blockOf(merging, cut.rows, part));
  const { seed: jlSeed, projections } = projectBlocks(context, merging, merged, faults);
  const lift = context.transcript.seed('lift');
  const F = formsOfBlocks(merging, merged, { jl: jlSeed, lift }, faults);
  const hiding = w > 0 ? params : undefined;
  const lifts: Lifts = liftsOf(context, lift, F, committed.extended, hiding);

  const base = (seed: Uint8Array): Base => carriedOfParts(context, seed, merging, outputs, faults);
  const started = { params, cut, ...committed, g, vG, blocks: [block], base };
  const shown: ShownMerged = { merged, jlSeed, projections };
  return finishLifted(context, { ...started, ...shown } as typeof started, lifts);
}
