import { describe, expect, test } from 'vitest';
import {
  DerReader,
  encode,
  encodeInteger,
  encodeOid,
  encodeSecret,
  isSequence,
  TAG,
} from '../../../src/falcon/keys/der.ts';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const hex = (array: Uint8Array) => Buffer.from(array).toString('hex');
const reader = (text: string) => new DerReader(bytes(text), 'test');
const BAD = expect.objectContaining({ code: 'BAD_KEY', form: 'test' });

describe('lengths', () => {
  test.each([0, 1, 127, 128, 255, 256, 65535, 65536])('%i bytes are read as written', (length) => {
    const element = encode(TAG.octetString, new Uint8Array(length).fill(7));
    const file = new DerReader(element, 'test');
    expect(file.read(TAG.octetString, 'it')).toEqual(new Uint8Array(length).fill(7));
    file.end('file');
  });

  test.each([
    ['indefinite', '04 80 00 00'],
    ['indefinite, with many bytes behind', `04 80 ${'00'.repeat(130)}`],
    ['reserved', '04 ff 00'],
    ['longer than it need be, by one byte', `04 81 7f ${'00'.repeat(127)}`],
    ['with a leading zero', `04 82 00 80 ${'00'.repeat(128)}`],
    ['with two leading zeros', `04 83 00 01 00 ${'00'.repeat(256)}`],
    ['of four bytes', '04 84 00 00 00 01 00'],
    ['cut short', '04 82 01'],
    ['missing', '04'],
    ['beyond the end', '04 03 01 02'],
  ])('a length that is %s is refused', (_, text) => {
    expect(() => reader(text).read(TAG.octetString, 'it')).toThrow(BAD);
  });

  test('another tag, an empty file and bytes left over are refused', () => {
    expect(() => reader('0500').read(TAG.octetString, 'it')).toThrow(BAD);
    expect(() => reader('').read(TAG.octetString, 'it')).toThrow(BAD);
    const file = reader('0500 00');
    file.read(TAG.null, 'it');
    expect(() => file.end('file')).toThrow(BAD);
  });

  test('a whole SEQUENCE is told from everything else', () => {
    expect(['3000', '30020500'].map((text) => isSequence(bytes(text)))).toEqual([true, true]);
    for (const text of ['', '30', '3001', '300000', '3100']) {
      expect(isSequence(bytes(text)), text).toBe(false);
    }
  });
});

test('secret contents are wiped, all of them', () => {
  const contents = [bytes('0102'), bytes('03'), bytes('04')];
  expect(hex(encodeSecret(TAG.octetString, ...contents))).toBe('040401020304');
  expect(contents.map(hex)).toEqual(['0000', '00', '00']);
});

describe('integers', () => {
  // X.690, 8.3
  // biome-ignore format: one line
  const PAIRS: [number, string][] = [
    [0, '020100'], [127, '02017f'], [128, '02020080'], [16384, '02024000'],
    [600_000, '02030927c0'], [2 ** 31 - 1, '02047fffffff'],
  ];
  test.each(PAIRS)('%i', (value, text) => {
    expect(hex(encodeInteger(value))).toBe(text);
    expect(reader(text).integer('it')).toBe(value);
  });

  test.each([
    ['negative', '0201ff'],
    ['empty', '0200'],
    ['padded', '0202007f'],
    ['2^31', '02050080000000'],
    ['of five bytes', '02057fffffffff'],
    ['of six bytes', '0206000000000001'],
  ])('one that is %s is refused', (_, text) => {
    expect(() => reader(text).integer('it')).toThrow(BAD);
  });
});

describe('object identifiers', () => {
  test.each([
    ['1.3.9999.3.6', '06052bce0f0306'],
    ['1.3.127', '06022b7f'],
    ['1.3.128', '06032b8100'],
    ['1.3.16384', '06042b818000'],
    ['1.3.2147483647', '06062b87ffffff7f'],
    ['0.39', '060127'],
    ['2.0', '060150'],
    ['2.999', '06028837'],
    ['1.3.9999.3.14', '06052bce0f030e'],
    ['1.2.840.113549.1.5.13', '06092a864886f70d01050d'],
    ['2.16.840.1.101.3.4.1.42', '060960864801650304012a'],
    ['1.3.6.1.4.1.11591.4.11', '06092b06010401da47040b'],
  ])('%s', (oid, text) => {
    expect(hex(encodeOid(oid))).toBe(text);
    expect(reader(text).oid('it')).toBe(oid);
  });

  test.each([
    ['empty', '0600'],
    ['cut short', '06022bce'],
    ['padded', '06032b8001'],
    ['with an arc of 2^31', '06062b8880808000'],
    ['with an arc beyond 2^31', '06072b818080808000'],
  ])('one that is %s is refused', (_, text) => {
    expect(() => reader(text).oid('it')).toThrow(BAD);
  });
});

test('bit strings are of whole bytes', () => {
  expect(reader('03020005').bitString(TAG.bitString, 'it')).toEqual(Uint8Array.of(5));
  for (const text of ['03020105', '0300']) {
    expect(() => reader(text).bitString(TAG.bitString, 'it')).toThrow(BAD);
  }
});
