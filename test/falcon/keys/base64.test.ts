import { describe, expect, test } from 'vitest';
import { type Alphabet, decodeBase64, encodeBase64 } from '../../../src/falcon/keys/base64.ts';
import { decodeBlock, encodePem, findBlocks } from '../../../src/falcon/keys/pem.ts';
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

  const decode = (pem: string) => {
    const bytes = ascii(pem);
    return decodeBlock(bytes, findBlocks(bytes), 'PRIVATE KEY');
  };
  const other = text.replaceAll('PRIVATE KEY', 'EC_PARAMETERS 2.0 #1');

  test.each([
    ['as it is', (pem: string) => pem],
    ['with CR LF', (pem: string) => pem.replaceAll('\n', '\r\n')],
    ['with CR', (pem: string) => pem.replaceAll('\n', '\r')],
    ['without a last line end', (pem: string) => pem.trimEnd()],
    ['with tabs at line ends', (pem: string) => pem.replaceAll('\n', '\t\n')],
    ['with space at line ends', (pem: string) => pem.replaceAll('\n', ' \n')],
    ['with space before lines', (pem: string) => pem.replaceAll(/^/gm, '  ')],
    ['in one long line', (pem: string) => pem.replace(/(?<=[\w+/])\n(?=[\w+/])/g, '')],
    ['with empty lines after it', (pem: string) => `${pem}\n\n`],
    ['with text around it', (pem: string) => `Bag Attributes: ü\n---\n-----\n${pem}key\n-----END`],
    ['with a line that only begins as a block', (pem: string) => `-----BEGIN the key\n${pem}`],
    ['between other blocks', (pem: string) => `${other}${pem}\n${other}`],
  ])('is read %s', (_, change) => {
    expect(decode(change(text))).toEqual(der);
  });

  test.each<[string, (pem: string) => string, RegExp]>([
    ['without its last line', (pem) => pem.slice(0, pem.indexOf('-----END')), /no line END PRIV/],
    ['with another label at the end', (pem) => pem.replace('END PRIVATE', 'END PUBLIC'), /no line/],
    ['with more on the last line', (pem) => `${pem.trimEnd()}key`, /no line END/],
    ['with less on the last line', (pem) => pem.trimEnd().slice(0, -1), /no line END/],
    ['with digits on the last line', (pem) => pem.replace('\n-----END', '-----END'), /no line END/],
    ['with a block within', (pem) => pem.replace('\n', `\n${other}`), /no line END PRIVATE KEY/],
    [
      'with an open block before',
      (pem) => `-----BEGIN CERTIFICATE-----\n${pem}`,
      /END CERTIFICATE/,
    ],
    ['with two blocks', (pem) => `${pem}${other}${pem}`, /there are 2 blocks PRIVATE KEY/],
    [
      'with other labels',
      (pem) => other + pem.replaceAll('PRIV', 'Priv'),
      /EC_PARAMETERS 2\.0 #1, /,
    ],
    [
      'with a label in small letters',
      (pem) => pem.replaceAll('PRIVATE', 'private'),
      /private KEY, /,
    ],
    ['with one line only', (pem) => pem.replaceAll('\n', ''), /BEGIN is malformed/],
    ['with a digit too few', (pem) => pem.replace(/[\w+/]\n/, '\n'), /not base64/],
    ['with an endless label', (pem) => pem.replaceAll('PRIVATE', 'A'.repeat(37)), /malformed/],
    ['with an empty label', (pem) => pem.replaceAll('PRIVATE KEY', ''), /malformed/],
    ['with a hyphen in the label', (pem) => pem.replaceAll('PRIVATE KEY', 'A-B'), /malformed/],
  ])('is refused %s', (_, change, what) => {
    expect(() => decode(change(text))).toThrow(
      expect.objectContaining({
        code: 'BAD_KEY',
        form: 'pem',
        message: expect.stringMatching(what),
      }),
    );
  });

  test('of the longest label is read, and each sign of labels', () => {
    const label = 'AZaz09 #._'.repeat(4);
    const [block] = findBlocks(ascii(text.replaceAll('PRIVATE KEY', label)));
    expect(block!.label).toBe(label);
    for (const sign of '@[`{/:"!,') {
      const changed = ascii(text.replaceAll('PRIVATE', `A${sign}B`));
      expect(() => findBlocks(changed), sign).toThrow(/malformed/);
    }
  });

  test.each([
    ['Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n', /the header Proc-Type, of RFC 1421/],
    [' \nProc-Type: 4,ENCRYPTED\n\n', /the header Proc-Type/],
    ['Comment: "key"\n\n', /header lines, of RFC 1421/],
  ])('with old headers is refused: %j', (headers, what) => {
    expect(() => decode(text.replace('\n', `\n${headers}`))).toThrow(what);
  });
});
