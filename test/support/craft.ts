/**
 * Signatures no honest signer makes: chosen s2 and s1, with the one key under which they are a
 * preimage. See the head of {@link file://./reference.ts}.
 */
import type { Degree } from './peers.ts';
import { testRandom } from './random.ts';
import {
  craftPublicKey,
  encodeSignature,
  type Form,
  fourSquares,
  hashToPoint,
  normSquared,
  SPEC,
} from './reference.ts';

export interface Crafted {
  publicKey: Uint8Array;
  message: Uint8Array;
  salt: Uint8Array;
  s1: number[];
  s2: number[];
  normSquared: number;
  signature(form: Form): Uint8Array;
}

/** Chosen coefficients of s1 and s2, by position; the rest is random and small. */
export interface Chosen {
  s1?: Readonly<Record<number, number>>;
  s2?: Readonly<Record<number, number>>;
}

/**
 * A key, a message and a signature whose squared norm is exactly `target`.
 *
 * The last eight coefficients of s1 take up what the others leave; everything else is small: |s2| <
 * 128 unless chosen, so that all three forms have room for it.
 *
 * @param hash how salt and message become a point; default that of round 3
 * @throws Error when the chosen coefficients cannot be completed to the target
 */
export function craft(
  degree: Degree,
  label: string,
  target: number,
  chosen: Chosen = {},
  hash = hashToPoint,
): Crafted {
  const random = testRandom(`crafted ${degree} ${label}`);
  const message = random.bytes(20);
  const salt = random.bytes(40);
  for (let attempt = 0; attempt < 50; attempt++) {
    const s2 = Array.from({ length: degree }, (_, i) => chosen.s2?.[i] ?? random.between(-60, 60));
    const s1 = Array.from({ length: degree }, (_, i) => chosen.s1?.[i] ?? random.between(-60, 60));
    if (!complete(s1, target - normSquared(s2))) continue;
    const publicKey = craftPublicKey(s1, s2, salt, message, hash);
    if (publicKey === undefined) continue; // this s2 has no inverse
    return {
      publicKey,
      message,
      salt,
      s1,
      s2,
      normSquared: normSquared(s1, s2),
      signature: (form) => encodeSignature(form, salt, s2),
    };
  }
  throw new Error(`nothing crafted for "${label}"`);
}

/** Sets the last eight coefficients so that the squared norm of s1 is `target`. */
function complete(s1: number[], target: number): boolean {
  s1.fill(0, -8);
  let rest = target - normSquared(s1);
  if (rest < 0) return false;
  for (let i = s1.length - 8; i < s1.length - 4; i++) {
    if (rest <= 4 * 5000 ** 2) break;
    s1[i] = Math.min(6144, Math.floor(Math.sqrt(rest)) - 50);
    rest -= s1[i]! ** 2;
  }
  const squares = fourSquares(rest, 6144);
  if (squares === undefined) return false;
  s1.splice(-4, 4, ...squares);
  return normSquared(s1) === target;
}

/** The bound itself: a squared norm of exactly this much is still a signature. */
export const boundOf = (degree: Degree): number => SPEC[degree].betaSquared;
