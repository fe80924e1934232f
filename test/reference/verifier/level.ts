/** Section 8: an ordinary level after the first; and what the tail shares with it. */
import { formsOnX, type Scalars, scalarsOf, valuesOfLifts, weightsAtX } from './behind.ts';
import type { Pair } from './challenges.ts';
import type { Checks } from './checks.ts';
import { type Claim, claimOf } from './claim.ts';
import { combineClaim, quadraticOf } from './constraints.ts';
import {
  amortisers,
  betasOf,
  checkProjectionNorm,
  combineForms,
  Folding,
  projectionForms,
  type SentProjection,
  SHORT,
  shortOf,
} from './lifts.ts';
import type { OrdinaryMessage } from './parse.ts';
import type { Seeds } from './replay.ts';
import type { Poly } from './ring.ts';
import { forEachPlace, type Layout, type Ordinary } from './shapes.ts';

/** The projections of a level. */
export interface Projected {
  readonly y: SentProjection;
  /** behind a hidden level */
  readonly yOfX: SentProjection | undefined;
}

/** The challenges of a level about its projections and lifts. */
export interface Lifting {
  readonly level: number;
  readonly jl: Uint8Array;
  readonly scalars: readonly Scalars[];
  readonly beta: readonly Poly[];
}

/** The constraints of a level as one, without its lifts; φ is in the folding. */
interface Constraints {
  readonly quadratic: Map<number, Poly>;
  readonly b: Poly;
  readonly beta: readonly Poly[];
  /** D of every lift */
  readonly values: readonly Pair[];
  readonly lifting: Lifting;
}

export function verifyLevel(
  claim: Claim,
  shape: Ordinary,
  message: OrdinaryMessage,
  seeds: Seeds,
  checks: Readonly<Checks>,
): Claim {
  const { level, n, r, kappa, inSq, ct } = shape;
  checkNorms(checks, claim.shape, message, inSq, `level ${level}`);
  const c = amortisers(seeds.amortise, level, r);
  const folding = new Folding(c, n + (ct > 0 ? kappa : 0));
  const constraints = addConstraints(folding, claim, shape, message, seeds, checks);
  if (ct > 0 && checks.eInProjection) addExtensions(folding, shape, kappa, constraints.lifting);
  return claimOf(shape, message, { ...constraints, c, phi: folding.result() });
}

/** 11.1: of the projection of all places, and of that of x. */
export function checkNorms(
  checks: Readonly<Checks>,
  before: Ordinary,
  { y, yOfX }: Projected,
  inSq: number,
  where: string,
): void {
  checkProjectionNorm(checks, y, inSq, where);
  if (yOfX !== undefined) checkProjectionNorm(checks, yOfX, before.X, where, 'normOfX');
}

/** 10.1: all constraints on the rows as one; φ on the n columns of s goes into the folding. */
export function addConstraints(
  folding: Folding,
  claim: Claim,
  layout: Layout & { readonly level: number; readonly w?: number },
  { y, yOfX }: Projected,
  seeds: Seeds,
  checks: Readonly<Checks>,
): Constraints {
  const { level } = layout;
  const combined = combineClaim(claim, seeds.combine, checks);
  const before = claim.hidden && claim.shape;
  const scalars = scalarsOf(seeds.lift, level, before, checks);
  const beta = betasOf(seeds.combine, level, (layout.w ?? 0) > 0, checks);
  const lifting = { level, jl: seeds.jl, scalars, beta };
  const onX = before ? formsOnX(before, scalars, beta) : [];
  const partOfV = layout.lengths.length - 1;

  forEachPlace(layout, (row, column, part, place, padding) => {
    const number = row * layout.n + column;
    if (padding) {
      if (!checks.padding) return;
      folding.add(row, column, shortOf(seeds.combine, level, SHORT.padding, number));
      return;
    }
    const isX = part === partOfV && place < onX.length;
    folding.add(row, column, combined.parts[part]![place]!);
    folding.add(row, column, projectionPhi(lifting, number, isX));
    if (isX) folding.add(row, column, onX[place]!);
  });

  return {
    quadratic: quadraticOf(claim.shape, layout, combined.delta),
    b: combined.b,
    beta,
    values: valuesOfLifts(scalars, y, yOfX, claim.hidden, checks),
    lifting,
  };
}

/** 8.4, 8.5: Σ_k β_k Σ_j ω_j σ(π_j[POLY]); at places of x with ω_j + ω^x_j. */
export function projectionPhi(
  { level, jl, scalars, beta }: Lifting,
  polynomial: number,
  isX: boolean,
): Poly {
  const weights = scalars.map((ofLift) => (isX ? weightsAtX(ofLift) : ofLift.ofP));
  return combineForms(projectionForms(jl, level, polynomial, weights), beta);
}

/** 8.3, 9.3: φ on e_a, a row that no constraint but the projection touches. */
export function addExtensions(
  folding: Folding,
  { n, r }: Layout,
  kappa: number,
  lifting: Lifting,
): void {
  for (let a = 0; a < r; a++) {
    for (let i = 0; i < kappa; i++) {
      folding.add(a, n + i, projectionPhi(lifting, r * n + a * kappa + i, false));
    }
  }
}
