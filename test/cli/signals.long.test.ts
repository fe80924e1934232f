/** What is left when a command is stopped: no half-written file, no lost request, no stack. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
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
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Running, falconry as start } from '../middleware/process.ts';
import { makeTriples } from '../middleware/triples.ts';
import { cleanEnvironment, falconry, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const IO = new URL('../../src/cli/lib/io.ts', import.meta.url).href;

beforeAll(() => writeFileSync(at('task.json'), JSON.stringify(makeTriples(400, 4))));

describe('a file that is written', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('is whole or not there: %s', async (signal) => {
    const place = at(signal);
    mkdirSync(place);
    writeFileSync(join(place, 'out'), 'before');
    // A disk that takes the first megabyte again and again: the writing goes on until it is
    // stopped.
    const script = `import promises from 'node:fs/promises';
      import { syncBuiltinESMExports } from 'node:module';
      const { open } = promises;
      promises.open = async (...args) => {
        const file = await open(...args);
        file.writeFile = async (data) => {
          for (;;) await file.write(data, 0, data.length >> 1, 0);
        };
        return file;
      };
      syncBuiltinESMExports();
      const { writeOutput } = await import('${IO}');
      await writeOutput('${join(place, 'out')}', new Uint8Array(2_000_000), {});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    let err = '';
    child.stderr.on('data', (part) => (err += part));
    const ended = new Promise((resolve) => child.on('exit', (_, by) => resolve(by)));
    const aside = () => readdirSync(place).find((name) => name !== 'out');
    while (child.exitCode === null) {
      const name = aside();
      if (name !== undefined && statSync(join(place, name)).size > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(aside(), err).toMatch(/^\.out\./);
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
  // The signal comes as soon as the proof has begun to grow; what is told of it afterwards is told
  // here, too.
  const script = `import { writeSync } from 'node:fs';
    import { main } from '${MAIN}';
    const write = (text) => {
      for (const [, percent] of String(text).matchAll(/aggregating.*?(\\d+) %/g)) {
        writeSync(1, percent + '\\n');
        if (percent > 0) process.kill(process.pid, 'SIGINT');
      }
    };
    const stderr = { isTTY: true, columns: 80, write };
    const args = ['aggregate', 'task.json', '--format', 'proof', '-o', 'never.json'];
    await main(args, { stdin: process.stdin, stdout: process.stdout, stderr, env: process.env });
    console.log('done');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder.path,
    env: cleanEnvironment(),
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (part) => (out += part));
  child.stderr.on('data', (part) => (err += part));
  const ended = await new Promise((resolve) =>
    child.on('close', (code, signal) => resolve([code, signal])),
  );
  expect(ended, err).toEqual([null, 'SIGINT']);
  const percents = out.trim().split('\n').map(Number);
  expect(percents.at(-1)).toBeGreaterThan(0);
  expect(percents.at(-1)).toBeLessThan(100);
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

/** Whether the store is there and has an API key. */
function holdsKey(path: string): boolean {
  if (!existsSync(path)) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    return db.prepare('SELECT count(*) AS keys FROM api_keys').get()!.keys === 1;
  } catch {
    return false; // It is being made.
  } finally {
    db?.close();
  }
}

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
    const [, base = ''] = await server.printed(/listening on (http:\S+)/);
    const body = '{"digest":"0x68656c6c6f"}';
    const headers = {
      authorization: key,
      'content-type': 'application/json',
      'content-length': body.length,
      // The server's own word that the request has begun.
      expect: '100-continue',
    };
    const sent = request(`${base}/v1/falcon/sign`, { method: 'POST', headers });
    const answered = new Promise<number>((resolve, reject) => {
      sent.on('response', (answer) => resolve(answer.resume().statusCode!));
      sent.on('error', reject);
    });
    answered.catch(() => {});
    const begun = new Promise((resolve) => sent.once('continue', resolve));
    sent.write(body.slice(0, 10));
    await begun;
    return { server, answered, finish: () => sent.end(body.slice(10)) };
  }

  it('finishes the requests that have begun', async () => {
    const { server, answered, finish } = await halfway();
    server.kill('SIGTERM');
    await server.printed(/SIGTERM: finishing running work; a second signal ends it at once/);
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
    server.kill('SIGINT');
    // By the signal: in order it would have ended with a code, when the request's body is given up.
    expect((await server.ended).code).toBeNull();
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

  it('does not start on the store of a newer version, and says so by its exit code', async () => {
    const data = at('newer-data');
    mkdirSync(data);
    const file = join(data, 'falconry.sqlite');
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 99');
    db.close();
    chmodSync(file, 0o600);
    const { code, err } = await falconry(folder.path, ['serve', '--port', '0', '--data', data]);
    expect(code).toBe(3);
    expect(err).toContain('written by a newer version');
  });

  it('goes on, and stops in order, when nobody reads its output any more', async () => {
    const args = ['serve', '--port', '0', '--data', at('unread-data'), '--log', 'json', '--json'];
    const child = spawn(process.execPath, [MAIN, ...args, '--log-level', 'debug'], {
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const ended = new Promise((resolve) => child.on('exit', (...how) => resolve(how)));
      const line = await new Promise<string>((resolve) =>
        child.stdout.once('data', (text) => resolve(String(text))),
      );
      child.stdout.destroy();
      child.stderr.destroy();
      const { address } = JSON.parse(line) as { address: string };
      for (let i = 0; i < 3; i++) expect((await fetch(`${address}/v1/svc/tasks`)).status).toBe(401);
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('with --quiet says nothing', async () => {
    const data = at('quiet-data');
    server = start(['serve', '--port', '0', '--data', data, '--quiet', '--log', 'json']);
    // The first key is made when the port is open and signals are listened to, right before the
    // words of welcome.
    while (!holdsKey(join(data, 'falconry.sqlite'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    server.kill('SIGTERM');
    const { code, stdout } = await server.ended;
    expect([code, stdout]).toEqual([0, '']);
  });
});
