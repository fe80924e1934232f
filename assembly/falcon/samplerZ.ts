/**
 * samplerZ: samples integers from a discrete Gaussian around any centre, by rejection, two at a
 * time.
 *
 * A candidate uses 11 bytes of the stream, as in the reference:
 *
 *   | 9: base sample z0, 72 bits | 1: bit b | 1: compared with the first byte of exp(-x) |
 *
 * The comparison continues with further bytes only if the two are equal (1 in 256). Except for
 * ties, candidates are therefore 11 bytes apart regardless of their values and of the sample that
 * uses them, and `samplePair` judges four of them at once for two samples of the same deviation:
 *
 *   candidate          0     1     2     3      the first sample takes its first accepted one,
 *   first sample (a)   a0    a1    a2           the second the first accepted one after that.
 *   second sample (b)        b1    b2    b3     Six judgements, no branch until the end.
 *
 * The pair is complete in 4 of 5 cases. Otherwise the rest is sampled separately (`sampleOne`). Any
 * tie among the six sends the first sample to `sampleExactly`, which reads byte by byte, and the
 * second one to `sampleOne`. All three consume the stream as the reference does.
 *
 * Timing reveals the number of candidates, and ties. The acceptance probability of a candidate does
 * not depend on the centre, the deviation or the drawn value (this is the purpose of the factor
 * ccs: Howe, Prest, Ricosset, Rossi, "Isochronous Gaussian sampling", 2020), and a tie is an
 * equality with a byte that is uniform and never used again. The reference reveals the same.
 * (Without floating point, a threshold within 2^-11 of an integer has two such bytes:
 * judgeInteger.ts.) No branch and no address depends on values, centres or the contents of accepted
 * positions.
 */
import { highHalves, lowHalves, upperHalf, zipHigh, zipLow } from '../shared/lanes';
import { baseSamples, decidingByte, signedSample } from './baseSampler';
import {
  comparedBits,
  exponent,
  fraction,
  halfInverseSquare,
  handicapOf,
} from './approxExp';
import { BLOCK, LAST_START, STREAM, streamAdvance, streamPosition } from './chachaPrng';
import * as float from './judgeFloat';
import * as integer from './judgeInteger';
import * as R from './real';

/** From this offset onwards four candidates may cross the boundary of a buffer. */
const NEAR_BORDER: i32 = 470;

/**
 * The start of the next candidate, counted, like `end`, from `start`: the bytes between 503
 * and 512 are not used.
 */
// @ts-ignore: decorator
@inline
function startAfter(start: i32, end: i32): i32 {
  return start + end >= LAST_START ? max(end, BLOCK - start) : end;
}

/** The ends of four candidates that may cross the boundary of a buffer, a byte each. */
function endsAcross(start: i32): u32 {
  let ends: u32 = 0;
  let end = 0;
  for (let shift = 0; shift < 32; shift += 8) {
    end = startAfter(start, end) + 11;
    ends |= <u32>end << shift;
  }
  return ends;
}

/** Bit of a verdict: at least one comparison was a tie. */
const TIE: i32 = 16;

/**
 * Limits of the loops below. A candidate is accepted with a probability of
 *
 *   sigmaMin sqrt(2 pi) / (sigma0 sqrt(2 pi) + 1) = 0.576 for n = 512, 0.585 for n = 1024,
 *   sigma0 = 1.8205,
 *
 * for any centre and deviation. So 3 MAX_ROUNDS candidates in a row are rejected with a probability
 * below 2^-237, for any sample of a signature below 2^-221. Reaching the limit therefore means that
 * the machine is faulty.
 */
export const MAX_ROUNDS: i32 = 64;

/**
 * True if any sample since `samplerStart` reached the limit; the value returned for it is not a
 * sample.
 */
let gaveUp: bool = false;

/**
 * The minimum and maximum of 1/sigma' that `makeExpanded` accepts: 1.8205 times the first is at
 * least 1, sigmaMin of n = 512 times the second at most 1, both rounded.
 */
const LEAST_INVERSE: u64 = reinterpret<u64>(0.5492996429552321);
const MOST_INVERSE: u64 = reinterpret<u64>(0.782574448002066);
/** The bits of the largest magnitude of a centre: below 2^31. */
const FARTHEST: usize = memory.data<u64>([0x41dfffffffffffff], 16);

/** Clears the record that a sample reached the limit. */
export function samplerStart(): void {
  gaveUp = false;
}

/** Returns whether any sample since `samplerStart` reached the limit. */
export function samplerFailed(): bool {
  return gaveUp;
}

/**
 * Returns whether a deviation or a centre is none of a valid tree, or no number, and records it as
 * if the limit had been reached. What follows may rely on the bounds of `samplePair`.
 */
// @ts-ignore: decorator
@inline
export function isOutOfRange(mu: v128, inverseSigma: u64): bool {
  // Sign bits: of magnitudes above the largest; of the distances from both ends.
  const far = i64x2.bitmask(i64x2.sub(v128.load64_splat(FARTHEST), R.abs(mu)));
  const above = <i64>(inverseSigma - LEAST_INVERSE);
  const below = <i64>(MOST_INVERSE - inverseSigma);
  const isWrong = <bool>(i32((above | below) >>> 63) | far);
  if (isWrong) gaveUp = true;
  return isWrong;
}

/** The fractions of two centres, as `judgeFour` takes them. */
// @ts-ignore: decorator
@inline
function centres(mu: v128): v128 {
  return isDefined(REAL_ON_INTEGERS) ? integer.centres(mu) : float.centres(mu);
}

/** 1/(2 sigma'^2), as `judgeFour` takes it. */
// @ts-ignore: decorator
@inline
function narrowness(inverseSigma: u64): v128 {
  return isDefined(REAL_ON_INTEGERS)
    ? integer.narrowness(inverseSigma)
    : float.narrowness(inverseSigma);
}

/** 256 sigmaMin/sigma', as `judgeFour` takes it. */
// @ts-ignore: decorator
@inline
function height(inverseSigma: u64, ccsScale: u64): v128 {
  return isDefined(REAL_ON_INTEGERS)
    ? integer.height(inverseSigma, ccsScale)
    : float.height(inverseSigma, ccsScale);
}

/**
 * Judges the next four candidates, for two samples at once.
 *
 * Returns the verdict, bits 0-2: candidates 0-2 are accepted for a; 4: TIE; 9-11: candidates 1-3
 * are accepted for b; and z of each candidate in one byte, starting at bit 32. r is from `centres`,
 * dss from `narrowness`, ccs from `height`. Its base samples are proved, all else is not.
 *
 * Spec:   Falcon round 3, algorithm 15, steps 4 to 8
 * Memory: STREAM
 * Secret: all
 * Proof:  baseSampler()
 * Builds: falcon, falcon.relaxed
 */
function judgeFour(r: v128, dss: v128, ccs: v128): i64 {
  const start = streamPosition();
  let o1: usize = 11;
  let o2: usize = 22;
  let o3: usize = 33;
  if (start >= NEAR_BORDER) {
    const across = endsAcross(start);
    o1 = <usize>startAfter(start, <i32>(across & 255));
    o2 = <usize>startAfter(start, <i32>((across >> 8) & 255));
    o3 = <usize>startAfter(start, <i32>((across >> 16) & 255));
  }
  const at = STREAM + <usize>start;
  const v0 = v128.load(at);
  const v1 = v128.load(at + o1);
  const v2 = v128.load(at + o2);
  const v3 = v128.load(at + o3);
  const l01 = zipLow(v0, v1);
  const l23 = zipLow(v2, v3);
  const h01 = zipHigh(v0, v1);
  const h23 = zipHigh(v2, v3);
  const w2 = lowHalves(h01, h23);
  const z0 = baseSamples(lowHalves(l01, l23), highHalves(l01, l23), w2);
  const z = signedSample(z0, w2);
  const square = i32x4.dot_i16x8_s(z0, z0);
  const u = decidingByte(w2);
  const verdict = isDefined(REAL_ON_INTEGERS)
    ? integer.verdictOf(z, square, u, r, dss, ccs)
    : float.verdictOf(z, square, u, r, dss, ccs);
  const words = i16x8.narrow_i32x4_s(z, z);
  const bytes = i32x4.extract_lane(i8x16.narrow_i16x8_s(words, words), 0);
  return (<i64>bytes << 32) | <i64>verdict;
}

/** z of candidate k. */
// @ts-ignore: decorator
@inline
function candidate(judged: i64, k: i32): i32 {
  return <i32>(<i8>(judged >> (32 + (k << 3))));
}

/** Consumes the stream up to the end of candidate k. */
// @ts-ignore: decorator
@inline
function consume(start: i32, k: i32): void {
  let end = 11 + 11 * k;
  if (start >= NEAR_BORDER) end = <i32>((endsAcross(start) >> (k << 3)) & 255);
  streamAdvance(start + end);
}

/**
 * Draws two samples of one deviation around the centres mu.
 *
 * Spec:   Falcon round 3, algorithm 15 (SamplerZ), for mu[0], then for mu[1]; stream use of the
 *         round-3 reference
 * Shape:  mu: f64x2; inverseSigma = 1/sigma'; ccsScale = 256 sigmaMin -> f64x2 of integers
 * Bounds: sigmaMin <= sigma' <= 1.8205, |mu| < 2^31
 * Memory: STREAM
 * Secret: all; timing reveals the number of candidates (see the head of this file)
 * Errors: see `samplerFailed`
 * Proof:  none: rejection: branches on accepted candidates
 */
export function samplePair(mu: v128, inverseSigma: u64, ccsScale: u64): v128 {
  if (isOutOfRange(mu, inverseSigma)) return mu;
  const r = centres(mu); // step 1
  const dss = narrowness(inverseSigma);
  const ccs = height(inverseSigma, ccsScale); // step 2
  let a = 0;
  let b = 0;
  for (let left = MAX_ROUNDS; ; left--) {
    if (left == 0) {
      gaveUp = true;
      break;
    }
    const start = streamPosition();
    const judged = judgeFour(r, dss, ccs);
    const verdict = <i32>judged;
    if (verdict & TIE) {
      a = sampleExactly(mu, inverseSigma, ccsScale);
      b = sampleOne(upperHalf(r), dss, ccs, upperHalf(mu), inverseSigma, ccsScale);
      break;
    }
    const chosenA = ctz(verdict | 8);
    const afterA = (verdict >> 8) & (-2 << chosenA);
    a = candidate(judged, chosenA);
    if (afterA != 0) {
      const chosenB = ctz(afterA);
      b = candidate(judged, chosenB);
      consume(start, chosenB);
      break;
    }
    if (chosenA < 3) {
      consume(start, 3);
      b = sampleOne(upperHalf(r), dss, ccs, upperHalf(mu), inverseSigma, ccsScale);
      break;
    }
    consume(start, 2); // a rejected three; candidate 3 was judged only for b
  }
  return R.floorPlus(mu, i32x4.replace_lane(i32x4.splat(a), 1, b)); // step 9
}

/**
 * Draws one sample: both judgements use the same centre, so together they cover four candidates.
 *
 * Shape:  r, dss, ccs as for judgeFour; what they were made from, for a tie
 * Secret: all
 * Proof:  none: rejection: branches on accepted candidates
 */
function sampleOne(
  r: v128,
  dss: v128,
  ccs: v128,
  mu: v128,
  inverseSigma: u64,
  ccsScale: u64,
): i32 {
  for (let left = MAX_ROUNDS; left > 0; left--) {
    const start = streamPosition();
    const judged = judgeFour(r, dss, ccs);
    const verdict = <i32>judged;
    if (verdict & TIE) return sampleExactly(mu, inverseSigma, ccsScale);
    const accepted = (verdict & 7) | (verdict >> 8);
    if (accepted != 0) {
      const chosen = ctz(accepted);
      const z = candidate(judged, chosen);
      consume(start, chosen);
      return z;
    }
    consume(start, 3);
  }
  gaveUp = true;
  return 0;
}

/**
 * Compares bytes of the stream, starting at `at`, with those of `bits`, the highest first, until
 * two differ.
 *
 * Spec:   Falcon round 3, algorithm 14 (BerExp), steps 5 to 10
 * Secret: all; the number of compared bytes reveals nothing, because the stream is uniform
 * Proof:  none: inlined; part of sampleExactly
 *
 * Returns twice the number of bytes compared, plus 1 if the candidate is accepted: the stream's
 * last byte is the smaller one.
 */
function berExp(at: usize, bits: u64): i32 {
  let count = 0;
  let w = 0;
  do {
    w = <i32>load<u8>(at + <usize>count) - <i32>((bits >> (56 - (count << 3))) & 255);
    count += 1;
  } while (i32(w == 0) & i32(count < 8));
  return (count << 1) | (w >>> 31);
}

/**
 * Draws one sample byte by byte, like the reference: the fallback when the first byte does not
 * settle a comparison.
 *
 * Spec:   Falcon round 3, algorithms 14 (BerExp) and 15
 * Shape:  mu: the centre, in lane 0; the others as for samplePair
 * Secret: all
 * Proof:  none: rejection: branches on accepted candidates
 */
function sampleExactly(mu: v128, inverseSigma: u64, ccsScale: u64): i32 {
  const r = fraction(mu);
  const inverse = i64x2.splat(inverseSigma);
  const dss = halfInverseSquare(inverse);
  const ccs = R.mul(inverse, i64x2.splat(ccsScale));
  for (let left = 3 * MAX_ROUNDS; left > 0; left--) {
    const at = streamPosition();
    const low = load<u64>(STREAM + <usize>at);
    const high = load<u16>(STREAM + <usize>at, 8);
    const w0 = i32x4.splat(<i32>low);
    const w1 = i32x4.splat(<i32>(low >> 32));
    const w2 = i32x4.splat(<i32>high);
    const z0 = baseSamples(w0, w1, w2);
    const z = signedSample(z0, w2);
    const square = i32x4.dot_i16x8_s(z0, z0);
    const x = exponent(R.fromI32(z), r, dss, handicapOf(square));
    const settled = berExp(STREAM + <usize>at + 10, comparedBits(x, ccs));
    streamAdvance(at + 10 + (settled >> 1));
    if (settled & 1) return i32x4.extract_lane(z, 0);
  }
  gaveUp = true;
  return 0;
}
