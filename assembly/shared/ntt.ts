/**
 * The number-theoretic transform mod q = 12289 of Z_q[X]/(X^n + 1), n = 512 or 1024.
 *
 * Representation: i16[n], signed representatives, canonical only after `centrePoly`.
 *
 *   coefficients   natural order
 *   NTT order      bit-reversed, and within each 64 values transposed 8 x 8: position 64g + 8i + v
 *                  holds the value of bit-reversed index 64g + 8v + i. Only `ntt` and `intt` depend
 *                  on this order; everything between works value by value. Names end in `Ntt`.
 *   prepared       32 bytes for every eight values w of NTT order: the eight w, then their
 *                  companions (zq.ts). A product by a prepared polynomial is three instructions per
 *                  eight values; without, seven.
 *
 * Bounds, all proven by scripts/generate/nttPlan.ts (and checked in ntt.test.ts):
 *   ntt    |x| <= 6144 in  -> |x| <= 32604 out
 *   intt   |x| <= 13219 in -> |x| <= 12288 out; products and reduced values satisfy the input bound
 *
 * All functions are straight-line over the data and hence suitable for secrets.
 */
import {
  forward512of1024,
  forward512of512,
  inverse512of1024,
  inverse512of512,
} from './nttPasses.gen';
import {
  FORWARD_FIRST_1024,
  FORWARD_SCALARS_1024_0,
  FORWARD_SCALARS_1024_1,
  FORWARD_SCALARS_512,
  FORWARD_VECTORS_1024_0,
  FORWARD_VECTORS_1024_1,
  FORWARD_VECTORS_512,
  INVERSE_LAST_1024,
  UNTWIST_1024,
} from './nttTables.gen';
import { centre, companion, mulmod, Q_LANES, reduce } from './zq';

/**
 * Forward transform, in place.
 *
 * Spec:   negacyclic NTT, Cooley-Tukey
 * Shape:  a: i16[n] -> a: i16[n]
 * Bounds: |a| <= 6144 -> |a| <= 32604
 * Memory: a
 * Secret: a
 * Proof:  ntt(), logn in {9, 10}
 */
export function ntt(a: usize, logn: i32): void {
  if (logn == 9) {
    forward512of512(a, FORWARD_SCALARS_512, FORWARD_VECTORS_512);
    return;
  }
  const q = v128.load(Q_LANES);
  const w = v128.load16_splat(FORWARD_FIRST_1024);
  const w1 = v128.load16_splat(FORWARD_FIRST_1024, 2);
  for (let p = a, end = a + 1024; p < end; p += 16) {
    const low = v128.load(p);
    const t = mulmod(v128.load(p, 1024), w, w1, q);
    v128.store(p, i16x8.add(low, t));
    v128.store(p, i16x8.sub(low, t), 1024);
  }
  forward512of1024(a, FORWARD_SCALARS_1024_0, FORWARD_VECTORS_1024_0);
  forward512of1024(a + 1024, FORWARD_SCALARS_1024_1, FORWARD_VECTORS_1024_1);
}

/**
 * Inverse transform, in place, scaling included: intt(ntt(a)) = a mod q.
 *
 * Spec:   negacyclic inverse NTT, decimation in time, one product per value for n^-1 and the twist
 * Shape:  a: i16[n] -> a: i16[n]
 * Bounds: |a| <= 13219 -> |a| <= 12288
 * Memory: a
 * Secret: a
 * Proof:  intt(), logn in {9, 10}
 */
export function intt(a: usize, logn: i32): void {
  if (logn == 9) {
    inverse512of512(a);
    return;
  }
  inverse512of1024(a);
  inverse512of1024(a + 1024);
  const q = v128.load(Q_LANES);
  let table = INVERSE_LAST_1024;
  let twist = UNTWIST_1024;
  for (let p = a, end = a + 1024; p < end; p += 16) {
    const low = reduce(v128.load(p), q);
    const t = mulmod(v128.load(p, 1024), v128.load(table), v128.load(table, 16), q);
    v128.store(p, mulmod(i16x8.add(low, t), v128.load(twist), v128.load(twist, 16), q));
    v128.store(p, mulmod(i16x8.sub(low, t), v128.load(twist, 32), v128.load(twist, 48), q), 1024);
    table += 32;
    twist += 64;
  }
}

/**
 * Computes the companions for `pointwisePrepared`.
 *
 * The w stored have |w| <= 12288.
 *
 * Shape:  aNtt: i16[n] -> prepared: i16[2 * n]
 * Bounds: any aNtt
 * Memory: aNtt, prepared (must not overlap)
 * Secret: aNtt
 * Proof:  none: proved with pointwisePrepared
 */
export function preparePoly(prepared: usize, aNtt: usize, logn: i32): void {
  const q = v128.load(Q_LANES);
  for (const end = aNtt + (<usize>2 << logn); aNtt < end; aNtt += 16, prepared += 32) {
    const w = reduce(v128.load(aNtt), q);
    v128.store(prepared, w);
    v128.store(prepared, companion(w), 16);
  }
}

/**
 * a = a * b, value by value, b prepared.
 *
 * Shape:  aNtt: i16[n]; prepared: i16[2 * n] -> aNtt: i16[n]
 * Bounds: any aNtt -> |aNtt| <= 13219
 * Memory: aNtt, prepared
 * Secret: both
 * Proof:  preparedProduct(preparePoly), logn in {9, 10}
 */
export function pointwisePrepared(aNtt: usize, prepared: usize, logn: i32): void {
  const q = v128.load(Q_LANES);
  for (const end = aNtt + (<usize>2 << logn); aNtt < end; aNtt += 16, prepared += 32) {
    v128.store(aNtt, mulmod(v128.load(aNtt), v128.load(prepared), v128.load(prepared, 16), q));
  }
}

/** a * b for any representatives; |result| <= 13219. */
// @ts-ignore: decorator
@inline
function product(a: v128, b: v128, q: v128): v128 {
  const w = reduce(b, q);
  return mulmod(a, w, companion(w), q);
}

/**
 * a = a * b, value by value.
 *
 * Shape:  aNtt, bNtt: i16[n] -> aNtt: i16[n]
 * Bounds: any aNtt, any bNtt -> |aNtt| <= 13219
 * Memory: aNtt, bNtt (may be the same)
 * Secret: both
 * Proof:  product(0), logn in {9, 10}
 */
export function pointwise(aNtt: usize, bNtt: usize, logn: i32): void {
  const q = v128.load(Q_LANES);
  for (const end = aNtt + (<usize>2 << logn); aNtt < end; aNtt += 16, bNtt += 16) {
    v128.store(aNtt, product(v128.load(aNtt), v128.load(bNtt), q));
  }
}

/**
 * a = 1 / a, value by value, as a^(q-2): no secret-dependent branch, and no batch inversion, which
 * a single zero would invalidate.
 *
 * Spec:   Fermat; q - 2 = 12287 = 2^13 + 2^12 - 1, so a^(q-2) = a^(2^13) * a^(2^12 - 1)
 * Shape:  aNtt: i16[n] -> aNtt: i16[n]
 * Bounds: any aNtt -> |aNtt| <= 13219
 * Memory: aNtt
 * Secret: aNtt; the result reveals only whether a value is 0
 * Errors: returns 1 if any value is 0 mod q (it stays 0), otherwise 0
 * Proof:  power12287(), logn in {9, 10}
 */
export function invertPoly(aNtt: usize, logn: i32): i32 {
  const q = v128.load(Q_LANES);
  let zeros = i16x8.splat(0);
  for (const end = aNtt + (<usize>2 << logn); aNtt < end; aNtt += 16) {
    const a = centre(v128.load(aNtt), q);
    zeros = v128.or(zeros, i16x8.eq(a, i16x8.splat(0)));
    // e_k = a^(2^k - 1): e_2k = e_k^(2^k) e_k
    const e2 = product(product(a, a, q), a, q);
    const e3 = product(product(e2, e2, q), a, q);
    const e6 = product(square(e3, 3, q), e3, q);
    const e12 = product(square(e6, 6, q), e6, q);
    // a^(2^13) = (a^(2^12 - 1) * a)^2
    const a12 = product(e12, a, q);
    v128.store(aNtt, product(product(a12, a12, q), e12, q));
  }
  return i32(v128.any_true(zeros));
}

/** a^(2^times) */
// @ts-ignore: decorator
@inline
function square(a: v128, times: i32, q: v128): v128 {
  for (; times > 0; times--) a = product(a, a, q);
  return a;
}

/**
 * Reduces to the representatives in [-6144, 6144].
 *
 * Shape:  a: i16[n] -> a: i16[n]
 * Bounds: any a -> |a| <= 6144
 * Memory: a
 * Secret: a
 * Proof:  sum(1), logn in {9, 10}
 */
export function centrePoly(a: usize, logn: i32): void {
  const q = v128.load(Q_LANES);
  for (const end = a + (<usize>2 << logn); a < end; a += 16) {
    v128.store(a, centre(v128.load(a), q));
  }
}

/**
 * Reduces to the representatives in [0, q).
 *
 * Shape:  a: i16[n] -> a: i16[n]
 * Bounds: any a -> a in [0, q)
 * Memory: a
 * Secret: a
 * Proof:  sum(1), logn in {9, 10}
 */
export function canonicalPoly(a: usize, logn: i32): void {
  const q = v128.load(Q_LANES);
  for (const end = a + (<usize>2 << logn); a < end; a += 16) {
    const c = centre(v128.load(a), q);
    v128.store(a, i16x8.add(c, v128.and(i16x8.shr_s(c, 15), q)));
  }
}
