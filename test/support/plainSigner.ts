/**
 * Signing once more, plain and slow: the algorithms as the round-3 specification writes them, in
 * the order of operations of its reference code, on JavaScript's doubles (which are the same
 * binary64). What the module computes with fused levels, two samples at a time and a tree made
 * beforehand must come out with the same bits.
 *
 * A transform is f64[n]: n/2 real parts, then n/2 imaginary parts, bit-reversed.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { RCDT, roots } from '../../scripts/generate/signTables.ts';
import { centre, decodePublicKey, multiply } from './reference.ts';

const { re: ROOT_RE, im: ROOT_IM } = roots();

/**
 * w^bitrev(m + i), m a power of two: the twiddle of block i at level m, and of neighbours 2i, 2i+1
 * in a split.
 */
const root = (m: number, i: number) => [ROOT_RE[m / 2 + i]!, ROOT_IM[m / 2 + i]!] as const;

/** Falcon round 3, section 3.7: level by level. */
export function plainFft(coefficients: ArrayLike<number>): Float64Array {
  const f = Float64Array.from(coefficients);
  const n = f.length;
  const half = n / 2;
  for (let m = 2, t = half; m < n; m *= 2, t /= 2) {
    for (let i = 0; i < m / 2; i++) {
      const [sRe, sIm] = root(m, i);
      for (let j = i * t; j < i * t + t / 2; j++) {
        const k = j + t / 2;
        const yRe = f[k]! * sRe - f[k + half]! * sIm;
        const yIm = f[k]! * sIm + f[k + half]! * sRe;
        const xRe = f[j]!;
        const xIm = f[j + half]!;
        f[j] = xRe + yRe;
        f[j + half] = xIm + yIm;
        f[k] = xRe - yRe;
        f[k + half] = xIm - yIm;
      }
    }
  }
  return f;
}

export function plainIfft(transform: ArrayLike<number>): Float64Array {
  const f = Float64Array.from(transform);
  const n = f.length;
  const half = n / 2;
  for (let m = n / 2, t = 1; m > 1; m /= 2, t *= 2) {
    for (let i = 0; i < m / 2; i++) {
      const [sRe, sIm] = root(m, i);
      for (let j = 2 * i * t; j < (2 * i + 1) * t; j++) {
        const k = j + t;
        const xRe = f[j]! - f[k]!;
        const xIm = f[j + half]! - f[k + half]!;
        f[j] = f[j]! + f[k]!;
        f[j + half] = f[j + half]! + f[k + half]!;
        f[k] = xRe * sRe + xIm * sIm;
        f[k + half] = xIm * sRe - xRe * sIm;
      }
    }
  }
  return f.map((x) => (x * 2) / n);
}

/** Algorithm 1. */
export function plainSplit(f: Float64Array): [Float64Array, Float64Array] {
  const n = f.length;
  const half = n / 2;
  if (n === 2) return [f.slice(0, 1), f.slice(1, 2)];
  const f0 = new Float64Array(half);
  const f1 = new Float64Array(half);
  for (let u = 0; u < half / 2; u++) {
    const [wRe, wIm] = root(half, u);
    const dRe = f[2 * u]! - f[2 * u + 1]!;
    const dIm = f[2 * u + half]! - f[2 * u + 1 + half]!;
    f0[u] = (f[2 * u]! + f[2 * u + 1]!) / 2;
    f0[u + half / 2] = (f[2 * u + half]! + f[2 * u + 1 + half]!) / 2;
    f1[u] = (dRe * wRe + dIm * wIm) / 2;
    f1[u + half / 2] = (dIm * wRe - dRe * wIm) / 2;
  }
  return [f0, f1];
}

/** Algorithm 2. */
export function plainMerge(f0: Float64Array, f1: Float64Array): Float64Array {
  const half = f0.length;
  if (half === 1) return Float64Array.of(f0[0]!, f1[0]!);
  const f = new Float64Array(2 * half);
  for (let u = 0; u < half / 2; u++) {
    const [wRe, wIm] = root(half, u);
    const bRe = f1[u]! * wRe - f1[u + half / 2]! * wIm;
    const bIm = f1[u]! * wIm + f1[u + half / 2]! * wRe;
    f[2 * u] = f0[u]! + bRe;
    f[2 * u + half] = f0[u + half / 2]! + bIm;
    f[2 * u + 1] = f0[u]! - bRe;
    f[2 * u + 1 + half] = f0[u + half / 2]! - bIm;
  }
  return f;
}

/** Value by value; `f` gets real and imaginary parts of both. */
function pointwise(
  a: Float64Array,
  b: Float64Array,
  f: (aRe: number, aIm: number, bRe: number, bIm: number) => readonly [number, number],
): Float64Array {
  const half = a.length / 2;
  const out = new Float64Array(a.length);
  for (let u = 0; u < half; u++) {
    [out[u], out[u + half]] = f(a[u]!, a[u + half]!, b[u]!, b[u + half]!) as [number, number];
  }
  return out;
}

export const plainMultiply = (a: Float64Array, b: Float64Array) =>
  pointwise(a, b, (ar, ai, br, bi) => [ar * br - ai * bi, ar * bi + ai * br]);
const multiplyAdjoint = (a: Float64Array, b: Float64Array) =>
  pointwise(a, b, (ar, ai, br, bi) => [ar * br + ai * bi, ai * br - ar * bi]);
export const plainAdd = (a: Float64Array, b: Float64Array) => a.map((x, i) => x + b[i]!);
const subtract = (a: Float64Array, b: Float64Array) => a.map((x, i) => x - b[i]!);

/** Algorithm 8: l10 and d11. */
function ldl(g00: Float64Array, g01: Float64Array, g11: Float64Array) {
  const l10 = pointwise(g00, g01, (ar, ai, br, bi) => {
    const m = 1 / (ar * ar + ai * ai);
    // conj(g01 / g00): the reference keeps the conjugate
    return [br * (ar * m) + bi * (ai * m), -(br * (-ai * m) + bi * (ar * m))];
  });
  const product = pointwise(l10, g01, (mr, mi, br, bi) => [mr * br - mi * bi, mr * bi + mi * br]);
  const half = g00.length / 2;
  const d11 = g11.map((x, i) => (i < half ? x - product[i]! : x + product[i]!));
  return { l10, d11 };
}

export interface PlainKey {
  b00: Float64Array;
  b01: Float64Array;
  b10: Float64Array;
  b11: Float64Array;
  /** l10, then the left tree, then the right one; at degree 2: l10 and the two leaves, 1/sigma'. */
  tree: number[];
}

/** Algorithm 9, normalised: a leaf is sqrt(d) / sigma. */
function tree(
  g00: Float64Array,
  g01: Float64Array,
  g11: Float64Array,
  inverseSigma: number,
): number[] {
  const { l10, d11 } = ldl(g00, g01, g11);
  if (g00.length === 2) {
    return [...l10, Math.sqrt(g00[0]!) * inverseSigma, Math.sqrt(d11[0]!) * inverseSigma];
  }
  const [left0, left1] = plainSplit(g00);
  const [right0, right1] = plainSplit(d11);
  return [
    ...l10,
    ...tree(left0, left1, left0, inverseSigma),
    ...tree(right0, right1, right0, inverseSigma),
  ];
}

export interface Basis {
  f: readonly number[];
  g: readonly number[];
  F: readonly number[];
  G: readonly number[];
}

export const inverseSigma = (n: number) =>
  n === 512 ? 0.006033669668157724 : 0.005938645309533116;
export const sigmaMin = (n: number) => (n === 512 ? 1.2778336969128337 : 1.298280334344292);

export function plainExpand({ f, g, F, G }: Basis): PlainKey {
  const b00 = plainFft(g);
  const b01 = plainFft(f).map((x) => -x);
  const b10 = plainFft(G);
  const b11 = plainFft(F).map((x) => -x);
  const gram = (a: Float64Array, b: Float64Array, c: Float64Array, d: Float64Array) =>
    plainAdd(multiplyAdjoint(a, c), multiplyAdjoint(b, d));
  const real = (a: Float64Array) => a.fill(0, a.length / 2);
  const g00 = real(gram(b00, b01, b00, b01));
  const g01 = gram(b00, b01, b10, b11);
  const g11 = real(gram(b10, b11, b10, b11));
  return { b00, b01, b10, b11, tree: tree(g00, g01, g11, inverseSigma(f.length)) };
}

const BUFFER = 512;

/** The stream of the reference's generator, and what was met in it. */
export class PlainStream {
  readonly #key: Uint8Array;
  readonly #nonce: Uint32Array;
  #counter: bigint;
  #buffer = new Uint8Array(BUFFER);
  #position = BUFFER;
  /** Buffers filled; comparisons that needed a second byte; candidates judged. */
  readonly seen = { buffers: 0, ties: 0, candidates: 0 };

  /** `seed`: key, nonce, counter, 56 bytes. */
  constructor(seed: Uint8Array) {
    const copy = seed.slice();
    this.#key = copy.subarray(0, 32);
    this.#nonce = new Uint32Array(copy.buffer, 32, 4);
    this.#counter = new DataView(copy.buffer).getBigUint64(48, true);
    this.#refill();
  }

  #refill(): void {
    const words = new Uint32Array(this.#buffer.buffer);
    for (let block = 0; block < 8; block++, this.#counter++) {
      const iv = this.#nonce.slice();
      iv[2]! ^= Number(this.#counter & 0xffffffffn);
      iv[3]! ^= Number((this.#counter >> 32n) & 0xffffffffn);
      const cipher = createCipheriv('chacha20', this.#key, new Uint8Array(iv.buffer));
      const out = new Uint32Array(new Uint8Array(cipher.update(new Uint8Array(64))).buffer);
      for (let w = 0; w < 16; w++) words[8 * w + block] = out[w]!;
    }
    this.#position = 0;
    this.seen.buffers++;
  }

  u64(): bigint {
    if (this.#position >= BUFFER - 9) this.#refill();
    const value = new DataView(this.#buffer.buffer).getBigUint64(this.#position, true);
    this.#position += 8;
    return value;
  }

  u8(): number {
    const value = this.#buffer[this.#position++]!;
    if (this.#position === BUFFER) this.#refill();
    return value;
  }
}

/** Algorithm 12 on a number of 72 bits. */
export function plainBaseSample(u: bigint): number {
  return RCDT.filter((entry) => u < entry).length;
}

const EXP = [
  0.9999999999999949, 0.5000000000000192, 0.16666666666698401, 0.04166666666611049,
  0.008333333327800835, 0.001388888894063187, 0.0001984127392773119, 2.480156683358538e-5,
  2.7555863502191225e-6, 2.756073561604778e-7, 2.529950637944207e-8, 2.073772366009083e-9,
];

/** Algorithm 13, trunc(2^63 ccs exp(-r)), summed as the reference's code for x86 does. */
function approxExp(r: number, ccs: number): bigint {
  const d1 = -r;
  const d2 = d1 * d1;
  const d4 = d2 * d2;
  const d8 = d4 * d4;
  const part = [d1, d2, d2 * d1, d4].map(
    (d, i) => d * d8 * EXP[i + 8]! + (d * d4 * EXP[i + 4]! + d * EXP[i]!),
  );
  const y = (1 + (part[0]! + part[1]!) + (part[2]! + part[3]!)) * ccs;
  return BigInt(Math.trunc(y * 2 ** 63));
}

/** Algorithm 14. */
function berExp(stream: PlainStream, x: number, ccs: number): boolean {
  const s = Math.trunc(x * Math.LOG2E);
  const r = x - s * Math.LN2;
  const z = (2n * approxExp(r, ccs) - 1n) >> BigInt(Math.min(s, 63));
  let w = 0;
  for (let i = 56n; i >= 0n; i -= 8n) {
    w = stream.u8() - Number((z >> i) & 255n);
    if (w !== 0) break;
    stream.seen.ties++;
  }
  return w < 0;
}

/** Algorithm 15. */
export function plainSamplerZ(
  stream: PlainStream,
  mu: number,
  inverse: number,
  sigmaLeast: number,
): number {
  const s = Math.floor(mu);
  const r = mu - s;
  const dss = inverse * inverse * 0.5;
  const ccs = inverse * sigmaLeast;
  for (;;) {
    stream.seen.candidates++;
    const low = stream.u64();
    const z0 = plainBaseSample((BigInt(stream.u8()) << 64n) | low);
    const b = stream.u8() & 1;
    const z = b + (2 * b - 1) * z0;
    const x = (z - r) * (z - r) * dss - z0 * z0 * 0.15086504887537272;
    if (berExp(stream, x, ccs)) return s + z;
  }
}

/** Algorithm 11. */
export function plainFfSampling(
  t0: Float64Array,
  t1: Float64Array,
  tree: readonly number[],
  sample: (mu: number, inverse: number) => number,
): [Float64Array, Float64Array] {
  const n = t0.length;
  const rest = (tree.length - n) / 2;
  const l10 = Float64Array.from(tree.slice(0, n));
  const half = (t: Float64Array, subtree: readonly number[]): Float64Array => {
    const [a, b] = plainSplit(t);
    if (n > 2) return plainMerge(...plainFfSampling(a, b, subtree, sample));
    return Float64Array.of(sample(a[0]!, subtree[0]!), sample(b[0]!, subtree[0]!));
  };
  const z1 = half(t1, tree.slice(n + rest));
  const adjusted = plainAdd(t0, plainMultiply(l10, subtract(t1, z1)));
  return [half(adjusted, tree.slice(n, n + rest)), z1];
}

/** f, g, F from the encoding of a secret key, and G = h F mod q. */
export function plainBasis(secretKey: Uint8Array, publicKey: Uint8Array): Basis {
  const n = 2 ** (secretKey[0]! & 15);
  const bits = Array.from(secretKey.subarray(1), (x) => x.toString(2).padStart(8, '0')).join('');
  let at = 0;
  const next = (width: number): number[] =>
    Array.from({ length: n }, () => {
      const x = Number.parseInt(bits.slice(at, (at += width)), 2);
      return x < 2 ** (width - 1) ? x : x - 2 ** width;
    });
  const small = n === 512 ? 6 : 5;
  const [f, g, F] = [next(small), next(small), next(8)];
  return { f, g, F, G: multiply(decodePublicKey(publicKey), F).map(centre) };
}

/** Where the target c b / q is divided by q; the result is the same but for its last bits. */
export type Order = 'product first' | 'quotient first' | 'division';

const INVERSE_Q = 1 / 12289;

/** The target of a point: t0 = c b11 / q, t1 = -c b01 / q. */
function plainTarget(c: readonly number[], { b01, b11 }: PlainKey, order: Order) {
  const point = plainFft(c);
  if (order === 'quotient first') {
    const part = point.map((x) => x * INVERSE_Q);
    return [plainMultiply(part, b11), plainMultiply(part, b01).map((x) => -x)] as const;
  }
  const [x0, x1] = [plainMultiply(point, b11), plainMultiply(point, b01)];
  if (order === 'division') return [x0.map((x) => x / 12289), x1.map((x) => x / -12289)] as const;
  return [x0.map((x) => x * INVERSE_Q), x1.map((x) => x * -INVERSE_Q)] as const;
}

/**
 * s1 and s2 of one attempt for the point c; the module signs with the product first.
 *
 * @param samplerSeed 48 bytes
 */
export function plainSign(
  key: PlainKey,
  c: readonly number[],
  samplerSeed: Uint8Array,
  order: Order = 'product first',
): { s1: number[]; s2: number[] } {
  const { b00, b01, b10, b11, tree } = key;
  const seed = createHash('shake256', { outputLength: 56 }).update(samplerSeed).digest();
  const stream = new PlainStream(new Uint8Array(seed));
  const least = sigmaMin(c.length);
  const [z0, z1] = plainFfSampling(...plainTarget(c, key, order), tree, (mu, inverse) =>
    plainSamplerZ(stream, mu, inverse, least),
  );
  const row = (x: Float64Array, y: Float64Array): number[] =>
    Array.from(plainIfft(plainAdd(plainMultiply(z0, x), plainMultiply(z1, y))), Math.round);
  const s1 = row(b00, b10).map((v, i) => c[i]! - v);
  const s2 = row(b01, b11).map((v) => 0 - v);
  return { s1, s2 };
}
