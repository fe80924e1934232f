/**
 * Conversion between coefficients and NTT form.
 *
 *   small    i16[64]     coefficients, any (SMALL_MAX = 8192 for the quicker functions)
 *   coefs    i64[64]     coefficients mod q, |x| <= 2^44
 *   form     i16[6][64]  NTT form: for each prime the values at the odd powers of its root, times
 *                        2^-15, |x| <= (p + 1)/2; position 8i + v holds the value of bit-reversed
 *                        index 8v + i. A form represents an integer polynomial, not reduced mod q;
 *                        it is exact while |integer| < P/2 (1 - 2^-12.4), P = 2^81.83
 *   sums     i32[6][64]  products of forms, added up (polyVec.ts), times 2^-46
 *
 * X -> X^-1 maps index k to 63 - k in bit-reversed order, so it reverses the 64 positions:
 * `sigmaForm`.
 */
import { evens, odds, reverseLanes } from '../shared/lanes';
import { reconstruct } from './crt';
import { finish, mulForms, tidy } from './lanes';
import {
  forwardAny,
  forwardLimbs,
  forwardSmall,
  inverseOfForm,
  inverseOfSums,
} from './nttPasses.gen';
import {
  T_AFTER_PRODUCT,
  T_P,
  TABLE_SIZE,
  TABLES,
} from './nttTables.gen';
import { FORM } from './params';

/** Residues, or limbs, of one polynomial. */
const SCRATCH: usize = memory.data(768, 64);
const TABLES_END: usize = TABLES + 6 * TABLE_SIZE;

/**
 * Small polynomial to NTT form.
 *
 * Spec:   negacyclic NTT, Cooley-Tukey, once for each prime
 * Shape:  a: i16[64] -> form: i16[6][64]
 * Bounds: |a| <= 8192 -> |form| <= (p + 1) / 2
 * Memory: a, form
 * Proof:  toForm(1)
 */
export function smallToForm(form: usize, a: usize): void {
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE, form += 128) {
    forwardSmall(form, a, table);
  }
}

/**
 * Like `smallToForm`, for larger coefficients.
 *
 * -2^15 is multiplied only by factors below 2^15 in magnitude, where both instructions agree.
 *
 * Shape:  a: i16[64] -> form: i16[6][64]
 * Bounds: any a -> |form| <= (p + 1) / 2
 * Memory: a, form
 * Proof:  toForm(1)
 */
export function wideToForm(form: usize, a: usize): void {
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE, form += 128) {
    forwardAny(form, a, table);
  }
}

/**
 * Polynomial mod q to NTT form.
 *
 * The integers are not reduced.
 *
 * Shape:  coefs: i64[64] -> form: i16[6][64]
 * Bounds: |coefs| <= 2^44 -> |form| <= (p + 1) / 2
 * Memory: coefs, form, SCRATCH
 * Proof:  toForm(1)
 */
export function coefsToForm(form: usize, coefs: usize): void {
  splitUnevenly(SCRATCH, coefs);
  limbsToForm(form, SCRATCH);
}

/**
 * Limbs to NTT form.
 *
 * The limbs l of the integer l0 + 2^14 l1 + 2^30 l2: any l1, which has no bound here.
 *
 * Shape:  limbs: i16[3][64] -> form: i16[6][64]
 * Memory: limbs, form
 * Proof:  none: part of coefsToForm, whose limbs are in narrower bounds than a region can state
 */
export function limbsToForm(form: usize, limbs: usize): void {
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE, form += 128) {
    forwardLimbs(form, limbs, table);
  }
}

/** 2^14 + 2^29, twice; 2^14, eight times. */
const BIAS: usize = memory.data<i64>([
  536887296, 536887296, 4611756388245323776, 4611756388245323776,
], 16);

/** The low 16 bits of the 64-bit lanes of four vectors. */
// @ts-ignore: decorator
@inline
export function lowWords(a: v128, b: v128, c: v128, d: v128): v128 {
  return i16x8.narrow_i32x4_s(
    i32x4.shr_s(i32x4.shl(evens(a, b), 16), 16),
    i32x4.shr_s(i32x4.shl(evens(c, d), 16), 16),
  );
}

/** 2^13 + 2^29, twice; 2^14 - 1, four times; 2^13 and 2^15, eight times. */
const UNEVEN: usize = memory.data<i64>([
  536879104, 536879104, 0x3fff00003fff, 0x3fff00003fff,
  0x2000200020002000, 0x2000200020002000, -0x7fff7fff7fff8000, -0x7fff7fff7fff8000,
], 16);

/**
 * Limbs of four integers, given with a bias of 2^13 + 2^29: l0 and l1 are too large by 2^13 and
 * 2^15.
 */
// @ts-ignore: decorator
@inline
function unevenLimb(a: v128, b: v128, limb: i32, mask: v128): v128 {
  const low = evens(a, b);
  if (limb == 0) return v128.and(low, mask);
  if (limb == 1) return i32x4.shr_s(i32x4.shl(low, 2), 16);
  const high = odds(a, b);
  return v128.or(i32x4.shl(high, 2), i32x4.shr_u(low, 30));
}

/**
 * Splits 64 integers into limbs for the transform: l0 + 2^14 l1 + 2^30 l2, the two lower ones in
 * [-2^13, 2^13), [-2^15, 2^15).
 *
 * Shape:  coefs: i64[64] -> limbs: i16[3][64]
 * Bounds: |coefs| <= 2^44
 * Memory: coefs, limbs
 * Proof:  parts(1, 2^14, 2^30)
 */
function splitUnevenly(limbs: usize, coefs: usize): void {
  const bias = v128.load(UNEVEN);
  const mask = v128.load(UNEVEN, 16);
  const half = v128.load(UNEVEN, 32);
  const sign = v128.load(UNEVEN, 48);
  for (const end = coefs + 512; coefs < end; coefs += 64, limbs += 16) {
    const a = i64x2.add(v128.load(coefs), bias);
    const b = i64x2.add(v128.load(coefs, 16), bias);
    const c = i64x2.add(v128.load(coefs, 32), bias);
    const d = i64x2.add(v128.load(coefs, 48), bias);
    const low = i16x8.narrow_i32x4_s(unevenLimb(a, b, 0, mask), unevenLimb(c, d, 0, mask));
    const middle = i16x8.narrow_i32x4_s(unevenLimb(a, b, 1, mask), unevenLimb(c, d, 1, mask));
    const high = i16x8.narrow_i32x4_s(unevenLimb(a, b, 2, mask), unevenLimb(c, d, 2, mask));
    v128.store(limbs, i16x8.sub(low, half));
    v128.store(limbs, v128.xor(middle, sign), 128);
    v128.store(limbs, high, 256);
  }
}

/**
 * Limbs of 16 integers, the two lower ones in [-2^14, 2^14).
 *
 * Shape:  coefs: i64[16] -> limbs: i16[3][16]
 * Bounds: |coefs| <= 2^44
 * Memory: coefs, limbs
 * Proof:  parts(1, 2^15, 2^30)
 */
export function splitLimbs(limbs: usize, coefs: usize): void {
  const bias = v128.load(BIAS);
  const half = v128.load(BIAS, 16);
  const mask = i16x8.splat(0x7fff);
  for (const end = coefs + 128; coefs < end; coefs += 64, limbs += 16) {
    const a = i64x2.add(v128.load(coefs), bias);
    const b = i64x2.add(v128.load(coefs, 16), bias);
    const c = i64x2.add(v128.load(coefs, 32), bias);
    const d = i64x2.add(v128.load(coefs, 48), bias);
    v128.store(limbs, i16x8.sub(v128.and(lowWords(a, b, c, d), mask), half));
    const middle = lowWords(
      i64x2.shr_u(a, 15),
      i64x2.shr_u(b, 15),
      i64x2.shr_u(c, 15),
      i64x2.shr_u(d, 15),
    );
    v128.store(limbs, i16x8.sub(v128.and(middle, mask), half), 32);
    const high = lowWords(
      i64x2.shr_u(a, 30),
      i64x2.shr_u(b, 30),
      i64x2.shr_u(c, 30),
      i64x2.shr_u(d, 30),
    );
    v128.store(limbs, high, 64);
  }
}

/**
 * NTT form to the polynomial mod q.
 *
 * Shape:  form: i16[6][64] -> coefs: i64[64]
 * Bounds: |integer| < P/2 (1 - 2^-12.4) -> centred mod q
 * Memory: form, coefs, SCRATCH
 * Proof:  none: composed of inverseOfForm and reconstruct, both proved
 */
export function formToCoefs(coefs: usize, form: usize): void {
  let residues: usize = SCRATCH;
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE) {
    inverseOfForm(residues, form, table);
    form += 128;
    residues += 128;
  }
  reconstruct(coefs, SCRATCH);
}

/**
 * Sums to the polynomial mod q.
 *
 * Shape:  sums: i32[6][64] -> coefs: i64[64]
 * Bounds: |sums| <= 6940 * 29753; |integer| < P/2 (1 - 2^-12.4) -> centred mod q
 * Memory: sums, coefs, SCRATCH
 * Proof:  none: composed of inverseOfSums and reconstruct, both proved
 */
export function sumsToCoefs(coefs: usize, sums: usize): void {
  let residues: usize = SCRATCH;
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE) {
    inverseOfSums(residues, sums, table);
    sums += 256;
    residues += 128;
  }
  reconstruct(coefs, SCRATCH);
}

/**
 * out = a b.
 *
 * Shape:  a, b: i16[6][64] -> out: i16[6][64]
 * Bounds: |a| <= (p + 1) / 2, |b| <= (p + 1) / 2 -> |out| <= (p + 1) / 2
 * Memory: out, a, b
 * Proof:  product(15)
 */
export function mulForm(out: usize, a: usize, b: usize): void {
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE) {
    const p = v128.load(table, T_P);
    for (const end = out + 128; out < end; out += 16, a += 16, b += 16) {
      const t = mulForms(v128.load(a), v128.load(b), table, p);
      v128.store(out, finish(t, table + T_AFTER_PRODUCT, table, p));
    }
  }
}

/**
 * out = a + b.
 *
 * Shape:  a, b: i16[6][64] -> out: i16[6][64]
 * Bounds: |a| <= (p + 1) / 2, |b| <= (p + 1) / 2 -> |out| <= (p + 1) / 2
 * Memory: out, a, b
 * Proof:  sum(1, 1)
 */
export function addForm(out: usize, a: usize, b: usize): void {
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE) {
    const p = v128.load(table, T_P);
    for (const end = out + 128; out < end; out += 16, a += 16, b += 16) {
      v128.store(out, tidy(i16x8.add(v128.load(a), v128.load(b)), table, p));
    }
  }
}

/**
 * out = a - b.
 *
 * Shape:  a, b: i16[6][64] -> out: i16[6][64]
 * Bounds: |a| <= (p + 1) / 2, |b| <= (p + 1) / 2 -> |out| <= (p + 1) / 2
 * Memory: out, a, b
 * Proof:  sum(1, 0 - 1)
 */
export function subForm(out: usize, a: usize, b: usize): void {
  for (let table: usize = TABLES; table < TABLES_END; table += TABLE_SIZE) {
    const p = v128.load(table, T_P);
    for (const end = out + 128; out < end; out += 16, a += 16, b += 16) {
      v128.store(out, tidy(i16x8.sub(v128.load(a), v128.load(b)), table, p));
    }
  }
}

/**
 * out = a(X^-1).
 *
 * Shape:  a: i16[6][64] -> out: i16[6][64]
 * Bounds: any a
 * Memory: out, a
 * Proof:  reversedForm()
 */
export function sigmaForm(out: usize, a: usize): void {
  for (const end = a + FORM; a < end; a += 128, out += 128) {
    for (let i: usize = 0; i < 128; i += 16) {
      const x = v128.load(a + i);
      v128.store(out + 112 - i, reverseLanes(x));
    }
  }
}
