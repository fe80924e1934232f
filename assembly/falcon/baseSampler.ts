/**
 * The base sampler, for four candidates in parallel: a half-Gaussian of deviation 1.8205 from a
 * table of 18 entries of 72 bits. All entries are always compared; nothing is looked up.
 *
 * A candidate is 11 bytes of the stream; three vectors hold four of them, word by word, one lane
 * each:
 *
 *   w0   bytes 0-3
 *   w1   bytes 4-7
 *   w2   byte 8 | bit b in byte 9 | byte 10, compared by samplerZ | unused
 *
 * The 72-bit number of bytes 0-8 (little-endian) is split into limbs of 31, 31 and 10 bits, so that
 * signed comparisons of lanes serve as borrows.
 */
import { RCDT_HIGH, RCDT_LOW, RCDT_MIDDLE } from './samplerTables.gen';

const MASKS: usize = memory.data<u32>([0x7fffffff, 0xff], 16);

/**
 * Compares one entry of the table with four candidates, all three limbs: -1 where candidate <
 * entry.
 */
// @ts-ignore: decorator
@inline
function below3(entry: usize, low: v128, middle: v128, high: v128): v128 {
  let borrow = i32x4.gt_s(v128.load32_splat(RCDT_LOW + entry), low);
  borrow = i32x4.gt_s(v128.load32_splat(RCDT_MIDDLE + entry), i32x4.add(middle, borrow));
  return i32x4.gt_s(v128.load32_splat(RCDT_HIGH + entry), i32x4.add(high, borrow));
}

/** Like `below3`, for an entry whose highest limb is zero; valid if the candidate's is zero too. */
// @ts-ignore: decorator
@inline
function below2(entry: usize, low: v128, middle: v128): v128 {
  const borrow = i32x4.gt_s(v128.load32_splat(RCDT_LOW + entry), low);
  return i32x4.gt_s(v128.load32_splat(RCDT_MIDDLE + entry), i32x4.add(middle, borrow));
}

/**
 * Like `below3`, for an entry whose two higher limbs are zero; valid if the candidate's are zero
 * too.
 */
// @ts-ignore: decorator
@inline
function below1(entry: usize, low: v128): v128 {
  return i32x4.gt_s(v128.load32_splat(RCDT_LOW + entry), low);
}

/**
 * Returns four base samples: the number of table entries that exceed each candidate.
 *
 * Spec:   Falcon round 3, algorithm 12 (BaseSampler)
 * Shape:  w0, w1, w2: the words of four candidates -> z0, i32 in each lane
 * Bounds: z0 in [0, 18]
 * Secret: all
 * Proof:  none: inlined; part of judgeFour, where z0 is proved
 */
// @ts-ignore: decorator
@inline
export function baseSamples(w0: v128, w1: v128, w2: v128): v128 {
  const mask = v128.load32_splat(MASKS);
  const low = v128.and(w0, mask);
  const middle = v128.and(v128.or(i32x4.shr_u(w0, 31), i32x4.shl(w1, 1)), mask);
  const top = v128.and(w2, v128.load32_splat(MASKS, 4));
  const high = v128.or(i32x4.shr_u(w1, 30), i32x4.shl(top, 2));
  const zero = i32x4.splat(0);
  const highZero = i32x4.eq(high, zero);
  const middleZero = i32x4.eq(middle, zero);
  let count = i32x4.add(below3(0, low, middle, high), below3(4, low, middle, high));
  let count1 = i32x4.add(below3(8, low, middle, high), below3(12, low, middle, high));
  count = i32x4.add(count, below3(16, low, middle, high));
  count1 = i32x4.add(count1, below3(20, low, middle, high));
  let small = i32x4.add(below2(24, low, middle), below2(28, low, middle));
  let small1 = i32x4.add(below2(32, low, middle), below2(36, low, middle));
  small = i32x4.add(small, below2(40, low, middle));
  small1 = i32x4.add(small1, below2(44, low, middle));
  small = i32x4.add(small, below2(48, low, middle));
  let tiny = i32x4.add(below1(52, low), below1(56, low));
  tiny = i32x4.add(tiny, below1(60, low));
  tiny = i32x4.add(tiny, i32x4.add(below1(64, low), below1(68, low)));
  small = i32x4.add(i32x4.add(small, small1), v128.and(tiny, middleZero));
  count = i32x4.add(i32x4.add(count, count1), v128.and(small, highZero));
  return i32x4.sub(zero, count);
}

/** z = z0 + 1 if b is 1, -z0 if it is 0: Falcon round 3, algorithm 15, steps 5 and 6. */
// @ts-ignore: decorator
@inline
export function signedSample(z0: v128, w2: v128): v128 {
  const one = i32x4.splat(1);
  const minus = i32x4.sub(v128.and(i32x4.shr_u(w2, 8), one), one);
  return i32x4.add(v128.xor(z0, minus), one);
}

/** The byte compared by samplerZ, 0 to 255. */
// @ts-ignore: decorator
@inline
export function decidingByte(w2: v128): v128 {
  return v128.and(i32x4.shr_u(w2, 16), v128.load32_splat(MASKS, 4));
}
