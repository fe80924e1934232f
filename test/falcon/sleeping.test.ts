/**
 * "Do Not Disturb a Sleeping Falcon" (ePrint 2024/1709): points at which an order of operations
 * that rounds differently gives another signature.
 *
 * The first two centres that are sampled are coefficients n/2 - 1 and n - 1 of c f / q, f of the
 * key: fractions with denominator q. With one point in q/2, one of them is an integer. What is
 * computed is then that integer but for rounding, which decides its floor, and so the sample and
 * all that follow it. The inputs below were found by this: of the first 298 000 points of
 * Falcon-512, 36 have such a centre, of the first 211 000 of Falcon-1024, 30; 9 each of these
 * differ in one of the orders of `plainSign`.
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { BUILDS, testKeys } from '../support/ours.ts';
import { type Order, plainBasis, plainExpand, plainSign } from '../support/plainSigner.ts';
import {
  decodeSignature,
  hashToPoint,
  modQ,
  multiply,
  normSquared,
  SPEC,
} from '../support/reference.ts';

/** Numbers of the inputs, and the orders in which their signatures differ. */
const INPUTS: Record<512 | 1024, readonly (readonly [number, readonly Order[]])[]> = {
  512: [
    [71846, ['division']],
    [99808, ['division']],
    [125389, ['quotient first', 'division']],
    [150184, ['quotient first', 'division']],
    [176589, ['quotient first']],
  ],
  1024: [
    [44430, ['quotient first']],
    [54203, ['division']],
    [80525, ['quotient first', 'division']],
    [124750, ['quotient first', 'division']],
    [202039, ['quotient first', 'division']],
  ],
};

const OTHERS: readonly Order[] = ['quotient first', 'division'];

const bytesOf = (label: string, outputLength: number): Uint8Array =>
  new Uint8Array(createHash('shake256', { outputLength }).update(label).digest());

/** What is signed, and the coins. */
function inputOf(degree: 512 | 1024, number: number) {
  const label = `sleeping ${degree} ${number}`;
  return {
    message: new TextEncoder().encode(label),
    salt: bytesOf(`${label} salt`, 40),
    samplerSeed: bytesOf(`${label} sampler`, 48),
  };
}

const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  new Blob([bytes.slice()]).stream();

describe.each([512, 1024] as const)('Falcon-%i', (degree) => {
  const { secretKey, publicKey } = testKeys(degree);
  const basis = plainBasis(secretKey, publicKey);
  const plainKey = plainExpand(basis);

  test.for(INPUTS[degree])('input %i', async ([number, orders]) => {
    const { message, salt, samplerSeed } = inputOf(degree, number);
    const c = hashToPoint(degree, salt, message);
    const centres = multiply(c, basis.f.map(modQ));
    expect([centres[degree / 2 - 1], centres[degree - 1]]).toContain(0);

    const plain = plainSign(plainKey, c, samplerSeed);
    const others = OTHERS.map((order) => ({
      order,
      ...plainSign(plainKey, c, samplerSeed, order),
    }));
    const bound = SPEC[degree].betaSquared;
    for (const { s1, s2 } of [plain, ...others]) {
      expect(normSquared(s1, s2)).toBeLessThanOrEqual(bound);
    }
    const differing = others.filter(({ s2 }) => s2.some((x, i) => x !== plain.s2[i]));
    expect(differing.map(({ order }) => order)).toEqual(orders);

    const testSeed = { salt, samplerSeed };
    for (const { sets } of BUILDS) {
      const { falcon } = sets.find((set) => set.degree === degree)!;
      using expanded = falcon.expandSecretKey(secretKey);
      for (const key of [secretKey, expanded]) {
        for (const signature of [
          falcon.sign(message, key, { testSeed }),
          await falcon.signStream(streamOf(message), key, { testSeed }),
        ]) {
          expect(decodeSignature(signature).s2).toEqual(plain.s2);
        }
      }
    }
  });
});
