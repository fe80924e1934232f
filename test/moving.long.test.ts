/** The pages of docs/moving: their programs run as they stand, and BouncyCastle's page is true. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { falcon512, falcon1024 } from '../src/index.ts';
import { importPublicKey } from '../src/keys/index.ts';
import { localised } from './hosts/recipes.ts';
import { versionOf } from './support/peers.ts';

const FOLDER = new URL('../docs/moving/', import.meta.url);
const PAGES = readdirSync(FOLDER).sort();
const read = (page: string) => readFileSync(new URL(page, FOLDER), 'utf8');

test('there is a page for each', () => {
  const names = ['bouncycastle', 'liboqs', 'noble', 'pqclean'];
  expect(PAGES).toEqual(names.map((name) => `from-${name}.md`));
});

describe.each(PAGES)('%s', (page) => {
  const programs = [...read(page).matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map(
    ([, text]) => text!,
  );

  test('has one program, which prints what it says', () => {
    expect(programs.length).toBe(1);
    const [program = ''] = programs;
    const promised = [...program.matchAll(/console\.log\(.*\); \/\/ (true|false)$/gm)];
    expect(promised.length).toBeGreaterThan(1);
    const folder = mkdtempSync(join(tmpdir(), 'falconry-moving-'));
    try {
      const file = join(folder, 'example.mts');
      writeFileSync(file, localised(program));
      const printed = execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
      expect(printed.trim().split('\n')).toEqual(promised.map(([, value]) => value));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
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
