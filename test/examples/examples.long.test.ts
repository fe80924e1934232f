/**
 * Every project of `examples`, as one who copied it has it: the packed library and the declared
 * packages in an empty folder, the types checked, the programs run, and what they print and answer.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { aggregate } from '../../src/aggregate/index.ts';
import { createClient, type Fetch } from '../../src/client/index.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { closeBrowsers, firefoxPage, inPage } from '../bundlers/browsers.ts';
import { serveFolder } from '../bundlers/serve.ts';
import { startWorkerd } from '../bundlers/workerd.ts';
import { fixedItems } from '../runtimes/check.ts';
import { liveMb } from '../support/chromium.ts';
import { fact } from '../support/facts.ts';
import { countsMemory, watchMemory } from '../support/memory.ts';
import { openServer } from '../support/openServer.ts';
import { freePort } from '../support/ports.ts';
import { type Example, pack, removePacked, withExample } from './example.ts';
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

beforeAll(pack, 600_000);
afterAll(async () => {
  await closeBrowsers();
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
  const output = await server.stop();
  expect(output).toMatch(/^task \d+: completed$/m);
  return 'a batch of 100 is one proof, a bad signature is named';
});

example('express-tenants', async (laid) => {
  const server = await laid.start();
  const said = await laid.run('client', { FALCONRY_URL: server.base });
  expect(said.trim().split('\n')).toEqual([
    'alan verifies the aggregate that ada asked for: true',
    'bob asks for the task: 404',
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
  const session = { cookie: cookie.split(';')[0]!, 'sec-fetch-site': 'same-origin' };
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
  await server.stop();
  return 'tenants apart; a logout ends the stream of a task';
});

/** `/aggregate` of Next refuses what is no batch, and more than it reads. */
async function expectRefusals(base: string): Promise<void> {
  const statusOf = async (body: string) =>
    (await fetch(`${base}/aggregate`, { method: 'POST', body })).status;
  const badItem = { publicKey: '0', message: '', signature: 'zz' };
  for (const rows of [[], null, [1], [null], [{}], [badItem]]) {
    expect(await statusOf(JSON.stringify(rows))).toBe(400);
  }
  expect(await statusOf('no JSON')).toBe(400);
  expect(await statusOf(' '.repeat(17 * 1024 * 1024))).toBe(413);
}

/** A service that could not start is not kept: first a file is in the place of its directory. */
async function expectAnotherStart(base: string, store: string): Promise<void> {
  const status = async () => (await fetch(`${base}/falcon/v1/openapi.json`)).status;
  await writeFile(store, '');
  expect(await status()).toBe(503);
  await rm(store);
  expect(await status()).toBe(200);
}

/** `next dev` serves the same, and prints no signed URL. */
async function expectDevelopment(laid: Example): Promise<void> {
  const server = await laid.start({ NEXT_TELEMETRY_DISABLED: '1' }, 'dev');
  let output = '';
  try {
    await aggregateAt(`${server.base}/falcon`, { apiKey: await firstKey(laid) });
    // Under another name Next refuses its own scripts.
    const { port } = new URL(server.base);
    const seen = await inPage(`http://localhost:${port}/`, async (page) => {
      await page.getByRole('button', { name: 'Sign' }).click();
      return page.locator('output', { hasText: /valid|error/i }).textContent();
    });
    if (seen !== null) expect(seen).toMatch(/as one: valid$/);
  } finally {
    // The server is a process of its own, which a SIGKILL of this one would leave behind.
    ({ output } = await server.end('SIGTERM'));
  }
  expect(output).not.toContain('signature=');
}

example('next', async (laid) => {
  const own = { NEXT_TELEMETRY_DISABLED: '1', NEXT_MANUAL_SIG_HANDLE: '1' };
  const env = { ...own, NODE_ENV: 'production' };
  await laid.run('build', env);
  const server = await laid.start(env);
  const batch = (rows: unknown) =>
    fetch(`${server.base}/aggregate`, { method: 'POST', body: JSON.stringify(rows) });
  await expectRefusals(server.base);
  await expectAnotherStart(server.base, join(laid.folder, '.falconry'));
  const bad = [{ publicKey: '09'.repeat(897), message: '', signature: '39'.repeat(600) }];
  expect((await batch(bad)).status).toBe(422);
  const client = createClient({
    baseUrl: `${server.base}/falcon`,
    apiKey: await firstKey(laid),
  });
  // Under `next start` the signing endpoint is off, as in every production.
  await expect(client.sign('one for Next')).rejects.toMatchObject({ code: 'SIGNING_DISABLED' });
  const { process_id } = await client.aggregate(fixedItems(falcon512, 3));
  expect((await client.waitFor(process_id)).status).toBe('completed');
  const seen = await inPage(`${server.base}/`, async (page) => {
    await page.getByRole('button').click();
    const output = page.locator('output', { hasText: /valid|error/i });
    return output.textContent();
  });
  if (seen !== null) expect(seen).toMatch(/^100 signatures of \d+ bytes, \d+ as one: valid$/);
  await inPage(`${server.base}/verify`, async (page) => {
    const { publicKey, secretKey } = falcon512.keygen();
    const signature = falcon512.sign(new TextEncoder().encode('one for Next'), secretKey);
    await page.getByLabel('Signature').fill(Buffer.from(signature).toString('hex'));
    await page.getByLabel('Public key').fill(Buffer.from(publicKey).toString('hex'));
    for (const [text, verdict] of [
      ['one for Next', 'valid'],
      ['two for Next', 'NOT VALID'],
    ]) {
      await page.getByLabel('Message').fill(text!);
      await page.getByRole('button').click();
      await page.getByText(verdict!, { exact: true }).waitFor();
    }
  });
  const output = await server.stop();
  expect(output).toContain('The service has stopped');
  await expectDevelopment(laid);
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
  const seen = await inPage(server.base, async (page) => {
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

/**
 * The most that a browser that verifies may need above one with an empty page. Much of it is what
 * engines have not collected yet: 38 to 69 have been seen, on a busy machine.
 */
const SERIES_CLIENT_MB = 90;
/** The most of it that is alive, beside the 18 MB of the module; 7 have been seen. */
const LIVE_MB = 15;
const VERDICT = `(async () => {
  for (;;) {
    const text = document.querySelector('#verdict').textContent;
    if (/valid|checked/i.test(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})()`;

example('vite-series-client', async (laid) => {
  await laid.run('build');
  const { base } = await laid.start();
  const empty = `${base}/none`;
  // Opened first: for some seconds after its start, Firefox takes memory for itself.
  const firefox = await firefoxPage(empty);
  const seen: string[] = [];
  const watched = (browser: string, command: RegExp) => {
    const end = watchMemory(command);
    return (verdict: string) => {
      const mb = end();
      expect(verdict, browser).toBe('valid: 20000 readings');
      if (countsMemory) {
        expect(mb, browser).toBeLessThan(SERIES_CLIENT_MB);
        // As much as its module needs: so it was this browser that was watched.
        expect(mb, browser).toBeGreaterThan(5);
      }
      seen.push(`${browser}: ${verdict}, in ${mb.toFixed(0)} MB`);
    };
  };
  await inPage(empty, async (page) => {
    const check = watched('Chromium', /\/chromium/);
    await page.goto(base);
    check(await page.evaluate<string>(VERDICT));
    expect(await page.locator('#progress').getAttribute('value')).toBe('1');
    // One letter of one reading is another.
    await page.route('**/readings', async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replace('19000: 15', '19000: 25');
      await route.fulfill({ response: answer, body: text });
    });
    await page.reload();
    const [mb, verdict] = await liveMb(page, page.evaluate<string>(VERDICT));
    expect(verdict).toBe('NOT VALID');
    expect(mb).toBeLessThan(LIVE_MB);
    seen.push(`${mb.toFixed(0)} MB of it alive, beside the module's`);
  });
  if (firefox !== null) {
    const check = watched('Firefox', /\/firefox-esr/);
    await firefox.go(base);
    check(await firefox.ask(VERDICT));
  }
  return seen.join('; ');
});

example('own-store', async (laid) => {
  const passed = Number(/^# pass (\d+)$/m.exec(await laid.run('test'))?.[1]);
  expect(passed).toBeGreaterThan(30);
  const server = await laid.start({ TOKEN: 'sesame' });
  await aggregateAt(server.base, { apiKey: 'sesame' });
  const stranger = createClient({ baseUrl: server.base, apiKey: 'simsim' });
  await expect(stranger.task(1)).rejects.toMatchObject({ status: 401 });
  await server.stop();

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

example('sql-store', async (laid) => {
  const passed = Number(/^# pass (\d+)$/m.exec(await laid.run('test'))?.[1]);
  expect(passed).toBeGreaterThan(30);
  const env = { TOKEN: 'sesame' };
  const server = await laid.start(env);
  await aggregateAt(server.base, { apiKey: 'sesame' });
  await server.end('SIGKILL');
  const again = await laid.start(env);
  const client = createClient({ baseUrl: again.base, apiKey: 'sesame' });
  expect((await client.page()).tasks.map(({ status }) => status)).toEqual(['completed']);
  await again.stop();
  return `${passed} tests of the suites; a task outlives kill -9`;
});

/** Has a service aggregate a batch, and checks what comes back. */
async function aggregateAt(
  baseUrl: string,
  caller: { readonly apiKey: string } | { readonly fetch: Fetch },
): Promise<void> {
  const client = createClient({ baseUrl, ...caller });
  const items = fixedItems(falcon512, 3);
  const { process_id } = await client.submit(items);
  await client.waitFor(process_id);
  expect((await client.result(process_id, { statements: items })).checked).toBe(true);
}

example('pkcs11-signer', async (laid) => {
  const server = await laid.start();
  const apiKey = await firstKey(laid);
  const said = await laid.run('client', { FALCONRY_URL: server.base, FALCONRY_API_KEY: apiKey });
  expect(said.trim().split('\n')).toEqual([
    'valid signatures: 5 of 5',
    expect.stringMatching(/^refused: 422 SIGNING_REFUSED, .*The message is too long/),
  ]);
  const post = (digest: string) =>
    fetch(new URL('/v1/falcon/sign', server.base), {
      method: 'POST',
      headers: { authorization: apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ digest }),
    });
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('0x01')));
  const busy = answers.filter(({ status }) => status === 503);
  expect(busy.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status === 200).length).toBe(20 - busy.length);
  for (const { headers } of busy) expect(headers.get('retry-after')).toBe('1');
  await server.stop();
  return 'a token signs, is busy, and refuses';
});

example('fastify', async (laid) => {
  const server = await laid.start({ TOKENS: 'sesame=ada,simsim=bob' });
  const at = (token: string): Fetch => {
    return (url, init) => {
      const headers = new Headers(init.headers);
      headers.set('x-access-token', token);
      return fetch(url, { ...init, headers });
    };
  };
  await aggregateAt(server.base, { fetch: at('sesame') });
  const list = async (token: string) => {
    const answer = await at(token)(`${server.base}/v1/svc/tasks`, {});
    return answer.ok ? ((await answer.json()) as { tasks: unknown[] }).tasks.length : answer.status;
  };
  expect([await list('sesame'), await list('simsim'), await list('open')]).toEqual([1, 0, 401]);
  const [item] = fixedItems(falcon512, 1);
  const check = async (body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const url = new URL('/check', server.base);
    return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const good = Object.fromEntries(
    (['publicKey', 'message', 'signature'] as const).map((name) => [name, base64(item![name])]),
  );
  expect(await (await check(good)).json()).toEqual({ valid: true });
  expect(await (await check({ ...good, message: 'AAAA' })).json()).toEqual({ valid: false });
  expect((await check({ ...good, publicKey: 'AAAA' })).status).toBe(400);
  expect((await check({})).status).toBe(400);
  const output = await server.stop();
  expect(output).toContain('/falcon/v1/svc/uploads/');
  expect(output).not.toContain('signature=');
  return 'tokens of the host, two clients apart; no signature in the log';
});

example('webhooks', async (laid) => {
  const secret = { WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
  const receiver = await laid.start(secret, 'receive');
  const sent: { readonly headers: Headers; readonly body: string; readonly status: number }[] = [];
  // Fails the first delivery, and passes the others on.
  const between = await openServer(async (request, response) => {
    const body = await textOf(request);
    const headers = new Headers();
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      headers.set(name, String(request.headers[name]));
    }
    const status =
      sent.length === 0
        ? 500
        : (await fetch(receiver.base, { method: 'POST', headers, body })).status;
    sent.push({ headers, body, status });
    response.writeHead(status).end();
  });
  try {
    const server = await laid.start({ ...secret, WEBHOOK_URL: `${between.address}/` });
    await aggregateAt(server.base, { apiKey: await firstKey(laid) });
    await expect.poll(() => sent.map(({ status }) => status)).toEqual([500, 204]);
    const [first, second] = sent;
    expect(second!.body).toBe(first!.body);
    const id = second!.headers.get('webhook-id');
    expect(first!.headers.get('webhook-id')).toBe(id);
    expect(JSON.parse(second!.body)).toMatchObject({
      type: 'task.completed',
      data: { client_id: 1, status: 'completed' },
    });
    // The same headers with another body, or at another time, are not accepted.
    const forge = async (body: string, timestamp?: string) => {
      const headers = new Headers(second!.headers);
      if (timestamp !== undefined) headers.set('webhook-timestamp', timestamp);
      return (await fetch(receiver.base, { method: 'POST', headers, body })).status;
    };
    expect(await forge(second!.body)).toBe(204);
    expect(await forge(second!.body.replace('completed', 'failed'))).toBe(400);
    expect(await forge(second!.body, '1700000000')).toBe(400);
    expect(await server.stop()).toContain(`${id}: delivered\n`);
    expect((await receiver.stop()).split('\n').filter((line) => line.startsWith('task-'))).toEqual([
      `${id}: task.completed`,
    ]);
  } finally {
    await between.close();
  }
  return 'a failed delivery is repeated; forged and old messages are refused';
});

example('metrics', async (laid) => {
  const port = await freePort();
  const server = await laid.start({ METRICS_PORT: String(port) });
  expect((await fetch(new URL('/readyz', server.base))).status).toBe(200);
  expect((await fetch(new URL('/else', server.base))).status).toBe(404);
  await aggregateAt(server.base, { apiKey: await firstKey(laid) });
  const shown = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(shown).toMatch(/^falconry_ready 1$/m);
  expect(shown).toMatch(/^falconry_attempts_total\{outcome="completed"\} 1$/m);
  expect(shown).toMatch(/^falconry_signatures_total 3$/m);
  expect(shown).toMatch(/^http_requests_total\{route="[^"]+",method="POST",status="202"\} 1$/m);
  // It has the metrics of `falconry serve`, which are those of the guide.
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const names = [...guide.matchAll(/^\| `((?:falconry|http)_\w+)` \|/gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) expect(shown).toContain(`# TYPE ${name} `);
  await server.stop();
  return `${names.length} metrics, with the names of falconry serve`;
});

for (const name of ['deno', 'bun']) {
  example(name, async (laid) => {
    const server = await laid.start();
    await aggregateAt(server.base, { apiKey: (await laid.run('key')).trim() });
    await server.stop();
    return 'a task below /falcon';
  });
}

example('workerd', async (laid) => {
  await laid.run('build');
  const { publicKey, secretKey } = falcon512.keygen();
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const server = await startWorkerd(laid.folder, { SECRET_KEY: base64(secretKey) });
  try {
    const post = async (path: string, body: string) =>
      (await fetch(new URL(path, server.url), { method: 'POST', body })).json();
    const signed = (await post('/sign', 'three apples')) as Record<string, string>;
    expect(JSON.parse(signed.receipt!)).toMatchObject({ body: 'three apples' });
    const signature = Buffer.from(signed.signature!, 'base64');
    expect(falcon512.verify(signature, Buffer.from(signed.receipt!), publicKey)).toBe(true);
    const check = (bytes: Uint8Array, statements: unknown) =>
      post('/check', JSON.stringify({ aggregate: base64(bytes), statements }));
    const mixed = [...fixedItems(falcon512, 40), ...fixedItems(falcon1024, 30)];
    for (const [items, format] of [
      [mixed, 'bundle'],
      [fixedItems(falcon512, 150), 'proof'],
      [mixed, 'proof'],
    ] as const) {
      const bytes = await aggregate(items, { format });
      const statements = items.map((item) => {
        return { publicKey: base64(item.publicKey), message: base64(item.message) };
      });
      expect(await check(bytes, statements)).toEqual({ valid: true });
      expect(await check(bytes, statements.toReversed())).toEqual({ valid: false });
      bytes[bytes.length - 9]! ^= 1;
      expect(await check(bytes, statements)).toEqual({ valid: false });
    }
  } finally {
    await server.close();
  }
  return 'signs, and checks a bundle, a proof of 150, and a proof of both sets';
});

example('web-worker', async (laid) => {
  await laid.run('build');
  const server = await serveFolder(join(laid.folder, 'dist'));
  try {
    const seen = await inPage(server.url, (page) => {
      return page.locator('#said', { hasText: /valid|failed/ }).textContent();
    });
    if (seen !== null) expect(seen).toMatch(/^300 of 300 signatures are valid, \d+ frames/);
    return seen ?? 'no Chromium';
  } finally {
    await server.close();
  }
});

example('node-pool', async (laid) => {
  const said = (await laid.run('start')).trim().split('\n');
  expect(said).toEqual([
    expect.stringMatching(/^verified on [1-4] threads$/),
    '10000 signatures, invalid: [{"index":4321,"reason":"signatureMismatch"}]',
    'ended early: ABORTED',
    expect.stringMatching(/^200 signatures in \d{5} bytes: valid$/),
    expect.stringMatching(/^300 signatures in \d{5} bytes: valid$/),
    'the event loop went on meanwhile: true',
  ]);
  return said.slice(0, 3).join('; ');
});

example('algorand', async (laid) => {
  const said = (await laid.run('start')).trim().split('\n');
  expect(said).toEqual([
    '100 payments, each checked by itself: true',
    expect.stringMatching(/^\d{6} bytes of signatures, one proof: \d{5}$/),
    'checked as one: true',
  ]);
  return said[1]!;
});

example('audit-log', async (laid) => {
  await laid.run('start');
  const good = await laid.run('verify');
  expect(good.match(/^00000[12]: 100 entries, \d{5} bytes for all$/gm)).toHaveLength(2);
  expect(good).toMatch(/^open: 50 entries/m);
  // Programs come back with their keys, and the log goes on.
  await laid.run('start');
  expect(await laid.run('verify')).toMatch(/^good: 500 entries/m);
  const path = join(laid.folder, 'log/000002.jsonl');
  const text = await readFile(path, 'utf8');
  const lines = text.split('\n');
  for (const [bad, why] of [
    // The last of a batch: only its signature tells.
    [text.replace('"detail":199', '"detail":198'), 'not what was signed|does not follow'],
    [lines.toSpliced(7, 1).join('\n'), 'entry 109 does not follow entry 107'],
    [lines.with(7, lines[8]!).join('\n'), 'entry 109 does not follow entry 107'],
  ] as const) {
    expect(bad).not.toBe(text);
    await writeFile(path, bad);
    await expect(laid.run('verify')).rejects.toThrow(new RegExp(`BAD: 000002: .*(${why})`));
  }
  await writeFile(path, text);
  const seal = join(laid.folder, 'log/000005.aggregate');
  const bytes = await readFile(seal);
  bytes[bytes.length - 100]! ^= 1;
  await writeFile(seal, bytes);
  await expect(laid.run('verify')).rejects.toThrow(/BAD: 000005: not what was signed/);
  return '500 entries in 5 aggregates; changed, lost and moved lines are found';
});

test('every example is tried, and says what it is', async () => {
  const folders = await readdir(examplesFolder, { withFileTypes: true });
  // Deployment files are tested by test/operating.
  const names = folders.flatMap((each) =>
    each.isDirectory() && each.name !== 'deploy' ? [each.name] : [],
  );
  expect(names.toSorted()).toEqual([...tried].toSorted());
  const list = await readFile(join(examplesFolder, 'README.md'), 'utf8');
  for (const name of names) {
    expect(list, name).toContain(`](${name}/README.md)`);
    const readme = await readFile(join(examplesFolder, name, 'README.md'), 'utf8');
    expect(readme.split('\n').length, `${name}/README.md`).toBeLessThan(60);
    expect(readme, name).toContain('npm install');
  }
});
