/**
 * Signatures with a chosen (s1, s2): for any s2 that is invertible mod q there is a public key h =
 * (c - s1) / s2 under which it belongs to a given salt and message. So the norm test can be probed
 * to the unit, which real signers cannot do.
 */
import { encodeSignature, hashToPoint } from '../../src/falcon/points.ts';
import type { BatchItem, ParameterSet, SignatureFormat } from '../../src/falcon/types.ts';
import { compileEntry } from './assembly.ts';

const ntt = await compileEntry('ntt', 'plain');

/** c - s1 over s2 mod q, encoded as a public key; undefined if s2 has no inverse. */
function publicKeyFor(
  logn: number,
  c: Uint16Array,
  s1: readonly number[],
  s2: readonly number[],
): Uint8Array | undefined {
  const n = 1 << logn;
  const { exports, at } = ntt;
  const region = (name: string) => new Int16Array(exports.memory.buffer, at(name), n);
  region('B').set(s2);
  exports.ntt!(at('B'), logn);
  if (exports.invertPoly!(at('B'), logn) !== 0) return undefined;
  region('A').set(c.map((x, i) => x - s1[i]!));
  exports.centrePoly!(at('A'), logn);
  exports.ntt!(at('A'), logn);
  exports.pointwise!(at('A'), at('B'), logn);
  exports.intt!(at('A'), logn);
  exports.canonicalPoly!(at('A'), logn);
  return encodePublicKey(logn, region('A'));
}

/** Draws polynomials until one has an inverse mod q: about one in e^(n/q) does not. */
export function drawInvertible(draw: () => number[]): number[] {
  while (true) {
    const poly = draw();
    const logn = Math.log2(poly.length);
    new Int16Array(ntt.exports.memory.buffer, ntt.at('B'), poly.length).set(poly);
    ntt.exports.ntt!(ntt.at('B'), logn);
    if (ntt.exports.invertPoly!(ntt.at('B'), logn) === 0) return poly;
  }
}

/** Plainly, bit by bit. */
export function encodePublicKey(logn: number, h: ArrayLike<number>): Uint8Array {
  let bits = logn.toString(2).padStart(8, '0');
  for (let i = 0; i < h.length; i++) bits += h[i]!.toString(2).padStart(14, '0');
  return fromBits(bits);
}

export function fromBits(bits: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(bits.slice(8 * i, 8 * i + 8).padEnd(8, '0'), 2);
  }
  return bytes;
}

export function craft(
  parameterSet: ParameterSet,
  form: SignatureFormat,
  s1: readonly number[],
  s2: readonly number[],
  message: Uint8Array,
): BatchItem & { publicKey: Uint8Array } {
  const logn = parameterSet === 'falcon512' ? 9 : 10;
  const salt = new Uint8Array(40).map((_, i) => i);
  const signature = encodeSignature({ parameterSet, form, salt, s2: Int16Array.from(s2) });
  if (signature === undefined) throw new Error(`s2 does not fit ${form}`);
  const c = hashToPoint(parameterSet, salt, message);
  const publicKey = publicKeyFor(logn, c, s1, s2);
  if (publicKey === undefined) throw new Error('s2 has no inverse: choose another');
  return { signature, message, publicKey };
}

export function normSq(...polys: readonly (readonly number[])[]): number {
  let sum = 0;
  for (const poly of polys) for (const x of poly) sum += x * x;
  return sum;
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
