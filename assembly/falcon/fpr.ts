/**
 * The binary64 contract of signing, and its constants.
 *
 * Every sum, product, quotient and root here is one IEEE-754 binary64 operation, rounded to
 * nearest, ties to even, as WebAssembly prescribes for f64 and f64x2. The *order* of operations is
 * part of the algorithm, since a signature depends on the last bit: all code in this folder keeps
 * the order of the round-3 reference (20211101, `sign_dyn`). Fused multiply-add and reassociation
 * are forbidden. Only the following changes are allowed, because they never change a result:
 * swapping the operands of one addition or multiplication, moving a negation, moving a power of two
 * (no subnormal ever occurs).
 */

import * as R from './real';

/** 1 / 12289. */
export const INVERSE_Q: f64 = 1.0 / 12289.0;
/** ln 2. */
export const LN_2: f64 = 0.69314718055994530941723212146;
/** 1 / ln 2. */
export const INVERSE_LN_2: f64 = 1.442695040888963407359924681;
/** 1 / (2 * 1.8205^2), where 1.8205 is the deviation of the base sampler. */
export const INVERSE_2_SIGMA0_SQ: f64 = 0.150865048875372721532312163019;
/** Maximum deviation supported by the base sampler. */
export const SIGMA_MAX: f64 = 1.8205;

/** 1 / sigma of the parameter set. */
// @ts-ignore: decorator
@inline
export function inverseSigma(logn: i32): u64 {
  return logn == 9
    ? R.bits(0.0060336696681577241031668062510953022)
    : R.bits(0.0059386453095331159950250124336477482);
}

/** Minimum deviation of samplerZ in the parameter set. */
// @ts-ignore: decorator
@inline
export function sigmaMin(logn: i32): u64 {
  return logn == 9
    ? R.bits(1.2778336969128335860256340575729042)
    : R.bits(1.2982803343442918539708792538826807);
}

/** Real part of (aRe + I aIm)(bRe + I bIm), in each lane. */
// @ts-ignore: decorator
@inline
export function productRe(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return R.sub(R.mul(aRe, bRe), R.mul(aIm, bIm));
}

/** Imaginary part of (aRe + I aIm)(bRe + I bIm), in each lane. */
// @ts-ignore: decorator
@inline
export function productIm(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return R.add(R.mul(aRe, bIm), R.mul(aIm, bRe));
}

/** Real part of (aRe + I aIm)(bRe - I bIm), in each lane. */
// @ts-ignore: decorator
@inline
export function adjointProductRe(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return R.add(R.mul(aRe, bRe), R.mul(aIm, bIm));
}

/** Imaginary part of (aRe + I aIm)(bRe - I bIm), in each lane. */
// @ts-ignore: decorator
@inline
export function adjointProductIm(aRe: v128, aIm: v128, bRe: v128, bIm: v128): v128 {
  return R.sub(R.mul(aIm, bRe), R.mul(aRe, bIm));
}
