/** Sections 2 and 7.1, 7.3 of docs/protocol.md: signatures as short polynomials. */
import { decodePublicKey, decodeSignature, hashToPoint } from '../../../src/falcon/points.ts';
import {
  BETA_SQ,
  centred,
  D,
  digitsOf,
  FALCON_Q,
  mod,
  multiplyLarge,
  multiplyZ,
  type Poly,
  sigma,
  ZERO,
} from './ring.ts';
import type { Witness0 } from './trace.ts';

export interface Item {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** One item, decoded and checked. */
export interface Decoded {
  /** centred modulo p */
  readonly h: readonly bigint[];
  readonly c: readonly bigint[];
  readonly s1: readonly bigint[];
  readonly s2: readonly bigint[];
}

const big = (list: Iterable<number>): bigint[] => Array.from(list, BigInt);
export const centredP = (list: readonly bigint[]): bigint[] =>
  list.map((x) => centred(x, FALCON_Q));

const squares = (list: readonly bigint[]): bigint => list.reduce((sum, x) => sum + x * x, 0n);

/**
 * @param unchecked takes a signature that is too long; one with nothing behind its salt is s1 = s2
 *   = 0
 * @throws RangeError that names the item, unless its signature is valid
 */
export function decodeItem(
  item: Item,
  index: number,
  degree: 512 | 1024,
  unchecked = false,
): Decoded {
  const set = degree === 512 ? 'falcon512' : 'falcon1024';
  const read = decodeSignature(item.signature);
  if (typeof read === 'string' && !unchecked) throw new RangeError(`item ${index}: ${read}`);
  const decoded =
    typeof read === 'string'
      ? { parameterSet: set, salt: item.signature.slice(1, 41), s2: undefined }
      : read;
  if (decoded.parameterSet !== set) throw new RangeError(`item ${index}: set`);
  const key = decodePublicKey(set, item.publicKey);
  if (typeof key === 'string') throw new RangeError(`item ${index}: ${key}`);
  const h = centredP(big(key));
  const c = centredP(big(hashToPoint(set, decoded.salt, item.message)));
  if (decoded.s2 === undefined) {
    const none = new Array<bigint>(degree).fill(0n);
    return { h, c, s1: none, s2: none };
  }
  const s2 = big(decoded.s2);
  const product = multiplyLarge(h, s2);
  const s1 = centredP(c.map((x, i) => x - product[i]!));
  if (squares(s1) + squares(s2) > BETA_SQ[degree] && !unchecked) {
    throw new RangeError(`item ${index}: norm`);
  }
  return { h, c, s1, s2 };
}

/** The K stride parts of a polynomial: part k has the coefficients s_{k + K t}. */
export function strideParts(s: readonly bigint[]): Poly[] {
  const K = s.length / D;
  return Array.from({ length: K }, (_, k) => Array.from({ length: D }, (__, t) => s[k + K * t]!));
}

export function squareRoot(x: bigint): bigint {
  let root = BigInt(Math.floor(Math.sqrt(Number(x))));
  while (root * root > x) root--;
  while ((root + 1n) * (root + 1n) <= x) root++;
  return root;
}

/** The polynomial that fills the norm up, before its signs: its squares sum to `rest`. */
export function epsilon(rest: bigint): Poly {
  const out = new Array<bigint>(D).fill(0n);
  const mm = squareRoot(rest / 56n);
  out.fill(mm, 0, 56);
  rest -= 56n * mm * mm;
  for (let j = 56; j < D; j++) {
    const root = squareRoot(rest);
    out[j] = root;
    rest -= root * root;
  }
  if (rest !== 0n) throw new Error('the norm is not filled');
  return out;
}

/** Coefficient j is negated where that of s2 is odd. */
export const withSigns = (filling: Poly, s2: readonly bigint[]): Poly =>
  filling.map((x, j) => (s2[j]! % 2n === 0n ? x : -x));

/** S and W of the items; a witness that is too long (never an honest one) gets no filling. */
export function witnessOf(items: readonly Decoded[], degree: 512 | 1024): Witness0 {
  const betaSq = BETA_SQ[degree];
  const S = items.map(({ s1, s2 }) => {
    const rest = betaSq - squares(s1) - squares(s2);
    const filling = rest < 0n ? ZERO : withSigns(epsilon(rest), s2);
    return [...strideParts(s1), ...strideParts(s2), filling];
  });
  return { S, W: squaresOf(S, betaSq) };
}

/** W of any S. */
export function squaresOf(S: Witness0['S'], betaSq: bigint): Witness0['W'] {
  return S.map((parts): [Poly, Poly] => {
    const w = new Array<bigint>(D).fill(0n);
    w[0] = -betaSq;
    for (const s of parts) {
      for (const [j, x] of multiplyZ(s, sigma(s)).entries()) w[j]! += x;
    }
    const [low, high] = digitsOf(w, 2, 13);
    return [low!, high!];
  });
}

/** rho' = rho sigma(h) modulo p, centred. */
export const functionalOnS2 = (rho: readonly bigint[], h: readonly bigint[]): bigint[] =>
  centredP(multiplyLarge(rho, sigma(h)).map((x) => mod(x, FALCON_Q)));

export const dot = (a: readonly bigint[], b: readonly bigint[]): bigint =>
  a.reduce((sum, x, i) => sum + x * b[i]!, 0n);
