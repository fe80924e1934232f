/**
 * Verification: s1 = c - s2 h mod q, centred, and ||(s1, s2)||^2 <= beta^2.
 */
import { E_SIG_NORM, OK } from '../shared/status';
import { decodePublicKey, decodeSignature } from './codec';
import { liftPoint, pointOffset } from './hashToPoint';
import { PK, POINT, PREPARED, PRODUCT, S2, SIG } from './layout';
import { intt, ntt, pointwisePrepared, preparePoly } from '../shared/ntt';
import { betaSq } from './params';
import { formFault, isWithinLimit, makePoint } from './profile';
import { Q_LANES, reduce } from '../shared/zq';

/**
 * Decodes and transforms PK into PREPARED: the transform of h with its companions (ntt.ts).
 *
 * Spec:   Falcon, round 3, Algorithm 16, the part that depends on the key alone
 * Shape:  PK: u8[1 + 7n/4] -> PREPARED: i16[2n]
 * Memory: PK, PREPARED, PRODUCT
 * Errors: E_PK_HEADER, E_PK_RANGE
 */
export function prepare(logn: i32): i32 {
  return prepareInto(PREPARED, PK, logn);
}

/** Like `prepare`, with any source and destination. */
export function prepareInto(prepared: usize, pk: usize, logn: i32): i32 {
  const status = decodePublicKey(pk, PRODUCT, logn);
  if (status != OK) return status;
  ntt(PRODUCT, logn);
  preparePoly(prepared, PRODUCT, logn);
  return OK;
}

/**
 * Verifies a detached signature of any form under the encoded key.
 *
 * Spec:   Falcon, round 3, Algorithm 16
 * Shape:  PK, SIG[0..sigLen), message as for hashMessage, profile of profile.ts
 * Memory: PREPARED and everything verifyPrepared uses
 * Errors: E_PK_*, E_SIG_*
 */
export function verify(logn: i32, sigLen: i32, messageLen: i32, profile: i32): i32 {
  const status = prepare(logn);
  return status == OK ? verifyPrepared(logn, sigLen, messageLen, profile) : status;
}

/**
 * Verifies a detached signature of any form under the key in PREPARED.
 *
 * Spec:   Falcon, round 3, Algorithm 16
 * Shape:  PREPARED, SIG[0..sigLen), message as for hashMessage, profile of profile.ts
 * Memory: SHAKE, POINT, S2, PRODUCT, WORDS, PAIRS, COUNTER
 * Errors: E_SIG_*
 */
export function verifyPrepared(logn: i32, sigLen: i32, messageLen: i32, profile: i32): i32 {
  const form = decodeSignature(SIG, sigLen, S2, PRODUCT, logn);
  if (form < 0) return form;
  const fault = formFault(profile, form, sigLen, logn);
  if (fault != OK) return fault;
  makePoint(profile, form, SIG + 1, messageLen, logn);
  const status = judge(POINT, PREPARED, logn);
  return status == OK && !isWithinLimit(profile, logn) ? E_SIG_NORM : status;
}

/**
 * Verifies SIG for a point that has been hashed: the signer's check of the result.
 *
 * Spec:   Falcon, round 3, Algorithm 16, without line 1
 * Shape:  cRaw: i16[n] as squeezePoint leaves it; prepared: i16[2n]; SIG[0..sigLen)
 * Memory: SIG, cRaw, prepared, S2, PRODUCT, WORDS, PAIRS
 * Errors: E_SIG_*
 */
export function verifyPoint(cRaw: usize, prepared: usize, sigLen: i32, logn: i32): i32 {
  const form = decodeSignature(SIG, sigLen, S2, PRODUCT, logn);
  return form < 0 ? form : judge(cRaw, prepared, logn);
}

/**
 * The norm test, for the decoded s2 in S2 and a copy in PRODUCT.
 *
 * Spec:   Falcon, round 3, Algorithm 16, lines 5-6
 * Shape:  cRaw: i16[n]; prepared: i16[2 * n]; S2, PRODUCT: i16[n] -> PRODUCT: i16[n]
 * Bounds: any cRaw, any prepared, |S2| <= 2047
 * Memory: cRaw, prepared, S2, PRODUCT
 * Errors: E_SIG_NORM
 * Proof:  verdict(), logn in {9, 10}
 */
export function judge(cRaw: usize, prepared: usize, logn: i32): i32 {
  ntt(PRODUCT, logn);
  pointwisePrepared(PRODUCT, prepared, logn);
  intt(PRODUCT, logn);
  return isShort(cRaw, PRODUCT, S2, logn) ? OK : E_SIG_NORM;
}

/**
 * Returns whether ||(c - r, s2)||^2 <= beta^2, exactly, for every input within the bounds. Each of
 * four sums grows by less than 2^31 per step, so a sum that passes 2^31 (far above beta^2) sets its
 * sign bit before it can wrap, and the sign bits are collected.
 *
 * Shape:  cRaw, r, s2: i16[n]
 * Bounds: any cRaw, |r| <= 12288, |s2| <= 2047
 * Memory: cRaw, r, s2
 * Proof:  none: proved as part of judge
 */
function isShort(cRaw: usize, r: usize, s2: usize, logn: i32): bool {
  const q = v128.load(Q_LANES);
  const offset = pointOffset();
  let sum = i32x4.splat(0);
  let signs = i32x4.splat(0);
  for (const end = r + (<usize>2 << logn); r < end; r += 16, cRaw += 16, s2 += 16) {
    // |x| <= 20478 + 12288; after the reduction |x| <= 12288, and min(|x|, q - |x|) is the centred
    // magnitude.
    let x = i16x8.sub(liftPoint(v128.load(cRaw), offset, q), v128.load(r));
    x = i16x8.abs(reduce(x, q));
    x = i16x8.min_s(x, i16x8.sub(q, x));
    const s = v128.load(s2);
    sum = i32x4.add(sum, i32x4.dot_i16x8_s(x, x));
    sum = i32x4.add(sum, i32x4.dot_i16x8_s(s, s));
    signs = v128.or(signs, sum);
  }
  if (i32x4.bitmask(signs)) return false;
  const total =
    <u64>i32x4.extract_lane(sum, 0) +
    <u64>i32x4.extract_lane(sum, 1) +
    <u64>i32x4.extract_lane(sum, 2) +
    <u64>i32x4.extract_lane(sum, 3);
  return total <= <u64>betaSq(logn);
}
