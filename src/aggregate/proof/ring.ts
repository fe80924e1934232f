/** Polynomials mod q that cross from one module to another: as i64 coefficients, centred. */
import type { Coefs, Forms, Labrador, Smalls } from '../wasm.ts';
import { COEFS, FORM, SMALL } from './challenges.ts';
import { Q_NUMBER } from './encode.ts';
import { Q } from './shapes.ts';

const HALF_Q = (Q - 1n) / 2n;
const HALF_Q_NUMBER = Number(HALF_Q);

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
  for (const other of others) addTo(sum, other);
}

const WORD = 2 ** 32;

/** sum += other mod q, as numbers made of two words: a bigint would be an object for every coefficient. */
function addTo(sum: Values, other: Values): void {
  const [low, high] = wordsOf(sum);
  const [otherLow, otherHigh] = wordsOf(other);
  for (let i = 0; i < low.length; i += 2) {
    let x = (high[i + 1]! + otherHigh[i + 1]!) * WORD + (low[i]! + otherLow[i]!);
    if (x > HALF_Q_NUMBER) x -= Q_NUMBER;
    else if (x < -HALF_Q_NUMBER) x += Q_NUMBER;
    const upper = Math.floor(x / WORD);
    high[i + 1] = upper;
    low[i] = x - WORD * upper;
  }
}

/** Little-endian, as the module: coefficient j is word 2j of the first one and word 2j + 1 of the second one, which has the sign. */
const wordsOf = ({ buffer, byteOffset, length }: Values): [Uint32Array, Int32Array] => [
  new Uint32Array(buffer, byteOffset, 2 * length),
  new Int32Array(buffer, byteOffset, 2 * length),
];

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
