/**
 * Big integers of key generation, many at once.
 *
 * An array of `count` integers of `len` words of 31 bits is stored word by word ("structure of
 * arrays"), so that one vector holds the same word of four integers; count is a multiple of 4:
 *
 *   | word 0 of all | word 1 of all | .. | word len-1 of all |        4 count len bytes, 16-aligned
 *
 * Signed integers are in two's complement over 31 len bits: bit 30 of the last word is the sign. In
 * residue form (RNS) word u is the value mod prime u instead.
 */
import * as R from './real';
import { evens, upperHalf } from '../shared/lanes';
import { PRIME, PRIME_CRT } from './keygenTables.gen';
import { P0I, R2, T31, mulMont, mulMont4, primeAt, sub4 } from './rns';

/** The last word of integers, mod p: unsigned, or signed in -2^30 .. 2^30 - 1. */
// @ts-ignore: decorator
@inline
function lastWord(x: v128, signed: bool, P: v128): v128 {
  if (!signed) return i32x4.min_u(x, i32x4.sub(x, P));
  const s = i32x4.shr_s(i32x4.shl(x, 1), 1);
  return i32x4.add(s, v128.and(i32x4.shr_s(s, 31), P));
}

/** d T + x: the product is below p, so the sum is below 2^32, as the next product requires. */
// @ts-ignore: decorator
@inline
function horner(d: v128, T: v128, x: v128, P: v128, I: v128): v128 {
  return i32x4.add(mulMont4(d, T, P, I), x);
}

/** [0, 2^32) to [0, p); 2^32 < 3 p. */
// @ts-ignore: decorator
@inline
function reduceFully(d: v128, P: v128): v128 {
  d = i32x4.min_u(d, i32x4.sub(d, P));
  return i32x4.min_u(d, i32x4.sub(d, P));
}

/**
 * One prime's residue of every integer.
 *
 * Spec:   Horner's rule. Each product depends on the previous one, so four chains run in parallel:
 *         four vectors of a row, or, when a row has fewer, every fourth word
 * Shape:  a: count integers of len words -> out: u32[count]
 * Bounds: signed: two's complement; otherwise unsigned words; out in [0, p)
 * Memory: out
 * Secret: a
 * Proof:  none: key generation
 */
export function zintMod(out: usize, a: usize, len: i32, count: i32, u: i32, signed: bool): void {
  const at = <usize>u << 2;
  const P = v128.load32_splat(PRIME + at);
  const I = v128.load32_splat(P0I + at);
  const T = v128.load32_splat(T31 + at);
  const row = <usize>count << 2;
  if (row & 63) {
    for (let i: usize = 0; i < row; i += 16) {
      v128.store(out + i, residueOfOne(a + i, row, len, signed, P, I, T));
    }
    return;
  }
  for (let i: usize = 0; i < row; i += 64) {
    const bottom = a + i;
    let w = bottom + row * <usize>(len - 1);
    let d0 = lastWord(v128.load(w), signed, P);
    let d1 = lastWord(v128.load(w, 16), signed, P);
    let d2 = lastWord(v128.load(w, 32), signed, P);
    let d3 = lastWord(v128.load(w, 48), signed, P);
    while (w > bottom) {
      w -= row;
      d0 = horner(d0, T, v128.load(w), P, I);
      d1 = horner(d1, T, v128.load(w, 16), P, I);
      d2 = horner(d2, T, v128.load(w, 32), P, I);
      d3 = horner(d3, T, v128.load(w, 48), P, I);
    }
    v128.store(out + i, reduceFully(d0, P));
    v128.store(out + i, reduceFully(d1, P), 16);
    v128.store(out + i, reduceFully(d2, P), 32);
    v128.store(out + i, reduceFully(d3, P), 48);
  }
}

/** One vector's residues: words 4i, 4i + 1, .. separately in powers of 2^124, then combined. */
function residueOfOne(
  a: usize,
  row: usize,
  len: i32,
  signed: bool,
  P: v128,
  I: v128,
  T: v128,
): v128 {
  let w = a + row * <usize>(len - 1);
  let d0 = lastWord(v128.load(w), signed, P);
  // down to a multiple of four words below
  for (const end = a + row * <usize>((len - 1) & ~3); w > end; ) {
    w -= row;
    d0 = horner(d0, T, v128.load(w), P, I);
  }
  if (w == a) return reduceFully(d0, P);
  const T2 = mulMont4(T, T, P, I);
  const T4 = mulMont4(T2, T2, P, I);
  // d0 has the words 4i; the first words of the others have nothing above them
  let d1 = v128.load(w - 3 * row);
  let d2 = v128.load(w - 2 * row);
  let d3 = v128.load(w - row);
  w -= 4 * row;
  d0 = horner(d0, T4, v128.load(w), P, I);
  while (w > a) {
    d1 = horner(d1, T4, v128.load(w - 3 * row), P, I);
    d2 = horner(d2, T4, v128.load(w - 2 * row), P, I);
    d3 = horner(d3, T4, v128.load(w - row), P, I);
    w -= 4 * row;
    d0 = horner(d0, T4, v128.load(w), P, I);
  }
  // d0 + T (d1 + T (d2 + T d3)): each addend is below p where a sum must stay below 2^32
  d3 = horner(d3, T, reduceFully(d2, P), P, I);
  d2 = horner(d3, T, reduceFully(d1, P), P, I);
  return reduceFully(horner(d2, T, reduceFully(d0, P), P, I), P);
}

/**
 * Converts residues to words by the Chinese remainder theorem, in place.
 *
 * Shape:  a: count integers, residues mod the first len primes -> len words
 * Bounds: signed: the representative in (-M/2, M/2), else in [0, M), M the product of the primes
 * Memory: a; tmp: u32[2 len + count]
 * Secret: a
 * Proof:  none: key generation
 */
export function zintFromRns(a: usize, len: i32, count: i32, signed: bool, tmp: usize): void {
  const row = <usize>count << 2;
  const product = tmp;
  const residue = tmp + (<usize>((2 * len + 3) & ~3) << 2);
  const M31 = i64x2.splat(0x7fffffff);
  store<u32>(product, primeAt(0));
  for (let u = 1; u < len; u++) {
    const at = <usize>u << 2;
    const p = primeAt(u);
    const p0i = load<u32>(P0I + at);
    const P = i32x4.splat(p);
    const I = i32x4.splat(p0i);
    // Montgomery form of 1 / (p_0 .. p_(u-1))
    const S = i32x4.splat(mulMont(load<u32>(PRIME_CRT + at), load<u32>(R2 + at), p, p0i));
    zintMod(residue, a, u, count, u, false);
    for (let i: usize = 0; i < row; i += 16) {
      let w = a + i;
      const target = w + row * <usize>u;
      const r = mulMont4(sub4(v128.load(target), v128.load(residue + i), P), S, P, I);
      // a += r * product
      let lowCarry = i64x2.splat(0);
      let highCarry = i64x2.splat(0);
      let q = product;
      for (; w < target; w += row) {
        const m = v128.load32_splat(q);
        const x = v128.load(w);
        const lowSum = i64x2.add(lowCarry, i64x2.extend_low_i32x4_u(x));
        const highSum = i64x2.add(highCarry, i64x2.extend_high_i32x4_u(x));
        const low = i64x2.add(i64x2.extmul_low_i32x4_u(r, m), lowSum);
        const high = i64x2.add(i64x2.extmul_high_i32x4_u(r, m), highSum);
        v128.store(w, evens(v128.and(low, M31), v128.and(high, M31)));
        lowCarry = i64x2.shr_u(low, 31);
        highCarry = i64x2.shr_u(high, 31);
        q += 4;
      }
      v128.store(target, evens(lowCarry, highCarry));
    }
    // product *= p
    let carry: u64 = 0;
    let q = product;
    for (const end = product + at; q < end; q += 4) {
      const z = <u64>load<u32>(q) * <u64>p + carry;
      store<u32>(q, <u32>z & 0x7fffffff);
      carry = z >> 31;
    }
    store<u32>(q, <u32>carry);
  }
  if (signed) zintCentre(a, len, count, product);
}

/** Subtracts the (odd) modulus m: u32[len] from every integer of a that exceeds m/2. */
function zintCentre(a: usize, len: i32, count: i32, m: usize): void {
  const row = <usize>count << 2;
  const end = m + (<usize>len << 2);
  const half = end;
  for (let i: usize = 0; i < <usize>len << 2; i += 4) {
    const next: u32 = m + i + 4 < end ? load<u32>(m + i + 4) : 0;
    store<u32>(half + i, (load<u32>(m + i) >> 1) | ((next & 1) << 30));
  }
  const M31 = i32x4.splat(0x7fffffff);
  for (let i: usize = 0; i < row; i += 16) {
    let w = a + i;
    let borrow = i32x4.splat(0);
    for (let h = half; h < half + (end - m); h += 4) {
      const d = i32x4.sub(i32x4.sub(v128.load32_splat(h), v128.load(w)), borrow);
      borrow = i32x4.shr_u(d, 31);
      w += row;
    }
    const take = i32x4.neg(borrow);
    borrow = i32x4.splat(0);
    w = a + i;
    for (let q = m; q < end; q += 4) {
      const d = i32x4.sub(i32x4.sub(v128.load(w), v128.and(v128.load32_splat(q), take)), borrow);
      v128.store(w, v128.and(d, M31));
      borrow = i32x4.shr_u(d, 31);
      w += row;
    }
  }
}

/**
 * Converts signed integers to doubles.
 *
 * Spec:   the same additions in the same order as the round-3 reference (least word first, each sum
 *         rounded): the result is bit-identical
 * Shape:  a: count integers of len words (row may be longer than len) -> out: f64[count]
 * Bounds: len <= 10
 * Memory: out
 * Secret: a
 * Proof:  none: key generation
 */
export function zintToDouble(out: usize, a: usize, len: i32, count: i32): void {
  const row = <usize>count << 2;
  const M31 = i32x4.splat(0x7fffffff);
  for (let i: usize = 0; i < row; i += 16) {
    let w = a + i;
    const last = w + row * <usize>(len - 1);
    // magnitude and sign: word' = (word ^ mask) + carry, then the sign on each word
    const negative = i32x4.shr_s(i32x4.shl(v128.load(last), 1), 31);
    const mask = v128.and(negative, M31);
    let carry = i32x4.neg(negative);
    let low = R.splat(0);
    let high = R.splat(0);
    let exponent = 0;
    for (; w <= last; w += row) {
      let x = i32x4.add(v128.xor(v128.load(w), mask), carry);
      carry = i32x4.shr_u(x, 31);
      x = v128.and(x, M31);
      x = i32x4.sub(v128.xor(x, negative), negative);
      const s = i64x2.splat(R.powerOfTwo(exponent));
      low = R.add(low, R.scale(R.fromI32(x), s));
      high = R.add(high, R.scale(R.fromI32(upperHalf(x)), s));
      exponent += 31;
    }
    v128.store(out + (i << 1), low);
    v128.store(out + (i << 1), high, 16);
  }
}

/**
 * a -= y * 2^(31 words + bits), modulo 2^(31 aLen).
 *
 * Shape:  a: count integers of aLen words; y: count signed integers of yLen words
 * Bounds: 0 <= bits < 31
 * Memory: a
 * Secret: a, y
 * Proof:  none: key generation
 */
export function zintSubScaled(
  a: usize,
  aLen: i32,
  y: usize,
  yLen: i32,
  count: i32,
  words: i32,
  bits: i32,
): void {
  const row = <usize>count << 2;
  const M31 = i32x4.splat(0x7fffffff);
  for (let i: usize = 0; i < row; i += 16) {
    let borrow = i32x4.splat(0);
    let below = i32x4.splat(0);
    let from = y + i;
    const fromEnd = from + row * <usize>yLen;
    const sign = v128.and(i32x4.shr_s(i32x4.shl(v128.load(fromEnd - row), 1), 31), M31);
    let w = a + i + row * <usize>words;
    for (const end = a + i + row * <usize>aLen; w < end; w += row) {
      const x = from < fromEnd ? v128.load(from) : sign;
      const shifted = v128.or(v128.and(i32x4.shl(x, bits), M31), below);
      below = i32x4.shr_u(x, 31 - bits);
      const d = i32x4.sub(i32x4.sub(v128.load(w), shifted), borrow);
      v128.store(w, v128.and(d, M31));
      borrow = i32x4.shr_u(d, 31);
      from += row;
    }
  }
}

/**
 * Multiplies by a small factor, in place; returns the overflow (the OR over the integers).
 *
 * Shape:  a: count integers of len words, unsigned
 * Memory: a
 * Secret: a
 * Proof:  none: key generation
 */
export function zintMulSmall(a: usize, len: i32, count: i32, factor: u32): u32 {
  let over: u64 = 0;
  for (let i = 0; i < count; i++) {
    let w = a + (<usize>i << 2);
    let carry: u64 = 0;
    for (let j = 0; j < len; j++) {
      const z = <u64>load<u32>(w) * <u64>factor + carry;
      store<u32>(w, <u32>z & 0x7fffffff);
      carry = z >> 31;
      w += <usize>count << 2;
    }
    over |= carry;
  }
  return <u32>over;
}
