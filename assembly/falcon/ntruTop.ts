/**
 * The two top levels of the NTRU solver, where (F, G) is short enough for one round of reduction:
 * depth 1 entirely in doubles, depth 0 with the quotient's numerator and denominator exact. The
 * doubles are bit-identical to the round-3 reference's (see ntruReduce.ts).
 */
import * as R from './real';
import { fft, ifft } from './fft';
import { productIm, productRe } from './fpr';
import { CURRENT, FLOATS, ROW, WIDE } from './keygenLayout';
import { PRIME } from './keygenTables.gen';
import { fgAt, lift, nttPair, smallToRns } from './ntruLevels';
import { inverseNorms, quotientFft } from './ntruReduce';
import { P0I, R2, add4, fromSigned4, inverseOfN, mulMont4, sub4, toSigned4 } from './rns';
import { rnsInttScaled, rnsNtt } from './rnsNtt';
import { zintToDouble } from './zint';

/** a = b - k a, value by value on transformed polynomials. */
function subtractProduct(a: usize, b: usize, k: usize, logm: i32): void {
  const half = <usize>4 << logm;
  for (let i: usize = 0; i < half; i += 16) {
    const aRe = v128.load(a + i);
    const aIm = v128.load(a + half + i);
    const kRe = v128.load(k + i);
    const kIm = v128.load(k + half + i);
    v128.store(a + i, R.sub(v128.load(b + i), productRe(aRe, aIm, kRe, kIm)));
    v128.store(a + half + i, R.sub(v128.load(b + half + i), productIm(aRe, aIm, kRe, kIm)));
  }
}

/**
 * Computes (F, G) of depth 1.
 *
 * Spec:   Falcon round 3, Algorithms 6 and 7, with the reference's method for this depth
 * Shape:  CURRENT: pair of depth 2 -> CURRENT: pair of depth 1, one word
 * Memory: CURRENT, WIDE, FG, FLOATS, ROW, CRT
 * Secret: all
 * Errors: false if a quotient is out of range
 * Proof:  none: key generation; a quotient out of range ends it
 */
export function solveDepth1(logn: i32): bool {
  const logm = logn - 1;
  const size = <usize>8 << logm;
  lift(logn, 1);
  // FLOATS:  F | G | f | g | quotient, and a copy of G that it consumes | norms (m/2)
  const F = FLOATS;
  const f = F + 2 * size;
  const k = f + 2 * size;
  const norms = k + 2 * size;
  zintToDouble(F, WIDE, 2, 2 << logm);
  zintToDouble(f, fgAt(1), 1, 2 << logm);
  for (let a = F; a < k; a += size) fft(a, logm);
  memory.copy(k, F, 2 * size);
  inverseNorms(norms, f, logm);
  quotientFft(k, f, norms, logm);
  ifft(k, logm);
  let good = i64x2.splat(-1);
  for (let i: usize = 0; i < size; i += 16) {
    const z = v128.load(k + i);
    good = v128.and(good, R.less(R.abs(z), R.splat(9223372036854775808.0)));
    v128.store(k + i, R.nearest(z));
  }
  if (!i64x2.all_true(good)) return false;
  fft(k, logm);
  subtractProduct(f, F, k, logm);
  subtractProduct(f + size, F + size, k, logm);
  ifft(f, logm);
  ifft(f + size, logm);
  for (let i: usize = 0; i < size; i += 8) {
    // i counts words of the pair: two doubles per step
    const z = R.toI32(v128.load(f + (i << 1)));
    store<u64>(CURRENT + i, i64x2.extract_lane(z, 0) & 0x7fffffff7fffffff);
  }
  return true;
}

/** Four lanes in reverse order. */
// @ts-ignore: decorator
@inline
function reversed(a: v128): v128 {
  return i8x16.shuffle(a, a, 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
}

/** Converts signed i32[n] (one word each, centred) to doubles. */
function wordsToDouble(out: usize, a: usize, n: i32): void {
  for (const end = a + (<usize>n << 2); a < end; a += 8) {
    v128.store(out, R.fromI32(v128.load64_zero(a)));
    out += 16;
  }
}

/**
 * Numerator F adj f + G adj g and denominator f adj f + g adj g, divided by n, mod prime 0, as
 * signed words.
 */
function exactFraction(out: usize, FG: usize, fg: usize, logn: i32): void {
  const size = <usize>4 << logn;
  const P = v128.load32_splat(PRIME);
  const I = v128.load32_splat(P0I);
  const S = i32x4.splat(inverseOfN(0, logn, 2));
  for (let i: usize = 0; i < size; i += 16) {
    // the value of adj f at slot i is that of f at slot n - 1 - i
    const j = size - 16 - i;
    const f = v128.load(fg + i);
    const g = v128.load(fg + size + i);
    const fAdj = mulMont4(reversed(v128.load(fg + j)), S, P, I);
    const gAdj = mulMont4(reversed(v128.load(fg + size + j)), S, P, I);
    const F = v128.load(FG + i);
    const G = v128.load(FG + size + i);
    v128.store(out + i, add4(mulMont4(F, fAdj, P, I), mulMont4(G, gAdj, P, I), P));
    v128.store(out + size + i, add4(mulMont4(f, fAdj, P, I), mulMont4(g, gAdj, P, I), P));
  }
  rnsInttScaled(out, logn, 0);
  rnsInttScaled(out + size, logn, 0);
  for (let i: usize = 0; i < 2 * size; i += 16) {
    v128.store(out + i, toSigned4(v128.load(out + i), P));
  }
}

/** FG -= k fg in NTT form; false unless f G - g F = q then holds at every slot. */
function subtractAndCheck(FG: usize, fg: usize, k: usize, logn: i32): bool {
  const size = <usize>4 << logn;
  const P = v128.load32_splat(PRIME);
  const I = v128.load32_splat(P0I);
  const S = v128.load32_splat(R2);
  let bad = i32x4.splat(0);
  const one = i32x4.splat(1);
  const q = mulMont4(i32x4.splat(12289), one, P, I);
  for (let i: usize = 0; i < size; i += 16) {
    const kMont = mulMont4(v128.load(k + i), S, P, I);
    const f = v128.load(fg + i);
    const g = v128.load(fg + size + i);
    const F = sub4(v128.load(FG + i), mulMont4(kMont, f, P, I), P);
    const G = sub4(v128.load(FG + size + i), mulMont4(kMont, g, P, I), P);
    v128.store(FG + i, F);
    v128.store(FG + size + i, G);
    bad = v128.or(bad, v128.xor(sub4(mulMont4(f, G, P, I), mulMont4(g, F, P, I), P), q));
  }
  return !v128.any_true(bad);
}

/** Converts residues mod prime 0, times n, to i8[n]; false if one exceeds 127. */
function toSmall(out: usize, a: usize, logn: i32): bool {
  const P = v128.load32_splat(PRIME);
  const I = v128.load32_splat(P0I);
  const S = i32x4.splat(inverseOfN(0, logn, 1));
  const limit = i32x4.splat(127);
  let bad = i32x4.splat(0);
  for (const end = a + (<usize>4 << logn); a < end; a += 16) {
    const x = toSigned4(mulMont4(v128.load(a), S, P, I), P);
    bad = v128.or(bad, i32x4.gt_s(i32x4.abs(x), limit));
    const narrow = i8x16.shuffle(x, x, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    store<i32>(out, i32x4.extract_lane(narrow, 0));
    out += 4;
  }
  return !v128.any_true(bad);
}

/**
 * Computes (F, G) of depth 0: those of the secret key.
 *
 * Spec:   Falcon round 3, Algorithms 6 and 7, with the reference's method for this depth; |F|, |G|
 *         <= 127
 * Shape:  CURRENT: pair of depth 1; f, g: i8[n] -> F, G: i8[n]
 * Memory: F, G, CURRENT, WIDE, FG, FLOATS, ROW, CRT
 * Secret: all
 * Errors: false if a coefficient exceeds 127 or fG - gF is not q (since all are small, the equation
 *         mod prime 0 implies it over the integers)
 * Proof:  none: key generation; a coefficient out of range ends it
 */
export function solveDepth0(logn: i32, F: usize, G: usize, f: usize, g: usize): bool {
  const n = 1 << logn;
  const size = <usize>4 << logn;
  lift(logn, 0);
  const fg = ROW;
  const FG = ROW + 2 * size;
  const P = v128.load32_splat(PRIME);
  for (let i: usize = 0; i < 2 * size; i += 16) {
    const x = v128.load(WIDE + i);
    v128.store(FG + i, fromSigned4(i32x4.shr_s(i32x4.shl(x, 1), 1), P));
  }
  nttPair(FG, logn, 0);
  smallToRns(fg, f, n, 0);
  smallToRns(fg + size, g, n, 0);
  nttPair(fg, logn, 0);
  exactFraction(WIDE, FG, fg, logn);

  const numerator = FLOATS;
  const denominator = FLOATS + 2 * size;
  wordsToDouble(numerator, WIDE, n);
  wordsToDouble(denominator, WIDE + size, n);
  fft(numerator, logn);
  fft(denominator, logn);
  for (let i: usize = 0; i < size; i += 16) {
    // the denominator equals its adjoint: real
    const inverse = R.inverse(v128.load(denominator + i));
    v128.store(numerator + i, R.mul(v128.load(numerator + i), inverse));
    v128.store(numerator + size + i, R.mul(v128.load(numerator + size + i), inverse));
  }
  ifft(numerator, logn);
  for (let i: usize = 0; i < size; i += 8) {
    const k = R.toI32(v128.load(numerator + (i << 1)));
    store<u64>(WIDE + i, i64x2.extract_lane(fromSigned4(k, P), 0));
  }
  rnsNtt(WIDE, logn, 0);
  const solved = subtractAndCheck(FG, fg, WIDE, logn);
  rnsInttScaled(FG, logn, 0);
  rnsInttScaled(FG + size, logn, 0);
  const F_ok = toSmall(F, FG, logn);
  const G_ok = toSmall(G, FG + size, logn);
  return solved && F_ok && G_ok;
}
