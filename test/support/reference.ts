/**
 * Falcon's public side once more, plain and slow: the measure for what must be accepted, and the
 * tool that makes signatures no honest signer makes.
 *
 * Verification is public: for any short s1 and s2 (s2 invertible) and any hash point c there is
 * exactly one key h = (c - s1) / s2 for which (s1, s2) is the preimage. So norms, single
 * coefficients and encodings can be chosen freely, up to the exact bound, and be put before a
 * verifier as a real key with a real signature.
 */
import { createHash } from 'node:crypto';
import type { Degree } from './peers.ts';

export const Q = 12289;
/** Generator of the multiplicative group mod q. */
const GENERATOR = 11;

/** Sizes and bounds of the round-3 specification, table 3.3. */
export const SPEC = {
  512: {
    logn: 9,
    betaSquared: 34034726,
    publicKey: 897,
    secretKey: 1281,
    compressedMax: 752,
    padded: 666,
    constantTime: 809,
  },
  1024: {
    logn: 10,
    betaSquared: 70265242,
    publicKey: 1793,
    secretKey: 2305,
    compressedMax: 1462,
    padded: 1280,
    constantTime: 1577,
  },
} as const;

export type Form = 'compressed' | 'padded' | 'constantTime';
export const FORMS: readonly Form[] = ['compressed', 'padded', 'constantTime'];

export const modQ = (x: number): number => ((x % Q) + Q) % Q;
/** The representative in [-6144, 6144]. */
export const centre = (x: number): number => {
  const r = modQ(x);
  return r > (Q - 1) / 2 ? r - Q : r;
};

function powQ(base: number, exponent: number): number {
  let result = 1;
  for (let b = modQ(base), e = exponent; e > 0; e = Math.floor(e / 2)) {
    if (e % 2 === 1) result = (result * b) % Q;
    b = (b * b) % Q;
  }
  return result;
}

const inverseQ = (x: number): number => powQ(x, Q - 2);

/** sum_i v_i w^(i j) for every j, where w has the order v.length, a power of two: by halving. */
function transform(v: readonly number[], w: number): number[] {
  if (v.length === 1) return [v[0]!];
  const square = (w * w) % Q;
  const even = transform(
    v.filter((_, i) => i % 2 === 0),
    square,
  );
  const odd = transform(
    v.filter((_, i) => i % 2 === 1),
    square,
  );
  let x = 1;
  return v.map((_, j) => {
    const value = (even[j % even.length]! + x * odd[j % odd.length]!) % Q;
    x = (x * w) % Q;
    return value;
  });
}

/** Values of a polynomial at the odd powers of a primitive 2n-th root. */
function evaluate(a: readonly number[], root: number): number[] {
  // a(root^(2 i + 1)) = sum_j a_j root^j (root^2)^(i j)
  let scale = 1;
  const scaled = a.map((x) => {
    const product = (modQ(x) * scale) % Q;
    scale = (scale * root) % Q;
    return product;
  });
  return transform(scaled, (root * root) % Q);
}

/**
 * The inverse of {@link evaluate}: coefficients are values of the value polynomial at inverse
 * points, over n.
 */
function interpolate(values: readonly number[], root: number): number[] {
  // a_j = n^-1 root^-j sum_i v_i (root^2)^(-i j)
  const inverseRoot = inverseQ(root);
  const sums = transform(values, (inverseRoot * inverseRoot) % Q);
  let scale = inverseQ(values.length);
  return sums.map((sum) => {
    const coefficient = (sum * scale) % Q;
    scale = (scale * inverseRoot) % Q;
    return coefficient;
  });
}

const rootOf = (degree: Degree): number => powQ(GENERATOR, (Q - 1) / (2 * degree));

/** a * b in Z_q[x] / (x^n + 1). */
export function multiply(a: readonly number[], b: readonly number[]): number[] {
  const root = rootOf(a.length as Degree);
  const bValues = evaluate(b, root);
  return interpolate(
    evaluate(a, root).map((x, i) => (x * bValues[i]!) % Q),
    root,
  );
}

/** 1 / a, or undefined when a is not invertible. */
export function invert(a: readonly number[]): number[] | undefined {
  const root = rootOf(a.length as Degree);
  const values = evaluate(a, root);
  return values.includes(0) ? undefined : interpolate(values.map(inverseQ), root);
}

/** HashToPoint: SHAKE256(salt || message), 16-bit big-endian words below 61445, mod q. */
export function hashToPoint(degree: Degree, salt: Uint8Array, message: Uint8Array): number[] {
  for (let outputLength = 4 * degree; ; outputLength *= 2) {
    const hash = createHash('shake256', { outputLength });
    const stream = hash.update(salt).update(message).digest();
    const point: number[] = [];
    for (let at = 0; at < stream.length && point.length < degree; at += 2) {
      const word = stream.readUInt16BE(at);
      if (word < 61445) point.push(word % Q);
    }
    if (point.length === degree) return point;
  }
}

export const normSquared = (...polynomials: readonly (readonly number[])[]): number =>
  polynomials.flat().reduce((sum, x) => sum + x * x, 0);

/** Writes bits, most significant first. */
export class BitWriter {
  readonly #bits: number[] = [];

  write(value: number, width: number): this {
    for (let i = width - 1; i >= 0; i--) this.#bits.push((value >> i) & 1);
    return this;
  }

  /**
   * One coefficient of the compressed form, told apart into its three fields so that each can be
   * wrong.
   */
  writeCompressed(negative: boolean, low: number, high: number): this {
    this.write(negative ? 1 : 0, 1).write(low, 7);
    for (let i = 0; i < high; i++) this.#bits.push(0);
    this.#bits.push(1);
    return this;
  }

  get length(): number {
    return this.#bits.length;
  }

  /** The bytes, the last one filled up with zero bits. */
  bytes(): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(Math.ceil(this.#bits.length / 8));
    this.#bits.forEach((bit, i) => {
      out[i >> 3]! |= bit << (7 - (i & 7));
    });
    return out;
  }
}

export function compress(s2: readonly number[]): Uint8Array<ArrayBuffer> {
  const bits = new BitWriter();
  for (const x of s2) bits.writeCompressed(x < 0, Math.abs(x) & 127, Math.abs(x) >> 7);
  return bits.bytes();
}

export function concatBytes(
  ...parts: readonly (Uint8Array | readonly number[])[]
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/**
 * A detached signature in one of the three forms. Coefficients are not checked: that is the
 * verifier's task.
 */
export function encodeSignature(
  form: Form,
  salt: Uint8Array,
  s2: readonly number[],
): Uint8Array<ArrayBuffer> {
  const degree = s2.length as Degree;
  const { logn, padded } = SPEC[degree];
  if (form === 'constantTime') {
    const bits = new BitWriter();
    for (const x of s2) bits.write(x & 0xfff, 12);
    return concatBytes([0x50 + logn], salt, bits.bytes());
  }
  const signature = concatBytes([0x30 + logn], salt, compress(s2));
  if (form === 'compressed') return signature;
  if (signature.length > padded) throw new RangeError('does not fit the padded length');
  return concatBytes(signature, new Uint8Array(padded - signature.length));
}

/** s2 of a well-formed signature, for tests that change it. */
export function decodeSignature(signature: Uint8Array): { salt: Uint8Array; s2: number[] } {
  const degree: Degree = (signature[0]! & 0x0f) === 9 ? 512 : 1024;
  const salt = signature.slice(1, 41);
  const body = signature.subarray(41);
  let at = 0;
  const bit = (): number => {
    const value = (body[at >> 3]! >> (7 - (at & 7))) & 1;
    at++;
    return value;
  };
  const read = (width: number): number => {
    let value = 0;
    for (let i = 0; i < width; i++) value = 2 * value + bit();
    return value;
  };
  const s2: number[] = [];
  for (let i = 0; i < degree; i++) {
    if (signature[0]! >> 4 === 5) {
      const value = read(12);
      s2.push(value >= 2048 ? value - 4096 : value);
      continue;
    }
    const negative = bit() === 1;
    let value = read(7);
    while (bit() === 0) value += 128;
    s2.push(negative ? -value : value);
  }
  return { salt, s2 };
}

/**
 * The encoded key; coefficients are written as they are, in 14 bits, also those that are not below
 * q.
 */
export function encodePublicKey(h: readonly number[]): Uint8Array<ArrayBuffer> {
  const bits = new BitWriter();
  for (const x of h) bits.write(x, 14);
  return concatBytes([SPEC[h.length as Degree].logn], bits.bytes());
}

export function decodePublicKey(publicKey: Uint8Array): number[] {
  const degree: Degree = publicKey[0] === 9 ? 512 : 1024;
  const h: number[] = [];
  for (let i = 0; i < degree; i++) {
    let value = 0;
    for (let bit = 14 * i; bit < 14 * (i + 1); bit++) {
      value = 2 * value + ((publicKey[1 + (bit >> 3)]! >> (7 - (bit & 7))) & 1);
    }
    h.push(value);
  }
  return h;
}

/**
 * s1 = c - s2 h, centred, and the squared norm of (s1, s2): what the verifier compares with the
 * bound.
 */
export function recover(
  publicKey: Uint8Array,
  signature: Uint8Array,
  message: Uint8Array,
): { s1: number[]; s2: number[]; normSquared: number } {
  const { salt, s2 } = decodeSignature(signature);
  const degree = s2.length as Degree;
  const product = multiply(s2, decodePublicKey(publicKey));
  const s1 = hashToPoint(degree, salt, message).map((c, i) => centre(c - product[i]!));
  return { s1, s2, normSquared: normSquared(s1, s2) };
}

/**
 * The one key under which (s1, s2) is the preimage of the message's hash point; undefined when s2
 * has no inverse.
 */
export function craftPublicKey(
  s1: readonly number[],
  s2: readonly number[],
  salt: Uint8Array,
  message: Uint8Array,
  hash = hashToPoint,
): Uint8Array<ArrayBuffer> | undefined {
  const inverse = invert(s2);
  if (inverse === undefined) return undefined;
  const c = hash(s2.length as Degree, salt, message);
  const h = multiply(
    c.map((x, i) => modQ(x - s1[i]!)),
    inverse,
  );
  return encodePublicKey(h);
}

/**
 * Four integers whose squares add up to `target` (Lagrange), each at most `limit`; undefined if
 * none was found.
 */
export function fourSquares(target: number, limit: number): number[] | undefined {
  for (let a = Math.min(limit, Math.floor(Math.sqrt(target))); a >= 0; a--) {
    const afterA = target - a * a;
    for (let b = Math.min(limit, Math.floor(Math.sqrt(afterA))); b >= 0; b--) {
      const afterB = afterA - b * b;
      for (let c = Math.min(limit, Math.floor(Math.sqrt(afterB))); 2 * c * c >= afterB; c--) {
        const d = Math.sqrt(afterB - c * c);
        if (Number.isInteger(d) && d <= limit) return [a, b, c, d];
      }
      if (3 * b * b < afterA) break;
    }
  }
  return undefined;
}
