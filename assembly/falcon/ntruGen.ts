/** The short polynomials of a key: sampling and the reference's tests, in the same order. */
import * as R from './real';
import { fft, ifft } from './fft';
import { sampleSmall } from './gaussianF';
import { FLOATS } from './keygenLayout';
import { inverseNorms } from './ntruReduce';
import { smallBits } from './secretKey';
import { normSqSmall, reaches, smallToDouble } from './smallPoly';

/** Results of `judgeSmall`. */
export const FIT: i32 = 0;
/** A coefficient does not fit the encoding of secret keys. */
export const TOO_WIDE: i32 = 1;
/** ||(g, -f)||^2 >= 16823, the first integer above 1.17^2 q. */
export const TOO_FAR: i32 = 2;
/** The orthogonalised vector is longer than 1.17 sqrt(q). */
export const TOO_SKEW: i32 = 3;

/**
 * Squared norm of the orthogonalised vector q (adj f, adj g) / (|f|^2 + |g|^2).
 *
 * Spec:   Falcon round 3, Algorithm 5, lines 5-6; the same doubles in the same order as the
 *         reference
 * Shape:  f, g: i8[n]
 * Memory: FLOATS: f (n) | g (n) | norms (n/2)
 * Secret: f, g
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
export function gramSchmidtNorm(logn: i32, f: usize, g: usize): u64 {
  const n = 1 << logn;
  const size = <usize>8 << logn;
  const fFft = FLOATS;
  const gFft = FLOATS + size;
  const norms = gFft + size;
  smallToDouble(fFft, f, n);
  smallToDouble(gFft, g, n);
  fft(fFft, logn);
  fft(gFft, logn);
  inverseNorms(norms, fFft, logn);
  scaleAdjoint(fFft, norms, logn);
  scaleAdjoint(gFft, norms, logn);
  ifft(fFft, logn);
  ifft(gFft, logn);
  let sum: u64 = 0;
  for (let i: usize = 0; i < size; i += 8) {
    const x = load<u64>(fFft + i);
    const y = load<u64>(gFft + i);
    sum = R.add1(sum, R.mul1(x, x));
    sum = R.add1(sum, R.mul1(y, y));
  }
  return sum;
}

/** a = q adj(a) norms. */
function scaleAdjoint(a: usize, norms: usize, logn: i32): void {
  const half = <usize>4 << logn;
  const q = R.splat(12289);
  for (let i: usize = 0; i < half; i += 16) {
    const norm = v128.load(norms + i);
    v128.store(a + i, R.mul(R.mul(v128.load(a + i), q), norm));
    const im = R.neg(v128.load(a + half + i));
    v128.store(a + half + i, R.mul(R.mul(im, q), norm));
  }
}

/** The pattern of 1.17^2 q = 16822.4121, as the reference rounds it. */
const GRAM_SCHMIDT_BOUND: u64 = 4670353323383631276;

/**
 * Samples f and g.
 *
 * Spec:   Falcon round 3, Algorithm 5, line 2
 * Shape:  SHAKE -> f, g: i8[n]
 * Memory: f, g and 15 bytes beyond each, SHAKE, STREAM
 * Secret: f, g
 * Errors: false as sampleSmall
 * Proof:  none: rejects and redraws candidates
 */
export function ntruGen(logn: i32, f: usize, g: usize): bool {
  return sampleSmall(f, logn) && sampleSmall(g, logn);
}

/**
 * Runs the tests on f and g that precede invertibility mod q.
 *
 * Spec:   Falcon round 3, Algorithm 5, lines 3-8
 * Shape:  f, g: i8[n]
 * Memory: FLOATS
 * Secret: f, g; a rejection is a branch, and discards (f, g)
 * Errors: a cause > 0, see above
 * Proof:  none: inlined; part of ntruGen
 */
export function judgeSmall(logn: i32, f: usize, g: usize): i32 {
  const n = 1 << logn;
  const limit = 1 << (smallBits(logn) - 1);
  if (reaches(f, n, limit) || reaches(g, n, limit)) return TOO_WIDE;
  if (normSqSmall(f, n) + normSqSmall(g, n) >= 16823) return TOO_FAR;
  if (!R.less1(gramSchmidtNorm(logn, f, g), GRAM_SCHMIDT_BOUND)) return TOO_SKEW;
  return FIT;
}
