/**
 * Kernels over many polynomials in one call, used by the steps of the proof.
 *
 * A run of columns may start and end anywhere; whole pairs are stored together, a single column is
 * stored without changing its neighbour.
 */
import { OK } from '../shared/status';
import { decompose } from './digits';
import { collapseTwo } from './jlCollapse';
import {
  addForm,
  coefsToForm,
  formToCoefs,
  mulForm,
  sigmaForm,
  smallToForm,
  sumsToCoefs,
  wideToForm,
} from './ntt';
import { loadColumn, storeColumn, storePair } from './polyVec';
import { COEFS, FORM, SMALL, SUMS } from './params';
import { unpackKey, xofBlocks } from './xof';

/** Two polynomials in NTT form. */
const PAIR: usize = memory.data(1536, 64);
const COLUMN: usize = memory.data(512, 64);

/** Kinds of source of a run of polynomials. */
const FROM_SMALL: i32 = 0;
const FROM_WIDE: i32 = 1;
const FROM_COEFS: i32 = 2;

// @ts-ignore: decorator
@inline
function toForm(form: usize, a: usize, kind: i32): void {
  if (kind == FROM_SMALL) smallToForm(form, a);
  else if (kind == FROM_WIDE) wideToForm(form, a);
  else coefsToForm(form, a);
}

// @ts-ignore: decorator
@inline
function fill(vec: usize, column: i32, a: usize, stride: usize, count: i32, kind: i32): void {
  const end = column + count;
  if (count != 0 && column & 1) {
    toForm(PAIR, a, kind);
    storeColumn(vec, column++, PAIR);
    a += stride;
  }
  for (; column + 2 <= end; column += 2, a += 2 * stride) {
    toForm(PAIR, a, kind);
    toForm(PAIR + FORM, a + stride, kind);
    storePair(vec, column, PAIR, PAIR + FORM);
  }
  if (column < end) {
    toForm(PAIR, a, kind);
    storeColumn(vec, column, PAIR);
  }
}

/**
 * Writes small polynomials into columns `column` to `column + count - 1`.
 *
 * Shape:  a: i16[64], `stride` bytes apart -> vec
 * Bounds: |a| <= 8192
 * Memory: vec, a, PAIR
 * Proof:  none: a loop over smallToForm and storePair, both proved
 */
export function smallsToVec(vec: usize, column: i32, a: usize, stride: usize, count: i32): i32 {
  fill(vec, column, a, stride, count, FROM_SMALL);
  return OK;
}

/**
 * Like `smallsToVec`, for larger coefficients.
 *
 * Shape:  a: i16[64], `stride` bytes apart -> vec
 * Bounds: any a
 * Memory: vec, a, PAIR
 * Proof:  none: a loop over wideToForm and storePair, both proved
 */
export function widesToVec(vec: usize, column: i32, a: usize, stride: usize, count: i32): i32 {
  fill(vec, column, a, stride, count, FROM_WIDE);
  return OK;
}

/**
 * Like `smallsToVec`, for polynomials mod q.
 *
 * Shape:  a: i64[64], `stride` bytes apart -> vec
 * Bounds: |a| <= 2^44
 * Memory: vec, a, PAIR
 * Proof:  none: a loop over coefsToForm and storePair, both proved
 */
export function coefsToVec(vec: usize, column: i32, a: usize, stride: usize, count: i32): i32 {
  fill(vec, column, a, stride, count, FROM_COEFS);
  return OK;
}

/**
 * Converts columns to polynomials mod q.
 *
 * Shape:  vec -> coefs: i64[count][64], centred
 * Bounds: the integers are below P/2 (1 - 2^-12.4)
 * Memory: vec, coefs, PAIR
 * Proof:  none: a loop over loadColumn, inverseOfForm and reconstruct, all proved
 */
export function vecToCoefs(coefs: usize, vec: usize, column: i32, count: i32): i32 {
  for (const end = column + count; column < end; column++, coefs += COEFS) {
    loadColumn(PAIR, vec, column);
    formToCoefs(coefs, PAIR);
  }
  return OK;
}

/**
 * Reduces columns mod q, in place: the integers that they represent become centred. Keeps long
 * chains of products below P/2.
 *
 * Shape:  columns `column` to `column + count - 1` of vec
 * Bounds: |integer| < P/2 (1 - 2^-12.4) -> at most (q - 1)/2
 * Memory: vec, COLUMN, PAIR
 * Proof:  none: a loop over proved kernels
 */
export function reduceColumns(vec: usize, column: i32, count: i32): i32 {
  for (const end = column + count; column < end; column++) {
    loadColumn(PAIR, vec, column);
    formToCoefs(COLUMN, PAIR);
    coefsToForm(PAIR, COLUMN);
    storeColumn(vec, column, PAIR);
  }
  return OK;
}

/** sigma of a polynomial, and sums of products, in NTT form. */
const SIGMA: usize = memory.data(768, 64);
const TOTAL: usize = memory.data(768, 64);

/** form = alpha sigma(a). */
// @ts-ignore: decorator
@inline
function twisted(form: usize, a: usize, alpha: usize): void {
  smallToForm(SIGMA, a);
  sigmaForm(form, SIGMA);
  mulForm(form, form, alpha);
}

/**
 * Writes the second copy of an item, alpha sigma(a), into a run of columns.
 *
 * Spec:   docs/protocol.md, 7.1, Y
 * Shape:  a: i16[64], `stride` bytes apart; alpha: i16[6][64] in NTT form -> vec
 * Bounds: |a| <= 8192
 * Memory: vec, a, alpha, SIGMA, PAIR
 * Proof:  none: a loop over smallToForm, sigmaForm and mulForm, all proved
 */
export function twistedToVec(
  vec: usize,
  column: i32,
  a: usize,
  stride: usize,
  count: i32,
  alpha: usize,
): i32 {
  const end = column + count;
  if (count != 0 && column & 1) {
    twisted(PAIR, a, alpha);
    storeColumn(vec, column++, PAIR);
    a += stride;
  }
  for (; column + 2 <= end; column += 2, a += 2 * stride) {
    twisted(PAIR, a, alpha);
    twisted(PAIR + FORM, a + stride, alpha);
    storePair(vec, column, PAIR, PAIR + FORM);
  }
  if (column < end) {
    twisted(PAIR, a, alpha);
    storeColumn(vec, column, PAIR);
  }
  return OK;
}

/**
 * Writes multiples of one polynomial into a run of columns.
 *
 * Spec:   docs/protocol.md, 7.6: eta_i tau_t at the places of an item
 * Shape:  a: i16[6][64], factors: i16[count][6][64], both in NTT form -> vec
 * Memory: vec, a, factors, PAIR
 */
export function multiplesToVec(vec: usize, column: i32, count: i32, a: usize, factors: usize): i32 {
  const end = column + count;
  if (count != 0 && column & 1) {
    mulForm(PAIR, a, factors);
    storeColumn(vec, column++, PAIR);
    factors += FORM;
  }
  for (; column + 2 <= end; column += 2, factors += 2 * FORM) {
    mulForm(PAIR, a, factors);
    mulForm(PAIR + FORM, a, factors + FORM);
    storePair(vec, column, PAIR, PAIR + FORM);
  }
  if (column < end) {
    mulForm(PAIR, a, factors);
    storeColumn(vec, column, PAIR);
  }
  return OK;
}

/**
 * sum += factor_j x_(column + j) over a run of columns.
 *
 * Shape:  sum: i16[6][64], factors: i16[count][6][64], both in NTT form; vec
 * Memory: sum, vec, factors, PAIR
 */
export function addMultiples(sum: usize, vec: usize, column: i32, count: i32, factors: usize): i32 {
  for (const end = column + count; column < end; column++, factors += FORM) {
    loadColumn(PAIR, vec, column);
    mulForm(PAIR, PAIR, factors);
    addForm(sum, sum, PAIR);
  }
  return OK;
}

/**
 * The sum of a sigma(a) over small polynomials; its constant coefficient is their squared norm.
 *
 * Spec:   docs/protocol.md, 7.1, w without beta^2
 * Shape:  a: i16[count][64] -> coefs: i64[64]
 * Bounds: |a| <= 8192; exact while the squared norm is at most (q - 1)/2
 * Memory: a, coefs, SIGMA, PAIR, TOTAL
 * Proof:  none: a loop over proved kernels
 */
export function selfProduct(coefs: usize, a: usize, count: i32): i32 {
  memory.fill(TOTAL, 0, FORM);
  for (; count > 0; count--, a += SMALL) {
    smallToForm(PAIR, a);
    sigmaForm(SIGMA, PAIR);
    mulForm(SIGMA, SIGMA, PAIR);
    addForm(TOTAL, TOTAL, SIGMA);
  }
  formToCoefs(coefs, TOTAL);
  return OK;
}

/** sumsToCoefs for `count` sums: i32[count][6][64] -> i64[count][64]. */
export function manySumsToCoefs(coefs: usize, sums: usize, count: i32): i32 {
  for (; count > 0; count--, coefs += COEFS, sums += SUMS) sumsToCoefs(coefs, sums);
  return OK;
}

/**
 * smallToForm for `count` polynomials.
 *
 * Shape:  a: i16[count][64] -> forms: i16[count][6][64]
 * Bounds: |a| <= 8192 -> |forms| <= (p + 1) / 2
 * Memory: a, forms
 * Proof:  toForm(1), count in {1..2^20}
 */
export function smallsToForms(forms: usize, a: usize, count: i32): i32 {
  for (; count > 0; count--, forms += FORM, a += SMALL) smallToForm(forms, a);
  return OK;
}

/** formToCoefs for `count` polynomials: i16[count][6][64] -> i64[count][64]. */
export function formsToCoefs(coefs: usize, forms: usize, count: i32): i32 {
  for (; count > 0; count--, forms += FORM, coefs += COEFS) formToCoefs(coefs, forms);
  return OK;
}

/**
 * Balanced digits of `polys` polynomials, digit-major: digit j of polynomial i at out + (j
 * polys + i) SMALL.
 *
 * Spec:   docs/protocol.md, 1 and 6.2
 * Shape:  coefs: i64[polys][64] -> out: i16[count][polys][64]
 * Bounds: |coefs| <= 2^44
 * Memory: coefs, out
 * Errors: TOO_WIDE if some last digit does not fit 16 bits; it is then wrong
 * Proof:  digits(), count bits in {4 11, 3 15, 9 5, 2 15}, polys in {2, 1..2^19}
 */
export function decomposeMany(out: usize, coefs: usize, polys: i32, count: i32, bits: i32): i32 {
  let status = OK;
  const stride = <usize>polys * SMALL;
  for (; polys > 0; polys--, out += SMALL, coefs += COEFS) {
    status |= decompose(out, stride, coefs, count, bits);
  }
  return status;
}

/**
 * Copies a run of columns of a vector into columns of another one.
 *
 * Shape:  columns `first` to `first + count - 1` of from -> `column` onwards of to
 * Memory: to, from, PAIR
 */
export function copyColumns(to: usize, column: i32, from: usize, first: i32, count: i32): i32 {
  const end = column + count;
  if (count != 0 && column & 1) {
    loadColumn(PAIR, from, first++);
    storeColumn(to, column++, PAIR);
  }
  for (; column + 2 <= end; column += 2, first += 2) {
    loadColumn(PAIR, from, first);
    loadColumn(PAIR + FORM, from, first + 1);
    storePair(to, column, PAIR, PAIR + FORM);
  }
  if (column < end) {
    loadColumn(PAIR, from, first);
    storeColumn(to, column, PAIR);
  }
  return OK;
}

/** Eleven times four blocks: eight elements of a key, and the bytes beyond that unpacking reads. */
const KEY_STREAM: usize = memory.data(2832, 64);

/**
 * Expands columns of a row of a commitment key, from the stream selected by xofStart.
 *
 * Spec:   docs/protocol.md, 6.1
 * Shape:  columns `column` (a multiple of 8) to `column + count - 1` of the stream into the same
 *         columns of vec
 * Memory: vec, KEY_STREAM, COLUMN, PAIR
 */
export function expandKey(vec: usize, column: i32, count: i32): i32 {
  for (; count > 8; count -= 8, column += 8) expandEight(vec, column, 8);
  expandEight(vec, column, count);
  return OK;
}

/** Like `expandKey`, for at most eight columns. */
function expandEight(vec: usize, column: i32, count: i32): void {
  xofBlocks(KEY_STREAM, 44 * (column >> 3), 11);
  for (let i = 0; i < count; i += 2) {
    const from = KEY_STREAM + 352 * <usize>i;
    unpackKey(COLUMN, from);
    coefsToForm(PAIR, COLUMN);
    if (i + 1 < count) {
      unpackKey(COLUMN, from + 352);
      coefsToForm(PAIR + FORM, COLUMN);
      storePair(vec, column + i, PAIR, PAIR + FORM);
    } else {
      storeColumn(vec, column + i, PAIR);
    }
  }
}

/** Two lifts of four polynomials. */
const LIFTS: usize = memory.data(4096, 64);

/**
 * Writes the projection's part of the two lifts' functionals into the same columns of two vectors.
 *
 * Spec:   docs/protocol.md, 8.4
 * Shape:  polynomials `first` to `first + count - 1` of the stream -> columns `column` onwards of
 *         vec0, vec1
 * Memory: the vectors, LIFTS, what collapseTwo uses; call collapseStart for two lifts first
 */
export function collapseToVecs(
  vec0: usize,
  vec1: usize,
  column: i32,
  first: i32,
  count: i32,
): i32 {
  while (count > 0) {
    const here = min(4, count);
    collapseTwo(LIFTS, first, here);
    fill(vec0, column, LIFTS, 2 * COEFS, here, FROM_COEFS);
    fill(vec1, column, LIFTS + COEFS, 2 * COEFS, here, FROM_COEFS);
    column += here;
    first += here;
    count -= here;
  }
  return OK;
}
