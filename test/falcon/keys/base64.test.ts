import { describe, expect, test } from 'vitest';
import { type Alphabet, decodeBase64, encodeBase64 } from '../../../src/falcon/keys/base64.ts';
import { decodePem, encodePem, isPem } from '../../../src/falcon/keys/pem.ts';
import { testRandom } from '../../support/random.ts';

const ascii = (text: string) => new TextEncoder().encode(text);
const ALPHABETS: readonly [Alphabet, 'base64' | 'base64url'][] = [
  ['standard', 'base64'],
  ['url', 'base64url'],
];

describe.each(ALPHABETS)('base64, %s', (alphabet, name) => {
  test('is what Node writes, for every length up to 70', () => {
    const random = testRandom('base64');
    for (let length = 0; length <= 70; length++) {
      const data = random.bytes(length);
      const text = Buffer.from(data).toString(name);
      expect(Buffer.from(encodeBase64(data, alphabet)).toString()).toBe(text);
      expect(decodeBase64(ascii(text), alphabet)).toEqual(data);
    }
  });

  test('each of the 256 characters is a digit or refused', () => {
    const last = alphabet === 'standard' ? '+/' : '-_';
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
    const digits = new Set(ascii(`${letters}${letters.toLowerCase()}0123456789${last}`));
    expect(digits.size).toBe(64);
    for (let code = 0; code < 256; code++) {
      const text = Uint8Array.of(65, 65, 65, code);
      const isPadding = alphabet === 'standard' && code === 0x3d;
      expect(decodeBase64(text, alphabet) !== undefined, `${code}`).toBe(
        digits.has(code) || isPadding,
      );
    }
  });
});

test('one encoding for one array of bytes', () => {
  for (const text of ['A', 'AA', 'AAA', 'AAAAA', 'A===', '====', 'AB==', 'AAB=', 'AA=A', 'AA==A']) {
    expect(decodeBase64(ascii(text), 'standard'), text).toBeUndefined();
  }
  for (const text of ['A', 'AB', 'AAB', 'AA==', 'AAA=']) {
    expect(decodeBase64(ascii(text), 'url'), text).toBeUndefined();
  }
});

describe('PEM', () => {
  const der = testRandom('pem').bytes(100);
  const text = encodePem('PRIVATE KEY', der);

  test('has lines of 64 digits between its labels', () => {
    const lines = text.split('\n');
    expect(lines[0]).toBe('-----BEGIN PRIVATE KEY-----');
    expect(lines.slice(1, -2).map(({ length }) => length)).toEqual([64, 64, 8]);
    expect(lines.slice(-2)).toEqual(['-----END PRIVATE KEY-----', '']);
  });

  test('has no empty line at the end', () => {
    const lines = encodePem('PRIVATE KEY', der.subarray(0, 96)).split('\n');
    expect(lines.map(({ length }) => length)).toEqual([27, 64, 64, 25, 0]);
  });

  test.each([
    ['as it is', (pem: string) => pem],
    ['with CR LF', (pem: string) => pem.replaceAll('\n', '\r\n')],
    ['without a last line end', (pem: string) => pem.trimEnd()],
    ['with tabs at line ends', (pem: string) => pem.replaceAll('\n', '\t\n')],
    ['with space at line ends', (pem: string) => pem.replaceAll('\n', ' \n')],
    ['in one long line', (pem: string) => pem.replace(/(?<=[\w+/])\n(?=[\w+/])/g, '')],
    ['with empty lines after it', (pem: string) => `${pem}\n\n`],
  ])('is read %s', (_, change) => {
    expect(decodePem(ascii(change(text)))).toEqual({ label: 'PRIVATE KEY', der });
  });

  test.each([
    ['without its last line', (pem: string) => pem.slice(0, pem.indexOf('-----END'))],
    ['with another label at the end', (pem: string) => pem.replace('END PRIVATE', 'END PUBLIC')],
    ['with a header field', (pem: string) => pem.replace('\n', '\nProc-Type: 4,ENCRYPTED\n')],
    ['with two blocks', (pem: string) => pem + pem],
    ['with text after it', (pem: string) => `${pem}key`],
    ['with a label in small letters', (pem: string) => pem.replaceAll('PRIVATE', 'private')],
    ['with one line only', (pem: string) => pem.replaceAll('\n', '')],
    ['with a digit too few', (pem: string) => pem.replace(/[\w+/]\n/, '\n')],
    ['with an endless label', (pem: string) => pem.replaceAll('PRIVATE', 'A'.repeat(100))],
  ])('is refused %s', (_, change) => {
    const changed = ascii(change(text));
    expect(isPem(changed)).toBe(true);
    expect(() => decodePem(changed)).toThrow(
      expect.objectContaining({ code: 'BAD_KEY', form: 'pem' }),
    );
  });
});
