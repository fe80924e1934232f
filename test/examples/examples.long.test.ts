/**
 * Every project of `examples`, as one who copied it has it: the packed library and the declared
 * packages in an empty folder, the types checked, the programs run, and what they print and answer.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, type TestContext, test } from 'vitest';
import { fact } from '../support/facts.ts';
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

afterAll(removePacked);

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
