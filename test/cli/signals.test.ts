/** What is left when a command is stopped: no half-written file, no lost request, no stack. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Running, falconry as start } from '../middleware/process.ts';
import { makeTriples } from '../middleware/triples.ts';
import { cleanEnvironment, falconry, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const IO = new URL('../../src/cli/io.ts', import.meta.url).href;

beforeAll(() => writeFileSync(at('task.json'), JSON.stringify(makeTriples(400, 4))));
afterAll(() => folder.remove());

describe('a file that is written', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('is whole or not there: %s', async (signal) => {
    const place = at(signal);
    mkdirSync(place);
    writeFileSync(join(place, 'out'), 'before');
    const script = `import { writeOutput } from '${IO}';
      await writeOutput('${join(place, 'out')}', new Uint8Array(400_000_000), {});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const ended = new Promise((resolve) => child.on('exit', (_, by) => resolve(by)));
    // The file aside is there, and grows: now.
    while (!readdirSync(place).some((name) => name !== 'out')) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    child.kill(signal);
    expect(await ended).toBe(signal);
    expect(readdirSync(place)).toEqual(['out']);
    expect(readFileSync(join(place, 'out'), 'utf8')).toBe('before');
  });

  it('keeps its rights, and a link stays a link', async () => {
    writeFileSync(at('real.json'), 'old', { mode: 0o640 });
    symlinkSync(at('real.json'), at('link.json'));
    const made = await falconry(folder.path, ['aggregate', 'task.json', '-o', 'link.json']);
    expect(made.code).toBe(0);
    expect(JSON.parse(readFileSync(at('real.json'), 'utf8')).count).toBe(400);
    expect(statSync(at('real.json')).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('is not written over a device', async () => {
    const before = statSync('/dev/null');
    const made = await falconry(folder.path, ['aggregate', 'task.json', '-o', '/dev/null']);
    expect(made.code).toBe(0);
    const after = statSync('/dev/null');
    expect([after.isCharacterDevice(), after.ino]).toEqual([true, before.ino]);
  });
});

it('Ctrl-C ends a proof at once, and leaves nothing', async () => {
  const args = [MAIN, 'aggregate', 'task.json', '--format', 'proof', '-o', 'never.json'];
  const child = spawn(process.execPath, args, { cwd: folder.path, env: cleanEnvironment() });
  const ended = new Promise((resolve) =>
    child.on('exit', (code, signal) => resolve([code, signal])),
  );
  await new Promise((resolve) => setTimeout(resolve, 600));
  const startMs = performance.now();
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  expect(performance.now() - startMs).toBeLessThan(1500);
  expect(existsSync(at('never.json'))).toBe(false);
});

it('a reader that has enough is no fault to be told of', async () => {
  const line = `'${process.execPath}' '${MAIN}' aggregate task.json --format bundle | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', line], { cwd: folder.path, env: cleanEnvironment() });
  let [out, err] = ['', ''];
  child.stdout.on('data', (part) => (out += part));
  child.stderr.on('data', (part) => (err += part));
  await new Promise((resolve) => child.on('close', resolve));
  // 0 when all went into the pipe before its end was closed.
  expect(['141\n', '0\n']).toContain(out);
  expect(err).not.toMatch(/\bat |EPIPE/);
});

describe('a server', () => {
  let server: Running | undefined;
  afterEach(async () => {
    server?.kill('SIGKILL');
    await server?.ended;
  });

  /** A server with a request under way: the first half of a body is sent. */
  async function halfway() {
    const key = 'k'.repeat(40);
    const args = ['serve', '--port', '0', '--data', at(`data-${Math.random()}`), '--grace', '60s'];
    server = start([...args, '--signing', '--log', 'text'], { FALCONRY_FIRST_KEY: key });
    const [, base = ''] = await server.printed(/serves on (http:\S+)/);
    const body = '{"digest":"0x68656c6c6f"}';
    const headers = {
      authorization: key,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sent = request(`${base}/v1/falcon/sign`, { method: 'POST', headers });
    const answered = new Promise<number>((resolve, reject) => {
      sent.on('response', (answer) => resolve(answer.resume().statusCode!));
      sent.on('error', reject);
    });
    answered.catch(() => {});
    sent.write(body.slice(0, 10));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { server, answered, finish: () => sent.end(body.slice(10)) };
  }

  it('finishes the requests that have begun', async () => {
    const { server, answered, finish } = await halfway();
    server.kill('SIGTERM');
    await server.printed(/SIGTERM: finishing what runs; once more ends it at once/);
    finish();
    expect(await answered).toBe(200);
    const { code, stderr } = await server.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\S+Z info {2}service started workers=true threads=\d+/m);
  });

  it('ends at once at the second signal', async () => {
    const { server, answered } = await halfway();
    server.kill('SIGINT');
    await server.printed(/SIGINT: finishing/);
    const startMs = performance.now();
    server.kill('SIGINT');
    expect((await server.ended).code).toBeNull();
    expect(performance.now() - startMs).toBeLessThan(5000);
    await expect(answered).rejects.toThrow();
  });

  it('says one line of JSON when asked, and nothing more on standard output', async () => {
    server = start(['serve', '--port', '0', '--data', at('json-data'), '--json', '--log', 'json']);
    const [line] = await server.printed(/^.*\n/);
    const ready = JSON.parse(line);
    expect(ready).toMatchObject({ ok: true, address: `http://127.0.0.1:${ready.port}` });
    expect(ready.api_key).toMatch(/^falconry_/);
    server.kill('SIGTERM');
    const { code, stdout, stderr } = await server.ended;
    expect([code, stdout]).toEqual([0, line]);
    const log = stderr
      .trim()
      .split('\n')
      .map((entry) => JSON.parse(entry));
    expect(log[0]).toMatchObject({ level: 'info', message: 'service started' });
    expect(stderr).not.toContain(ready.api_key);
  });

  it('with --quiet says nothing', async () => {
    const data = at('quiet-data');
    server = start(['serve', '--port', '0', '--data', data, '--quiet', '--log', 'json']);
    await expect
      .poll(() => existsSync(join(data, 'falconry.sqlite')), { timeout: 20_000 })
      .toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    server.kill('SIGTERM');
    const { code, stdout } = await server.ended;
    expect([code, stdout]).toEqual([0, '']);
  });
});
