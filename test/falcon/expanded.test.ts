/**
 * Expanded secret keys: the same signatures, bit for bit, and nothing left after `destroy`.
 *
 * Bit-equality is a matter of security: two different short preimages of one hash point reveal the
 * key, so a host that signs the same bytes with the raw key here and the expanded key there must
 * get one signature.
 */
import { describe, expect, test } from 'vitest';
import { insideExpanded } from '../../src/falcon/keys.ts';
import { fact } from '../support/facts.ts';
import { BUILDS, SETS, testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';
import { FORMS } from '../support/reference.ts';
import { NIGHTLY, SHORT_RUN } from '../support/run.ts';

const COUNTS = NIGHTLY
  ? { 512: 100_000, 1024: 20_000 }
  : SHORT_RUN
    ? { 512: 3000, 1024: 600 }
    : { 512: 10_000, 1024: 2000 };
const SIGNATURES_PER_KEY = 200;

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  test(`${COUNTS[degree]} signatures: raw = expanded, plain = relaxed`, {
    timeout: 600_000,
  }, (context) => {
    const random = testRandom(`expanded ${degree}`);
    const [plain, relaxed] = BUILDS.map(
      ({ sets }) => sets.find((set) => set.degree === degree)!.falcon,
    );
    const count = COUNTS[degree];
    let equal = 0;
    let builds = 0;
    for (let key = 0; key < count / SIGNATURES_PER_KEY; key++) {
      const { publicKey, secretKey } = testKeys(degree, 1000 + key);
      using expanded = falcon.expandSecretKey(secretKey);
      using otherExpanded = plain!.expandSecretKey(secretKey);
      for (let i = 0; i < SIGNATURES_PER_KEY; i++) {
        const message = random.bytes(32);
        const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
        const format = FORMS[i % 3]!;
        const raw = relaxed!.sign(message, secretKey, { format, testSeed });
        const fast = falcon.sign(message, expanded, { format, testSeed });
        if (Buffer.compare(raw, fast) !== 0) expect.fail(`key ${key}, signature ${i} differs`);
        equal++;
        if (i % 4 === 0) {
          const other =
            i % 8 === 0
              ? plain!.sign(message, secretKey, { format, testSeed })
              : plain!.sign(message, otherExpanded, { format, testSeed });
          if (Buffer.compare(raw, other) !== 0) expect.fail(`key ${key}, ${i}: builds differ`);
          builds++;
        }
        if (i === 0) expect(falcon.verify(fast, message, publicKey)).toBe(true);
      }
    }
    expect(equal).toBe(count);
    fact(
      context,
      'raw and expanded keys',
      `Falcon-${degree}: ${equal} signatures bit-equal, ${builds} of them also between the plain and the relaxed build`,
    );
  });

  test('without a given seed every signature is another one, and valid', () => {
    const { publicKey, secretKey } = testKeys(degree);
    using expanded = falcon.expandSecretKey(secretKey);
    const message = new Uint8Array([1, 2, 3]);
    const signatures = new Set<string>();
    for (const key of [secretKey, expanded]) {
      for (let i = 0; i < 20; i++) {
        const signature = falcon.sign(message, key);
        expect(falcon.verify(signature, message, publicKey)).toBe(true);
        signatures.add(Buffer.from(signature.subarray(1, 41)).toString('hex'));
      }
    }
    expect(signatures.size).toBe(40);
  });

  test('destroy: twice is allowed, use is not, `using` does it too', () => {
    const { secretKey } = testKeys(degree);
    const expanded = falcon.expandSecretKey(secretKey);
    expect(expanded.destroyed).toBe(false);
    expect(expanded.parameterSet).toBe(falcon.name);
    expanded.destroy();
    expanded.destroy();
    expect(expanded.destroyed).toBe(true);
    expect(() => falcon.sign(new Uint8Array(1), expanded)).toThrow(TypeError);
    let kept: typeof expanded;
    {
      using scoped = falcon.expandSecretKey(secretKey);
      kept = scoped;
    }
    expect(kept.destroyed).toBe(true);
    expect(() => falcon.sign(new Uint8Array(1), kept)).toThrow(TypeError);
  });

  test('destroy overwrites the bytes, it does not only forget them', () => {
    const expanded = falcon.expandSecretKey(testKeys(degree).secretKey);
    const inner = insideExpanded(expanded)!.expanded;
    expect(inner.length).toBeGreaterThan(degree * 8);
    expect(inner.filter((byte) => byte !== 0).length).toBeGreaterThan(inner.length / 2);
    expanded.destroy();
    expect(inner.every((byte) => byte === 0)).toBe(true);
  });

  test('an expanded key does not show its secrets', () => {
    using expanded = falcon.expandSecretKey(testKeys(degree).secretKey);
    expect(JSON.stringify(expanded).length).toBeLessThan(200);
    const own = Reflect.ownKeys(expanded).map((name) => Reflect.get(expanded, name));
    const bytes = own.filter((value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer);
    expect(bytes).toEqual([]);
    // A copy by value (a message to a thread, a database) carries nothing over, and does not sign.
    const clone = structuredClone(expanded);
    expect(JSON.stringify(clone).length).toBeLessThan(200);
    expect(() => falcon.sign(new Uint8Array(1), clone)).toThrow(TypeError);
  });

  test('the caller’s secret key is neither changed nor kept', () => {
    const { publicKey, secretKey } = testKeys(degree);
    const copy = Uint8Array.from(secretKey);
    using expanded = falcon.expandSecretKey(copy);
    expect(copy).toEqual(secretKey);
    copy.fill(0);
    const signature = falcon.sign(new Uint8Array(5), expanded);
    expect(falcon.verify(signature, new Uint8Array(5), publicKey)).toBe(true);
  });

  test('of the other parameter set, or of nothing: refused at once', () => {
    const other = SETS.find((set) => set.degree !== degree)!;
    using foreign = other.falcon.expandSecretKey(testKeys(other.degree).secretKey);
    expect(() => falcon.sign(new Uint8Array(1), foreign)).toThrow(TypeError);
    expect(() => falcon.expandSecretKey(testKeys(other.degree).secretKey)).toThrow(RangeError);
    expect(() => falcon.expandSecretKey('secret' as never)).toThrow(TypeError);
    const lookalike = { parameterSet: falcon.name, destroyed: false, destroy: () => undefined };
    expect(() => falcon.sign(new Uint8Array(1), lookalike as never)).toThrow(TypeError);
  });
});
