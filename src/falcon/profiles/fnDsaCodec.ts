/**
 * Encodings of the FN-DSA draft of July 2026, as in rust-fn-dsa 0.4.0 (docs/references.md), and
 * their round-3 counterparts. All numbers are packed lowest bit first:
 *
 *   public key   logn | n x 14 bits: h at psi^(2 brv(i) + 1), i = 0 .. n-1
 *   signature    0x30+logn | salt 40 | n x (sign, 7 low bits, high part in unary: 0..0 1), zeros
 *
 * with brv the reversal of logn bits, psi = 49 for n = 512 and psi = 7 for n = 1024. The round-3
 * key holds the coefficients of h, highest bit first. The round-3 signature has the same bits per
 * coefficient, the low ones highest first. So conversions are lossless, and every accepted encoding
 * is canonical.
 */
import { type FalconParams, Q } from '../params.ts';
import { decodePublicKey, decodeSignature, encodeSignature } from '../points.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Maximum magnitude of a coefficient of a signature. */
export const LIMIT = 840;
const SALT_END = 41;
const KEY_BITS = 14;
/** A primitive 2048th root of unity mod q; its square serves n = 512. */
const ROOT = 7;

/** psi^brv(k) mod q and its inverse, k = 0 .. n-1 */
interface Roots {
  readonly zetas: Uint16Array;
  readonly inverses: Uint16Array;
}

function makeRoots(logn: number): Roots {
  const psi = logn === 10 ? ROOT : ROOT * ROOT;
  const zetas = new Uint16Array(1 << logn);
  for (let k = 0, power = 1; k < zetas.length; k++) {
    let reversed = 0;
    for (let bit = 0; bit < logn; bit++) reversed |= ((k >> bit) & 1) << (logn - 1 - bit);
    zetas[reversed] = power;
    power = (power * psi) % Q;
  }
  return { zetas, inverses: zetas.map(inverseOf) };
}

const made = new Map<number, Roots>();

function rootsOf(logn: number): Roots {
  const roots = made.get(logn) ?? makeRoots(logn);
  made.set(logn, roots);
  return roots;
}

/** Coefficients in [0, q) -> values at psi^(2 brv(i) + 1), in place. */
function toValues(a: Uint16Array, logn: number): void {
  const { zetas } = rootsOf(logn);
  let k = 1;
  for (let half = a.length >> 1; half >= 1; half >>= 1) {
    for (let start = 0; start < a.length; start += 2 * half) {
      const zeta = zetas[k++]!;
      for (let i = start; i < start + half; i++) {
        const x = a[i]!;
        const y = (zeta * a[i + half]!) % Q;
        a[i] = (x + y) % Q;
        a[i + half] = (x + Q - y) % Q;
      }
    }
  }
}

/** The inverse of {@link toValues}. */
function toCoefficients(a: Uint16Array, logn: number): void {
  const { inverses } = rootsOf(logn);
  for (let half = 1; half < a.length; half *= 2) {
    let k = a.length / (2 * half);
    for (let start = 0; start < a.length; start += 2 * half) {
      const inverse = inverses[k++]!;
      for (let i = start; i < start + half; i++) {
        const x = a[i]!;
        const y = a[i + half]!;
        a[i] = (x + y) % Q;
        a[i + half] = (inverse * (x + Q - y)) % Q;
      }
    }
  }
  const scale = inverseOf(a.length);
  for (let i = 0; i < a.length; i++) a[i] = (scale * a[i]!) % Q;
}

/** Computes x^-1 mod q with Fermat's little theorem. */
function inverseOf(x: number): number {
  let result = 1;
  let square = x;
  for (let e = Q - 2; e > 0; e >>= 1) {
    if (e & 1) result = (result * square) % Q;
    square = (square * square) % Q;
  }
  return result;
}

/** @returns 14-bit values after a header byte, lowest or highest bit first */
function packKey(values: Uint16Array, logn: number, lowestFirst: boolean): Bytes {
  const out = new Uint8Array(1 + (KEY_BITS * values.length) / 8);
  out[0] = logn;
  let at = 1;
  let bits = 0; // fewer than 8 pending, then 14 more
  let count = 0;
  for (const value of values) {
    bits = lowestFirst ? bits | (value << count) : (bits << KEY_BITS) | value;
    for (count += KEY_BITS; count >= 8; at++) {
      count -= 8;
      out[at] = lowestFirst ? bits : bits >> count;
      bits = lowestFirst ? bits >> 8 : bits & ((1 << count) - 1);
    }
  }
  return out;
}

/** Reads bits, lowest bit of each byte first; zeros past the end. */
class BitReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, firstByte: number) {
    this.#bytes = bytes;
    this.#at = 8 * firstByte;
  }

  /** Returns the next bits, at most 17. */
  peek(count: number): number {
    const byte = this.#at >> 3;
    // Undefined counts as zero.
    const word =
      this.#bytes[byte]! | (this.#bytes[byte + 1]! << 8) | (this.#bytes[byte + 2]! << 16);
    return (word >> (this.#at & 7)) & ((1 << count) - 1);
  }

  take(count: number): number {
    const value = this.peek(count);
    this.#at += count;
    return value;
  }

  /** True if only zero bits are left. */
  get isDone(): boolean {
    const rest = this.#bytes.subarray((this.#at + 7) >> 3);
    return this.peek(-this.#at & 7) === 0 && rest.every((byte) => byte === 0);
  }
}

/**
 * Converts a public key of the draft to round-3 encoding.
 *
 * @param key of the length of a public key
 * @returns undefined if it is not a public key of this set
 */
export function publicKeyToRound3({ logn }: FalconParams, key: Bytes): Bytes | undefined {
  if (key[0] !== logn) return undefined;
  const reader = new BitReader(key, 1);
  const values = Uint16Array.from({ length: 1 << logn }, () => reader.take(KEY_BITS));
  if (values.some((x) => x >= Q)) return undefined;
  toCoefficients(values, logn);
  return packKey(values, logn, false);
}

/** The inverse. Returns undefined if it is not a round-3 public key of this set. */
export function publicKeyFromRound3({ name, logn }: FalconParams, key: Bytes): Bytes | undefined {
  const values = decodePublicKey(name, key);
  if (typeof values === 'string') return undefined;
  toValues(values, logn);
  return packKey(values, logn, true);
}

/**
 * Converts a signature of the draft to the padded format of round 3.
 *
 * @returns undefined if it is not the encoding of coefficients of at most 840 in magnitude
 */
export function signatureToRound3(params: FalconParams, signature: Bytes): Bytes | undefined {
  const { name, logn, lengths } = params;
  if (signature.length !== lengths.signaturePadded) return undefined;
  if (signature[0] !== 0x30 + logn) return undefined;
  const s2 = new Int16Array(1 << logn);
  const reader = new BitReader(signature, SALT_END);
  for (let i = 0; i < s2.length; i++) {
    const low = reader.take(8);
    const isNegative = (low & 1) === 1;
    // At most 6 zeros precede the one; a ninth bit ends the search.
    const high = reader.peek(8) | 256;
    const zeros = 31 - Math.clz32(high & -high);
    reader.take(zeros + 1);
    const magnitude = (low >> 1) + 128 * zeros;
    if (magnitude > LIMIT || (isNegative && magnitude === 0)) return undefined;
    s2[i] = isNegative ? -magnitude : magnitude;
  }
  // The last coefficient ends with a one, so no bit was read past the end.
  if (!reader.isDone) return undefined;
  const salt = signature.subarray(1, SALT_END);
  return encodeSignature({ parameterSet: name, form: 'padded', salt, s2 });
}

/** The inverse. Returns undefined if it is not a round-3 signature of that length and limit. */
export function signatureFromRound3(params: FalconParams, signature: Bytes): Bytes | undefined {
  const { name, logn, lengths } = params;
  if (signature.length !== lengths.signaturePadded) return undefined;
  const decoded = decodeSignature(signature);
  if (typeof decoded === 'string' || decoded.parameterSet !== name) return undefined;
  if (decoded.form === 'constantTime') return undefined;
  const out = new Uint8Array(lengths.signaturePadded);
  out[0] = 0x30 + logn;
  out.set(decoded.salt, 1);
  let bit = 8 * SALT_END;
  const put = (value: number): void => {
    out[bit >> 3]! |= value << (bit & 7);
    bit++;
  };
  for (const x of decoded.s2) {
    const magnitude = Math.abs(x);
    if (magnitude > LIMIT) return undefined;
    put(x < 0 ? 1 : 0);
    for (let i = 0; i < 7; i++) put((magnitude >> i) & 1);
    bit += magnitude >> 7;
    put(1);
  }
  return out;
}
