/** Key generation's test module, and the plain models that its parts are held against. */
import type { ModuleName } from '../../src/falcon/index.ts';
import { compileEntry, type TestExports } from './assembly.ts';
import type { Degree } from './peers.ts';
import { reals } from './reals.ts';

/** Causes of judgeSmall and ntruSolve, in the order of their numbers. */
export const JUDGE = ['fit', 'tooWide', 'tooFar', 'tooSkew'] as const;
export const SOLVE = ['solved', 'noBezout', 'tooLong', 'notReduced', 'notShort'] as const;

export interface Candidate {
  cause: (typeof JUDGE)[number] | 'notInvertible' | (typeof SOLVE)[number];
  f: Int8Array;
  g: Int8Array;
  F: Int8Array;
  G: Int8Array;
}

/** Seed number i of the reference runs: i as 32 bits little-endian, zeros, and 0x5a at the end. */
export function numberedSeed(i: number): Uint8Array<ArrayBuffer> {
  const seed = new Uint8Array(48);
  new DataView(seed.buffer).setUint32(0, i, true);
  seed[47] = 0x5a;
  return seed;
}

export class KeygenModule {
  readonly exports: TestExports;
  readonly at: (region: string) => number;

  static async compile(module: ModuleName = reals.module): Promise<KeygenModule> {
    const { exports, at } = await compileEntry('keygen', module);
    return new KeygenModule(exports, at);
  }

  constructor(exports: TestExports, at: (region: string) => number) {
    this.exports = exports;
    this.at = at;
  }

  get memory(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer);
  }

  words(region: string, count: number, offset = 0): Uint32Array {
    return new Uint32Array(this.exports.memory.buffer, this.at(region) + offset, count);
  }

  small(region: string, n: number): Int8Array {
    return new Int8Array(this.exports.memory.buffer, this.at(region), n);
  }

  keygen(degree: Degree, seed: Uint8Array): { publicKey: Uint8Array; secretKey: Uint8Array } {
    const logn = Math.log2(degree);
    this.memory.set(seed, this.at('SEED'));
    const status = this.exports.keygen!(logn, seed.length);
    if (status !== 0) throw new Error(`keygen: ${status}`);
    const publicKeyBytes = degree === 512 ? 897 : 1793;
    const secretKeyBytes = degree === 512 ? 1281 : 2305;
    return {
      publicKey: this.memory.slice(this.at('PK'), this.at('PK') + publicKeyBytes),
      secretKey: this.memory.slice(this.at('SK'), this.at('SK') + secretKeyBytes),
    };
  }

  /** All candidates of a seed with what became of them; the last one is solved. */
  candidates(degree: Degree, seed: Uint8Array): Candidate[] {
    const logn = Math.log2(degree);
    const { exports } = this;
    const list: Candidate[] = [];
    this.memory.set(seed, this.at('SEED'));
    exports.begin!();
    for (;;) {
      exports.draw!(logn);
      let cause: Candidate['cause'] = JUDGE[exports.judge!(logn)]!;
      if (cause === 'fit' && exports.invertible!(logn) !== 0) cause = 'notInvertible';
      if (cause === 'fit') cause = SOLVE[exports.solve!(logn)]!;
      const take = (region: string) => this.small(region, degree).slice();
      list.push({ cause, f: take('f'), g: take('g'), F: take('F'), G: take('G') });
      if (cause === 'solved') return list;
    }
  }
}

/** a b mod X^n + 1; exact while |a|, |b| <= 127 and n <= 1024. */
export function negacyclic(a: Int8Array, b: Int8Array): Int32Array {
  const n = a.length;
  const c = new Int32Array(2 * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) c[i + j]! += a[i]! * b[j]!;
  }
  return c.slice(0, n).map((x, i) => x - c[n + i]!);
}

export function power(base: bigint, exponent: bigint, p: bigint): bigint {
  let result = 1n;
  for (base %= p; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % p;
    base = (base * base) % p;
  }
  return result;
}

export const modulo = (x: bigint, p: bigint): bigint => ((x % p) + p) % p;

/** `count` integers as rows of 31-bit words. */
export function putIntegers(words: Uint32Array, xs: readonly bigint[], len: number): void {
  xs.forEach((x, i) => {
    for (let j = 0; j < len; j++) {
      words[j * xs.length + i] = Number(x & 0x7fffffffn);
      x >>= 31n;
    }
  });
}

/** The way back, unsigned. */
export function takeIntegers(words: Uint32Array, count: number, len: number): bigint[] {
  return Array.from({ length: count }, (_, i) => {
    let x = 0n;
    for (let j = len - 1; j >= 0; j--) x = (x << 31n) | BigInt(words[j * count + i]!);
    return x;
  });
}

/** Two's complement over `bits` bits to a signed integer. */
export const signed = (x: bigint, bits: number): bigint => BigInt.asIntN(bits, x);
