/**
 * Encodings of public keys and signatures: strict decoding, and the exact inverse.
 *
 *   public key      0x00+logn | n x 14 bits, big-endian
 *   compressed      0x30+logn | salt 40 | n x (sign, low 7 bits, high part in unary: 0..0 1),
 *                   zero bits to the byte
 *   padded          the same, then zero bytes up to exactly 666 or 1280
 *   constant-time   0x50+logn | salt 40 | n x 12 bits, two's complement, big-endian
 *
 * Every accepted byte string is the only one for its content: re-encoding reproduces it.
 */
import {
  compressedMaxLength,
  constantTimeLength,
  paddedLength,
  SALT_LENGTH,
} from './params';
import { PAIRS, WORDS } from './layout';
import {
  E_PK_HEADER,
  E_PK_RANGE,
  E_SIG_ENCODING,
  E_SIG_HEADER,
  E_SIG_LENGTH,
  OK,
} from '../shared/status';
import { Q_LANES } from '../shared/zq';

/** Formats, as passed by callers and reported by `decodeSignature`. */
export const COMPRESSED: i32 = 0;
export const PADDED: i32 = 1;
export const CONSTANT_TIME: i32 = 2;

const COMPRESSED_HEADER: i32 = 0x30;
const CONSTANT_TIME_HEADER: i32 = 0x50;
/** Header and salt. */
const PREFIX: i32 = 1 + SALT_LENGTH;

const MASKS: usize = memory.data<u8>([
  // bytes of two u64, reversed
  7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
  // 14-bit values 0-3 of 14 bytes: the four bytes that contain each, most significant last
  3, 2, 1, 0, 4, 3, 2, 1, 6, 5, 4, 3, 8, 7, 6, 5,
  // values 4-7
  10, 9, 8, 7, 11, 10, 9, 8, 13, 12, 11, 10, 15, 14, 13, 12,
], 16);
/**
 * Left shifts, as factors, that move each of four consecutive 14-bit values to the top of its four
 * bytes.
 */
const ALIGN: usize = memory.data<i32>([1, 64, 16, 4], 16);

/**
 * Selects bytes by index. The relaxed instruction is exact for indices below 16 or above 127, which
 * all indices here are.
 */
// @ts-ignore: decorator
@inline
export function swizzle(bytes: v128, indices: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD
    ? i8x16.relaxed_swizzle(bytes, indices)
    : i8x16.swizzle(bytes, indices);
}

/**
 * Decodes a public key.
 *
 * Up to two bytes beyond it are read. Values below q are centred: |h| <= 6144.
 *
 * Spec:   Falcon, round 3, section 3.11.4
 * Shape:  pk: u8[1 + 7 * n / 4] -> h: i16[n]
 * Memory: pk, h
 * Errors: E_PK_HEADER, E_PK_RANGE
 * Proof:  publicKey(), logn in {9, 10}
 */
export function decodePublicKey(pk: usize, h: usize, logn: i32): i32 {
  if (<i32>load<u8>(pk) != logn) return E_PK_HEADER;
  pk += 1;
  const align = v128.load(ALIGN);
  const low = v128.load(MASKS, 16);
  const high = v128.load(MASKS, 32);
  const q = v128.load(Q_LANES);
  const half = i16x8.shr_u(q, 1);
  let largest = i16x8.splat(0);
  for (const end = h + (<usize>2 << logn); h < end; h += 16, pk += 14) {
    const bytes = v128.load(pk);
    const a = i32x4.shr_u(i32x4.mul(swizzle(bytes, low), align), 18);
    const b = i32x4.shr_u(i32x4.mul(swizzle(bytes, high), align), 18);
    const values = i16x8.narrow_i32x4_s(a, b);
    largest = i16x8.max_s(largest, values);
    v128.store(h, i16x8.sub(values, v128.and(i16x8.gt_s(values, half), q)));
  }
  return v128.any_true(i16x8.ge_s(largest, q)) ? E_PK_RANGE : OK;
}

/**
 * Encodes a public key.
 *
 * Spec:   Falcon, round 3, section 3.11.4
 * Shape:  h: u16[n] -> pk: u8[1 + 7n/4]
 * Bounds: h in [0, q)
 * Memory: h, pk
 * Secret: none (h is public); straight-line nonetheless
 * Proof:  reveals(0), logn in {9, 10}
 */
export function encodePublicKey(pk: usize, h: usize, logn: i32): void {
  store<u8>(pk, logn);
  pk += 1;
  for (const end = h + (<usize>2 << logn); h < end; h += 8, pk += 7) {
    // 4 x 14 = 56 bits
    const bits =
      (<u64>load<u16>(h) << 42) |
      (<u64>load<u16>(h, 2) << 28) |
      (<u64>load<u16>(h, 4) << 14) |
      <u64>load<u16>(h, 6);
    const bytes = bswap<u64>(bits << 8);
    store<u32>(pk, <u32>bytes);
    store<u16>(pk, <u16>(bytes >> 32), 4);
    store<u8>(pk, <u8>(bytes >> 48), 6);
  }
}

/**
 * Decodes a signature's coefficients, in any form.
 *
 * Spec:   Falcon, round 3, section 3.11.3 (forms), Algorithm 18 (Decompress)
 * Shape:  sig: u8[sigLen] (up to 15 bytes beyond are read) -> s2, copy: i16[n], identical
 * Bounds: |s2| <= 2047
 * Memory: sig, s2, copy, WORDS, PAIRS
 * Errors: E_SIG_HEADER, E_SIG_LENGTH, E_SIG_ENCODING; otherwise the form. A compressed signature
 *         that happens to have the padded length is reported as compressed: both forms are then the
 *         same bytes.
 * Proof:  none: addresses depend on the signature, which is public
 */
export function decodeSignature(sig: usize, sigLen: i32, s2: usize, copy: usize, logn: i32): i32 {
  if (sigLen <= PREFIX) return E_SIG_LENGTH;
  const header = <i32>load<u8>(sig);
  const body = sig + PREFIX;
  if (header == COMPRESSED_HEADER + logn) {
    if (sigLen > compressedMaxLength(logn)) return E_SIG_LENGTH;
    const bodyLen = sigLen - PREFIX;
    const used = decompress(body, bodyLen, s2, copy, logn);
    if (used < 0 || used == bodyLen) return used < 0 ? used : COMPRESSED;
    if (sigLen != paddedLength(logn)) return E_SIG_LENGTH;
    for (let i = used; i < bodyLen; i++) {
      if (load<u8>(body + <usize>i)) return E_SIG_ENCODING;
    }
    return PADDED;
  }
  if (header == CONSTANT_TIME_HEADER + logn) {
    if (sigLen != constantTimeLength(logn)) return E_SIG_LENGTH;
    return decodeTwelveBits(body, s2, copy, logn) ? CONSTANT_TIME : E_SIG_ENCODING;
  }
  return E_SIG_HEADER;
}

/**
 * Golomb-Rice decoding without a branch on the data. Extracts two coefficients from a 64-bit window
 * while preparing the next window; checks signs and ranges afterwards, eight at a time.
 *
 *   window   | s lllllll 0..0 1 | s lllllll 0..0 1 | ...      top bit first
 *              b0        k0 + 1   b1        k1 + 1
 *   PAIRS    k0 b0 k1 b1        bytes; b = sign and low part
 *
 * A run of zeros that exceeds 15, or the input, produces a k that the second loop rejects. Until
 * then the position may be wrong but never out of bounds: it is compared with the limit before use.
 *
 * Returns the bytes used, or E_SIG_LENGTH (the input ends too soon), E_SIG_ENCODING.
 */
function decompress(src: usize, len: i32, s2: usize, copy: usize, logn: i32): i32 {
  const words = WORDS;
  const end = words + <usize>len;
  const reverse = v128.load(MASKS);
  for (let p = words, from = src; p < end; p += 16, from += 16) v128.store(p, v128.load(from));
  const zero = i64x2.splat(0);
  v128.store(end, zero);
  v128.store(end, zero, 16);
  v128.store(end, zero, 32);
  for (let p = words; p < end; p += 16) v128.store(p, swizzle(v128.load(p), reverse));

  const limit = <u64>len << 3;
  let position: u64 = 0;
  let window = load<u64>(words);
  for (let out = PAIRS, stop = PAIRS + (<usize>2 << logn); out < stop; out += 4) {
    const word = words + ((<usize>position >> 6) << 3);
    // Bits [position + 64, position + 128); the double shift shifts by 64 - position % 64 and is
    // also valid for 64.
    const next = (load<u64>(word, 8) << position) | ((load<u64>(word, 16) >> 1) >> (63 ^ position));
    const k0 = clz<u64>(window << 8);
    const b0 = window >>> 56;
    window <<= k0 + 9;
    const k1 = clz<u64>(window << 8);
    const b1 = window >>> 56;
    const taken = k0 + k1 + 18;
    window = (window << (k1 + 9)) | (next >>> (64 - taken));
    store<u8>(out, k0);
    store<u8>(out, b0, 1);
    store<u8>(out, k1, 2);
    store<u8>(out, b1, 3);
    position += taken;
    if (position > limit) return E_SIG_LENGTH;
  }

  const k = i16x8.splat(0xff);
  const tooLarge = i16x8.splat(0xf0);
  const seven = i16x8.splat(0x7f);
  let bad = zero;
  for (let at: usize = 0, stop = <usize>2 << logn; at < stop; at += 16) {
    const pair = v128.load(PAIRS + at);
    bad = v128.or(bad, v128.and(pair, tooLarge));
    const magnitude = v128.or(
      i16x8.shl(v128.and(pair, k), 7),
      v128.and(i16x8.shr_u(pair, 8), seven),
    );
    const sign = i16x8.shr_s(pair, 15);
    bad = v128.or(bad, v128.and(sign, i16x8.eq(magnitude, zero))); // minus zero
    const value = i16x8.sub(v128.xor(magnitude, sign), sign);
    v128.store(s2 + at, value);
    v128.store(copy + at, value);
  }
  if (v128.any_true(bad)) return E_SIG_ENCODING;
  const used = <i32>((position + 7) >> 3);
  const spare = (<u32>used << 3) - <u32>position;
  const last = <u32>load<u8>(src + <usize>(used - 1));
  return last & ((1 << spare) - 1) ? E_SIG_ENCODING : used;
}

/** Returns whether the header is that of the constant-time form. */
// @ts-ignore: decorator
@inline
export function isConstantTime(sig: usize, logn: i32): bool {
  return <i32>load<u8>(sig) == CONSTANT_TIME_HEADER + logn;
}

/** Two coefficients from three bytes; false if one is the forbidden -2048. */
function decodeTwelveBits(src: usize, s2: usize, copy: usize, logn: i32): bool {
  let forbidden = 0;
  for (let at: usize = 0, stop = <usize>2 << logn; at < stop; at += 4, src += 3) {
    const bits =
      (<u32>load<u8>(src) << 24) | (<u32>load<u8>(src, 1) << 16) | (<u32>load<u8>(src, 2) << 8);
    const a = <i32>bits >> 20;
    const b = <i32>(bits << 12) >> 20;
    forbidden |= i32(a == -2048) | i32(b == -2048);
    const pair = (a & 0xffff) | (b << 16);
    store<i32>(s2 + at, pair);
    store<i32>(copy + at, pair);
  }
  return !forbidden;
}

/**
 * Writes a signature's header and coefficients; the caller writes the salt's 40 bytes between them.
 *
 * Spec:   Falcon, round 3, section 3.11.3, Algorithm 17 (Compress)
 * Shape:  s2: i16[n] -> sig: u8[maximum length of the form]
 * Bounds: any s2
 * Memory: s2, sig
 * Errors: 0 if it cannot be written: |s2| > 2047, or too long for the form. Otherwise the length.
 * Proof:  reveals(0, S2..PRODUCT at encodeSignature), format in {0, 1}, logn in {9, 10}
 * Proof:  reveals(1), format in {2}, logn in {9, 10}
 */
export function encodeSignature(sig: usize, s2: usize, format: i32, logn: i32): i32 {
  const body = sig + PREFIX;
  if (format == CONSTANT_TIME) {
    store<u8>(sig, CONSTANT_TIME_HEADER + logn);
    return encodeTwelveBits(body, s2, logn) ? constantTimeLength(logn) : 0;
  }
  store<u8>(sig, COMPRESSED_HEADER + logn);
  const room = (format == PADDED ? paddedLength(logn) : compressedMaxLength(logn)) - PREFIX;
  const used = compress(body, room, s2, logn);
  if (used == 0) return 0;
  if (format != PADDED) return PREFIX + used;
  memory.fill(body + <usize>used, 0, room - used);
  return PREFIX + room;
}

/** Returns the bytes written, or 0 if they exceed `room` or a coefficient is out of range. */
function compress(dst: usize, room: i32, s2: usize, logn: i32): i32 {
  const end = dst + <usize>room;
  let out = dst;
  let bits: u64 = 0;
  let count = 0; // pending bits, at the low end of `bits`
  for (const stop = s2 + (<usize>2 << logn); s2 < stop; s2 += 2) {
    const value = <i32>load<i16>(s2);
    const magnitude = abs<i32>(value);
    if (magnitude > 2047) return 0;
    const high = magnitude >> 7;
    const low = ((value >> 31) & 0x80) | (magnitude & 0x7f);
    // 8 bits of sign and low part, `high` zeros, a one: at most 24, after at most 7 pending
    bits = (bits << (9 + high)) | (<u64>low << (1 + high)) | 1;
    count += 9 + high;
    while (count >= 8) {
      count -= 8;
      if (out == end) return 0;
      store<u8>(out, <u8>(bits >> count));
      out += 1;
    }
  }
  if (count > 0) {
    if (out == end) return 0;
    store<u8>(out, <u8>(bits << (8 - count)));
    out += 1;
  }
  return <i32>(out - dst);
}

/** Writes three bytes per two coefficients; false if one exceeds 2047. */
function encodeTwelveBits(dst: usize, s2: usize, logn: i32): bool {
  let room = 0; // negative once any coefficient is out of range
  for (const stop = s2 + (<usize>2 << logn); s2 < stop; s2 += 4, dst += 3) {
    const a = <i32>load<i16>(s2);
    const b = <i32>load<i16>(s2, 2);
    room |= (2047 - abs(a)) | (2047 - abs(b));
    const bits = ((a & 0xfff) << 12) | (b & 0xfff);
    store<u8>(dst, bits >> 16);
    store<u8>(dst, bits >> 8, 1);
    store<u8>(dst, bits, 2);
  }
  return room >= 0;
}
