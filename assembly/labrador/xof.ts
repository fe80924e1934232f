/**
 * The stream from which every challenge and key is expanded: ChaCha with 8 rounds, the state of RFC
 * 8439.
 *
 *   state, u32[16]    0-3 constants   4-11 key   12 counter   13-15 nonce
 *
 * Words of 44 bits: two words are 11 bytes, the first one the low 44 bits.
 */
import { chacha8, mixColumns } from './chacha8.gen';
import { centrePair, PAIRS } from './zq';
import { Q } from './modulus.gen';

const STATE: usize = memory.data<u32>([
  0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);
/** The state after the part of the first round that is common to all blocks. */
const MIXED: usize = memory.data(64, 16);
/** Four blocks read by `readByte` and the scalars, and space for reads beyond them. */
export const BUFFER: usize = memory.data(272, 64);
/** Number of consumed bytes of BUFFER. */
let position: i32 = 256;

/**
 * Selects a stream.
 *
 * Spec:   docs/protocol.md, 5.1
 * Shape:  key: u8[32]; the three words of the nonce
 * Memory: STATE
 */
export function xofStart(key: usize, word13: i32, word14: i32, word15: i32): void {
  v128.store(STATE, v128.load(key), 16);
  v128.store(STATE, v128.load(key, 16), 32);
  store<i32>(STATE, 0, 48);
  store<i32>(STATE, word13, 52);
  store<i32>(STATE, word14, 56);
  store<i32>(STATE, word15, 60);
  position = 256;
}

/**
 * Writes blocks `counter` to `counter + 4 quads - 1` of the stream.
 *
 * Shape:  -> out: u32[4 * quads][16]
 * Memory: STATE, MIXED, out
 * Proof:  chacha8(), quads in {1, 2, 1..2^22}
 */
export function xofBlocks(out: usize, counter: i32, quads: i32): void {
  mixColumns(MIXED, STATE);
  for (; quads > 0; quads--, counter += 4, out += 256) {
    store<i32>(STATE, counter, 48);
    chacha8(out, STATE, MIXED);
  }
  store<i32>(STATE, counter, 48);
}

/** Refills BUFFER with the next four blocks. */
function refill(): void {
  xofBlocks(BUFFER, load<i32>(STATE, 48), 1);
  position = 0;
}

/** The next byte of the stream. */
export function readByte(): i32 {
  if (position == 256) refill();
  const byte = <i32>load<u8>(BUFFER + <usize>position);
  position += 1;
  return byte;
}

/** The next eight bytes of the stream, little-endian. */
export function readWord(): u64 {
  let word: u64 = 0;
  for (let shift = 0; shift < 64; shift += 8) word |= <u64>readByte() << shift;
  return word;
}

/**
 * Byte indices that move six bytes starting at 0 and six starting at 5 into two 64-bit lanes; 44
 * bits of each lane.
 */
const UNPACK: usize = memory.data<u64>([
  0x8080050403020100, 0x80800a0908070605, 0x00000fffffffffff, 0, 0, 0x00000fffffffffff,
], 16);

/** Two words of 44 bits from 11 bytes (16 are read). */
// @ts-ignore: decorator
@inline
function unpack44(from: usize): v128 {
  const x = i8x16.swizzle(v128.load(from), v128.load(UNPACK));
  return v128.or(
    v128.and(x, v128.load(UNPACK, 16)),
    v128.and(i64x2.shr_u(x, 4), v128.load(UNPACK, 32)),
  );
}

/**
 * Unpacks 64 words of 44 bits mod q, reducing those >= q by q: an element of a commitment key.
 *
 * Five bytes more than the words have are read.
 *
 * Spec:   docs/protocol.md, 6.1
 * Shape:  from: u8[357] -> coefs: i64[64]
 * Bounds: -> |coefs| <= (q - 1) / 2
 * Memory: from, coefs
 * Proof:  words()
 */
export function unpackKey(coefs: usize, from: usize): void {
  for (const end = coefs + 512; coefs < end; coefs += 16, from += 11) {
    // x > (q-1)/2 becomes x - q, which also reduces x >= q: x < 2^44 = q + 117
    v128.store(coefs, centrePair(unpack44(from)));
  }
}

/**
 * Unpacks 64 words of 44 bits mod q, if all are below q.
 *
 * Shape:  from: u8[352], 4 bytes more are read -> coefs: i64[64], centred
 * Memory: from, coefs
 * Errors: returns 1 if any word is not below q, otherwise 0
 */
export function unpackUniform(coefs: usize, from: usize): i32 {
  let over = i64x2.splat(0);
  const largest = i64x2.sub(v128.load(PAIRS, 32), i64x2.splat(1));
  for (const end = coefs + 512; coefs < end; coefs += 16, from += 11) {
    const x = unpack44(from);
    over = v128.or(over, i64x2.gt_s(x, largest));
    v128.store(coefs, centrePair(x));
  }
  return i32(v128.any_true(over));
}

/** Two times four blocks; 64 words use 352 bytes. */
const WORDS: usize = memory.data(512, 64);

/**
 * A uniform polynomial mod q: the first 64 words below q of the stream selected by xofStart, from
 * its beginning.
 *
 * Spec:   docs/protocol.md, 5.2, scalars
 * Shape:  coefs: i64[64], centred
 * Memory: STATE, WORDS, BUFFER, coefs
 */
export function uniformPoly(coefs: usize): void {
  xofBlocks(WORDS, 0, 2);
  // happens to one polynomial in 2^31
  if (unpackUniform(coefs, WORDS)) {
    store<i32>(STATE, 0, 48);
    position = 256;
    uniformScalars(coefs, 64);
  }
}

/**
 * The next `count` words of 44 bits below q of the stream; right after xofStart, the first ones.
 *
 * Spec:   docs/protocol.md, 5.2, scalars
 * Shape:  out: i64[count], centred
 * Memory: STATE, BUFFER, out
 */
export function uniformScalars(out: usize, count: i32): void {
  let bits: u64 = 0;
  let have: u64 = 0;
  for (const end = out + (<usize>count << 3); out < end; ) {
    // at most 7 + 40 bits are held
    while (have < 44) {
      bits |= <u64>readByte() << have;
      have += 8;
    }
    const word = <i64>(bits & 0xfffffffffff);
    bits >>= 44;
    have -= 44;
    if (word < Q) {
      store<i64>(out, select<i64>(word - Q, word, word > (Q >> 1)));
      out += 8;
    }
  }
}

/**
 * Thresholds of the representatives mod 12289, as words with the top bit flipped; the top bit; the
 * modulus.
 */
const MOD_P: usize = memory.data<i16>([
  -26624, -26624, -26624, -26624, -26624, -26624, -26624, -26624, // 6144 - 2^15
  -14335, -14335, -14335, -14335, -14335, -14335, -14335, -14335,
  -2046, -2046, -2046, -2046, -2046, -2046, -2046, -2046,
  10243, 10243, 10243, 10243, 10243, 10243, 10243, 10243,
  22532, 22532, 22532, 22532, 22532, 22532, 22532, 22532,
  -32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768,
  12289, 12289, 12289, 12289, 12289, 12289, 12289, 12289,
], 16);

/**
 * `count` values mod 12289: the first 16-bit words below 61445 = 5 * 12289, reduced and centred.
 *
 * Spec:   docs/protocol.md, 5.2, u16 words
 * Shape:  out: i16[count], count a multiple of 8; up to 256 bytes beyond are written
 * Bounds: -> |x| <= 6144
 * Memory: STATE, BUFFER, out
 * Proof:  none: rejection: branches depend on the stream, which is public
 */
export function uniformModP(out: usize, count: i32): void {
  let have: usize = 0;
  for (let counter = 0; have < <usize>count; counter += 4) {
    xofBlocks(BUFFER, counter, 1);
    for (let from: usize = BUFFER; from < BUFFER + 256; from += 8) {
      const words = load<u64>(from);
      const a = <i32>(words & 0xffff);
      const b = <i32>((words >> 16) & 0xffff);
      const c = <i32>((words >> 32) & 0xffff);
      const d = <i32>(words >> 48);
      store<u16>(out + (have << 1), a);
      have += i32(a < 61445);
      store<u16>(out + (have << 1), b);
      have += i32(b < 61445);
      store<u16>(out + (have << 1), c);
      have += i32(c < 61445);
      store<u16>(out + (have << 1), d);
      have += i32(d < 61445);
    }
  }
  const flip = v128.load(MOD_P, 80);
  const p = v128.load(MOD_P, 96);
  for (const end = out + (<usize>count << 1); out < end; out += 16) {
    const words = v128.load(out);
    const x = v128.xor(words, flip);
    // minus the number of thresholds passed
    const steps = i16x8.add(
      i16x8.add(
        i16x8.gt_s(x, v128.load(MOD_P)),
        i16x8.add(i16x8.gt_s(x, v128.load(MOD_P, 16)), i16x8.gt_s(x, v128.load(MOD_P, 32))),
      ),
      i16x8.add(i16x8.gt_s(x, v128.load(MOD_P, 48)), i16x8.gt_s(x, v128.load(MOD_P, 64))),
    );
    v128.store(out, i16x8.add(words, i16x8.mul(steps, p)));
  }
  position = 256;
}
