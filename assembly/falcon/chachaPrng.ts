/**
 * The generator that feeds samplerZ: ChaCha20, eight blocks at a time.
 *
 * The byte stream is the reference's, whose buffer holds 512 bytes: word w of block b stands at 32 w + 4 b, so the eight
 * blocks lie interleaved. A base sample that would begin in the last 9 bytes of a buffer begins in the next one
 * instead; all other reads run on across the border. To read several samples ahead without a branch, two buffers lie
 * side by side:
 *
 *   STREAM   | current 512 | next 512 | 64 readable bytes |      `position` counts from the start, below 503 between samples
 */

/** Secret: the key, the two buffers. */
export const STREAM: usize = memory.data(1088, 64);
const KEY: usize = memory.data(56, 16);
/** Bytes of a buffer. */
export const BLOCK: i32 = 512;
/** A base sample must start below this position of a buffer. */
export const LAST_START: i32 = 503;

const CONSTANTS: usize = memory.data<u32>([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574], 16);
const COUNTERS: usize = memory.data<u64>([0, 1, 2, 3], 16);

let position: i32 = 0;

/** Where the next base sample starts, as an offset into STREAM. */
// @ts-ignore: decorator
@inline
export function streamPosition(): i32 {
  return position;
}

// @ts-ignore: decorator
@inline
function rotate16(x: v128): v128 {
  return v128.shuffle<u16>(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
}

// @ts-ignore: decorator
@inline
function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits));
}

/** Four blocks from the counter on: word w of block b to out + 32 w + 4 b. */
function fourBlocks(out: usize): void {
  let x0 = v128.load32_splat(CONSTANTS);
  let x1 = v128.load32_splat(CONSTANTS, 4);
  let x2 = v128.load32_splat(CONSTANTS, 8);
  let x3 = v128.load32_splat(CONSTANTS, 12);
  let x4 = v128.load32_splat(KEY);
  let x5 = v128.load32_splat(KEY, 4);
  let x6 = v128.load32_splat(KEY, 8);
  let x7 = v128.load32_splat(KEY, 12);
  let x8 = v128.load32_splat(KEY, 16);
  let x9 = v128.load32_splat(KEY, 20);
  let x10 = v128.load32_splat(KEY, 24);
  let x11 = v128.load32_splat(KEY, 28);
  let x12 = v128.load32_splat(KEY, 32);
  let x13 = v128.load32_splat(KEY, 36);
  const counter = v128.load64_splat(KEY, 48);
  const near = i64x2.add(counter, v128.load(COUNTERS));
  const far = i64x2.add(counter, v128.load(COUNTERS, 16));
  const low = v128.xor(v128.shuffle<u32>(near, far, 0, 2, 4, 6), v128.load32_splat(KEY, 40));
  const high = v128.xor(v128.shuffle<u32>(near, far, 1, 3, 5, 7), v128.load32_splat(KEY, 44));
  store<u64>(KEY, load<u64>(KEY, 48) + 4, 48);
  let x14 = low;
  let x15 = high;
  for (let round = 0; round < 10; round++) {
    x0 = i32x4.add(x0, x4);
    x1 = i32x4.add(x1, x5);
    x2 = i32x4.add(x2, x6);
    x3 = i32x4.add(x3, x7);
    x12 = rotate16(v128.xor(x12, x0));
    x13 = rotate16(v128.xor(x13, x1));
    x14 = rotate16(v128.xor(x14, x2));
    x15 = rotate16(v128.xor(x15, x3));
    x8 = i32x4.add(x8, x12);
    x9 = i32x4.add(x9, x13);
    x10 = i32x4.add(x10, x14);
    x11 = i32x4.add(x11, x15);
    x4 = rotate(v128.xor(x4, x8), 12);
    x5 = rotate(v128.xor(x5, x9), 12);
    x6 = rotate(v128.xor(x6, x10), 12);
    x7 = rotate(v128.xor(x7, x11), 12);
    x0 = i32x4.add(x0, x4);
    x1 = i32x4.add(x1, x5);
    x2 = i32x4.add(x2, x6);
    x3 = i32x4.add(x3, x7);
    x12 = rotate(v128.xor(x12, x0), 8);
    x13 = rotate(v128.xor(x13, x1), 8);
    x14 = rotate(v128.xor(x14, x2), 8);
    x15 = rotate(v128.xor(x15, x3), 8);
    x8 = i32x4.add(x8, x12);
    x9 = i32x4.add(x9, x13);
    x10 = i32x4.add(x10, x14);
    x11 = i32x4.add(x11, x15);
    x4 = rotate(v128.xor(x4, x8), 7);
    x5 = rotate(v128.xor(x5, x9), 7);
    x6 = rotate(v128.xor(x6, x10), 7);
    x7 = rotate(v128.xor(x7, x11), 7);

    x0 = i32x4.add(x0, x5);
    x1 = i32x4.add(x1, x6);
    x2 = i32x4.add(x2, x7);
    x3 = i32x4.add(x3, x4);
    x15 = rotate16(v128.xor(x15, x0));
    x12 = rotate16(v128.xor(x12, x1));
    x13 = rotate16(v128.xor(x13, x2));
    x14 = rotate16(v128.xor(x14, x3));
    x10 = i32x4.add(x10, x15);
    x11 = i32x4.add(x11, x12);
    x8 = i32x4.add(x8, x13);
    x9 = i32x4.add(x9, x14);
    x5 = rotate(v128.xor(x5, x10), 12);
    x6 = rotate(v128.xor(x6, x11), 12);
    x7 = rotate(v128.xor(x7, x8), 12);
    x4 = rotate(v128.xor(x4, x9), 12);
    x0 = i32x4.add(x0, x5);
    x1 = i32x4.add(x1, x6);
    x2 = i32x4.add(x2, x7);
    x3 = i32x4.add(x3, x4);
    x15 = rotate(v128.xor(x15, x0), 8);
    x12 = rotate(v128.xor(x12, x1), 8);
    x13 = rotate(v128.xor(x13, x2), 8);
    x14 = rotate(v128.xor(x14, x3), 8);
    x10 = i32x4.add(x10, x15);
    x11 = i32x4.add(x11, x12);
    x8 = i32x4.add(x8, x13);
    x9 = i32x4.add(x9, x14);
    x5 = rotate(v128.xor(x5, x10), 7);
    x6 = rotate(v128.xor(x6, x11), 7);
    x7 = rotate(v128.xor(x7, x8), 7);
    x4 = rotate(v128.xor(x4, x9), 7);
  }
  v128.store(out, i32x4.add(x0, v128.load32_splat(CONSTANTS)));
  v128.store(out, i32x4.add(x1, v128.load32_splat(CONSTANTS, 4)), 32);
  v128.store(out, i32x4.add(x2, v128.load32_splat(CONSTANTS, 8)), 64);
  v128.store(out, i32x4.add(x3, v128.load32_splat(CONSTANTS, 12)), 96);
  v128.store(out, i32x4.add(x4, v128.load32_splat(KEY)), 128);
  v128.store(out, i32x4.add(x5, v128.load32_splat(KEY, 4)), 160);
  v128.store(out, i32x4.add(x6, v128.load32_splat(KEY, 8)), 192);
  v128.store(out, i32x4.add(x7, v128.load32_splat(KEY, 12)), 224);
  v128.store(out, i32x4.add(x8, v128.load32_splat(KEY, 16)), 256);
  v128.store(out, i32x4.add(x9, v128.load32_splat(KEY, 20)), 288);
  v128.store(out, i32x4.add(x10, v128.load32_splat(KEY, 24)), 320);
  v128.store(out, i32x4.add(x11, v128.load32_splat(KEY, 28)), 352);
  v128.store(out, i32x4.add(x12, v128.load32_splat(KEY, 32)), 384);
  v128.store(out, i32x4.add(x13, v128.load32_splat(KEY, 36)), 416);
  v128.store(out, i32x4.add(x14, low), 448);
  v128.store(out, i32x4.add(x15, high), 480);
}

/**
 * Starts the stream.
 *
 * Spec:   round-3 reference, prng_init and prng_refill (the block counter is XORed into the last 8 bytes of the nonce)
 * Shape:  seed: u8[56] = key (32) || nonce (16) || first counter (8, little-endian)
 * Memory: KEY, STREAM
 * Secret: seed
 */
export function streamInit(seed: usize): void {
  memory.copy(KEY, seed, 56);
  fourBlocks(STREAM);
  fourBlocks(STREAM + 16);
  fourBlocks(STREAM + 512);
  fourBlocks(STREAM + 528);
  position = 0;
}

/** Moves on to the next buffer: `position` is at or beyond the last start of this one. */
function nextBlock(): void {
  for (let o: usize = 0; o < 512; o += 64) {
    const at = STREAM + o;
    v128.store(at, v128.load(at, 512));
    v128.store(at, v128.load(at, 528), 16);
    v128.store(at, v128.load(at, 544), 32);
    v128.store(at, v128.load(at, 560), 48);
  }
  fourBlocks(STREAM + 512);
  fourBlocks(STREAM + 528);
  position = max(position - BLOCK, 0);
}

/**
 * Uses up the stream as far as offset `to`.
 *
 * Spec:   round-3 reference, prng_get_u64: what remains after position 502 is dropped
 * Bounds: to <= 512 + 64
 * Secret: none: `to` tells how many candidates were rejected, which carries nothing of the key (samplerZ.ts)
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
