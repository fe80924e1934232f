/** Commitments of an ordinary level (docs/protocol.md, 6.2): digits into v, outer values cut, sent and absorbed. */
import type { Coefs, Vecs } from '../../wasm.ts';
import { COEFS, SMALL, SUMS } from '../challenges.ts';
import { slice } from '../ring.ts';
import type { Context } from './context.ts';
import type { Output } from './output.ts';
import { vecOf } from './steps.ts';

/** Digits of t of rows `first` on, into v. */
export function storeT(context: Context, output: Output, t: Coefs, first: number): void {
  const { kernels } = context.lab;
  const { fu, bu, kappa } = output.params;
  for (let a = 0; a < t.count / kappa; a++) {
    const to = output.v.at + SMALL * (output.pieces.t + (first + a) * fu * kappa);
    note(context, kernels.decomposeMany(to, t.at + COEFS * a * kappa, kappa, fu, bu));
  }
}

/** Digits of g into v. */
export function storeG(context: Context, output: Output, g: Coefs): void {
  const { fg, bg } = output.params;
  const to = output.v.at + SMALL * output.pieces.g;
  note(context, context.lab.kernels.decomposeMany(to, g.at, g.count, fg, bg));
}

/** Digits of h into v. */
export function storeH(context: Context, output: Output, h: Coefs): void {
  const { fu, bu } = output.params;
  const to = output.v.at + SMALL * output.pieces.h;
  note(context, context.lab.kernels.decomposeMany(to, h.at, h.count, fu, bu));
}

/** A digit that does not fit fails the level, sooner or later. */
export function note(context: Context, status: number): void {
  if (status !== 0) context.fail('16 bits');
}

/**
 * Outer commitment number `index` of the level: the sum of keys times pieces of v, of `count` digits from `from` on.
 * What was cut goes to v and what stands for it to the output.
 */
export function commitOuter(
  context: Context,
  label: string,
  output: Output,
  index: number,
  terms: readonly { key: Vecs; from: number; count: number }[],
): void {
  const { lab } = context;
  const { kernels } = lab;
  const { kappa1, cut } = output.params;
  const bytes = lab.scope(() => {
    const sums = lab.sums(kappa1);
    for (const { key, from, count } of terms) {
      lab.products(sums, key, vecOf(lab, slice(output.v, from, count)));
    }
    const high = lab.coefs(kappa1);
    const scratch = lab.smalls(1);
    const hat = output.hats[index]!;
    for (let k = 0; k < kappa1; k++) {
      const at = high.at + COEFS * k;
      kernels.sumsToCoefs(at, sums.at + SUMS * k);
      const e = cut > 0 ? output.v.at + SMALL * (output.pieces.e[index]! + k) : scratch.at;
      kernels.cutLow(at, e, at, cut);
      kernels.restoreCut(hat.at + COEFS * k, at, cut);
    }
    return context.pack(high, 44 - cut);
  });
  context.send(bytes);
  context.absorb(label, bytes);
}
