/** Sections 2 and 7.1, 7.3 of docs/protocol.md: signatures as short polynomials. */
import { decodePublicKey, decodeSignature, hashToPoint } from '../../../src/falcon/points.ts';
import {
  BETA_SQ,
  centred,
  D,
  digitsOf,
  mod,
  multiplyLarge,
  multiplyZ,
  P,
  type Poly,
  sigma,
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
export const centredP = (list: readonly bigint[]): bigint[] => list.map((x) => centred(x, P));

const squares = (list: readonly bigint[]): bigint => list.reduce((sum, x) => sum + x * x, 0n);

/** @throws RangeError that names the item, unless its signature is valid */
export function decodeItem(item: Item, index: number, degree: 512 | 1024): Decoded {
  const set = degree === 512 ? 'falcon512' : 'falcon1024';
  const decoded = decodeSignature(item.signature);
  if (typeof decoded === 'string') throw new RangeError(`item ${index}: ${decoded}`);
  if (decoded.parameterSet !== set) throw new RangeError(`item ${index}: set`);
  const key = decodePublicKey(set, item.publicKey);
  if (typeof key === 'string') throw new RangeError(`item ${index}: ${key}`);
  const h = centredP(big(key));
  const c = centredP(big(hashToPoint(set, decoded.salt, item.message)));
  const s2 = big(decoded.s2);
  const product = multiplyLarge(h, s2);
  const s1 = centredP(c.map((x, i) => x - product[i]!));
  if (squares(s1) + squares(s2) > BETA_SQ[degree]) throw new RangeError(`item ${index}: norm`);
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

/** The polynomial that fills the norm up: its squares sum to `rest`. */
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

/** S and W of the items. */
export function witnessOf(items: readonly Decoded[], degree: 512 | 1024): Witness0 {
  const betaSq = BETA_SQ[degree];
  const S = items.map(({ s1, s2 }) => [
    ...strideParts(s1),
    ...strideParts(s2),
    epsilon(betaSq - squares(s1) - squares(s2)),
  ]);
  const W = S.map((parts): [Poly, Poly] => {
    const w = new Array<bigint>(D).fill(0n);
    w[0] = -betaSq;
    for (const s of parts) {
      for (const [j, x] of multiplyZ(s, sigma(s)).entries()) w[j]! += x;
    }
    const [low, high] = digitsOf(w, 2, 13);
    return [low!, high!];
  });
  return { S, W };
}

/** rho' = rho sigma(h) modulo p, centred. */
export const functionalOnS2 = (rho: readonly bigint[], h: readonly bigint[]): bigint[] =>
  centredP(multiplyLarge(rho, sigma(h)).map((x) => mod(x, P)));

export const dot = (a: readonly bigint[], b: readonly bigint[]): bigint =>
  a.reduce((sum, x, i) => sum + x * b[i]!, 0n);
