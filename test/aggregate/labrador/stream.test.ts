import { describe, expect, test } from 'vitest';
import { cosines } from '../../../scripts/generate/cosines.ts';
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { labradorModule } from './area.ts';
import {
  ALPHA,
  BLOCKS,
  C,
  chachaStream,
  isShort,
  projectedForm,
  projectionRow,
  ROWS,
  scalars,
  signedChallenge,
  turned,
  word44,
} from './chacha.ts';
import { centred, HALF_Q, mod, multiply, type Poly, sigma, source } from './plain.ts';

const random = source('labrador stream');

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
    // biome-ignore format: one line
    const choices = [[0, 1], [1, 2], [2 ** 22, 1], [BLOCKS * 29273, 17]] as const;
    for (const [from, quads] of choices) {
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
      exports.uniformScalars!(OUT, 2 * ROWS);
      expect(coefs(2 * ROWS)).toEqual(scalars(stream, 2 * ROWS).map((x) => centred(x)));
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
    const edges = [Q, Q - 1n, HALF_Q, Q + 1n, HALF_Q + 1n, 0n, 2n ** 44n - 1n];
    const words = Array.from({ length: 40 }, (_, i) => edges[i % 7]!);
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

  // found by trying 70,903,939 streams: one word in 2^37 is not below q
  test('a uniform polynomial whose stream has a word not below q', () => {
    bytes.set(
      Uint8Array.from({ length: 32 }, (_, i) => i),
      KEY,
    );
    const nonce = [7, 70903938, 0];
    exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
    const stream = chachaStream(bytes.slice(KEY, KEY + 32), nonce, 0, 8);
    bytes.set(key, KEY);
    expect(word44(stream, 53)).toBe(Q + 5n);
    exports.uniformPoly!(OUT);
    expect(coefs(64)).toEqual(scalars(stream, 64).map((x) => centred(x)));
    expect(centred(word44(stream, 64))).toBe(coefs(64)[63]);
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

  test('values mod 12289: the last one is the first of the next block', () => {
    const count = 120;
    const kept = (words: Uint16Array) => words.filter((w) => w < 61445);
    let seen = 0;
    for (let index = 0; seen < 3; index++) {
      exports.xofStart!(KEY, 3, index, 0);
      exports.xofBlocks!(OUT, 0, 2);
      const words = new Uint16Array(m.buffer, OUT, 256).slice();
      if (kept(words.subarray(0, 128)).length !== count - 1) continue;
      seen++;
      m.lanes(OUT, 256).fill(0);
      exports.xofStart!(KEY, 3, index, 0);
      exports.uniformModP!(OUT, count);
      const expected = [...kept(words)].map((w) => Number(centred(BigInt(w), 12289n)));
      expect([...m.lanes(OUT, count)]).toEqual(expected.slice(0, count));
    }
  });

  test('values mod 12289: the largest word taken and the first refused, in every lane', () => {
    const count = 1024;
    const wanted = new Set([61444, 61445].flatMap((w) => [0, 1, 2, 3].map((lane) => 4 * w + lane)));
    for (let index = 0; wanted.size > 0; index++) {
      exports.xofStart!(KEY, 3, index, 0);
      exports.xofBlocks!(OUT, 0, 10);
      const words = new Uint16Array(m.buffer, OUT, 1280).slice();
      const kept = [...words].flatMap((w, i) => (w < 61445 ? [i] : []));
      const here = words.subarray(0, kept[count - 1]).entries();
      if ([...here].filter(([i, w]) => wanted.delete(4 * w + (i % 4))).length === 0) continue;
      exports.xofStart!(KEY, 3, index, 0);
      exports.uniformModP!(OUT, count);
      const expected = kept.slice(0, count).map((i) => Number(centred(BigInt(words[i]!), 12289n)));
      expect([...m.lanes(OUT, count)]).toEqual(expected);
    }
  });

  test('challenges with signs, and short ones', () => {
    let attempts = 0;
    for (let index = 0; index < 60; index++) {
      const alpha = signedChallenge(start([1, index, 0]), ALPHA).x;
      exports.sampleAlpha!(POLYS);
      expect(m.readSmall(POLYS)).toEqual(alpha);
      expect(alpha.reduce((sum, x) => sum + x * x, 0n)).toBe(82n);
      const c = signedChallenge(start([9, index, 0]), C);
      expect(exports.sampleC!(POLYS)).toBe(c.attempts);
      expect(m.readSmall(POLYS)).toEqual(c.x);
      expect(c.x.reduce((sum, x) => sum + x * x, 0n)).toBe(94n);
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
    // by coefficients from the first or up to the last, at the first root or at the last
    for (const at of [0, 43]) {
      for (const sign of [1n, -1n]) {
        const ones = (count: number): Poly =>
          Array.from({ length: 64 }, (_, i) =>
            i >= at && i < at + count ? sign ** BigInt(i) : 0n,
          );
        const places = at === 0 ? ones : (count: number) => ones(21).fill(0n, at, at + 21 - count);
        expect(judge(places(20))).toBe(true);
        expect(judge(places(21))).toBe(false);
      }
    }
    // of many challenges those next to the bound, from below and from above
    const largest = (c: readonly number[]) =>
      Math.max(
        ...Array.from({ length: 32 }, (_, i) => {
          let [re, im] = [0, 0];
          for (const [t, x] of c.entries()) {
            re += x * Math.cos((Math.PI * (2 * i + 1) * t) / 64);
            im += x * Math.sin((Math.PI * (2 * i + 1) * t) / 64);
          }
          return re * re + im * im;
        }),
      );
    const any = Array.from({ length: 3000 }, () => {
      const { x } = signedChallenge(random.bytes(600), { ...C, tests: false });
      return { x, at: largest(x.map(Number)) - 376 };
    }).sort((a, b) => a.at - b.at);
    const first = any.findIndex(({ at }) => at > 0);
    const next = any.slice(first - 3, first + 3);
    expect(next.map(({ x }) => judge(x))).toEqual([true, true, true, false, false, false]);
    expect(Math.max(...next.map(({ at }) => Math.abs(at)))).toBeLessThan(2);
  });

  describe('projection', () => {
    const nonce = [2 + 256 * 5, 0, 0];
    const [Y, S] = [m.room(16 * ROWS), m.room(128 * 600)];
    const y = () => new BigInt64Array(m.buffer, Y, 2 * ROWS);
    const choose = () => exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
    /** Adds what polynomials first, first + 1, ... give to what `Y` holds. */
    const project = (first: number, s: readonly Poly[]): bigint[] => {
      for (const [i, x] of s.entries()) m.writeSmall(S + 128 * i, x);
      choose();
      expect(exports.projectPolys!(Y, S, first, s.length)).toBe(0);
      return [...y()];
    };
    const rowOf = (polynomial: number, row: number): Poly =>
      projectionRow(chachaStream(key, nonce, BLOCKS * polynomial, BLOCKS), row);
    /** y and y* by the definition, as numbers: sums of the tests here are far below 2^53. */
    const expected = (first: number, s: readonly Poly[]): bigint[] => {
      const sums = new Float64Array(2 * ROWS);
      for (const [i, x] of s.entries()) {
        const bits = chachaStream(key, nonce, BLOCKS * (first + i), BLOCKS);
        const coefficients = x.map(Number);
        for (let row = 0; row < ROWS; row++) {
          const pi = projectionRow(bits, row);
          for (const [c, bit] of pi.entries()) {
            if (bit === 0n) continue;
            sums[2 * row]! += coefficients[c]!;
            // X^32 X^c
            sums[2 * row + 1]! += c < 32 ? coefficients[c + 32]! : -coefficients[c - 32]!;
          }
        }
      }
      return Array.from(sums, BigInt);
    };
    const all = (value: bigint): Poly => new Array<bigint>(64).fill(value);

    test.each([
      ['the ramp of the vectors', [Array.from({ length: 64 }, (_, j) => BigInt(j - 32))]],
      ['a constant', [all(1n)]],
      ...[0, 15, 16, 31, 32, 47, 48, 63].map(
        (at) => [`coefficient ${at} alone`, [all(0n).with(at, 1n)]] as const,
      ),
    ] as const)('%s', (_name, s) => {
      y().fill(0n);
      expect(project(3, s)).toEqual(expected(3, s));
    });

    // four polynomials are staged at a time: any place of the first one, any rest
    // biome-ignore format: several in a line
    const runs = [
      [0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [7, 37], [29273, 3], [29274, 4], [56830, 9],
    ];
    test.each(runs)('every row, from polynomial %i on, %i of them', (first, count) => {
      const s = Array.from({ length: count }, (_, i) =>
        i % 2 ? random.extreme(32767n) : random.poly(8192n),
      );
      y().fill(7n);
      expect(project(first, s)).toEqual(expected(first, s).map((x) => x + 7n));
    });

    test('pairs are the coefficients 0 and 32 of sigma(row) s', () => {
      const s = random.poly(32767n);
      y().fill(0n);
      const got = project(9, [s]);
      for (const row of [0, 77, 135, 136]) {
        const product = multiply(sigma(rowOf(9, row)), s);
        expect(got.slice(2 * row, 2 * row + 2)).toEqual([product[0], product[32]]);
      }
      const sum = (half: Poly) => half.reduce((total, x) => total + x, 0n);
      expect(got.slice(-2)).toEqual([sum(s.slice(0, 32)), sum(s.slice(32))]);
    });

    test('a run in pieces is the run', () => {
      const s = Array.from({ length: 23 }, () => random.poly(32767n));
      for (const pieces of [[23], [1, 22], [2, 21], [3, 5, 7, 8], new Array<number>(23).fill(1)]) {
        y().fill(0n);
        let at = 0;
        for (const count of pieces) {
          project(1000 + at, s.slice(at, at + count));
          at += count;
        }
        expect([...y()]).toEqual(expected(1000, s));
      }
    });

    test('nothing of nothing', () => {
      y().fill(-3n);
      expect(project(5, [])).toEqual(new Array<bigint>(2 * ROWS).fill(-3n));
    });

    // sums in 32 bits are emptied after 256 polynomials: the largest there are, up to there and
    // beyond
    test('every coefficient is at the same end', () => {
      const ones = new Array<bigint>(2 * ROWS).fill(0n);
      let counted = 0;
      for (const count of [255, 256, 257, 600]) {
        const more = new Array<Poly>(count - counted).fill(all(1n));
        for (const [i, x] of expected(11 + counted, more).entries()) ones[i]! += x;
        counted = count;
        expect(ones.slice(-2)).toEqual([32n * BigInt(count), 32n * BigInt(count)]);
        for (const value of [-32768n, 32767n]) {
          y().fill(0n);
          const got = project(11, new Array<Poly>(count).fill(all(value)));
          expect(got).toEqual(ones.map((x) => x * value));
        }
      }
    });

    test('coefficients at the ends that a row makes the most of, or its product by X^32', () => {
      for (const [row, isTurned] of [
        [1, false],
        [135, false],
        [0, true],
        [134, true],
      ] as const) {
        let most = 0n;
        const s = Array.from({ length: 258 }, (_, i) => {
          const pi = rowOf(20 + i, row);
          return (isTurned ? turned(pi) : pi).map((sign) => {
            const x = sign > 0n ? 32767n : -32768n;
            most += sign * x;
            return x;
          });
        });
        y().fill(0n);
        const got = project(20, s);
        expect(got).toEqual(expected(20, s));
        expect(got[2 * row + (isTurned ? 1 : 0)]).toBe(most);
      }
    });

    test('added to whatever is there, up to the ends of 64 bits', () => {
      const s = [random.extreme(32767n)];
      const sums = expected(0, s);
      for (const end of [2n ** 63n - 1n, -(2n ** 63n)]) {
        y().set(sums.map((x) => end - (x > 0n === end > 0n ? x : 0n)));
        const before = [...y()];
        expect(project(0, s)).toEqual(before.map((x, j) => BigInt.asIntN(64, x + sums[j]!)));
      }
    });
  });

  describe.each([
    [2, 'collapseTwo'],
    [3, 'collapseThree'],
  ] as const)('collapse by %i lifts', (lifts, collapse) => {
    const nonce = [2, 0, 0];
    const OMEGA = m.room(lifts * 16 * ROWS);
    const omegas = (value: (j: number, lift: number) => bigint): bigint[][] =>
      Array.from({ length: lifts }, (_, lift) =>
        Array.from({ length: 2 * ROWS }, (_, j) => value(j, lift)),
      );
    /** The forms of polynomials first to first + count - 1, lift by lift. */
    const collapsed = (omega: readonly bigint[][], first: number, count: number): Poly[] => {
      new BigInt64Array(m.buffer, OMEGA, lifts * 2 * ROWS).set(omega.flat());
      exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
      expect(exports.collapseStart!(OMEGA, lifts)).toBe(0);
      exports[collapse]!(OUT, first, count);
      return Array.from({ length: lifts * count }, (_, i) => m.readCoefs(OUT + 512 * i));
    };
    const ends = [HALF_Q, -HALF_Q, Q - 1n, 2n ** 44n, -(2n ** 44n)];

    test.each([
      ['random', () => random.between(-HALF_Q, HALF_Q)],
      ['at the ends', (_j: number, lift: number) => ends[lift]!],
      ['at the other ends', (_j: number, lift: number) => ends[lift + 2]!],
      [
        'at opposite ends in both halves',
        (j: number, lift: number) => (j % 2 === lift % 2 ? 2n ** 44n : -(2n ** 44n)),
      ],
      ['now at the one end, now at the other', () => ends[Number(random.between(0n, 4n))]!],
      ['without X^32', (j: number, lift: number) => (j % 2 === 0 ? ends[lift]! : 0n)],
      ['of X^32 alone', (j: number, lift: number) => (j % 2 === 1 ? ends[lift]! : 0n)],
      [
        'of the last row alone',
        (j: number, lift: number) => (j >= 2 * ROWS - 2 ? ends[lift + (j % 2)]! : 0n),
      ],
      [
        'of all rows but the last',
        (j: number, lift: number) => (j < 2 * ROWS - 2 ? ends[lift]! : 0n),
      ],
      ['of one row', (j: number, lift: number) => (j === [0, 131, 271][lift] ? -1n : 0n)],
      ['zero', () => 0n],
    ])('omega %s', (_name, value) => {
      const omega = omegas(value);
      for (const [first, count] of [
        [0, 1],
        [1001, 3],
        [1002, 5],
        [29275, 4],
      ] as const) {
        const expected = Array.from({ length: count }, (_, i) => {
          const bits = chachaStream(key, nonce, BLOCKS * (first + i), BLOCKS);
          return omega.map((weights) => projectedForm(bits, weights));
        });
        expect(collapsed(omega, first, count)).toEqual(expected.flat());
      }
    });

    test('omega that one coefficient makes the most of', () => {
      const bits = chachaStream(key, nonce, 0, BLOCKS);
      const rows = Array.from({ length: ROWS }, (_, row) => projectionRow(bits, row));
      for (const [column, sign] of [
        [0, 1n],
        [5, -1n],
        [31, 1n],
        [32, -1n],
        [63, 1n],
      ] as const) {
        // the coefficient of row_j and of X^-32 row_j decides on the sign of omega_j0 and omega_j1
        const omega = omegas((j) => {
          const row = rows[j >> 1]!;
          const bit = j % 2 === 0 ? row[column]! : -turned(row)[column]!;
          return (bit < 0n ? -sign : sign) * 2n ** 44n;
        });
        expect(collapsed(omega, 0, 1)).toEqual(
          omega.map((weights) => projectedForm(bits, weights)),
        );
      }
      // every bit set, where sums are largest: still less than the bias that makes them positive
      expect(34n * 8n * 2n ** 44n + 2n ** 44n).toBeLessThan(Q << 9n);
    });

    test('is the transpose of the projection: coefficients 0 and 32 of the form times s', () => {
      const [Y, S] = [m.room(16 * ROWS), m.room(128)];
      const omega = omegas(() => random.between(-HALF_Q, HALF_Q));
      const s = random.poly(32767n);
      m.writeSmall(S, s);
      const y = new BigInt64Array(m.buffer, Y, 2 * ROWS).fill(0n);
      exports.xofStart!(KEY, nonce[0]!, nonce[1]!, nonce[2]!);
      exports.projectPolys!(Y, S, 77, 1);
      for (const [lift, form] of collapsed(omega, 77, 1).entries()) {
        let [b0, b32] = [0n, 0n];
        for (let j = 0; j < ROWS; j++) {
          const [w0, w1] = omega[lift]!.slice(2 * j, 2 * j + 2) as [bigint, bigint];
          b0 += w0 * y[2 * j]! - w1 * y[2 * j + 1]!;
          b32 += w0 * y[2 * j + 1]! + w1 * y[2 * j]!;
        }
        const product = multiply(form, s);
        expect([product[0], product[32]].map((x) => centred(x!))).toEqual(
          [b0, b32].map((x) => centred(x)),
        );
      }
    });
  });

  test('bits of the projection have their distribution, and rows share none', () => {
    const bits = chachaStream(key, [2, 1, 0], 0, BLOCKS);
    const rows = Array.from({ length: ROWS - 1 }, (_, row) => projectionRow(bits, row));
    const ones = rows.flat().filter((x) => x === 1n).length;
    const total = 64 * (ROWS - 1);
    expect(Math.abs(ones - total / 2)).toBeLessThan(5 * Math.sqrt(total / 4));
    // every bit of the 17 blocks is an entry, once
    const set = bits.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
    expect([8 * bits.length, set]).toEqual([total, ones]);
    expect(new Set(rows.map((row) => row.join(''))).size).toBe(ROWS - 1);
  });
});
