/** A message that is longer than what the other commands read as a whole. */
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testKeys } from '../support/ours.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);

test('a message of 257 MiB is signed and verified', { timeout: 300_000 }, async () => {
  const { publicKey, secretKey } = testKeys(512);
  writeFileSync(at('key'), secretKey);
  writeFileSync(at('public'), publicKey);
  for (const [name, length] of [
    ['long', 257 * 1024 * 1024],
    ['shorter', 257 * 1024 * 1024 - 1],
  ] as const) {
    writeFileSync(at(name), '');
    truncateSync(at(name), length);
  }
  const sign = ['sign', '--key', at('key'), at('long')];
  expect((await falconryHere(sign)).err).toMatch('larger than');
  expect((await falconryHere([...sign, '--raw', '-o', at('signature')])).code).toBe(0);
  const verify = ['verify', '--key', at('public'), '--signature', at('signature')];
  expect((await falconryHere([...verify, at('long')])).code).toBe(0);
  expect((await falconryHere([...verify, at('shorter')])).code).toBe(1);
});
