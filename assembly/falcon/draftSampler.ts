/**
 * samplerZ of the FN-DSA draft profile: the same distribution from another stream, one sample at a
 * time.
 *
 * The stream is SHAKE256 of a seed. A candidate uses 10 bytes, a little-endian number,
 *
 *   | bit 0: b | bits 1..79: base sample z0 |
 *
 * followed by the bytes compared with exp(-x), until one differs. Timing reveals the same as in
 * samplerZ.ts: the number of rejected candidates, and the number of compared bytes.
 */
import { upperHalf } from '../shared/lanes';
import { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
import { DRAFT_BASE_HIGH, DRAFT_BASE_LOW } from './draftTables.gen';
import {
  comparedBits,
  exponent,
  fraction,
  halfInverseSquare,
  handicapOf,
} from './approxExp';
import * as R from './real';
import { isOutOfRange, MAX_ROUNDS, samplePair, samplerFailed, samplerStart } from './samplerZ';

/** Secret: the sponge, and the bytes of a candidate. */
const STREAM: usize = memory.data(256 + 64, 64);
const BYTES: usize = STREAM + 256;
/** Entries of the base sampler's table. */
const ENTRIES: i32 = 18;

let isDraft: bool = false;
let gaveUp: bool = false;

/**
 * Starts the stream; `drawPair` draws from it until `draftWipe`.
 *
 * Spec:   rust-fn-dsa 0.4.0, SHAKE256_PRNG
 * Shape:  seed: u8[len]
 * Memory: STREAM, seed
 * Secret: seed
 * Proof:  none: inlined; part of signDraft
 */
export function draftStart(seed: usize, len: i32): void {
  shakeInit(STREAM);
  shakeAbsorb(STREAM, seed, len);
  shakeFlip(STREAM);
  isDraft = true;
  gaveUp = false;
  samplerStart();
}

/**
 * The next bytes of the stream.
 *
 * Memory: STREAM, out
 * Secret: the bytes
 * Proof:  none: its branches are on positions in the stream
 */
export function draftBytes(out: usize, len: i32): void {
  shakeSqueeze(STREAM, out, len);
}

/** Returns whether any sample since `draftStart` reached the limit. */
export function draftFailed(): bool {
  return gaveUp || samplerFailed();
}

/** Clears the stream, and switches back to that of samplerZ.ts. */
export function draftWipe(): void {
  memory.fill(STREAM, 0, 256 + 64);
  isDraft = false;
}

/**
 * Draws two samples from the stream that was started last; same contract as `samplePair`.
 *
 * Spec:   Falcon round 3, algorithm 15 (SamplerZ), for mu[0], then for mu[1]
 * Shape:  mu: f64x2; inverseSigma = 1/sigma'; ccsScale = 256 sigmaMin -> f64x2 of integers
 * Bounds: sigmaMin <= sigma' <= 1.8205, |mu| < 2^31
 * Memory: STREAM here, or that of chachaPrng.ts
 * Secret: all but the choice of stream
 * Errors: see `draftFailed`
 * Proof:  none: rejection: branches on accepted candidates
 */
export function drawPair(mu: v128, inverseSigma: u64, ccsScale: u64): v128 {
  if (!isDraft) return samplePair(mu, inverseSigma, ccsScale);
  if (isOutOfRange(mu, inverseSigma)) return mu;
  const r = fraction(mu);
  const inverse = i64x2.splat(inverseSigma);
  const dss = halfInverseSquare(inverse);
  const ccs = R.mul(inverse, i64x2.splat(ccsScale));
  const a = sampleOne(r, dss, ccs);
  const b = sampleOne(upperHalf(r), dss, ccs);
  return R.floorPlus(mu, i32x4.replace_lane(i32x4.splat(a), 1, b));
}

/** The number of table entries that exceed the 79-bit number (high, low); all are compared. */
function baseSample(low: u64, high: u64): i32 {
  let count = 0;
  for (let i: usize = 0; i < <usize>ENTRIES << 3; i += 8) {
    const entryHigh = load<u64>(DRAFT_BASE_HIGH + i);
    const isBelow = i32(low < load<u64>(DRAFT_BASE_LOW + i));
    count += i32(high < entryHigh) | (i32(high == entryHigh) & isBelow);
  }
  return count;
}

/** Draws one sample; the arguments are in lane 0. */
function sampleOne(r: v128, dss: v128, ccs: v128): i32 {
  for (let left = 3 * MAX_ROUNDS; left > 0; left--) {
    draftBytes(BYTES, 10);
    const first = load<u64>(BYTES);
    const last = <u64>load<u16>(BYTES, 8);
    const b = <i32>(first & 1);
    const z0 = baseSample((first >>> 1) | (last << 63), last >>> 1);
    const z = b + ((b << 1) - 1) * z0;
    const x = exponent(R.fromI32(i32x4.splat(z)), r, dss, handicapOf(i32x4.splat(z0 * z0)));
    if (berExp(comparedBits(x, ccs))) return z;
  }
  gaveUp = true;
  return 0;
}

/**
 * Returns whether the next bytes of the stream are below those of `bits`, the highest first; reads
 * only as many as needed.
 *
 * Spec:   Falcon round 3, algorithm 14 (BerExp), steps 5 to 10
 * Secret: all; the number of compared bytes reveals nothing, because the stream is uniform
 * Proof:  none: inlined; part of sampleOne
 */
function berExp(bits: u64): bool {
  let w = 0;
  for (let at = 56; w == 0 && at >= 0; at -= 8) {
    draftBytes(BYTES, 1);
    w = <i32>load<u8>(BYTES) - <i32>((bits >> at) & 255);
  }
  return w < 0;
}
