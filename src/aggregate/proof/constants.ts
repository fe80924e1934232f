/**
 * Constants shared by prover and verifier (docs/protocol.md, 1, 3, 5, 7 and 11), each defined once.
 * Constants that depend on the size of a batch are in the table (../parameters).
 */
import { FALCON_512, FALCON_1024 } from '../../falcon/params.ts';

/** The modulus of Falcon, p in the text. */
export { Q as FALCON_Q } from '../../falcon/params.ts';
/** β² of Falcon: the maximum ‖s1‖² + ‖s2‖² of a signature, by degree. */
export const BETA_SQ = Object.freeze({ 512: FALCON_512.betaSq, 1024: FALCON_1024.betaSq } as const);

/** The modulus of the proof, a prime that is 3 mod 8: 2^44 − 117. */
export const Q = 17_592_186_044_299n;
/** Q as a number: every value mod q is exact in a double. */
export const Q_NUMBER = Number(Q);
/** Bits of a value mod q. */
export const Q_BITS = 44;
/** Coefficients of a polynomial of the proof. */
export const DEGREE = 64;

/** Random pairs of rows of the projection, and all pairs including that of the halves (5.3). */
export const PAIRS = 136;
export const ALL_PAIRS = PAIRS + 1;
/** Maximum squared norm of a projection by signs, as a multiple of inSq; the mean is 272. */
export const PROJECTION_FACTOR = 288;
/** Functionals mod p at level 0 (7.3). */
export const FUNCTIONALS = 10;
/** Balanced digits of w_i, and their bits (7.1). */
export const NORM_DIGITS = 2;
export const NORM_DIGIT_BITS = 13;

/** Maximum number of items in a section, by parameter set: the largest rows of the table. */
export const MAX_SECTION_ITEMS = Object.freeze({ falcon512: 5632, falcon1024: 2944 } as const);
/** Maximum retry byte and maximum counter. */
export const LAST_RETRY = 15;
/** Bytes of a seal. */
export const SEAL_BYTES = 32;
/** The error terms of one section, or of two, sum to at most 2^-128 (docs/soundness.md, 3.7). */
export const CLAIMED_BITS = 128;
/**
 * The same of a number of sections and of merged proofs, whose errors add up: those of one are at
 * most 2^-130, and 2^-126.7 (docs/merged.md, 4).
 */
export const claimedBitsOf = (sections: number, merged = 0): number =>
  Math.min(CLAIMED_BITS, Math.floor(-Math.log2(sections * 2 ** -130 + merged * 2 ** -126.7)));
