import { describe, expect, test } from 'vitest';
import { roots } from '../../scripts/generate/signTables.ts';
import { plainFft, plainIfft, plainMerge, plainSplit } from '../support/plainSigner.ts';
import { testRandom } from '../support/random.ts';
import { sameDoubles, signingModule } from '../support/signingModule.ts';

const { exports, at, doubles } = await signingModule();
const LOGNS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const REPEATS = 8;

const random = testRandom('fft');
const coefficients = (n: number) =>
  Float64Array.from({ length: n }, () => random.below(2 ** 32) / 2 ** 20 - 2048);

const bitReverse = (k: number, bits: number) => {
  let r = 0;
  for (let b = 0; b < bits; b++) r |= ((k >> b) & 1) << (bits - 1 - b);
  return r;
};

/** f at exp(I angle), by the definition. */
function evaluate(f: Float64Array, angle: number): [number, number] {
  let re = 0;
  let im = 0;
  f.forEach((x, k) => {
    re += x * Math.cos(k * angle);
    im += x * Math.sin(k * angle);
  });
  return [re, im];
}

function inModule(f: Float64Array, work: () => void): Float64Array {
  doubles('A', f.length).set(f);
  work();
  return doubles('A', f.length).slice();
}
const fft = (f: Float64Array, logn: number) => inModule(f, () => exports.fft!(at('A'), logn));
const ifft = (f: Float64Array, logn: number) => inModule(f, () => exports.ifft!(at('A'), logn));

describe('roots of unity', () => {
  test('each part is within half a unit in the last place, as far as Math.sin can tell', () => {
    const { re, im } = roots();
    expect(re).toHaveLength(512);
    expect(sameDoubles(doubles('ROOT_RE', 512), re)).toBe(true);
    expect(sameDoubles(doubles('ROOT_IM', 512), im)).toBe(true);
    for (let h = 1; h <= 256; h *= 2) {
      for (let i = 0; i < h; i++) {
        const angle = (Math.PI * bitReverse(2 * h + i, 10)) / 1024;
        expect(Math.abs(re[h + i]! - Math.cos(angle))).toBeLessThan(4e-16);
        expect(Math.abs(im[h + i]! - Math.sin(angle))).toBeLessThan(4e-16);
      }
    }
  });
});

describe.each(LOGNS)('n = 2^%i', (logn) => {
  const n = 1 << logn;

  test('fft: values at the roots, by the definition', () => {
    const f = coefficients(n);
    const out = fft(f, logn);
    const step = Math.max(1, n / 64 - 1);
    for (let j = 0; j < n / 2; j += step) {
      // neighbours belong to opposite roots
      const turn = bitReverse(n / 2 + (j >> 1), logn) / n + (j & 1);
      const [re, im] = evaluate(f, Math.PI * turn);
      expect(Math.abs(out[j]! - re)).toBeLessThan(1e-7);
      expect(Math.abs(out[j + n / 2]! - im)).toBeLessThan(1e-7);
    }
  });

  test('ifft undoes fft', () => {
    const f = coefficients(n);
    const back = ifft(fft(f, logn), logn);
    for (let i = 0; i < n; i++) expect(Math.abs(back[i]! - f[i]!)).toBeLessThan(1e-9);
  });

  test('both equal the plain level-by-level transforms, bit for bit', () => {
    for (let k = 0; k < REPEATS; k++) {
      const f = coefficients(n);
      expect(sameDoubles(fft(f, logn), plainFft(f))).toBe(true);
      expect(sameDoubles(ifft(f, logn), plainIfft(f))).toBe(true);
      // what is compared does differ from a neighbouring answer
      const other = f.slice();
      other[n - 1]! += 2 ** -20;
      expect(sameDoubles(fft(other, logn), plainFft(f))).toBe(false);
    }
  });
});

describe.each(LOGNS.slice(2))('split and merge, n = 2^%i', (logn) => {
  const n = 1 << logn;
  const split = (f: Float64Array) => {
    doubles('A', n).set(f);
    exports.splitFft!(at('B'), at('A'), logn);
    return doubles('B', n).slice();
  };
  const merge = (halves: Float64Array) => {
    doubles('A', n).set(halves);
    exports.mergeFft!(at('B'), at('A'), logn);
    return doubles('B', n).slice();
  };

  test('split gives the transforms of the even and the odd coefficients', () => {
    const f = coefficients(n);
    const out = split(fft(f, logn));
    const even = fft(
      f.filter((_, i) => i % 2 === 0),
      logn - 1,
    );
    const odd = fft(
      f.filter((_, i) => i % 2 === 1),
      logn - 1,
    );
    for (let i = 0; i < n / 2; i++) {
      expect(Math.abs(out[i]! - even[i]!)).toBeLessThan(1e-8);
      expect(Math.abs(out[n / 2 + i]! - odd[i]!)).toBeLessThan(1e-8);
    }
    const back = merge(out);
    const transform = fft(f, logn);
    for (let i = 0; i < n; i++) expect(Math.abs(back[i]! - transform[i]!)).toBeLessThan(1e-8);
  });

  test('both equal the plain ones, bit for bit', () => {
    for (let k = 0; k < REPEATS; k++) {
      const f = coefficients(n);
      const [f0, f1] = plainSplit(f);
      expect(sameDoubles(split(f), [...f0, ...f1])).toBe(true);
      expect(sameDoubles(merge(f), plainMerge(f.slice(0, n / 2), f.slice(n / 2)))).toBe(true);
    }
  });
});
