import { describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { falconOf, testKeys } from '../support/ours.ts';
import {
  inverseSigma,
  PlainStream,
  plainBasis,
  plainExpand,
  plainFfSampling,
  plainSamplerZ,
  plainSign,
  sigmaMin,
} from '../support/plainSigner.ts';
import { testRandom } from '../support/random.ts';
import { decodeSignature, hashToPoint, normSquared, SPEC } from '../support/reference.ts';
import { sameDoubles, signingModule } from '../support/signingModule.ts';

const { exports, at, bytes, doubles } = await signingModule();

describe.each([512, 1024] as const)('Falcon-%i', (degree) => {
  const logn = SPEC[degree].logn;
  const falcon = falconOf(degree);
  const keys = [0, 1].map((index) => testKeys(degree, index));

  test.each([0, 1])('key %i: the expanded key', (index) => {
    const { secretKey, publicKey } = keys[index]!;
    // All bits of the key are those of f, g and F.
    const small = degree === 512 ? 6 : 5;
    expect(8 + degree * (2 * small + 8)).toBe(8 * secretKey.length);
    const plain = plainExpand(plainBasis(secretKey, publicKey));
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
      const key = plainExpand(plainBasis(secretKey, publicKey));
      const message = random.bytes(30);
      const salt = random.bytes(40);
      const samplerSeed = random.bytes(48);
      const signature = falcon.sign(message, secretKey, { testSeed: { salt, samplerSeed } });

      const c = hashToPoint(degree, salt, message);
      const { s1, s2 } = plainSign(key, c, samplerSeed);
      expect(normSquared(s1, s2)).toBeLessThanOrEqual(SPEC[degree].betaSquared);
      expect(decodeSignature(signature).s2).toEqual(s2);
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
