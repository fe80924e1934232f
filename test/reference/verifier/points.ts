/** Falcon's side of the statement: public keys and HashToPoint, from its specification. */
import { createHash } from 'node:crypto';
import { FALCON_Q } from './ring.ts';

/**
 * h, coefficients in [0, p).
 *
 * @returns undefined unless the bytes are a canonical key of this degree
 */
export function publicKeyOf(bytes: Uint8Array, logn: number): number[] | undefined {
  const degree = 1 << logn;
  if (bytes.length !== 1 + (14 * degree) / 8 || bytes[0] !== logn) return undefined;
  const h: number[] = [];
  let bits = 0;
  let held = 0;
  for (const byte of bytes.subarray(1)) {
    bits = (bits << 8) | byte;
    held += 8;
    if (held < 14) continue;
    held -= 14;
    h.push(bits >> held);
    bits &= (1 << held) - 1;
  }
  return h.every((x) => x < FALCON_Q) ? h : undefined;
}

/** c, coefficients in [0, p): big-endian words of 16 bits below 5 p. */
export function pointOf(salt: Uint8Array, message: Uint8Array, logn: number): number[] {
  const degree = 1 << logn;
  for (let length = 4 * degree; ; length *= 2) {
    const hash = createHash('shake256', { outputLength: length });
    const bytes = hash.update(salt).update(message).digest();
    const c: number[] = [];
    for (let at = 0; at < length && c.length < degree; at += 2) {
      const word = bytes.readUInt16BE(at);
      if (word < 5 * FALCON_Q) c.push(word % FALCON_Q);
    }
    if (c.length === degree) return c;
  }
}

/** ρ σ_n(h) in Z_p[X]/(X^n + 1), coefficients in [0, p); packed with 40 bits for a coefficient. */
export function timesMirrored(rho: readonly number[], h: readonly number[]): number[] {
  const degree = h.length;
  const mirrored = h.map((_, j) => (j === 0 ? h[0]! : (FALCON_Q - h[degree - j]!) % FALCON_Q));
  const product = packSmall(rho.map((x) => (x + FALCON_Q) % FALCON_Q)) * packSmall(mirrored);
  const hex = product.toString(16).padStart(2 * degree * 10, '0');
  const slot = (j: number) => {
    const end = hex.length - 10 * j;
    return Number.parseInt(hex.slice(end - 10, end), 16) % FALCON_Q;
  };
  return Array.from(
    { length: degree },
    (_, j) => (slot(j) - slot(j + degree) + FALCON_Q) % FALCON_Q,
  );
}

function packSmall(list: readonly number[]): bigint {
  const hex = list.map((x) => x.toString(16).padStart(10, '0'));
  return BigInt(`0x${hex.reverse().join('')}`);
}
