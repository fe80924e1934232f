/**
 * The fields of a section (docs/protocol.md, 11). The prover fills them, `prover/encode.ts` writes
 * them, and `verifier/parse.ts` reads them.
 */

/** The projections of the input of a level; at the merged level, of the output of one part. */
export interface PartProjection {
  /** y'_0, y*'_0, ..., y'_135, y*'_135, U, V */
  readonly y: ArrayLike<number>;
  /** the same for x alone, if the previous level hides its messages */
  readonly yOfX?: ArrayLike<number>;
}

export interface ProjectionFields extends PartProjection {
  /** those of parts 2, 3, ... (docs/merged.md, 1.3) */
  readonly others: readonly PartProjection[];
}

/** The projections of a level, in the order of the parts. */
export const projectionsOf = <T extends PartProjection>(
  fields: T & { readonly others: readonly PartProjection[] },
): readonly Pick<T, 'y' | 'yOfX'>[] =>
  [fields, ...fields.others] as readonly Pick<T, 'y' | 'yOfX'>[];

/**
 * The fields of level 0 or of an ordinary level; byte strings are as the transcript absorbs them.
 * If the level hides its messages, short commitments to their digits replace u' and b; at level 0,
 * coefficients 32 of the lifts follow that of b.
 */
export interface OrdinaryFields extends ProjectionFields {
  readonly retry: number;
  /** u'_A and u'_B at level 0, u'_1 elsewhere: pack_{44-cut} */
  readonly first: readonly Uint8Array[];
  readonly counter: number;
  /** w_0, ..., w_9 at level 0, empty elsewhere */
  readonly w: ArrayLike<number>;
  /** b^(1), b^(2), ... without the known coefficients */
  readonly b: Uint8Array;
  /** u'_2 */
  readonly second: Uint8Array;
}

/** The fields of the tail. */
export interface TailFields extends ProjectionFields {
  readonly retry: number;
  /** t'_0, ..., t'_{r-2}: pack_{44-cut} */
  readonly t: Uint8Array;
  /** g of every pair except the last, 64 centred coefficients each */
  readonly g: ArrayLike<number>;
  readonly sealT: Uint8Array;
  readonly counter: number;
  readonly b: Uint8Array;
  /** h of every pair except the first and the last: pack_44 */
  readonly h: Uint8Array;
  readonly sealH: Uint8Array;
  /** n polynomials */
  readonly z: ArrayLike<number>;
  /** kappa polynomials */
  readonly e: ArrayLike<number>;
}
