/** The pages of docs/moving: their programs run as they stand, and BouncyCastle's page is true. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { importPublicKey } from '../src/falcon/keys/index.ts';
import { falcon512, falcon1024 } from '../src/index.ts';
import { blocksOf, promised } from './support/documentBlocks.ts';
import { versionOf } from './support/peers.ts';

const FOLDER = new URL('../docs/moving/', import.meta.url);
const PAGES = readdirSync(FOLDER).sort();
const read = (page: string) => readFileSync(new URL(page, FOLDER), 'utf8');

test('there is a page for each', () => {
  const names = ['algorand', 'bouncycastle', 'liboqs', 'noble', 'pqclean', 'tron'];
  expect(PAGES).toEqual(names.map((name) => `from-${name}.md`));
});

describe.each(PAGES)('%s', (page) => {
  // test/docs.long.test.ts runs it.
  test('has one program, which says what it prints', () => {
    const programs = blocksOf(`docs/moving/${page}`).filter(({ language }) =>
      ['ts', 'js'].includes(language),
    );
    expect(programs.map(({ info }) => info)).toEqual(['']);
    expect(promised(programs[0]!.source).length).toBeGreaterThan(1);
  });

  test('names the version that is installed, and links that lead somewhere', () => {
    for (const [, name, version] of read(page).matchAll(/`(@oqs\/liboqs-js|pqclean)` (\d\S+\d)/g)) {
      expect(version).toBe(versionOf(name!));
    }
    for (const [, path] of read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      expect(existsSync(new URL(path!, FOLDER)), path).toBe(true);
    }
  });
});

describe.each([
  ['512', falcon512, 0x29],
  ['1024', falcon1024, 0x2a],
] as const)('a signature of BouncyCastle 1.72, Falcon-%s', (degree, falcon, header) => {
  const vector = (end: string) =>
    readFileSync(new URL(`vectors/keys/bouncycastle-${degree}.${end}`, import.meta.url), 'utf8');
  const message = new TextEncoder().encode('the falcon takes wing');
  const signature = Uint8Array.from(Buffer.from(vector('sig.txt'), 'base64'));
  const { key } = importPublicKey(vector('pub.pem'));

  test('has one byte more, and is valid without it', () => {
    expect(signature[41]).toBe(header);
    expect(falcon.verify(signature, message, key)).toBe(false);
    const ours = Uint8Array.from([...signature.subarray(0, 41), ...signature.subarray(42)]);
    expect(falcon.verify(ours, message, key)).toBe(true);
    expect(falcon.verify(ours, message.subarray(1), key)).toBe(false);
  });
});
