/** UTF-8 with the host's functions, and without: the same verdicts and the same bytes. */
import { afterAll, expect, test, vi } from 'vitest';
import * as own from '../../src/shared/utf8.ts';
import { testRandom } from '../support/random.ts';

vi.stubGlobal('TextDecoder', undefined);
vi.stubGlobal('TextEncoder', undefined);
vi.resetModules();
const bare: typeof own = await import('../../src/shared/utf8.ts');
vi.unstubAllGlobals();
afterAll(() => vi.resetModules());

const attempt = <T>(call: () => T): T | 'refused' => {
  try {
    return call();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return 'refused';
  }
};
const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes);
const EDGES = [0, 1, 0x7f, 0x80, 0x7ff, 0x800, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x10ffff];

test('texts become the same bytes, and come back', () => {
  for (const code of [...EDGES, 0xd7ff, 0xe000]) {
    const text = `a${String.fromCodePoint(code)}\u{1f511}b`;
    const bytes = Buffer.from(text);
    expect(Buffer.from(own.encodeUtf8(text)!)).toEqual(bytes);
    expect(Buffer.from(bare.encodeUtf8(text)!)).toEqual(bytes);
    expect(own.decodeUtf8(bytes)).toBe(text);
    expect(bare.decodeUtf8(bytes)).toBe(text);
  }
  for (const half of ['\ud800', 'a\udfff', '\ud83d\ud83d\udd11']) {
    expect(own.encodeUtf8(half)).toBe(undefined);
    expect(bare.encodeUtf8(half)).toBe(undefined);
  }
});

test('a byte order mark at the beginning is skipped, one only', () => {
  for (const { decodeUtf8 } of [own, bare]) {
    expect(decodeUtf8(bytesOf(0xef, 0xbb, 0xbf, 0x41))).toBe('A');
    expect(decodeUtf8(bytesOf(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf))).toBe('\ufeff');
    expect(decodeUtf8(bytesOf(0x41, 0xef, 0xbb, 0xbf))).toBe('A\ufeff');
    expect(decodeUtf8('\ufeffA')).toBe('A');
    expect(decodeUtf8('')).toBe('');
    expect(decodeUtf8(bytesOf())).toBe('');
  }
});

test('the same bytes are refused', () => {
  const bad = [
    ...[bytesOf(0x80), bytesOf(0xbf), bytesOf(0xc0, 0x80), bytesOf(0xc1, 0xbf), bytesOf(0xc2)],
    ...[bytesOf(0xe0, 0x80, 0x80), bytesOf(0xe0, 0x9f, 0xbf), bytesOf(0xe1, 0x80)],
    ...[bytesOf(0xed, 0xa0, 0x80), bytesOf(0xed, 0xbf, 0xbf), bytesOf(0xf0, 0x80, 0x80, 0x80)],
    ...[bytesOf(0xf0, 0x8f, 0xbf, 0xbf), bytesOf(0xf4, 0x90, 0x80, 0x80), bytesOf(0xf5)],
    ...[bytesOf(0xf8, 0x88, 0x80, 0x80, 0x80), bytesOf(0xff), bytesOf(0x41, 0xe2, 0x28, 0xa1)],
  ];
  for (const bytes of bad) {
    expect(
      attempt(() => own.decodeUtf8(bytes)),
      String(bytes),
    ).toBe('refused');
    expect(
      attempt(() => bare.decodeUtf8(bytes)),
      String(bytes),
    ).toBe('refused');
  }
  const random = testRandom('utf8');
  let refused = 0;
  for (let i = 0; i < 20_000; i++) {
    const pick = () => random.pick([0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xa0, 0xf0, 0x9f, 0xf4]);
    const bytes = Uint8Array.from({ length: random.below(6) }, pick);
    const want = attempt(() => own.decodeUtf8(bytes));
    expect(
      attempt(() => bare.decodeUtf8(bytes)),
      String(bytes),
    ).toBe(want);
    if (want === 'refused') refused++;
  }
  expect(refused).toBeGreaterThan(1000);
});
