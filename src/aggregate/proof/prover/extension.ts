/**
 * Cut inner commitments of an ordinary level: the cut-off bits are additional columns of the rows,
 * after the others. They are few, and the transcript's thread processes them.
 */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import { type Coefs, type Forms, type Labrador, SMALL_BYTES, type Vecs } from '../../wasm.ts';
import type { Seed } from '../challenges.ts';
import type { Placed } from '../columns.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import { type Values, valuesOf } from '../ring.ts';
import { combineForms } from './combine.ts';
import { collapse, coveredBy } from './project.ts';
import { scalarsOfPart } from './scalars.ts';
import { amortised, liftsOfRows, linearGarbage } from './steps.ts';

export interface Extension {
  /** e_a, kappa columns */
  readonly e: Vecs;
  readonly places: readonly Placed[];
  /** F of both lifts on e_a, later phi in the first of them */
  F: readonly Vecs[];
}

/**
 * Cuts t.
 *
 * @param t centred; replaced by t'
 */
export function cutInner(
  lab: Labrador,
  { n, r, kappa, ct }: Pick<OrdinaryLevel, 'n' | 'r' | 'kappa' | 'ct'>,
  t: Coefs,
): Extension {
  const smalls = lab.smalls(r * kappa);
  lab.kernels.cutSigned(t.at, smalls.at, t.at, t.count, ct);
  const e = lab.vecs(r, kappa);
  const places = Array.from({ length: r }, (_, row) => ({
    row,
    column: 0,
    count: kappa,
    at: smalls.at + SMALL_BYTES * row * kappa,
    number: r * n + row * kappa,
    part: 0,
  }));
  for (const { row, at } of places) {
    lab.kernels.widesToVec(lab.row(e, row), 0, at, SMALL_BYTES, kappa);
  }
  return { e, places, F: [] };
}

/** Computes F. @returns the contribution of e_a to the lifts */
export function liftExtension(
  lab: Labrador,
  extension: Extension,
  count: number,
  jl: Seed,
  lift: Seed,
): Values {
  const { e, places } = extension;
  const F = Array.from({ length: count }, () => lab.vecs(e.rows, e.columns));
  const scalars = scalarsOfPart(lab, lift, PROJECTION_LENGTH);
  for (const _ of collapse(lab, F, coveredBy(places), jl, () => scalars));
  extension.F = F;
  return liftsOfRows(lab, F, e);
}

/** Computes phi from F. @param beta for every lift. @returns the contribution of e_a to h */
export function combineExtension(lab: Labrador, { e, F }: Extension, beta: Forms): Values {
  return lab.scope(() => {
    combineForms(lab, F, { ...beta, count: F.length });
    return valuesOf(lab, linearGarbage(lab, F[0]!, e));
  });
}

/** @returns the sums of c_a e_a and of c_a phi_a */
export function amortiseExtension(
  lab: Labrador,
  { e, F }: Extension,
  c: Forms,
): { readonly e: Values; readonly phiE: Values } {
  return lab.scope(() => ({
    e: valuesOf(lab, amortised(lab, c, e)),
    phiE: valuesOf(lab, amortised(lab, c, F[0]!)),
  }));
}
