import { describe, expect, test } from 'vitest';
import { cosines } from '../../../scripts/generate/cosines.ts';
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { labradorModule } from './area.ts';
import {
  chachaStream,
  isShort,
  projectionRow,
  scalars,
  signedChallenge,
  word44,
} from './chacha.ts';
import { centred, mod, type Poly, sigma, source } from './plain.ts';

const random = source('labrador stream');
const HALF_Q = (Q - 1n) / 2n;

test('the cosines are symmetrical and on the circle', () => {
  const c = cosines();
  expect(c.slice(0, 4)).toEqual([1073741824, 1072448455, 1068571464, 1062120190]);
  expect(c[32]).toBe(0);
  for (let j = 0; j <= 64; j++) {
    expect(c[64 - j]! + c[j]!).toBe(0);
    expect(c[(128 - j) % 128]).toBe(c[j]);
    expect(Math.abs(c[j]! ** 2 + c[(j + 96) % 128]! ** 2 - 2 ** 60)).toBeLessThan(2 ** 31.6);
  }
});

describe.each(BOTH_MODULES)('streams and samplers, %s module', async (module) => {
  const m = await labradorModule(module);
  const { exports } = m;
  const KEY = m.room(32);
  const OUT = m.room(65536);
  const POLYS = m.room(128 * 64);
  const bytes = new Uint8Array(m.buffer);
  const key = random.bytes(32);
  bytes.set(key, KEY);
  const start = (nonce: readonly number[]) => {
    exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
    return chachaStream(key, nonce, 0, 40);
  };
  const coefs = (count: number) => [...new BigInt64Array(m.buffer, OUT, count)];

  test('blocks of the stream, from any counter', () => {
    const nonce = [0x00030201, 4, 0];
    start(nonce);
    for (const [from, quads] of [
      [0, 1],
      [1, 2],
      [2 ** 22, 1],
      [66 * 29273, 17],
    ] as const) {
      exports.xofBlocks!(OUT, from, quads);
      expect(bytes.slice(OUT, OUT + 256 * quads)).toEqual(
        chachaStream(key, nonce, from, 4 * quads),
      );
    }
  });

  test('bytes one by one', () => {
    const stream = start([9, 1, 0]);
    for (let i = 0; i < 1000; i++) expect(exports.readByte!()).toBe(stream[i]);
  });

  test('uniform polynomials and scalars', () => {
    for (let index = 0; index < 20; index++) {
      const stream = start([7, index, 0]);
      const expected = scalars(stream, 64).map((x) => centred(x));
      exports.uniformPoly!(OUT);
      expect(coefs(64)).toEqual(expected);
      start([7, index, 0]);
      exports.uniformScalars!(OUT, 264);
      expect(coefs(264)).toEqual(scalars(stream, 264).map((x) => centred(x)));
    }
  });

  /** Words of 44 bits as a string of bytes. */
  const pack = (words: readonly bigint[]): Uint8Array => {
    const string = words.reduceRight((sum, word) => (sum << 44n) | word, 0n);
    return Uint8Array.from({ length: Math.ceil((44 * words.length) / 8) }, (_, i) =>
      Number((string >> BigInt(8 * i)) & 255n),
    );
  };

  test('words not below q are skipped, wherever they stand', () => {
    const over = [Q, Q + 1n, 2n ** 44n - 1n];
    const words = Array.from({ length: 40 }, (_, i) =>
      i % 3 === 0 ? over[i % 9 === 0 ? 0 : i % 9 === 3 ? 1 : 2]! : i % 3 === 1 ? Q - 1n : BigInt(i),
    );
    start([7, 0, 0]);
    exports.readByte!(); // fills the buffer; what it holds is replaced from byte 1 on
    bytes.set(pack(words), m.at('BUFFER') + 1);
    exports.uniformScalars!(OUT, 20);
    expect(coefs(20)).toEqual(
      words
        .filter((w) => w < Q)
        .slice(0, 20)
        .map((x) => centred(x)),
    );
  });

  test('a polynomial with a word not below q is noticed, wherever it stands', () => {
    const AT = OUT + 8192;
    for (let i = 0; i < 64; i++) {
      for (const [word, status] of [
        [Q - 1n, 0],
        [Q, 1],
        [2n ** 44n - 1n, 1],
      ] as const) {
        const words = Array.from({ length: 64 }, (_, j) => (i === j ? word : Q - 1n));
        bytes.set(pack(words), AT);
        bytes.fill(255, AT + 352, AT + 368);
        expect(exports.unpackUniform!(OUT, AT)).toBe(status);
        if (status === 0) expect(coefs(64)).toEqual(words.map((x) => centred(x)));
      }
    }
  });

  test('elements of keys: words >= q lose q', () => {
    const words = [
      ...[0n, 1n, HALF_Q, HALF_Q + 1n, Q - 1n, Q, Q + 1n, 2n ** 44n - 1n],
      ...Array.from({ length: 56 }, () => random.between(0n, 2n ** 44n - 1n)),
    ];
    bytes.set(pack(words), OUT + 8192);
    bytes.fill(255, OUT + 8192 + 352, OUT + 8192 + 370);
    exports.unpackKey!(OUT, OUT + 8192);
    expect(words.map((_, i) => word44(bytes.subarray(OUT + 8192), i))).toEqual(words);
    expect(coefs(64).map((x) => mod(x, Q))).toEqual(words.map((x) => mod(x, Q)));
    expect(coefs(64).every((x) => x <= HALF_Q && x >= -HALF_Q)).toBe(true);
  });

  test('values mod 12289', () => {
    for (const count of [512, 1024]) {
      const stream = start([3, count, 0]);
      exports.uniformModP!(OUT, count);
      const words = new Uint16Array(stream.buffer);
      const expected = [...words]
        .filter((w) => w < 61445)
        .map((w) => Number(centred(BigInt(w), 12289n)));
      expect([...m.lanes(OUT, count)]).toEqual(expected.slice(0, count));
      expect(words.slice(0, count).some((w) => w >= 61445)).toBe(true);
    }
  });

  test('challenges with signs, and short ones', () => {
    let attempts = 0;
    for (let index = 0; index < 60; index++) {
      const alpha = signedChallenge(start([1, index, 0]), 21, 30, false).x;
      exports.sampleAlpha!(POLYS);
      expect(m.readSmall(POLYS)).toEqual(alpha);
      expect(alpha.reduce((sum, x) => sum + x * x, 0n)).toBe(82n);
      const c = signedChallenge(start([9, index, 0]), 15, 29, true);
      expect(exports.sampleC!(POLYS)).toBe(c.attempts);
      expect(m.readSmall(POLYS)).toEqual(c.x);
      expect(c.x.reduce((sum, x) => sum + x * x, 0n)).toBe(109n);
      attempts += c.attempts;
      const stream = start([8, index, 0]);
      exports.sampleShort!(POLYS);
      const bits = stream.slice(0, 24).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
      expect(m.readSmall(POLYS)).toEqual(
        Array.from({ length: 64 }, (_, j) => ((bits >> BigInt(3 * j)) & 7n) - 4n),
      );
    }
    expect(attempts).toBeGreaterThan(75); // rejections do happen
    expect(attempts).toBeLessThan(180);
  });

  test('the operator norm test, at its edges', () => {
    const judge = (c: Poly) => {
      m.writeSmall(POLYS, c);
      return exports.isShortOperator!(POLYS) !== 0;
    };
    const unit = (count: number): Poly =>
      Array.from({ length: 64 }, (_, i) => (i < count ? 1n : 0n));
    for (const c of [unit(1), unit(20), unit(21), unit(33), unit(34), unit(40), unit(64)]) {
      expect(judge(c)).toBe(isShort(c));
    }
    expect(judge(unit(1))).toBe(true);
    expect(judge(unit(64))).toBe(false);
  });

  test('projection: every row, from any polynomial on', () => {
    const nonce = [2 + 65536, 5, 0];
    const [Y, S] = [m.room(264 * 8), m.room(128 * 40)];
    const y = () => new BigInt64Array(m.buffer, Y, 264);
    for (const [first, count, bound] of [
      [0, 1, 8192n],
      [29273, 3, 32767n],
      [2, 37, 32767n],
    ] as const) {
      const s = Array.from({ length: count }, (_, i) =>
        i === 0
          ? Array.from({ length: 64 }, (_, j) => BigInt(j - 32))
          : i % 2
            ? new Array<bigint>(64).fill(-bound)
            : random.extreme(bound),
      );
      for (const [i, x] of s.entries()) m.writeSmall(S + 128 * i, x);
      exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
      y().fill(7n);
      exports.projectPolys!(Y, S, first, count);
      const expected = new Array<bigint>(264).fill(7n);
      for (const [i, x] of s.entries()) {
        const bits = chachaStream(key, nonce, 66 * (first + i), 66);
        for (let row = 0; row < 264; row++) {
          const pi = projectionRow(bits, row);
          for (let c = 0; c < 64; c++) expected[row]! += pi[c]! * x[c]!;
        }
      }
      expect([...y()]).toEqual(expected);
    }
  });

  test('collapse: three lifts, extreme and random omega', () => {
    const nonce = [2, 0, 0];
    const OMEGA = m.room(3 * 264 * 8);
    const weights = [
      [
        new Array<bigint>(264).fill(HALF_Q),
        new Array<bigint>(264).fill(-HALF_Q),
        new Array<bigint>(264).fill(Q - 1n),
      ],
      [0, 1, 2].map(() => Array.from({ length: 264 }, () => random.between(-HALF_Q, HALF_Q))),
      // one row of a group at a time has all digits of base 79 at an end, but for the last one
      [0, 1, 2].map((lift) =>
        Array.from({ length: 264 }, (_, row) => {
          const digits = (79n ** 6n - 1n) / 2n + 35n * 79n ** 6n;
          return row % 4 !== lift ? 0n : row % 8 < 4 && lift === 2 ? -digits : digits;
        }),
      ),
    ];
    for (const omega of weights) {
      new BigInt64Array(m.buffer, OMEGA, 792).set(omega.flat());
      exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
      exports.collapseStart!(OMEGA);
      const [first, count] = [1001, 3];
      exports.collapsePolys!(OUT, first, count);
      const got = coefs(64 * 3 * count);
      for (let i = 0; i < count; i++) {
        const bits = chachaStream(key, nonce, 66 * (first + i), 66);
        for (let lift = 0; lift < 3; lift++) {
          const sum = new Array<bigint>(64).fill(0n);
          for (let row = 0; row < 264; row++) {
            const pi = projectionRow(bits, row);
            for (let c = 0; c < 64; c++) sum[c]! += omega[lift]![row]! * pi[c]!;
          }
          const at = 64 * (3 * i + lift);
          expect(got.slice(at, at + 64)).toEqual(sigma(sum).map((x) => centred(x)));
        }
      }
    }
  });

  test('entries of the projection have their distribution', () => {
    let [zeros, ones] = [0, 0];
    const bits = chachaStream(key, [2, 1, 0], 0, 66);
    for (let row = 0; row < 264; row++) {
      for (const x of projectionRow(bits, row)) {
        zeros += Number(x === 0n);
        ones += Number(x === 1n);
      }
    }
    const total = 264 * 64;
    expect(Math.abs(zeros - total / 2)).toBeLessThan(5 * Math.sqrt(total / 4));
    expect(Math.abs(ones - total / 4)).toBeLessThan(5 * Math.sqrt((total * 3) / 16));
  });
});
