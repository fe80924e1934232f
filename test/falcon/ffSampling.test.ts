/** Expanded keys and ffSampling against the plain recursion of the specification, bit for bit. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { falconOf, testKeys } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';
import {
  type Basis,
  inverseSigma,
  PlainStream,
  plainAdd,
  plainExpand,
  plainFfSampling,
  plainFft,
  plainIfft,
  plainMultiply,
  plainSamplerZ,
  sigmaMin,
} from '../support/plainSigner.ts';
import { testRandom } from '../support/random.ts';
import {
  centre,
  decodePublicKey,
  decodeSignature,
  hashToPoint,
  multiply,
  normSquared,
  SPEC,
} from '../support/reference.ts';
import { sameDoubles, signingModule } from '../support/signingModule.ts';

const { exports, at, bytes, doubles } = await signingModule();

/** f, g, F from the encoding, G = h F mod q. */
function decodeBasis(degree: Degree, secretKey: Uint8Array, publicKey: Uint8Array): Basis {
  let at = 8;
  const next = (bits: number) =>
    Array.from({ length: degree }, () => {
      let x = 0;
      for (let b = 0; b < bits; b++, at++)
        x = 2 * x + ((secretKey[at >> 3]! >> (7 - (at & 7))) & 1);
      return x >= 2 ** (bits - 1) ? x - 2 ** bits : x;
    });
  const small = degree === 512 ? 6 : 5;
  const f = next(small);
  const g = next(small);
  const F = next(8);
  expect(at).toBe(8 * secretKey.length);
  return { f, g, F, G: multiply(decodePublicKey(publicKey), F).map(centre) };
}

describe.each([512, 1024] as const)('Falcon-%i', (degree) => {
  const logn = SPEC[degree].logn;
  const falcon = falconOf(degree);
  const keys = [0, 1].map((index) => testKeys(degree, index));

  test.each([0, 1])('key %i: the expanded key', (index) => {
    const { secretKey, publicKey } = keys[index]!;
    const basis = decodeBasis(degree, secretKey, publicKey);
    const plain = plainExpand(basis);
    bytes('SK', secretKey.length).set(secretKey);
    expect(exports.expandSecretKey!(logn)).toBe(0);
    const expanded = doubles('EXPANDED', (logn + 3) * degree);
    expect(sameDoubles(expanded.slice(0, degree), plain.b01)).toBe(true);
    expect(sameDoubles(expanded.slice(degree, 2 * degree), plain.b11)).toBe(true);
    expect(sameDoubles(expanded.slice(2 * degree), plain.tree)).toBe(true);
    // D's product is the lattice's determinant: the leaves know of q, twice each, once for every
    // dimension
    const leaves: number[] = [];
    const collect = (tree: readonly number[], n: number): void => {
      if (n === 2) {
        leaves.push(tree[2]!, tree[3]!);
        return;
      }
      const half = (tree.length - n) / 2;
      collect(tree.slice(n, n + half), n / 2);
      collect(tree.slice(n + half), n / 2);
    };
    collect(plain.tree, degree);
    expect(leaves).toHaveLength(degree);
    const logs = leaves.map((leaf) => 2 * Math.log(leaf / inverseSigma(degree)));
    expect(logs.reduce((a, b) => a + b)).toBeCloseTo((degree / 2) * 2 * Math.log(12289), 6);
    // and every deviation suits the sampler
    for (const leaf of leaves) {
      expect(1 / leaf).toBeGreaterThanOrEqual(sigmaMin(degree));
      expect(1 / leaf).toBeLessThanOrEqual(1.8205);
    }
  });

  test('whole signatures', (context) => {
    const random = testRandom(`plain signer ${degree}`);
    const count = 3;
    for (let k = 0; k < count; k++) {
      const { secretKey, publicKey } = keys[k % 2]!;
      const { b00, b01, b10, b11, tree } = plainExpand(decodeBasis(degree, secretKey, publicKey));
      const message = random.bytes(30);
      const salt = random.bytes(40);
      const samplerSeed = random.bytes(48);
      const signature = falcon.sign(message, secretKey, { testSeed: { salt, samplerSeed } });

      const c = hashToPoint(degree, salt, message);
      const cFft = plainFft(c);
      const t0 = plainMultiply(cFft, b11).map((x) => x * (1 / 12289));
      const t1 = plainMultiply(cFft, b01).map((x) => x * -(1 / 12289));
      const seeds = createHash('shake256', { outputLength: 56 }).update(samplerSeed).digest();
      const stream = new PlainStream(new Uint8Array(seeds));
      const sigma = sigmaMin(degree);
      const [z0, z1] = plainFfSampling(t0, t1, tree, (mu, inverse) =>
        plainSamplerZ(stream, mu, inverse, sigma),
      );
      const rows = (x: Float64Array, y: Float64Array) =>
        Array.from(plainIfft(plainAdd(plainMultiply(z0, x), plainMultiply(z1, y))), Math.round);
      const s1 = rows(b00, b10).map((v, i) => c[i]! - v);
      const s2 = rows(b01, b11).map((v) => -v);
      expect(normSquared(s1, s2)).toBeLessThanOrEqual(SPEC[degree].betaSquared);
      expect(decodeSignature(signature).s2).toEqual(s2.map((x) => x + 0));
    }
    fact(context, 'plain signer', `Falcon-${degree}: ${count} signatures equal`);
  });

  test('ffSampling at every degree from 4 on', () => {
    // the first expanded key serves as a source of trees: the left spine has one of every degree
    const { secretKey } = keys[0]!;
    bytes('SK', secretKey.length).set(secretKey);
    exports.expandSecretKey!(logn);
    const random = testRandom(`subtrees ${degree}`);
    const start = (exports.treeOffset!(logn) - at('EXPANDED')) / 8;
    const expanded = doubles('EXPANDED', (logn + 3) * degree).slice();
    let offset = start;
    for (let l = logn; l >= 2; l--) {
      const n = 1 << l;
      const tree = Array.from(expanded.subarray(offset, offset + n * (l + 1)));
      offset += n; // the left child
      const target = () => Float64Array.from({ length: n }, () => random.between(-1e6, 1e6) / 1e3);
      const t0 = target();
      const t1 = target();
      const seed = random.bytes(56);
      bytes('A', 56).set(seed);
      exports.streamInit!(at('A'));
      doubles('EXPANDED', expanded.length).set(tree, (exports.treeOffset!(l) - at('EXPANDED')) / 8);
      doubles('A', n).set(t0);
      doubles('B', n).set(t1);
      exports.sampleTree!(at('A'), at('B'), l, at('SIGN_TMP'), 256 * sigmaMin(degree));
      const stream = new PlainStream(seed);
      const [z0, z1] = plainFfSampling(t0, t1, tree, (mu, inverse) =>
        plainSamplerZ(stream, mu, inverse, sigmaMin(degree)),
      );
      expect(sameDoubles(doubles('A', n), z0)).toBe(true);
      expect(sameDoubles(doubles('B', n), z1)).toBe(true);
      doubles('EXPANDED', expanded.length).set(expanded);
    }
  });
});
