/**
 * Conversion of residues to integers mod q ("explicit CRT").
 *
 *   residues  a_i = x (P / p_i)^-1 mod p_i, six vectors of 64 signed lanes, |a_i| <= 13277
 *   quotient  k = round(sum a_i / p_i), by reciprocals of 28 bits; exact for
 *             |x| < P/2 (1 - 2^-12.4)
 *   x mod q   sum a_i (P / p_i mod q) - k (P mod q), constants in three limbs of 15 bits,
 *             products by dot_i16x8_s
 *
 * The bounds are computed in scripts/generate/labradorPlan.ts: no 32-bit sum passes 2^30.7.
 */
import { interleaveHigh, interleaveLow } from '../shared/lanes';
import { EXCESS } from './modulus.gen';
import { RECONSTRUCTION } from './nttTables.gen';
import { centrePair } from './zq';

/** Three pairs of vectors times three pairs of constants. */
// @ts-ignore: decorator
@inline
function dots(a: v128, b: v128, c: v128, constants: usize): v128 {
  return i32x4.add(
    i32x4.dot_i16x8_s(a, v128.load(constants)),
    i32x4.add(
      i32x4.dot_i16x8_s(b, v128.load(constants, 16)),
      i32x4.dot_i16x8_s(c, v128.load(constants, 32)),
    ),
  );
}

/** Four coefficients: a, b, c hold (a_0, a_1), (a_2, a_3), (a_4, a_5) in every 32-bit lane. */
// @ts-ignore: decorator
@inline
function reconstruct4(out: usize, a: v128, b: v128, c: v128): void {
  const table = RECONSTRUCTION;
  // |quotient| <= 6: it fits the low half of a lane
  const k = i32x4.shr_s(i32x4.add(dots(a, b, c, table), i32x4.splat(1 << 27)), 28);
  let l0 = i32x4.sub(dots(a, b, c, table + 48), i32x4.dot_i16x8_s(k, v128.load(table, 192)));
  let l1 = i32x4.sub(dots(a, b, c, table + 96), i32x4.dot_i16x8_s(k, v128.load(table, 208)));
  let l2 = i32x4.sub(dots(a, b, c, table + 144), i32x4.dot_i16x8_s(k, v128.load(table, 224)));
  // Carries, then folds the bits of l2 from 2^44 upwards, times 117.
  l1 = i32x4.add(l1, i32x4.shr_s(l0, 15));
  l0 = v128.and(l0, i32x4.splat(0x7fff));
  l2 = i32x4.add(l2, i32x4.shr_s(l1, 15));
  l1 = v128.and(l1, i32x4.splat(0x7fff));
  l0 = i32x4.add(l0, i32x4.mul(i32x4.shr_s(l2, 14), i32x4.splat(<i32>EXCESS)));
  l2 = v128.and(l2, i32x4.splat(0x3fff));
  v128.store(
    out,
    joinLimbs(
      i64x2.extend_low_i32x4_s(l0),
      i64x2.extend_low_i32x4_s(l1),
      i64x2.extend_low_i32x4_s(l2),
    ),
  );
  v128.store(
    out,
    joinLimbs(
      i64x2.extend_high_i32x4_s(l0),
      i64x2.extend_high_i32x4_s(l1),
      i64x2.extend_high_i32x4_s(l2),
    ),
    16,
  );
}

/** l0 + 2^15 l1 + 2^30 l2, centred mod q. */
// @ts-ignore: decorator
@inline
function joinLimbs(l0: v128, l1: v128, l2: v128): v128 {
  return centrePair(i64x2.add(l0, i64x2.add(i64x2.shl(l1, 15), i64x2.shl(l2, 30))));
}

/**
 * Converts residues of 64 coefficients to the coefficients mod q.
 *
 * Right for |integer| < P/2 (1 - 2^-12.4).
 *
 * Shape:  residues: i16[6][64] -> out: i64[64]
 * Bounds: |residues| <= r -> |out| <= (q - 1) / 2
 * Memory: residues, out
 * Proof:  reconstruct()
 */
export function reconstruct(out: usize, residues: usize): void {
  for (const end = residues + 128; residues < end; residues += 16, out += 64) {
    const r0 = v128.load(residues);
    const r1 = v128.load(residues, 128);
    const r2 = v128.load(residues, 256);
    const r3 = v128.load(residues, 384);
    const r4 = v128.load(residues, 512);
    const r5 = v128.load(residues, 640);
    reconstruct4(
      out,
      interleaveLow(r0, r1),
      interleaveLow(r2, r3),
      interleaveLow(r4, r5),
    );
    reconstruct4(
      out + 32,
      interleaveHigh(r0, r1),
      interleaveHigh(r2, r3),
      interleaveHigh(r4, r5),
    );
  }
}
