/**
 * The commitments of an ordinary level (docs/protocol.md, 6.2): digits go into v; outer values are
 * cut, absorbed and returned to be sent.
 */
import {
  COEFS_BYTES,
  type Coefs,
  type Labrador,
  SMALL_BYTES,
  type Smalls,
  SUM_BYTES,
  type Vecs,
} from '../../wasm.ts';
import { Q_BITS } from '../constants.ts';
import { coefsOf, slice, type Values } from '../ring.ts';
import type { Context } from './context.ts';
import { keyOf, type Output } from './output.ts';

/** Writes the digits of t of rows `first` on into v. @param lists to be added up */
export function storeT(
  context: Context,
  output: Output,
  lists: readonly Values[],
  first: number,
): void {
  const { fu, bu, kappa } = output.params;
  context.lab.scope(() => {
    const t = coefsOf(context.lab, lists);
    for (let a = 0; a < t.count / kappa; a++) {
      const place = output.pieces.t + (first + a) * fu * kappa;
      storeInV(context, output, place, slice(t, a * kappa, kappa), fu, bu);
    }
  });
}

/** Writes the digits of g into v. @param lists to be added up */
export function storeG(context: Context, output: Output, lists: readonly Values[]): void {
  const { fg, bg } = output.params;
  context.lab.scope(() => {
    storeInV(context, output, output.pieces.g, coefsOf(context.lab, lists), fg, bg);
  });
}

/** Writes the digits of h into v. @param lists to be added up */
export function storeH(context: Context, output: Output, lists: readonly Values[]): void {
  const { fu, bu } = output.params;
  context.lab.scope(() => {
    storeInV(context, output, output.pieces.h, coefsOf(context.lab, lists), fu, bu);
  });
}

/** Digits of polynomials into v, from a place on. */
function storeInV(
  context: Context,
  { v }: Output,
  place: number,
  { at, count }: Coefs,
  digits: number,
  bits: number,
): void {
  const to = v.at + SMALL_BYTES * place;
  requireFit(context, context.lab.kernels.decomposeMany(to, at, count, digits, bits));
}

/** Lets the level fail if a digit did not fit 16 bits. @param status of the kernel */
export function requireFit(context: Context, status: number): void {
  if (status !== 0) context.fail('16 bits');
}

/**
 * Makes outer commitment number `index` of the level, to its piece of v. The bits that are cut off
 * go to v, and the value that stands for the commitment to the output.
 *
 * @returns u', as it has been absorbed under the label
 */
export function commitOuter(
  context: Context,
  label: string,
  output: Output,
  index: number,
): Uint8Array {
  const { lab } = context;
  const { kernels } = lab;
  const { kappa1, cut } = output.params;
  const bytes = lab.scope(() => {
    const sums = lab.sums(kappa1);
    const piece = output.outers[index]!;
    const digits = slice(output.v, piece.from, piece.count);
    lab.products(sums, keyOf(output, piece), vecOfSmalls(lab, digits));
    const high = lab.coefs(kappa1);
    const scratch = lab.smalls(1);
    const hat = output.hats[index]!;
    for (let k = 0; k < kappa1; k++) {
      const at = high.at + COEFS_BYTES * k;
      kernels.sumsToCoefs(at, sums.at + SUM_BYTES * k);
      const e = cut > 0 ? output.v.at + SMALL_BYTES * (output.pieces.e[index]! + k) : scratch.at;
      kernels.cutLow(at, e, at, cut);
      kernels.restoreCut(hat.at + COEFS_BYTES * k, at, cut);
    }
    return context.pack(high, Q_BITS - cut);
  });
  context.absorb(label, bytes);
  return bytes;
}

/** Small polynomials as one row in NTT form. */
function vecOfSmalls(lab: Labrador, smalls: Smalls): Vecs {
  const vec = lab.vecs(1, smalls.count);
  lab.kernels.widesToVec(vec.at, 0, smalls.at, SMALL_BYTES, smalls.count);
  return vec;
}
