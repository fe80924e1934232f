import { describe, expect, test } from 'vitest';
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { labradorModule } from './area.ts';
import { HALF_Q, mod, type Poly, source } from './plain.ts';

const random = source('labrador digits');

function digitsOf(x: bigint, count: number, bits: number): bigint[] {
  const digits: bigint[] = [];
  for (let j = 0; j + 1 < count; j++) {
    const digit = BigInt.asIntN(bits, x);
    digits.push(digit);
    x = (x - digit) >> BigInt(bits);
  }
  return [...digits, x];
}

describe.each(BOTH_MODULES)('digits, cuts, packings and norms, %s module', async (module) => {
  const m = await labradorModule(module);
  const { exports } = m;
  const [COEFS, BACK, SMALL, BYTES] = [1024, 512, 8192, 512].map((n) => m.room(n)) as number[] as [
    number,
    number,
    number,
    number,
  ];
  const edges = (bits: number): Poly => {
    const half = 1n << BigInt(bits - 1);
    return [
      HALF_Q,
      -HALF_Q,
      half,
      half - 1n,
      -half,
      -half - 1n,
      0n,
      1n,
      -1n,
      2n ** 44n,
      -(2n ** 44n),
    ];
  };

  // biome-ignore format: one line
  const PAIRS = [[5, 9], [6, 8], [7, 7], [9, 5], [4, 11], [4, 14], [2, 15], [3, 15], [1, 1]];
  test.each(PAIRS)('%i digits of %i bits', (count, bits) => {
    for (let round = 0; round < 20; round++) {
      const a = [...edges(bits), ...random.poly(round % 2 ? HALF_Q : 5000n)].slice(0, 64);
      m.writeCoefs(COEFS, a);
      const expected = a.map((x) => digitsOf(x, count, bits));
      const fits = expected.every((d) => d.at(-1)! <= 32767n && d.at(-1)! >= -32768n);
      expect(exports.decompose!(SMALL, 256, COEFS, count, bits)).toBe(fits ? 0 : 1);
      for (let j = 0; j < count - (fits ? 0 : 1); j++) {
        expect(m.readSmall(SMALL + 256 * j)).toEqual(expected.map((d) => d[j]!));
      }
    }
  });

  test('digits of 16 bits fit, 32768 and -32769 do not, in every place', () => {
    for (let i = 0; i < 64; i++) {
      // biome-ignore format: one line
      const pairs = [[32767n, 0], [-32768n, 0], [32768n, 1], [-32769n, 1], [2n ** 43n, 1]] as const;
      for (const [x, status] of pairs) {
        m.writeCoefs(
          COEFS,
          Array.from({ length: 64 }, (_, j) => (i === j ? x : 1n)),
        );
        expect(exports.decompose!(SMALL, 0, COEFS, 1, 1)).toBe(status);
      }
    }
  });

  test.each([0, 4, 9, 15])('cut %i', (cut) => {
    const c = BigInt(cut);
    const special = [0n, 1n, 2n ** c - 1n, 2n ** c, Q - 1n, HALF_Q, HALF_Q + 1n];
    const u = [...special, ...Array.from({ length: 57 }, () => random.between(0n, Q - 1n))];
    m.writeCoefs(
      COEFS,
      u.map((x) => (x > HALF_Q ? x - Q : x)),
    );
    exports.cutLow!(BACK, SMALL, COEFS, cut);
    const half = cut ? 2n ** (c - 1n) : 0n;
    expect(m.readCoefs(BACK)).toEqual(u.map((x) => x >> c));
    const e = u.map((x) => ((x >> c) << c) + half - x);
    expect(m.readSmall(SMALL)).toEqual(e);
    exports.restoreCut!(COEFS, BACK, cut);
    expect(m.readCoefs(COEFS).map((x) => mod(x, Q))).toEqual(u.map((x, i) => mod(x + e[i]!, Q)));
    expect(m.readCoefs(COEFS).every((x) => x <= HALF_Q && x >= -HALF_Q)).toBe(true);
  });

  test.each([1, 4, 12, 15])('cut %i of signed integers', (cut) => {
    const c = BigInt(cut);
    const [HIGH, E] = [m.room(1024), m.room(256)];
    const edges = [0n, 1n, 2n ** c - 1n, 2n ** c, 2n ** (c - 1n), HALF_Q, 2n ** 44n];
    const special = edges.flatMap((x) => [x, -x]);
    const u = [...special, ...random.poly(HALF_Q), ...random.poly(2n ** c)].slice(0, 128);
    for (const [i, to] of [COEFS, COEFS + 512].entries()) {
      m.writeCoefs(to, u.slice(64 * i, 64 * i + 64));
    }
    const high = u.map((x) => x >> c);
    const e = u.map((x, i) => (high[i]! << c) + 2n ** (c - 1n) - x);
    expect(e.every((x) => x > -(2n ** (c - 1n)) && x <= 2n ** (c - 1n))).toBe(true);
    for (const to of [HIGH, COEFS]) {
      expect(exports.cutSigned!(to, E, COEFS, 2, cut)).toBe(0);
      expect([...m.readCoefs(to), ...m.readCoefs(to + 512)]).toEqual(high);
      expect([...m.readSmall(E), ...m.readSmall(E + 128)]).toEqual(e);
    }
  });

  test('packing', () => {
    for (const bits of [44, 40, 29, 8, 1]) {
      for (const count of [64, 63, 1]) {
        const largest = bits === 44 ? Q - 1n : 2n ** BigInt(bits) - 1n;
        const a = Array.from({ length: 64 }, (_, i) =>
          i === 0 ? largest : i === 1 ? 0n : random.between(0n, largest),
        );
        m.writeCoefs(
          COEFS,
          a.map((x) => (bits === 44 && x > HALF_Q ? x - Q : x)),
        );
        const length = Math.ceil((count * bits) / 8);
        const bytes = new Uint8Array(m.buffer, BYTES, length + 1);
        bytes[length] = 99;
        exports.packBits!(BYTES, COEFS, count, bits);
        let expected = 0n;
        for (let i = 0; i < count; i++) expected |= a[i]! << BigInt(bits * i);
        const got = bytes
          .slice(0, length)
          .reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
        expect(got).toBe(expected);
        expect(bytes[length]).toBe(99);
        const unpack = exports.unpackBits as unknown as (...args: (number | bigint)[]) => number;
        expect(unpack(BACK, BYTES, count, bits, largest)).toBe(0);
        expect(m.readCoefs(BACK).slice(0, count)).toEqual(a.slice(0, count));
        expect(unpack(BACK, BYTES, count, bits, largest - 1n)).toBe(1); // a[0] is the largest
        if ((count * bits) % 8) {
          bytes[length - 1]! |= 0x80;
          expect(unpack(BACK, BYTES, count, bits, largest)).toBe(1); // the filling is not zero
        }
      }
    }
  });

  test('norms and inner products are exact', () => {
    const OUT = m.room(8);
    const read = () => new BigInt64Array(m.buffer, OUT, 1);
    for (const fill of [-32768, 32767, 0]) {
      const a = new Int16Array(m.buffer, SMALL, 64 * 60).fill(fill);
      exports.normSq!(OUT, SMALL, 60);
      expect(read()[0]).toBe(BigInt(a.length) * BigInt(fill) ** 2n);
    }
    const a = Array.from({ length: 20 }, () => random.poly(32767n));
    for (const [i, x] of a.entries()) m.writeSmall(SMALL + 128 * i, x);
    exports.normSq!(OUT, SMALL, 20);
    expect(read()[0]).toBe(a.flat().reduce((sum, x) => sum + x * x, 0n));
    read()[0] = 5n;
    exports.addInnerProduct!(OUT, SMALL, SMALL + 1280, 10);
    const flat = a.flat();
    expect(read()[0]).toBe(flat.slice(0, 640).reduce((sum, x, i) => sum + x * flat[640 + i]!, 5n));
  });
});
