/**
 * Polynomials in transit between modules, possibly in different threads: as coefficients mod q, i64
 * and centred (`Values`), or in NTT form with the layout of the module's memory (`Blocks`).
 */
import {
  BLOCK_COLUMNS,
  COEFS_BYTES,
  type Coefs,
  FORM_BYTES,
  type Forms,
  type Labrador,
  SMALL_BYTES,
  type Smalls,
  type Vecs,
} from '../wasm.ts';
import { portionsOf } from './columns.ts';
import { DEGREE, Q, Q_NUMBER } from './constants.ts';

const HALF_Q = (Q - 1n) / 2n;
const HALF_Q_NUMBER = Number(HALF_Q);

/** Columns that are converted at the same time. */
const RUN = 256;

/** Coefficients that can be transferred to another thread. */
export type Values = BigInt64Array<ArrayBuffer>;

/**
 * Columns of a vector in NTT form, in blocks of 32; columns missing from the last block are zero.
 */
export interface Blocks {
  readonly columns: number;
  readonly values: Int16Array<ArrayBuffer>;
}

/** A copy of the columns of a vector of one row. */
export function blocksOf(lab: Labrador, { at, columns, stride }: Vecs): Blocks {
  const values = new Int16Array(lab.kernels.memory.buffer, at, stride / 2).slice();
  return { columns, values };
}

/** One list of columns from several; all lists but the last consist of whole blocks. */
export const joinBlocks = (lists: readonly Blocks[]): Blocks => ({
  columns: lists.reduce((sum, { columns }) => sum + columns, 0),
  values: joinLists(lists.map(({ values }) => values)),
});

/** A vector in the module's memory, from its blocks. */
export function vecOfBlocks(lab: Labrador, { columns, values }: Blocks): Vecs {
  const blocks = Math.ceil(columns / BLOCK_COLUMNS);
  const at = lab.put(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return { kind: 'vecs', at, rows: 1, columns, blocks, stride: values.byteLength };
}

/** Copies polynomials unchanged. */
export const valuesOf = (lab: Labrador, coefs: Coefs): Values => lab.i64(coefs).slice();

/** Copies the columns of a vector of one row, as coefficients. */
export function valuesOfVec(lab: Labrador, { at, columns }: Vecs): Values {
  const values = new BigInt64Array(DEGREE * columns);
  for (const [from, count] of portionsOf(0, columns, RUN)) {
    lab.scope(() => {
      const coefs = lab.coefs(count);
      lab.kernels.vecToCoefs(coefs.at, at, from, count);
      values.set(lab.i64(coefs), DEGREE * from);
    });
  }
  return values;
}

/**
 * Copies polynomials of another module to this one's memory; of several modules, their sum mod q.
 */
export function coefsOf(lab: Labrador, lists: readonly Values[]): Coefs {
  const coefs = lab.coefs(lists[0]!.length / 64);
  writeSum(lab.i64(coefs), lists);
  return coefs;
}

/** The sum mod q, centred like every summand; a single list is returned unchanged. */
export function sumOfLists(lists: readonly Values[]): Values {
  if (lists.length === 1) return lists[0]!;
  const sum = new BigInt64Array(lists[0]!.length);
  writeSum(sum, lists);
  return sum;
}

function writeSum(sum: Values, [first, ...others]: readonly Values[]): void {
  sum.set(first!);
  for (const other of others) addTo(sum, other);
}

const WORD = 2 ** 32;

/** sum += other mod q, on words of 32 bits: a bigint would allocate an object per coefficient. */
function addTo(sum: Values, other: Values): void {
  const [low, high] = wordsOf(sum);
  const [otherLow, otherHigh] = wordsOf(other);
  for (let i = 0; i !== low.length; i += 2) {
    let x = (high[i + 1]! + otherHigh[i + 1]!) * WORD + (low[i]! + otherLow[i]!);
    if (x > HALF_Q_NUMBER) x -= Q_NUMBER;
    else if (x < -HALF_Q_NUMBER) x += Q_NUMBER;
    const upper = Math.floor(x / WORD);
    high[i + 1] = upper;
    low[i] = x - WORD * upper;
  }
}

/**
 * Little-endian, as in the module: coefficient j is word 2j of the first view and word 2j + 1 of
 * the second, which contains the sign.
 */
const wordsOf = ({ buffer, byteOffset, length }: Values): [Uint32Array, Int32Array] => [
  new Uint32Array(buffer, byteOffset, 2 * length),
  new Int32Array(buffer, byteOffset, 2 * length),
];

/** The values as numbers, |x| < 2^53. */
export function numbersOf(values: Values): Float64Array {
  const [low, high] = wordsOf(values);
  const numbers = new Float64Array(values.length);
  for (let i = 0; i !== numbers.length; i++) {
    numbers[i] = high[2 * i + 1]! * WORD + low[2 * i]!;
  }
  return numbers;
}

/**
 * Divides values, |x| < 2^52, by a power of two: x = low + 2^bits high, with low in [-2^(bits-1),
 * 2^(bits-1)).
 *
 * @param bits at most 31
 */
export function writeParts(low: Values, high: Values, values: Values, bits: number): void {
  const [words, signed] = wordsOf(values);
  const [low0, low1] = wordsOf(low);
  const [high0, high1] = wordsOf(high);
  for (let i = 0; i !== words.length; i += 2) {
    const rest = (words[i]! << (32 - bits)) >> (32 - bits);
    const quotient = (signed[i + 1]! * WORD + words[i]! - rest) / 2 ** bits;
    low0[i] = rest;
    low1[i + 1] = rest >> 31;
    const upper = Math.floor(quotient / WORD);
    high0[i] = quotient - WORD * upper;
    high1[i + 1] = upper;
  }
}

/** The representative in [-(q - 1)/2, (q - 1)/2]. */
export function centred(x: bigint): bigint {
  const rest = x % Q;
  return rest > HALF_Q ? rest - Q : rest < -HALF_Q ? rest + Q : rest;
}

/** Part of a list of polynomials. */
export const slice = <T extends Smalls | Coefs | Forms>(
  list: T,
  from: number,
  count: number,
): T => ({
  ...list,
  at: list.at + from * { smalls: SMALL_BYTES, coefs: COEFS_BYTES, forms: FORM_BYTES }[list.kind],
  count,
});

/** Joins several lists into one; a single list is returned unchanged. */
export function joinLists<T extends Values | Int16Array<ArrayBuffer>>(lists: readonly T[]): T {
  if (lists.length === 1) return lists[0]!;
  const length = lists.reduce((sum, list) => sum + list.length, 0);
  const all = new (lists[0]!.constructor as new (length: number) => T)(length);
  let at = 0;
  for (const list of lists) {
    all.set(list as never, at);
    at += list.length;
  }
  return all;
}
