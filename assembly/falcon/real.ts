/**
 * The arithmetic on reals of signing and key generation, and no other file of this folder has any:
 * one IEEE-754 binary64 operation each, rounded to nearest, ties to even.
 *
 * A vector holds two numbers; a single one is passed as its bit pattern. The compiler keeps one of
 * two implementations: instructions of the processor, or realInteger.ts, if it is given
 * `--use REAL_ON_INTEGERS=1`. Both yield the same bits, for operands in the range that is stated
 * there, so that tables and expanded keys of one build serve the other.
 */
import * as integer from './realInteger';

/** The pattern of a constant. */
// @ts-ignore: decorator
@inline
export function bits(x: f64): u64 {
  return reinterpret<u64>(x);
}

/** A constant in both lanes. */
// @ts-ignore: decorator
@inline
export function splat(x: f64): v128 {
  return f64x2.splat(x);
}

/** The pattern of 2^e, for -1022 <= e <= 1023. */
// @ts-ignore: decorator
@inline
export function powerOfTwo(e: i32): u64 {
  return <u64>(1023 + e) << 52;
}

/** The pattern in lane 0. */
// @ts-ignore: decorator
@inline
export function lane0(a: v128): u64 {
  return <u64>i64x2.extract_lane(a, 0);
}

// @ts-ignore: decorator
@inline
export function neg(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.neg(a) : f64x2.neg(a);
}

// @ts-ignore: decorator
@inline
export function abs(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.abs(a) : f64x2.abs(a);
}

// @ts-ignore: decorator
@inline
export function add(a: v128, b: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.add(a, b) : f64x2.add(a, b);
}

// @ts-ignore: decorator
@inline
export function sub(a: v128, b: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.add(a, integer.neg(b)) : f64x2.sub(a, b);
}

// @ts-ignore: decorator
@inline
export function mul(a: v128, b: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.mul(a, b) : f64x2.mul(a, b);
}

/** 1 / a */
// @ts-ignore: decorator
@inline
export function inverse(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.inverse(a) : f64x2.div(f64x2.splat(1), a);
}

/** Of a negative number, a negative number or a NaN. */
// @ts-ignore: decorator
@inline
export function sqrt(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.sqrt(a) : f64x2.sqrt(a);
}

/** a times a power of two. */
// @ts-ignore: decorator
@inline
export function scale(a: v128, power: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.scale(a, power) : f64x2.mul(a, power);
}

/** a < b, a mask; not both are negative. */
// @ts-ignore: decorator
@inline
export function less(a: v128, b: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? i64x2.lt_s(a, b) : f64x2.lt(a, b);
}

/** The smaller one; not both are negative. */
// @ts-ignore: decorator
@inline
export function min(a: v128, b: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? v128.bitselect(a, b, less(a, b)) : f64x2.min(a, b);
}

/** The greater one; not both are negative. */
// @ts-ignore: decorator
@inline
export function max(a: v128, b: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? v128.bitselect(b, a, less(a, b)) : f64x2.max(a, b);
}

/** Towards zero; |a| < 2^53. */
// @ts-ignore: decorator
@inline
export function trunc(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.trunc(a) : f64x2.trunc(a);
}

/** To the nearest integer, ties to even. */
// @ts-ignore: decorator
@inline
export function nearest(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.nearest(a) : f64x2.nearest(a);
}

/** |a| < 2^31; a zero may come out with the other sign. */
// @ts-ignore: decorator
@inline
export function floor(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.floorPlus(a, i32x4.splat(0)) : f64x2.floor(a);
}

/** floor(a) + z, z: i32 in the lower lanes; |a| < 2^31. */
// @ts-ignore: decorator
@inline
export function floorPlus(a: v128, z: v128): v128 {
  return isDefined(REAL_ON_INTEGERS)
    ? integer.floorPlus(a, z)
    : f64x2.add(f64x2.floor(a), f64x2.convert_low_i32x4_s(z));
}

/** The i32 in the lower lanes. */
// @ts-ignore: decorator
@inline
export function fromI32(x: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.fromI32(x) : f64x2.convert_low_i32x4_s(x);
}

/** The nearest integers, ties to even, saturated to i32 in the lower lanes. */
// @ts-ignore: decorator
@inline
export function toI32(a: v128): v128 {
  return isDefined(REAL_ON_INTEGERS)
    ? integer.toI32(a)
    : i32x4.trunc_sat_f64x2_s_zero(f64x2.nearest(a));
}

/** 2^55 a, an integer, for 2^6 <= a <= 2^8; at most 2^63 - 1. */
// @ts-ignore: decorator
@inline
export function times55(a: u64): u64 {
  return isDefined(REAL_ON_INTEGERS)
    ? integer.times55(a)
    : <u64>(<i64>(reinterpret<f64>(a) * 36028797018963968.0));
}

/**
 * Returns whether a number in memory has a magnitude of 2^64 or more, or is none. Signing by
 * numbers below that does not overflow. Doubles that do reach the sampler as infinities or NaN.
 */
// @ts-ignore: decorator
@inline
export function overflows(from: usize, to: usize): bool {
  return isDefined(REAL_ON_INTEGERS) ? integer.exceeds(from, to) : false;
}

// Single numbers

/** a + b */
// @ts-ignore: decorator
@inline
export function add1(a: u64, b: u64): u64 {
  return isDefined(REAL_ON_INTEGERS)
    ? lane0(integer.add(i64x2.splat(a), i64x2.splat(b)))
    : reinterpret<u64>(reinterpret<f64>(a) + reinterpret<f64>(b));
}

/** a - b */
// @ts-ignore: decorator
@inline
export function sub1(a: u64, b: u64): u64 {
  return isDefined(REAL_ON_INTEGERS)
    ? add1(a, b ^ 0x8000000000000000)
    : reinterpret<u64>(reinterpret<f64>(a) - reinterpret<f64>(b));
}

/** a b */
// @ts-ignore: decorator
@inline
export function mul1(a: u64, b: u64): u64 {
  return isDefined(REAL_ON_INTEGERS)
    ? lane0(integer.mul(i64x2.splat(a), i64x2.splat(b)))
    : reinterpret<u64>(reinterpret<f64>(a) * reinterpret<f64>(b));
}

/** 1 / a */
// @ts-ignore: decorator
@inline
export function inverse1(a: u64): u64 {
  return isDefined(REAL_ON_INTEGERS)
    ? integer.inverse1(a)
    : reinterpret<u64>(1.0 / reinterpret<f64>(a));
}

/** a < b; not both are negative. */
// @ts-ignore: decorator
@inline
export function less1(a: u64, b: u64): bool {
  return isDefined(REAL_ON_INTEGERS)
    ? <i64>a < <i64>b
    : reinterpret<f64>(a) < reinterpret<f64>(b);
}

/** a <= b; not both are negative. */
// @ts-ignore: decorator
@inline
export function atMost1(a: u64, b: u64): bool {
  return isDefined(REAL_ON_INTEGERS)
    ? <i64>a <= <i64>b
    : reinterpret<f64>(a) <= reinterpret<f64>(b);
}
