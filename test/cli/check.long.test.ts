/** `falconry doctor` finds what would go wrong: every fault is really there. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskFinding } from '../../src/cli/operate/serveChecks.ts';
import { KeyFileSigner, keyPlace } from '../../src/middleware/signing/keyFile.ts';
import { fact } from '../support/facts.ts';
import { type Ended, falconry, falconryHere, temporaryFolder } from './cli.ts';

interface Finding {
  level: 'ok' | 'warning' | 'fault';
  check: string;
  message: string;
  advice?: string;
}

const folder = temporaryFolder();
let data: string;
let turn = 0;
const servers: Server[] = [];
beforeEach(() => {
  process.chdir(folder.path);
  data = join(folder.path, `data-${turn++}`);
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
afterAll(() => {
  process.chdir('/');
});

/** In this process, but where the mode of the process itself is asked for. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const all = ['doctor', '--data', data, '--port', '0', ...args];
  return env.NODE_ENV === undefined ? falconryHere(all, env) : falconry(folder.path, all, '', env);
}

async function check(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { code, out, err } = await run([...args, '--json'], env);
  expect(err).toBe('');
  const report = JSON.parse(out);
  const findings: Finding[] = report.findings;
  expect(report.faults).toBe(findings.filter(({ level }) => level === 'fault').length);
  expect([code, report.ok]).toEqual(report.faults > 0 ? [1, false] : [0, true]);
  const of = (name: string) => findings.filter(({ check }) => check === name);
  return { report, findings, of };
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A store as a first start leaves it. */
async function makeStore(): Promise<DatabaseSync> {
  const made = await falconry(folder.path, ['keys', 'create', '--data', data]);
  expect(made.code).toBe(0);
  return new DatabaseSync(join(data, 'falconry.sqlite'));
}

it('runs as a command', async () => {
  const { code, out, err } = await falconry(folder.path, ['doctor', '--port', '0']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('0 faults');
});

describe('what is well', () => {
  it('is explained: each value and where it comes from', async (context) => {
    writeFileSync(join(folder.path, 'some.json'), '{"retention": "30d", "threads": 1}');
    const args = ['--config', 'some.json', '--max-body', '1MiB'];
    const { report } = await check(args, { FALCONRY_LOG_LEVEL: 'warn' });
    const of = (name: string) =>
      report.config.find((entry: { name: string }) => entry.name === name);
    expect(of('retention')).toEqual({
      name: 'retention',
      value: 2_592_000_000,
      text: '30d',
      source: 'file',
      at: 'some.json',
    });
    expect(of('maxBody')).toMatchObject({ value: 1_048_576, text: '1MiB', at: '--max-body' });
    expect(of('logLevel')).toMatchObject({ value: 'warn', at: 'FALCONRY_LOG_LEVEL' });
    expect(of('maxSignatures')).toMatchObject({ value: 1722, source: 'default' });
    const text = await run(args, { FALCONRY_LOG_LEVEL: 'warn' });
    expect(text.out).toMatch(/^Configuration \(file some\.json\)\n/);
    expect(text.out).toMatch(/^ {2}retention +30d +some\.json$/m);
    expect(text.out).toMatch(/^ {2}logLevel +warn +FALCONRY_LOG_LEVEL$/m);
    expect(text.out).toMatch(/^0 faults, \d warnings?$/m);
    fact(context, 'command line', `doctor explains ${report.config.length} settings`);
  });

  it('is left as it was: nothing is made', async () => {
    const { of } = await check();
    expect(existsSync(data)).toBe(false);
    expect(of('data')[0]).toMatchObject({
      level: 'ok',
      message: `${data} will be created at the first start`,
    });
    (await makeStore()).close();
    const before = readdirSync(data);
    const again = await check();
    expect(readdirSync(data)).toEqual(before);
    expect(again.of('data')[0]).toMatchObject({ level: 'ok' });
    expect(again.of('apiKeys')).toEqual([
      { level: 'ok', check: 'apiKeys', message: '1 in the store' },
    ]);
  });
});

describe('addresses', () => {
  it('the port is taken', async () => {
    const port = await listen(createServer());
    const { of } = await check(['--port', String(port)]);
    expect(of('port')[0]).toMatchObject({
      level: 'fault',
      message: `cannot listen on 127.0.0.1:${port}: another process is listening there (EADDRINUSE)`,
    });
  });

  it('this machine has no such address', async () => {
    const { of } = await check(['--host', '203.0.113.1']);
    expect(of('port')[0]).toMatchObject({ level: 'fault' });
  });

  it('the public address is unsafe, or is not one', async () => {
    const { of } = await check(['--public-url', 'http://falcon.example.com']);
    expect(of('publicUrl')[0]).toMatchObject({ level: 'warning' });
    for (const url of ['https://falcon.example.com', 'http://127.0.0.1:1']) {
      const safe = await check(['--public-url', url]);
      expect(safe.of('publicUrl')).toEqual([{ level: 'ok', check: 'publicUrl', message: url }]);
    }
    const none = await check(['--public-url', 'falcon.example.com']);
    expect(none.of('config')[0]).toMatchObject({ level: 'fault' });
  });

  it('nothing is asked of the network', async () => {
    let asked = 0;
    const port = await listen(
      createServer((_, answer) => {
        asked++;
        answer.end();
      }),
    );
    await check(['--public-url', `http://127.0.0.1:${port}`]);
    expect(asked).toBe(0);
  });

  it('a password in it is refused, and not shown', async () => {
    const { code, out } = await run(['--public-url', 'http://user:swordfish@127.0.0.1:1']);
    expect(code).toBe(1);
    expect(out).toContain('without query or password');
    expect(out).not.toContain('swordfish');
  });

  it('a proxy is trusted that is not known', async () => {
    const open = await check(['--trust-proxy', '--host', '0.0.0.0']);
    expect(open.of('trustProxy')[0]).toMatchObject({ level: 'fault' });
    expect((await check(['--trust-proxy'])).of('trustProxy')[0]).toMatchObject({
      level: 'warning',
    });
    expect((await check()).of('trustProxy')).toEqual([]);
    const https = ['--public-url', 'https://falcon.example.com'];
    expect((await check(https)).of('trustProxy')[0]).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(/count all callers as one/),
    });
    for (const trust of ['--trust-proxy', '--trust-proxy=2', '--trust-proxy=10.0.0.0/8,::1']) {
      expect((await check([...https, trust])).of('trustProxy')).toEqual([]);
    }
    const { of } = await check([...https, '--trust-proxy=maybe']);
    expect(of('config')[0]!.message).toContain('--trust-proxy must hold networks');
    const http = ['--public-url', 'http://127.0.0.1:1'];
    expect((await check(http)).of('trustProxy')).toEqual([]);
  });
});

describe('data', () => {
  it('is open to others', async () => {
    (await makeStore()).close();
    chmodSync(data, 0o755);
    chmodSync(join(data, 'falconry.sqlite'), 0o644);
    mkdirSync(join(data, 'keys'), { mode: 0o700 });
    writeFileSync(join(data, 'keys', 'signing.json'), '{}', { mode: 0o640 });
    const messages = (await check()).of('data').map(({ level, message }) => [level, message]);
    expect(messages).toEqual(
      [join(data, 'falconry.sqlite'), data, join(data, 'keys', 'signing.json')].map((path) => [
        'fault',
        `${path} holds secrets and is open to others`,
      ]),
    );
  });

  it('is open to others, with the command that mends it; that may be allowed', async () => {
    (await makeStore()).close();
    chmodSync(data, 0o770);
    chmodSync(join(data, 'falconry.sqlite'), 0o604);
    const found = async (...args: string[]) =>
      (await check(args)).of('data').map(({ level, advice }) => [level, advice]);
    const advice = [`chmod go= ${join(data, 'falconry.sqlite')}`, `chmod go-w ${data}`];
    expect(await found()).toEqual(advice.map((command) => ['fault', command]));
    expect(await found('--allow-shared')).toEqual(advice.map((command) => ['warning', command]));
  });

  it('is no directory, or below none', async () => {
    writeFileSync(data, '');
    expect((await check()).of('data')[0]!.message).toBe(`${data} is not a directory`);
    const below = await check(['--data', join(data, 'below')]);
    expect(below.of('data')[0]).toMatchObject({ level: 'fault' });
  });

  it.runIf(process.getuid?.() === 0 && existsSync('/usr/bin/setpriv'))(
    'belongs to somebody else',
    async () => {
      mkdirSync(data, { mode: 0o700 });
      chmodSync(folder.path, 0o755);
      const { spawnSync } = await import('node:child_process');
      const { MAIN } = await import('./cli.ts');
      const as = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, MAIN];
      const args = ['doctor', '--json', '--port', '0', '--data', data];
      const child = spawnSync('setpriv', [...as, ...args], { cwd: tmpdir(), encoding: 'utf8' });
      const findings: Finding[] = JSON.parse(child.stdout).findings;
      expect(child.status).toBe(1);
      expect(findings.find(({ check }) => check === 'data')).toMatchObject({
        level: 'fault',
        message: `${data} is not writable (EACCES)`,
      });
      expect(findings.some(({ check }) => check === 'user')).toBe(false);
    },
  );

  it('has no room', () => {
    expect(diskFinding(100e6, 32 * 2 ** 20).level).toBe('fault');
    expect(diskFinding(1e9, 32 * 2 ** 20).level).toBe('warning');
    expect(diskFinding(1e11, 32 * 2 ** 20).level).toBe('ok');
    expect(diskFinding(1e11, 32 * 2 ** 20, 1e11 - 100e6).level).toBe('fault');
    expect(diskFinding(1e11, 32 * 2 ** 20, 2e11).message).toMatch(/no task file is accepted/);
  });
});

describe('the database', () => {
  it('is locked by another process', async () => {
    const db = await makeStore();
    db.exec('BEGIN IMMEDIATE');
    const { of } = await check();
    expect(of('database')[0]).toMatchObject({ level: 'fault' });
    expect(of('database')[0]!.message).toContain('is locked by another process');
    db.exec('ROLLBACK');
    expect((await check()).of('database')[0]).toMatchObject({ level: 'ok' });
    db.close();
  });

  it('was written by a newer version', async () => {
    const db = await makeStore();
    db.exec('PRAGMA user_version = 99');
    db.close();
    const { of } = await check();
    expect(of('database')[0]).toMatchObject({ level: 'fault' });
    expect(of('database')[0]!.message).toContain('newer version (its schema is 99');
  });

  it('was made before 0.1.0', async () => {
    const db = await makeStore();
    db.exec('PRAGMA user_version = 5');
    db.close();
    const { of } = await check();
    expect(of('database')[0]).toMatchObject({ level: 'fault' });
    expect(of('database')[0]!.message).toContain('was made before falconry 0.1.0');
  });

  it('is not one, or is damaged', async () => {
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(data, 'falconry.sqlite'), 'no database'.repeat(1000), { mode: 0o600 });
    const { of } = await check();
    expect(of('database')[0]).toMatchObject({ level: 'fault' });
    expect(of('database')[0]!.message).toContain('is not a database');
  });

  it('has no keys', async () => {
    const db = await makeStore();
    db.exec('DELETE FROM api_keys');
    db.close();
    expect((await check()).of('apiKeys')[0]).toMatchObject({ level: 'warning' });
    const given = await check([], { FALCONRY_FIRST_KEY: 'k'.repeat(40) });
    expect(given.of('apiKeys')[0]).toMatchObject({ level: 'ok' });
  });
});

describe('the signing key', () => {
  it('can be read, or is not there yet', async () => {
    const of = async () => (await check()).of('signingKey');
    const ok = { level: 'ok', check: 'signingKey' };
    expect(await of()).toEqual([{ ...ok, message: 'none yet: the next start creates it' }]);
    expect(existsSync(data)).toBe(false);
    mkdirSync(data, { mode: 0o700 });
    (
      await KeyFileSigner.open(
        keyPlace({ dataDirectory: data, signingKeyFile: undefined, signingSet: 'falcon512' }),
      )
    ).close();
    const path = join(data, 'keys', 'signing.json');
    const before = readFileSync(path, 'utf8');
    expect(await of()).toEqual([{ ...ok, message: 'can be read' }]);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(join(data, 'keys'))).toEqual(['signing.json']);
  });

  it('is in a file of its own, which is missing or damaged', async () => {
    const signingKeyFile = join(folder.path, `key-${turn}.json`);
    const args = ['--signing-key-file', signingKeyFile];
    const fault = { level: 'fault', check: 'signingKey' };
    const found = async () => (await check(args)).of('signingKey');
    expect(await found()).toEqual([
      { ...fault, message: expect.stringContaining(`${signingKeyFile} does not exist`) },
    ]);
    writeFileSync(signingKeyFile, '{}', { mode: 0o600 });
    const damaged = { ...fault, message: `${signingKeyFile} is not a signing key` };
    expect(await found()).toEqual([damaged]);
    // Without signing it is not needed.
    expect((await check([...args, '--no-signing'])).of('signingKey')).toEqual([]);
  });
});

describe('the machine and the mode', () => {
  it('signs in production', async () => {
    const production = { NODE_ENV: 'production' };
    expect((await check([], production)).of('signing')[0]).toMatchObject({ level: 'ok' });
    const on = await check(['--signing'], production);
    expect(on.of('signing')[0]).toMatchObject({ level: 'fault' });
    const far = await check(['--host', '0.0.0.0']);
    expect(far.of('signing')[0]).toMatchObject({ level: 'warning' });
  });

  it('has fewer processors than threads', async () => {
    const many = await check(['--threads', String(availableParallelism() + 1)]);
    expect(many.of('threads').at(-1)).toMatchObject({ level: 'warning' });
    const few = await check(['--threads', '1']);
    expect(few.of('threads').at(-1)).toMatchObject({ level: 'ok' });
  });

  it('settings that do not go together', async () => {
    const { of } = await check(['--database', 'postgres://me@localhost/db']);
    expect(of('config')[0]).toMatchObject({ level: 'fault' });
    expect(of('config')[0]!.message).toContain('"database" needs "blobs"');
  });

  it('misspelt names in the environment', async () => {
    const { of } = await check([], { FALCONRY_THREAD: '2' });
    expect(of('environment')[0]!.message).toContain('did you mean FALCONRY_THREADS?');
  });
});
