/**
 * The table of docs/keys.md: which files are read, as bytes and as text, by the command line, and
 * by OpenSSL.
 */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  exportPublicKey,
  exportSecretKey,
  importSecretKey,
} from '../../../src/falcon/keys/index.ts';
import { falconryHere, temporaryFolder } from '../../cli/cli.ts';
import { testKeys } from '../../support/ours.ts';

const { secretKey } = testKeys(512);
const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const pem = exportSecretKey(secretKey);
const jwk = JSON.stringify(exportSecretKey(secretKey, { form: 'jwk' }));
const json = JSON.stringify(exportSecretKey(secretKey, { form: 'json' }));
const der = (form: 'raw' | 'bare' | 'extended' | 'pkcs8') =>
  Buffer.from(exportSecretKey(secretKey, { form }));
/** Of a curve that OpenSSL knows, in the same wrapping. */
const curve = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;
const curveDer = Buffer.from(curve.replaceAll(/-----.*-----|\n/g, ''), 'base64');

type Wrap = (text: string) => Buffer;
const utf8: Wrap = (text) => Buffer.from(text);
const around: readonly [string, Wrap][] = [
  ['PEM', utf8],
  ['PEM after text', (text) => utf8(`Bag Attributes\n    friendlyName: ü\n${text}`)],
  ['PEM before text', (text) => utf8(`${text}\nthe end\n`)],
  ['PEM among other blocks', (text) => utf8(certificate + text + certificate)],
  ['PEM with CR LF', (text) => utf8(text.replaceAll('\n', '\r\n'))],
  ['PEM with a byte order mark', (text) => utf8(`\ufeff${text}`)],
  ['PEM in UTF-16', (text) => Buffer.from(text, 'utf16le')],
  ['two blocks that fit', (text) => utf8(text + text)],
];

/** Each row: the file of our key, and of OpenSSL's where its format has such files. */
const FILES: readonly [string, Buffer, Buffer?][] = [
  ['raw, bare, extended', der('raw')],
  ['DER', der('pkcs8'), curveDer],
  ...around.map(([name, wrap]) => [name, wrap(pem), wrap(curve)] as [string, Buffer, Buffer]),
  ['JWK', utf8(jwk)],
  ['key file of keygen', utf8(json)],
  ['JSON beyond ASCII', utf8(jwk.replace('{', '{"kid":"schlüssel",'))],
  ['JSON with a byte order mark', utf8(`\ufeff${json}`)],
  ['JSON in UTF-16', Buffer.from(json, 'utf16le')],
  ['hexadecimal text', utf8(der('raw').toString('hex'))],
  ['hexadecimal text with 0x', utf8(`\ufeff0x${der('raw').toString('hex')}\n`)],
];
const BINARY = new Set(['raw, bare, extended', 'DER']);

const answer = (read: () => unknown): 'yes' | 'no' => {
  try {
    read();
    return 'yes';
  } catch {
    return 'no';
  }
};

const folder = temporaryFolder();
const publicKey = JSON.stringify(exportPublicKey(testKeys(512).publicKey, { form: 'json' }));

test.each(FILES)('%s', async (name, file, peer) => {
  const asText = file.toString(/UTF-16/.test(name) ? 'utf16le' : 'utf8');
  const format = BINARY.has(name) ? 'der' : 'pem';
  const path = join(folder.path, 'key');
  writeFileSync(path, file);
  const { code, out } = await falconryHere(['key', 'public', path]);
  if (code === 0) expect(out).toBe(`${publicKey}\n`);
  const cells = [
    name,
    answer(() => importSecretKey(file)),
    BINARY.has(name) ? '–' : answer(() => importSecretKey(asText)),
    code === 0 ? 'yes' : 'no',
    peer === undefined
      ? '–'
      : answer(() => createPrivateKey({ key: peer, format, type: 'pkcs8' } as never)),
  ];
  const docs = readFileSync(new URL('../../../docs/keys.md', import.meta.url), 'utf8');
  const rows = docs.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows.find((row) => row[1] === name)?.slice(1, 6)).toEqual(cells);
});

test('raw, bare and extended are alike', () => {
  for (const form of ['raw', 'bare', 'extended'] as const) {
    expect(importSecretKey(der(form)).form).toBe(form);
  }
});
