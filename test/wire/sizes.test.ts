/** Sizes in words. */
import { expect, test } from 'vitest';
import { binarySizeText, counted, sizeText } from '../../src/wire/sizes.ts';

test.each([
  [0, '0 B'],
  [640, '640 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [62_900, '62.9 kB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [1_110_000, '1.1 MB'],
  [999_949_999, '999.9 MB'],
  [999_950_000, '1.0 GB'],
  [2_500_000_000, '2.5 GB'],
])('the size of data: %d is %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test('a part is said in the unit of the whole', () => {
  expect(sizeText(500, 10_000_000)).toBe('0.0 MB');
  expect(sizeText(990_000, 10_300_000)).toBe('1.0 MB');
});

test.each([
  [512, '512 B'],
  [1024, '1 KiB'],
  [33_554_432, '32 MiB'],
  [2 ** 30 - 1, '1 GiB'],
  [3.1 * 2 ** 30, '3.1 GiB'],
  [300 * 2 ** 20, '300 MiB'],
])('the size of memory: %d is %s', (bytes, text) => {
  expect(binarySizeText(bytes)).toBe(text);
});

test.each([
  [0, '0 signatures'],
  [1, '1 signature'],
  [2, '2 signatures'],
  [1722, '1,722 signatures'],
])('%d signatures', (value, text) => expect(counted(value, 'signature')).toBe(text));

test('another plural', () => expect(counted(2, 'entry', 'entries')).toBe('2 entries'));
