/**
 * The encoded secret key, in region SK:
 *
 *   | 0x50 + logn | f: n x b bits | g: n x b bits | F: n x 8 bits |   b = 6 (n = 512), 5 (n = 1024)
 *
 * Two's complement, most significant bit first; G is not stored (G = (q + gF) / f).
 */

import { E_SK_HEADER, E_SK_INVALID, E_SK_RANGE, OK } from '../shared/status';
import { FLOATS, FLOATS_SIZE } from './keygenLayout';
import { PRIME } from './keygenTables.gen';
import { SK } from './layout';
import { nttPair, smallToRns } from './ntruLevels';
import { reaches, widen } from './smallPoly';
import { canonicalPoly, centrePoly, intt, invertPoly, ntt, pointwise } from '../shared/ntt';
import { P0I, initRns, mulMont4, sub4 } from './rns';

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

/**
 * Reads n values of `bits` (5 or 6) bits at src into i8[n] at out; 1 if one is -2^(bits-1), else 0.
 */
function unpackSmall(src: usize, out: usize, logn: i32, bits: i32): i32 {
  const n = 1 << logn;
  const shift = 32 - bits;
  const forbidden = -(1 << (bits - 1));
  let acc: u32 = 0;
  let have = 0;
  let bad = 0;
  for (let i = 0; i < n; i++) {
    if (have < bits) {
      // the number of available bits depends on i alone
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

/**
 * Writes i8[n] at src as n values of `bits` (5 or 6) bits at out; 1 if one does not fit, else 0.
 */
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

/**
 * Decodes the secret key; checks only its syntax (`completeSecretKey` checks the rest).
 *
 * Spec:   Falcon round 3, section 3.11.5
 * Shape:  SK -> f: i8[n], g: i8[n], F: i8[n]
 * Bounds: |f|, |g| < 2^(b-1), |F| <= 127
 * Memory: none beyond the outputs
 * Secret: all; no branch or index depends on a coefficient
 * Errors: E_SK_HEADER, E_SK_RANGE (a coefficient is the forbidden -2^(bits-1)); outputs zeroed
 * Proof:  reveals(2), logn in {9, 10}
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
    bad |= i32(reaches(F, n, 128));
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
 * Proof:  reveals(1), logn in {9, 10}
 */
export function encodeSecretKey(logn: i32, f: usize, g: usize, F: usize): i32 {
  const n = 1 << logn;
  const bits = smallBits(logn);
  const size = (bits << logn) >> 3;
  store<u8>(SK, 0x50 + logn);
  let bad = packSmall(f, SK + 1, logn, bits);
  bad |= packSmall(g, SK + 1 + size, logn, bits);
  memory.copy(SK + 1 + 2 * size, F, n);
  bad |= i32(reaches(F, n, 128));
  if (bad) {
    memory.fill(SK, 0, secretKeyLength(logn));
    return E_SK_RANGE;
  }
  return OK;
}

/**
 * Computes h = g / f mod q.
 *
 * Shape:  f, g: i8[n] -> hNtt, tmp: i16[n]
 * Bounds: any f, any g -> |hNtt| <= 13219
 * Secret: f, g
 * Errors: returns 1 if f is not invertible, else 0; if not, hNtt is 0 where the transform of f is
 * Proof:  quotient(), logn in {9, 10}
 */
export function quotientNtt(logn: i32, hNtt: usize, tmp: usize, f: usize, g: usize): i32 {
  const n = 1 << logn;
  widen(hNtt, f, n);
  ntt(hNtt, logn);
  const bad = invertPoly(hNtt, logn);
  widen(tmp, g, n);
  ntt(tmp, logn);
  pointwise(hNtt, tmp, logn);
  return bad;
}

/**
 * Computes G = h F mod q, centred: with h = g / f, the polynomial that the encoding omits.
 *
 * Spec:   Falcon round 3, section 3.11.5
 * Shape:  hNtt: i16[n]; F: i8[n] -> G: i8[n]; tmp: i16[n]
 * Bounds: any hNtt, any F
 * Secret: all
 * Errors: returns 1 if any |G| > 127 (G is wrong there), else 0
 * Proof:  productOfSmall(), logn in {9, 10}
 */
export function recoverG(logn: i32, G: usize, hNtt: usize, F: usize, tmp: usize): i32 {
  widen(tmp, F, 1 << logn);
  ntt(tmp, logn);
  pointwise(tmp, hNtt, logn);
  intt(tmp, logn);
  centrePoly(tmp, logn);
  const limit = i16x8.splat(127);
  let over = i16x8.splat(0);
  for (const end = G + (<usize>1 << logn); G < end; G += 16, tmp += 32) {
    const x = v128.load(tmp);
    const y = v128.load(tmp, 16);
    over = v128.or(over, i16x8.gt_s(i16x8.max_s(i16x8.abs(x), i16x8.abs(y)), limit));
    v128.store(G, i8x16.narrow_i16x8_s(x, y));
  }
  return i32(v128.any_true(over));
}

/**
 * Computes the public polynomial h = g / f mod q.
 *
 * Spec:   Falcon round 3, Algorithm 4, line 8
 * Shape:  f, g: i8[n] -> h: u16[n] in [0, q)
 * Memory: h, FLOATS
 * Secret: f, g
 * Errors: E_SK_INVALID if f is not invertible
 * Proof:  none: its parts are proved
 */
export function quotientModQ(logn: i32, h: usize, f: usize, g: usize): i32 {
  if (quotientNtt(logn, h, FLOATS, f, g)) return E_SK_INVALID;
  intt(h, logn);
  canonicalPoly(h, logn);
  return OK;
}

/**
 * Checks fG - gF = q over the integers: since all are small, a check mod a 31-bit prime suffices.
 */
function solvesNtru(logn: i32, f: usize, g: usize, F: usize, G: usize, tmp: usize): bool {
  const n = 1 << logn;
  const size = <usize>4 << logn;
  initRns();
  smallToRns(tmp, f, n, 0);
  smallToRns(tmp + size, g, n, 0);
  smallToRns(tmp + 2 * size, F, n, 0);
  smallToRns(tmp + 3 * size, G, n, 0);
  nttPair(tmp, logn, 0);
  nttPair(tmp + 2 * size, logn, 0);
  const P = v128.load32_splat(PRIME);
  const I = v128.load32_splat(P0I);
  const q = mulMont4(i32x4.splat(12289), i32x4.splat(1), P, I);
  let bad = i32x4.splat(0);
  for (let a = tmp; a < tmp + size; a += 16) {
    const fG = mulMont4(v128.load(a), v128.load(a + 3 * size), P, I);
    const gF = mulMont4(v128.load(a + size), v128.load(a + 2 * size), P, I);
    bad = v128.or(bad, v128.xor(sub4(fG, gF, P), q));
  }
  return !v128.any_true(bad);
}

/**
 * Computes the parts that the encoding omits, G and the public polynomial, from a decoded secret
 * key.
 *
 * Spec:   Falcon round 3, section 3.11.5; stricter than the reference, which never checks the NTRU
 *         equation itself
 * Shape:  f, g, F: i8[n] -> G: i8[n], h = g / f: u16[n] in [0, q)
 * Bounds: |G| <= 127
 * Memory: G, h, FLOATS (cleared)
 * Secret: all but h
 * Errors: E_SK_INVALID if f is not invertible mod q, |G| > 127, or fG - gF is not q
 * Proof:  none: inlined; part of publicKey
 */
export function completeSecretKey(
  logn: i32,
  f: usize,
  g: usize,
  F: usize,
  G: usize,
  h: usize,
): i32 {
  const ok = complete(logn, f, g, F, G, h);
  memory.fill(FLOATS, 0, FLOATS_SIZE);
  return ok ? OK : E_SK_INVALID;
}

function complete(logn: i32, f: usize, g: usize, F: usize, G: usize, h: usize): bool {
  const bad = quotientNtt(logn, h, FLOATS, f, g) | recoverG(logn, G, h, F, FLOATS);
  intt(h, logn);
  canonicalPoly(h, logn);
  return !bad && solvesNtru(logn, f, g, F, G, FLOATS);
}
