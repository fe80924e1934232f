/** The big-integer layer of key generation against BigInt. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  KeygenModule,
  modulo,
  power,
  putIntegers,
  signed,
  takeIntegers,
} from '../support/keygenModel.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY } from '../support/run.ts';

let m: KeygenModule;
let primes: bigint[];
const RUNS = NIGHTLY ? 1000 : 100;
const R = 1n << 32n;

beforeAll(async () => {
  m = await KeygenModule.compile();
  m.exports.initRns!();
  primes = Array.from({ length: 308 }, (_, u) => BigInt(m.exports.primeAt!(u) >>> 0));
});

const product = (count: number) => primes.slice(0, count).reduce((a, b) => a * b, 1n);
const random = testRandom('zint');
/** An integer of exactly uniform bits. */
function uniform(bits: number): bigint {
  const bytes = random.bytes(Math.ceil(bits / 8));
  return BigInt.asUintN(bits, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}
/** Integers whose words are often all zeros or all ones: carries run far. */
const lopsided = (bits: number): fc.Arbitrary<bigint> =>
  fc
    .array(fc.oneof(fc.constant(0n), fc.constant(0x7fffffffn), fc.bigInt(0n, 0x7fffffffn)), {
      minLength: Math.ceil(bits / 31),
      maxLength: Math.ceil(bits / 31),
    })
    .map((words) =>
      BigInt.asUintN(
        bits,
        words.reduce((x, w) => (x << 31n) | w, 0n),
      ),
    );

describe('tables', () => {
  test('per prime: -1/p mod 2^32, 2^64 mod p, 2^63 mod p', () => {
    const columns = ['P0I', 'R2', 'T31'].map((name) => m.words(name, 308));
    primes.forEach((p, u) => {
      expect(p % 2048n).toBe(1n);
      expect(BigInt(columns[0]![u]!)).toBe(modulo(-modularInverse(p, R), R));
      expect(BigInt(columns[1]![u]!)).toBe((1n << 64n) % p);
      expect(BigInt(columns[2]![u]!)).toBe((1n << 63n) % p);
    });
    expect(new Set(primes).size).toBe(308);
  });
});

/** 1/a mod m by Euclid. */
function modularInverse(a: bigint, modulus: bigint): bigint {
  let [r0, r1, t0, t1] = [modulus, modulo(a, modulus), 0n, 1n];
  while (r1 !== 0n) {
    const q = r0 / r1;
    [r0, r1, t0, t1] = [r1, r0 - q * r1, t1, t0 - q * t1];
  }
  return modulo(t0, modulus);
}

describe('residues', () => {
  test('Montgomery product: extremes and random values', () => {
    for (const u of [0, 1, 150, 307]) {
      const p = primes[u]!;
      const p0i = m.words('P0I', 308)[u]!;
      const edges = [0n, 1n, 2n, p - 1n, p - 2n, p >> 1n, (p >> 1n) + 1n, uniform(30), uniform(30)];
      for (const a of edges) {
        for (const b of edges) {
          const c = BigInt(m.exports.mulMont!(Number(a), Number(b), Number(p), p0i) >>> 0);
          expect((c * R) % p).toBe((a * b) % p);
          expect(c < p).toBe(true);
        }
      }
    }
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'NTT of degree 2^%i: products are negacyclic',
    (logn) => {
      const n = 1 << logn;
      // the deepest prime that has roots for this degree
      const lastAt = [0, 307, 156, 77, 39, 20, 11, 6, 4, 1, 1][logn]!;
      for (const u of new Set([0, lastAt])) {
        const p = primes[u]!;
        const a = Array.from({ length: n }, () => uniform(31) % p);
        const b = Array.from({ length: n }, (_, i) => (logn > 7 && i > 40 ? 0n : uniform(31) % p));
        m.words('A', n).set(a.map(Number));
        m.words('B', n).set(b.map(Number));
        m.exports.rnsNtt!(m.at('A'), logn, u);
        m.exports.rnsNtt!(m.at('B'), logn, u);
        const aNtt = m.words('A', n);
        const bNtt = m.words('B', n);
        for (let i = 0; i < n; i++) {
          expect(BigInt(aNtt[i]!) < p).toBe(true);
          aNtt[i] = Number((BigInt(aNtt[i]!) * BigInt(bNtt[i]!)) % p);
        }
        m.exports.rnsInttScaled!(m.at('A'), logn, u);
        const want = new Array<bigint>(n).fill(0n);
        for (let j = 0; j < n; j++) {
          if (b[j] === 0n) continue;
          for (let i = 0; i < n; i++) {
            const k = (i + j) % n;
            want[k] = want[k]! + (i + j < n ? a[i]! * b[j]! : -(a[i]! * b[j]!));
          }
        }
        const scale = BigInt(m.exports.inverseOfN!(u, logn, 1) >>> 0);
        expect((scale * BigInt(n)) % p).toBe(R % p);
        expect((BigInt(m.exports.inverseOfN!(u, logn, 2) >>> 0) * BigInt(n)) % p).toBe((R * R) % p);
        const inverse = power(BigInt(n), p - 2n, p);
        for (let i = 0; i < n; i++) {
          expect((BigInt(aNtt[i]!) * inverse) % p).toBe(modulo(want[i]!, p));
        }
      }
    },
  );

  // biome-ignore format: one line
  const CHOICES = [
    [1, 4], [2, 8], [3, 16], [4, 4], [5, 8], [6, 32], [7, 4], [8, 4], [21, 8], [78, 4], [209, 4],
    [307, 4], [308, 4],
  ];
  test.each(CHOICES)('Chinese remainders: %i words, %i integers, both ways', (len, count) => {
    const modulus = product(len);
    for (const isSigned of [false, true]) {
      const low = isSigned ? -(modulus >> 1n) : 0n;
      const xs = Array.from({ length: count }, (_, i) => {
        if (i === 0) return low;
        if (i === 1) return low + modulus - 1n;
        return i === 2 ? 0n : low + (uniform(31 * len + 64) % modulus);
      });
      const words = m.words('A', len * count);
      for (let u = 0; u < len; u++) {
        xs.forEach((x, i) => {
          words[u * count + i] = Number(modulo(x, primes[u]!));
        });
      }
      m.exports.zintFromRns!(m.at('A'), len, count, Number(isSigned), m.at('TMP'));
      const back = takeIntegers(words, count, len);
      expect(isSigned ? back.map((x) => signed(x, 31 * len)) : back).toEqual(xs);
      for (const u of [0, 1, 2, 5, 100, 307]) {
        m.exports.zintMod!(m.at('B'), m.at('A'), len, count, u, Number(isSigned));
        expect([...m.words('B', count)].map(BigInt)).toEqual(xs.map((x) => modulo(x, primes[u]!)));
      }
    }
  });

  test('residues of any words, every count and length', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 14 }),
        fc.constantFrom(4, 8, 16, 32),
        fc.integer({ min: 0, max: 307 }),
        fc.boolean(),
        fc.infiniteStream(lopsided(31 * 14)),
        (len, count, u, isSigned, stream) => {
          const xs = Array.from({ length: count }, () =>
            BigInt.asUintN(31 * len, stream.next().value),
          );
          putIntegers(m.words('A', len * count), xs, len);
          m.exports.zintMod!(m.at('B'), m.at('A'), len, count, u, Number(isSigned));
          const want = xs.map((x) => modulo(isSigned ? signed(x, 31 * len) : x, primes[u]!));
          expect([...m.words('B', count)].map(BigInt)).toEqual(want);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('words', () => {
  test('to double: least word first, each sum rounded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.constantFrom(4, 8),
        fc.infiniteStream(lopsided(310)),
        (len, count, stream) => {
          const xs = Array.from({ length: count }, () =>
            BigInt.asUintN(31 * len, stream.next().value),
          );
          putIntegers(m.words('A', len * count), xs, len);
          m.exports.zintToDouble!(m.at('B'), m.at('A'), len, count);
          const doubles = new Float64Array(m.exports.memory.buffer, m.at('B'), count);
          xs.forEach((x, i) => {
            const value = signed(x, 31 * len);
            let magnitude = value < 0n ? -value : value;
            let want = 0;
            for (let j = 0; j < len; j++) {
              const word = Number(magnitude & 0x7fffffffn) * (value < 0n ? -1 : 1);
              want += word * 2 ** (31 * j);
              magnitude >>= 31n;
            }
            expect(doubles[i]! === want, `${x}: ${doubles[i]} is not ${want}`).toBe(true);
          });
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('subtraction of a scaled integer', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: 0, max: 30 }),
        fc.infiniteStream(lopsided(31 * 9)),
        (len, shorter, words, bits, stream) => {
          const yLen = Math.min(len, shorter);
          const a = Array.from({ length: 4 }, () => BigInt.asUintN(31 * len, stream.next().value));
          const y = Array.from({ length: 4 }, () => BigInt.asUintN(31 * yLen, stream.next().value));
          putIntegers(m.words('A', 4 * len), a, len);
          putIntegers(m.words('B', 4 * yLen), y, yLen);
          m.exports.zintSubScaled!(m.at('A'), len, m.at('B'), yLen, 4, words, bits);
          const want = a.map((x, i) =>
            BigInt.asUintN(31 * len, x - (signed(y[i]!, 31 * yLen) << BigInt(31 * words + bits))),
          );
          expect(takeIntegers(m.words('A', 4 * len), 4, len)).toEqual(want);
        },
      ),
      { numRuns: 3 * RUNS },
    );
  });

  test('product by a small factor reports what does not fit', () => {
    for (const len of [1, 2, 53, 106]) {
      const top = 1n << BigInt(31 * len);
      const fits = top / 12289n;
      const xs = [fits, 0n, uniform(31 * len - 14), 1n];
      putIntegers(m.words('A', 4 * len), xs, len);
      expect(m.exports.zintMulSmall!(m.at('A'), len, 4, 12289)).toBe(0);
      expect(takeIntegers(m.words('A', 4 * len), 4, len)).toEqual(xs.map((x) => x * 12289n));
      putIntegers(m.words('A', 4 * len), [0n, fits + 1n, 0n, 0n], len);
      expect(m.exports.zintMulSmall!(m.at('A'), len, 4, 12289)).not.toBe(0);
    }
  });

  describe.each([1, 2, 3, 4])('F -= k f 2^s for degree 2^%i', (logm) => {
    const degree = 1 << logm;
    const LARGEST = 2 ** 31 - 2;

    function expectProduct(
      fg: readonly bigint[],
      FG: readonly bigint[],
      k: readonly number[],
      { small, len, scale }: { small: number; len: number; scale: number },
    ): void {
      putIntegers(m.words('A', 2 * degree * small), fg, small);
      putIntegers(m.words('B', 2 * degree * len), FG, len);
      m.words('C', degree).set(k);
      m.exports.extendForProduct!(m.at('TMP'), m.at('A'), small, logm);
      m.exports.subProduct!(m.at('B'), len, m.at('TMP'), small, m.at('C'), logm, scale);
      const want = [...FG];
      for (let half = 0; half < 2; half++) {
        for (let u = 0; u < degree; u++) {
          for (let v = 0; v < degree; v++) {
            const x = BigInt(k[u]!) * signed(fg[half * degree + v]!, 31 * small);
            const to = half * degree + ((u + v) % degree);
            want[to] = want[to]! - ((u + v < degree ? x : -x) << BigInt(scale));
          }
        }
      }
      expect(takeIntegers(m.words('B', 2 * degree * len), 2 * degree, len)).toEqual(
        want.map((x) => BigInt.asUintN(31 * len, x)),
      );
    }

    test('any k in range, small or large', () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 6 }),
          fc.integer({ min: 0, max: 5 }),
          fc.integer({ min: 0, max: 120 }),
          fc.array(
            fc.oneof(
              fc.integer({ min: -LARGEST, max: LARGEST }),
              fc.constantFrom(LARGEST, -LARGEST, 2 ** (31 - logm), 0),
            ),
            { minLength: degree, maxLength: degree },
          ),
          fc.constantFrom(0, 2, 8),
          fc.infiniteStream(lopsided(31 * 11)),
          (small, more, scale, large, shift, stream) => {
            const len = small + more;
            const integers = (words: number) =>
              Array.from({ length: 2 * degree }, () =>
                BigInt.asUintN(31 * words, stream.next().value),
              );
            const k = large.map((x) => x >> shift);
            expectProduct(integers(small), integers(len), k, { small, len, scale });
          },
        ),
        { numRuns: RUNS },
      );
    });

    test('the largest sums: words at the ends of their range, k at the ends of its own', () => {
      const [small, len] = [4, 7];
      // 2^30 is the digit -2^30 and a carry, 2^30 - 1 the largest digit
      for (const word of [0x40000000n, 0x3fffffffn, 0x7fffffffn]) {
        const integer = [0, 1, 2, 3].reduce((x) => (x << 31n) | word, 0n);
        for (const signs of [1, -1, 0]) {
          const k = Array.from({ length: degree }, (_, u) => (signs || (u & 1 ? -1 : 1)) * LARGEST);
          const fg = new Array<bigint>(2 * degree).fill(integer);
          const FG = new Array<bigint>(2 * degree).fill(0n);
          for (const scale of [0, 30, 31, 77]) {
            expectProduct(fg, FG, k, { small, len, scale });
            const negated = fg.map((x) => BigInt.asUintN(31 * small, -x));
            expectProduct(negated, FG, k, { small, len, scale });
          }
        }
      }
    });
  });
});

describe('Bezout', () => {
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

  function bezout(x: bigint, y: bigint, len: number) {
    const rows = m.words('A', 4 * len);
    putIntegers(rows, [x, y, 0n, 0n], len);
    const found = m.exports.zintBezout!(m.at('B'), m.at('A'), len, m.at('TMP'));
    const [v, u] = takeIntegers(m.words('B', 4 * len), 4, len);
    return { found: found !== 0, u: u!, v: v! };
  }

  test.each([2, 3, 14, 27, 53, 106, 209])('%i words: the one solution in range, or none', (len) => {
    expect(m.exports.bezoutScratch!(len)).toBeLessThan(65536);
    let coprime = 0;
    let common = 0;
    for (let i = 0; i < (NIGHTLY ? 400 : 40); i++) {
      const bits = 31 * len - 16;
      const shorter = i % 4 === 3 ? Math.max(3, bits - random.below(bits)) : bits;
      let x = uniform(bits) | 1n;
      let y = uniform(shorter) | 1n;
      if (i % 5 === 4) {
        const factor = BigInt(2 * random.between(1, 500) + 1);
        x = ((x / factor) | 1n) * factor;
        y = ((y / factor) | 1n) * factor;
      }
      if (x >> BigInt(bits) || y >> BigInt(bits) || y === 1n) continue;
      const { found, u, v } = bezout(x, y, len);
      if (gcd(x, y) === 1n) {
        coprime++;
        expect(found).toBe(true);
        expect(x * u - y * v).toBe(1n);
        expect(u >= 0n && u < y && v >= 0n && v < x).toBe(true);
      } else {
        common++;
        expect(found).toBe(false);
      }
    }
    expect(coprime).toBeGreaterThan(10);
    expect(common).toBeGreaterThan(5);
  });

  test('slow pairs: Fibonacci numbers, powers, neighbours', () => {
    const len = 106;
    const bits = BigInt(31 * len - 16);
    const fibonacci = [1n, 1n];
    while (fibonacci.at(-1)! < 1n << (bits - 2n))
      fibonacci.push(fibonacci.at(-1)! + fibonacci.at(-2)!);
    const odd = fibonacci.filter((x) => x & 1n).slice(-8);
    const top = (1n << bits) - 1n;
    const pairs: [bigint, bigint][] = [
      [odd.at(-1)!, odd.at(-2)!],
      [odd.at(-2)!, odd.at(-1)!],
      [top, top - 2n],
      [top - 2n, top],
      [top, 3n ** 500n],
      [3n, top - 4n],
      [(1n << (bits - 1n)) + 1n, (1n << (bits - 1n)) - 1n],
      [1n, 3n],
      [5n, 3n],
    ];
    let solved = 0;
    for (const [x, y] of pairs) {
      const { found, u, v } = bezout(x, y, len);
      expect(found).toBe(gcd(x, y) === 1n);
      if (!found) continue;
      solved++;
      expect(x * u - y * v).toBe(1n);
    }
    expect(solved).toBeGreaterThan(5);
  });
});
