/** The slow verifier by its parts, on values by hand or by another implementation. */
import { createCipheriv, createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodePublicKey, hashToPoint } from '../../../src/falcon/points.ts';
import { signedItem } from '../../reference/items.ts';
import {
  alphaOf,
  amortiserOf,
  collapse,
  cosine,
  functionalOf,
  keyRow,
  operatorNormHolds,
  projectionOf,
  scalars,
  shortPolynomial,
} from '../../reference/verifier/challenges.ts';
import { ALL_CHECKS } from '../../reference/verifier/checks.ts';
import { uncut } from '../../reference/verifier/claim.ts';
import { tauOf } from '../../reference/verifier/level0.ts';
import { checkProjectionNorm, valuesOfY, weigh } from '../../reference/verifier/lifts.ts';
import { pointOf, publicKeyOf, timesMirrored } from '../../reference/verifier/points.ts';
import {
  add,
  constant,
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
import { bitsOf } from './bits.ts';
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

describe('streams', () => {
  test('8 rounds: the published block of the zero key', () => {
    expect(hex(chachaBlock(new Uint8Array(32), 0, [0, 0, 0]))).toBe(
      '3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e' +
        '984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42',
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
    const p = FALCON_Q;
    const words = [5 * p - 1, 5 * p, 0, 65535, 6144, 6145, p + 1, 3 * p - 2];
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

  test('c: 28 of magnitude 1, then 12 of 2, then 2 of 3', () => {
    // signs of a chirp, which pass
    const chirp = Array.from({ length: 42 }, (_, e) => e).filter((e) => (e * e) % 23 < 12);
    const bytes = [...signs(...chirp), ...upTo63(22)];
    const magnitudes = [...new Array(28).fill(1), ...new Array(12).fill(2), 3, 3];
    const expected = magnitudes.map((x, e) => (chirp.includes(e) ? -x : x));
    const c = [...new Array(22).fill(0), ...expected];
    expect(operatorNormHolds(c)).toBe(true);
    expect(amortiserOf(bytesOf(bytes))).toEqual({ c, attempts: 1 });
  });

  test('c: an attempt that fails the norm is drawn anew, signs too', () => {
    const smooth = [...signs(), ...upTo63(22)];
    expect(operatorNormHolds([...new Array(22).fill(0), ...new Array(42).fill(1)])).toBe(false);
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
      expect(drawn.c.reduce((sum, x) => sum + x * x, 0)).toBe(94);
      for (let k = 1; k < 64; k += 2) {
        const at = (f: (x: number) => number) =>
          drawn.c.reduce((sum, x, t) => sum + x * f((Math.PI * k * t) / 64), 0);
        expect(Math.hypot(at(Math.cos), at(Math.sin)) ** 2).toBeLessThan(376.001);
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
    // biome-ignore format: several in a line
    const cases = [
      [5, 5, 0], [21, 5, 4], [37, 21, 0], [53, 21, 4], [0, 0, 0], [63, 31, 4],
    ] as const;
    const bytes = stream(KEY, { type: 2, level: 3 }).take(4 * 1088);
    for (const polynomial of [0, 3]) {
      const entries = projectionOf(KEY, 3, polynomial);
      for (const row of [0, 3, 4, 7, 8, 70, 135]) {
        const group = 1088 * polynomial + 32 * Math.floor(row / 4);
        for (const [c, byte, shift] of cases) {
          expect(entries[64 * row + c]).toBe((bytes[group + byte]! >> (shift + (row % 4))) & 1);
        }
      }
    }
    const far = projectionOf(KEY, 3, 29273);
    const block = blockOf(KEY, { type: 2, level: 3 }, 17 * 29273 + 16);
    expect(far[64 * 128 + 5]).toBe(block[5]! & 1);
    expect(far[64 * 135 + 63]).toBe(block[63]! >> 7);
  });

  test('random entries are one half of the time 1; the last row at the lower half always', () => {
    const all = 136 * 64;
    let ones = 0;
    for (let i = 0; i < 4; i++) {
      const entries = projectionOf(KEY, 0, i);
      expect(new Set(entries)).toEqual(new Set([0, 1]));
      for (const x of entries.subarray(0, all)) ones += x;
      const sums = [...new Array(32).fill(1), ...new Array(32).fill(0)];
      expect([...entries.subarray(all)]).toEqual(sums);
    }
    expect(Math.abs(ones / (4 * all) - 0.5)).toBeLessThan(0.015);
  });

  test('y from what is sent: half of the sums, rounded down, is put back', () => {
    const rows = Array.from({ length: 272 }, (_, j) => j - 100);
    const [most, least] = [2 ** 31 - 1, -(2 ** 31)];
    // biome-ignore format: one line
    const tuples = [
      [0, 0, 0, 0], [4, 3, 3, -1], [-4, -3, -4, 0], [-3, -5, -4, -1], [most, most, most, 0],
      [most, least, -1, least], [least, most, -1, most], [least, least, least, 0],
    ] as const;
    for (const [U, V, half, star] of tuples) {
      const expected = Array.from({ length: 136 }, (_, j) => [
        BigInt(rows[2 * j]! + half),
        BigInt(rows[2 * j + 1]! + star),
      ]);
      expect(valuesOfY({ rows, U, V })).toEqual([...expected, [BigInt(U), BigInt(V)]]);
    }
  });

  test('the norm that is bounded is that of 2 y - (U + V) and 2 y* - (V - U)', () => {
    const passes = (at: number, value: number, U: number, V: number, inSq: number) => {
      const rows = new Array<number>(272).fill(0).with(at, value);
      return expect(() => checkProjectionNorm(ALL_CHECKS, { rows, U, V }, inSq, ''));
    };
    const [most, least] = [2 ** 31 - 1, -(2 ** 31)];
    for (const at of [0, 1, 270, 271]) {
      // an odd sum: all others are -1, of 288 one may have 17
      // biome-ignore format: one line
      const ends = [[1, 0], [0, -1], [most, 0], [least, 7], [most, least]] as const;
      for (const [U, V] of ends) {
        passes(at, 2, U, V, 1).not.toThrow();
        passes(at, -1, U, V, 1).not.toThrow();
        passes(at, 3, U, V, 1).toThrow('projectionNorm');
        passes(at, -2, U, V, 1).toThrow('projectionNorm');
      }
      // an even one: all others are 0, and one is twice what is sent
      // biome-ignore format: one line
      const choices = [[0, 0], [1, 1], [-3, 5], [most, most], [least, least]] as const;
      for (const [U, V] of choices) {
        passes(at, 12, U, V, 2).not.toThrow();
        passes(at, -12, U, V, 2).not.toThrow();
        passes(at, 13, U, V, 2).toThrow('projectionNorm');
        passes(at, -13, U, V, 2).toThrow('projectionNorm');
      }
    }
  });

  test('a collapsed projection: sigma of it times s has the weighted sums at 0 and 32', () => {
    const entries = projectionOf(KEY, 2, 9);
    const word = (index: number) =>
      scalars(stream(KEY, { type: STREAM.omega, level: 2, index }), 137);
    const omega = word(0).map((a, j): [bigint, bigint] => [a, word(1)[j]!]);
    const s = Array.from({ length: 64 }, (_, c) => BigInt(((37 * c) % 101) - 50));
    const y = Array.from({ length: 137 }, (_, j): [bigint, bigint] => {
      const row = Array.from(entries.subarray(64 * j, 64 * j + 64), BigInt);
      const rotated = row.map((_, c) => (c < 32 ? -row[c + 32]! : row[c - 32]!));
      const dot = (x: readonly bigint[]) => x.reduce((sum, e, c) => sum + e * s[c]!, 0n);
      return [dot(row), dot(rotated)];
    });
    const form = sigma(collapse(entries, omega).map(mod));
    const product = multiply(form, s.map(mod));
    expect([product[0], product[32]]).toEqual(weigh(omega, y).map(mod));
  });

  test('an element is 352 bytes of its row; fewer columns are a prefix', () => {
    const key = createHash('shake256', { outputLength: 32 })
      .update('falconry commitment keys v2')
      .digest();
    const bytes = stream(key, { type: 10, level: 0, index: 2 }).take(3 * 352);
    const all = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
    const row = keyRow(2, 3);
    expect(row.flat()).toEqual(
      Array.from({ length: 192 }, (_, i) => BigInt.asUintN(44, all >> BigInt(44 * i)) % Q),
    );
    expect(keyRow(2, 2)).toEqual(row.slice(0, 2));
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
    const differences = [1, 2].map((i) => subtract(squares[i]!, squares[0]!));
    for (const x of [...c, ...differences]) {
      expect(multiply(x, inverse(x)!)).toEqual(constant(1n));
    }
    expect(inverse(constant(0n))).toBeUndefined();
    // X^64 + 1 = (X^32 - d X^16 - 1)(X^32 + d X^16 - 1) with d^2 = -2, since q is 3 modulo 8
    const power = (x: bigint, e: bigint): bigint =>
      e === 0n ? 1n : mod(power(mod(x * x), e / 2n) * (e % 2n === 1n ? x : 1n));
    const root = power(Q - 2n, (Q + 1n) / 4n);
    expect(mod(root * root)).toBe(Q - 2n);
    const factor = [...constant(Q - 1n)];
    factor[16] = root;
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
