/**
 * Entry of the tests of signing: fft, samplerZ, ffSampling, branchesSign. Not part of the product.
 */
import { STREAM, streamAdvance, streamInit, streamPosition } from '../falcon/chachaPrng';
import { expandedPrepared, expandedTree } from '../falcon/expandKey';
import { ffSampling } from '../falcon/ffSampling';
import { samplePair, samplerFailed, samplerStart } from '../falcon/samplerZ';
import { baseSamples } from '../falcon/baseSampler';

export { fft, ifft } from '../falcon/fft';
export { mergeFft, splitFft } from '../falcon/fftSplit';
export { ROOT_IM, ROOT_RE } from '../falcon/fftTables.gen';
export { IN, PAIRS, POINT, PRODUCT, S2, SEED, SHAKE, SIG, SK, WORDS } from '../falcon/layout';
export { EXPANDED, SIGN_TMP, expandedLength } from '../falcon/expandKey';
export { signHedged, startHedged } from '../falcon/hedged';
export { absorbKey } from '../falcon/reproducible';
export { SEEDS, expandSecretKey, signExpanded, wipeSign } from '../falcon/sign';
export { STREAM, streamInit, streamPosition };

/**
 * Scratch memory of the tests, and the records of `samplePairs`: mu a, mu b, 1/sigma', 256
 * sigmaMin; the samples replace mu.
 */
export const A: usize = memory.data(16384, 16);
export const B: usize = memory.data(16384, 16);

/** Moves to a position of the stream in memory. */
export function streamSeek(position: i32): void {
  streamAdvance(position);
}

/** Samples pairs from the records in A; 1 if any sample reached its limit, else 0. */
export function samplePairs(count: i32): i32 {
  samplerStart();
  for (let i = 0; i < count; i++) {
    const record = A + (<usize>i << 5);
    const z = samplePair(v128.load(record), load<u64>(record, 16), load<u64>(record, 24));
    v128.store(record, z);
  }
  return i32(samplerFailed());
}

/**
 * The base sample of 72 bits: `low`, 64 bits, in A; `high`, 8 bits, after it. All four lanes must
 * agree.
 */
export function baseSample(): i32 {
  const w0 = v128.load32_splat(A);
  const w1 = v128.load32_splat(A, 4);
  const w2 = v128.load32_splat(A, 8);
  const z = baseSamples(w0, w1, w2);
  const first = i32x4.extract_lane(z, 0);
  return v128.any_true(v128.xor(z, i32x4.splat(first))) ? -1 : first;
}

export function sampleTree(t0: usize, t1: usize, logn: i32, tmp: usize, ccsScale: f64): void {
  ffSampling(t0, t1, expandedTree(logn), logn, tmp, reinterpret<u64>(ccsScale));
}

export function treeOffset(logn: i32): i32 {
  return <i32>expandedTree(logn);
}

export function preparedOffset(logn: i32): i32 {
  return <i32>expandedPrepared(logn);
}
