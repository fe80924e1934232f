/**
 * Signatures with a chosen (s1, s2): for any s2 that is invertible mod q there is a public key h =
 * (c - s1) / s2 under which it belongs to a given salt and message. So the norm test can be probed
 * to the unit, which real signers cannot do.
 */
import type { BatchItem } from '../../src/falcon/types.ts';
import { craftPublicKey, encodeSignature, type Form, invert } from './reference.ts';

/** Draws polynomials until one has an inverse mod q: about one in e^(n/q) does not. */
export function drawInvertible(draw: () => number[]): number[] {
  while (true) {
    const poly = draw();
    if (invert(poly) !== undefined) return poly;
  }
}

export function craft(
  form: Form,
  s1: readonly number[],
  s2: readonly number[],
  message: Uint8Array,
): BatchItem & { publicKey: Uint8Array } {
  const salt = new Uint8Array(40).map((_, i) => i);
  const publicKey = craftPublicKey(s1, s2, salt, message);
  if (publicKey === undefined) throw new Error('s2 has no inverse: choose another');
  return { signature: encodeSignature(form, salt, s2), message, publicKey };
}

/**
 * Fills the given positions of a polynomial so that their squares sum up to exactly `target`: the
 * largest square that fits, again and again.
 */
export function fillSquares(
  poly: number[],
  positions: Iterable<number>,
  target: number,
  largest: number,
) {
  let left = target;
  for (const i of positions) {
    const x = Math.min(largest, Math.floor(Math.sqrt(left)));
    poly[i] = i % 2 === 0 ? x : -x;
    left -= x * x;
  }
  if (left !== 0) throw new Error(`cannot reach ${target}: ${left} left`);
}
