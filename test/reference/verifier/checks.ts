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
  /** 11.2: the coder's states are never below 2^32, and end there */
  states: true,
  /** 11: unused bits are zero */
  fill: true,
  /** 11: g at most (q-1)/2 in magnitude */
  centredG: true,
  /** 11.1 */
  projectionNorm: true,
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
  /** 7.5, 8.3: the projection is that of the witness */
  J: true,
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
};

export type Checks = Record<keyof typeof VALUES | keyof typeof CONSTRAINTS, boolean>;
export const ALL_CHECKS: Readonly<Checks> = Object.freeze({ ...VALUES, ...CONSTRAINTS });

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
