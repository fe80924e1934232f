/**
 * The encoded secret key, in region SK:
 *
 *   | 0x50 + logn | f: n x b bits | g: n x b bits | F: n x 8 bits |     b = 6 (n = 512), 5 (n = 1024)
 *
 * Two's complement, most significant bit first; G is not stored (G = (q + gF) / f).
 */

import { E_SK_HEADER, E_SK_RANGE, OK } from '../shared/status';
import { SK } from './layout';

/** Bits of a coefficient of f and of g in the encoding. */
// @ts-ignore: decorator
@inline
export function smallBits(logn: i32): i32 {
  return logn == 9 ? 6 : 5;
}

/** Bytes of an encoded secret key: 1281 for n = 512, 2305 for n = 1024. */
// @ts-ignore: decorator
@inline
export function secretKeyLength(logn: i32): i32 {
  return 1 + (((2 * smallBits(logn)) << logn) >> 3) + (1 << logn);
}

/** Reads n values of `bits` (5 or 6) bits at src into i8[n] at out; 1 if one is -2^(bits-1), else 0. */
function unpackSmall(src: usize, out: usize, logn: i32, bits: i32): i32 {
  const n = 1 << logn;
  const shift = 32 - bits;
  const forbidden = -(1 << (bits - 1));
  let acc: u32 = 0;
  let have = 0;
  let bad = 0;
  for (let i = 0; i < n; i++) {
    if (have < bits) {
      // the count of bits at hand depends on i alone
      acc = (acc << 8) | <u32>load<u8>(src++);
      have += 8;
    }
    have -= bits;
    const x = (<i32>((acc >>> have) << shift)) >> shift;
    bad |= i32(x == forbidden);
    store<i8>(out + i, x);
  }
  return bad;
}

/** Writes i8[n] at src as n values of `bits` (5 or 6) bits at out; 1 if one does not fit, else 0. */
function packSmall(src: usize, out: usize, logn: i32, bits: i32): i32 {
  const n = 1 << logn;
  const limit = (1 << (bits - 1)) - 1;
  const mask: u32 = (1 << bits) - 1;
  let acc: u32 = 0;
  let have = 0;
  let bad = 0;
  for (let i = 0; i < n; i++) {
    const x = <i32>load<i8>(src + i);
    bad |= (limit - x) | (limit + x);
    acc = (acc << bits) | (<u32>x & mask);
    have += bits;
    if (have >= 8) {
      have -= 8;
      store<u8>(out++, acc >>> have);
    }
  }
  return <i32>(<u32>bad >>> 31);
}

/** 1 if the i8[n] at a holds -128, else 0. */
function holdsMinus128(a: usize, n: i32): i32 {
  const forbidden = i8x16.splat(-128);
  let seen = i8x16.splat(0);
  for (const end = a + n; a < end; a += 16) seen = v128.or(seen, i8x16.eq(v128.load(a), forbidden));
  return i32(v128.any_true(seen));
}

/**
 * Decodes the secret key; only its syntax is judged (see `completeSecretKey` for the rest).
 *
 * Spec:   Falcon round 3, section 3.11.5
 * Shape:  SK -> f: i8[n], g: i8[n], F: i8[n]
 * Bounds: |f|, |g| < 2^(b-1), |F| <= 127
 * Memory: none beyond the outputs
 * Secret: all; no branch or index depends on a coefficient
 * Errors: E_SK_HEADER, E_SK_RANGE (a coefficient is the forbidden -2^(bits-1)); outputs zeroed
 */
export function decodeSecretKey(logn: i32, f: usize, g: usize, F: usize): i32 {
  const n = 1 << logn;
  let status = OK;
  if (<i32>load<u8>(SK) != 0x50 + logn) {
    status = E_SK_HEADER;
  } else {
    const bits = smallBits(logn);
    const size = (bits << logn) >> 3;
    let bad = unpackSmall(SK + 1, f, logn, bits);
    bad |= unpackSmall(SK + 1 + size, g, logn, bits);
    memory.copy(F, SK + 1 + 2 * size, n);
    bad |= holdsMinus128(F, n);
    if (bad) status = E_SK_RANGE;
  }
  if (status != OK) {
    memory.fill(f, 0, n);
    memory.fill(g, 0, n);
    memory.fill(F, 0, n);
  }
  return status;
}

/**
 * Encodes the secret key.
 *
 * Spec:   Falcon round 3, section 3.11.5
 * Shape:  f: i8[n], g: i8[n], F: i8[n] -> SK
 * Bounds: |f|, |g| < 2^(b-1), |F| <= 127
 * Memory: none beyond SK
 * Secret: all; no branch or index depends on a coefficient
 * Errors: E_SK_RANGE (a coefficient exceeds its bound); SK zeroed
 */
export function encodeSecretKey(logn: i32, f: usize, g: usize, F: usize): i32 {
  const n = 1 << logn;
  const bits = smallBits(logn);
  const size = (bits << logn) >> 3;
  store<u8>(SK, 0x50 + logn);
  let bad = packSmall(f, SK + 1, logn, bits);
  bad |= packSmall(g, SK + 1 + size, logn, bits);
  memory.copy(SK + 1 + 2 * size, F, n);
  bad |= holdsMinus128(F, n);
  if (bad) {
    memory.fill(SK, 0, secretKeyLength(logn));
    return E_SK_RANGE;
  }
  return OK;
}
