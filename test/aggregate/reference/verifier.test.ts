/**
 * The slow verifier by its parts: streams, samplers, transcript, arithmetic and the parser, on
 * values worked out by hand or by another implementation.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodePublicKey, hashToPoint } from '../../../src/falcon/points.ts';
import { signedItem } from '../../reference/items.ts';
import {
  alphaOf,
  amortiserOf,
  cosine,
  functionalOf,
  keyRow,
  operatorNormHolds,
  projectionOf,
  scalars,
  shortPolynomial,
} from '../../reference/verifier/challenges.ts';
import { ALL_CHECKS, Refused } from '../../reference/verifier/checks.ts';
import { uncut } from '../../reference/verifier/claim.ts';
import { tauOf } from '../../reference/verifier/level0.ts';
import { checkProjectionNorm, valuesOfY } from '../../reference/verifier/lifts.ts';
import { Reader } from '../../reference/verifier/parse.ts';
import { pointOf, publicKeyOf, timesMirrored } from '../../reference/verifier/points.ts';
import {
  add,
  constant,
  equal,
  FALCON_Q,
  fromIntegers,
  inverse,
  mod,
  multiply,
  Q,
  sigma,
  subtract,
} from '../../reference/verifier/ring.ts';
import { forEachPlace, pairIndex, shapesOf } from '../../reference/verifier/shapes.ts';
import {
  type ByteSource,
  blockOf,
  chachaBlock,
  STREAM,
  stream,
} from '../../reference/verifier/streams.ts';
import { sealOf, transcript } from '../../reference/verifier/transcript.ts';
import { hex } from '../../support/hex.ts';
import { TOY1, TOY2 } from './toyRows.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);

/** Bytes that run out as an error, so that a sampler cannot read more than it should. */
function bytesOf(list: ArrayLike<number>): ByteSource {
  let at = 0;
  return {
    take(count) {
      if (at + count > list.length) throw new Error('no more bytes');
      at += count;
      return Uint8Array.from({ length: count }, (_, i) => list[at - count + i]!);
    },
  };
}

/** Numbers of w bits as bytes, least significant bit first. */
function bitsOf(w: number, list: readonly (number | bigint)[]): number[] {
  const all = list.reduce<bigint>((sum, x, i) => sum | (BigInt(x) << BigInt(w * i)), 0n);
  return Array.from({ length: Math.ceil((w * list.length) / 8) }, (_, i) =>
    Number((all >> BigInt(8 * i)) & 255n),
  );
}

describe('streams', () => {
  test('12 rounds: the published block of the zero key', () => {
    expect(hex(chachaBlock(new Uint8Array(32), 0, [0, 0, 0]))).toBe(
      '9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f' +
        '0564f879d27ae3c02ce82834acfa8c793a629f2ca0de6919610be82f411326be',
    );
  });

  test('20 rounds: key, counter and nonce stand where RFC 8439 puts them', () => {
    const iv = Buffer.alloc(16);
    for (const [i, word] of [0x400001, 0x00030201, 4, 0].entries()) iv.writeUInt32LE(word, 4 * i);
    const expected = createCipheriv('chacha20', KEY, iv).update(new Uint8Array(64));
    expect(hex(chachaBlock(KEY, 0x400001, [0x00030201, 4, 0], 10))).toBe(hex(expected));
  });

  test('a stream is its blocks in order under the nonce of its name', () => {
    const name = { type: STREAM.eta, level: 2, sub: 3, index: 70000 };
    const bytes = stream(KEY, name).take(130);
    const blocks = [0, 1, 2].map((at) => chachaBlock(KEY, at, [7 + 2 * 256 + 3 * 65536, 70000, 0]));
    expect(hex(bytes)).toBe(hex(Buffer.concat(blocks)).slice(0, 260));
  });
});

describe('words', () => {
  test('scalars: a word of q or more is skipped', () => {
    const words = [Q - 1n, Q, 5n, (1n << 44n) - 1n, 0n, 6n];
    expect(scalars(bytesOf(bitsOf(44, words)), 4)).toEqual([Q - 1n, 5n, 0n, 6n]);
    expect(scalars(bytesOf(bitsOf(44, words)), 1)).toEqual([Q - 1n]);
  });

  test('functionals: a word of 5 p or more is skipped, the others are centred modulo p', () => {
    const words = [
      5 * FALCON_Q - 1,
      5 * FALCON_Q,
      0,
      65535,
      6144,
      6145,
      FALCON_Q + 1,
      3 * FALCON_Q - 2,
    ];
    const bytes = words.flatMap((x) => [x & 255, x >> 8]);
    expect(functionalOf(bytesOf(bytes), 6)).toEqual([-1, 0, 6144, -6144, 1, -2]);
  });

  test('short polynomials: three bits, minus 4', () => {
    const digits = Array.from({ length: 64 }, (_, j) => j % 8);
    expect(shortPolynomial(bytesOf(bitsOf(3, digits)))).toEqual(digits.map((x) => x - 4));
  });

  test('tau: the first 24 bytes of stream 11 of its part, three bits each', () => {
    for (const t of [0, 16, 32]) {
      const bytes = chachaBlock(KEY, 0, [11, t, 0]).subarray(0, 24);
      const all = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
      const digits = Array.from({ length: 64 }, (_, j) => ((all >> BigInt(3 * j)) & 7n) - 4n);
      expect(tauOf(KEY, t)).toEqual(digits.map((x) => mod(x)));
    }
  });
});

describe('challenges with signs', () => {
  const signs = (...set: number[]) => bitsOf(64, [set.reduce((x, e) => x | (1n << BigInt(e)), 0n)]);
  const upTo63 = (first: number) => Array.from({ length: 64 - first }, (_, i) => first + i);

  test('alpha: every value stays where it is put when each byte names its own place', () => {
    const bytes = [...signs(0, 30, 43, 63), ...upTo63(21).map((pos) => pos + 64)];
    const x = alphaOf(bytesOf(bytes));
    expect(x.slice(0, 21)).toEqual(new Array(21).fill(0));
    expect(x.slice(21, 51)).toEqual([-1, ...new Array(29).fill(1)]);
    expect(x.slice(51)).toEqual([-2, ...new Array(12).fill(2)]);
  });

  test('alpha: what stood at the place named moves up, and bytes above the place are skipped', () => {
    const bytes = [...signs(1), 22, 63, 0, 255, ...upTo63(22).map(() => 192)];
    const x = alphaOf(bytesOf(bytes));
    expect(x.slice(0, 24)).toEqual([2, ...new Array(20).fill(0), 0, 1, -1]);
    expect(x.slice(24, 52)).toEqual(new Array(28).fill(1));
    expect(x.slice(52)).toEqual(new Array(12).fill(2));
  });

  test('c: an attempt that fails the norm is drawn anew, signs too', () => {
    const smooth = [...signs(), ...upTo63(15)];
    expect(operatorNormHolds([...new Array(15).fill(0), ...new Array(49).fill(1)])).toBe(false);
    const name = { type: STREAM.amortise, level: 0, index: 0 };
    const rest = stream(KEY, name).take(4096);
    const fresh = amortiserOf(bytesOf(rest));
    const second = amortiserOf(bytesOf([...smooth, ...rest]));
    expect(second).toEqual({ c: fresh.c, attempts: fresh.attempts + 1 });
  });

  test('c: weight, and its largest complex place by floating point, for 200 of them', () => {
    let attempts = 0;
    for (let index = 0; index < 200; index++) {
      const drawn = amortiserOf(stream(KEY, { type: STREAM.amortise, level: 1, index }));
      attempts += drawn.attempts;
      expect(drawn.c.reduce((sum, x) => sum + x * x, 0)).toBe(109);
      for (let k = 1; k < 64; k += 2) {
        const at = (f: (x: number) => number) =>
          drawn.c.reduce((sum, x, t) => sum + x * f((Math.PI * k * t) / 64), 0);
        expect(Math.hypot(at(Math.cos), at(Math.sin))).toBeLessThan(21.00001);
      }
    }
    expect(attempts).toBeGreaterThan(250); // about 55 in a hundred pass
    expect(attempts).toBeLessThan(500);
  });

  test('cosines', () => {
    for (let j = 0; j < 256; j++) {
      expect(cosine(j)).toBeCloseTo(2 ** 30 * Math.cos((Math.PI * j) / 64), -0.5);
      expect(Math.abs(cosine(j) - 2 ** 30 * Math.cos((Math.PI * j) / 64))).toBeLessThan(0.501);
    }
  });
});

describe('projection and keys', () => {
  test('where the bits of an entry stand', () => {
    // coefficient, byte of the group, shift
    const cases = [
      [5, 5, 0],
      [21, 5, 4],
      [37, 21, 0],
      [53, 21, 4],
      [0, 0, 0],
      [63, 31, 4],
    ] as const;
    const bytes = stream(KEY, { type: 2, level: 3, index: 5 }).take(4 * 2112);
    for (const polynomial of [0, 3]) {
      const entries = projectionOf(KEY, 3, 5, polynomial);
      for (const row of [0, 3, 4, 7, 8, 130, 263]) {
        const group = 2112 * polynomial + 32 * Math.floor(row / 4);
        for (const [c, byte, shift] of cases) {
          expect(entries[64 * row + c]).toBe((bytes[group + byte]! >> (shift + (row % 4))) & 1);
        }
      }
    }
    const far = projectionOf(KEY, 3, 5, 29273);
    const block = blockOf(KEY, { type: 2, level: 3, index: 5 }, 33 * 29273 + 32);
    expect(far[64 * 256 + 5]).toBe(block[5]! & 1);
    expect(far[64 * 263 + 63]).toBe(block[63]! >> 7);
  });

  test('random entries are one half of the time 1; the last row always', () => {
    const all = 264 * 64;
    let ones = 0;
    for (let i = 0; i < 4; i++) {
      const entries = projectionOf(KEY, 0, 0, i);
      expect(new Set(entries)).toEqual(new Set([0, 1]));
      for (const x of entries.subarray(0, all)) ones += x;
      expect([...entries.subarray(all)]).toEqual(new Array(64).fill(1));
    }
    expect(Math.abs(ones / (4 * all) - 0.5)).toBeLessThan(0.01);
  });

  test('y from what is sent: half the sum, rounded down, is put back', () => {
    for (const [sum, half] of [
      [0, 0],
      [7, 3],
      [-7, -4],
      [-8, -4],
      [2 ** 31 - 1, 2 ** 30 - 1],
      [-(2 ** 31), -(2 ** 30)],
    ] as const) {
      const sent = [...Array.from({ length: 264 }, (_, j) => j - 100), sum];
      const expected = [...Array.from({ length: 264 }, (_, j) => j - 100 + half), sum];
      expect(valuesOfY(sent)).toEqual(expected);
    }
  });

  test('the norm that is bounded is that of 2 y - y_264', () => {
    const passes = (first: number, sum: number, inSq: number) => {
      const sent = [first, ...new Array<number>(263).fill(0), sum];
      const judged = () => checkProjectionNorm(ALL_CHECKS, sent, inSq, '');
      return expect(judged);
    };
    // an odd sum: all others are -1, of 288 the first may have 25
    for (const sum of [1, -1, 2 ** 31 - 1, 7 - 2 ** 31]) {
      passes(3, sum, 1).not.toThrow();
      passes(-2, sum, 1).not.toThrow();
      passes(4, sum, 1).toThrow('projectionNorm');
      passes(-3, sum, 1).toThrow('projectionNorm');
    }
    // an even one: all others are 0, the first is twice what is sent
    for (const sum of [0, 2, -2, -(2 ** 31)]) {
      passes(12, sum, 2).not.toThrow();
      passes(-12, sum, 2).not.toThrow();
      passes(13, sum, 2).toThrow('projectionNorm');
      passes(-13, sum, 2).toThrow('projectionNorm');
    }
  });

  test('an element is 352 bytes of its row; fewer columns are a prefix', () => {
    const key = createHash('shake256', { outputLength: 32 })
      .update('falconry commitment keys v1')
      .digest();
    const bytes = stream(key, { type: 10, level: 1, sub: 3, index: 2 }).take(3 * 352);
    const all = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
    const row = keyRow(1, 3, 2, 3);
    expect(row.flat()).toEqual(
      Array.from({ length: 192 }, (_, i) => BigInt.asUintN(44, all >> BigInt(44 * i)) % Q),
    );
    expect(keyRow(1, 3, 2, 2)).toEqual(row.slice(0, 2));
  });
});

describe('arithmetic', () => {
  const some = (index: number) => scalars(stream(KEY, { type: STREAM.eta, level: 0, index }), 64);

  test('products by their definition', () => {
    const [a, b] = [some(1), some(2)];
    const expected = new Array<bigint>(64).fill(0n);
    for (let i = 0; i < 64; i++) {
      for (let j = 0; j < 64; j++) {
        const sign = i + j < 64 ? 1n : -1n;
        expected[(i + j) % 64] = mod(expected[(i + j) % 64]! + sign * a[i]! * b[j]!);
      }
    }
    expect(multiply(a, b)).toEqual(expected);
  });

  test('sigma: the constant coefficient of sigma(a) b is the inner product', () => {
    const [a, b] = [some(3), some(4)];
    expect(multiply(sigma(a), b)[0]).toBe(mod(a.reduce((sum, x, j) => sum + x * b[j]!, 0n)));
    expect(sigma(sigma(a))).toEqual(a);
  });

  test('inverses of challenges and of differences of squares; zero divisors have none', () => {
    const c = [0, 1, 2].map((index) =>
      fromIntegers(amortiserOf(stream(KEY, { type: 9, level: 0, index })).c),
    );
    const squares = c.map((x) => multiply(x, x));
    for (const x of [
      ...c,
      subtract(squares[1]!, squares[0]!),
      subtract(squares[2]!, squares[0]!),
    ]) {
      expect(multiply(x, inverse(x)!)).toEqual(constant(1n));
    }
    expect(inverse(constant(0n))).toBeUndefined();
    // X^64 + 1 = (X^32 - i)(X^32 + i) with i^2 = -1
    let i = 2n;
    const power = (x: bigint, e: bigint): bigint =>
      e === 0n ? 1n : mod(power(mod(x * x), e / 2n) * (e % 2n === 1n ? x : 1n));
    while (power(i, (Q - 1n) / 2n) === 1n) i++;
    const root = power(i, (Q - 1n) / 4n);
    expect(mod(root * root)).toBe(Q - 1n);
    const factor = [...constant(mod(-root))];
    factor[32] = 1n;
    expect(inverse(factor)).toBeUndefined();
  });

  test('a cut commitment stands for the middle of what was cut', () => {
    const u = [add(constant(5n), constant(0n))];
    expect(uncut(u, 0)[0]![0]).toBe(5n);
    expect(uncut(u, 4)[0]!.slice(0, 2)).toEqual([5n * 16n + 8n, 8n]);
  });
});

describe('points', () => {
  for (const [set, logn] of [
    ['falcon512', 9],
    ['falcon1024', 10],
  ] as const) {
    test(`${set}: keys and points are those of the library`, () => {
      const { publicKey, message } = signedItem(set, 3);
      expect(publicKeyOf(publicKey, logn)).toEqual([
        ...(decodePublicKey(set, publicKey) as Uint16Array),
      ]);
      const salt = Uint8Array.from({ length: 40 }, (_, i) => i);
      expect(pointOf(salt, message, logn)).toEqual([...hashToPoint(set, salt, message)]);
    });

    test(`${set}: keys that are not canonical are refused`, () => {
      const { publicKey } = signedItem(set, 3);
      const changed = (at: number, ...bytes: number[]) => {
        const key = publicKey.slice();
        key.set(bytes, at);
        return publicKeyOf(key, logn);
      };
      expect(changed(0, publicKey[0]!)).toBeDefined();
      expect(changed(0, logn ^ 3)).toBeUndefined();
      expect(changed(0, logn | 16)).toBeUndefined();
      expect(changed(1, 12289 >> 6, (12289 & 63) << 2)).toBeUndefined();
      expect(changed(1, 12288 >> 6, (12288 & 63) << 2)).toBeDefined();
      expect(publicKeyOf(publicKey.subarray(1), logn)).toBeUndefined();
      expect(publicKeyOf(Uint8Array.of(...publicKey, 0), logn)).toBeUndefined();
    });
  }

  test('the mirrored product is the adjoint of the product with h', () => {
    const rho = functionalOf(stream(KEY, { type: STREAM.rho, level: 0 }), 512);
    const h = publicKeyOf(signedItem('falcon512', 3).publicKey, 9)!;
    const s = rho.map((_, i) => ((31 * i) % 400) - 200);
    const product = new Array<number>(512).fill(0);
    for (let i = 0; i < 512; i++) {
      for (let j = 0; j < 512; j++) {
        product[(i + j) % 512]! += (i + j < 512 ? 1 : -1) * h[i]! * s[j]!;
      }
    }
    const dot = (a: readonly number[], b: readonly number[]) =>
      a.reduce((sum, x, i) => (sum + x * (b[i]! % FALCON_Q)) % FALCON_Q, 0);
    expect(Math.abs((dot(rho, product) - dot(timesMirrored(rho, h), s)) % FALCON_Q)).toBe(0);
  });
});

describe('transcript', () => {
  test('absorb, seed and seal by their bytes', () => {
    const shake = (length: number, ...parts: (Uint8Array | string)[]) => {
      const hash = createHash('shake256', { outputLength: length });
      for (const part of parts) hash.update(part);
      return hex(hash.digest());
    };
    const data = Uint8Array.from({ length: 300 }, (_, i) => i & 255);
    const size = Uint8Array.of(44, 1, 0, 0, 0, 0, 0, 0);
    const zeros = new Uint8Array(64);
    const t = transcript();
    expect(hex(t.seed('jl'))).toBe(shake(32, Uint8Array.of(2), zeros, Uint8Array.of(2), 'jl'));
    const seal = shake(32, Uint8Array.of(3), zeros, Uint8Array.of(1), 't', size, data);
    expect(hex(sealOf(t.state(), 't', data))).toBe(seal);
    t.absorb('uA', data);
    const st = shake(64, Uint8Array.of(1), zeros, Uint8Array.of(2), 'uA', size, data);
    expect(hex(t.state())).toBe(st);
  });
});

describe('shapes', () => {
  test('pairs, places and lengths', () => {
    const { levels, tail } = shapesOf(TOY2);
    const { r, pairs, rowsOf, m } = levels[0]!;
    expect([r, rowsOf, m]).toEqual([5, [2, 1, 2], 5 * 5 * 2 + 9 * 15]);
    for (const [i, [a, b]] of pairs.entries()) expect(pairIndex(r, a, b)).toBe(i);
    expect(levels[1]!.m).toBe(5 * 5 + 9 * 15 + 2 * 2);
    expect([tail.r, tail.lengths]).toEqual([4, [66, 66, 164]]);
    let padding = 0;
    let places = 0;
    forEachPlace(tail, (row, column, part, place, isPadding) => {
      places++;
      padding += Number(isPadding);
      expect(row * 82 + column).toBe(part === 2 ? 164 + place : 82 * part + place);
    });
    expect([places, padding]).toEqual([4 * 82, 2 * 16]);
    expect(shapesOf(TOY1).levels[0]!.m).toBe(15 + 54 + 3);
  });
});

describe('parser', () => {
  const read = (bytes: readonly number[]) => new Reader(Uint8Array.from(bytes), ALL_CHECKS);

  test('repeats are at most 15', () => {
    expect(read([15]).repeats('retryRange', '')).toBe(15);
    expect(() => read([16]).repeats('retryRange', '')).toThrow('retryRange');
    expect(() => read([255]).repeats('counterRange', '')).toThrow('counterRange');
    expect(() => read([]).repeats('counterRange', '')).toThrow(Refused);
  });

  test('cut values: at most floor((q - 1) / 2^cut)', () => {
    for (const cut of [0, 4, 9, 15]) {
      const most = (Q - 1n) >> BigInt(cut);
      const list = (x: bigint) => bitsOf(44 - cut, [...new Array<bigint>(63).fill(1n), x]);
      expect(read(list(most)).cutValues(1, cut, '').values[0]![63]).toBe(most);
      if (most + 1n < 1n << BigInt(44 - cut)) {
        expect(() => read(list(most + 1n)).cutValues(1, cut, '')).toThrow('cutRange');
      }
      expect(() => read(list(most).slice(1)).cutValues(1, cut, '')).toThrow('end of the bytes');
    }
  });

  test('residues below q', () => {
    const list = (x: bigint) => bitsOf(44, [x, ...new Array<bigint>(63).fill(Q - 1n)]);
    expect(read(list(Q - 1n)).residues(1, '').values[0]![0]).toBe(Q - 1n);
    expect(() => read(list(Q)).residues(1, '')).toThrow('residueRange');
  });

  test('lifts: 189 values below q, four bits of filling that are zero', () => {
    const values = Array.from({ length: 189 }, (_, i) => BigInt(i));
    const bytes = bitsOf(44, values);
    expect(bytes.length).toBe(1040);
    const sent = read(bytes).lifts('').values;
    expect(sent.map((b) => b.slice(0, 3))).toEqual([
      [0n, 0n, 1n],
      [0n, 63n, 64n],
      [0n, 126n, 127n],
    ]);
    for (const bit of [4, 5, 6, 7]) {
      const spoiled = [...bytes.slice(0, -1), bytes[1039]! | (1 << bit)];
      expect(() => read(spoiled).lifts('')).toThrow('fill');
    }
    const large = bitsOf(44, values.with(100, Q));
    expect(() => read(large).lifts('')).toThrow('residueRange');
    expect(() => read(bytes.slice(0, 1039)).lifts('')).toThrow('end of the bytes');
  });

  /** a zigzag number as a string of bits */
  const code = (zigzag: number, k: number) =>
    '1'.repeat(Math.floor(zigzag / 2 ** k)) +
    '0' +
    Array.from({ length: k }, (_, i) => (zigzag >> i) & 1).join('');
  const fill = (bits: string) => bits.padEnd(8 * Math.ceil(bits.length / 8), '0');
  const bytesOfBits = (bits: string) => bitsOf(1, [...bits].map(Number));

  test('Rice: codes of both signs', () => {
    for (const k of [0, 1, 9]) {
      const list = [0, -1, 1, -2, 2, 2 ** k, -(2 ** k), 16 * 2 ** k - 1, -16 * 2 ** k];
      const bits = list.map((x) => code(x >= 0 ? 2 * x : -2 * x - 1, k)).join('');
      const reader = read(bytesOfBits(fill(bits)));
      expect(reader.rice(new Array(list.length).fill(k), '')).toEqual(list);
      expect(reader.at).toBe(Math.ceil(bits.length / 8));
    }
  });

  test('Rice: each code with its own k; what follows the field is left', () => {
    const reader = read([...bytesOfBits(fill(code(5, 1) + code(9, 3))), 77]);
    expect(reader.rice([1, 3], '')).toEqual([-3, -5]);
    expect([...reader.take(1)]).toEqual([77]);
  });

  test('Rice: long quotients, filling that is not zero, an end within a code', () => {
    expect(read(bytesOfBits(fill(code(31, 0)))).rice([0], '')).toEqual([-16]);
    expect(() => read(bytesOfBits(fill(code(32, 0)))).rice([0], '')).toThrow('quotient');
    expect(() => read(new Array(10).fill(255)).rice([3], '')).toThrow('quotient');
    const bits = code(3, 2);
    for (let at = bits.length; at < 8; at++) {
      const spoiled = `${bits.padEnd(at, '0')}1`.padEnd(8, '0');
      expect(() => read(bytesOfBits(spoiled)).rice([2], '')).toThrow('fill');
    }
    expect(() => read([7]).rice([9], '')).toThrow('end of the bytes');
    expect(() => read([255]).rice([0], '')).toThrow('end of the bytes');
    expect(read([]).rice([], '')).toEqual([]);
  });

  test('y: 264 codes, filling, then the sum as an i32', () => {
    const bits = fill(code(1, 0) + code(0, 0).repeat(263));
    expect(bits.length).toBe(8 * 34);
    const field = [...bytesOfBits(bits), 0xfb, 0xff, 0xff, 0x7f];
    const reader = read([...field, 99]);
    const expected = [-1, ...new Array<number>(263).fill(0), 0x7ffffffb];
    expect(reader.projection(0, '')).toEqual(expected);
    expect([...reader.take(1)]).toEqual([99]);
    expect(read(field.with(37, 0xff)).projection(0, '')[264]).toBe(-5);
    expect(() => read(field.with(33, 0x80)).projection(0, '')).toThrow('fill');
    expect(() => read(field.slice(0, -1)).projection(0, '')).toThrow('end of the bytes');
  });

  test('g above (q - 1)/2 in magnitude would be a second code of a residue', () => {
    // quotient 1 of k = 43: zigzag 2^43 + low bits, so g = -(2^43 + low + 1)/2 or its like
    const { tail } = shapesOf(TOY1);
    const wide = { ...tail, kG: [43, ...tail.kG.slice(1)] };
    const half = Number(Q / 2n);
    const field = (g: number) => {
      const zigzag = BigInt(2 * g);
      const low = bitsOf(43, [BigInt.asUintN(43, zigzag)]).length;
      expect(low).toBe(6);
      let bits = `${'1'.repeat(Number(zigzag >> 43n))}0`;
      for (let i = 0; i < 43; i++) bits += Number((zigzag >> BigInt(i)) & 1n);
      for (let i = 1; i < 64; i++) bits += `0${'0'.repeat(43)}`;
      for (const k of wide.kG.slice(1)) bits += `0${'0'.repeat(k)}`.repeat(64);
      const t = new Array<number>(8 * 34 * 3 * 1).fill(0);
      return [0, ...t, ...bytesOfBits(fill(bits))];
    };
    expect(() => read(field(half)).tail(wide)).toThrow('end of the bytes');
    expect(() => read(field(half + 1)).tail(wide)).toThrow('centredG');
  });

  test('equal is about every coefficient', () => {
    expect(equal(constant(1n), constant(1n))).toBe(true);
    expect(equal(constant(1n), fromIntegers([1, ...new Array(62).fill(0), 1]))).toBe(false);
  });
});
