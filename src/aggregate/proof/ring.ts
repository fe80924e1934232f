/** Polynomials mod q that cross from one module to another: as i64 coefficients, centred. */
import type { Coefs, Forms, Labrador, Smalls } from '../wasm.ts';
import { COEFS, FORM, SMALL } from './challenges.ts';
import { Q } from './shapes.ts';

const HALF_Q = (Q - 1n) / 2n;

/** Coefficients that can be handed to another thread. */
export type Values = BigInt64Array<ArrayBuffer>;

/** A copy of polynomials as they stand. */
export const valuesOf = (lab: Labrador, coefs: Coefs): Values => lab.i64(coefs).slice();

/** Polynomials of another module, or the sum mod q of those of several. */
export function coefsOf(lab: Labrador, lists: readonly Values[]): Coefs {
  const coefs = lab.coefs(lists[0]!.length / 64);
  writeSum(lab.i64(coefs), lists);
  return coefs;
}

/** The sum mod q, centred as every summand is; the list itself if there is only one. */
export function sumOf(lists: readonly Values[]): Values {
  if (lists.length === 1) return lists[0]!;
  const sum = new BigInt64Array(lists[0]!.length);
  writeSum(sum, lists);
  return sum;
}

function writeSum(sum: Values, [first, ...others]: readonly Values[]): void {
  sum.set(first!);
  for (const other of others) {
    for (let i = 0; i < sum.length; i++) {
      const x = sum[i]! + other[i]!;
      sum[i] = x > HALF_Q ? x - Q : x < -HALF_Q ? x + Q : x;
    }
  }
}

/** The representative in [-(q - 1)/2, (q - 1)/2]. */
export function centred(x: bigint): bigint {
  const rest = x % Q;
  return rest > HALF_Q ? rest - Q : rest < -HALF_Q ? rest + Q : rest;
}

/** A constant modulo q in NTT form. */
export function constantForm(lab: Labrador, to: number, value: bigint): void {
  lab.scope(() => {
    const one = lab.coefs(1);
    lab.i64(one).fill(0n)[0] = value;
    lab.kernels.coefsToForm(to, one.at);
  });
}

/** Part of a run of polynomials. */
export const slice = <T extends Smalls | Coefs | Forms>(
  list: T,
  from: number,
  count: number,
): T => ({
  ...list,
  at: list.at + from * { smalls: SMALL, coefs: COEFS, forms: FORM }[list.kind],
  count,
});

/** Runs of polynomials behind each other; the run itself if there is only one. */
export function joined(lists: readonly Values[]): Values {
  if (lists.length === 1) return lists[0]!;
  const all = new BigInt64Array(lists.reduce((length, list) => length + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}
