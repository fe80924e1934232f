/** The contribution of the ten functionals mod 12289 to a lift's functional. */
import { interleaveHigh, interleaveLow } from '../shared/lanes';
import { OK } from '../shared/status';
import { splitLimbs } from './ntt';
import { centrePair, foldPair } from './zq';

/** Number of functionals. */
const COUNT: usize = 10;
/** Theta and its limbs: i64[16] and i16[3][16], of which the first ten are used. */
const THETA: usize = memory.data(128, 16);
const LIMBS: usize = memory.data(96, 16);
/** Pairs of limbs of theta_j, theta_(j+1), for three lifts: i16[3][3][5][8]. */
const PAIRS: usize = memory.data(720, 16);

/**
 * Prepares theta.
 *
 * Shape:  theta: i64[3][10], |theta| <= 2^44
 * Memory: theta, PAIRS
 */
export function functionalsStart(theta: usize): i32 {
  let to: usize = PAIRS;
  for (let lift = 0; lift < 3; lift++, theta += 8 * COUNT) {
    memory.fill(THETA, 0, 128);
    memory.copy(THETA, theta, 8 * COUNT);
    splitLimbs(LIMBS, THETA);
    for (let limb: usize = LIMBS; limb < LIMBS + 96; limb += 32) {
      for (let j: usize = 0; j < 2 * COUNT; j += 4, to += 16) {
        v128.store(to, v128.load32_splat(limb + j));
      }
    }
  }
  return OK;
}

/** sum over pairs of functionals of theta's limb times rho. At most 10 * 2^14 * 6144 < 2^30. */
// @ts-ignore: decorator
@inline
function limbSum(a: v128, b: v128, c: v128, d: v128, e: v128, pairs: usize): v128 {
  const ab = i32x4.add(
    i32x4.dot_i16x8_s(a, v128.load(pairs)),
    i32x4.dot_i16x8_s(b, v128.load(pairs, 16)),
  );
  const cd = i32x4.add(
    i32x4.dot_i16x8_s(c, v128.load(pairs, 32)),
    i32x4.dot_i16x8_s(d, v128.load(pairs, 48)),
  );
  return i32x4.add(i32x4.add(ab, cd), i32x4.dot_i16x8_s(e, v128.load(pairs, 64)));
}

/** x + l0 + 2^15 l1 + 2^30 l2, centred. */
// @ts-ignore: decorator
@inline
function addLimbs(at: usize, l0: v128, l1: v128, l2: v128): void {
  const sum = i64x2.add(
    i64x2.add(v128.load(at), l0),
    i64x2.add(i64x2.shl(l1, 15), i64x2.shl(l2, 30)),
  );
  v128.store(at, centrePair(foldPair(sum)));
}

// @ts-ignore: decorator
@inline
function addFour(coefs: usize, a: v128, b: v128, c: v128, d: v128, e: v128, pairs: usize): void {
  const l0 = limbSum(a, b, c, d, e, pairs);
  const l1 = limbSum(a, b, c, d, e, pairs + 80);
  const l2 = limbSum(a, b, c, d, e, pairs + 160);
  addLimbs(
    coefs,
    i64x2.extend_low_i32x4_s(l0),
    i64x2.extend_low_i32x4_s(l1),
    i64x2.extend_low_i32x4_s(l2),
  );
  addLimbs(
    coefs + 16,
    i64x2.extend_high_i32x4_s(l0),
    i64x2.extend_high_i32x4_s(l1),
    i64x2.extend_high_i32x4_s(l2),
  );
}

/**
 * coefs^(k) += sum_j theta_j^(k) rho^(j) for the three lifts k. The parts of rho must already have
 * sigma applied, and are `rhoStride` bytes apart.
 *
 * Spec:   docs/protocol.md, 7.6
 * Shape:  coefs: i64[3][64]; rho: i16[10][64] -> coefs: i64[3][64]
 * Bounds: |coefs| <= (q - 1) / 2, |rho| <= 6144 -> |coefs| <= (q - 1) / 2
 * Memory: rho, coefs, PAIRS
 * Proof:  functionals(functionalsStart), rhoStride in {128, any}
 */
export function addFunctionals(coefs: usize, rho: usize, rhoStride: usize): i32 {
  for (const end = rho + 128; rho < end; rho += 16, coefs += 64) {
    let pairs: usize = PAIRS;
    const r0 = v128.load(rho);
    const r1 = v128.load(rho + rhoStride);
    const r2 = v128.load(rho + 2 * rhoStride);
    const r3 = v128.load(rho + 3 * rhoStride);
    const r4 = v128.load(rho + 4 * rhoStride);
    const r5 = v128.load(rho + 5 * rhoStride);
    const r6 = v128.load(rho + 6 * rhoStride);
    const r7 = v128.load(rho + 7 * rhoStride);
    const r8 = v128.load(rho + 8 * rhoStride);
    const r9 = v128.load(rho + 9 * rhoStride);
    for (let lift: usize = 0; lift < 3; lift++, pairs += 240) {
      addFour(
        coefs + (lift << 9),
        interleaveLow(r0, r1),
        interleaveLow(r2, r3),
        interleaveLow(r4, r5),
        interleaveLow(r6, r7),
        interleaveLow(r8, r9),
        pairs,
      );
      addFour(
        coefs + (lift << 9) + 32,
        interleaveHigh(r0, r1),
        interleaveHigh(r2, r3),
        interleaveHigh(r4, r5),
        interleaveHigh(r6, r7),
        interleaveHigh(r8, r9),
        pairs,
      );
    }
  }
  return OK;
}
