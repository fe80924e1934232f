/**
 * Section 8: an ordinary level after the first; and what the tail shares with it.
 */
import type { Pair } from './challenges.ts';
import type { Checks } from './checks.ts';
import { type Claim, combineClaim, quadraticOf, uncut } from './claim.ts';
import {
  amortisers,
  checkProjectionNorm,
  combineForms,
  combineLifts,
  Folding,
  liftsOf,
  omegas,
  projectionForms,
  type SentProjection,
  SHORT,
  shortOf,
  valuesOfY,
  weigh,
} from './lifts.ts';
import type { OrdinaryMessage, Sent } from './parse.ts';
import type { Seeds } from './replay.ts';
import { add, type Poly, zero } from './ring.ts';
import { forEachPlace, type Layout, type Ordinary } from './shapes.ts';

/** The projection of a level, and the challenges about it. */
export interface Projected {
  readonly level: number;
  readonly y: SentProjection;
  readonly b: Sent;
  readonly seeds: Seeds;
}

export function verifyLevel(
  claim: Claim,
  shape: Ordinary,
  message: OrdinaryMessage,
  seeds: Seeds,
  checks: Readonly<Checks>,
): Claim {
  const { level } = shape;
  checkProjectionNorm(checks, message.y, shape.inSq, `level ${level}`);
  const c = amortisers(seeds.amortise, level, shape.r);
  const folding = new Folding(c, shape.n);
  const projected = { level, y: message.y, b: message.b, seeds };
  const { quadratic, b } = addConstraints(folding, claim, shape, projected, checks);
  return {
    shape,
    c,
    phiZ: folding.result(),
    quadratic,
    b,
    u: [...message.u, message.u2].map((sent) => uncut(sent.values, shape.cut)),
  };
}

/** 10.1: all constraints on the rows as one; φ goes into the folding. */
export function addConstraints(
  folding: Folding,
  claim: Claim,
  layout: Layout,
  projected: Projected,
  checks: Readonly<Checks>,
): { quadratic: Map<number, Poly>; b: Poly } {
  const { level, y, b, seeds } = projected;
  const combined = combineClaim(claim, seeds.combine, checks);
  const omega = omegas(seeds.lift, level);
  const beta = liftsOf(level).map((k) => shortOf(seeds.combine, level, SHORT.lift, k));

  forEachPlace(layout, (row, column, part, place, padding) => {
    const number = row * layout.n + column;
    if (padding) {
      if (!checks.padding) return;
      folding.add(row, column, shortOf(seeds.combine, level, SHORT.padding, number));
      return;
    }
    const phi = combined.parts[part]![place]!;
    folding.add(row, column, add(phi, projectionPhi(projected, number, omega, beta, checks)));
  });

  const known = omega.map((list) => (checks.J ? weigh(list, valuesOfY(y)) : [0n, 0n]));
  return {
    quadratic: quadraticOf(claim.shape, layout, combined.delta),
    b: add(combined.b, combineLifts(b.values, known, beta)),
  };
}

/** 8.4: Σ_k β_k F of one polynomial. */
export function projectionPhi(
  { level, seeds }: Projected,
  polynomial: number,
  omega: readonly (readonly Pair[])[],
  beta: readonly Poly[],
  checks: Readonly<Checks>,
): Poly {
  if (!checks.J) return zero();
  return combineForms(projectionForms(seeds.jl, level, polynomial, omega), beta);
}
