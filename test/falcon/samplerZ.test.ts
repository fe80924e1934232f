import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RCDT } from '../../scripts/generate/signTables.ts';
import { compileEntry } from '../support/assembly.ts';
import { fact } from '../support/facts.ts';
import { PlainStream, plainBaseSample, plainSamplerZ, sigmaMin } from '../support/plainSigner.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY, SHORT_RUN } from '../support/run.ts';
import { signingModule } from '../support/signingModule.ts';

const { exports, at, bytes, doubles } = await signingModule();

const SIGMA_MIN = sigmaMin(512);
const SIGMA_MAX = 1.8205;

interface Pair {
  mu: [number, number];
  sigma: number;
}

function start(label: string): Uint8Array {
  const seed = testRandom(label).bytes(56);
  bytes('A', 56).set(seed);
  exports.streamInit!(at('A'));
  return seed;
}

/** Samples in the module, as many pairs at a time as the scratch holds. */
function sample(pairs: readonly Pair[]): [number, number][] {
  const out: [number, number][] = [];
  for (let i = 0; i < pairs.length; i += 512) {
    const part = pairs.slice(i, i + 512);
    const records = doubles('A', 4 * part.length);
    part.forEach(({ mu, sigma }, k) => {
      records.set([mu[0], mu[1], 1 / sigma, 256 * SIGMA_MIN], 4 * k);
    });
    exports.samplePairs!(part.length);
    part.forEach((_, k) => void out.push([records[4 * k]!, records[4 * k + 1]!]));
  }
  return out;
}

describe('base sampler', () => {
  const base = (u: bigint) => {
    const view = new DataView(exports.memory.buffer, at('A'), 12);
    view.setBigUint64(0, u & ((1n << 64n) - 1n), true);
    view.setUint32(8, Number(u >> 64n), true);
    return exports.baseSample!();
  };

  test('the table is the half-Gaussian of deviation 1.8205', () => {
    // weights of z in 0, 1, 2 ..: exp(-z^2 / 2 sigma^2), normalised; entry i is 2^72 P(z > i)
    const weight = (z: number) => Math.exp((-z * z) / (2 * SIGMA_MAX ** 2));
    const all = Array.from({ length: 60 }, (_, z) => weight(z));
    const total = all.reduce((a, b) => a + b);
    expect(RCDT).toHaveLength(18);
    RCDT.forEach((entry, i) => {
      const tail = all.slice(i + 1).reduce((a, b) => a + b) / total;
      const expected = tail * 2 ** 72;
      // entries are sums of rounded terms: a few units, and what doubles lose here
      expect(Math.abs(Number(entry) - expected)).toBeLessThan(10 + expected * 1e-13);
    });
  });

  test('at and around every entry of the table, and at every limb border', () => {
    const top = (1n << 72n) - 1n;
    const points = new Set([0n, 1n, top, top - 1n]);
    for (const entry of RCDT) for (const d of [-1n, 0n, 1n]) points.add(entry + d);
    for (const bit of [30n, 31n, 32n, 61n, 62n, 63n, 64n, 71n]) {
      for (const d of [-1n, 0n, 1n]) points.add((1n << bit) + d);
    }
    const values = [...points];
    expect(values.length).toBeGreaterThan(60);
    for (const u of values) expect(base(u)).toBe(plainBaseSample(u));
    expect(new Set(values.map(base)).size).toBe(19);
  });

  test('equal in all but one limb', () => {
    const random = testRandom('base sampler');
    let differing = 0;
    for (let k = 0; k < 20_000; k++) {
      let u = random.pick(RCDT);
      const shift = BigInt(random.pick([0, 31, 62]));
      u ^= BigInt(random.below(1024)) << shift;
      u &= (1n << 72n) - 1n;
      if (!RCDT.includes(u)) differing++;
      if (base(u) !== plainBaseSample(u)) throw new Error(`base(${u})`);
    }
    expect(differing).toBeGreaterThan(15_000);
  });
});

// Falcon round 3, table 3.2: centre, deviation, random bytes, sample. Base samples are written
// there with their most significant byte first; the stream has them least significant first.
const VECTORS: readonly [mu: number, sigma: number, hex: string, z: number][] = [
  [-91.90471153063714, 1.7037990414754918, '0fc5442ff043d66e91d1eacac64ea5450a22941edc6c', -92],
  [-8.322564895434937, 1.7037990414754918, 'f4da0f8d8444d1a77265c2ef6f98bbbb4bee7db8d9b3', -8],
  [-19.096516109216804, 1.7035823083824078, 'db47f6d7fb9b19f25c36d6b9334d477a8bc0be68145d', -20],
  [
    -11.335543982423326,
    1.7035823083824078,
    'ae41b4f5209665c74d00dcc1a8168a7bb516b3190cb42c1ded26cd52aed770eca7dd334e0547bcc3c163ce0b',
    -12,
  ],
  [
    7.9386734193997555,
    1.6984647769450156,
    '31054166c1012780c603ae9b833cec73f2f41ca5807cc89c92158834632f9b1555',
    8,
  ],
  [-28.990850086867255, 1.6984647769450156, '737e9d68a50a06dbbc6477', -30],
  [-9.071257914091655, 1.6980782114808988, 'a98ddd14bf0bf22061d632', -10],
  [-43.88754568839566, 1.6980782114808988, '3cbf6818a68f7ab9991514', -41],
  [-58.17435547946095, 1.7010983419195522, '6f8633f5bfa5d26848668e3d5ddd46958e97630410587c', -61],
  [-43.58664906684732, 1.7010983419195522, '272bc6c25f5c5ee53f83c43a361fbc7cc91dc783e20a', -46],
  [-34.70565203313315, 1.7009387219711465, '45443c59574c2c3b07e2e1d9071e6d133dbe32754b0a', -34],
  [
    -44.36009577368896,
    1.7009387219711465,
    '6ac116ed60c258e2cbaeab728c4823e6da36e18d08da5d0cc104e21cc7fd1f5ca8d9dbb675266c928448059e',
    -44,
  ],
  [-21.783037079346236, 1.6958406126012802, '68163bc1e2cbf3e18e7426', -23],
  [-39.68827784633828, 1.6958406126012802, 'd6a1b51d76222a705a0259', -40],
  [-18.488607061056847, 1.6955259305261838, 'f0523bfaa8a394bf4ea5c10f842366fde286d6a30803', -22],
  [-48.39610939101591, 1.6955259305261838, '87bd87e63374cee62127fc6931104aab64f136a0485b', -50],
];

describe('samplerZ', () => {
  const reversed = (hex: string) => {
    const out = Buffer.from(hex, 'hex');
    for (let i = 0; i < out.length; i += 11) out.subarray(i, i + 9).reverse();
    return out;
  };

  test('the 16 test vectors of the specification, two at a time', () => {
    expect(VECTORS).toHaveLength(16);
    for (let i = 0; i < 16; i += 2) {
      const [first, second] = [VECTORS[i]!, VECTORS[i + 1]!];
      expect(second[1]).toBe(first[1]);
      const stream = Buffer.concat([reversed(first[2]), reversed(second[2])]);
      exports.streamSeek!(0);
      bytes('STREAM', 1024).fill(0);
      bytes('STREAM', stream.length).set(stream);
      const [z] = sample([{ mu: [first[0], second[0]], sigma: first[1] }]);
      expect(z).toEqual([first[3], second[3]]);
      expect(exports.streamPosition!()).toBe(stream.length);
    }
  });

  test('the samples and the use of the stream of one at a time, byte by byte', (context) => {
    const random = testRandom('pairs');
    const real = (low: number, high: number) =>
      low + ((high - low) * (random.below(2 ** 32) + random.below(2 ** 21) / 2 ** 21)) / 2 ** 32;
    const count = NIGHTLY ? 200_000 : 20_000;
    const pairs = Array.from({ length: count }, (): Pair => {
      const spread = random.pick([1, 50, 1e6]);
      return {
        mu: [real(-spread, spread), random.pick([real(-spread, spread), random.between(-9, 9)])],
        sigma: real(SIGMA_MIN, SIGMA_MAX),
      };
    });
    const stream = new PlainStream(start('pairs'));
    const ours = sample(pairs);
    pairs.forEach(({ mu, sigma }, i) => {
      const a = plainSamplerZ(stream, mu[0], 1 / sigma, SIGMA_MIN);
      const b = plainSamplerZ(stream, mu[1], 1 / sigma, SIGMA_MIN);
      if (ours[i]![0] !== a || ours[i]![1] !== b)
        throw new Error(`pair ${i}: ${ours[i]}; ${a},${b}`);
    });
    // every way through the code was taken: ties, borders, and pairs that four candidates do not
    // settle
    const { ties, buffers, candidates } = stream.seen;
    expect(ties).toBeGreaterThan(count / 500);
    expect(buffers).toBeGreaterThan(count / 20);
    expect(candidates / (2 * count)).toBeGreaterThan(1.6);
    expect(candidates / (2 * count)).toBeLessThan(1.85);
    fact(context, 'sampler', `${2 * count} samples equal, ${ties} ties, ${buffers} buffers`);
  });

  test.each([
    [0.3, 1.7, 1.5],
    [0.5, 0, SIGMA_MIN],
    [-3.999, 12.25, 1.8],
  ])('the distribution around %f and %f, deviation %f: chi-square', (muA, muB, sigma) => {
    const count = 60_000;
    start(`distribution ${muA}`);
    const samples = sample(
      Array.from({ length: count }, () => ({ mu: [muA, muB] as [number, number], sigma })),
    );
    /**
     * Chi-square of `values` against the discrete Gaussian, and the 5-sigma limit of that
     * statistic.
     */
    const chiSquare = (values: readonly number[], mu: number, deviation: number) => {
      const weights = new Map<number, number>();
      const centre = Math.round(mu);
      for (let z = centre - 30; z <= centre + 30; z++) {
        weights.set(z, Math.exp(-((z - mu) ** 2) / (2 * deviation ** 2)));
      }
      const total = [...weights.values()].reduce((a, b) => a + b);
      const seen = new Map<number, number>();
      for (const z of values) seen.set(z, (seen.get(z) ?? 0) + 1);
      let statistic = 0;
      let bins = 0;
      let restSeen = 0;
      let restExpected = 0;
      for (const [z, weight] of weights) {
        const expected = (values.length * weight) / total;
        if (expected < 10) {
          restSeen += seen.get(z) ?? 0;
          restExpected += expected;
        } else {
          statistic += ((seen.get(z) ?? 0) - expected) ** 2 / expected;
          bins++;
        }
      }
      statistic += (restSeen - restExpected) ** 2 / restExpected;
      return { statistic, limit: bins + 5 * Math.sqrt(2 * bins) };
    };
    for (const [lane, mu] of [muA, muB].entries()) {
      const values = samples.map((z) => z[lane]!);
      const right = chiSquare(values, mu, sigma);
      expect(right.statistic).toBeLessThan(right.limit);
      // control: the same samples are told from a slightly other centre, and from a slightly other
      // deviation
      const otherCentre = chiSquare(values, mu + 0.05, sigma);
      expect(otherCentre.statistic).toBeGreaterThan(otherCentre.limit);
      const otherDeviation = chiSquare(values, mu, sigma * 1.04);
      expect(otherDeviation.statistic).toBeGreaterThan(otherDeviation.limit);
    }
    // the two samples of a pair are independent: their covariance is small
    const covariance =
      samples.reduce((sum, z) => sum + (z[0]! - muA) * (z[1]! - muB), 0) / count / sigma ** 2;
    expect(Math.abs(covariance)).toBeLessThan(5 / Math.sqrt(count));
  });
});

/** The polynomial of judgeInteger.ts, and how far it is from 2^(31 - f / 2^32). */
test.skipIf(SHORT_RUN)('the approximate exponential is within its bound', async (context) => {
  const source = readFileSync(
    new URL('../../assembly/falcon/judgeInteger.ts', import.meta.url),
    'utf8',
  );
  const constants = source.match(/^const P\d: i64 = \d+;$/gm)!;
  const polynomial = source.match(/^ {2}(let )?p = P\d - .*;$/gm)!;
  expect([constants.length, polynomial.length]).toEqual([7, 6]);
  const program = `
export const HIGH: usize = memory.data(524288, 16);
export const LOW: usize = memory.data(524288, 16);
${constants.join('\n')}
export function worst(from: u32, to: u32, step: u32): f64 {
  let most: f64 = 0;
  for (let at: u64 = from; at <= <u64>to; at += step) {
    const f = <i64>at;
    ${polynomial.join('\n')}
    const high = load<f64>(HIGH + <usize>((at >> 16) << 3));
    const low = load<f64>(LOW + <usize>((at & 65535) << 3));
    most = max(most, abs(<f64>p - high * low));
  }
  return most;
}`;
  const { exports: own, at: place } = await compileEntry('real', 'integer', (path, text) =>
    path === 'assembly/test/real.ts' ? program : text,
  );
  const table = (region: string) => new Float64Array(own.memory.buffer, place(region), 65536);
  table('HIGH').forEach((_, i, all) => {
    all[i] = 2 ** (31 - i / 65536);
  });
  table('LOW').forEach((_, i, all) => {
    all[i] = 2 ** (-i / 2 ** 32);
  });
  const worst = own.worst!(0, 2 ** 32 - 1, NIGHTLY ? 1 : 251);
  expect(worst).toBeLessThan(10);
  expect(worst).toBeGreaterThan(1);
  fact(context, 'sampler without floating point', `2^-f within ${worst.toFixed(2)} of 2^-31`);
});
