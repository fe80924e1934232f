/** The ring Z[X]/(X^64 + 1), the modulus of the proof, and the sizes of the representations. */

/** The modulus q = 2^44 - 539, a prime = 5 mod 8. */
export const Q: i64 = 17592186043877;
/** (q - 1) / 2: centred values are in [-HALF_Q, HALF_Q]. */
export const HALF_Q: i64 = 8796093021938;
/** 2^44 mod q. */
export const EXCESS: i64 = 539;
/** 2^44 - 1 */
export const MASK_44: i64 = 17592186044415;
/** Primes of NTT form. */
export const PRIME_COUNT: i32 = 6;

/** Bytes of a small polynomial, i16[64]. */
export const SMALL: usize = 128;
/** Bytes of a polynomial mod q, i64[64], centred. */
export const COEFS: usize = 512;
/** Bytes of a polynomial in NTT form, i16[6][64]. */
export const FORM: usize = 768;
/** Bytes of the sums of products, i32[6][64]. */
export const SUMS: usize = 1536;
/** Bytes of 32 columns of a vector in NTT form, see polyVec.ts. */
export const BLOCK: usize = 24576;
