/**
 * The random generator of NIST's known-answer tests: CTR_DRBG over AES-256 (SP 800-90A, 10.2.1)
 * without a derivation function, without personalisation and without reseeding.
 *
 *   state    key (32) || v (16), both zero at first
 *   block    v += 1 (big-endian, mod 2^128); AES-256-ECB(key, v)
 *   update   key || v = three blocks XOR the provided 48 bytes
 *   draw     whole blocks, cut to the length asked for; then update with zeros
 */
import { createCipheriv } from 'node:crypto';

export const DRBG_SEED_LENGTH = 48;

export type Drbg = (length: number) => Uint8Array<ArrayBuffer>;

/**
 * @returns a function that draws the next bytes of the generator started from `entropy` (48 bytes).
 */
export function createDrbg(entropy: Uint8Array): Drbg {
  if (entropy.length !== DRBG_SEED_LENGTH) throw new RangeError('the entropy is 48 bytes');
  let key: Uint8Array = new Uint8Array(32);
  let counter = 0n;

  const blocks = (count: number): Uint8Array => {
    const input = Buffer.alloc(16 * count);
    for (let i = 0; i < count; i++) {
      counter = (counter + 1n) & ((1n << 128n) - 1n);
      input.writeBigUInt64BE(counter >> 64n, 16 * i);
      input.writeBigUInt64BE(counter & ((1n << 64n) - 1n), 16 * i + 8);
    }
    return createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(input);
  };

  const update = (provided?: Uint8Array): void => {
    const mixed = Uint8Array.from(blocks(3), (byte, i) => byte ^ (provided?.[i] ?? 0));
    key = mixed.slice(0, 32);
    const v = Buffer.from(mixed.subarray(32));
    counter = (v.readBigUInt64BE(0) << 64n) | v.readBigUInt64BE(8);
  };

  update(entropy);
  return (length) => {
    const out = new Uint8Array(length);
    if (length > 0) out.set(blocks(Math.ceil(length / 16)).subarray(0, length));
    update();
    return out;
  };
}

/** The entropy every known-answer file starts from: 00 01 .. 2f. */
export function katEntropy(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: DRBG_SEED_LENGTH }, (_, i) => i);
}
