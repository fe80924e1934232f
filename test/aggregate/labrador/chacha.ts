/** What protocol.md makes of the streams of ChaCha8, for comparison with kernels. */
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import { operatorNormHolds } from '../../reference/verifier/challenges.ts';
import { chachaBlock } from '../../reference/verifier/streams.ts';
import { add, centred, type Poly, sigma, zero } from './plain.ts';

export function chachaStream(
  key: Uint8Array,
  [a = 0, b = 0, c = 0]: readonly number[],
  from: number,
  blocks: number,
): Uint8Array {
  const out = new Uint8Array(64 * blocks);
  for (let i = 0; i < blocks; i++) out.set(chachaBlock(key, from + i, [a, b, c]), 64 * i);
  return out;
}

/** Word i of 44 bits of a string of bytes. */
export function word44(bytes: Uint8Array, i: number): bigint {
  let value = 0n;
  for (let bit = 43; bit >= 0; bit--) {
    const at = 44 * i + bit;
    value = (value << 1n) | BigInt((bytes[at >> 3]! >> (at & 7)) & 1);
  }
  return value;
}

/** The first `count` words below q. */
export function scalars(bytes: Uint8Array, count: number): bigint[] {
  const out: bigint[] = [];
  for (let i = 0; out.length < count; i++) {
    const word = word44(bytes, i);
    if (word < Q) out.push(word);
  }
  return out;
}

export const isShort = (c: readonly bigint[]): boolean => operatorNormHolds(c.map(Number));

/** alpha: zeros, the magnitudes of the others in order, and whether the norm test follows. */
export const ALPHA = { zeros: 21, magnitudes: [30, 13], tests: false };
export const C = { zeros: 22, magnitudes: [28, 12, 2], tests: true };

/** alpha or c, and how many attempts it took. */
export function signedChallenge(bytes: Uint8Array, { zeros, magnitudes, tests }: typeof C) {
  const sizes = magnitudes.flatMap((count, i) => new Array<bigint>(count).fill(BigInt(i + 1)));
  let at = 0;
  for (let attempts = 1; ; attempts++) {
    const signs = new DataView(bytes.buffer, bytes.byteOffset + at, 8).getBigUint64(0, true);
    at += 8;
    const x = new Array<bigint>(64).fill(0n);
    for (let pos = zeros; pos < 64; pos++) {
      let k = bytes[at++]! & 63;
      while (k > pos) k = bytes[at++]! & 63;
      const magnitude = sizes[pos - zeros]!;
      x[pos] = x[k]!;
      x[k] = (signs >> BigInt(pos - zeros)) & 1n ? -magnitude : magnitude;
    }
    if (!tests || isShort(x)) return { x, attempts };
  }
}

/**
 * Rows of the projection, the last of them the lower half; blocks that a polynomial owns of the
 * stream.
 */
export const ROWS = 137;
export const BLOCKS = 17;

/** Row `row` of a polynomial's part of the projection, from its 17 blocks: entries in {0, 1}. */
export function projectionRow(bits: Uint8Array, row: number): bigint[] {
  if (row === ROWS - 1) return Array.from({ length: 64 }, (_, c) => (c < 32 ? 1n : 0n));
  const group = bits.subarray(32 * (row >> 2), 32 * (row >> 2) + 32);
  return Array.from({ length: 64 }, (_, c) => {
    const byte = group[(c & 15) + (c >= 32 ? 16 : 0)]!;
    const nibble = (c & 16) === 0 ? byte & 15 : byte >> 4;
    return BigInt((nibble >> (row & 3)) & 1);
  });
}

/** X^32 a in Z[X]/(X^64 + 1). */
export const turned = (a: readonly bigint[]): bigint[] =>
  a.map((_, c) => (c < 32 ? -a[c + 32]! : a[c - 32]!));

/**
 * The projection's part of a lift's form: the sum of omega_j sigma(row_j), omega_j = omega_j0 +
 * omega_j1 X^32, centred. omega lists omega_00, omega_01, omega_10, ...
 */
export function projectedForm(bits: Uint8Array, omega: readonly bigint[]): Poly {
  const [g0, g1] = [zero(), zero()];
  for (let row = 0; row < ROWS; row++) {
    for (const [c, bit] of projectionRow(bits, row).entries()) {
      if (bit === 0n) continue;
      g0[c]! += omega[2 * row]!;
      g1[c]! += omega[2 * row + 1]!;
    }
  }
  return add(sigma(g0), turned(sigma(g1))).map((x) => centred(x));
}
