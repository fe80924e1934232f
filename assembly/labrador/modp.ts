/**
 * Products mod p = 12289 of polynomials of Falcon's degree, for the ten functionals of an item.
 */
import {
  highHalves,
  interleaveHigh,
  interleaveLow,
  lowHalves,
  reverseLanes,
  zipHigh,
  zipLow,
} from '../shared/lanes';
import { intt, ntt, pointwisePrepared, preparePoly } from '../shared/ntt';
import { OK } from '../shared/status';
import { centre, Q_LANES } from '../shared/zq';

/** i16[1024], and the row that wraps around. */
const PRODUCT: usize = memory.data(2112, 64);
const PLAIN: usize = memory.data(2112, 64);

/**
 * Prepares the factor of `functionalParts`: sigma_n(h), transformed; each eight values w are
 * followed by their companions.
 *
 * Spec:   docs/protocol.md, 7.3
 * Shape:  h: i16[n] -> prepared: i16[2 * n]
 * Bounds: any h
 * Memory: h, prepared, PRODUCT
 * Proof:  reversedTransform(), logn in {9, 10}
 */
export function modpPrepare(prepared: usize, h: usize, logn: i32): i32 {
  const n: usize = 1 << logn;
  const p = v128.load(Q_LANES);
  // coefficient j of sigma is minus coefficient n - j, and coefficient n is minus coefficient 0
  for (let i: usize = 0; i < 2 * n; i += 16) {
    const x = centre(v128.load(h + i), p);
    const reversed = reverseLanes(x);
    v128.store(PRODUCT + 2 * n - 14 - i, i16x8.neg(reversed));
  }
  store<i16>(PRODUCT, -load<i16>(PRODUCT + 2 * n));
  ntt(PRODUCT, logn);
  preparePoly(prepared, PRODUCT, logn);
  return OK;
}

/**
 * rho' = rho sigma_n(h) mod p, centred, and the parts of rho and rho' for the lifts.
 *
 * `parts` has sigma of part k of rho at k, of rho' at K + k.
 *
 * Spec:   docs/protocol.md, 7.3 and 7.6
 * Shape:  rho: i16[n]; prepared: i16[2 * n] -> rhoPrime: i16[n]; parts: i16[2 * n / 64][64]
 * Bounds: |rho| <= 6144 -> |rhoPrime| <= 6144, |parts| <= 6144
 * Memory: all four, PRODUCT, PLAIN
 * Proof:  partsOfProduct(modpPrepare), logn in {9}
 */
export function functionalParts(
  parts: usize,
  rhoPrime: usize,
  rho: usize,
  prepared: usize,
  logn: i32,
): i32 {
  const bytes: usize = 2 << logn;
  const p = v128.load(Q_LANES);
  memory.copy(PRODUCT, rho, bytes);
  ntt(PRODUCT, logn);
  pointwisePrepared(PRODUCT, prepared, logn);
  intt(PRODUCT, logn);
  for (let at: usize = 0; at < bytes; at += 16) {
    const x = centre(v128.load(PRODUCT + at), p);
    v128.store(PRODUCT + at, x);
    v128.store(rhoPrime + at, x);
  }
  memory.copy(PLAIN, rho, bytes);
  strideParts(parts, PLAIN, bytes);
  strideParts(parts + bytes, PRODUCT, bytes);
  return OK;
}

/**
 * sigma of the K parts of a: i16[64][K] -> i16[K][64]; the row after the last one is overwritten.
 *
 * Coefficient 64 - t of sigma is minus row t; row 64 is minus row 0. Rows t + 7, ..., t are
 * transposed eight columns at a time.
 */
function strideParts(parts: usize, a: usize, bytes: usize): void {
  const row = bytes >> 6;
  for (let column: usize = 0; column < row; column += 16) {
    v128.store(a + bytes + column, i16x8.neg(v128.load(a + column)));
    let to = parts + column * 64 + 112; // part `column / 2`, coefficients 56 to 63
    for (let t: usize = 1; t < 64; t += 8, to -= 16) {
      transposeNegated(to, a + t * row + column, row);
    }
  }
}

/** Transposes eight rows, last to first, into eight negated columns, 128 bytes apart. */
// @ts-ignore: decorator
@inline
function transposeNegated(to: usize, from: usize, row: usize): void {
  const x0 = v128.load(from + 7 * row);
  const x1 = v128.load(from + 6 * row);
  const x2 = v128.load(from + 5 * row);
  const x3 = v128.load(from + 4 * row);
  const x4 = v128.load(from + 3 * row);
  const x5 = v128.load(from + 2 * row);
  const x6 = v128.load(from + row);
  const x7 = v128.load(from);
  const y0 = interleaveLow(x0, x1);
  const y1 = interleaveHigh(x0, x1);
  const y2 = interleaveLow(x2, x3);
  const y3 = interleaveHigh(x2, x3);
  const y4 = interleaveLow(x4, x5);
  const y5 = interleaveHigh(x4, x5);
  const y6 = interleaveLow(x6, x7);
  const y7 = interleaveHigh(x6, x7);
  const z0 = zipLow(y0, y2);
  const z1 = zipHigh(y0, y2);
  const z2 = zipLow(y1, y3);
  const z3 = zipHigh(y1, y3);
  const z4 = zipLow(y4, y6);
  const z5 = zipHigh(y4, y6);
  const z6 = zipLow(y5, y7);
  const z7 = zipHigh(y5, y7);
  v128.store(to, i16x8.neg(lowHalves(z0, z4)));
  v128.store(to, i16x8.neg(highHalves(z0, z4)), 128);
  v128.store(to, i16x8.neg(lowHalves(z1, z5)), 256);
  v128.store(to, i16x8.neg(highHalves(z1, z5)), 384);
  v128.store(to, i16x8.neg(lowHalves(z2, z6)), 512);
  v128.store(to, i16x8.neg(highHalves(z2, z6)), 640);
  v128.store(to, i16x8.neg(lowHalves(z3, z7)), 768);
  v128.store(to, i16x8.neg(highHalves(z3, z7)), 896);
}
