/**
 * Hidden messages (docs/protocol.md, 6.4): their digits are part of v, as x, and only a short
 * commitment to them is sent: quarters of rows of the key matrix. `scalars.ts` contains the next
 * level's proof about them.
 */
import { concat } from '../../../shared/bytes.ts';
import { type Coefs, type Labrador, SMALL_BYTES, type Smalls, type Vecs } from '../../wasm.ts';
import { packResidues } from '../bits.ts';
import { DEGREE } from '../constants.ts';
import { QUARTER } from '../quarters.ts';
import { slice } from '../ring.ts';
import type { Context } from './context.ts';
import { digitsOf, firstColumns, type Output } from './output.ts';

/** Small polynomials as one row in NTT form. */
export function vecOfSmalls(lab: Labrador, smalls: Smalls): Vecs {
  const vec = lab.vecs(1, smalls.count);
  lab.kernels.widesToVec(vec.at, 0, smalls.at, SMALL_BYTES, smalls.count);
  return vec;
}

/**
 * Writes the digits of a message into x, and their products with the key matrix into
 * `Output.hidden`.
 *
 * @param index of the message
 * @param polynomials with signed coefficients
 * @returns the commitment to the digits, packed
 */
export function hideMessage(
  context: Context,
  { v, params, hidden, quarterKeys }: Output,
  index: number,
  polynomials: Coefs,
): Uint8Array {
  const { lab } = context;
  const { kernels } = lab;
  const { w, k } = params;
  const message = params.messages[index]!;
  const x = slice(v, message.from, digitsOf(message));
  context.requireFit(
    kernels.decomposeMany(x.at, polynomials.at, message.polynomials, message.digits, w),
  );
  return commitToDigits(lab, quarterKeys, x, slice(hidden, k * index, k));
}

/**
 * Writes the products of digits with k rows of the key matrix.
 *
 * @returns their quarters, packed
 */
export function commitToDigits(lab: Labrador, keys: Vecs, x: Smalls, products: Coefs): Uint8Array {
  const k = products.count;
  lab.scope(() => {
    const sums = lab.sums(k);
    lab.products(sums, firstColumns({ ...keys, rows: k }, x.count), vecOfSmalls(lab, x));
    lab.kernels.manySumsToCoefs(products.at, sums.at, k);
  });
  const values = lab.i64(products);
  return packResidues(
    Array.from({ length: k }, (_, row) => row).flatMap((row) =>
      QUARTER.map((c) => Number(values[DEGREE * row + c]!)),
    ),
  );
}

/** Hides the lifts. @returns the data of `b` */
export function hideLifts(context: Context, output: Output, lifts: Coefs): Uint8Array {
  const { lab } = context;
  const { hidden, params } = output;
  lab.i64(slice(hidden, hidden.count - lifts.count, lifts.count)).set(lab.i64(lifts));
  const index = params.messages.findIndex(({ isLifts }) => isLifts);
  const sent = hideMessage(context, output, index, lifts);
  if (context.level > 0) return sent;
  const values = lab.i64(lifts);
  const middle = Array.from({ length: lifts.count }, (_, i) =>
    Number(values[DEGREE * i + DEGREE / 2]!),
  );
  return concat(sent, packResidues(middle));
}
