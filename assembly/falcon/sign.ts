/**
 * Signing: samples a short (s1, s2) with s1 + s2 h = c, encodes s2, verifies the result, and
 * releases it.
 */
import * as R from './real';
import { lowHalves, upperHalf } from '../shared/lanes';
import { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
import { E_INTERNAL, E_SIG_NORM, OK } from '../shared/status';
import { streamInit, streamWipe } from './chachaPrng';
import { encodeSignature } from './codec';
import {
  EXPANDED,
  expandedBasis,
  expandedLength,
  expandedPrepared,
  expandedTree,
  makeExpanded,
  SIGN_TMP,
} from './expandKey';
import { fft, ifft } from './fft';
import { ffSampling } from './ffSampling';
import { INVERSE_Q, productIm, productRe, sigmaMin } from './fpr';
import { draftWipe } from './draftSampler';
import { canonicalPoint } from './hashToPoint';
import { PAIRS, POINT, PRODUCT, S2, SEED, SIG, WORDS } from './layout';
import { SALT_LENGTH } from './params';
import { makePoint } from './profile';
import { samplerFailed, samplerStart } from './samplerZ';
import { verifyPoint } from './verify';

/** Secret: the sponge that supplies 56 bytes to each attempt, and those bytes. */
export const SEEDS: usize = memory.data(256 + 64, 64);
const SAMPLER_SEED_LENGTH: i32 = 48;

/**
 * An attempt fails about once in 300,000 (vector too long, n = 512; hardly ever at n = 1024), and
 * once in a thousand at n = 1024 in the padded form (does not fit 1280 bytes). This many failures
 * in a row mean a fault: a damaged key or machine.
 */
const MAX_ATTEMPTS: i32 = 24;

/** Bytes of EXPANDED and of SIGN_TMP that may hold secrets. */
let usedExpanded: i32 = 0;
let usedTmp: i32 = 0;

/** Records the extent that `wipeSign` has to clear. */
export function noteUse(logn: i32, tmp: i32): void {
  usedExpanded = max(usedExpanded, expandedLength(logn));
  usedTmp = max(usedTmp, tmp << (logn + 3));
}

/**
 * Expands the secret key with `makeExpanded`, and records the extent to wipe.
 *
 * Memory: SK -> EXPANDED; SIGN_TMP
 * Errors: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID
 * Proof:  reveals(7), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 * Proof:  reveals(7, shifts 8), logn in {9, 10}
 * Builds: falcon.integer
 */
export function expandSecretKey(logn: i32): i32 {
  noteUse(logn, 8);
  return makeExpanded(logn);
}

/**
 * Signs with the expanded key in EXPANDED.
 *
 * Revealed in the compressed and the padded form: the sponge of the point, and s2 of every attempt,
 * of which branches and addresses take |s2| >> 7, whether it exceeds 2047, and where the form is
 * full. A rejected attempt shows as much: s2 is encoded before its norm is known. The rest of the
 * memory that is opened holds the point, and the signature and its parts.
 *
 * One hash point gets one signature: failed attempts are overwritten, never released. Each attempt
 * continues the stream of SHAKE256(sampler seed) by 56 bytes, like the reference after a vector
 * that is too long, and PQClean's padded signer after one that does not fit. The check before
 * release is a full verification of the encoded bytes, except for the hash, and also serves as the
 * norm test. Since s1 is computed from h, a sampling fault cannot be released (faulty signatures
 * break Falcon).
 *
 * Spec:   Falcon round 3, algorithm 10 (Sign)
 * Shape:  EXPANDED, SEED = salt (40) || sampler seed (48), message as for hashMessage (salt from
 *         SEED), profile ROUND_3 or ETH_FALCON -> SIG
 * Memory: SHAKE, COUNTER, POINT, PRODUCT, S2, WORDS, PAIRS, SIGN_TMP, the stream of chachaPrng.ts
 * Secret: EXPANDED, the sampler seed
 * Errors: E_INTERNAL (a damaged tree, a result that does not verify), SIG cleared;
 *         otherwise the signature's length
 * Proof:  reveals(9, shifts 1, judgeFour & 4294967295),
 *         logn format messageLen profile in {9 2 64 0, 10 2 64 0}
 * Builds: falcon, falcon.relaxed
 * Proof:  reveals(7, shifts 1, judgeFour & 4294967295, SHAKE..SK at squeezePoint,
 *         SIG..PREPARED at encodeSignature, S2..BATCH_RECORDS at encodeSignature),
 *         logn format messageLen profile in {9 0 64 0, 9 1 200 0, 10 0 200 0, 10 1 64 0}
 * Builds: falcon, falcon.relaxed
 * Proof:  reveals(10, shifts 34, judgeFour & 4294967295),
 *         logn format messageLen profile in {9 2 64 0, 10 2 64 0}
 * Builds: falcon.integer
 * Proof:  reveals(8, shifts 34, judgeFour & 4294967295, SHAKE..SK at squeezePoint,
 *         SIG..PREPARED at encodeSignature, S2..BATCH_RECORDS at encodeSignature),
 *         logn format messageLen profile in {9 1 200 0}
 * Builds: falcon.integer
 */
export function signExpanded(logn: i32, format: i32, messageLen: i32, profile: i32): i32 {
  shakeInit(SEEDS);
  shakeAbsorb(SEEDS, SEED + SALT_LENGTH, SAMPLER_SEED_LENGTH);
  shakeFlip(SEEDS);
  return signPoint(logn, format, format, messageLen, profile);
}

/**
 * Signs with the expanded key in EXPANDED and coins from SEEDS.
 *
 * Spec:   Falcon round 3, algorithm 10 (Sign)
 * Shape:  EXPANDED, SEED = salt (40), SEEDS, flipped, message as for hashMessage (salt from SEED),
 *         profile ROUND_3 or ETH_FALCON -> SIG, in this format; an attempt is rejected when it does
 *         not fit the format `fit`
 * Bounds: whatever fits `fit` fits `format`
 * Memory: as signExpanded
 * Secret: EXPANDED, SEEDS
 * Errors: E_INTERNAL, as signExpanded; otherwise the signature's length
 * Proof:  none: rejection: branches on accepted candidates
 */
export function signPoint(
  logn: i32,
  fit: i32,
  format: i32,
  messageLen: i32,
  profile: i32,
): i32 {
  startPoint(logn, format, messageLen, profile);
  return attempt(logn, fit, format);
}

/**
 * Writes the salt to SIG, and hashes salt and message to POINT.
 *
 * Spec:   Falcon round 3, algorithm 10, steps 1 and 2
 * Shape:  SEED = salt (40), message as for hashMessage (salt from SEED) -> SIG[1..41), POINT
 * Memory: SHAKE (left in the middle of its output), COUNTER, SEED, SIG, POINT
 * Secret: SHAKE and POINT, in the constant-time form
 * Proof:  none: addresses depend on the rejected words of the public point
 */
export function startPoint(logn: i32, format: i32, messageLen: i32, profile: i32): void {
  noteUse(logn, 4);
  memory.copy(SIG + 1, SEED, SALT_LENGTH); // step 1
  makePoint(profile, format, SEED, messageLen, logn); // step 2
}

/**
 * Signs the point that `startPoint` leaves; the rest of `signPoint`.
 *
 * Spec:   Falcon round 3, algorithm 10, steps 3 to 11
 * Shape:  EXPANDED, POINT, SEEDS, flipped -> SIG
 * Memory: as signExpanded
 * Secret: EXPANDED, SEEDS
 * Errors: E_INTERNAL, as signExpanded; otherwise the signature's length
 * Proof:  none: rejection: branches on accepted candidates
 */
export function attempt(logn: i32, fit: i32, format: i32): i32 {
  if (R.overflows(EXPANDED, expandedPrepared(logn))) return refuse(logn);
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    shakeSqueeze(SEEDS, SEEDS + 256, 56);
    streamInit(SEEDS + 256);
    samplerStart();
    samplePreimage(logn);
    if (samplerFailed()) break;
    let length = encodeSignature(SIG, S2, fit, logn);
    if (length == 0) continue; // step 11
    if (format != fit) length = encodeSignature(SIG, S2, format, logn);
    const status = verifyPoint(POINT, expandedPrepared(logn), length, logn);
    if (status == OK) return length;
    if (status != E_SIG_NORM) break; // step 8
  }
  return refuse(logn);
}

/**
 * Clears all result regions that a fault may have written.
 *
 * Memory: SIG, S2, PRODUCT, PAIRS, WORDS
 * Errors: E_INTERNAL, always
 */
export function refuse(logn: i32): i32 {
  const n = <usize>1 << logn;
  memory.fill(SIG, 0, 1577);
  memory.fill(S2, 0, 2 * n);
  memory.fill(PRODUCT, 0, 2 * n);
  memory.fill(PAIRS, 0, 2 * n);
  memory.fill(WORDS, 0, 1424);
  return E_INTERNAL;
}

/**
 * Samples one short s2 for the point in POINT.
 *
 * The reference also computes s1 = c - z0 b00 - z1 b10 from the basis; here the check computes s1.
 *
 * Spec:   Falcon round 3, algorithm 10, steps 3, 6, 7 and 9
 * Shape:  POINT, EXPANDED -> S2: i16[n]
 * Memory: PRODUCT, SIGN_TMP, the stream
 * Secret: all but POINT
 * Proof:  none: rejection: branches on accepted candidates
 */
export function samplePreimage(logn: i32): void {
  const size = <usize>8 << logn;
  const t0 = SIGN_TMP;
  const t1 = t0 + size;
  const b01 = expandedBasis();
  const b11 = b01 + size;
  canonicalPoint(PRODUCT, POINT, logn);
  pointToDoubles(t0, PRODUCT, logn);
  fft(t0, logn);
  target(t0, t1, b01, b11, size >> 1);
  ffSampling(t0, t1, expandedTree(logn), logn, t1 + size, R.mul1(R.bits(256.0), sigmaMin(logn)));
  latticePoint(t1, t0, b01, b11, size >> 1);
  ifft(t1, logn);
  negateRounded(S2, t1, logn);
}

/** u16[n] to f64[n]. */
function pointToDoubles(out: usize, c: usize, logn: i32): void {
  for (const end = c + (<usize>2 << logn); c < end; c += 8, out += 32) {
    const x = i32x4.extend_low_i16x8_u(v128.load64_zero(c));
    v128.store(out, R.fromI32(x));
    v128.store(out, R.fromI32(upperHalf(x)), 16);
  }
}

/**
 * Step 3: (t0, t1) = (c b11 / q, -c b01 / q), c in t0. `im`: bytes from real to imaginary parts.
 */
function target(t0: usize, t1: usize, b01: usize, b11: usize, im: usize): void {
  const plus = R.splat(INVERSE_Q);
  const minus = R.splat(-INVERSE_Q);
  for (let o: usize = 0; o < im; o += 16) {
    const cRe = v128.load(t0 + o);
    const cIm = v128.load(t0 + o + im);
    let bRe = v128.load(b01 + o);
    let bIm = v128.load(b01 + o + im);
    v128.store(t1 + o, R.mul(productRe(cRe, cIm, bRe, bIm), minus));
    v128.store(t1 + o + im, R.mul(productIm(cRe, cIm, bRe, bIm), minus));
    bRe = v128.load(b11 + o);
    bIm = v128.load(b11 + o + im);
    v128.store(t0 + o, R.mul(productRe(cRe, cIm, bRe, bIm), plus));
    v128.store(t0 + o + im, R.mul(productIm(cRe, cIm, bRe, bIm), plus));
  }
}

/** Step 7, second coordinate: z1 = z1 b11 + z0 b01, which is -s2. */
function latticePoint(z1: usize, z0: usize, b01: usize, b11: usize, im: usize): void {
  for (let o: usize = 0; o < im; o += 16) {
    const xRe = v128.load(z1 + o);
    const xIm = v128.load(z1 + o + im);
    const yRe = v128.load(z0 + o);
    const yIm = v128.load(z0 + o + im);
    const aRe = v128.load(b11 + o);
    const aIm = v128.load(b11 + o + im);
    const bRe = v128.load(b01 + o);
    const bIm = v128.load(b01 + o + im);
    let x = productRe(xRe, xIm, aRe, aIm);
    let y = productRe(yRe, yIm, bRe, bIm);
    v128.store(z1 + o, R.add(x, y));
    x = productIm(xRe, xIm, aRe, aIm);
    y = productIm(yRe, yIm, bRe, bIm);
    v128.store(z1 + o + im, R.add(x, y));
  }
}

/** out = -a, rounded to nearest; values beyond 16 bits saturate, and no form can encode them. */
function negateRounded(out: usize, a: usize, logn: i32): void {
  for (const end = out + (<usize>2 << logn); out < end; out += 16, a += 64) {
    const x0 = R.toI32(v128.load(a));
    const x1 = R.toI32(v128.load(a, 16));
    const x2 = R.toI32(v128.load(a, 32));
    const x3 = R.toI32(v128.load(a, 48));
    const low = i32x4.neg(lowHalves(x0, x1));
    const high = i32x4.neg(lowHalves(x2, x3));
    v128.store(out, i16x8.narrow_i32x4_s(low, high));
  }
}

/**
 * Clears the expanded key, the scratch and the random stream, as far as they were used since the
 * last call.
 *
 * Memory: EXPANDED, SIGN_TMP, SEEDS, the stream
 */
export function wipeSign(): void {
  memory.fill(EXPANDED, 0, usedExpanded);
  memory.fill(SIGN_TMP, 0, usedTmp);
  memory.fill(SEEDS, 0, 320);
  streamWipe();
  draftWipe();
  usedExpanded = 0;
  usedTmp = 0;
}
