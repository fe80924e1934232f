/**
 * The fields of a section (docs/protocol.md, 11). The prover fills them, `prover/encode.ts` writes
 * them, and `verifier/parse.ts` reads them.
 */

/**
 * The fields of level 0 or of an ordinary level; byte strings are as the transcript absorbs them.
 * If the level hides its messages, short commitments to their digits replace u' and b; at level 0,
 * coefficients 32 of the lifts follow that of b.
 */
export interface OrdinaryFields {
  readonly retry: number;
  /** u'_A and u'_B at level 0, u'_1 elsewhere: pack_{44-cut} */
  readonly first: readonly Uint8Array[];
  readonly counter: number;
  /** y'_0, y*'_0, ..., y'_135, y*'_135, U, V */
  readonly y: ArrayLike<number>;
  /** the same for x alone, if the previous level hides its messages */
  readonly yOfX?: ArrayLike<number>;
  /** w_0, ..., w_9 at level 0, empty elsewhere */
  readonly w: ArrayLike<number>;
  /** b^(1), b^(2), ... without the known coefficients */
  readonly b: Uint8Array;
  /** u'_2 */
  readonly second: Uint8Array;
}

/** The fields of the tail. */
export interface TailFields {
  readonly retry: number;
  /** t'_0, ..., t'_{r-2}: pack_{44-cut} */
  readonly t: Uint8Array;
  /** g of every pair except the last, 64 centred coefficients each */
  readonly g: ArrayLike<number>;
  readonly sealT: Uint8Array;
  readonly counter: number;
  readonly y: ArrayLike<number>;
  readonly yOfX?: ArrayLike<number>;
  readonly b: Uint8Array;
  /** h of every pair except the first and the last: pack_44 */
  readonly h: Uint8Array;
  readonly sealH: Uint8Array;
  /** n polynomials */
  readonly z: ArrayLike<number>;
  /** kappa polynomials */
  readonly e: ArrayLike<number>;
}
