/**
 * The NTT modulo the 31-bit primes of key generation, four values at a time (rns.ts).
 *
 * Forward: decimation in time with the roots in bit-reversed order; a level with butterflies at
 * least four apart works on whole vectors, the last two levels (distances 2 and 1) exchange lanes.
 */
import { evens, highHalves, lowHalves, odds, zipHigh, zipLow } from '../shared/lanes';
import { PRIME } from './keygenTables.gen';
import { P0I, add4, inverseRootsOf, mulMont, mulMont4, primeAt, rootsOf, sub4 } from './rns';

/** Lanes a0 a2 a1 a3. */
// @ts-ignore: decorator
@inline
function middleSwapped(a: v128): v128 {
  return i8x16.shuffle(a, a, 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15);
}

/** a + b mod p. Some engines compile `min` to a branch. */
// @ts-ignore: decorator
@inline
function add(a: u32, b: u32, p: u32): u32 {
  return subtract(a, p - b, p);
}

/** a - b mod p, for b <= p. */
// @ts-ignore: decorator
@inline
function subtract(a: u32, b: u32, p: u32): u32 {
  const d = a - b;
  return d + (p & (0 - (d >>> 31)));
}

function nttSmall(a: usize, logn: i32, roots: usize, p: u32, p0i: u32): void {
  const n = 1 << logn;
  let half = n >> 1;
  for (let m = 1; m < n; m <<= 1) {
    for (let i = 0; i < m; i++) {
      const s = load<u32>(roots + (<usize>(m + i) << 2));
      let x = a + (<usize>(2 * i * half) << 2);
      const end = x + (<usize>half << 2);
      for (; x < end; x += 4) {
        const at = x + (<usize>half << 2);
        const x0 = load<u32>(x);
        const x1 = mulMont(load<u32>(at), s, p, p0i);
        store<u32>(x, add(x0, x1, p));
        store<u32>(at, subtract(x0, x1, p));
      }
    }
    half >>= 1;
  }
}

function inttSmall(a: usize, logn: i32, roots: usize, p: u32, p0i: u32): void {
  const n = 1 << logn;
  let half = 1;
  for (let m = n >> 1; m > 0; m >>= 1) {
    for (let i = 0; i < m; i++) {
      const s = load<u32>(roots + (<usize>(m + i) << 2));
      let x = a + (<usize>(2 * i * half) << 2);
      const end = x + (<usize>half << 2);
      for (; x < end; x += 4) {
        const at = x + (<usize>half << 2);
        const x0 = load<u32>(x);
        const x1 = load<u32>(at);
        store<u32>(x, add(x0, x1, p));
        store<u32>(at, mulMont(subtract(x0, x1, p), s, p, p0i));
      }
    }
    half <<= 1;
  }
}

/** One level of the forward NTT, butterflies `half` >= 4 apart. */
function nttLevel(a: usize, m: i32, half: i32, roots: usize, P: v128, I: v128): void {
  const step = <usize>half << 2;
  roots += <usize>m << 2;
  for (let i = 0; i < m; i++) {
    const s = v128.load32_splat(roots + (<usize>i << 2));
    for (const end = a + step; a < end; a += 16) {
      const x0 = v128.load(a);
      const x1 = mulMont4(v128.load(a + step), s, P, I);
      v128.store(a, add4(x0, x1, P));
      v128.store(a + step, sub4(x0, x1, P));
    }
    a += step;
  }
}

function inttLevel(a: usize, m: i32, half: i32, roots: usize, P: v128, I: v128): void {
  const step = <usize>half << 2;
  roots += <usize>m << 2;
  for (let i = 0; i < m; i++) {
    const s = v128.load32_splat(roots + (<usize>i << 2));
    for (const end = a + step; a < end; a += 16) {
      const x0 = v128.load(a);
      const x1 = v128.load(a + step);
      v128.store(a, add4(x0, x1, P));
      v128.store(a + step, mulMont4(sub4(x0, x1, P), s, P, I));
    }
    a += step;
  }
}

/**
 * Forward NTT mod prime u, in place.
 *
 * Shape:  a: u32[n], coefficient order -> bit-reversed NTT order; 16-aligned
 * Bounds: in [0, p) -> out [0, p)
 * Memory: a; the roots of the prime, which must exist for degree n
 * Secret: a
 * Proof:  none: key generation
 */
export function rnsNtt(a: usize, logn: i32, u: i32): void {
  const roots = rootsOf(u);
  if (logn < 3) {
    nttSmall(a, logn, roots, primeAt(u), load<u32>(P0I + (<usize>u << 2)));
    return;
  }
  const P = v128.load32_splat(PRIME + (<usize>u << 2));
  const I = v128.load32_splat(P0I + (<usize>u << 2));
  const n = 1 << logn;
  let half = n >> 1;
  for (let m = 1; half >= 4; m <<= 1) {
    nttLevel(a, m, half, roots, P, I);
    half >>= 1;
  }
  // distances 2 and 1, eight values x0..x3 y0..y3 at a time
  let r2 = roots + <usize>n;
  let r1 = roots + (<usize>n << 1);
  for (const end = a + (<usize>n << 2); a < end; a += 32) {
    const x = v128.load(a);
    const y = v128.load(a, 16);
    const s2 = v128.load64_zero(r2);
    const s1 = v128.load(r1);
    const low = lowHalves(x, y);
    const high = mulMont4(highHalves(x, y), zipLow(s2, s2), P, I);
    const A = add4(low, high, P); // x0 x1 y0 y1
    const B = sub4(low, high, P); // x2 x3 y2 y3
    const even = evens(A, B); // x0 y0 x2 y2, roots in order 0 2 1 3
    const w = middleSwapped(s1);
    const odd = mulMont4(odds(A, B), w, P, I);
    const E = add4(even, odd, P);
    const O = sub4(even, odd, P);
    const xy0 = zipLow(E, O); // x0 x1 y0 y1
    const xy1 = zipHigh(E, O); // x2 x3 y2 y3
    v128.store(a, lowHalves(xy0, xy1));
    v128.store(a, highHalves(xy0, xy1), 16);
    r2 += 8;
    r1 += 16;
  }
}

/**
 * Inverse NTT mod prime u, in place, without the division by n: the result is n times the
 * polynomial.
 *
 * Shape:  a: u32[n], bit-reversed NTT order -> coefficient order; 16-aligned
 * Bounds: in [0, p) -> out [0, p)
 * Memory: a; the roots of the prime
 * Secret: a
 * Proof:  none: key generation
 */
export function rnsInttScaled(a: usize, logn: i32, u: i32): void {
  const roots = inverseRootsOf(u);
  if (logn < 3) {
    inttSmall(a, logn, roots, primeAt(u), load<u32>(P0I + (<usize>u << 2)));
    return;
  }
  const P = v128.load32_splat(PRIME + (<usize>u << 2));
  const I = v128.load32_splat(P0I + (<usize>u << 2));
  const n = 1 << logn;
  let r2 = roots + <usize>n;
  let r1 = roots + (<usize>n << 1);
  let b = a;
  for (const end = a + (<usize>n << 2); b < end; b += 32) {
    const x = v128.load(b);
    const y = v128.load(b, 16);
    const s2 = v128.load64_zero(r2);
    const s1 = v128.load(r1);
    const xy0 = lowHalves(x, y); // x0 x1 y0 y1
    const xy1 = highHalves(x, y); // x2 x3 y2 y3
    const E = evens(xy0, xy1); // x0 y0 x2 y2
    const O = odds(xy0, xy1);
    const w = middleSwapped(s1);
    const even = add4(E, O, P);
    const odd = mulMont4(sub4(E, O, P), w, P, I);
    const A = zipLow(even, odd); // x0 x1 y0 y1
    const B = zipHigh(even, odd); // x2 x3 y2 y3
    const low = add4(A, B, P);
    const high = mulMont4(sub4(A, B, P), zipLow(s2, s2), P, I);
    v128.store(b, lowHalves(low, high));
    v128.store(b, highHalves(low, high), 16);
    r2 += 8;
    r1 += 16;
  }
  let m = n >> 3;
  for (let half = 4; half < n; half <<= 1) {
    inttLevel(a, m, half, roots, P, I);
    m >>= 1;
  }
}
