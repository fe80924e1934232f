/**
 * The generator used by samplerZ: ChaCha20, eight blocks at a time.
 *
 * The byte stream is the reference's, whose buffer holds 512 bytes: word w of block b is at 32 w +
 * 4 b, so the eight blocks are interleaved. A base sample that would begin in the last 9 bytes of a
 * buffer begins in the next one instead; all other reads cross the boundary. Two adjacent buffers
 * allow several samples to be read ahead without a branch:
 *
 *   STREAM   | current 512 | next 512 | 64 readable bytes |
 *
 * `position` counts from the start and is below 503 between samples.
 */
import { chacha20 } from './chacha20.gen';

/** Secret: the key, the two buffers. */
export const STREAM: usize = memory.data(1088, 64);
const KEY: usize = memory.data(56, 16);
/** Bytes of a buffer. */
export const BLOCK: i32 = 512;
/** A base sample must start below this position of a buffer. */
export const LAST_START: i32 = 503;

let position: i32 = 0;

/** The start of the next base sample, as an offset into STREAM. */
// @ts-ignore: decorator
@inline
export function streamPosition(): i32 {
  return position;
}

/**
 * Starts the stream.
 *
 * Spec:   round-3 reference, prng_init and prng_refill (the block counter is XORed into the last
 *         8 bytes of the nonce)
 * Shape:  seed: u8[56] = key (32) || nonce (16) || first counter (8, little-endian)
 * Memory: KEY, STREAM
 * Secret: seed
 * Proof:  none: copies its seed; chacha20 is proved
 */
export function streamInit(seed: usize): void {
  memory.copy(KEY, seed, 56);
  chacha20(STREAM, KEY);
  chacha20(STREAM + 16, KEY);
  chacha20(STREAM + 512, KEY);
  chacha20(STREAM + 528, KEY);
  position = 0;
}

/** Advances to the next buffer: `position` is at or beyond the last start of this one. */
function nextBlock(): void {
  for (let o: usize = 0; o < 512; o += 64) {
    const at = STREAM + o;
    v128.store(at, v128.load(at, 512));
    v128.store(at, v128.load(at, 528), 16);
    v128.store(at, v128.load(at, 544), 32);
    v128.store(at, v128.load(at, 560), 48);
  }
  chacha20(STREAM + 512, KEY);
  chacha20(STREAM + 528, KEY);
  position = max(position - BLOCK, 0);
}

/**
 * Consumes the stream up to offset `to`.
 *
 * Spec:   round-3 reference, prng_get_u64: the bytes left after position 502 are dropped
 * Bounds: to <= 512 + 64
 * Secret: none: `to` reveals only the number of rejected candidates, which is independent of the
 *         key (samplerZ.ts)
 * Proof:  none: inlined; part of samplePair
 */
// @ts-ignore: decorator
@inline
export function streamAdvance(to: i32): void {
  position = to;
  if (to >= LAST_START) nextBlock();
}

/** Clears the key and the buffers. */
export function streamWipe(): void {
  memory.fill(KEY, 0, 56);
  memory.fill(STREAM, 0, 1088);
  position = 0;
}
