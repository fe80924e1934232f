/** Node with less than usual: errors name the limit, the permission or the module. */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installHere, newFolder } from './project.ts';

const folder = newFolder();
beforeAll(() => installHere(folder, ['hono', '@hono/node-server']));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ITEMS = `
import { aggregate, createVerifyPool, falcon512 } from 'falconry';
const { publicKey, secretKey } = falcon512.keygen();
const items = Array.from({ length: 100 }, (_, i) => {
  const message = Uint8Array.of(i);
  return { publicKey, message, signature: falcon512.sign(message, secretKey) };
});
const tell = ({ code, message }) => console.log(code + ': ' + message);
`;

/** What a script prints in a Node with these flags, with a limit in KiB of virtual memory. */
async function run(flags: readonly string[], script: string, limit = 'unlimited') {
  const path = join(folder, 'script.mjs');
  writeFileSync(path, script);
  const command = 'ulimit -v "$1" && shift && exec "$@"';
  const args = ['-c', command, 'sh', limit, process.execPath, ...flags, path];
  const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } };
  return promisify(execFile)('sh', args, options).then(
    ({ stdout }) => stdout,
    (error) => `${error.stdout}${error.stderr}`,
  );
}

test.skipIf(process.platform === 'win32')('ulimit -v', async () => {
  const said: string[] = [];
  // How much the engine reserves depends on its version.
  for (const gigabytes of [20, 18, 16, 14, 22, 24, 12]) {
    const limit = String(gigabytes * 1e6);
    const script = `${ITEMS} await aggregate(items, { format: 'proof' }).catch(tell);`;
    said.push(await run([], script, limit));
    if (said.at(-1)!.startsWith('OUT_OF_MEMORY')) break;
  }
  expect(said.at(-1)).toMatch(/^OUT_OF_MEMORY: .*virtual memory.*ulimit -v/);
});

const PERMISSION = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'];

test('--permission: pools work without threads, and the service says what to allow', async () => {
  const script = `${ITEMS}
    const pool = createVerifyPool({ threads: 2 });
    console.log((await pool.verifyBatch(items)).length);
    const { falconService } = await import('falconry/middleware');
    await falconService({ dataDirectory: 'denied' }).start().catch(tell);`;
  const [invalid, error] = (await run(PERMISSION, script)).split('\n');
  expect(invalid).toBe('0');
  expect(error).toMatch(/^NO_WORKER: The thread of the store .*--allow-worker with --permission/);
  expect(error).not.toContain('bundle');
});

test('no node:sqlite', async () => {
  const script = `
    import { falconService, memoryStore } from 'falconry/middleware';
    const tell = ({ code, message }) => console.log(code + ': ' + message);
    try { memoryStore(); } catch (error) { tell(error); }
    await falconService({ dataDirectory: 'none' }).start().catch(tell);`;
  const lines = (await run(['--no-experimental-sqlite'], script)).trim().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toMatch(/^NO_SQLITE: This host has no node:sqlite: .*--no-experimental-sqlite/);
  }
});
