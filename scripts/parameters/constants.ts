/**
 * What the argument fixes for every row: docs/soundness.md and docs/protocol.md have each number.
 */

/** The modulus, 3 mod 8: Z_q[i] is a field, and X^64 + 1 has two factors of degree 32. */
export const Q = (1n << 44n) - 117n;
export const LOG2_Q = 44;
/** Falcon's modulus, and its bounds of ||s1||^2 + ||s2||^2 */
export const P = 12289n;
export const BETA_SQ = { 512: 34_034_726, 1024: 70_265_242 } as const;
/** Coefficients of a polynomial. */
export const D = 64;

/** Challenges c of a fold: how many coefficients are +-1, +-2, +-3. */
export const FOLD_MAGNITUDES = [28, 12, 2] as const;
/** their squared norm and their 1-norm */
export const TAU = 94;
export const C_L1 = 58;
/** squared operator norm: the test's 376, and one for its rounding */
export const T_SQ = 377;
/** Challenges alpha of level 0, of which no norm is tested. */
export const ALPHA_MAGNITUDES = [30, 13] as const;
export const ALPHA_SQ = 82;
export const ALPHA_L1 = 56;
/** 1-norm of a short challenge: 64 coefficients of at most 4 */
export const SHORT_L1 = 256;

/** Pairs of random rows of the projection, and integers that they make. */
export const PAIRS = 136;
export const JL_VALUES = 2 * PAIRS;
/**
 * The sum of all x^2 is at most this times inSq; a vector gives JL_VALUES times its squared norm on
 * average.
 */
export const ACCEPTED = 288;
/**
 * A sum of squares within the bound leaves room for fewer than this many values |x| beyond
 * sqrt(ACCEPTED/OUTSIDE) B.
 */
export const OUTSIDE = 30;
/** gamma^2: by how much the squared norm of a vector with a short projection may exceed inSq. */
export const GAMMA_SQ = { numerator: 24, denominator: 5 } as const;
/**
 * Sent with the values: the sums U, V of the lower and the upper halves of all polynomials, 32 bits
 * each.
 */
export const SUMS = 2;
export const SUM_BITS = 32;

/** Lifts of level 0, over Z_q: coefficients 1 to 63 are sent. */
export const FIRST_LIFTS = 3;
/** Lifts of the other levels, over Z_q[i]: all coefficients but 0 and 32 are sent. */
export const LIFTS = 2;
/** Functionals mod p, one 32-bit integer each. */
export const FUNCTIONALS = 10;

/** Bits of the largest |x| that z and e of the tail may have: kernels take z as 16-bit integers. */
export const Z_BITS = 15;
export const E_BITS = 20;

/** The classical strength that every commitment has at least: 0.292 times the block size. */
export const TARGET_BITS = 133;
