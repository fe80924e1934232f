/**
 * What a level leaves to the next one (docs/protocol.md, 10.1): the verifier's claims, of which a
 * merger proves those of parts.
 */
import type { OrdinaryLevel } from '../parameters/rows.ts';
import type { Vecs } from '../wasm.ts';
import type { Values } from './ring.ts';

/** A value a_ab that several pairs share. */
export interface QuadraticTerm {
  readonly pairs: readonly number[];
  readonly factor: BigInt64Array;
}

/** An element of S_q, mod q or not. */
export type Pair = readonly [real: bigint, imaginary: bigint];

/** The additional claim that a hidden level leaves to the next one. */
export interface HiddenClaim {
  /** NTT forms of beta_k, as bytes */
  readonly beta: Uint8Array;
  /** p of every message, in their order */
  readonly quarters: readonly Uint8Array[];
  /** D of every lift: the right sides of (T_b) */
  readonly lifts: readonly Pair[];
}

/**
 * The claim of a level: its public values after the last challenge. Polynomials are mod q, centred
 * or not.
 */
export interface Claim {
  readonly number: number;
  readonly level: OrdinaryLevel;
  /** NTT forms of c_a, as bytes */
  readonly c: Uint8Array;
  readonly phi: Values | Vecs;
  /** phi on e of the inner commitments, if these are cut */
  readonly phiE?: Values;
  readonly quadratic: readonly QuadraticTerm[];
  readonly b: BigInt64Array;
  /** u' as sent: u'_A, u'_B, u'_2 or u'_1, u'_2; empty if they are hidden */
  readonly outer: readonly Uint8Array[];
  readonly hidden?: HiddenClaim;
}
