/** Secret keys made by hand, for what an honest key generation never makes. */
import { BitWriter } from './reference.ts';

/** Encodes f, g, F as a secret key of n = 512. */
export function encode512(
  f: readonly number[],
  g: readonly number[],
  F: readonly number[],
): Uint8Array {
  const writer = new BitWriter();
  writer.write(0x59, 8);
  for (const x of [...f, ...g]) writer.write(x & 63, 6);
  for (const x of F) writer.write(x & 255, 8);
  return writer.bytes();
}

/** a + b X^256 in X^512 + 1: the Gaussian integer a + bi. */
export const gaussian = (re: number, im = 0) =>
  Array.from({ length: 512 }, (_, i) => (i === 0 ? re : i === 256 ? im : 0));

/**
 * f, g, F, G from the Gaussian integers that solve f G - g F = q, in range of the encoding, but far
 * too short a basis vector (f, g): everything about the key is right but its deviations.
 */
export function shortKey(): Uint8Array {
  const q = 12289;
  for (let a = 31; a > 24; a--) {
    for (let b = 31; b > 24; b--) {
      const [fRe, fIm, gRe, gIm] = [a, 30, -b, 29];
      const norm = fRe ** 2 + fIm ** 2;
      for (let x = -127; x <= 127; x++) {
        for (let y = -127; y <= 127; y++) {
          // G = (q + g F) / f
          const re = q + gRe * x - gIm * y;
          const im = gRe * y + gIm * x;
          const GRe = (re * fRe + im * fIm) / norm;
          const GIm = (im * fRe - re * fIm) / norm;
          if (!Number.isInteger(GRe) || !Number.isInteger(GIm)) continue;
          if (Math.max(Math.abs(GRe), Math.abs(GIm)) > 127) continue;
          return encode512(gaussian(fRe, fIm), gaussian(gRe, gIm), gaussian(x, y));
        }
      }
    }
  }
  throw new Error('no such key in range');
}
