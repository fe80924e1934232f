/** The individual steps of verification, for code outside the module that works on coefficients. */
import { E_SIG_LENGTH, OK } from '../shared/status';
import * as codec from './codec';
import * as hash from './hashToPoint';
import { PK, POINT, PREPARED, PRODUCT, S2, SIG } from './layout';
import { canonicalPoly, centrePoly, intt, ntt, pointwisePrepared } from '../shared/ntt';
import { COMPRESSED } from './codec';
import { makePoint } from './profile';
import { Q_LANES } from '../shared/zq';

/**
 * Decodes SIG[0..sigLen) to S2.
 *
 * Spec:   Falcon, round 3, section 3.11.3
 * Shape:  -> S2: i16[n]
 * Memory: SIG, S2, PRODUCT, WORDS, PAIRS
 * Errors: E_SIG_*; otherwise the form (0 compressed, 1 padded, 2 constant-time)
 */
export function readSignature(logn: i32, sigLen: i32): i32 {
  return codec.decodeSignature(SIG, sigLen, S2, PRODUCT, logn);
}

/**
 * Encodes S2 to SIG, except for the salt in bytes 1-40.
 *
 * Spec:   Falcon, round 3, section 3.11.3
 * Shape:  S2: i16[n]
 * Memory: S2, SIG
 * Errors: E_SIG_LENGTH if the form cannot hold it; otherwise the length
 */
export function writeSignature(logn: i32, format: i32): i32 {
  const length = codec.encodeSignature(SIG, S2, format, logn);
  return length > 0 ? length : E_SIG_LENGTH;
}

/**
 * Decodes PK to PRODUCT, in [0, q).
 *
 * Spec:   Falcon, round 3, section 3.11.4
 * Shape:  PK: u8[1 + 7 * n / 4] -> PRODUCT: u16[n]
 * Bounds: any PK -> PRODUCT in [0, q)
 * Memory: PK, PRODUCT
 * Errors: E_PK_HEADER, E_PK_RANGE
 * Proof:  canonicalKey(), logn in {9, 10}
 */
export function readPublicKey(logn: i32): i32 {
  const status = codec.decodePublicKey(PK, PRODUCT, logn);
  if (status == OK) canonicalPoly(PRODUCT, logn);
  return status;
}

/**
 * Hashes salt (bytes 1-40 of SIG) and message to POINT, in [0, q).
 *
 * Spec:   Falcon, round 3, Algorithm 3
 * Shape:  SIG: u8[41]; IN: u8[messageLen] -> POINT: u16[n]
 * Bounds: any SIG, any IN -> POINT in [0, q)
 * Memory: SIG, IN, SHAKE, POINT, COUNTER
 * Proof:  hash(), profile logn messageLen pattern in {0 9 200 0, 0 9 200 1, 0 10 200 0, 2 9 200 0,
 *         3 9 200 0}
 */
export function hashToPoint(logn: i32, messageLen: i32, profile: i32): void {
  makePoint(profile, COMPRESSED, SIG + 1, messageLen, logn);
  hash.canonicalPoint(POINT, POINT, logn);
}

/**
 * Computes s1 = c - s2 h mod q, centred, in PRODUCT.
 *
 * Spec:   Falcon, round 3, Algorithm 16, line 5
 * Shape:  SIG: u8[41]; IN: u8[messageLen]; PREPARED: i16[2 * n]; S2: i16[n]
 *         -> PRODUCT, POINT: i16[n]
 * Bounds: any PREPARED, |S2| <= 2047 -> |PRODUCT| <= 6144
 * Memory: SIG, IN, SHAKE, PREPARED, S2, POINT, PRODUCT, COUNTER
 * Proof:  remainder(), logn messageLen profile in {9 40 0}
 */
export function recoverS1(logn: i32, messageLen: i32, profile: i32): void {
  makePoint(profile, COMPRESSED, SIG + 1, messageLen, logn);
  const size = <usize>2 << logn;
  for (let at: usize = 0; at < size; at += 16) v128.store(PRODUCT + at, v128.load(S2 + at));
  ntt(PRODUCT, logn);
  pointwisePrepared(PRODUCT, PREPARED, logn);
  intt(PRODUCT, logn);
  const q = v128.load(Q_LANES);
  const offset = hash.pointOffset();
  for (let at: usize = 0; at < size; at += 16) {
    const c = hash.liftPoint(v128.load(POINT + at), offset, q);
    v128.store(PRODUCT + at, i16x8.sub(c, v128.load(PRODUCT + at)));
  }
  centrePoly(PRODUCT, logn);
}
