/**
 * The commitments of an ordinary level (docs/protocol.md, 6.2): digits go into v; outer values are
 * cut, absorbed and returned to be sent.
 */
import { COEFS_BYTES, type Coefs, type Labrador, SMALL_BYTES, SUM_BYTES } from '../../wasm.ts';
import { Q_BITS } from '../constants.ts';
import { coefsOf, slice, type Values } from '../ring.ts';
import type { Context } from './context.ts';
import { cutInner, type Extension } from './extension.ts';
import { hideMessage, vecOfSmalls } from './hidden.ts';
import { firstColumns, type Output } from './output.ts';

/** Writes the digits of t of rows `first` onwards into v. @param lists to be added up */
export function storeT(
  context: Context,
  output: Output,
  lists: readonly Values[],
  first: number,
): void {
  context.lab.scope(() => storeDigitsOfT(context, output, coefsOf(context.lab, lists), first));
}

/** Cuts t of all rows, and writes the digits of t' into v. @param lists to be added up */
export function storeCutT(context: Context, output: Output, lists: readonly Values[]): Extension {
  const t = coefsOf(context.lab, lists);
  const extension = cutInner(context.lab, output.params, t);
  storeDigitsOfT(context, output, t, 0);
  return extension;
}

function storeDigitsOfT(context: Context, output: Output, t: Coefs, first: number): void {
  const { ft, bu, kappa } = output.params;
  for (let a = 0; a < t.count / kappa; a++) {
    const place = output.pieces.t + (first + a) * ft * kappa;
    storeInV(context, output, place, slice(t, a * kappa, kappa), ft, bu);
  }
}

/** Writes the digits of the amortised e of the inner commitments into v. */
export function storeInner(context: Context, output: Output, e: Values): void {
  const { f, b } = output.params;
  context.lab.scope(() => {
    storeInV(context, output, output.pieces.inner, coefsOf(context.lab, [e]), f, b);
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

/** Writes digits of polynomials into v, starting at a place. */
function storeInV(
  context: Context,
  { v }: Output,
  place: number,
  { at, count }: Coefs,
  digits: number,
  bits: number,
): void {
  const to = v.at + SMALL_BYTES * place;
  context.requireFit(context.lab.kernels.decomposeMany(to, at, count, digits, bits));
}

/**
 * Makes outer commitment number `index` of the level, to its piece of v. Writes the cut-off bits to
 * v, and the value representing the commitment to the output. If the level hides its messages, the
 * digits of u' go to x.
 *
 * @returns u', or the commitment to its digits, as absorbed under the label
 */
export function commitOuter(
  context: Context,
  label: string,
  output: Output,
  index: number,
): Uint8Array {
  const { lab } = context;
  const { kernels } = lab;
  const { kappa1, cut, w, messages } = output.params;
  const bytes = lab.scope(() => {
    const sums = lab.sums(kappa1);
    const piece = output.outers[index]!;
    const digits = slice(output.v, piece.from, piece.count);
    lab.products(sums, firstColumns(output.keys, piece.count), vecOfSmalls(lab, digits));
    const high = lab.coefs(kappa1);
    const scratch = lab.smalls(1);
    const hat = output.hats[index]!;
    if (w > 0) {
      kernels.manySumsToCoefs(high.at, sums.at, kappa1);
      cutCentred(lab, output, index, high);
      const ofOuters = messages.flatMap(({ isLifts }, i) => (isLifts ? [] : [i]));
      return hideMessage(context, output, ofOuters[index]!, high);
    }
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

/**
 * Cuts a hidden commitment, whose coefficients are centred.
 *
 * @param u replaced by u'
 */
function cutCentred(lab: Labrador, output: Output, index: number, u: Coefs): void {
  const { v, hats, pieces, params } = output;
  const { cut } = params;
  const half = cut === 0 ? 0n : 1n << BigInt(cut - 1);
  lab.i64(hats[index]!).fill(half);
  if (cut === 0) return;
  const e = v.at + SMALL_BYTES * pieces.e[index]!;
  lab.kernels.cutSigned(u.at, e, u.at, u.count, cut);
}
