/** Jest, in both of its environments, with the setting of docs/start.md. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageFolders } from '../support/programs.ts';
import { installHere, newFolder, writeFiles } from './project.ts';

const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FLAG = '--experimental-vm-modules';

const body = (open: (name: string) => string) => `
test('the library', async () => {
  const { aggregate, CodedError, createAggregatePool, createVerifyPool, falcon512, ready,
    verifyAggregate } = ${open('falconry')};
  await ready();
  const items = [1, 2, 3].map((i) => {
    const { publicKey, secretKey } = falcon512.keygen();
    const message = Uint8Array.of(i);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  const { signal } = new AbortController();
  const bytes = await aggregate(items, { threads: 2, signal });
  expect(verifyAggregate(bytes, items)).toBe(true);
  for (const pool of [createVerifyPool({ threads: 2 }), createAggregatePool({ threads: 2 })]) {
    const check = pool.verifyBatch ?? pool.findInvalid;
    expect([...(await check(items, { signal }))]).toEqual([]);
    await pool.close();
    const late = await check(items).catch((error) => error);
    expect(late).toMatchObject({ name: 'CodedError', code: 'ABORTED' });
    expect(late instanceof CodedError).toBe(true);
  }
});
test('keys', async () => {
  const keys = ${open('falconry/keys')};
  const { falcon512 } = ${open('falconry')};
  const { publicKey, secretKey } = falcon512.keygen();
  const same = (read) => String(read.key) === String(secretKey)
    && String(read.publicKey) === String(publicKey);
  for (const form of ['raw', 'pem', 'pkcs8', 'jwk', 'json']) {
    expect(same(keys.importSecretKey(keys.exportSecretKey(secretKey, { form })))).toBe(true);
  }
  const json = JSON.stringify({ ...keys.exportSecretKey(secretKey, { form: 'jwk' }), kid: 'ü' });
  expect(same(keys.importSecretKey(new Uint8Array(Buffer.from(json))))).toBe(true);
  const sealing = keys.exportEncryptedSecretKey(secretKey, 'passwort ü');
  if (crypto.subtle) {
    expect(same(await keys.importEncryptedSecretKey(await sealing, 'passwort ü'))).toBe(true);
  } else {
    await expect(sealing).rejects.toMatchObject({ code: 'NO_WEBCRYPTO' });
  }
});
test('verify, client', async () => {
  const { falcon512 } = ${open('falconry/verify')};
  expect(falcon512.verify(new Uint8Array(9), new Uint8Array(9), new Uint8Array(9))).toBe(false);
  const { createClient } = ${open('falconry/client')};
  expect(createClient({ baseUrl: 'http://localhost/falcon' }).baseUrl).toContain('falcon');
});
`;

beforeAll(() => {
  installHere(folder);
  writeFiles(folder, {
    'package.json': '{ "private": true }',
    'esm.test.mjs': body((name) => `await import('${name}')`),
    'commonjs.test.js': body((name) => `require('${name}')`),
  });
});

test('the guide names the setting', () => {
  const guide = readFileSync(new URL('../../docs/start.md', import.meta.url), 'utf8');
  expect(guide).toContain(`NODE_OPTIONS=${FLAG} npx jest`);
});

test.each(['node', 'jsdom'])('the environment %s', async (name) => {
  const environment = name === 'node' ? name : packageFolders('jest-environment-jsdom')[0]!;
  const jest = join(packageFolders('jest')[0]!, 'bin/jest.js');
  const args = [jest, '--ci', '-i', '--rootDir', folder, `--env=${environment}`];
  const options = ['--testMatch', '**/*.test.{js,mjs}', '--moduleFileExtensions', 'js', 'mjs'];
  const { stderr } = await promisify(execFile)(process.execPath, [...args, ...options], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: FLAG, NODE_ENV: 'test' },
  }).catch((error) => error);
  expect(stderr).toMatch(/Tests: +6 passed, 6 total/);
});
