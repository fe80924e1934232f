/**
 * The mathematics that kernels are compared with, from the specifications alone: primes, roots and
 * the order of values are those of docs/protocol.md and of the comments on representation; all else
 * is computed here.
 */
import { inverse, power } from './modular.ts';

export const FALCON_Q = 12289;
/** floor(beta^2) of n = 512 and 1024: Falcon, round 3, table 3.3 */
export const NORM_LIMITS: Readonly<Record<number, bigint>> = { 9: 34034726n, 10: 70265242n };
/** docs/protocol.md, 1 */
export const LABRADOR_Q = (1n << 44n) - 117n;
export const PRIMES = [13697, 13441, 13313, 12289, 12161, 11777] as const;
/** Bounds of the residues that are reconstructed, called r in contracts, by prime. */
export const RESIDUES = [12800, 13200, 12700, 10800, 10800, 9800] as const;
/** P, the product of the primes. */
export const PRODUCT = PRIMES.reduce((product, p) => product * BigInt(p), 1n);

/** Primitive roots of unity of order 128 modulo the primes. */
const ROOTS = [175, 110, 272, 81, 182, 309] as const;

function reversed(index: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result = (result << 1) | ((index >> bit) & 1);
  return result;
}

/** The bit-reversed index of the value at a position: each 64 values are transposed 8 x 8. */
const indexAt = (position: number): number =>
  (position & ~63) | ((position & 7) << 3) | ((position >> 3) & 7);

/** The root of X^64 + 1 at which the value at a position of a form is taken. */
export const formRoot = (prime: number, position: number): number =>
  power(ROOTS[prime]!, 2 * reversed(indexAt(position), 6) + 1, PRIMES[prime]!);

/** The root of X^n + 1 mod 12289 of a position in NTT order; 7 generates the units' 2-part. */
export function falconRoot(logn: number, position: number): number {
  const root = power(7, 2048 >> (logn + 1), FALCON_Q);
  return power(root, 2 * reversed(indexAt(position), logn) + 1, FALCON_Q);
}

/** (P / p)^-1 mod p */
export function inverseCofactor(prime: number): number {
  const p = PRIMES[prime]!;
  return inverse(Number((PRODUCT / BigInt(p)) % BigInt(p)), p);
}

/** Round constants of Keccak-f[1600]: FIPS 202, 3.2.5, by the linear feedback register. */
export function keccakConstants(): bigint[] {
  let state = 1;
  return Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if (state & 1) constant |= 1n << BigInt(2 ** j - 1);
      state <<= 1;
      if (state & 0x100) state ^= 0x171;
    }
    return constant;
  });
}

/** Offsets of rho, by x + 5 y: FIPS 202, 3.2.2. */
export function keccakOffsets(): number[] {
  const offsets = Array<number>(25).fill(0);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t++) {
    offsets[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return offsets;
}

/** Operations on words, for ChaCha. */
export interface Words<T> {
  add(a: T, b: T): T;
  xor(a: T, b: T): T;
  rotate(a: T, bits: number): T;
}

/** RFC 8439, 2.1 and 2.3: the block function with its final addition. */
export function chacha<T>(words: Words<T>, state: readonly T[], rounds: number): T[] {
  const s = [...state];
  const step = (a: number, b: number, d: number, bits: number) => {
    s[a] = words.add(s[a]!, s[b]!);
    s[d] = words.rotate(words.xor(s[d]!, s[a]!), bits);
  };
  const quarter = (a: number, b: number, c: number, d: number) => {
    step(a, b, d, 16);
    step(c, d, b, 12);
    step(a, b, d, 8);
    step(c, d, b, 7);
  };
  for (let round = 0; round < rounds; round++) {
    const slant = round % 2;
    for (let i = 0; i < 4; i++) {
      const at = (row: number) => 4 * row + ((i + slant * row) % 4);
      quarter(at(0), at(1), at(2), at(3));
    }
  }
  return s.map((word, i) => words.add(word, state[i]!));
}

/** "expand 32-byte k" */
export const CHACHA_CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/**
 * The reverse cumulative distribution of the base sampler, 72 bits: 2^72 times the probability that
 * z0 is at least i + 1. Falcon, round 3, table 3.1.
 */
export const BASE_SAMPLER: readonly bigint[] = [
  3024686241123004913666n,
  1564742784480091954050n,
  636254429462080897535n,
  199560484645026482916n,
  47667343854657281903n,
  8595902006365044063n,
  1163297957344668388n,
  117656387352093658n,
  8867391802663976n,
  496969357462633n,
  20680885154299n,
  638331848991n,
  14602316184n,
  247426747n,
  3104126n,
  28824n,
  198n,
  1n,
];
