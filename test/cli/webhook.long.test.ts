/** Webhooks of `falconry serve`, which is killed while it sends: nothing is lost. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/index.ts';
import { makeTriples } from '../middleware/triples.ts';
import { cleanEnvironment, falconry, MAIN, temporaryFolder } from './cli.ts';

const SECRET = 'a secret of the operator';
const KEY = 'k'.repeat(40);
const folder = temporaryFolder();
let child: ChildProcess | undefined;
afterAll(() => {
  child?.kill('SIGKILL');
  folder.remove();
});

/** Starts it, and gives its address. */
async function serve(url: string): Promise<string> {
  const args = ['serve', '--port', '0', '--json', '--threads', '1', '--webhook-url', url];
  const files = ['--webhook-secret-file', 'secret', '--first-key-file', 'key'];
  child = spawn(process.execPath, [MAIN, ...args, ...files, '--webhook-allow-private'], {
    cwd: folder.path,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  for await (const part of child.stdout!) {
    out += part;
    if (out.includes('\n')) return JSON.parse(out.split('\n')[0]!).address;
  }
  throw new Error('it ended');
}

test('a kill -9 during a delivery: it comes again, with the same id', async () => {
  writeFileSync(join(folder.path, 'secret'), SECRET, { mode: 0o600 });
  writeFileSync(join(folder.path, 'key'), KEY, { mode: 0o600 });
  const got: { id: string; process_id: number; valid: boolean }[] = [];
  let silent = true;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', async () => {
      const valid = await verifyWebhook(SECRET, request.headers, body);
      const { id, process_id } = JSON.parse(body);
      got.push({ id, process_id, valid });
      if (!silent) response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    const address = await serve(url);
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(`${address}/v1/svc/aggsign`, {
        method: 'POST',
        headers: { authorization: KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ data: makeTriples(1) }),
      });
      ids.push(((await answer.json()) as { process_id: number }).process_id);
    }
    // All are being sent, and none is answered.
    await expect.poll(() => got.length, { timeout: 30_000 }).toBe(3);
    child!.kill('SIGKILL');
    await once(child!, 'close');
    const listed = await falconry(folder.path, ['webhook', '--json']);
    expect(JSON.parse(listed.out)).toMatchObject([{ client_id: null, waiting: 3 }]);
    silent = false;
    await serve(url);
    // When the leases of the dead process have ended.
    await expect.poll(() => got.length, { timeout: 60_000 }).toBe(6);
    const sent = (part: typeof got) => part.map(({ process_id }) => process_id).sort();
    expect(sent(got.slice(0, 3))).toEqual([...ids].sort());
    expect(sent(got.slice(3))).toEqual([...ids].sort());
    expect(new Set(got.map(({ id }) => id)).size).toBe(3);
    expect(got.every(({ valid }) => valid)).toBe(true);
    const waiting = async () =>
      JSON.parse((await falconry(folder.path, ['webhook', '--json'])).out)[0].waiting;
    await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}, 150_000);
