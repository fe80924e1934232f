/**
 * Results of every export: 0 is success, a positive number is a length or a count, a negative one
 * the cause of a failure.
 */
export const OK: i32 = 0;
/** The public key does not start with 0x00 + logn. */
export const E_PK_HEADER: i32 = -1;
/** A public-key coefficient is not below q. */
export const E_PK_RANGE: i32 = -2;
/** The signature's first byte is not a header of its parameter set. */
export const E_SIG_HEADER: i32 = -3;
/** The signature is shorter or longer than its form allows. */
export const E_SIG_LENGTH: i32 = -4;
/** Not the canonical encoding: minus zero, a high part out of range, non-zero padding. */
export const E_SIG_ENCODING: i32 = -5;
/** Well-formed, but (s1, s2) is too long: not a signature of this message under this key. */
export const E_SIG_NORM: i32 = -6;
/** The secret key does not start with 0x50 + logn. */
export const E_SK_HEADER: i32 = -7;
/** A secret-key coefficient has the forbidden value -2^(bits-1). */
export const E_SK_RANGE: i32 = -8;
/** f is not invertible mod q, or G does not fit its range. */
export const E_SK_INVALID: i32 = -9;
/** An internal check failed (a fault, not invalid input). */
export const E_INTERNAL: i32 = -10;
