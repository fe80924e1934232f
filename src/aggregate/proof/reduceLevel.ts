/** A level after the first, or the tail's rows (docs/protocol.md, 8 and 9.3): all constraints as one, folded over the rows. */
import type { OrdinaryLevel, Shape } from '../parameters/rows.ts';
import type { Labrador } from '../wasm.ts';
import { FORM, prepareOmega, Seed } from './challenges.ts';
import type { OrdinaryFields } from './encode.ts';
import type { ParsedOrdinary } from './parse.ts';
import { foldClaim } from './reduceClaim.ts';
import type { Claim, QuadraticTerm } from './reduceConstraints.ts';
import { Folding, type FoldingChallenges, foldingChallenges, zeroForm } from './reduceFold.ts';
import { addLifts, foldPadding, weighted } from './reduceLifts.ts';
import { firstRows, LIFTS, PROJECTIONS } from './shapes.ts';
import type { LevelSeeds } from './verifyReplay.ts';

/** phi_z, a_ab and b of a level, in the scope in which it was made. */
export interface Reduced {
  readonly folding: Folding;
  readonly quadratic: readonly QuadraticTerm[];
  /** form */
  readonly b: number;
}

/** The seeds of a level in the module. */
export interface OpenSeeds {
  readonly jl: Seed;
  readonly lift: Seed;
  readonly combine: Seed;
}

/** What a level, ordinary or last, says about its projection. */
export type Projected = Pick<OrdinaryFields, 'counter' | 'b'> & { readonly y: Int32Array };

/** The claim of an ordinary level for the next one. */
export function reduceLevel(
  lab: Labrador,
  level: OrdinaryLevel,
  before: Claim,
  fields: ParsedOrdinary,
  seeds: LevelSeeds,
): Claim {
  return lab.scope(() => {
    const number = before.number + 1;
    const open = openSeeds(lab, seeds, number);
    const challenges = openChallenges(lab, seeds, open, number, level.r);
    const reduced = reduceRows(lab, level, before, fields, open, challenges);
    return claimOf(lab, number, level, fields, reduced);
  });
}

export const openSeeds = (lab: Labrador, seeds: LevelSeeds, number: number): OpenSeeds => ({
  jl: new Seed(lab, seeds.jl, number),
  lift: new Seed(lab, seeds.lift, number),
  combine: new Seed(lab, seeds.combine, number),
});

export const openChallenges = (
  lab: Labrador,
  seeds: LevelSeeds,
  { combine }: OpenSeeds,
  number: number,
  rows: number,
): FoldingChallenges =>
  foldingChallenges(lab, new Seed(lab, seeds.amortise, number), combine, rows);

/** Constraints of the claim, lifts and padding on rows of `shape`. */
export function reduceRows(
  lab: Labrador,
  shape: Shape,
  claim: Claim,
  { counter, y, b: lifts }: Projected,
  seeds: OpenSeeds,
  challenges: FoldingChallenges,
): Reduced {
  const folding = new Folding(lab, challenges, shape.n);
  const b = zeroForm(lab);
  const quadratic = foldClaim(folding, shape, claim, seeds.combine, b);
  const first = firstRows(shape);
  lab.scope(() => {
    const omega = prepareOmega(lab, seeds.lift);
    const constants = Array.from({ length: LIFTS }, (_, k) =>
      weighted(lab, omega + 8 * PROJECTIONS * k, y),
    );
    addLifts(lab, b, challenges.beta, lifts, constants);
    const staging = lab.vecs(LIFTS, shape.n);
    for (const [part, length] of shape.lengths.entries()) {
      for (let i = 0; i < shape.rows[part]!; i++) {
        const row = first[part]! + i;
        const count = Math.min(shape.n, length - i * shape.n);
        folding.addProjection(staging, seeds.jl, counter, row, row * shape.n, count);
      }
    }
  });
  foldPadding(folding, seeds.combine, shape, shape.lengths);
  return { folding, quadratic, b };
}

/** Copies of what the next level needs. */
export function claimOf(
  lab: Labrador,
  number: number,
  level: OrdinaryLevel,
  { first, second }: OrdinaryFields,
  { folding, quadratic, b }: Reduced,
): Claim {
  return lab.scope(() => {
    const phi = lab.coefs(level.n);
    const right = lab.coefs(1);
    lab.kernels.vecToCoefs(phi.at, folding.sum.at, 0, level.n);
    lab.kernels.formToCoefs(right.at, b);
    return {
      number,
      level,
      c: lab.bytes(folding.c.at, FORM * level.r).slice(),
      phi: lab.i64(phi).slice(),
      quadratic,
      b: lab.i64(right).slice(),
      outer: [...first, second],
    };
  });
}
