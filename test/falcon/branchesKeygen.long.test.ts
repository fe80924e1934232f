/** Key generation throws candidates away in every way, and the key is still the reference's. */
import { beforeAll, describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import {
  type Candidate,
  JUDGE,
  KeygenModule,
  numberedSeed,
  SOLVE,
} from '../support/keygenModel.ts';
import { type Degree, nobleObject } from '../support/peers.ts';
import { testRandom } from '../support/random.ts';

/** Seeds (by number) whose stream holds a candidate that is refused for this cause. */
const SEEDS: readonly { degree: Degree; cause: Candidate['cause']; seed: number }[] = [
  { degree: 512, cause: 'notInvertible', seed: 10 },
  { degree: 512, cause: 'notReduced', seed: 86 },
  { degree: 512, cause: 'notReduced', seed: 93 },
  { degree: 512, cause: 'noBezout', seed: 149 },
  { degree: 512, cause: 'notShort', seed: 156 },
  { degree: 1024, cause: 'tooWide', seed: 328 },
  { degree: 1024, cause: 'notInvertible', seed: 17 },
  { degree: 1024, cause: 'notReduced', seed: 5 },
  { degree: 1024, cause: 'notReduced', seed: 49 },
  { degree: 1024, cause: 'noBezout', seed: 7 },
  { degree: 1024, cause: 'notShort', seed: 570 },
];

let m: KeygenModule;
const seen = new Map<string, number>();
beforeAll(async () => {
  m = await KeygenModule.compile();
});

describe('refusals that a seed leads to', () => {
  test.each(SEEDS)('$degree: $cause, seed $seed; the key is noble’s', ({ degree, cause, seed }) => {
    const list = m.candidates(degree, numberedSeed(seed));
    expect(list.map((candidate) => candidate.cause)).toContain(cause);
    for (const candidate of list) {
      const name = `${degree} ${candidate.cause}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    const ours = m.keygen(degree, numberedSeed(seed));
    const theirs = nobleObject(degree).keygen(numberedSeed(seed));
    expect(ours.secretKey).toEqual(theirs.secretKey);
    expect(ours.publicKey).toEqual(theirs.publicKey);
  });

  // biome-ignore format: several in a line
  const CAUSES = [
    'tooFar', 'tooSkew', 'notInvertible', 'noBezout', 'notReduced', 'notShort', 'solved',
  ];
  test('all causes but one were met, at both degrees where both can meet them', (context) => {
    for (const degree of [512, 1024]) {
      for (const cause of CAUSES) {
        expect(seen.get(`${degree} ${cause}`), `${degree} ${cause}`).toBeGreaterThan(0);
      }
    }
    expect(seen.get('1024 tooWide')).toBeGreaterThan(0);
    const counts = [...seen].map(([name, count]) => `${name} ${count}`);
    fact(context, 'candidates of key generation, by cause', counts.sort().join(', '));
  });
});

describe.each([512, 1024] as const)('Falcon-%i: a broken source of randomness', (degree) => {
  const E_INTERNAL = -10;
  const MOST = 2n ** 63n - 1n;

  /** Makes keys with another Gaussian table: 2^63 P(x = 0), then 2^63 P(x > k | x > 0). */
  function keygenWith(table: readonly bigint[]): number {
    const words = new BigUint64Array(m.memory.buffer, m.at('GAUSS'), 27);
    const original = words.slice();
    words.set(table);
    m.memory.set(numberedSeed(1), m.at('SEED'));
    const status = m.exports.keygen!(Math.log2(degree), 48);
    words.set(original);
    return status;
  }

  test.each<[string, bigint[]]>([
    ['zeros only: no sum is ever odd', [MOST, ...new Array<bigint>(26).fill(0n)]],
    // 17 or 18: too wide for n = 1024, far too long for n = 512
    ['no candidate is ever fit', [0n, ...new Array<bigint>(16).fill(MOST), MOST / 2n]],
  ])('%s: a fault, and nothing stays', (_, table) => {
    const before = m.keygen(degree, numberedSeed(1));
    expect(keygenWith(table)).toBe(E_INTERNAL);
    for (const [region, size] of [
      ['PK', 1793],
      ['SK', 2305],
    ] as const) {
      const used =
        degree === 512 ? before[region === 'PK' ? 'publicKey' : 'secretKey'].length : size;
      expect(m.memory.subarray(m.at(region), m.at(region) + used).every((x) => x === 0)).toBe(true);
    }
    const scratch = m.memory.subarray(m.at('KEYGEN'), m.at('KEYGEN') + m.at('KEYGEN_SIZE'));
    expect(scratch.every((x) => x === 0)).toBe(true);
    expect(m.keygen(degree, numberedSeed(1))).toEqual(before);
  });
});

describe('refusals that only made-up candidates meet', () => {
  const put = (degree: Degree, f: (i: number) => number, g: (i: number) => number) => {
    m.small('f', degree).set(Int8Array.from({ length: degree }, (_, i) => f(i)));
    m.small('g', degree).set(Int8Array.from({ length: degree }, (_, i) => g(i)));
  };
  const judge = (logn: number) => JUDGE[m.exports.judge!(logn)];

  test('a coefficient that the encoding cannot hold, at every place and sign', () => {
    for (const [degree, limit] of [
      [512, 32],
      [1024, 16],
    ] as const) {
      const logn = Math.log2(degree);
      for (const at of [0, 1, 15, 16, degree - 1]) {
        for (const value of [limit, -limit, 127, -127]) {
          put(
            degree,
            (i) => (i === at ? value : 0),
            (i) => Number(i === 0),
          );
          expect(judge(logn)).toBe('tooWide');
          put(
            degree,
            (i) => Number(i === 0),
            (i) => (i === at ? value : 0),
          );
          expect(judge(logn)).toBe('tooWide');
        }
      }
      put(
        degree,
        (i) => (i === 3 ? limit - 1 : 0),
        (i) => (i === 4 ? 1 - limit : 0),
      );
      expect(judge(logn)).not.toBe('tooWide');
    }
  });

  test('the norm’s bound is exact: 16822 passes on, 16823 does not', () => {
    // 12^2 * 116 = 16704; 118 = 10^2 + 4^2 + 1 + 1
    const base = (extra: readonly number[]) => (i: number) =>
      i < 58 ? (i & 1 ? 12 : -12) : (extra[i - 58] ?? 0);
    for (const degree of [512, 1024] as const) {
      const logn = Math.log2(degree);
      put(degree, base([10, 4, 1, 1]), base([]));
      expect(judge(logn)).toBe('tooSkew');
      put(degree, base([10, 4, 1, 1]), base([1]));
      expect(judge(logn)).toBe('tooFar');
      put(degree, base([]), base([10, 4, 1, 1, 1]));
      expect(judge(logn)).toBe('tooFar');
    }
  });

  test('a Bezout factor times q that is too long', () => {
    const causes = new Set<string>();
    for (const degree of [512, 1024] as const) {
      const logn = Math.log2(degree);
      const random = testRandom(`too long ${degree}`);
      for (let i = 0; i < 6; i++) {
        // resultants far beyond their words; only their residues count then
        const odd = (values: Int8Array) => {
          if ((values.reduce((sum, x) => sum + x, 0) & 1) === 0) values[0]! ^= 1;
          return values;
        };
        const wild = () => odd(Int8Array.from({ length: degree }, () => random.between(-126, 126)));
        m.small('f', degree).set(wild());
        m.small('g', degree).set(wild());
        causes.add(SOLVE[m.exports.solve!(logn)]!);
      }
    }
    expect(causes.has('tooLong')).toBe(true);
    expect(causes.has('solved')).toBe(false);
  });

  test('f that vanishes at a root mod q', () => {
    for (const degree of [512, 1024] as const) {
      const logn = Math.log2(degree);
      put(
        degree,
        () => 0,
        (i) => Number(i === 0),
      );
      expect(m.exports.invertible!(logn)).not.toBe(0);
      put(
        degree,
        (i) => Number(i === 0),
        () => 0,
      );
      expect(m.exports.invertible!(logn)).toBe(0);
    }
  });
});
