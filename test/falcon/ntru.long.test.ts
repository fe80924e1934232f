/** The keys themselves: the NTRU equation, the sampler, the acceptance tests. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { KeygenModule, negacyclic, numberedSeed } from '../support/keygenModel.ts';
import type { Degree } from '../support/peers.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY } from '../support/run.ts';

let m: KeygenModule;
beforeAll(async () => {
  m = await KeygenModule.compile();
});

const DEGREES: readonly Degree[] = [512, 1024];

describe.each(DEGREES)('degree %i', (degree) => {
  const logn = Math.log2(degree);

  test('f G - g F = q over the integers, within all bounds', (context) => {
    const count = NIGHTLY ? 200 : 20;
    for (let i = 0; i < count; i++) {
      const { f, g, F, G } = m.candidates(degree, numberedSeed(i)).at(-1)!;
      const fG = negacyclic(f, G);
      const gF = negacyclic(g, F);
      const difference = fG.map((x, j) => x - gF[j]!);
      expect(difference[0]).toBe(12289);
      expect(difference.slice(1).every((x) => x === 0)).toBe(true);

      const limit = degree === 512 ? 31 : 15;
      expect([...f, ...g].every((x) => Math.abs(x) <= limit)).toBe(true);
      expect([...F, ...G].every((x) => x >= -127)).toBe(true);
      expect([...f, ...g].reduce((sum, x) => sum + x * x, 0)).toBeLessThan(16823);
      expect([f, g].every((a) => (a.reduce((sum, x) => sum + x, 0) & 1) === 1)).toBe(true);
    }
    fact(context, 'NTRU equation over the integers', `Falcon-${degree}: ${count} keys`);
  });

  test('h f = g mod q, and G comes back from f, g, F', () => {
    for (let i = 0; i < 5; i++) {
      const { f, g, G } = m.candidates(degree, numberedSeed(i)).at(-1)!;
      m.small('G', degree).fill(99);
      expect(m.exports.complete!(logn)).toBe(0);
      expect(m.small('G', degree)).toEqual(G);
      const h = new Uint16Array(m.exports.memory.buffer, m.at('A'), degree);
      expect(h.every((x) => x < 12289)).toBe(true);
      const sums = new Float64Array(degree);
      for (let a = 0; a < degree; a++) {
        for (let b = 0; b < degree; b++) {
          const at = (a + b) % degree;
          sums[at]! += a + b < degree ? h[a]! * f[b]! : -h[a]! * f[b]!;
        }
      }
      expect(sums.every((x, j) => (x - g[j]!) % 12289 === 0)).toBe(true);
    }
  });

  test('candidates are drawn from the stream as the reference draws them', () => {
    const words = gaussianWords();
    expect(words).toHaveLength(27);
    for (let i = 0; i < 3; i++) {
      const seed = testRandom(`stream ${degree} ${i}`).bytes(48);
      const stream = byteStream(seed);
      const list = m.candidates(degree, seed);
      for (const { f, g } of list) {
        expect(f).toEqual(sampleByModel(degree, stream, words));
        expect(g).toEqual(sampleByModel(degree, stream, words));
      }
    }
  });

  test('the orthogonalised norm is that of its definition', () => {
    for (let i = 0; i < 3; i++) {
      const { f, g } = m.candidates(degree, numberedSeed(i)).at(-1)!;
      const got = m.exports.skewness!(logn);
      let sum = 0;
      for (let j = 0; j < degree; j++) {
        const angle = (Math.PI * (2 * j + 1)) / degree / 1;
        sum += 1 / (valueSq(f, angle) + valueSq(g, angle));
      }
      const want = (12289 * 12289 * sum) / degree;
      expect(Math.abs(got / want - 1)).toBeLessThan(1e-9);
      expect(got).toBeLessThan(16822.4121);
    }
  });

  test('scratch is cleared', () => {
    m.keygen(degree, numberedSeed(1));
    const clear = (region: string, size: number) =>
      m.memory.subarray(m.at(region), m.at(region) + size).every((x) => x === 0);
    expect(clear('KEYGEN', m.at('KEYGEN_SIZE'))).toBe(true);
    expect(clear('SHAKE', 256)).toBe(true);
    expect(m.exports.publicKey!(logn)).toBe(0);
    expect(clear('KEYGEN', m.at('KEYGEN_SIZE'))).toBe(true);
    // completing a key (as for signing) leaves nothing but its outputs: f, g, F, G here, and h
    m.exports.decodeSecretKey!(logn, m.at('f'), m.at('g'), m.at('F'));
    expect(m.exports.complete!(logn)).toBe(0);
    for (const region of ['f', 'g', 'F', 'G']) m.small(region, degree).fill(0);
    expect(clear('KEYGEN', m.at('KEYGEN_SIZE'))).toBe(true);
  });
});

describe('secret keys are judged', () => {
  const OK = 0;
  const E_SK_HEADER = -7;
  const E_SK_RANGE = -8;
  const E_SK_INVALID = -9;

  test.each(DEGREES)(
    'degree %i: header, forbidden values, keys that do not hold together',
    (degree) => {
      const logn = Math.log2(degree);
      const bits = degree === 512 ? 6 : 5;
      const { publicKey, secretKey } = m.keygen(degree, numberedSeed(2));
      const sk = () => m.memory.subarray(m.at('SK'), m.at('SK') + secretKey.length);
      const judge = (change: (bytes: Uint8Array) => void): number => {
        sk().set(secretKey);
        change(sk());
        const status = m.exports.publicKey!(logn);
        const pk = m.memory.subarray(m.at('PK'), m.at('PK') + publicKey.length);
        if (status === OK) expect(pk).toEqual(publicKey);
        else expect(pk.every((x) => x === 0)).toBe(true);
        return status;
      };
      expect(judge(() => {})).toBe(OK);
      for (const header of [0, logn, 0x50, 0x50 + (logn ^ 3), 0xff]) {
        expect(judge((bytes) => bytes.fill(header, 0, 1))).toBe(E_SK_HEADER);
      }
      // coefficient j of f or g at bit j * bits behind the header
      const write = (bytes: Uint8Array, at: number, width: number, value: number): void => {
        for (let i = 0; i < width; i++) {
          const bit = 8 + at + i;
          const mask = 0x80 >> (bit & 7);
          if ((value >> (width - 1 - i)) & 1) bytes[bit >> 3]! |= mask;
          else bytes[bit >> 3]! &= ~mask;
        }
      };
      for (const j of [0, 1, 7, degree - 1, degree, 2 * degree - 1]) {
        expect(judge((bytes) => write(bytes, j * bits, bits, 1 << (bits - 1)))).toBe(E_SK_RANGE);
      }
      for (const j of [0, 5, degree - 1]) {
        expect(judge((bytes) => write(bytes, 2 * degree * bits + 8 * j, 8, 0x80))).toBe(E_SK_RANGE);
      }
      // f = 0 and f = 1 + X + .. (zero at no root, but no partner of g and F)
      const setAll = (bytes: Uint8Array, value: number) => {
        for (let j = 0; j < degree; j++) write(bytes, j * bits, bits, value);
      };
      expect(judge((bytes) => setAll(bytes, 0))).toBe(E_SK_INVALID);
      expect(judge((bytes) => setAll(bytes, 1))).toBe(E_SK_INVALID);
      // every single bit of a few places of f, g, F
      const random = testRandom(`key bits ${degree}`);
      for (let i = 0; i < 200; i++) {
        const bit = random.between(8, 8 * secretKey.length - 1);
        const status = judge((bytes) => {
          bytes[bit >> 3]! ^= 0x80 >> (bit & 7);
        });
        expect([E_SK_RANGE, E_SK_INVALID]).toContain(status);
      }
    },
  );

  test('encoding refuses what it cannot hold', () => {
    const random = testRandom('encode');
    for (const [degree, limit] of [
      [512, 31],
      [1024, 15],
    ] as const) {
      const logn = Math.log2(degree);
      const length = m.exports.secretKeyLength!(logn);
      expect(length).toBe(degree === 512 ? 1281 : 2305);
      const put = (region: string, bound: number) => {
        const values = Int8Array.from({ length: degree }, () => random.between(-bound, bound));
        m.small(region, degree).set(values);
        return values;
      };
      const [f, g, F] = [put('f', limit), put('g', limit), put('F', 127)];
      const encode = () => m.exports.encodeSecretKey!(logn, m.at('f'), m.at('g'), m.at('F'));
      expect(encode()).toBe(OK);
      expect(m.exports.decodeSecretKey!(logn, m.at('A'), m.at('B'), m.at('C'))).toBe(OK);
      expect([m.small('A', degree), m.small('B', degree), m.small('C', degree)]).toEqual([f, g, F]);
      for (const [region, value] of [
        ['f', limit + 1],
        ['g', -limit - 1],
        ['F', -128],
      ] as const) {
        const at = random.below(degree);
        const kept = m.small(region, degree)[at]!;
        m.small(region, degree)[at] = value;
        expect(encode()).toBe(E_SK_RANGE);
        expect(m.memory.subarray(m.at('SK'), m.at('SK') + length).every((x) => x === 0)).toBe(true);
        m.small(region, degree)[at] = kept;
      }
      expect(encode()).toBe(OK);
    }
  });
});

/** |a(e^(i angle))|^2 */
function valueSq(a: Int8Array, angle: number): number {
  let re = 0;
  let im = 0;
  a.forEach((x, k) => {
    re += x * Math.cos(k * angle);
    im += x * Math.sin(k * angle);
  });
  return re * re + im * im;
}

/** The Gaussian's words as the generated table lists them. */
function gaussianWords(): bigint[] {
  const text = readFileSync(
    new URL('../../assembly/falcon/keygenTables.gen.ts', import.meta.url),
    'utf8',
  );
  const body = text.slice(text.indexOf('GAUSS: usize'));
  return [...body.slice(body.indexOf('([') + 2, body.indexOf('],')).matchAll(/\d+/g)].map(
    ([word]) => BigInt(word),
  );
}

function byteStream(seed: Uint8Array): () => bigint {
  const bytes = createHash('shake256', { outputLength: 1 << 22 })
    .update(seed)
    .digest();
  let at = 0;
  return () => {
    const word = bytes.readBigUInt64LE(at);
    at += 8;
    return word;
  };
}

/** The reference's sampler, word by word. */
function sampleByModel(degree: Degree, next: () => bigint, words: readonly bigint[]): Int8Array {
  const low63 = (1n << 63n) - 1n;
  const one = (): number => {
    const first = next();
    const second = next() & low63;
    if ((first & low63) < words[0]!) return 0;
    const magnitude = words.findIndex((word, k) => k > 0 && second >= word);
    return first >> 63n ? -magnitude : magnitude;
  };
  const coefficient = () => (degree === 512 ? one() + one() : one());
  const f = new Int8Array(degree);
  let sum = 0;
  for (let i = 0; i < degree - 1; i++) {
    f[i] = coefficient();
    sum += f[i]!;
  }
  do f[degree - 1] = coefficient();
  while (((sum + f[degree - 1]!) & 1) === 0);
  return f;
}
