/**
 * Every project of `examples`, as one who copied it has it: the packed library and the declared
 * packages in an empty folder, the types checked, the programs run, and what they print and answer.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, type TestContext, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { fixedItems } from '../runtimes/check.ts';
import { fact } from '../support/facts.ts';
import { closeChromium, inChromium } from './browser.ts';
import { type Example, removePacked, withExample } from './example.ts';
import { examplesFolder } from './layOut.ts';

const LONG = { timeout: 300_000 };
const tried = new Set<string>();

/** A test of one example. */
function example(
  name: string,
  use: (example: Example, context: TestContext) => Promise<string>,
): void {
  tried.add(name);
  test(name, LONG, async (context) => {
    await withExample(name, async (laid) => {
      fact(context, 'examples', `${name}: ${await use(laid, context)}`);
    });
  });
}

afterAll(async () => {
  await closeChromium();
  await removePacked();
});

/** The first API key of a service, made as the READMEs say. */
const firstKey = async ({ npx }: Example): Promise<string> =>
  (
    await npx('falconry', 'keys', 'create', '--data', '.falconry', '--name', 'me', '--quiet')
  ).trim();

example('hono', async (laid) => {
  const server = await laid.start();
  const env = { FALCONRY_URL: server.base, FALCONRY_API_KEY: await firstKey(laid) };
  const said = await laid.run('client', env);
  expect(said).toMatch(/^checked: true, 100 signatures in one proof$/m);
  expect(said).toMatch(/^refused: \[\{"index":42,/m);
  const at = (path: string) => new URL(path, server.base);
  expect((await fetch(at('/readyz'))).status).toBe(200);
  const none = await fetch(at('/check'), { method: 'POST', body: '{}' });
  expect([none.status, await none.json()]).toEqual([400, { error: 'no such key' }]);
  const { code, output } = await server.end('SIGTERM');
  expect(code, output).toBe(0);
  expect(output).toMatch(/^task \d+: completed$/m);
  return 'a batch of 100 is one proof, a bad signature is named';
});

example('express-tenants', async (laid) => {
  const server = await laid.start();
  const said = await laid.run('client', { FALCONRY_URL: server.base });
  expect(said.trim().split('\n')).toEqual([
    'ada and alan sign with one key: true',
    'bob signs with another: true',
    'the aggregate of the three is checked: true',
    'bob asks for the task of acme: 404',
  ]);
  const post = (path: string, headers = {}, body = '{}') =>
    fetch(new URL(path, server.base), { method: 'POST', headers, body });
  const json = { 'content-type': 'application/json' };
  for (const [name, password] of [
    ['ada', 'battery staple'],
    ['eve', 'correct horse'],
  ]) {
    expect((await post('/login', json, JSON.stringify({ name, password }))).status).toBe(403);
  }
  const ada = await post('/login', json, '{"name":"ada","password":"correct horse"}');
  const [cookie = ''] = ada.headers.getSetCookie();
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
  const session = { cookie: cookie.split(';')[0]! };
  const list = async (headers = {}) =>
    (await fetch(`${server.base}/v1/svc/tasks`, { headers })).status;
  expect(await list(session)).toBe(200);
  // The stream of a task that waits for its file; it would be open for ever.
  const created = await post('/falcon/v1/svc/aggsign/task', session);
  const { process_id } = (await created.json()) as { process_id: number };
  const events = `${server.base}/v1/svc/tasks/${process_id}/events`;
  const stream = await fetch(events, { headers: session });
  expect(stream.status).toBe(200);
  expect((await post('/logout', session)).status).toBe(204);
  expect(await list(session)).toBe(401);
  expect(await list()).toBe(401);
  expect(await stream.text()).toContain('wait for task file upload');
  const { code, output } = await server.end('SIGTERM');
  expect(code, output).toBe(0);
  return 'a key for each tenant; a logout ends the stream of a task';
});

example('next', async (laid) => {
  const env = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };
  await laid.run('build', env);
  const server = await laid.start(env);
  const batch = (rows: unknown) =>
    fetch(`${server.base}/aggregate`, { method: 'POST', body: JSON.stringify(rows) });
  expect((await batch([])).status).toBe(400);
  const bad = [{ publicKey: '09'.repeat(897), message: '', signature: '39'.repeat(600) }];
  expect((await batch(bad)).status).toBe(422);
  const client = createClient({
    baseUrl: `${server.base}/falcon`,
    apiKey: await firstKey(laid),
  });
  // Under `next start` the signing endpoint is off, as in every production.
  const { process_id } = await client.aggregate(fixedItems(falcon512, 3));
  expect((await client.waitFor(process_id)).status).toBe('completed');
  const seen = await inChromium(`${server.base}/`, async (page) => {
    await page.getByRole('button').click();
    const output = page.locator('output', { hasText: /valid|error/i });
    return output.textContent();
  });
  if (seen !== null) expect(seen).toMatch(/^100 signatures of \d+ bytes, \d+ as one: valid$/);
  return `a task below /falcon${seen === null ? '' : `, in the page ${seen}`}`;
});

example('vite-light-client', async (laid) => {
  await laid.run('build');
  const assets = join(laid.folder, 'dist/assets');
  const [script = '', ...more] = await readdir(assets);
  expect(more).toEqual([]);
  const packed = gzipSync(await readFile(join(assets, script))).length;
  expect(packed).toBeLessThan(100_000);
  const server = await laid.start();
  const seen = await inChromium(server.base, async (page) => {
    const verdict = async () =>
      page.locator('#verdict', { hasText: /valid|checked/i }).textContent();
    const first = await verdict();
    expect(first).toMatch(/^valid: 200 reports, a proof of \d+ bytes$/);
    // One letter of one report is another.
    await page.route('**/batch', async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ body: text.replace('15.3 degrees', '25.3 degrees') });
    });
    await page.reload();
    expect(await verdict()).toBe('NOT VALID');
    return first;
  });
  return `${seen ?? 'no Chromium'}; the page has ${packed} bytes, packed`;
});

example('own-store', async (laid) => {
  const passed = Number(/^# pass (\d+)$/m.exec(await laid.run('test'))?.[1]);
  expect(passed).toBeGreaterThan(30);
  const server = await laid.start({ TOKEN: 'sesame' });
  const client = createClient({ baseUrl: server.base, apiKey: 'sesame' });
  const items = fixedItems(falcon512, 3);
  const { process_id } = await client.submit(items);
  await client.waitFor(process_id);
  expect((await client.result(process_id, { statements: items })).checked).toBe(true);
  const stranger = createClient({ baseUrl: server.base, apiKey: 'simsim' });
  await expect(stranger.task(process_id)).rejects.toMatchObject({ status: 401 });
  const { code, output } = await server.end('SIGTERM');
  expect(code, output).toBe(0);

  const file = join(laid.folder, 'store.ts');
  const faulty = (await readFile(file, 'utf8')).replace(
    'row.attempt === attempt ? row',
    'row ? row',
  );
  await writeFile(file, faulty);
  await expect(laid.run('test')).rejects.toThrow(
    /not ok \d+ - puts a task back when its lease ends/,
  );
  return `${passed} tests of the suites; a store with a fault fails`;
});

test('every example is tried, and says what it is', async () => {
  const folders = await readdir(examplesFolder, { withFileTypes: true });
  const names = folders.filter((each) => each.isDirectory()).map(({ name }) => name);
  expect(names.toSorted()).toEqual([...tried].toSorted());
  const list = await readFile(join(examplesFolder, 'README.md'), 'utf8');
  for (const name of names) {
    expect(list, name).toContain(`](${name}/README.md)`);
    const readme = await readFile(join(examplesFolder, name, 'README.md'), 'utf8');
    expect(readme.split('\n').length, `${name}/README.md`).toBeLessThan(60);
    expect(readme, name).toContain('npm install');
  }
});
