/**
 * An ordinary level after the first, and the rows of the tail (docs/protocol.md, 8 and 9.3): all
 * constraints combined into one, folded over the rows.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { FORM_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import { prepareOmega } from '../challenges.ts';
import { type Columns, placesOfRows, placesWithin } from '../columns.ts';
import type { OrdinaryFields } from '../fields.ts';
import { zeroForms } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { projectionOf } from '../projection.ts';
import { type Blocks, blocksOf, valuesOf } from '../ring.ts';
import { paddingOf } from '../shapes.ts';
import { Folding } from './folding.ts';
import { type OpenSeeds, openSeeds } from './openSeeds.ts';
import type { ParsedOrdinary } from './parse.ts';
import { reduceCarry } from './reduceCarry.ts';
import type { Claim, FoldedKeys, QuadraticTerm } from './reduceConstraints.ts';
import { liftedProjection, reduceLifts, reducePadding } from './reduceLifts.ts';
import type { LevelSeeds } from './replay.ts';

/** phi_z, a_ab and b of a level. Lives as long as the scope in which it is made. */
export interface Reduced {
  readonly folding: Folding;
  readonly quadratic: readonly QuadraticTerm[];
  /** the address of a form */
  readonly b: number;
}

/** The fields of any level, the tail included, that its projection and lifts need. */
export type Projected = Pick<OrdinaryFields, 'b'> & { readonly y: Int32Array };

/** The projection of a level in some columns. */
export interface RowsFold {
  readonly number: number;
  readonly shape: Shape;
  readonly columns: Columns;
  readonly seeds: LevelSeeds;
}

/** phi_z of the projection's part of the lifts (8.4), in these columns. */
export function foldRows(lab: Labrador, fold: RowsFold): Blocks {
  const { number, shape, columns } = fold;
  return lab.scope(() => {
    const open = openSeeds(lab, fold.seeds, number, shape.r);
    const width = columns.to - columns.from;
    const folding = new Folding(lab, open, width);
    prepareOmega(lab, open.lift);
    const staging = lab.vecs(liftsOf(number).count, width);
    for (const { row, number, count } of placesWithin(placesOfRows(shape), columns)) {
      folding.addProjection(staging, open.jl, row, number, count);
    }
    return blocksOf(lab, folding.sum);
  });
}

/** The claim of an ordinary level, from the claim of the level before. */
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
    const open = openSeeds(lab, seeds, number, level.r);
    const { folding, quadratic, b } = reduceRows(lab, level, before, keys, rows, fields, open);
    const phi = lab.coefs(level.n);
    lab.kernels.vecToCoefs(phi.at, folding.sum.at, 0, level.n);
    const { c } = folding;
    return claimOf(lab, number, level, fields, { c, phi: valuesOf(lab, phi), quadratic, b });
  });
}

/** The constraints that the claim leaves, the lifts and the padding, on rows of `shape`. */
export function reduceRows(
  lab: Labrador,
  shape: Shape,
  claim: Claim,
  keys: FoldedKeys,
  rows: Blocks,
  { y, b: lifts }: Projected,
  seeds: OpenSeeds,
): Reduced {
  const folding = new Folding(lab, seeds, shape.n);
  const b = zeroForms(lab, 1).at;
  const quadratic = reduceCarry(folding, shape, claim, keys, seeds.combine, b);
  lab.scope(() => {
    const omega = prepareOmega(lab, seeds.lift);
    const known = liftedProjection(lab, omega, seeds.beta.count, projectionOf(y));
    reduceLifts(lab, b, seeds.beta, seeds.lift.level, lifts, known);
    folding.addBlocks(rows);
  });
  reducePadding(folding, seeds.combine, shape.n, paddingOf(shape));
  return { folding, quadratic, b };
}

/** The claim of a level: copies of all that the next level needs. */
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
      c: lab.bytes(c.at, FORM_BYTES * level.r).slice(),
      phi,
      quadratic,
      b: lab.i64(right).slice(),
      outer: [...first, second],
    };
  });
}
