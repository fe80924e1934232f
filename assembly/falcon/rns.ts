/**
 * Arithmetic modulo the 31-bit primes p_0 > p_1 > .. of key generation, on one value and on four,
 * and their tables.
 *
 * Values are u32 in [0, p). Multiplication is Montgomery's with R = 2^32: mulMont(a, b) = a b / R.
 * A polynomial in NTT form is in bit-reversed order, so that f(w) and f(-w) are neighbours.
 *
 * Tables (public, made once by `initRns`; one row per prime unless said otherwise):
 *
 *   P0I   -1/p mod 2^32
 *   R2    2^64 mod p         (Montgomery form of R)
 *   T31   2^63 mod p         (Montgomery form of 2^31)
 *   ROOTS for prime u, at u32 offset ROOT_AT[u], of the largest degree N_u the prime is used at:
 *         | w^rev(0) .. w^rev(N_u - 1) | the same of 1/w |     (Montgomery form, w of order 2 N_u)
 *
 * The first n entries are right for every smaller degree n. N_u falls with u, because deeper levels
 * of the solver use more primes on fewer coefficients: 38.1 kB in all.
 */
import { evens, odds } from '../shared/lanes';
import { PRIME, PRIME_COUNT, PRIME_ROOT } from './keygenTables.gen';

export const P0I: usize = memory.data(308 * 4, 64);
export const R2: usize = memory.data(308 * 4, 64);
export const T31: usize = memory.data(308 * 4, 64);
const ROOT_AT: usize = memory.data(308 * 4, 64);
const ROOT_LOGN: usize = memory.data(308, 64);
/** 2 (2*1024 + 3*256 + 2*128 + 5*64 + 9*32 + 19*16 + 38*8 + 79*4 + 151*2) words. */
const ROOTS: usize = memory.data(9812 * 4, 64);

/** Words of the unreduced F, G at each depth: the number of primes used there. */
export const LARGE: usize = memory.data<u16>([1, 2, 5, 7, 12, 21, 40, 78, 157, 308], 4);

let ready: bool = false;

// ---- one value ----------------------------------------------------------------------------------

/** a b / 2^32 mod p, in [0, p), for a b < 2^32 p. */
// @ts-ignore: decorator
@inline
export function mulMont(a: u32, b: u32, p: u32, p0i: u32): u32 {
  const z = <u64>a * <u64>b;
  const w = <u32>z * p0i;
  const d = <u32>((z + <u64>w * <u64>p) >> 32);
  const e = d - p;
  return e + (p & (0 - (<u32>e >> 31)));
}

/** -1/p mod 2^32 for odd p: five Newton steps, each doubling the number of correct bits. */
export function negInverse(p: u32): u32 {
  let y: u32 = 2 - p;
  y *= 2 - p * y;
  y *= 2 - p * y;
  y *= 2 - p * y;
  y *= 2 - p * y;
  return 0 - y;
}

/** base^e, base and result in Montgomery form; e is public. */
export function powMont(base: u32, e: u32, one: u32, p: u32, p0i: u32): u32 {
  let result = one;
  while (e) {
    if (e & 1) result = mulMont(result, base, p, p0i);
    base = mulMont(base, base, p, p0i);
    e >>= 1;
  }
  return result;
}

// @ts-ignore: decorator
@inline
export function primeAt(u: i32): u32 {
  return load<u32>(PRIME + (<usize>u << 2));
}

/** Roots of prime u for the forward NTT. */
// @ts-ignore: decorator
@inline
export function rootsOf(u: i32): usize {
  return ROOTS + (<usize>load<u32>(ROOT_AT + (<usize>u << 2)) << 2);
}

/** Roots of prime u for the inverse NTT. */
// @ts-ignore: decorator
@inline
export function inverseRootsOf(u: i32): usize {
  return rootsOf(u) + (<usize>4 << <usize>load<u8>(ROOT_LOGN + u));
}

/** logn bits of i, reversed. */
function reverse(i: i32, logn: i32): i32 {
  let r = 0;
  for (let k = 0; k < logn; k++) {
    r = (r << 1) | (i & 1);
    i >>= 1;
  }
  return r;
}

/** n entries at out: entry rev(i) is w^i. */
function fillRoots(out: usize, w: u32, logn: i32, one: u32, p: u32, p0i: u32): void {
  let x = one;
  for (let i = 0; i < 1 << logn; i++) {
    store<u32>(out + (<usize>reverse(i, logn) << 2), x);
    x = mulMont(x, w, p, p0i);
  }
}

/**
 * Makes the tables above; further calls have no effect.
 *
 * Memory: P0I, R2, T31, ROOT_AT, ROOT_LOGN, ROOTS
 * Secret: none
 * Proof:  none: has no input
 */
export function initRns(): void {
  if (ready) return;
  let at = 0;
  let depth = 1;
  for (let u = 0; u < PRIME_COUNT; u++) {
    while (u >= <i32>load<u16>(LARGE + (<usize>depth << 1))) depth++;
    // depth 1 needs degree 1024 too: its f and g are computed from the top level
    const logn = depth == 1 ? 10 : 10 - depth;
    const p = primeAt(u);
    const p0i = negInverse(p);
    const one: u32 = <u32>((<u64>1 << 32) % <u64>p);
    const r2: u32 = <u32>((<u64>one << 32) % <u64>p);
    const at4 = <usize>u << 2;
    store<u32>(P0I + at4, p0i);
    store<u32>(R2 + at4, r2);
    store<u32>(T31 + at4, <u32>(((<u64>1 << 63) % <u64>p)));
    store<u32>(ROOT_AT + at4, at);
    store<u8>(ROOT_LOGN + u, logn);
    const g = mulMont(load<u32>(PRIME_ROOT + at4), r2, p, p0i);
    const w = powMont(g, 1 << (10 - logn), one, p, p0i);
    const out = ROOTS + (<usize>at << 2);
    fillRoots(out, w, logn, one, p, p0i);
    const inverse = powMont(w, (2 << logn) - 1, one, p, p0i);
    fillRoots(out + (<usize>4 << logn), inverse, logn, one, p, p0i);
    at += 2 << logn;
  }
  ready = true;
}

/** 2^(32 e) / n mod prime u for e = 1 (one Montgomery factor) or 2 (undoes another), n = 2^logn. */
export function inverseOfN(u: i32, logn: i32, e: i32): u32 {
  const p = primeAt(u);
  let x: u32 = e == 2 ? load<u32>(R2 + (<usize>u << 2)) : <u32>((<u64>1 << 32) % <u64>p);
  for (let i = 0; i < logn; i++) x = (x + (p & (0 - (x & 1)))) >> 1;
  return x;
}

// ---- four values --------------------------------------------------------------------------------

/** Lane-wise mulMont, for a b < 2^32 p. */
// @ts-ignore: decorator
@inline
export function mulMont4(a: v128, b: v128, p: v128, p0i: v128): v128 {
  const zl = i64x2.extmul_low_i32x4_u(a, b);
  const zh = i64x2.extmul_high_i32x4_u(a, b);
  const w = i32x4.mul(evens(zl, zh), p0i);
  const sl = i64x2.add(zl, i64x2.extmul_low_i32x4_u(w, p));
  const sh = i64x2.add(zh, i64x2.extmul_high_i32x4_u(w, p));
  const d = odds(sl, sh);
  return i32x4.min_u(d, i32x4.sub(d, p));
}

/** a + b mod p. */
// @ts-ignore: decorator
@inline
export function add4(a: v128, b: v128, p: v128): v128 {
  const s = i32x4.add(a, b);
  return i32x4.min_u(s, i32x4.sub(s, p));
}

/** a - b mod p. */
// @ts-ignore: decorator
@inline
export function sub4(a: v128, b: v128, p: v128): v128 {
  const d = i32x4.sub(a, b);
  return i32x4.min_u(d, i32x4.add(d, p));
}

/** Signed value in (-p, p) to [0, p). */
// @ts-ignore: decorator
@inline
export function fromSigned4(x: v128, p: v128): v128 {
  return i32x4.add(x, v128.and(i32x4.shr_s(x, 31), p));
}

/** [0, p) to the signed value in (-p/2, p/2]. */
// @ts-ignore: decorator
@inline
export function toSigned4(x: v128, p: v128): v128 {
  const half = i32x4.shr_u(p, 1);
  return i32x4.sub(x, v128.and(i32x4.gt_u(x, half), p));
}
