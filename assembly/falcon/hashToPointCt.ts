/**
 * Hash to point for signatures of the constant-time form: the same point, computed by operations
 * that do not depend on it.
 *
 * A fixed number of blocks is squeezed. Each accepted word must move down by the number of rejected
 * words before it: first by the lowest bit of that number, all words at once, then by the next bit,
 * and so on. Words never collide, since of two adjacent accepted words the second moves further by
 * exactly the number of rejected words between them.
 *
 *   n       blocks   words   rejected words allowed  their mean and deviation
 *   512     11       748     236                     47, 6.6
 *   1024    20       1360    336                     85, 8.9
 *
 * More are rejected with a probability below 2^-256 (the reference squeezes 717 and 1311 words for
 * that).
 */
import { keccakF } from '../shared/keccakF.gen';
import { RATE } from '../shared/keccak';
import { CONSTANT_TIME } from './codec';
import { areKept, rawWords, squeezePoint } from './hashToPoint';

/** The words, i16[1360], and the bytes beyond that the last step reads. */
export const WORDS: usize = memory.data(2720 + 528, 16);
/** The remaining distance of each word, u16[1360], and zeros. */
const MOVES: usize = memory.data(2720 + 528, 16);

/** The point of a signature of the given form. */
export function squeezePointFor(format: i32, cRaw: usize, state: usize, logn: i32): void {
  if (format == CONSTANT_TIME) squeezePointCt(cRaw, state, logn);
  else squeezePoint(cRaw, state, logn);
}

/**
 * Squeezes a point from a flipped sponge.
 *
 * Spec:   Falcon, round 3, Algorithm 3, lines 3-8; hash_to_point_ct of the reference, by a
 *         different network
 * Shape:  state: SHAKE256, flipped, nothing squeezed -> cRaw: i16[n], as squeezePoint writes them
 * Memory: state, cRaw, WORDS and MOVES (cleared)
 * Secret: all
 * Proof:  none: inlined; part of squeezePointFor
 */
function squeezePointCt(cRaw: usize, state: usize, logn: i32): void {
  const blocks: usize = logn == 9 ? 11 : 20;
  const bytes = blocks * <usize>RATE;
  for (let at: usize = 0; at < bytes; at += RATE) {
    keccakF(state);
    memory.copy(WORDS + at, state, RATE);
  }
  keepWords(cRaw, bytes, logn);
  memory.fill(WORDS, 0, 2720 + 528);
  memory.fill(MOVES, 0, 2720 + 528);
}

/**
 * Selects the first n of the words in WORDS that are below 61445.
 *
 * Shape:  WORDS: big-endian u16[bytes / 2] -> cRaw: i16[n]
 * Bounds: at most n / 2 - 1 words are rejected, at most n / 2 are left over
 * Memory: WORDS, MOVES, cRaw
 * Secret: all
 * Proof:  reveals(0), bytes logn in {1496 9, 2720 10}
 */
export function keepWords(cRaw: usize, bytes: usize, logn: i32): void {
  // half a vector is left for n = 512: words that are rejected
  store<u64>(WORDS + bytes, -1);
  countRefused(bytes);
  for (let step = 1; step <= 1 << (logn - 2); step <<= 1) moveDown(bytes, step);
  memory.copy(cRaw, WORDS, <usize>2 << logn);
}

/**
 * Converts WORDS from bytes to words minus 2^15. Sets MOVES to the number of rejected words before
 * each word, 0 for rejected words.
 */
function countRefused(bytes: usize): void {
  const zero = i16x8.splat(0);
  let before = zero;
  for (let at: usize = 0; at < bytes; at += 16) {
    const words = rawWords(v128.load(WORDS + at));
    const kept = areKept(words);
    let sum = i16x8.add(kept, i16x8.splat(1));
    sum = i16x8.add(sum, v128.shuffle<u16>(zero, sum, 0, 8, 9, 10, 11, 12, 13, 14));
    sum = i16x8.add(sum, v128.shuffle<u16>(zero, sum, 0, 1, 8, 9, 10, 11, 12, 13));
    sum = i16x8.add(sum, v128.shuffle<u16>(zero, sum, 0, 1, 2, 3, 8, 9, 10, 11));
    sum = i16x8.add(sum, before);
    before = v128.shuffle<u16>(sum, sum, 7, 7, 7, 7, 7, 7, 7, 7);
    v128.store(WORDS + at, words);
    v128.store(MOVES + at, v128.and(sum, kept));
  }
}

/** Moves down by `step`, a power of two, every word whose MOVES has that bit. */
function moveDown(bytes: usize, step: i32): void {
  const bit = i16x8.splat(<i16>step);
  const ahead = <usize>step << 1;
  for (let at: usize = 0; at < bytes; at += 16) {
    const here = v128.load(MOVES + at);
    const there = v128.load(MOVES + at + ahead);
    const goes = i16x8.eq(v128.and(here, bit), bit);
    const comes = i16x8.eq(v128.and(there, bit), bit);
    const word = v128.bitselect(v128.load(WORDS + at + ahead), v128.load(WORDS + at), comes);
    v128.store(WORDS + at, word);
    v128.store(MOVES + at, v128.bitselect(there, v128.andnot(here, goes), comes));
  }
}
