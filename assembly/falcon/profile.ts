/**
 * Profiles: schemes that share Falcon's keys and equation, and differ in the hash to point.
 *
 *   ROUND_3        SHAKE256(salt || message), big-endian words
 *   ETH_FALCON     Keccak-256 in counter mode, big-endian words
 *   FN_DSA_DRAFT   SHAKE256(salt || mu), little-endian words; and no coefficient beyond 840
 *
 * Keys and signatures have round-3 encodings here, whatever their external encoding.
 */
import { keccakF } from '../shared/keccakF.gen';
import { clear, keccakFlip, shakeSqueeze } from '../shared/keccak';
import { E_SIG_HEADER, E_SIG_LENGTH, OK } from '../shared/status';
import { Q_LANES, reduce } from '../shared/zq';
import { CONSTANT_TIME } from './codec';
import {
  absorbMessage,
  appendRaw,
  appendWords,
  hashMessage,
  liftPoint,
  pointOffset,
  tail,
} from './hashToPoint';
import { squeezePointFor } from './hashToPointCt';
import { COUNTER, POINT, PRODUCT, S2, SHAKE } from './layout';
import { paddedLength } from './params';

export const ROUND_3: i32 = 0;
/** 1 is reserved for FIPS 206. */
export const ETH_FALCON: i32 = 2;
export const FN_DSA_DRAFT: i32 = 3;

/** Maximum coefficient of s1 and of s2 in the draft profile. */
const DRAFT_LIMIT: i32 = 840;

/** Bytes of digest and counter, the input of each block of the counter mode. */
const COUNTER_INPUT: usize = 40;

/**
 * Hashes salt and message to POINT, raw.
 *
 * Spec:   Falcon, round 3, Algorithm 3; docs/profiles.md for the others
 * Shape:  salt: u8[40]; message as for hashMessage -> POINT: i16[n] and slack
 * Memory: SHAKE, COUNTER, salt, IN, POINT
 * Secret: not the hash, except for the constant-time form of ROUND_3
 * Proof:  none: addresses depend on the rejected words
 */
export function makePoint(
  profile: i32,
  form: i32,
  salt: usize,
  messageLen: i32,
  logn: i32,
): void {
  if (profile == ETH_FALCON) {
    absorbMessage(salt, messageLen);
    keccakFlip(SHAKE);
    keccakF(SHAKE);
    squeezeCounterMode(POINT, SHAKE, logn);
    return;
  }
  hashMessage(salt, messageLen);
  if (profile == FN_DSA_DRAFT) squeezeLittleEndian(POINT, SHAKE, logn);
  else squeezePointFor(form, POINT, SHAKE, logn);
}

/**
 * Writes 64 bytes on which the point of `makePoint` depends, and that depend on nothing else: for
 * SHAKE256 the next bytes of the sponge, for ETH_FALCON the digest and zeros.
 *
 * Shape:  SHAKE as makePoint leaves it -> out: u8[64]
 * Memory: SHAKE, out
 * Secret: SHAKE, in the constant-time form of ROUND_3
 * Proof:  none: inlined; part of makePoint
 */
export function digestOfPoint(profile: i32, out: usize): void {
  if (profile != ETH_FALCON) {
    shakeSqueeze(SHAKE, out, 64);
    return;
  }
  memory.copy(out, SHAKE, 32);
  memory.fill(out + 32, 0, 32);
}

/**
 * Derives a point from Keccak-256(digest || counter), counter = 0, 1, .. as eight big-endian bytes:
 * 16 words per block.
 *
 * Spec:   ETHFALCON (docs/references.md): KeccakPRNG as implemented, not as described
 * Shape:  digest: u8[32] -> cRaw: i16[n] and slack
 * Memory: digest, cRaw, COUNTER
 * Secret: not the hash; time and addresses depend on which words are rejected
 * Proof:  none: addresses depend on the rejected words
 */
function squeezeCounterMode(cRaw: usize, digest: usize, logn: i32): void {
  const end = cRaw + (<usize>2 << logn);
  for (let counter: u64 = 0; cRaw < end; counter++) {
    clear(COUNTER, 256);
    v128.store(COUNTER, v128.load(digest));
    v128.store(COUNTER, v128.load(digest, 16), 16);
    store<u64>(COUNTER, bswap<u64>(counter), 32);
    store<u8>(COUNTER + COUNTER_INPUT, 0x01);
    store<u8>(COUNTER, 0x80, 135);
    keccakF(COUNTER);
    cRaw = appendWords(v128.load(COUNTER), cRaw);
    cRaw = appendWords(v128.load(COUNTER, 16), cRaw);
  }
}

/**
 * Squeezes a point from a flipped sponge, by little-endian words.
 *
 * Spec:   rust-fn-dsa 0.4.0 (docs/references.md), hash_to_point
 * Shape:  state: SHAKE256, flipped, nothing squeezed -> cRaw: i16[n] and slack
 * Memory: state (left in the middle of its stream), cRaw
 * Secret: not the hash; time and addresses depend on which words are rejected
 * Proof:  none: addresses depend on the rejected words
 */
function squeezeLittleEndian(cRaw: usize, state: usize, logn: i32): void {
  const less = i16x8.splat(-32768);
  for (const end = cRaw + (<usize>2 << logn); cRaw < end; ) {
    keccakF(state);
    for (let at: usize = 0; at < 128; at += 16) {
      cRaw = appendRaw(v128.xor(v128.load(state + at), less), cRaw);
    }
    cRaw = appendRaw(v128.xor(tail(state + 128), less), cRaw);
  }
}

/**
 * Checks that a profile allows this form and length of signature: only ROUND_3 has the
 * constant-time form, and FN_DSA_DRAFT has a single length.
 *
 * Shape:  form: result of decodeSignature
 * Errors: E_SIG_HEADER, E_SIG_LENGTH; OK otherwise
 */
export function formFault(profile: i32, form: i32, sigLen: i32, logn: i32): i32 {
  if (profile == ROUND_3) return OK;
  if (form == CONSTANT_TIME) return E_SIG_HEADER;
  return profile == FN_DSA_DRAFT && sigLen != paddedLength(logn) ? E_SIG_LENGTH : OK;
}

/**
 * Returns whether the coefficients of s1 = c - s2 h and of s2 are within the profile's limit; true
 * if it has none. POINT is cRaw and PRODUCT is s2 h, as `judge` of verify.ts leaves them.
 *
 * Spec:   rust-fn-dsa 0.4.0, B_INF
 * Shape:  POINT, PRODUCT, S2: i16[n]
 * Bounds: any POINT, |PRODUCT| <= 12288, |S2| <= 2047
 * Memory: POINT, PRODUCT, S2
 * Proof:  limited(840), profile logn in {3 9, 3 10}
 */
export function isWithinLimit(profile: i32, logn: i32): bool {
  if (profile != FN_DSA_DRAFT) return true;
  const q = v128.load(Q_LANES);
  const offset = pointOffset();
  let largest = i16x8.splat(0);
  for (let at: usize = 0; at < <usize>2 << logn; at += 16) {
    let x = i16x8.sub(
      liftPoint(v128.load(POINT + at), offset, q),
      v128.load(PRODUCT + at),
    );
    x = i16x8.abs(reduce(x, q));
    x = i16x8.min_s(x, i16x8.sub(q, x));
    largest = i16x8.max_s(largest, i16x8.max_s(x, i16x8.abs(v128.load(S2 + at))));
  }
  return !v128.any_true(i16x8.gt_s(largest, i16x8.splat(<i16>DRAFT_LIMIT)));
}
