/** The slow prover's foundations: streams, samplers, digits, codes, norm-filling polynomial. */
import { describe, expect, test } from 'vitest';
import { HIDDEN_TWICE } from '../../reference/hiddenRows.ts';
import { formsOfX, scalarsOf } from '../../reference/prover/behind.ts';
import {
  alpha,
  amortising,
  collapse,
  cosine,
  JL_ROWS,
  keyRow,
  passesNormTest,
  projectionOf,
  rho,
  scalars,
  tau,
} from '../../reference/prover/challenges.ts';
import { pack } from '../../reference/prover/encode.ts';
import { frequencies, gaussianField, hasCode } from '../../reference/prover/gaussian.ts';
import { quartersOf } from '../../reference/prover/hidden.ts';
import { readParameters } from '../../reference/prover/parameters.ts';
import {
  BETA_SQ,
  centred,
  constant,
  D,
  digits,
  equal,
  inner,
  innerZ,
  inverse,
  mod,
  multiply,
  multiplyLarge,
  multiplyZ,
  normSq,
  type Poly,
  Q,
  sigma,
  timesX,
} from '../../reference/prover/ring.ts';
import { cutLow, sentOf, signedNormSq } from '../../reference/prover/steps.ts';
import { chacha8 } from '../../reference/prover/streams.ts';
import { epsilon, squareRoot, strideParts } from '../../reference/prover/witness.ts';
import * as verifier from '../../reference/verifier/challenges.ts';
import { tauOf } from '../../reference/verifier/level0.ts';
import { chachaBlock, STREAM, stream } from '../../reference/verifier/streams.ts';
import { hex } from '../../support/hex.ts';
import { testRandom } from '../../support/random.ts';
import { bitsOf } from './bits.ts';

const random = testRandom('reference primitives');
const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const integer = (bits: number): bigint =>
  BigInt(`0x${hex(random.bytes(16))}`) % (1n << BigInt(bits));
const polyOf = (bits: number): Poly =>
  Array.from({ length: D }, () => (random.below(2) === 0 ? integer(bits) : -integer(bits)));

function schoolbook(a: readonly bigint[], b: readonly bigint[]): bigint[] {
  const n = a.length;
  const out = new Array<bigint>(n).fill(0n);
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) out[(i + j) % n]! += i + j < n ? x * y : -x * y;
  }
  return out;
}

describe('arithmetic', () => {
  test('products by one big product are products by the definition', () => {
    for (const [x, y] of [
      [44, 44],
      [17, 60],
      [1, 1],
    ] as const) {
      const a = [polyOf(x), polyOf(x), polyOf(x)];
      const b = [polyOf(y), polyOf(y), polyOf(y)];
      expect(multiplyZ(a[0]!, b[0]!)).toEqual(schoolbook(a[0]!, b[0]!));
      const sum = a.map((p, i) => schoolbook(p, b[i]!));
      expect(innerZ(a, b)).toEqual(sum[0]!.map((c, i) => c + sum[1]![i]! + sum[2]![i]!));
    }
    const [a, b] = [0, 1].map(() => Array.from({ length: 512 }, () => integer(14) - 8000n));
    expect(multiplyLarge(a!, b!)).toEqual(schoolbook(a!, b!));
  });

  test('conjugation turns products into inner products', () => {
    const [a, b] = [polyOf(20), polyOf(20)];
    expect(multiplyZ(sigma(a), b)[0]).toBe(a.reduce((s, x, i) => s + x * b[i]!, 0n));
    expect(sigma(sigma(a))).toEqual(a);
  });

  test('inverses of challenges and of differences of their squares', () => {
    const [a, b] = [0, 1].map((row) => amortising(KEY, 3, row).c);
    const difference = multiply(a!, a!).map((x, i) => x - multiply(b!, b!)[i]!);
    for (const x of [a!, b!, difference]) {
      expect(equal(multiply(inverse(x), x), constant(1n))).toBe(true);
    }
    expect(() => inverse(constant(0n))).toThrow(RangeError);
  });

  test('stride parts keep inner products and products modulo X^n + 1', () => {
    const s = Array.from({ length: 512 }, (_, i) => BigInt(i));
    const parts = strideParts(s);
    expect(parts).toHaveLength(8);
    expect(parts[3]!.slice(0, 3)).toEqual([3n, 11n, 19n]);
    expect(normSq(parts)).toBe(s.reduce((sum, x) => sum + x * x, 0n));
  });
});

describe('digits and cuts', () => {
  test('digits sum to the integer; all but the last are balanced', () => {
    const half = (Q - 1n) / 2n;
    // biome-ignore format: one line
    const pairs = [[5, 9], [4, 12], [1, 7], [7, 7]] as const;
    for (const [count, bits] of pairs) {
      const edge = 1n << BigInt(bits - 1);
      for (const x of [-half, half, -1n, 0n, edge, edge - 1n, -edge, integer(40), -integer(40)]) {
        const list = digits(x, count, bits);
        expect(list).toHaveLength(count);
        expect(list.reduce((s, d, j) => s + (d << BigInt(bits * j)), 0n)).toBe(x);
        for (const d of list.slice(0, -1)) expect(d >= -edge && d < edge).toBe(true);
      }
    }
    expect(digits(-1n, 3, 4)).toEqual([-1n, 0n, 0n]);
    expect(digits(8n, 2, 4)).toEqual([-8n, 1n]);
  });

  test('what stands for a cut value is near it', () => {
    for (const cut of [4, 9, 15]) {
      const low = 2n ** BigInt(cut);
      const u = [0n, low - 1n, low, Q - 1n, integer(43)];
      const poly = [...u, ...new Array<bigint>(D - u.length).fill(0n)];
      const { sent, hat, e } = cutLow([poly], cut);
      for (const [i, x] of poly.entries()) {
        expect(sent[0]![i]).toBe(x >> BigInt(cut));
        expect(hat[0]![i]! - e[0]![i]!).toBe(x);
        expect(e[0]![i]! > -low / 2n && e[0]![i]! <= low / 2n).toBe(true);
      }
    }
    // signed values keep their sign, and what stands for them is as near
    const half = (Q - 1n) / 2n;
    const signed = [0n, -1n, half, -half, -integer(40), ...new Array<bigint>(D - 5).fill(0n)];
    for (const cut of [4, 15]) {
      const { sent, hat, e } = cutLow([signed.map((x) => mod(x, Q))], cut, true);
      for (const [i, x] of signed.entries()) {
        expect(sent[0]![i]).toBe(x >> BigInt(cut));
        expect(hat[0]![i]! - e[0]![i]!).toBe(x);
        const edge = 2n ** BigInt(cut - 1);
        expect(e[0]![i]! > -edge && e[0]![i]! <= edge).toBe(true);
      }
    }
    expect(cutLow([constant(Q - 1n)], 0, true)).toMatchObject({ sent: [constant(-1n)], e: [] });
    expect(cutLow([constant(-1n)], 0)).toMatchObject({ sent: [constant(Q - 1n)], e: [] });
  });
});

test('streams and challenges are those of the verifier, which are held to their definitions', () => {
  // draft-strombergson-chacha-test-vectors-00, TC1: all-zero key of 256 bits, all-zero IV
  const first = chacha8(new Uint8Array(32), 0, [0, 0, 0]).subarray(0, 16);
  expect(hex(first)).toBe('3e00ef2f895f40d67f5bb8e81f09a5a1');
  for (const counter of [0, 1, 2 ** 22]) {
    for (const rounds of [8, 20]) {
      const block = chacha8(KEY, counter, [0x00030201, 4, 0], rounds);
      expect(block).toEqual(chachaBlock(KEY, counter, [0x00030201, 4, 0], rounds / 2));
    }
  }
  const at = (type: keyof typeof STREAM, level: number, index: number, sub = 0) =>
    stream(KEY, { type: STREAM[type], level, index, sub });
  for (let i = 0; i < 60; i++) {
    expect(alpha(KEY, 0, i)).toEqual(verifier.alphaOf(at('alpha', 0, i)).map(BigInt));
    const { c, attempts } = verifier.amortiserOf(at('amortise', 2, i));
    expect(amortising(KEY, 2, i)).toEqual({ c: c.map(BigInt), attempts });
  }
  for (let j = -200; j < 300; j++) expect(cosine(j)).toBe(verifier.cosine(Math.abs(j)));
  for (const n of [512, 1024]) {
    const expected = verifier.functionalOf(at('rho', 0, 1, 3), n).map(BigInt);
    expect(rho(KEY, 0, 3, 1, n)).toEqual(expected);
  }
  for (let t = 0; t < 33; t++) {
    expect(tau(KEY, 0, t).map((x) => mod(x, Q))).toEqual(tauOf(KEY, t));
  }
  for (const [row, columns] of [
    [0, 4],
    [2, 3],
    [2, 9],
    [2, 1],
    [2, 3],
    [1, 1],
  ] as const) {
    expect(keyRow(row, columns)).toEqual(verifier.keyRow(row, columns));
  }
  for (const number of [0, 1, 2, 11, 29273]) {
    const entries = projectionOf(KEY, 1, number);
    expect(entries).toEqual(verifier.projectionOf(KEY, 1, number));
    const weights = Array.from(
      { length: JL_ROWS },
      () => [Q - 1n - integer(20), integer(43)] as const,
    );
    const form = sigma(verifier.collapse(entries, weights)).map((x) => mod(x, Q));
    expect(collapse(entries, [weights])).toEqual([form]);
  }
});

test('a word of q or more is skipped in scalars', () => {
  const bytes = Uint8Array.from(bitsOf(44, [5n, Q, Q - 1n, 2n ** 44n - 1n, 0n, 7n]));
  let at = 0;
  const source = { bytes: (count: number) => bytes.slice(at, (at += count)) };
  expect(scalars(source, 4)).toEqual([5n, Q - 1n, 0n, 7n]);
});

describe('challenges', () => {
  test('the norm test is the squared operator norm against 376', () => {
    const random = testRandom('operator norms');
    let refused = 0;
    for (let i = 0; i < 200; i++) {
      const c = Array.from({ length: D }, () => BigInt(random.between(-2, 2)));
      const normSq = operatorNorm(c) ** 2;
      if (Math.abs(normSq - 376) < 0.05) continue;
      expect(passesNormTest(c)).toBe(normSq < 376);
      if (normSq > 376) refused++;
    }
    expect(refused).toBeGreaterThan(20);
    expect(refused).toBeLessThan(180);
  });

  test('what is sent of a projection, and the norm by signs', () => {
    const [U, V] = [7n, -12n];
    const y = [10n, -3n, U];
    const star = [0n, 5n, V];
    // U + V = -5, V - U = -19; halves rounded down are -3 and -10
    expect(sentOf({ y, star })).toEqual([13n, 10n, 0n, 15n]);
    expect(signedNormSq({ y, star })).toBe(25n ** 2n + 19n ** 2n + 1n + 29n ** 2n);
  });
});

/** The largest |c(zeta)| over the primitive 128th roots of unity, in doubles. */
function operatorNorm(c: Poly): number {
  let most = 0;
  for (let k = 1; k < 2 * D; k += 2) {
    let [re, im] = [0, 0];
    for (const [t, x] of c.entries()) {
      re += Number(x) * Math.cos((Math.PI * k * t) / D);
      im += Number(x) * Math.sin((Math.PI * k * t) / D);
    }
    most = Math.max(most, Math.hypot(re, im));
  }
  return most;
}

describe('hidden messages', () => {
  const before = readParameters(HIDDEN_TWICE).levels;

  test('messages stand in x in their order, as many digits as their bits take', () => {
    const words = before.map(({ messages }) =>
      messages.map(({ name, polynomials, bits, digits, at: a }) => [
        name,
        polynomials,
        bits,
        digits,
        a,
      ]),
    );
    expect(words).toEqual([
      [
        ['A', 1, 44, 22, 0],
        ['B', 1, 44, 22, 22],
        ['b', 3, 44, 22, 44],
        ['2', 1, 44, 22, 110],
      ],
      [
        ['1', 2, 38, 13, 0],
        ['b', 2, 44, 15, 26],
        ['2', 2, 38, 13, 56],
      ],
    ]);
    expect(before.map(({ pieces }) => pieces.t)).toEqual([132, 82]);
  });

  test('quarters are every fourth coefficient of the products with rows of M', () => {
    const x = [polyOf(4), polyOf(4)];
    const p = quartersOf(3, x);
    expect(p).toHaveLength(48);
    for (let row = 0; row < 3; row++) {
      const [first, second] = keyRow(row, 2).map((key, i) => schoolbook(key, x[i]!));
      for (let c = 0; c < 16; c++) {
        expect(p[16 * row + c]).toBe(mod(first![4 * c]! + second![4 * c]!, Q));
      }
    }
  });

  test('the scalars behind a hidden level follow from one stream, two words each', () => {
    const { omega, omegaX, quarters, lifts } = scalarsOf(KEY, 1, 1, before[0]);
    expect([omega, omegaX, lifts].map((list) => list.length)).toEqual([137, 137, 3]);
    expect(quarters.map((rows) => rows.map((list) => list.length))).toEqual(
      new Array(4).fill(new Array(6).fill(8)),
    );
    const source = stream(KEY, { type: STREAM.omega, level: 1, sub: 1 });
    const words = verifier.scalars(source, 2 * (137 + 137 + 192 + 3));
    expect([...omega, ...omegaX, ...quarters.flat(2), ...lifts].flat()).toEqual(words);
    expect(scalarsOf(KEY, 1, 1, undefined)).toMatchObject({ omega, omegaX: [], lifts: [] });
    expect(scalarsOf(KEY, 2, 1, before[1]).quarters).toHaveLength(3);
  });

  test('a form on x gives the weighted sums of quarters and of known halves of lifts', () => {
    const params = before[1]!;
    const given = scalarsOf(KEY, 2, 0, params);
    const x = Array.from({ length: params.pieces.t }, () => polyOf(3));
    const product = inner(formsOfX({ params }, given), x);
    let sum: Poly = constant(0n);
    const add = ([a, b]: readonly [bigint, bigint], [re, im]: readonly [bigint, bigint]) => {
      const more = [a * re - b * im, a * im + b * re] as const;
      sum = sum.map((c, i) => (i === 0 ? c + more[0] : i === D / 2 ? c + more[1] : c));
    };
    for (const [number, { name, polynomials, digits, at }] of params.messages.entries()) {
      const ofM = x.slice(at, at + polynomials * digits);
      const p = quartersOf(params.k, ofM);
      for (const [row, list] of given.quarters[number]!.entries()) {
        for (const [j, weight] of list.entries()) {
          add(weight, [p[16 * row + j]!, p[16 * row + j + 8]!]);
        }
      }
      if (name !== 'b') continue;
      for (const [i, weight] of given.lifts.entries()) {
        for (let j = 0; j < digits; j++) {
          const digit = ofM[j * polynomials + i]!.map((c) => c << BigInt(params.w * j));
          add(weight, [digit[0]!, digit[D / 2]!]);
        }
      }
    }
    expect([product[0], product[D / 2]]).toEqual([mod(sum[0]!, Q), mod(sum[D / 2]!, Q)]);
  });

  test('powers of X move coefficients around', () => {
    const a = polyOf(20);
    for (const power of [-64, -60, -4, 0, 4, 32, 64]) {
      const X = constant(0n).with((power + D) % D, power < 0 || power === D ? -1n : 1n);
      expect(timesX(a, power)).toEqual(schoolbook(X, a));
    }
  });
});

describe('epsilon', () => {
  test('fills every remainder', () => {
    const rests = [0n, 1n, 55n, 56n, 125617n, BETA_SQ[512], BETA_SQ[1024]];
    for (let i = 0; i < 500; i++) rests.push(integer(26));
    for (let rest = 2n; rest < 3000n; rest += 7n) rests.push(rest);
    for (const rest of rests) {
      const filled = epsilon(rest);
      expect(normSq([filled])).toBe(rest);
      expect(new Set(filled.slice(0, 56)).size).toBe(1);
    }
    for (const x of [0n, 1n, 3n, 4n, 10n ** 12n - 1n, 10n ** 12n]) {
      const root = squareRoot(x);
      expect(root * root <= x && (root + 1n) * (root + 1n) > x).toBe(true);
    }
  });
});

describe('codes', () => {
  test('frequencies: one slot at least, all slots in all, as the text has them', () => {
    // biome-ignore format: several in a line
    const printed = [
      [834987, 475761, 1, 1], [765926, 477268, 1, 1], [702540, 471988, 1, 1],
      [644372, 461191, 1, 1], [591001, 446111, 1, 1], [542037, 427874, 2, 1],
      [497114, 407461, 6, 1], [455908, 385697, 30, 1],
    ];
    for (const [j, expected] of printed.entries()) {
      const list = frequencies(j);
      expect(list).toHaveLength(512);
      expect([0, 8, 64, 255].map((h) => Number(list[256 + h]!.f))).toEqual(expected);
      let below = 0n;
      for (const [i, { f, c }] of list.entries()) {
        expect(c).toBe(below);
        expect(f).toBe(list[511 - i]!.f);
        below += f;
      }
      expect(below).toBe(2n ** 24n);
      expect(list.every(({ f }) => f >= 1n)).toBe(true);
    }
  });

  test('Gaussian codes: known bytes, limits', () => {
    const code = (values: readonly bigint[], t: number) => hex(gaussianField([{ values, t }]));
    // two states of 2^32: nothing was coded
    expect(code([], 0)).toBe('000100000000000100000000');
    // 2^24 floor(2^32 / f) + (2^32 mod f) + 2^23, f = 834987
    const f = 834987n;
    const state = 2n ** 24n * (2n ** 32n / f) + (2n ** 32n % f) + 2n ** 23n;
    expect(code([0n, 0n], 0)).toBe(state.toString(16).padStart(12, '0').repeat(2));
    // one bit of each value stands apart: 1 = 2 * 0 + 1 and -1 = 2 * -1 + 1
    expect(code([1n, -1n], 8)).toBe(`${code([0n, -1n], 0)}03`);
    for (const t of [0, 7, 8, 63, 77, 103]) {
      const edge = 2n ** BigInt(8 + Math.floor(t / 8));
      expect([hasCode(edge - 1n, t), hasCode(-edge, t)]).toEqual([true, true]);
      expect([hasCode(edge, t), hasCode(-edge - 1n, t)]).toEqual([false, false]);
      expect(() => code([edge, 0n], t)).toThrow(RangeError);
    }
  });

  test('packed coefficients are one bit string', () => {
    const poly = Array.from({ length: D }, (_, i) => BigInt(i) % 8n);
    expect([...pack([poly], 3).subarray(0, 3)]).toEqual([0o210, 0o306, 0o372].map((x) => x & 255));
    expect(pack([poly], 3)).toHaveLength(24);
    expect(pack([poly], 35)).toHaveLength(280);
    expect(centred(Q - 1n)).toBe(-1n);
  });
});
