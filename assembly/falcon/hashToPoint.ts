/**
 * Hash to point: SHAKE256(salt || message) -> n coefficients mod q, by rejection of 16-bit words.
 *
 * Until it is used, a point keeps a raw representation: the accepted words in order, minus 2^15, so
 * that they fit a 16-bit lane. Names of such points end in `Raw`:
 *
 *   w in [0, 61445), cRaw = w - 2^15 in [-32768, 28677),   c = cRaw + 2^15 = cRaw + 8190 (mod q)
 *
 * A point's buffer has POINT_SIZE bytes: rejection writes whole vectors and may exceed n by one
 * block.
 */
import { highHalves, lowHalves } from '../shared/lanes';
import { keccakF, keccakF2 } from '../shared/keccakF.gen';
import { clear, RATE, shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
import { swizzle } from './codec';
import { IN, SHAKE } from './layout';
import { SALT_LENGTH } from './params';
import { KEEP_LANES } from './rejection.gen';
import { centre, Q_LANES, reduce } from '../shared/zq';

const CONSTANTS: usize = memory.data<i16>([
  -32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768, // 2^15, to subtract
  28677, 28677, 28677, 28677, 28677, 28677, 28677, 28677, // 61445 - 2^15, the limit: 5 q = 61445
  8190, 8190, 8190, 8190, 8190, 8190, 8190, 8190, // 2^15 mod q
], 16);
/** Swaps the two bytes of each lane. */
const BIG_ENDIAN: usize = memory.data<u8>([
  1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14,
], 16);

/**
 * Starts the streamed hash of a message that does not fit IN; the salt is its first piece.
 *
 * Memory: SHAKE
 */
export function hashInit(): void {
  shakeInit(SHAKE);
}

/**
 * Absorbs the next piece.
 *
 * Memory: SHAKE, u8[len] at ptr
 */
export function hashUpdate(ptr: usize, len: i32): void {
  shakeAbsorb(SHAKE, ptr, len);
}

/**
 * Finishes the streamed hash and writes its first `len` bytes of output.
 *
 * Spec:   FIPS 202, SHAKE256
 * Shape:  SHAKE, everything absorbed -> out: u8[len]
 * Memory: SHAKE, out
 */
export function hashSqueeze(out: usize, len: i32): void {
  shakeFlip(SHAKE);
  shakeSqueeze(SHAKE, out, len);
}

/**
 * Prepares SHAKE to squeeze the point of a salt and a message.
 *
 * Spec:   Falcon, round 3, Algorithm 3, line 2
 * Shape:  salt: u8[40]; message in IN[0..messageLen), or absorbed before, salt first, when
 *         messageLen = -1
 * Memory: SHAKE, salt, IN
 */
export function hashMessage(salt: usize, messageLen: i32): void {
  absorbMessage(salt, messageLen);
  shakeFlip(SHAKE);
}

/** Like `hashMessage`, without padding: salt and message are absorbed. */
export function absorbMessage(salt: usize, messageLen: i32): void {
  if (messageLen < 0) return;
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, salt, SALT_LENGTH);
  shakeAbsorb(SHAKE, IN, messageLen);
}

/** Eight big-endian words, less 2^15. */
// @ts-ignore: decorator
@inline
export function rawWords(bytes: v128): v128 {
  return v128.xor(swizzle(bytes, v128.load(BIG_ENDIAN)), v128.load(CONSTANTS));
}

/** -1 where a word is below 61445, else 0. */
// @ts-ignore: decorator
@inline
export function areKept(words: v128): v128 {
  return i16x8.lt_s(words, v128.load(CONSTANTS, 16));
}

/**
 * Appends those of eight big-endian words that are below 61445, minus 2^15; returns the new end.
 */
// @ts-ignore: decorator
@inline
export function appendWords(bytes: v128, out: usize): usize {
  return appendRaw(rawWords(bytes), out);
}

/** Like `appendWords`, for words from which 2^15 has been subtracted. */
// @ts-ignore: decorator
@inline
export function appendRaw(words: v128, out: usize): usize {
  const keep = i16x8.bitmask(areKept(words));
  v128.store(out, swizzle(words, v128.load(KEEP_LANES + (<usize>keep << 4))));
  return out + (<usize>popcnt(keep) << 1);
}

/** The last 8 of a block's 136 bytes, the other lanes filled with words that are rejected. */
// @ts-ignore: decorator
@inline
export function tail(bytes: usize): v128 {
  return v128.or(v128.load64_zero(bytes), i64x2(0, -1));
}

/**
 * Squeezes a point from a flipped sponge.
 *
 * Spec:   Falcon, round 3, Algorithm 3, lines 3-8
 * Shape:  state: SHAKE256, flipped, nothing squeezed -> cRaw: i16[n] and slack (POINT_SIZE bytes)
 * Memory: state (left in the middle of its stream), cRaw
 * Secret: not the hash; time and addresses depend on which words are rejected
 * Proof:  none: addresses depend on the rejected words
 */
export function squeezePoint(cRaw: usize, state: usize, logn: i32): void {
  for (const end = cRaw + (<usize>2 << logn); cRaw < end; ) {
    keccakF(state);
    for (let at: usize = 0; at < 128; at += 16) cRaw = appendWords(v128.load(state + at), cRaw);
    cRaw = appendWords(tail(state + 128), cRaw);
  }
}

/**
 * Squeezes two points at once. A state with remaining input absorbs a block before a permutation, a
 * state without outputs a block after it, so messages may have different lengths.
 *
 *   states   lane 0 of A | lane 0 of B | lane 1 of A | ...     TWO_STATES bytes
 *   input    whole blocks of 136 bytes, padded by `padInput`; blocksA and blocksB of them
 *
 * Spec:   Falcon, round 3, Algorithm 3, twice
 * Shape:  cRawA, cRawB: i16[n] and slack
 * Memory: states, input, cRawA, cRawB
 */
export function squeezeTwoPoints(
  cRawA: usize,
  cRawB: usize,
  states: usize,
  inputA: usize,
  blocksA: i32,
  inputB: usize,
  blocksB: i32,
  logn: i32,
): void {
  clear(states, 400);
  const endA = cRawA + (<usize>2 << logn);
  const endB = cRawB + (<usize>2 << logn);
  while (cRawA < endA || cRawB < endB) {
    if (blocksA > 0) absorbHalf(states, inputA);
    if (blocksB > 0) absorbHalf(states + 8, inputB);
    keccakF2(states);
    inputA += RATE;
    inputB += RATE;
    blocksA -= 1;
    blocksB -= 1;
    if (blocksA <= 0 && blocksB <= 0) {
      // The end of a complete point does not advance: further blocks overwrite its block of slack.
      cRawA = min(cRawA, endA);
      cRawB = min(cRawB, endB);
      for (let at: usize = 0; at < 256; at += 32) {
        const even = v128.load(states + at);
        const odd = v128.load(states + at, 16);
        cRawA = appendWords(lowHalves(even, odd), cRawA);
        cRawB = appendWords(highHalves(even, odd), cRawB);
      }
      cRawA = appendWords(tail(states + 256), cRawA);
      cRawB = appendWords(tail(states + 264), cRawB);
    } else if (blocksA <= 0) {
      if (cRawA < endA) cRawA = squeezeHalf(states, cRawA);
    } else if (blocksB <= 0) {
      if (cRawB < endB) cRawB = squeezeHalf(states + 8, cRawB);
    }
  }
}

/** XORs one block into one of two interleaved states. */
function absorbHalf(state: usize, input: usize): void {
  for (const end = input + RATE; input < end; input += 8, state += 16) {
    store<u64>(state, load<u64>(state) ^ load<u64>(input));
  }
}

/** One block of output of one of two interleaved states. */
function squeezeHalf(state: usize, cRaw: usize): usize {
  for (let at: usize = 0; at < 256; at += 32) {
    const low = v128.load64_zero(state + at);
    cRaw = appendWords(v128.load64_lane(state + at, low, 1, 16), cRaw);
  }
  return appendWords(tail(state + 256), cRaw);
}

/**
 * Pads the bytes of salt || message to whole blocks, in place; returns the number of blocks.
 *
 * Spec:   FIPS 202, sections 6.2 and 5.1
 * Shape:  input: u8[len] with room for one more block and 7 bytes
 * Memory: input
 * Errors: none
 */
export function padInput(input: usize, len: i32): i32 {
  const blocks = len / RATE + 1;
  const end = input + <usize>(blocks * RATE);
  for (let p = input + <usize>len; p < end; p += 8) store<u64>(p, 0);
  store<u8>(input + <usize>len, 0x1f);
  store<u8>(end - 1, load<u8>(end - 1) | 0x80);
  return blocks;
}

/**
 * c in [0, q) from cRaw.
 *
 * Shape:  cRaw: i16[n] -> c: i16[n]
 * Bounds: any cRaw -> c in [0, q)
 * Memory: cRaw, c (may be the same)
 * Proof:  affineModQ(1, 2^15), logn in {9, 10}
 */
export function canonicalPoint(c: usize, cRaw: usize, logn: i32): void {
  const q = v128.load(Q_LANES);
  const offset = v128.load(CONSTANTS, 32);
  for (const end = c + (<usize>2 << logn); c < end; c += 16, cRaw += 16) {
    const x = centre(liftPoint(v128.load(cRaw), offset, q), q);
    v128.store(c, i16x8.add(x, v128.and(i16x8.shr_s(x, 15), q)));
  }
}

/** 2^15 mod q in all lanes. */
// @ts-ignore: decorator
@inline
export function pointOffset(): v128 {
  return v128.load(CONSTANTS, 32);
}

/** A representative of c, at most 20478 in magnitude, from cRaw. */
// @ts-ignore: decorator
@inline
export function liftPoint(cRaw: v128, offset: v128, q: v128): v128 {
  return i16x8.add(reduce(cRaw, q), offset);
}
