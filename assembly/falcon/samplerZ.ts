/**
 * samplerZ: integers of a discrete Gaussian around any centre, by rejection, two at a time.
 *
 * A candidate takes 11 bytes of the stream, as in the reference:
 *
 *   | 9: base sample z0, 72 bits | 1: bit b | 1: compared with the first byte of exp(-x) |
 *
 * and the comparison goes on with further bytes only when the two are equal (1 in 256). So, ties apart, candidates stand
 * 11 bytes apart whatever they are and whoever takes them, and `samplePair` judges four of them at once for two
 * samples of one deviation:
 *
 *   candidate          0     1     2     3        the first sample takes its first accepted candidate,
 *   first sample (a)   a0    a1    a2             the second the first accepted one after that.
 *   second sample (b)        b1    b2    b3       Six judgements, three vectors, no branch until the end.
 *
 * The pair is complete in 4 of 5 cases. Otherwise the rest is sampled alone (`sampleOne`), and any tie among the six
 * sends the pair to `sampleExactly`, which reads byte by byte. All three consume the stream as the reference does.
 *
 * What timing shows: the number of candidates, and ties. A candidate is accepted with a probability that depends
 * neither on the centre nor on the deviation nor on the value drawn (the factor ccs is there for that: Howe, Prest,
 * Ricosset, Rossi, "Isochronous Gaussian sampling", 2020), and a tie is an equality with a byte that is uniform and never
 * used again. The reference shows the same. Values, centres and accepted positions' contents reach no branch and no address.
 */
import { INVERSE_2_SIGMA0_SQ, INVERSE_LN_2, LN_2 } from './fpr';
import { STREAM, streamAdvance, streamPosition } from './chachaPrng';
import { RCDT_HIGH, RCDT_LOW, RCDT_MIDDLE } from './samplerTables.gen';

/**
 * Constants as doubles: ln 2 inverse, ln 2, 1/(2 sigma0^2), 0.5, 1, 1.5 * 2^52, then at 48 the 12 coefficients of exp(-x)
 * on [0, ln 2) of FACCT (Zhao, Steinfeld, Sakzad, 2018), from the constant term's neighbour on.
 */
const C: usize = memory.data<f64>([
  INVERSE_LN_2, LN_2, INVERSE_2_SIGMA0_SQ, 0.5, 1.0, 6755399441055744.0,
  0.99999999999999489297408672428, 0.500000000000019206858326015208,
  0.166666666666984014666397229121, 0.041666666666110491190622155955,
  0.008333333327800835146903501993, 0.001388888894063186997887560103,
  0.000198412739277311890541063977, 0.000024801566833585381209939524,
  0.000002755586350219122514855659, 0.000000275607356160477811864927,
  0.000000025299506379442070029551, 0.000000002073772366009083061987,
], 16);
const MASK31: usize = memory.data<u32>([0x7fffffff, 0xff], 16);

/** One entry of the table against four candidates, all three limbs: -1 where candidate < entry. */
// @ts-ignore: decorator
@inline
function below3(entry: usize, low: v128, middle: v128, high: v128): v128 {
  let borrow = i32x4.gt_s(v128.load32_splat(RCDT_LOW + entry), low);
  borrow = i32x4.gt_s(v128.load32_splat(RCDT_MIDDLE + entry), i32x4.add(middle, borrow));
  return i32x4.gt_s(v128.load32_splat(RCDT_HIGH + entry), i32x4.add(high, borrow));
}

/** As `below3`, for an entry whose highest limb is zero; valid where the candidate's is zero too. */
// @ts-ignore: decorator
@inline
function below2(entry: usize, low: v128, middle: v128): v128 {
  const borrow = i32x4.gt_s(v128.load32_splat(RCDT_LOW + entry), low);
  return i32x4.gt_s(v128.load32_splat(RCDT_MIDDLE + entry), i32x4.add(middle, borrow));
}

/** As `below3`, for an entry whose two higher limbs are zero; valid where the candidate's are zero too. */
// @ts-ignore: decorator
@inline
function below1(entry: usize, low: v128): v128 {
  return i32x4.gt_s(v128.load32_splat(RCDT_LOW + entry), low);
}

/**
 * Four base samples from 72-bit numbers in limbs of 31, 31 and 10 bits: how many table entries exceed each. All 18
 * entries are compared, always.
 *
 * Spec:   Falcon round 3, algorithm 12 (BaseSampler)
 * Bounds: out in [0, 18]
 * Secret: all
 */
// @ts-ignore: decorator
@inline
function baseSamples(low: v128, middle: v128, high: v128): v128 {
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

// @ts-ignore: decorator
@inline
function lowLimb(w0: v128): v128 {
  return v128.and(w0, v128.load32_splat(MASK31));
}

// @ts-ignore: decorator
@inline
function middleLimb(w0: v128, w1: v128): v128 {
  return v128.and(
    v128.or(i32x4.shr_u(w0, 31), i32x4.shl(w1, 1)),
    v128.load32_splat(MASK31),
  );
}

// @ts-ignore: decorator
@inline
function highLimb(w1: v128, w2: v128): v128 {
  return v128.or(
    i32x4.shr_u(w1, 30),
    i32x4.shl(v128.and(w2, v128.load32_splat(MASK31, 4)), 2),
  );
}

/** z = z0 + 1 if b is 1, -z0 if it is 0: algorithm 15, step 6. The bit is bit 8 of w2. */
// @ts-ignore: decorator
@inline
function signedSample(z0: v128, w2: v128): v128 {
  const one = i32x4.splat(1);
  const minus = i32x4.sub(v128.and(i32x4.shr_u(w2, 8), one), one);
  return i32x4.add(v128.xor(z0, minus), one);
}

/** x = (z - r)^2 / (2 sigma^2) - z0^2 / (2 sigma0^2), `handicap` being the last term: algorithm 15, step 7. */
// @ts-ignore: decorator
@inline
function exponent(z: v128, r: v128, dss: v128, handicap: v128): v128 {
  const d = f64x2.sub(z, r);
  return f64x2.sub(f64x2.mul(f64x2.mul(d, d), dss), handicap);
}

/** s = x / ln 2, towards zero. */
// @ts-ignore: decorator
@inline
function halvings(x: v128): v128 {
  return f64x2.trunc(f64x2.mul(x, v128.load64_splat(C)));
}

/**
 * ccs * exp(-(x - s ln 2)), for x - s ln 2 in [0, ln 2).
 *
 * Spec:   Falcon round 3, algorithm 13 (ApproxExp), in doubles: the order of the reference's AVX2 code, which sums three
 *         partial polynomials. (Its portable code is Horner's rule on 64-bit integers; both are within 2^-50 of the true value
 *         and all published signatures agree.)
 */
// @ts-ignore: decorator
@inline
function scaledExp(x: v128, s: v128, ccs: v128): v128 {
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
 * t = 2^8 ccs exp(-x), given 2^8 ccs: division by 2^s is a subtraction in the exponent field. Algorithm 14 compares a random
 * byte u with the first byte of the integer z = (2 * trunc(2^63 ccs exp(-r)) - 1) >> s, which is ceil(t) - 1: 2^63 ccs exp(-r)
 * is an integer already (53 bits, above 2^60), and t is either an integer or at least 2^(-47-s) above one. Hence, exactly:
 *
 *   accepted if  u < ceil(t) - 1,  that is  u + 1 < t;      tie if  u = ceil(t) - 1,  that is  u < t <= u + 1.
 */
// @ts-ignore: decorator
@inline
function threshold(x: v128, ccs256: v128): v128 {
  const s = halvings(x);
  const value = scaledExp(x, s, ccs256);
  return i64x2.sub(value, i64x2.shl(f64x2.add(s, v128.load64_splat(C, 40)), 52));
}

/** Lanes 2 and 3 to lanes 0 and 1. */
// @ts-ignore: decorator
@inline
function upper(a: v128): v128 {
  return v128.shuffle<u64>(a, a, 1, 1);
}

/** (a[1], b[0]): what candidates 1 and 2 need in one vector, given those of 0, 1 and of 2, 3. */
// @ts-ignore: decorator
@inline
function inner(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 2);
}

/** The four ends of candidates from `start`, relative to it, a byte each: a base sample that cannot start in a buffer waits for the next. */
function endsAcross(start: i32): u32 {
  let ends: u32 = 0;
  let at = start;
  for (let k = 0; k < 32; k += 8) {
    if (at >= 503) at = max(at, 512);
    at += 11;
    ends |= <u32>(at - start) << k;
  }
  return ends;
}

/** 11, 22, 33, 44. */
const ENDS: u32 = 0x2c21160b;

/**
 * Two samples of one deviation around the centres mu.
 *
 * Spec:   Falcon round 3, algorithm 15 (SamplerZ), for mu[0], then for mu[1]; stream use of the round-3 reference
 * Shape:  mu: f64x2; inverseSigma = 1/sigma'; ccsScale = 256 sigmaMin -> f64x2 of integers
 * Bounds: sigmaMin <= sigma' <= 1.8205, |mu| < 2^31
 * Memory: STREAM
 * Secret: all; timing shows the number of candidates (see the head of this file)
 */
export function samplePair(mu: v128, inverseSigma: f64, ccsScale: f64): v128 {
  const whole = f64x2.floor(mu); // step 1
  const r = f64x2.sub(mu, whole);
  const inverse = f64x2.splat(inverseSigma);
  const dss = f64x2.mul(f64x2.mul(inverse, inverse), v128.load64_splat(C, 24));
  const ccs = f64x2.mul(inverse, f64x2.splat(ccsScale)); // step 2
  const ra = v128.shuffle<f64>(r, r, 0, 0);
  const rb = v128.shuffle<f64>(r, r, 1, 1);
  const rba = v128.shuffle<f64>(r, r, 1, 0);
  while (true) {
    const start = streamPosition();
    let ends = ENDS;
    let o1: usize = 11;
    let o2: usize = 22;
    let o3: usize = 33;
    if (start >= 470) {
      ends = endsAcross(start);
      o1 = (ends & 255);
      o2 = ((ends >> 8) & 255);
      o3 = ((ends >> 16) & 255);
      // a start below 512 but past 502 moves on; an end does not
      if (start + <i32>o1 >= 503) o1 = max(o1, <usize>(512 - start));
      if (start + <i32>o2 >= 503) o2 = max(o2, <usize>(512 - start));
      if (start + <i32>o3 >= 503) o3 = max(o3, <usize>(512 - start));
    }
    const at = STREAM + <usize>start;
    const v0 = v128.load(at);
    const v1 = v128.load(at + o1);
    const v2 = v128.load(at + o2);
    const v3 = v128.load(at + o3);
    // steps 4 to 6 for the four candidates
    const l01 = v128.shuffle<u32>(v0, v1, 0, 4, 1, 5);
    const l23 = v128.shuffle<u32>(v2, v3, 0, 4, 1, 5);
    const w0 = v128.shuffle<u64>(l01, l23, 0, 2);
    const w1 = v128.shuffle<u64>(l01, l23, 1, 3);
    const w2 = v128.shuffle<u64>(
      v128.shuffle<u32>(v0, v1, 2, 6, 3, 7),
      v128.shuffle<u32>(v2, v3, 2, 6, 3, 7),
      0, 2,
    );
    const z0 = baseSamples(lowLimb(w0), middleLimb(w0, w1), highLimb(w1, w2));
    const z = signedSample(z0, w2);
    const square = i32x4.dot_i16x8_s(z0, z0);
    const u = v128.and(i32x4.shr_u(w2, 16), v128.load32_splat(MASK31, 4));
    const z01 = f64x2.convert_low_i32x4_s(z);
    const z23 = f64x2.convert_low_i32x4_s(upper(z));
    const h01 = f64x2.mul(f64x2.convert_low_i32x4_s(square), v128.load64_splat(C, 16));
    const h23 = f64x2.mul(f64x2.convert_low_i32x4_s(upper(square)), v128.load64_splat(C, 16));
    const u01 = f64x2.convert_low_i32x4_s(u);
    const u23 = f64x2.convert_low_i32x4_s(upper(u));
    const u12 = inner(u01, u23);
    const one = v128.load64_splat(C, 32);
    // steps 7 and 8, six times: a0 a1, b1 a2, b2 b3
    const t01 = threshold(exponent(z01, ra, dss, h01), ccs);
    const t12 = threshold(exponent(inner(z01, z23), rba, dss, inner(h01, h23)), ccs);
    const t23 = threshold(exponent(z23, rb, dss, h23), ccs);
    const yes01 = f64x2.lt(f64x2.add(u01, one), t01);
    const yes12 = f64x2.lt(f64x2.add(u12, one), t12);
    const yes23 = f64x2.lt(f64x2.add(u23, one), t23);
    const tie = v128.or(
      v128.or(
        v128.andnot(f64x2.lt(u01, t01), yes01),
        v128.andnot(f64x2.lt(u12, t12), yes12),
      ),
      v128.andnot(f64x2.lt(u23, t23), yes23),
    );
    const m12 = i64x2.bitmask(yes12);
    const acceptedA = i64x2.bitmask(yes01) | ((m12 & 2) << 1) | 8;
    const acceptedB = ((m12 & 1) << 1) | (i64x2.bitmask(yes23) << 2);
    if (v128.any_true(tie)) {
      const a = sampleExactly(ra, dss, ccs);
      const b = sampleExactly(rb, dss, ccs);
      return f64x2.add(whole, f64x2.convert_low_i32x4_s(i32x4.replace_lane(i32x4.splat(a), 1, b)));
    }
    const chosenA = ctz(acceptedA);
    const afterA = acceptedB & (-2 << chosenA);
    const packed = i64x2.extract_lane(i16x8.narrow_i32x4_s(z, z), 0);
    const a = <i32>(<i16>(packed >> (chosenA << 4)));
    if (afterA != 0) {
      const chosenB = ctz(afterA);
      const b = <i32>(<i16>(packed >> (chosenB << 4)));
      streamAdvance(start + <i32>((ends >> (chosenB << 3)) & 255));
      return f64x2.add(whole, f64x2.convert_low_i32x4_s(i32x4.replace_lane(i32x4.splat(a), 1, b)));
    }
    if (chosenA < 3) {
      streamAdvance(start + <i32>(ends >> 24));
      const b = sampleOne(rb, dss, ccs);
      return f64x2.add(whole, f64x2.convert_low_i32x4_s(i32x4.replace_lane(i32x4.splat(a), 1, b)));
    }
    streamAdvance(start + <i32>((ends >> 16) & 255)); // a refused three; candidate 3 was judged for b alone
  }
}

/** One sample: the integer for centre r in [0, 1) (both lanes), four candidates at a time. */
function sampleOne(r: v128, dss: v128, ccs: v128): i32 {
  while (true) {
    const start = streamPosition();
    let ends = ENDS;
    let o1: usize = 11;
    let o2: usize = 22;
    let o3: usize = 33;
    if (start >= 470) {
      ends = endsAcross(start);
      o1 = (ends & 255);
      o2 = ((ends >> 8) & 255);
      o3 = ((ends >> 16) & 255);
      if (start + <i32>o1 >= 503) o1 = max(o1, <usize>(512 - start));
      if (start + <i32>o2 >= 503) o2 = max(o2, <usize>(512 - start));
      if (start + <i32>o3 >= 503) o3 = max(o3, <usize>(512 - start));
    }
    const at = STREAM + <usize>start;
    const v0 = v128.load(at);
    const v1 = v128.load(at + o1);
    const v2 = v128.load(at + o2);
    const v3 = v128.load(at + o3);
    const l01 = v128.shuffle<u32>(v0, v1, 0, 4, 1, 5);
    const l23 = v128.shuffle<u32>(v2, v3, 0, 4, 1, 5);
    const w0 = v128.shuffle<u64>(l01, l23, 0, 2);
    const w1 = v128.shuffle<u64>(l01, l23, 1, 3);
    const w2 = v128.shuffle<u64>(
      v128.shuffle<u32>(v0, v1, 2, 6, 3, 7),
      v128.shuffle<u32>(v2, v3, 2, 6, 3, 7),
      0, 2,
    );
    const z0 = baseSamples(lowLimb(w0), middleLimb(w0, w1), highLimb(w1, w2));
    const z = signedSample(z0, w2);
    const square = i32x4.dot_i16x8_s(z0, z0);
    const u = v128.and(i32x4.shr_u(w2, 16), v128.load32_splat(MASK31, 4));
    const z01 = f64x2.convert_low_i32x4_s(z);
    const z23 = f64x2.convert_low_i32x4_s(upper(z));
    const h01 = f64x2.mul(f64x2.convert_low_i32x4_s(square), v128.load64_splat(C, 16));
    const h23 = f64x2.mul(f64x2.convert_low_i32x4_s(upper(square)), v128.load64_splat(C, 16));
    const u01 = f64x2.convert_low_i32x4_s(u);
    const u23 = f64x2.convert_low_i32x4_s(upper(u));
    const one = v128.load64_splat(C, 32);
    const t01 = threshold(exponent(z01, r, dss, h01), ccs);
    const t23 = threshold(exponent(z23, r, dss, h23), ccs);
    const yes01 = f64x2.lt(f64x2.add(u01, one), t01);
    const yes23 = f64x2.lt(f64x2.add(u23, one), t23);
    const tie = v128.or(
      v128.andnot(f64x2.lt(u01, t01), yes01),
      v128.andnot(f64x2.lt(u23, t23), yes23),
    );
    if (v128.any_true(tie)) return sampleExactly(r, dss, ccs);
    const accepted = i64x2.bitmask(yes01) | (i64x2.bitmask(yes23) << 2);
    if (accepted != 0) {
      const chosen = ctz(accepted);
      const packed = i64x2.extract_lane(i16x8.narrow_i32x4_s(z, z), 0);
      streamAdvance(start + <i32>((ends >> (chosen << 3)) & 255));
      return <i32>(<i16>(packed >> (chosen << 4)));
    }
    streamAdvance(start + <i32>(ends >> 24));
  }
}

/**
 * One sample, byte by byte as the reference: the way out when a comparison is not settled by its first byte.
 *
 * Spec:   Falcon round 3, algorithms 14 (BerExp) and 15
 * Shape:  r: the centre's fraction, dss = 1/(2 sigma'^2), ccs = 256 sigmaMin/sigma', each in both lanes
 * Secret: all; the bytes compared until two differ tell nothing, the stream's being uniform
 */
function sampleExactly(r: v128, dss: v128, ccs: v128): i32 {
  while (true) {
    let at = streamPosition();
    const low = load<u64>(STREAM + <usize>at);
    const high = load<u16>(STREAM + <usize>at, 8);
    const w0 = i32x4.splat(<i32>low);
    const w1 = i32x4.splat(<i32>(low >> 32));
    const w2 = i32x4.splat(<i32>high);
    const z0 = baseSamples(lowLimb(w0), middleLimb(w0, w1), highLimb(w1, w2));
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
    const shift = min(<i32>f64x2.extract_lane(s, 0), 63);
    const bits = ((<u64>(<i64>value) << 1) - 1) >> <u64>shift; // algorithm 14, step 4
    at += 10;
    let w = 0;
    for (let i: u64 = 56; ; i -= 8) {
      w = <i32>load<u8>(STREAM + <usize>at) - <i32>((bits >> i) & 255);
      at += 1;
      if (w != 0 || i == 0) break;
    }
    streamAdvance(at);
    if (w < 0) return i32x4.extract_lane(z, 0);
  }
}
