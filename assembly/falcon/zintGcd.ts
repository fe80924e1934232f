/**
 * Bezout's equation for two big odd integers, at the deepest level of the NTRU solver.
 *
 * Internally, integers have words of 30 bits, and two of them are processed together, one 16-byte
 * row per word:
 *
 *   i32x4 row j of (a, b):   | a_j | a_j | b_j | b_j |
 *
 * so that one vector of four factors (pa, qa, pb, qb) yields both a pa + b pb and a qa + b qb.
 */
import { swapHalves } from '../shared/lanes';

const MASK30: u32 = 0x3fffffff;

/** Rows of 30-bit words that hold len words of 31 bits and the growth of a cofactor (10 bits). */
// @ts-ignore: decorator
@inline
function rowsFor(len: i32): i32 {
  return (31 * len + 10) / 30 + 2;
}

/** Bytes of scratch that zintBezout needs. */
// @ts-ignore: decorator
@inline
export function bezoutScratch(len: i32): usize {
  return <usize>rowsFor(len) * (16 + 16 + 4 + 4) + 96;
}

/**
 * Converts one integer of the array (31-bit words, `stride` bytes apart) to 30-bit words,
 * `outStride` apart.
 */
function to30(out: usize, outStride: usize, rows: i32, a: usize, stride: usize, len: i32): void {
  let acc: u64 = 0;
  let have = 0;
  let i = 0;
  for (let j = 0; j < rows; j++) {
    if (have < 30 && i < len) {
      acc |= <u64>load<u32>(a) << have;
      a += stride;
      have += 31;
      i++;
    }
    store<u32>(out, <u32>acc & MASK30);
    acc >>= 30;
    have -= 30;
    out += outStride;
  }
}

/** The inverse of `to30`; bits beyond 31 len must be zero. */
function from30(out: usize, stride: usize, len: i32, a: usize, aStride: usize, rows: i32): void {
  let acc: u64 = 0;
  let have = 0;
  let i = 0;
  for (let j = 0; j < len; j++) {
    while (have < 31) {
      if (i < rows) acc |= <u64>load<u32>(a) << have;
      a += aStride;
      have += 30;
      i++;
    }
    store<u32>(out, <u32>acc & 0x7fffffff);
    acc >>= 31;
    have -= 31;
    out += stride;
  }
}

/**
 * Thirty halvings on the low words, controlled by the top words: -> i32[4] pa, qa, pb, qb at out.
 */
function factors(out: usize, aHi: u64, bHi: u64, aLo: u32, bLo: u32): void {
  // P = pa + 2^32 pb, Q = qa + 2^32 qb; the sums never exceed their halves by more than a borrow
  let P: i64 = 1;
  let Q: i64 = <i64>1 << 32;
  for (let i = 0; i < 30; i++) {
    const aOdd: i64 = -(<i64>((aLo >>> i) & 1));
    const bOdd: i64 = -(<i64>((bLo >>> i) & 1));
    const aAbove: i64 = <i64>(bHi - aHi) >> 63;
    const both = aOdd & bOdd;
    const subA = both & aAbove; // a <- a - b
    const subB = both & ~aAbove; // b <- b - a
    aLo -= bLo & <u32>subA;
    aHi -= bHi & <u64>subA;
    P -= Q & subA;
    bLo -= aLo & <u32>subB;
    bHi -= aHi & <u64>subB;
    Q -= P & subB;
    // halves the even one by doubling the other one's low word and factors
    const halveA = subA | ~aOdd;
    const halveB = ~halveA;
    aLo += aLo & <u32>halveB;
    P += P & halveB;
    aHi ^= (aHi ^ (aHi >> 1)) & <u64>halveA;
    bLo += bLo & <u32>halveA;
    Q += Q & halveA;
    bHi ^= (bHi ^ (bHi >> 1)) & <u64>halveB;
  }
  const pa = <i32>P;
  const qa = <i32>Q;
  store<i32>(out, pa);
  store<i32>(out, qa, 4);
  store<i32>(out, <i32>((P - <i64>pa) >> 32), 8);
  store<i32>(out, <i32>((Q - <i64>qa) >> 32), 12);
}

/** (a, b) <- (a, b) C / 2^30; the lanes of the result are -1 where it is negative. */
function stepValues(ab: usize, rows: i32, C: v128): v128 {
  // a bias of 2^62 keeps carries positive, as i64x2 has no cheap arithmetic shift
  const M = i64x2.splat(MASK30);
  const K = i64x2.splat(((<i64>1) << 62) - ((<i64>1) << 32));
  let carry = i64x2.splat((<i64>1) << 32);
  let w = ab;
  for (const end = ab + (<usize>rows << 4); w < end; w += 16) {
    const x = v128.load(w);
    const products = i64x2.add(i64x2.extmul_low_i32x4_s(x, C), i64x2.extmul_high_i32x4_s(x, C));
    const z = i64x2.add(products, i64x2.add(carry, K));
    const d = v128.and(z, M);
    // the lowest word is zero; every other one moves down by one row
    v128.store(w - 16, v128.or(d, i64x2.shl(d, 32)));
    carry = i64x2.shr_u(z, 30);
  }
  const top = i64x2.sub(carry, i64x2.splat((<i64>1) << 32));
  const d = v128.and(top, M);
  v128.store(w - 16, v128.or(d, i64x2.shl(d, 32)));
  return i64x2.shr_s(top, 63);
}

/** Negates a, b where the lane of `negative` is -1, and finds the top words -> u64[2] at out. */
function absoluteAndTops(out: usize, ab: usize, rows: i32, negative: v128): void {
  const M = v128.and(negative, i32x4.splat(MASK30));
  const M30 = i32x4.splat(MASK30);
  let carry = i32x4.neg(negative);
  let below = i32x4.splat(0);
  let top = i32x4.splat(0);
  let next = i32x4.splat(0);
  for (let w = ab, end = ab + (<usize>rows << 4); w < end; w += 16) {
    const x = i32x4.add(v128.xor(v128.load(w), M), carry);
    carry = i32x4.shr_u(x, 30);
    const d = v128.and(x, M30);
    v128.store(w, d);
    const any = v128.or(d, swapHalves(d));
    const zero = i32x4.eq(any, i32x4.splat(0));
    top = v128.bitselect(top, d, zero);
    next = v128.bitselect(next, below, zero);
    below = d;
  }
  const wide = i64x2.add(i64x2.shl(i64x2.shr_u(top, 32), 30), i64x2.shr_u(next, 32));
  v128.store(out, wide);
}

/** (u0, u1) <- (u0, u1) C / 2^30 mod y; the bound, in multiples of y/2, grows by one. */
function stepCofactors(u: usize, rows: i32, C: v128, y: usize, yInverse: u32): void {
  const M = i64x2.splat(MASK30);
  const x0 = v128.load(u);
  const low = i64x2.add(i64x2.extmul_low_i32x4_s(x0, C), i64x2.extmul_high_i32x4_s(x0, C));
  // m = -low / y mod 2^30, centred
  const m = i32x4.shr_s(i32x4.shl(i32x4.mul(low, i32x4.splat(0 - yInverse)), 2), 2);
  const factor = i8x16.shuffle(m, m, 0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11);
  const K = i64x2.splat(((<i64>1) << 62) - ((<i64>1) << 32));
  let carry = i64x2.splat((<i64>1) << 32);
  let w = u;
  for (const end = u + (<usize>rows << 4); w < end; w += 16) {
    const x = v128.load(w);
    const products = i64x2.add(i64x2.extmul_low_i32x4_s(x, C), i64x2.extmul_high_i32x4_s(x, C));
    const modulus = i64x2.extmul_low_i32x4_s(v128.load32_splat(y), factor);
    const z = i64x2.add(i64x2.add(products, modulus), i64x2.add(carry, K));
    const d = v128.and(z, M);
    v128.store(w - 16, v128.or(d, i64x2.shl(d, 32)));
    carry = i64x2.shr_u(z, 30);
    y += 4;
  }
  // the last word is signed
  const top = i64x2.sub(carry, i64x2.splat((<i64>1) << 32));
  v128.store(w - 16, i8x16.shuffle(top, top, 0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11));
}

/**
 * u0 mod y in [0, y), for |u0| < 1024 y: conditional additions of y 2^k. Words of u stay in lane 0.
 */
function normalise(u: usize, rows: i32, y: usize): void {
  for (let k = 10; k >= 0; k--) {
    // add y 2^k where u is negative, else subtract it; finally one more addition if needed
    subMultiple(u, rows, y, k, (load<i32>(u + (<usize>(rows - 1) << 4)) >> 31) | 1);
  }
  subMultiple(u, rows, y, 0, load<i32>(u + (<usize>(rows - 1) << 4)) >> 31);
}

/** u <- u - sign y 2^k. */
function subMultiple(u: usize, rows: i32, y: usize, k: i32, sign: i32): void {
  let carry: i64 = 0;
  const last = u + (<usize>(rows - 1) << 4);
  for (; u < last; u += 16) {
    const z = <i64>load<i32>(u) - ((<i64>sign * <i64>load<i32>(y)) << k) + carry;
    store<u32>(u, <u32>z & MASK30);
    carry = z >> 30;
    y += 4;
  }
  store<i32>(u, <i32>(<i64>load<i32>(u) - ((<i64>sign * <i64>load<i32>(y)) << k) + carry));
}

/** 1/y mod 2^30 by Newton's steps, y odd. */
function inverse30(y: u32): u32 {
  let x: u32 = 2 - y;
  for (let i = 0; i < 4; i++) x *= 2 - y * x;
  return x & MASK30;
}

/**
 * v = (x u - 1) / y, word by word: v_j makes word j of x u - 1 - v y zero. The upper half of x u is
 * not needed, as the division is exact. t: u32[rows].
 */
function exactQuotient(v: usize, t: usize, x: usize, u: usize, y: usize, rows: i32): void {
  const inverse = inverse30(load<u32>(y));
  memory.fill(t, 0, <usize>rows << 2);
  let borrow: i64 = -1;
  for (let j = 0; j < rows; j++) {
    const xj = <i64>load<u32>(x + (<usize>j << 2));
    const low = <u32>(<i64>load<u32>(t) + xj * <i64>load<u32>(u) + borrow);
    const q = <i64>((low * inverse) & MASK30);
    store<u32>(v + (<usize>j << 2), <u32>q);
    let carry = borrow;
    borrow = 0;
    let ui = u;
    let yi = y;
    let ti = t;
    for (const end = t + (<usize>(rows - j) << 2); ti < end; ti += 4) {
      const z = <i64>load<u32>(ti) + xj * <i64>load<u32>(ui) - q * <i64>load<u32>(yi) + carry;
      store<u32>(ti, <u32>z & MASK30);
      carry = z >> 30;
      ui += 16;
      yi += 4;
    }
    t += 4;
  }
}

/**
 * Solves x u - y v = 1 with 0 <= u < y, 0 <= v < x.
 *
 * Spec:   extended binary GCD, thirty halvings at a time controlled by the low and the top words
 *         (T. Pornin, "Optimized Binary GCD for Modular Inversion", section 3); the cofactor of y
 *         is not tracked but divided out at the end
 * Shape:  xy: rows of u32[4] = (x, y, -, -), len of them -> out: rows of u32[4] = (v, u, 0, 0)
 * Bounds: x, y odd, unsigned, with 31 len - 16 bits at most
 * Memory: out; tmp: bezoutScratch(len) bytes, 16-aligned
 * Secret: x, y: fixed number of steps, no branch or index depends on them
 * Errors: false if the greatest common divisor is not 1
 * Proof:  none: key generation
 */
export function zintBezout(out: usize, xy: usize, len: i32, tmp: usize): bool {
  const rows = rowsFor(len);
  const size = <usize>rows << 4;
  const ab = tmp + 16; // a row below each array receives the word that is shifted out
  const u = ab + size + 16;
  const y = u + size;
  const t = y + (<usize>rows << 2);
  const scratch = t + (<usize>rows << 2);
  memory.fill(tmp, 0, bezoutScratch(len));
  to30(ab, 16, rows, xy, 16, len);
  to30(ab + 4, 16, rows, xy, 16, len);
  to30(ab + 8, 16, rows, xy + 4, 16, len);
  to30(ab + 12, 16, rows, xy + 4, 16, len);
  to30(y, 4, rows, xy + 4, 16, len);
  store<u32>(u, 1);
  store<u32>(u, 1, 4);
  const yInverse = inverse30(load<u32>(y));
  let negative = i64x2.splat(0);
  absoluteAndTops(scratch, ab, rows, negative);
  // each round shortens the two integers by at least 29 bits in total
  for (let bits = 62 * len; bits > -29; bits -= 29) {
    const aTop = load<u64>(scratch);
    const bTop = load<u64>(scratch, 8);
    factors(scratch + 16, aTop, bTop, load<u32>(ab), load<u32>(ab, 8));
    const C = v128.load(scratch, 16);
    negative = stepValues(ab, rows, C);
    absoluteAndTops(scratch, ab, rows, negative);
    // lanes of C are (pa, qa, pb, qb): the signs of a and b go to (pa, pb) and (qa, qb)
    const s = i8x16.shuffle(negative, negative, 0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11);
    stepCofactors(u, rows, i32x4.sub(v128.xor(C, s), s), y, yInverse);
  }
  let difference = load<u32>(ab) ^ 1;
  for (let j = 1; j < rows; j++) difference |= load<u32>(ab + (<usize>j << 4));
  normalise(u, rows, y);
  // a and b are no longer needed: x and v replace them
  const v = ab + (<usize>rows << 2);
  to30(ab, 4, rows, xy, 16, len);
  exactQuotient(v, t, ab, u, y, rows);
  for (let j = 0; j < len; j++) store<u64>(out + (<usize>j << 4), 0, 8);
  from30(out, 16, len, v, 4, rows);
  from30(out + 4, 16, len, u, 16, rows);
  return difference == 0;
}
