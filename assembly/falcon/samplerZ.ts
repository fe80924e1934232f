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
 *   second sample (b)        b1    b2    b3     Six judgements, three vectors, no branch
 *                                               until the end.
 *
 * The pair is complete in 4 of 5 cases. Otherwise the rest is sampled separately (`sampleOne`). Any
 * tie among the six sends the pair to `sampleExactly`, which reads byte by byte. All three consume
 * the stream as the reference does.
 *
 * Timing reveals the number of candidates, and ties. The acceptance probability of a candidate does
 * not depend on the centre, the deviation or the drawn value (this is the purpose of the factor
 * ccs: Howe, Prest, Ricosset, Rossi, "Isochronous Gaussian sampling", 2020), and a tie is an
 * equality with a byte that is uniform and never used again. The reference reveals the same. No
 * branch and no address depends on values, centres or the contents of accepted positions.
 */
import { highHalves, lowHalves, swapHalves, upperHalf, zipHigh, zipLow } from '../shared/lanes';
import { baseSamples, decidingByte, signedSample } from './baseSampler';
import { INVERSE_2_SIGMA0_SQ, INVERSE_LN_2, LN_2 } from './fpr';
import { BLOCK, LAST_START, STREAM, streamAdvance, streamPosition } from './chachaPrng';

/**
 * Constants as doubles: ln 2 inverse, ln 2, 1/(2 sigma0^2), 0.5, 1, 1.5 * 2^52, then at 48 the 12
 * coefficients of exp(-x) on [0, ln 2) of FACCT (Zhao, Steinfeld, Sakzad, 2018), starting after the
 * constant term.
 */
export const C: usize = memory.data<f64>([
  INVERSE_LN_2, LN_2, INVERSE_2_SIGMA0_SQ, 0.5, 1.0, 6755399441055744.0,
  0.99999999999999489297408672428, 0.500000000000019206858326015208,
  0.166666666666984014666397229121, 0.041666666666110491190622155955,
  0.008333333327800835146903501993, 0.001388888894063186997887560103,
  0.000198412739277311890541063977, 0.000024801566833585381209939524,
  0.000002755586350219122514855659, 0.000000275607356160477811864927,
  0.000000025299506379442070029551, 0.000000002073772366009083061987,
], 16);
/**
 * x = (z - r)^2 / (2 sigma^2) - z0^2 / (2 sigma0^2), where `handicap` is the last term: algorithm
 * 15, step 7.
 */
// @ts-ignore: decorator
@inline
export function exponent(z: v128, r: v128, dss: v128, handicap: v128): v128 {
  const d = f64x2.sub(z, r);
  return f64x2.sub(f64x2.mul(f64x2.mul(d, d), dss), handicap);
}

/** s = x / ln 2, towards zero. */
// @ts-ignore: decorator
@inline
export function halvings(x: v128): v128 {
  return f64x2.trunc(f64x2.mul(x, v128.load64_splat(C)));
}

/**
 * ccs * exp(-(x - s ln 2)), for x - s ln 2 in [0, ln 2).
 *
 * Spec:   Falcon round 3, algorithm 13 (ApproxExp), in doubles: the order of the reference's AVX2
 *         code, which sums three partial polynomials. (Its portable code is Horner's rule on 64-bit
 *         integers; both are within 2^-50 of the true value and all published signatures agree.)
 * Shape:  x, s, ccs: f64x2 -> f64x2
 * Bounds: x - s ln 2 in [0, ln 2)
 * Secret: all
 */
// @ts-ignore: decorator
@inline
export function scaledExp(x: v128, s: v128, ccs: v128): v128 {
  const d1 = f64x2.sub(f64x2.mul(s, v128.load64_splat(C, 8)), x);
  const d2 = f64x2.mul(d1, d1);
  const d3 = f64x2.mul(d2, d1);
  const d4 = f64x2.mul(d2, d2);
  const d8 = f64x2.mul(d4, d4);
  let p1 = f64x2.mul(d1, v128.load64_splat(C, 48));
  let p2 = f64x2.mul(d2, v128.load64_splat(C, 56));
  let p3 = f64x2.mul(d3, v128.load64_splat(C, 64));
  let p4 = f64x2.mul(d4, v128.load64_splat(C, 72));
  p1 = f64x2.add(f64x2.mul(f64x2.mul(d1, d4), v128.load64_splat(C, 80)), p1);
  p2 = f64x2.add(f64x2.mul(f64x2.mul(d2, d4), v128.load64_splat(C, 88)), p2);
  p3 = f64x2.add(f64x2.mul(f64x2.mul(d3, d4), v128.load64_splat(C, 96)), p3);
  p4 = f64x2.add(f64x2.mul(d8, v128.load64_splat(C, 104)), p4);
  p1 = f64x2.add(f64x2.mul(f64x2.mul(d1, d8), v128.load64_splat(C, 112)), p1);
  p2 = f64x2.add(f64x2.mul(f64x2.mul(d2, d8), v128.load64_splat(C, 120)), p2);
  p3 = f64x2.add(f64x2.mul(f64x2.mul(d3, d8), v128.load64_splat(C, 128)), p3);
  p4 = f64x2.add(f64x2.mul(f64x2.mul(d4, d8), v128.load64_splat(C, 136)), p4);
  const y = f64x2.add(
    f64x2.add(v128.load64_splat(C, 32), f64x2.add(p1, p2)),
    f64x2.add(p3, p4),
  );
  return f64x2.mul(y, ccs);
}

/**
 * t = 2^8 ccs exp(-x), given 2^8 ccs: division by 2^s is a subtraction in the exponent field.
 * Algorithm 14 compares a random byte u with the first byte of the integer z = (2 * trunc(2^63 ccs
 * exp(-r)) - 1) >> s, which is ceil(t) - 1: 2^63 ccs exp(-r) is an integer already (53 bits, above
 * 2^60), and t is either an integer or at least 2^(-47-s) above one. Hence, exactly:
 *
 *   accepted if  u < ceil(t) - 1,  that is  u + 1 < t;
 *   tie if       u = ceil(t) - 1,  that is  u < t <= u + 1.
 */
// @ts-ignore: decorator
@inline
function threshold(x: v128, ccs256: v128): v128 {
  const s = halvings(x);
  const value = scaledExp(x, s, ccs256);
  return i64x2.sub(value, i64x2.shl(f64x2.add(s, v128.load64_splat(C, 40)), 52));
}

/** (a[1], b[0]): the values of candidates 1, 2 in one vector, given those of 0, 1 and of 2, 3. */
// @ts-ignore: decorator
@inline
function inner(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 2);
}

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
 * the tree is damaged, for instance by a NaN.
 */
export const MAX_ROUNDS: i32 = 64;

/**
 * True if any sample since `samplerStart` reached the limit; the value returned for it is not a
 * sample.
 */
let gaveUp: bool = false;

/** Clears the record that a sample reached the limit. */
export function samplerStart(): void {
  gaveUp = false;
}

/** Returns whether any sample since `samplerStart` reached the limit. */
export function samplerFailed(): bool {
  return gaveUp;
}

/**
 * Judges the next four candidates, for two samples at once.
 *
 * Returns the verdict, bits 0-2: candidates 0-2 are accepted for a; 4: TIE; 9-11: candidates 1-3
 * are accepted for b; and z of each candidate in one byte, starting at bit 32.
 *
 * Spec:   Falcon round 3, algorithm 15, steps 4 to 8
 * Shape:  r: the fractions of the two centres; dss = 1/(2 sigma'^2), ccs = 256 sigmaMin/sigma' in
 *         both lanes
 * Memory: STREAM
 * Secret: all
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
  const scale = v128.load64_splat(C, 16);
  const one = v128.load64_splat(C, 32);
  const z01 = f64x2.convert_low_i32x4_s(z);
  const z23 = f64x2.convert_low_i32x4_s(upperHalf(z));
  const x01 = f64x2.mul(f64x2.convert_low_i32x4_s(square), scale);
  const x23 = f64x2.mul(f64x2.convert_low_i32x4_s(upperHalf(square)), scale);
  const u01 = f64x2.convert_low_i32x4_s(u);
  const u23 = f64x2.convert_low_i32x4_s(upperHalf(u));
  const u12 = inner(u01, u23);
  // a0 a1, b1 a2, b2 b3
  const ra = lowHalves(r, r);
  const rba = swapHalves(r);
  const rb = upperHalf(r);
  const t01 = threshold(exponent(z01, ra, dss, x01), ccs);
  const t12 = threshold(exponent(inner(z01, z23), rba, dss, inner(x01, x23)), ccs);
  const t23 = threshold(exponent(z23, rb, dss, x23), ccs);
  const yes01 = f64x2.lt(f64x2.add(u01, one), t01);
  const yes12 = f64x2.lt(f64x2.add(u12, one), t12);
  const yes23 = f64x2.lt(f64x2.add(u23, one), t23);
  const tie01 = v128.andnot(f64x2.lt(u01, t01), yes01);
  const tie12 = v128.andnot(f64x2.lt(u12, t12), yes12);
  const tie23 = v128.andnot(f64x2.lt(u23, t23), yes23);
  const tie = i32(v128.any_true(v128.or(v128.or(tie01, tie12), tie23)));
  const middle = i64x2.bitmask(yes12);
  const a = i64x2.bitmask(yes01) | ((middle & 2) << 1);
  const b = ((middle & 1) << 9) | (i64x2.bitmask(yes23) << 10);
  const words = i16x8.narrow_i32x4_s(z, z);
  const bytes = i32x4.extract_lane(i8x16.narrow_i16x8_s(words, words), 0);
  return (<i64>bytes << 32) | <i64>(a | b | (tie << 4));
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
 */
export function samplePair(mu: v128, inverseSigma: f64, ccsScale: f64): v128 {
  const whole = f64x2.floor(mu); // step 1
  const r = f64x2.sub(mu, whole);
  const inverse = f64x2.splat(inverseSigma);
  const dss = f64x2.mul(f64x2.mul(inverse, inverse), v128.load64_splat(C, 24));
  const ccs = f64x2.mul(inverse, f64x2.splat(ccsScale)); // step 2
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
      a = sampleExactly(lowHalves(r, r), dss, ccs);
      b = sampleExactly(upperHalf(r), dss, ccs);
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
      b = sampleOne(upperHalf(r), dss, ccs);
      break;
    }
    consume(start, 2); // a rejected three; candidate 3 was judged only for b
  }
  const z = i32x4.replace_lane(i32x4.splat(a), 1, b);
  return f64x2.add(whole, f64x2.convert_low_i32x4_s(z)); // step 9
}

/**
 * Draws one sample: both judgements use the same centre, so together they cover four candidates.
 */
function sampleOne(r: v128, dss: v128, ccs: v128): i32 {
  for (let left = MAX_ROUNDS; left > 0; left--) {
    const start = streamPosition();
    const judged = judgeFour(r, dss, ccs);
    const verdict = <i32>judged;
    if (verdict & TIE) return sampleExactly(r, dss, ccs);
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
 * Shape:  r: the centre's fraction, dss = 1/(2 sigma'^2), ccs = 256 sigmaMin/sigma', each in both
 *         lanes
 * Secret: all
 */
function sampleExactly(r: v128, dss: v128, ccs: v128): i32 {
  for (let left = 3 * MAX_ROUNDS; left > 0; left--) {
    const at = streamPosition();
    const low = load<u64>(STREAM + <usize>at);
    const high = load<u16>(STREAM + <usize>at, 8);
    const w0 = i32x4.splat(<i32>low);
    const w1 = i32x4.splat(<i32>(low >> 32));
    const w2 = i32x4.splat(<i32>high);
    const z0 = baseSamples(w0, w1, w2);
    const z = signedSample(z0, w2);
    const x = exponent(
      f64x2.convert_low_i32x4_s(z),
      r,
      dss,
      f64x2.mul(f64x2.convert_low_i32x4_s(i32x4.dot_i16x8_s(z0, z0)), v128.load64_splat(C, 16)),
    );
    const s = halvings(x);
    // 2^63 ccs exp(-r): an exact product
    const value = f64x2.extract_lane(scaledExp(x, s, ccs), 0) * 36028797018963968.0;
    const halved = <i32>f64x2.extract_lane(s, 0);
    const shift = (halved | ((63 - halved) >> 31)) & 63; // at most 63
    const bits = ((<u64>(<i64>value) << 1) - 1) >> <u64>shift; // algorithm 14, step 4
    const settled = berExp(STREAM + <usize>at + 10, bits);
    streamAdvance(at + 10 + (settled >> 1));
    if (settled & 1) return i32x4.extract_lane(z, 0);
  }
  gaveUp = true;
  return 0;
}
