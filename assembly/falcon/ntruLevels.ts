/**
 * The tower of the NTRU solver: f and g at every depth, and (F, G) lifted from one depth to the
 * next.
 *
 *   depth 0      f, g of degree n                     F, G   reduced: the secret key
 *   depth d      f, g of degree n / 2^d               F = F'(X^2) g(-X), G = G'(X^2) f(-X), reduced
 *   depth logn   Res(f), Res(g), two integers         Bezout
 *
 * Pairs are kept together: an array of 2m integers (zint.ts), first those of f (F), then those of g
 * (G), of degree m each; a pair of degree 1 is padded to four integers.
 */
import { evens, odds, zipLow } from '../shared/lanes';
import { CRT, CURRENT, FG, ROW, WIDE } from './keygenLayout';
import { PRIME } from './keygenTables.gen';
import { LARGE, P0I, R2, fromSigned4, inverseOfN, mulMont, mulMont4, primeAt } from './rns';
import { rnsInttScaled, rnsNtt } from './rnsNtt';
import { zintFromRns, zintMod } from './zint';

/** Words of f and g, and of the reduced F and G, at each depth (the reference's limits). */
const WORDS_SMALL: usize = memory.data<u16>([1, 1, 2, 2, 4, 7, 14, 27, 53, 106, 209], 4);
/** Offset in words of each depth's f, g in FG, n = 1024; sum of small(d) max(4, 2n/2^d). */
const FG_AT: usize = memory.data<u16>(
  [0, 2048, 3072, 4096, 4608, 5120, 5568, 6016, 6448, 6872, 7296],
  4,
);

// @ts-ignore: decorator
@inline
export function wordsSmall(depth: i32): i32 {
  return <i32>load<u16>(WORDS_SMALL + (<usize>depth << 1));
}

// @ts-ignore: decorator
@inline
export function wordsLarge(depth: i32): i32 {
  return <i32>load<u16>(LARGE + (<usize>depth << 1));
}

/** Integers in a pair of polynomials of degree 2^logm. */
// @ts-ignore: decorator
@inline
export function pairCount(logm: i32): i32 {
  return max(4, 2 << logm);
}

/** f, g of the given depth in plain form. */
// @ts-ignore: decorator
@inline
export function fgAt(depth: i32): usize {
  return FG + (<usize>load<u16>(FG_AT + (<usize>depth << 1)) << 2);
}

/** Transforms both polynomials of a pair of degree 2^logm to NTT form mod prime u. */
export function nttPair(a: usize, logm: i32, u: i32): void {
  rnsNtt(a, logm, u);
  rnsNtt(a + (<usize>4 << logm), logm, u);
}

/** The inverse of `nttPair`; the result is 2^logm times the pair. */
function inttPairScaled(a: usize, logm: i32, u: i32): void {
  rnsInttScaled(a, logm, u);
  rnsInttScaled(a + (<usize>4 << logm), logm, u);
}

/** i8[n] to residues mod prime u. */
export function smallToRns(out: usize, a: usize, n: i32, u: i32): void {
  const P = v128.load32_splat(PRIME + (<usize>u << 2));
  for (const end = a + n; a < end; a += 4) {
    const x = i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_zero(a)));
    v128.store(out, fromSigned4(x, P));
    out += 16;
  }
}

/**
 * Computes f, g of every depth, in plain form.
 *
 * Spec:   Falcon round 3, section 3.8.2 (field norms): f'(X^2) = f(X) f(-X)
 * Shape:  f, g: i8[n] -> FG
 * Memory: FG, ROW, WIDE, CRT
 * Secret: f, g
 * Proof:  none: key generation
 */
export function makeTower(logn: i32, f: usize, g: usize): void {
  const n = 1 << logn;
  const plain = fgAt(0);
  // WIDE holds f, g of the current depth mod its first primes in NTT form, to save half the work
  smallToRns(WIDE, f, n, 0);
  smallToRns(WIDE + (<usize>n << 2), g, n, 0);
  const p = primeAt(0);
  const P = i32x4.splat(p);
  const M31 = i32x4.splat(0x7fffffff);
  for (let i: usize = 0; i < <usize>n << 3; i += 16) {
    // residues to one-word two's complement
    const x = v128.load(WIDE + i);
    const s = i32x4.sub(x, v128.and(i32x4.gt_u(x, i32x4.splat(p >> 1)), P));
    v128.store(plain + i, v128.and(s, M31));
  }
  nttPair(WIDE, logn, 0);
  for (let depth = 0; depth < logn; depth++) towerStep(logn, depth);
}

/** From depth to depth + 1. */
function towerStep(logn: i32, depth: i32): void {
  const logm = logn - depth;
  const from = fgAt(depth);
  const to = fgAt(depth + 1);
  const len = wordsSmall(depth);
  const lenNext = wordsSmall(depth + 1);
  const count = pairCount(logm);
  const countNext = pairCount(logm - 1);
  const row = <usize>count << 2;
  const rowNext = <usize>countNext << 2;
  // rows of WIDE are overwritten from the front: row u of the next depth ends at or before row u +
  // 1 of this one, and rows missing here are computed from the plain form
  for (let u = 0; u < lenNext; u++) {
    const at = <usize>u << 2;
    let source = WIDE + row * <usize>u;
    if (u >= len) {
      source = ROW;
      zintMod(ROW, from, len, count, u, true);
      nttPair(ROW, logm, u);
    }
    const norms = ROW + (<usize>2048 << 2);
    const P = v128.load32_splat(PRIME + at);
    const I = v128.load32_splat(P0I + at);
    const S = v128.load32_splat(R2 + at);
    const scale = i32x4.splat(inverseOfN(u, logm - 1, 1));
    if (logm == 1) {
      const x = v128.load(source);
      v128.store(norms, mulMont4(mulMont4(evens(x, x), odds(x, x), P, I), S, P, I));
    } else {
      for (let i: usize = 0; i < rowNext; i += 16) {
        const x = v128.load(source + (i << 1));
        const y = v128.load(source + (i << 1), 16);
        v128.store(norms + i, mulMont4(mulMont4(evens(x, y), odds(x, y), P, I), S, P, I));
      }
    }
    const plain = to + rowNext * <usize>u;
    memory.copy(WIDE + rowNext * <usize>u, norms, rowNext);
    memory.copy(plain, norms, rowNext);
    if (logm > 1) inttPairScaled(plain, logm - 1, u);
    for (let i: usize = 0; i < rowNext; i += 16) {
      v128.store(plain + i, mulMont4(v128.load(plain + i), scale, P, I));
    }
  }
  // resultants are not negative
  zintFromRns(to, lenNext, countNext, depth + 1 < logn, CRT);
}

/**
 * Computes (F, G) of depth d, not yet reduced, from those of depth d + 1.
 *
 * Spec:   Falcon round 3, Algorithm 6, lines 8-9
 * Shape:  CURRENT: pair of degree m/2, small(d + 1) words -> WIDE: pair of degree m, large(d) words
 * Memory: CURRENT, FG, ROW, WIDE, CRT
 * Secret: all
 * Proof:  none: key generation
 */
export function lift(logn: i32, depth: i32): void {
  const logm = logn - depth;
  const count = pairCount(logm);
  const len = wordsLarge(depth);
  for (let u = 0; u < len; u++) {
    liftResidue(WIDE + ((<usize>count << 2) * <usize>u), logn, depth, u);
  }
  zintFromRns(WIDE, len, count, true, CRT);
}

/** Computes one prime's residues of the lifted pair. */
function liftResidue(out: usize, logn: i32, depth: i32, u: i32): void {
  const logm = logn - depth;
  const half = <usize>4 << logm; // bytes of one polynomial of degree m
  const at = <usize>u << 2;
  const fg = ROW;
  const FG2 = ROW + (<usize>2048 << 2);
  zintMod(fg, fgAt(depth), wordsSmall(depth), pairCount(logm), u, true);
  nttPair(fg, logm, u);
  zintMod(FG2, CURRENT, wordsSmall(depth + 1), pairCount(logm - 1), u, true);
  nttPair(FG2, logm - 1, u);
  // combines the division by m of the inverse transform and the Montgomery factors
  const scale = inverseOfN(u, logm, 2);
  if (logm == 1) {
    const p = primeAt(u);
    const p0i = load<u32>(P0I + at);
    const F = mulMont(load<u32>(FG2), scale, p, p0i);
    const G = mulMont(load<u32>(FG2, 4), scale, p, p0i);
    store<u32>(out, mulMont(F, load<u32>(fg, 12), p, p0i));
    store<u32>(out, mulMont(F, load<u32>(fg, 8), p, p0i), 4);
    store<u32>(out, mulMont(G, load<u32>(fg, 4), p, p0i), 8);
    store<u32>(out, mulMont(G, load<u32>(fg), p, p0i), 12);
  } else {
    const P = v128.load32_splat(PRIME + at);
    const I = v128.load32_splat(P0I + at);
    const S = i32x4.splat(scale);
    for (let i: usize = 0; i < half; i += 16) {
      // two values of F' (G') correspond to four of g (f), with neighbours swapped
      const F = mulMont4(v128.load64_zero(FG2 + (i >> 1)), S, P, I);
      const G = mulMont4(v128.load64_zero(FG2 + (half >> 1) + (i >> 1)), S, P, I);
      const f = v128.load(fg + i);
      const g = v128.load(fg + half + i);
      v128.store(out + i, mulMont4(zipLow(F, F), swapNeighbours(g), P, I));
      v128.store(out + half + i, mulMont4(zipLow(G, G), swapNeighbours(f), P, I));
    }
  }
  inttPairScaled(out, logm, u);
}

/** Lanes a1 a0 a3 a2. */
// @ts-ignore: decorator
@inline
function swapNeighbours(a: v128): v128 {
  return i8x16.shuffle(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
}
