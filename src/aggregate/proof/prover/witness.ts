/**
 * Signatures as short polynomials (docs/protocol.md, 7.1): S, W, and the operands of the
 * functionals.
 */
import type { ParameterSet, Profile } from '../../../falcon/index.ts';
import { decodePublicKey, decodeSignature, openSignature } from '../../../falcon/points.ts';
import { CodedError } from '../../../shared/errors.ts';
import { type Labrador, SMALL_BYTES, type Smalls } from '../../wasm.ts';
import { BETA_SQ, NORM_DIGIT_BITS, NORM_DIGITS } from '../constants.ts';
import { degreeOf } from '../shapes.ts';

/** One signature of a section. It must have been verified. */
export interface SectionItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** An item as polynomials modulo Falcon's X^n + 1. */
export interface Decoded {
  /** in [0, p) */
  readonly h: Uint16Array;
  /** centred */
  readonly c: Int16Array;
  readonly s1: Int16Array;
  readonly s2: Int16Array;
}

/** @throws CodedError `INTERNAL` if the item has not been verified */
export function decodeItem(set: ParameterSet, profile: Profile, item: SectionItem): Decoded {
  const signature = decodeSignature(item.signature);
  const h = decodePublicKey(set, item.publicKey);
  if (typeof signature === 'string' || typeof h === 'string') return refuseItem('not verified');
  if (signature.parameterSet !== set) return refuseItem('set');
  const opened = openSignature(signature, item.message, item.publicKey, profile);
  if (typeof opened === 'string') return refuseItem(opened);
  return { h, ...opened, s2: signature.s2 };
}

function refuseItem(cause: string): never {
  throw new CodedError('INTERNAL', { cause: new RangeError(`item: ${cause}`) });
}

function sumOfSquares(s: Int16Array): number {
  let sum = 0;
  for (let j = 0; j < s.length; j++) sum += s[j]! * s[j]!;
  return sum;
}

/** The integer part of the root; exact, because x is below 2^27. */
const squareRoot = (x: number): number => Math.floor(Math.sqrt(x));

/**
 * Writes epsilon, the polynomial whose squares sum to `rest`. Its signs are the parities of s2, so
 * that the polynomials of different items do not add up in products.
 */
export function fillNorm(out: Int16Array, rest: number, s2: Int16Array): void {
  const common = squareRoot(Math.floor(rest / 56));
  out.fill(common, 0, 56);
  let left = rest - 56 * common * common;
  for (let j = 56; j < 64; j++) {
    const root = squareRoot(left);
    out[j] = root;
    left -= root * root;
  }
  if (left !== 0) throw new CodedError('INTERNAL', { cause: new RangeError('norm not filled') });
  for (let j = 0; j < 64; j++) if (s2[j]! & 1) out[j] = -out[j]!;
}

/**
 * Writes the K stride parts of a polynomial modulo X^(64K) + 1: part k has the coefficients k, k +
 * K, ...
 */
function writeParts(out: Int16Array, to: number, s: Int16Array, K: number): void {
  for (let k = 0; k < K; k++) {
    const at = to + 64 * k;
    for (let t = 0; t < 64; t++) out[at + t] = s[k + K * t]!;
  }
}

/** S: the parts of s1 and s2, and epsilon, item after item. */
export function smallsOfItems(
  lab: Labrador,
  set: ParameterSet,
  items: readonly Decoded[],
  width: number,
): Smalls {
  const S = lab.smalls(width * items.length);
  const out = lab.i16(S);
  const K = (width - 1) / 2;
  const betaSq = BETA_SQ[degreeOf(set)];
  for (const [i, { s1, s2 }] of items.entries()) {
    const base = 64 * width * i;
    writeParts(out, base, s1, K);
    writeParts(out, base + 64 * K, s2, K);
    const at = base + 64 * 2 * K;
    fillNorm(out.subarray(at, at + 64), betaSq - sumOfSquares(s1) - sumOfSquares(s2), s2);
  }
  return S;
}

/**
 * W_i0, W_i1 of items: the digits of <s, sigma(s)> - beta^2 of the `width` polynomials at each
 * address.
 */
export function normDigits(
  lab: Labrador,
  set: ParameterSet,
  addresses: readonly number[],
  width: number,
): Int16Array<ArrayBuffer> {
  return lab.scope(() => {
    const digits = lab.smalls(NORM_DIGITS * addresses.length);
    const w = lab.coefs(1);
    const betaSq = BigInt(BETA_SQ[degreeOf(set)]);
    for (const [i, at] of addresses.entries()) {
      lab.kernels.selfProduct(w.at, at, width);
      lab.i64(w)[0]! -= betaSq;
      const to = digits.at + NORM_DIGITS * SMALL_BYTES * i;
      lab.kernels.decompose(to, SMALL_BYTES, w.at, NORM_DIGITS, NORM_DIGIT_BITS);
    }
    return lab.i16(digits).slice();
  });
}
