/** A level after the first, or the tail's rows (docs/protocol.md, 8 and 9.3): all constraints as one, folded over the rows. */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import type { Forms, Labrador } from '../../wasm.ts';
import { FORM, prepareOmega } from '../challenges.ts';
import { type Columns, placesOfRows, placesWithin } from '../columns.ts';
import type { OrdinaryFields } from '../encode.ts';
import { projectionOf } from '../projection.ts';
import { type Blocks, blocksOf, valuesOf } from '../ring.ts';
import { LIFTS, paddingOf, ROWS_OF_PROJECTION } from '../shapes.ts';
import { Folding, type FoldingChallenges, zeroForm } from './folding.ts';
import { type OpenSeeds, openChallenges, openSeeds } from './openSeeds.ts';
import type { ParsedOrdinary } from './parse.ts';
import { foldClaim } from './reduceCarry.ts';
import type { Claim, FoldedKeys, QuadraticTerm } from './reduceConstraints.ts';
import { addLifts, padRuns, weighted } from './reduceLifts.ts';
import type { LevelSeeds } from './replay.ts';

/** phi_z, a_ab and b of a level, in the scope in which it was made. */
export interface Reduced {
  readonly folding: Folding;
  readonly quadratic: readonly QuadraticTerm[];
  /** form */
  readonly b: number;
}

/** What a level, ordinary or last, says about its projection. */
export type Projected = Pick<OrdinaryFields, 'b'> & { readonly y: Int32Array };

/** The projection of a level in some columns. */
export interface RowsFold {
  readonly number: number;
  readonly shape: Shape;
  readonly columns: Columns;
  readonly counter: number;
  readonly seeds: LevelSeeds;
}

/** phi_z of the projection's part of the lifts, in those columns (8.4). */
export function foldRows(lab: Labrador, fold: RowsFold): Blocks {
  const { number, shape, columns, counter } = fold;
  return lab.scope(() => {
    const open = openSeeds(lab, fold.seeds, number);
    const challenges = openChallenges(lab, fold.seeds, open, number, shape.r);
    const width = columns.to - columns.from;
    const folding = new Folding(lab, challenges, width);
    prepareOmega(lab, open.lift);
    const staging = lab.vecs(LIFTS, width);
    for (const { row, number, count } of placesWithin(placesOfRows(shape), columns)) {
      folding.addProjection(staging, open.jl, counter, row, number, count);
    }
    return blocksOf(lab, folding.sum);
  });
}

/** The claim of an ordinary level for the next one. */
export function reduceLevel(
  lab: Labrador,
  level: OrdinaryLevel,
  before: Claim,
  keys: FoldedKeys,
  rows: Blocks,
  fields: ParsedOrdinary,
  seeds: LevelSeeds,
): Claim {
  return lab.scope(() => {
    const number = before.number + 1;
    const open = openSeeds(lab, seeds, number);
    const challenges = openChallenges(lab, seeds, open, number, level.r);
    const reduced = reduceRows(lab, level, before, keys, rows, fields, open, challenges);
    const { folding, quadratic, b } = reduced;
    const phi = lab.coefs(level.n);
    lab.kernels.vecToCoefs(phi.at, folding.sum.at, 0, level.n);
    const { c } = folding;
    return claimOf(lab, number, level, fields, { c, phi: valuesOf(lab, phi), quadratic, b });
  });
}

/** Constraints of the claim, lifts and padding on rows of `shape`. */
export function reduceRows(
  lab: Labrador,
  shape: Shape,
  claim: Claim,
  keys: FoldedKeys,
  rows: Blocks,
  { y, b: lifts }: Projected,
  seeds: OpenSeeds,
  challenges: FoldingChallenges,
): Reduced {
  const folding = new Folding(lab, challenges, shape.n);
  const b = zeroForm(lab);
  const quadratic = foldClaim(folding, shape, claim, keys, seeds.combine, b);
  lab.scope(() => {
    const omega = prepareOmega(lab, seeds.lift);
    const projection = projectionOf(y);
    const constants = Array.from({ length: LIFTS }, (_, k) =>
      weighted(lab, omega + 8 * ROWS_OF_PROJECTION * k, projection),
    );
    addLifts(lab, b, challenges.beta, lifts, constants);
    folding.addBlocks(rows);
  });
  padRuns(folding, seeds.combine, shape.n, paddingOf(shape));
  return { folding, quadratic, b };
}

/** Copies of what the next level needs. */
export function claimOf(
  lab: Labrador,
  number: number,
  level: OrdinaryLevel,
  { first, second }: OrdinaryFields,
  { c, phi, quadratic, b }: Pick<Claim, 'phi' | 'quadratic'> & { c: Forms; b: number },
): Claim {
  return lab.scope(() => {
    const right = lab.coefs(1);
    lab.kernels.formToCoefs(right.at, b);
    return {
      number,
      level,
      c: lab.bytes(c.at, FORM * level.r).slice(),
      phi,
      quadratic,
      b: lab.i64(right).slice(),
      outer: [...first, second],
    };
  });
}
