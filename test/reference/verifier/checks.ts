/**
 * Every check of the verifier by name. All are on; only a test turns one off, to show that the
 * attack which that check stops is accepted without it.
 */

/** checks of bytes and of values that were sent */
const VALUES = {
  /** 11: at most 15 */
  retryRange: true,
  counterRange: true,
  /** 11: u', t' at most floor((q-1) / 2^cut) */
  cutRange: true,
  /** 11: b and h below q */
  residueRange: true,
  /** 11: p of a hidden message below q */
  quarterRange: true,
  /** 11: b_32 below q; its four unused bits are zero */
  b32Range: true,
  b32Fill: true,
  /** 11.2: the coder's states are never below 2^32, and end there */
  states: true,
  /** 11: unused bits are zero */
  fill: true,
  /** 11: g at most (q-1)/2 in magnitude */
  centredG: true,
  /** 11.1: 288 inSq, and 288 X behind a hidden level */
  projectionNorm: true,
  normOfX: true,
  /** 7.3: |p w_j + C_j| <= (q-1)/2 */
  functionalRange: true,
  /** 9.4 */
  sealT: true,
  sealH: true,
  outputNorm: true,
};

/** constraints that enter the combination, and challenges that are drawn and not given */
const CONSTRAINTS = {
  /** 5.4: α from the transcript; off: α = 0, as if the prover could choose it */
  alpha: true,
  /** 7.4: the norms */
  N1: true,
  /** 7.5, (P) of 8.5: the projection is that of the witness */
  J: true,
  /** 8.3, 9.3: e_a is part of the projection; at ordinary levels, and in the tail */
  eInProjection: true,
  eInProjectionOfTail: true,
  /** 7.3: the functionals modulo p */
  F: true,
  /** 7.6: ct(w_i) = 0 */
  L: true,
  /** 7.6: Y = α σ(S) */
  K: true,
  /** 7.6: τ from the transcript; off: τ_t = 1 for all t */
  tau: true,
  /** 7.6: η of every item; off: that of item 0 for all */
  eta: true,
  /** 10.3: padding is zero */
  padding: true,
  /** 10.1 */
  E1: true,
  E2: true,
  E3: true,
  E4: true,
  E5: true,
  E6: true,
  /** 10.1: x of a hidden level in E1, E2 and E6; off: it is left out there */
  xInE1: true,
  xInE2: true,
  xbInE6: true,
  /** 6.4: in E1 and E2 the constant that stands for the low bits of û */
  constantOfU: true,
  /** 10.1: the lifts of a hidden level, F in its φ and x_b in E6; off: β = 0 */
  liftsOfHidden: true,
  /** 10.1: e of cut inner commitments; off: it is left out there */
  eInE3: true,
  eInE5: true,
  /** 9.1, 9.4: g of the tail reads s alone; off: it reads e, too */
  eOutOfG: true,
};

/** 8.5: the equations behind a hidden level; one that is off has neither a left nor a right side */
const HIDDEN = {
  /** (P_x): all of its rows; row 136 alone */
  Px: true,
  Px136: true,
  /** (Q): of all messages; of one kind of message */
  Q: true,
  QA: true,
  QB: true,
  Q1: true,
  Qb: true,
  Q2: true,
  /** (T_b): of all lifts; of one; in both lifts of the level that asks them, not the first alone */
  Tb: true,
  Tb1: true,
  Tb2: true,
  Tb3: true,
  TbTwice: true,
  /** the sums of D; one that is off is zero, as if the right sides of its equations were */
  rightOfPx: true,
  rightOfQ: true,
  rightOfTb: true,
  /** scalars of each kind; off: (P_x), (Q), (T_b) take those of (P), ω_0, ω_1, …, over and over */
  scalarsOfPx: true,
  scalarsOfQ: true,
  scalarsOfTb: true,
  /** scalars of (P) and (P_x) of their own; off: all rows take that of the first */
  scalarsOfProjections: true,
  /** scalars of (Q) of their own; off: all messages, rows, places j take those of the first */
  scalarsOfMessages: true,
  scalarsOfRows: true,
  scalarsOfPlaces: true,
  /** scalars of (T_b) of their own; off: all lifts take that of the first */
  scalarsOfLifts: true,
};

export type Checks = Record<
  keyof typeof VALUES | keyof typeof CONSTRAINTS | keyof typeof HIDDEN,
  boolean
>;
export const ALL_CHECKS: Readonly<Checks> = Object.freeze({ ...VALUES, ...CONSTRAINTS, ...HIDDEN });

/** The proof is refused; the message says by which check. */
export class Refused extends Error {}

/** @throws Refused if the check is on and does not hold */
export function require(
  checks: Readonly<Checks>,
  name: keyof Checks,
  holds: boolean,
  where: string,
): void {
  if (checks[name] && !holds) throw new Refused(`${name}: ${where}`);
}
