/** The steps that levels share (docs/protocol.md, 6 to 9): rows, commitments, garbage, projection, lifts, amortisation. */
import type { Shape } from '../parameters/rows.ts';
import type { Coefs, Forms, Labrador, Smalls, Vecs } from '../wasm.ts';
import {
  COEFS,
  FORM,
  formsOf,
  prepareOmega,
  type Seed,
  SMALL,
  SUMS,
  sampleCs,
  startProjection,
} from './challenges.ts';
import type { Context } from './context.ts';
import { ABSORB, SEED } from './labels.ts';
import { RiceWriter } from './rice.ts';
import { firstRows, LAST_RETRY, LIFTS, PROJECTIONS, pairIndex } from './shapes.ts';

/** A run of polynomials in a row, that the projection covers or that a part puts there. */
export interface Placed {
  readonly row: number;
  readonly column: number;
  readonly count: number;
  /** where the first one stands as small coefficients */
  readonly at: number;
  /** its number in the projection */
  readonly number: number;
}

/** The places of a part, row by row; `at` is where its polynomials stand, `stride` bytes apart. */
export function placesOfPart(
  shape: Shape,
  part: number,
  count: number,
  at: number,
  stride = SMALL,
): Placed[] {
  const first = firstRows(shape)[part]!;
  const { n } = shape;
  return Array.from({ length: Math.ceil(count / n) }, (_, i) => ({
    row: first + i,
    column: 0,
    count: Math.min(n, count - i * n),
    at: at + stride * i * n,
    number: (first + i) * n,
  }));
}

/** A row's view of vecs, or several rows'. */
export const rowsOf = (vecs: Vecs, from: number, rows: number): Vecs => ({
  ...vecs,
  at: vecs.at + from * vecs.stride,
  rows,
});

export const rowAddresses = (vecs: Vecs): number[] =>
  Array.from({ length: vecs.rows }, (_, i) => vecs.at + i * vecs.stride);

/** Sums as polynomials mod q. */
export function coefsOfSums(lab: Labrador, sums: { at: number; count: number }): Coefs {
  const coefs = lab.coefs(sums.count);
  lab.kernels.manySumsToCoefs(coefs.at, sums.at, sums.count);
  return coefs;
}

/** t_a = A s_a of all rows of s: row by row, kappa polynomials each. */
export function innerCommitments(lab: Labrador, A: Vecs, s: Vecs): Coefs {
  const out = lab.coefs(s.rows * A.rows);
  lab.scope(() => {
    const sums = lab.sums(s.rows * A.rows);
    lab.products(sums, s, A);
    lab.kernels.manySumsToCoefs(out.at, sums.at, sums.count);
  });
  return out;
}

/** g_ab, pair by pair. */
export function quadraticGarbage(lab: Labrador, s: Vecs): Coefs {
  const out = lab.coefs((s.rows * (s.rows + 1)) / 2);
  lab.scope(() => {
    const sums = lab.sums(out.count);
    lab.pairProducts(sums, s);
    lab.kernels.manySumsToCoefs(out.at, sums.at, sums.count);
  });
  return out;
}

/** h_ab, pair by pair. */
export function linearGarbage(lab: Labrador, phi: Vecs, s: Vecs): Coefs {
  const r = s.rows;
  const out = lab.coefs((r * (r + 1)) / 2);
  lab.scope(() => {
    const { kernels } = lab;
    const sums = lab.sums(r * r);
    lab.products(sums, phi, s);
    const pairs = lab.sums(out.count);
    const add = (to: number, from: number): void =>
      kernels.addSums(pairs.at + SUMS * to, sums.at + SUMS * from);
    for (let a = 0; a < r; a++) {
      for (let b = a; b < r; b++) {
        const pair = pairIndex(r, a, b);
        add(pair, a * r + b);
        if (a !== b) add(pair, b * r + a);
      }
    }
    kernels.manySumsToCoefs(out.at, pairs.at, pairs.count);
  });
  return out;
}

/** The projection of the places: seed `jl`, the first counter whose y passes; sends and absorbs it, with `more` behind. */
export function project(
  context: Context,
  places: readonly Placed[],
  { inSq, riceY }: { inSq: number; riceY: number },
  more: Uint8Array = new Uint8Array(0),
  seed: Seed = context.seed(SEED.jl),
): { seed: Seed; counter: number } {
  const { lab } = context;
  const at = lab.room(8 * PROJECTIONS);
  const bound = 144n * BigInt(inSq);
  for (let counter = 0; counter <= LAST_RETRY; counter++) {
    new BigInt64Array(lab.kernels.memory.buffer, at, PROJECTIONS).fill(0n);
    startProjection(seed, counter);
    for (const { at: from, number, count } of places) {
      lab.kernels.projectPolys(at, from, number, count);
    }
    const y = new BigInt64Array(lab.kernels.memory.buffer, at, PROJECTIONS).slice();
    if (y.reduce((sum, x) => sum + x * x, 0n) > bound) continue;
    const rice = new RiceWriter();
    if (!rice.write(y, riceY)) context.fail('code of y');
    const data = new Uint8Array(1 + 4 * PROJECTIONS + more.length);
    const view = new DataView(data.buffer);
    data[0] = counter;
    for (const [j, x] of y.entries()) view.setInt32(1 + 4 * j, Number(x), true);
    data.set(more, 1 + 4 * PROJECTIONS);
    context.send(Uint8Array.of(counter));
    context.send(rice.bytes());
    if (more.length > 0) context.send(more);
    context.absorb(ABSORB.y, data);
    return { seed, counter };
  }
  return context.fail('projection');
}

/** The projection's part of the three lifts, on places whose form it alone is. */
export async function collapse(
  context: Context,
  F: readonly Vecs[],
  places: readonly Placed[],
  projection: { seed: Seed; counter: number },
  liftSeed: Seed,
): Promise<void> {
  const { lab } = context;
  prepareOmega(lab, liftSeed);
  for (const [i, { row, column, number, count }] of places.entries()) {
    startProjection(projection.seed, projection.counter);
    lab.kernels.collapseToVecs(
      lab.row(F[0]!, row),
      lab.row(F[1]!, row),
      lab.row(F[2]!, row),
      column,
      number,
      count,
    );
    await context.pause('lift', (i + 1) / places.length);
  }
}

/** b^(k+1) = sum of <F_a, s_a>: three polynomials; sends and absorbs them. */
export function sendLifts(context: Context, F: readonly Vecs[], s: Vecs): Coefs {
  const { lab } = context;
  const { kernels } = lab;
  const lifts = lab.coefs(LIFTS);
  lab.scope(() => {
    const sums = lab.sums(LIFTS);
    for (const [k, { at }] of F.entries()) {
      // rows lie behind each other, so that all of them are one long row
      kernels.products(sums.at + SUMS * k, at, 1, 0, s.at, 1, 0, s.rows * s.blocks);
    }
    kernels.manySumsToCoefs(lifts.at, sums.at, LIFTS);
    const sent = lab.coefs(LIFTS);
    const values = lab.i64(sent).fill(0n);
    for (let k = 0; k < LIFTS; k++) {
      values.set(lab.i64(lifts).subarray(64 * k + 1, 64 * k + 64), 63 * k);
    }
    const bytes = context.pack(sent).slice(0, Math.ceil((63 * LIFTS * 44) / 8));
    context.send(bytes);
    context.absorb(ABSORB.b, bytes);
  });
  return lifts;
}

/** A constant modulo q in NTT form. */
export function constantForm(lab: Labrador, to: number, value: bigint): void {
  lab.scope(() => {
    const one = lab.coefs(1);
    lab.i64(one).fill(0n)[0] = value;
    lab.kernels.coefsToForm(to, one.at);
  });
}

/** c_a, their NTT forms in `forms`. */
export function amortisingChallenges(context: Context, forms: Forms): void {
  const { lab } = context;
  lab.scope(() => {
    const c = sampleCs(lab, context.seed(SEED.amortise), forms.count);
    lab.kernels.smallsToForms(forms.at, c.at, c.count);
  });
}

/** Sum of c_a x_a column by column, as polynomials that are centred mod q. */
export function amortised(lab: Labrador, c: Forms, x: Vecs): Coefs {
  const out = lab.coefs(x.columns);
  lab.scope(() => {
    const sum = lab.vecs(1, x.columns);
    lab.combine(sum, 0, rowAddresses(x), c);
    lab.kernels.vecToCoefs(out.at, sum.at, 0, x.columns);
  });
  return out;
}

/** How many columns of every row the parts fill from its start on; `lengths` of the parts. */
export const filledBy = (shape: Shape, lengths: readonly number[]): number[] =>
  shape.rows.flatMap((count, part) =>
    Array.from({ length: count }, (_, i) =>
      Math.min(Math.max(lengths[part]! - i * shape.n, 0), shape.n),
    ),
  );

/** Small polynomials in one row of NTT forms. */
export function vecOf(lab: Labrador, smalls: Smalls): Vecs {
  const vec = lab.vecs(1, smalls.count);
  lab.kernels.widesToVec(vec.at, 0, smalls.at, SMALL, smalls.count);
  return vec;
}

/** Part of a run of polynomials. */
export const slice = <T extends Smalls | Coefs | Forms>(
  list: T,
  from: number,
  count: number,
): T => ({
  ...list,
  at: list.at + from * { smalls: SMALL, coefs: COEFS, forms: FORM }[list.kind],
  count,
});

export { formsOf };
