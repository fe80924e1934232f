/**
 * binary64 on integers: the operations of real.ts without floating-point instructions, branches,
 * divisions, or addresses that depend on an operand. z3 decides what is claimed below, on the bytes
 * of the module (`npm run prove -- --reals`, docs/assurance.md).
 *
 * A pattern has a sign, an exponent field e of 11 bits and a fraction F of 52. With e > 0 it means
 * m 2^(e - 1075), where m = 2^52 + F is the mantissa, in [2^52, 2^53); with e = F = 0 a zero.
 *
 * Range: operands and results are zeros or have magnitudes in [2^-900, 2^900]; no subnormals,
 * infinities or NaN. All results of key generation lie in [2^-600, 2^600], those of expanding and
 * signing in [2^-540, 2^40] (measured over 1000 keys of each set; a test repeats it). Anything else
 * gives some pattern and no trap: see `isOutOfRange` in samplerZ.ts for trees that were tampered
 * with.
 *
 * Rounding. Let x > 0 be a real, q = 2^k with k >= 2, and g an integer such that x = g, or g is odd
 * and |x - g| < 1. Then x and g round to the same multiple of q, to nearest, ties to even: in the
 * second case both lie between two neighbouring even numbers, and all multiples of q and the
 * points half way between them are even. So it suffices to shift right and to or what is lost into
 * the lowest bit (`sticky`). To round g itself: (g + q/2 - 1 + b) >> k, where b is bit k of g. If
 * the rounded mantissa is 2^53, adding it to the exponent field, where 2^52 counts 1, yields the
 * next power of two without a further case.
 */
/** Constants: V8 loads them faster than it makes those of `v128.const`. */
const K: usize = isDefined(REAL_ON_INTEGERS)
  ? memory.data<u64>([
      0x8000000000000000, // 0: the sign
      0x7ff0000000000000, // 8: the exponent
      0x3ff0000000000000, // 16: the exponent of 1
      0x2000000000000000, // 24: 2^61
      0x00000000000000ff, // 32
      0x40000000000001ff, // 40: 2^62 + 2^9 - 1
      0x0000000000000001, // 48
      0x000000000000003f, // 56
    ], 16)
  : 0;
const SIGN: usize = K;
const EXPONENT: usize = K + 8;
const ONE_EXPONENT: usize = K + 16;
const BIT_61: usize = K + 24;
const BITS_8: usize = K + 32;
const BIT_62_BITS_9: usize = K + 40;
const UNIT: usize = K + 48;
const BITS_6: usize = K + 56;

// @ts-ignore: decorator
@inline
function k(constant: usize): v128 {
  return v128.load64_splat(constant);
}

// @ts-ignore: decorator
@inline
function low(a: v128): u64 {
  return <u64>i64x2.extract_lane(a, 0);
}

// @ts-ignore: decorator
@inline
function high(a: v128): u64 {
  return <u64>i64x2.extract_lane(a, 1);
}

// @ts-ignore: decorator
@inline
function pair(a: u64, b: u64): v128 {
  return i64x2.replace_lane(i64x2.splat(<i64>a), 1, <i64>b);
}

/** The exponent field. */
// @ts-ignore: decorator
@inline
function field(a: u64): u64 {
  return (a >>> 52) & 0x7ff;
}

/** The 53 bits of the mantissa. */
// @ts-ignore: decorator
@inline
function mantissa(a: u64): u64 {
  return (a & 0x000fffffffffffff) | 0x0010000000000000;
}

/** The mantissas of two reals, times 2^(11 - right). */
// @ts-ignore: decorator
@inline
function mantissas(a: v128, right: i32): v128 {
  return i64x2.shr_u(v128.or(i64x2.shl(a, 11), k(SIGN)), right);
}

// @ts-ignore: decorator
@inline
export function neg(a: v128): v128 {
  return v128.xor(a, k(SIGN));
}

// @ts-ignore: decorator
@inline
export function abs(a: v128): v128 {
  return v128.andnot(a, k(SIGN));
}

/**
 * a b
 *
 * 2^10 m_a = a1 2^32 + a0 and 2^10 m_b likewise, with a1, b1 in [2^30, 2^31), a0, b0 below 2^32,
 * multiples of 2^10. With
 *
 *   c = a1 b0 + a0 b1 + floor(a0 b0 / 2^32) < 2^64,    h = a1 b1 + floor(c / 2^32):
 *
 * 2^20 m_a m_b = 2^64 h + 2^32 (c mod 2^32) + (a0 b0 mod 2^32), so h = floor(m_a m_b / 2^44), in
 * [2^60, 2^62), and nothing is lost if and only if both residues are 0. If h >= 2^61, g is h,
 * sticky; else 2h, sticky: the remaining bit of the product counts as lost, and 2h is even. So g is
 * as the head of this file demands for x = m_a m_b / 2^44, or twice that, in [2^61, 2^62); k = 9.
 * The exponent field is e_a + e_b - 1023, one less in the second case, plus the 1 or 2 that the
 * rounded mantissa adds. A zero operand clears the result but for its sign.
 *
 * Shape:  a, b: two reals each -> two reals
 * Secret: all
 * Proof:  none: no reference yet
 */
export function mul(a: v128, b: v128): v128 {
  const exponent = k(EXPONENT);
  const ma = mantissas(a, 1);
  const mb = mantissas(b, 1);
  const p = v128.shuffle<u32>(ma, ma, 1, 3, 0, 2); // a1 a1 a0 a0
  const q = v128.shuffle<u32>(mb, mb, 1, 3, 0, 2);
  const r = v128.shuffle<u32>(mb, mb, 0, 2, 1, 3);
  const lower = i64x2.extmul_high_i32x4_u(p, q);
  const cross = i64x2.add(i64x2.extmul_low_i32x4_u(p, r), i64x2.extmul_high_i32x4_u(p, r));
  const c = i64x2.add(cross, i64x2.shr_u(lower, 32));
  const h = i64x2.add(i64x2.extmul_low_i32x4_u(p, q), i64x2.shr_u(c, 32));
  const exact = i64x2.eq(i64x2.shl(v128.or(c, lower), 32), i64x2.splat(0));
  const small = i64x2.gt_s(k(BIT_61), h);
  const g = v128.or(i64x2.add(h, v128.and(h, small)), v128.andnot(k(UNIT), exact));
  const odd = v128.and(i64x2.shr_u(g, 9), k(UNIT));
  const rounded = i64x2.shr_u(i64x2.add(i64x2.add(g, k(BITS_8)), odd), 9);
  const ea = v128.and(a, exponent);
  const eb = v128.and(b, exponent);
  const exponents = i64x2.add(i64x2.sub(ea, k(ONE_EXPONENT)), eb);
  const value = i64x2.add(exponents, i64x2.add(rounded, i64x2.shl(small, 52)));
  const zero = i64x2.eq(i32x4.min_u(ea, eb), i64x2.splat(0));
  return v128.or(v128.andnot(value, zero), v128.and(v128.xor(a, b), k(SIGN)));
}

/** m >>> d, sticky; m < 2^63, d <= 63. */
// @ts-ignore: decorator
@inline
function shiftSticky(m: u64, d: u64): u64 {
  const kept = m >>> d;
  return kept | (((kept << d) - m) >>> 63);
}

/**
 * x + y
 *
 * a is the operand of larger magnitude (patterns without sign are ordered like magnitudes), d =
 * min(e_a - e_b, 63), A = 2^9 m_a, B = 2^9 m_b in [2^61, 2^62), m = B / 2^d, sticky. (B / 2^d < 1
 * for all d >= 62, so limiting d changes nothing.) In units of 2^(e_a - 1084) the sum is +-(A +- B
 * / 2^d).
 *
 * - d <= 9: nothing is lost, since B is a multiple of 2^9: sum = A +- m is exact, and below 2^63.
 * - d >= 2: m <= 2^60, so sum >= 2^60, and its 53rd bit from the top is bit 8 or higher: k >= 8. A
 *   is even, so sum is exact or odd where m is, within 1 of the real: the head of this file
 *   applies.
 * - otherwise (d < 2): exact, so shifting left by any distance is exact.
 *
 * n >= 1 is the number of leading zeros of sum (63 if it is 0), top = sum 2^n in [2^63, 2^64) is
 * even, k = 10 for top / 2; bits shifted in from the right are 0. For sum in [2^61, 2^62), n =
 * 2, the exponent field is e_a: to e_a - n, the rounded mantissa adds 1, and 2^62, rounded with
 * it, another 1.
 *
 * Zeros: a zero is treated as m = 2^52, e = 0. If only y is zero, d = 63 by the range of x, m = 1,
 * and A +- 1 rounds to A: k >= 8 and 1 < 2^7. If both are, e_a = 0 clears the result but for its
 * sign. sum = 0, exact cancellation, gives +0; so do +0 and -0.
 *
 * `clz(0)` may be a branch on some processors, so a bit is set first.
 *
 * Shape:  x, y: two reals each -> two reals
 * Secret: all
 * Proof:  none: no reference yet
 */
export function add(x: v128, y: v128): v128 {
  const sign = k(SIGN);
  const absX = v128.andnot(x, sign);
  const absY = v128.andnot(y, sign);
  const both = v128.xor(x, y);
  const t = v128.and(both, i64x2.gt_s(absY, absX));
  const a = v128.xor(x, t);
  const b = v128.xor(y, t);
  const ex = i64x2.shr_u(absX, 52);
  const ey = i64x2.shr_u(absY, 52);
  const ea = i32x4.max_u(ex, ey);
  const d = i32x4.min_u(i32x4.sub(ea, i32x4.min_u(ex, ey)), k(BITS_6));
  const mb = mantissas(b, 2);
  const m = pair(shiftSticky(low(mb), low(d)), shiftSticky(high(mb), high(d)));
  const s = i64x2.gt_s(i64x2.splat(0), both);
  const sum = i64x2.add(i64x2.sub(mantissas(a, 2), s), v128.xor(m, s));
  const s0 = low(sum);
  const s1 = high(sum);
  const n0 = clz(s0 | 1);
  const n1 = clz(s1 | 1);
  const top = pair(s0 << n0, s1 << n1);
  const odd = v128.and(i64x2.shr_u(top, 11), k(UNIT));
  const half = i64x2.add(i64x2.shr_u(top, 1), k(BIT_62_BITS_9));
  const rounded = i64x2.shr_u(i64x2.add(half, odd), 10);
  const value = i64x2.add(i64x2.shl(i64x2.sub(ea, pair(n0, n1)), 52), rounded);
  const result = v128.or(
    v128.andnot(value, i64x2.eq(ea, i64x2.splat(0))),
    v128.and(a, sign),
  );
  return v128.andnot(result, i64x2.eq(sum, i64x2.splat(0)));
}

/** a times 2^E, given that power: E is added to the exponent field, unless a is 0. */
// @ts-ignore: decorator
@inline
export function scale(a: v128, power: v128): v128 {
  const zero = i64x2.eq(v128.and(a, k(EXPONENT)), i64x2.splat(0));
  return i64x2.add(a, v128.andnot(i64x2.sub(power, k(ONE_EXPONENT)), zero));
}

/**
 * 1 / a, a != 0
 *
 * With m in [2^52, 2^53) the mantissa is Q / 2, rounded, where Q = 2^106 / m in (2^53, 2^54]. It is
 * computed from f = floor(Q) as floor((f + 1) / 2): a tie would need an odd Q, hence m = 2^52, but
 * then Q is even.
 *
 * d = floor(m / 2^21), in [2^31, 2^32). Let eps = 1 - d x / 2^63, the relative error of x as 2^63 /
 * d.
 *
 * 1. x = 48/17 2^31 - 16/17 d, within 1.5: |eps| < 1/17 + 2^-30.
 * 2. A step: e = 2^32 eps + u, x' = x + x e / 2^32 - v, with u, v in [0, 1) from rounding down; so
 *    eps' = eps^2 - (1 - eps) u / 2^32 + d v / 2^63, |eps'| <= eps^2 + 2^-31 (as |eps| < 1). Three
 *    steps give |eps| < 0.00347, < 0.0000121, < 2^-30.
 * 3. Let eta = 1 - m x / 2^84 = eps - (m / 2^21 - d) x / 2^63, so -2^-29.3 < eta < 2^-30, and t =
 *    2^84 eta, an integer, is what -m x is mod 2^64.
 * 4. f = 2^22 x + (floor(t / 2^26) x >> 36) = 2^22 x (1 + eta) - u x / 2^36 - v, with u, v in [0,
 *    1) and x < 2^32.01. And Q = 2^22 x / (1 - eta) = 2^22 x (1 + eta + eta^2 / (1 - eta)).
 *    Therefore 0 <= Q - f < 2^54.01 eta^2 / (1 - eta) + 2^-3.9 + 1 < 1.12.
 * 5. So f is floor(Q) or one less, in which case rest = 2^106 - m f, 0 <= rest < 2^54, is at least
 *    m.
 *
 * Products stay below 2^64 (d x = 2^63 (1 - eps)), signed ones below 2^62 (x e, (t / 2^26) x).
 *
 * Shape:  the pattern of a -> that of 1 / a; exponent field: 2044 - e, plus the 1 or 2 of the
 *         mantissa
 * Secret: all
 * Proof:  none: no reference yet
 */
export function inverse1(a: u64): u64 {
  const m = mantissa(a);
  const d = m >>> 21;
  let x: u64 = 6063483241 - ((d * 4042322161) >>> 32);
  for (let i = 0; i < 3; i++) {
    const e = <i64>(0x100000000 - ((d * x) >>> 31));
    x += <u64>((<i64>x * e) >> 32);
  }
  const t = -<i64>(m * x);
  let f = (x << 22) + <u64>(((t >> 26) * <i64>x) >> 36);
  const rest = -<i64>(m * f);
  f -= <u64>((<i64>m - 1 - rest) >> 63);
  return ((2044 - field(a)) << 52) + ((f + 1) >>> 1) + (a & 0x8000000000000000);
}

export function inverse(a: v128): v128 {
  return pair(inverse1(low(a)), inverse1(high(a)));
}

/**
 * The root of a > 0, digit by digit; of a negative a, minus that of -a, so that a leaf of a damaged
 * tree is out of range.
 *
 * a = 4^E X / 2^59, with X = 2^7 m, or 2^8 m if e is even, in [2^59, 2^61), and E = ((e + 1021) >>
 * 1) - 1022. After i rounds, bit = 2^(59-i), root is a multiple of it, in [2^59, 2^60),
 *
 *   root^2 <= 2^59 X < (root + bit)^2,    rest = 2^i (X - root^2 / 2^59) >= 0.
 *
 * With half that bit, b, (root + b)^2 <= 2^59 X if and only if 2 root + b <= 2 rest, which the next
 * round compares; then rest' = 2 rest - (2 root + b). All are below 2^62. After 53 rounds root /
 * 2^6 is the root's first 54 bits, which are rounded to 53. Ties are
 * impossible: if root were exact and K = root / 2^6 odd, K^2 = 2^47 X would be even.
 *
 * Shape:  a: two reals -> two reals
 * Secret: all
 * Proof:  none: no reference yet
 */
export function sqrt(a: v128): v128 {
  const e = i64x2.shr_u(v128.and(a, k(EXPONENT)), 52);
  const isEven = i64x2.sub(v128.and(e, k(UNIT)), k(UNIT));
  const m = mantissas(a, 4);
  let bit = i64x2.splat(1 << 59);
  let root = bit;
  let rest = i64x2.sub(i64x2.add(m, v128.and(m, isEven)), bit);
  for (let i = 0; i < 53; i++) {
    bit = i64x2.shr_u(bit, 1);
    const t = i64x2.add(i64x2.add(root, root), bit);
    rest = i64x2.add(rest, rest);
    const isLess = i64x2.gt_s(t, rest);
    rest = i64x2.sub(rest, v128.andnot(t, isLess));
    root = i64x2.add(root, v128.andnot(bit, isLess));
  }
  const rounded = i64x2.shr_u(i64x2.add(i64x2.shr_u(root, 6), k(UNIT)), 1);
  const exponent = i64x2.shl(i64x2.shr_u(i64x2.add(e, i64x2.splat(1021)), 1), 52);
  return v128.or(i64x2.add(exponent, rounded), v128.and(a, k(SIGN)));
}

/** The pattern of an integer, |x| < 2^53: shifted so that its first bit is bit 63, then 52. */
// @ts-ignore: decorator
@inline
function ofInteger(x: i64): u64 {
  const s = x >> 63;
  const m = <u64>((x ^ s) - s);
  const n = clz(m | 1);
  const value = ((1085 - n) << 52) + ((m << n) >>> 11);
  return (value & ~<u64>(<i64>(m - 1) >> 63)) | (<u64>s & 0x8000000000000000);
}

/** Two i32, in the lower lanes. */
export function fromI32(x: v128): v128 {
  return pair(ofInteger(<i64>i32x4.extract_lane(x, 0)), ofInteger(<i64>i32x4.extract_lane(x, 1)));
}

/** min(d, 63) for 0 <= d < 2^63. */
// @ts-ignore: decorator
@inline
function atMost63(d: u64): u64 {
  return (d | <u64>(<i64>(63 - d) >> 63)) & 63;
}

/**
 * |a| rounded to the nearest integer, ties to even, for |a| < 2^52: m / 2^d with 1 <= d. From d =
 * 54 on, and with d limited to 63, m + 2^(d-1) - 1 < 2^d: the result is 0.
 */
// @ts-ignore: decorator
@inline
function nearestMagnitude(a: u64): u64 {
  const m = mantissa(a);
  const d = atMost63(1075 - field(a));
  return (m + ((<u64>1 << d) >>> 1) - 1 + ((m >>> d) & 1)) >>> d;
}

/** The same with its sign, saturated to 32 bits; any a. */
// @ts-ignore: decorator
@inline
function saturated(a: u64): i64 {
  const r = <i64>nearestMagnitude(a);
  const s = <i64>a >> 63;
  const isOver = (<i64>(1053 - field(a)) | (0x7fffffff - r)) >> 63;
  const x = (r & ~isOver) | ((0x7fffffff - s) & isOver);
  return (x ^ s) - s;
}

/** Two reals, to i32 in the lower lanes. */
export function toI32(a: v128): v128 {
  return i64x2.splat((saturated(high(a)) << 32) | (saturated(low(a)) & 0xffffffff));
}

/** From 2^52 on a is an integer. */
function nearest1(a: u64): u64 {
  const whole = <u64>(<i64>(1074 - field(a)) >> 63);
  const rounded = ofInteger(<i64>nearestMagnitude(a)) | (a & 0x8000000000000000);
  return (a & whole) | (rounded & ~whole);
}

/** Rounded to integers, ties to even. */
export function nearest(a: v128): v128 {
  return pair(nearest1(low(a)), nearest1(high(a)));
}

/** |a| < 2^53 */
// @ts-ignore: decorator
@inline
function trunc1(a: u64): u64 {
  const whole = mantissa(a) >>> atMost63(1075 - field(a));
  return ofInteger(<i64>whole) | (a & 0x8000000000000000);
}

/** Without the fractions, for magnitudes below 2^53. */
export function trunc(a: v128): v128 {
  return pair(trunc1(low(a)), trunc1(high(a)));
}

/** floor(2^32 a), for |a| < 2^31: 2^32 a = 2^10 m / 2^d with 0 <= d, and the shift rounds down. */
// @ts-ignore: decorator
@inline
export function fixed(a: u64): i64 {
  const s = <i64>a >> 63;
  const m = <i64>mantissa(a) << 10;
  const e = field(a);
  const value = ((m ^ s) - s) >> atMost63(1053 - e);
  return value & ~(<i64>(e - 1) >> 63);
}

/** floor(a) + z, as real.ts has it. A sum of 0 is +0, as it is there. */
export function floorPlus(a: v128, z: v128): v128 {
  return pair(
    ofInteger((fixed(low(a)) >> 32) + <i64>i32x4.extract_lane(z, 0)),
    ofInteger((fixed(high(a)) >> 32) + <i64>i32x4.extract_lane(z, 1)),
  );
}

/** 2^55 a = m 2^(e - 1020), saturated like a signed integer. */
export function times55(a: u64): u64 {
  const value = mantissa(a) << (field(a) - 1020);
  return (value | (0 - (value >>> 63))) & 0x7fffffffffffffff;
}

/** Whether the magnitude of a number in memory is 2^64 or more; patterns are in the same order. */
export function exceeds(from: usize, to: usize): bool {
  let found = i64x2.splat(0);
  for (; from < to; from += 16) {
    found = v128.or(found, i64x2.ge_s(abs(v128.load(from)), i64x2.splat(0x43f0000000000000)));
  }
  return v128.any_true(found);
}
