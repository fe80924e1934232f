/** Attacks on the relation (level 0): how one is run, and witnesses that are too long. */
import { expect, test } from 'vitest';
import { type Attack, BETA_SQ, craft, expectStopped, normSq, Q, s1OfNorm } from './attack.ts';

export const LONG = { timeout: 600_000 };
/** A test that the one check refuses it, and for `why`. */
export const attack = (name: string, make: () => Attack, why?: RegExp): void =>
  test(name, LONG, () => {
    const reason = expectStopped(make());
    if (why !== undefined) expect(reason).toMatch(why);
  });

/** A solution of squared norm β² + excess; ε = 0. */
export function tooLong(excess: bigint) {
  const crafted = craft(s1OfNorm(BETA_SQ + excess - 1n)); // s2 = 1
  expect(normSq(crafted.S)).toBe(BETA_SQ + excess);
  return crafted;
}

/** Monomials of squared norm β² + q: every S σ(S) is a constant, so w is zero modulo q. */
export function wrapped() {
  const s1 = new Array<bigint>(512).fill(0n);
  let left = BETA_SQ + Q - 1n;
  for (let t = 0; t < 8; t++) {
    let root = BigInt(Math.floor(Math.sqrt(Number(left))));
    while (root * root > left) root--;
    s1[t] = root;
    left -= root * root;
  }
  expect(left).toBe(0n);
  const crafted = craft(s1);
  expect(normSq(crafted.S)).toBe(BETA_SQ + Q);
  return crafted;
}
