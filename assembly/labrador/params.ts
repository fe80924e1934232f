/** Sizes of the representations of elements of Z[X]/(X^64 + 1). */

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
