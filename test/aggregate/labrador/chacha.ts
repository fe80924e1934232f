/** ChaCha8 by the definition, and what protocol.md makes of its stream, for comparison. */
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import { add, centred, type Poly, sigma, zero } from './plain.ts';

const rotl = (x: number, n: number) => ((x << n) | (x >>> (32 - n))) >>> 0;

export function chachaBlock(key: Uint8Array, counter: number, nonce: readonly number[]) {
  const words = new DataView(key.buffer, key.byteOffset, 32);
  const state = [
    ...[0x61707865, 0x3320646e, 0x79622d32, 0x6b206574],
    ...Array.from({ length: 8 }, (_, i) => words.getUint32(4 * i, true)),
    counter,
    ...nonce,
  ];
  const x = [...state];
  const quarter = (a: number, b: number, c: number, d: number) => {
    x[a] = (x[a]! + x[b]!) >>> 0;
    x[d] = rotl(x[d]! ^ x[a]!, 16);
    x[c] = (x[c]! + x[d]!) >>> 0;
    x[b] = rotl(x[b]! ^ x[c]!, 12);
    x[a] = (x[a]! + x[b]!) >>> 0;
    x[d] = rotl(x[d]! ^ x[a]!, 8);
    x[c] = (x[c]! + x[d]!) >>> 0;
    x[b] = rotl(x[b]! ^ x[c]!, 7);
  };
  for (let double = 0; double < 4; double++) {
    for (let i = 0; i < 4; i++) quarter(i, i + 4, i + 8, i + 12);
    for (let i = 0; i < 4; i++)
      quarter(i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
  }
  const out = new DataView(new ArrayBuffer(64));
  for (let i = 0; i < 16; i++) out.setUint32(4 * i, x[i]! + state[i]!, true);
  return new Uint8Array(out.buffer);
}

export function chachaStream(
  key: Uint8Array,
  nonce: readonly number[],
  from: number,
  blocks: number,
): Uint8Array {
  const out = new Uint8Array(64 * blocks);
  for (let i = 0; i < blocks; i++) out.set(chachaBlock(key, from + i, nonce), 64 * i);
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

const COSINES = Array.from({ length: 128 }, (_, j) =>
  BigInt(Math.round(2 ** 30 * Math.cos((Math.PI * j) / 64))),
);

export function isShort(c: readonly bigint[]): boolean {
  for (let k = 1; k < 64; k += 2) {
    let [re, im] = [0n, 0n];
    for (const [t, x] of c.entries()) {
      re += x * COSINES[(k * t) % 128]!;
      im += x * COSINES[(k * t + 96) % 128]!;
    }
    re >>= 10n;
    im >>= 10n;
    if (re * re + im * im > 376n * 2n ** 40n) return false;
  }
  return true;
}

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
