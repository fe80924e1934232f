/** `falconry sign --raw` and `falconry verify --key` read their message in pieces. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { testKeys } from '../support/ours.ts';
import { falconry, falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const { publicKey, secretKey } = testKeys(512);
const message = new Uint8Array(700_000).fill(7);

beforeAll(async () => {
  writeFileSync(at('key'), secretKey);
  writeFileSync(at('public'), publicKey);
  writeFileSync(at('message'), message);
  writeFileSync(at('other'), message.subarray(1));
});

const verify = (signature: string, file: string, ...more: string[]) =>
  falconryHere(['verify', '--key', at('public'), '--signature', at(signature), at(file), ...more]);

describe('one message', () => {
  test('of several pieces, from a file, in every format', async () => {
    for (const format of ['compressed', 'padded', 'constantTime']) {
      const out = at(format);
      const args = ['sign', '--key', at('key'), '--raw', '--format', format, '-o', out];
      expect((await falconryHere([...args, at('message')])).code).toBe(0);
      expect((await verify(format, 'message')).code).toBe(0);
      expect((await verify(format, 'message', '--format', format)).code).toBe(0);
      const other = format === 'padded' ? 'compressed' : 'padded';
      const refused = await verify(format, 'message', '--format', other, '--json');
      expect(refused.code).toBe(1);
      expect(JSON.parse(refused.out)).toMatchObject({ ok: false, count: 1 });
      expect(JSON.parse(refused.out).invalid).toHaveLength(1);
      const mismatch = await verify(format, 'other', '--json');
      expect(JSON.parse(mismatch.out).invalid).toEqual([{ index: 0, reason: 'signatureMismatch' }]);
    }
  });

  test('from standard input', async () => {
    const args = ['sign', '--key', 'key', '--raw', '-'];
    const { stdout } = await falconry(folder.path, args, message);
    expect(falcon512.verify(stdout, message, publicKey)).toBe(true);
    writeFileSync(at('signature'), stdout);
    const check = ['verify', '--key', 'public', '--signature', 'signature', '-'];
    expect((await falconry(folder.path, check, message)).code).toBe(0);
    expect((await falconry(folder.path, check, message.subarray(1))).code).toBe(1);
  });

  test('that is not there, or options that do not fit, are errors', async () => {
    expect((await verify('padded', 'missing')).err).toMatch('no such file');
    expect((await verify('padded', 'message', '--format', 'short')).err).toMatch('--format');
    expect((await falconryHere(['verify', at('message'), '--format', 'padded'])).code).toBe(2);
    const missing = ['sign', '--key', at('key'), '--raw', at('missing')];
    expect((await falconryHere(missing)).err).toMatch('no such file');
  });
});
