import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { falconry, type Running } from '../middleware/process.ts';
import { sendRaw } from '../middleware/rawHttp.ts';
import { toAnswer } from '../middleware/support.ts';
import { makeTriples } from '../middleware/triples.ts';

let data: string;
let running: Running[] = [];
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'falconry-serve-'));
});
afterEach(async () => {
  for (const process of running) process.kill('SIGKILL');
  await Promise.all(running.map((process) => process.ended));
  running = [];
  await rm(data, { recursive: true, force: true });
});

async function serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const process = falconry(['serve', '--port', '0', '--data', data, ...args], env);
  running.push(process);
  const [, base = ''] = await process.printed(/listening on (http:\S+)/);
  const ask = async (key: string, method: string, path: string, body?: unknown) => {
    const headers = { authorization: key, 'content-type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const url = path.startsWith('http') ? path : base + path;
    return toAnswer(await fetch(url, { method, headers, ...init }));
  };
  return { process, base, ask };
}

/** The API key that a first start has written, as its output says: `$(cat <file>)`. */
async function firstKey(process: Running): Promise<string> {
  const [, path = ''] = await process.printed(/export FALCONRY_API_KEY=\$\(cat (\S+)\)/);
  expect(path).toBe(join(data, 'first-api-key'));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  return (await readFile(path, 'utf8')).trim();
}

describe('falconry serve', () => {
  it('makes keys at its first start, tells none to a pipe, and ends in order', async () => {
    const first = await serve();
    const key = await firstKey(first.process);
    await first.process.printed(/tasks -H "Authorization: \$FALCONRY_API_KEY"/);
    const signed = await first.ask(key, 'POST', '/v1/falcon/sign', { digest: '0x68656c6c6f' });
    expect(signed.status).toBe(200);
    for (const path of [data, join(data, 'keys')]) expect((await stat(path)).mode & 0o077).toBe(0);
    for (const name of ['falconry.sqlite', 'keys/signing.json']) {
      expect((await stat(join(data, name))).mode & 0o777).toBe(0o600);
    }
    first.process.kill('SIGTERM');
    const end = await first.process.ended;
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toMatch(/Stopped\.\n$/);
    expect(end.stdout + end.stderr).not.toContain(key);

    const second = await serve();
    const again = await second.ask(key, 'POST', '/v1/falcon/sign', { digest: '0x68656c6c6f' });
    expect(again.json.public_key).toBe(signed.json.public_key);
    second.process.kill('SIGINT');
    const { code, stdout } = await second.process.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('FALCONRY_API_KEY');
  });

  it.runIf(process.platform === 'linux')('lets the threads of the engine stand back', async () => {
    const { process } = await serve();
    const threads = `/proc/${process.pid}/task`;
    const names = readdirSync(threads).map(
      (id) => [Number(id), readFileSync(`${threads}/${id}/comm`, 'utf8').trim()] as const,
    );
    const engine = names.filter(([, name]) => name === 'V8Worker').map(([id]) => id);
    expect(engine.length).toBeGreaterThan(0);
    const nicer = Math.min(19, getPriority() + 10);
    expect(engine.map(getPriority)).toEqual(engine.map(() => nicer));
    expect(getPriority(process.pid)).toBe(getPriority());
  });

  it('shows the key in the line of --json, and then in no file', async () => {
    const process = falconry(['serve', '--port', '0', '--data', data, '--json']);
    running.push(process);
    const [line] = await process.printed(/^\{.*\}$/m);
    expect(JSON.parse(line)).toMatchObject({ ok: true, api_key: expect.stringMatching(/\S{20}/) });
    expect(await readdir(data)).not.toContain('first-api-key');
  });

  it('does not start with a database that others can read, nor does keys open it', async () => {
    const { process } = await serve();
    process.kill('SIGTERM');
    await process.ended;
    const database = join(data, 'falconry.sqlite');
    await chmod(database, 0o640);
    const refusals = [
      ['serve', '--port', '0', '--data', data],
      ['keys', 'list', '--data', data],
    ];
    for (const args of refusals) {
      const refused = await falconry(args).ended;
      expect(refused.code).toBe(3);
      expect(refused.stderr).toContain(`open to others: chmod go= ${database}`);
    }
    await serve(['--allow-shared']);
    const listed = await falconry(['keys', 'list', '--data', data, '--allow-shared']).ended;
    expect(listed.stdout).toMatch(/client 1 .* first\n$/);
  });

  it('finishes after a restart what it accepted before', async () => {
    const first = await serve();
    const key = await firstKey(first.process);
    const triples = makeTriples(20);
    const accepted = await first.ask(key, 'POST', '/v1/svc/aggsign', { data: triples });
    expect(accepted.status).toBe(202);
    first.process.kill('SIGTERM');
    expect((await first.process.ended).code).toBe(0);
    const second = await serve();
    const path = `/v1/svc/tasks/${accepted.json.process_id}`;
    let record = await second.ask(key, 'GET', path);
    while (!['completed', 'failed'].includes(record.json.status)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      record = await second.ask(key, 'GET', path);
    }
    expect(record.json.status).toBe('completed');
    expect((await second.ask(key, 'GET', record.json.result_path)).json.count).toBe(20);
  });

  it('takes no more connections than it should, and logs that', async () => {
    const { process, base } = await serve(['--max-connections', '1', '--log', 'json']);
    const { port } = new URL(base);
    const held = connect(Number(port), '127.0.0.1');
    await new Promise<void>((sent) => held.write('GET / HTTP/1.1\r\n', () => sent()));
    const ask = { parts: ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'] };
    let status = 0;
    while (status !== 503) status = (await sendRaw(Number(port), ask))?.status ?? 0;
    held.destroy();
    process.kill('SIGTERM');
    const { code, stderr } = await process.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/"level":"warn","message":"connections refused","count":\d+/);
    expect(stderr).toContain('"limit":"perAddress"');
  });

  it('makes no signing key in production', async () => {
    const { process, ask } = await serve([], { NODE_ENV: 'production' });
    const key = await firstKey(process);
    const answer = await ask(key, 'POST', '/v1/falcon/sign', { digest: '0x00' });
    expect([answer.status, answer.json.code]).toEqual([403, 'SIGNING_DISABLED']);
    expect(await readdir(data)).not.toContain('keys');
  });

  it('reads the environment; an argument goes before it', async () => {
    const env = { FALCONRY_SERVICE_NAME: 'fromenv', FALCONRY_SIGNING: '0', PORT: '1' };
    const { process, ask } = await serve(['--service-name', 'given', '--signing'], env);
    const key = await firstKey(process);
    expect((await ask(key, 'GET', '/v1/given/tasks')).status).toBe(200);
    expect((await ask(key, 'GET', '/v1/fromenv/tasks')).status).toBe(404);
    expect((await ask(key, 'POST', '/v1/falcon/sign', { digest: '0x' })).status).toBe(200);
  });

  it.each([
    [['--prot', '80'], 2, '--prot'],
    [['--port', 'http'], 2, '--port'],
    [['--port', '70000'], 2, '65535'],
    [['--log-level', 'loud'], 2, 'debug'],
    [['extra'], 2, 'extra'],
    [['--service-name', 'a/b'], 2, '--service-name must be one path segment'],
    [['--public-url', 'nowhere'], 2, '--public-url'],
    [['--host', '203.0.113.1'], 3, 'EADDRNOTAVAIL'],
  ])('refuses %j', async (args, code, word) => {
    const process = falconry([
      'serve',
      '--port',
      '0',
      '--data',
      data,
      '--log-level',
      'silent',
      ...args,
    ]);
    running.push(process);
    const end = await process.ended;
    expect(end.code, end.stderr).toBe(code);
    expect(end.stderr).toContain(word);
    expect(end.stdout).toBe('');
  });
});

describe('falconry', () => {
  it('lists its commands, and knows its version', async () => {
    const help = await falconry(['--help']).ended;
    expect(help.code).toBe(0);
    for (const name of [
      'serve',
      'keys',
      'keygen',
      'sign',
      'verify',
      'aggregate',
      'verify-aggregate',
    ]) {
      expect(help.stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    for (const name of ['serve', 'keys']) {
      const { code, stdout } = await falconry([name, '--help']).ended;
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: falconry ${name}`);
    }
    expect((await falconry(['--version']).ended).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await falconry([]).ended).code).toBe(2);
    const unknown = await falconry(['fly']).ended;
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('"fly"');
  });

  it('creates, lists and revokes API keys', async () => {
    const keys = (...args: string[]) => falconry(['keys', ...args, '--data', data]).ended;
    expect((await keys('list')).code).toBe(3);
    const { stdout } = await keys('create', '--name', 'alice');
    const key = stdout.trim();
    expect(key).toMatch(/^falconry_[\w-]{43}$/);
    const made = await keys('create', '--client', '1', '--json');
    expect(made.code, made.stderr).toBe(0);
    const second = JSON.parse(made.stdout);
    expect(second.client_id).toBe(1);
    const listed = JSON.parse((await keys('list', '--json')).stdout);
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['alice', 'key']);
    expect(JSON.stringify(listed)).not.toContain(key);

    const { process, ask } = await serve();
    await process.printed(/More API keys/);
    expect((await ask(key, 'GET', '/v1/svc/tasks')).status).toBe(200);
    expect((await keys('revoke', listed[0].sha256.slice(0, 12))).code).toBe(0);
    expect((await ask(key, 'GET', '/v1/svc/tasks')).status).toBe(401);
    expect((await ask(second.key, 'GET', '/v1/svc/tasks')).status).toBe(200);
    expect((await keys('revoke', '00000000')).code).toBe(1);
    expect((await keys('revoke', 'xyz')).code).toBe(2);
    expect((await keys('make')).code).toBe(2);
  });
});
