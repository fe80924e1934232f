/** `falconry doctor`: every fault, on a host of the test's own; and the real one. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { examineConfig } from '../../src/cli/lib/config.ts';
import { DOCTOR_SETTINGS, examine } from '../../src/cli/operate/doctor.ts';
import { type Host, thisHost } from '../../src/cli/operate/doctorChecks.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

const NOW = Date.UTC(2027, 0, 2);
const answer = (text: string, date = NOW) =>
  new Response(text, { headers: { date: new Date(date).toUTCString() } });
const about = (theirs: unknown) => JSON.stringify({ info: { version: theirs } });

const healthy: Host = {
  nodeVersion: '24.1.0',
  module: async () => 'relaxed',
  startThread: async () => {},
  availableBytes: () => 4 * 2 ** 30,
  load: async () => ({}),
  nowMs: () => NOW,
  fetch: async () => answer(about(version)),
};
const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' });

async function look(host: Partial<Host>, options: object = { url: 'http://one.test' }, env = {}) {
  const given = { port: '0', data: join(folder.path, 'new'), ...options };
  const config = await examineConfig(DOCTOR_SETTINGS, { options: given, env });
  return examine(config, { ...healthy, ...host }, env);
}

const failing = (error: Error) => async () => {
  throw error;
};

it('a healthy host has neither fault nor warning', async () => {
  // Tests may run as root, which is a warning.
  const findings = (await look({})).filter(({ check }) => check !== 'user');
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
  const machine = ['node', 'webassembly', 'threads', 'memory', 'clock', 'packages', 'config'];
  const serving = ['port', 'signing', 'data', 'disk', 'database', 'apiKeys', 'signingKey'];
  const checks = new Set(findings.map(({ check }) => check));
  expect([...checks]).toEqual([...machine, ...serving, 'service']);
});

const data = (name: string) => ({ data: join(folder.path, name) });
writeFileSync(join(folder.path, 'a-file'), '');
writeFileSync(join(folder.path, 'broken.json'), '{');

it.each<[string, string, RegExp, Partial<Host>, object?, object?]>([
  ['fault', 'node', /Node 22\.12\.9 is too old/, { nodeVersion: '22.12.9' }],
  ['fault', 'node', /too old/, { nodeVersion: '18.20.1' }],
  ['warning', 'webassembly', /no relaxed SIMD/, { module: async () => 'plain' }],
  ['fault', 'webassembly', /cannot be run: none/, { module: failing(new Error('none')) }],
  ['fault', 'threads', /EAGAIN/, { startThread: failing(new Error('EAGAIN')) }],
  ['warning', 'memory', /300 MiB .*large batches/, { availableBytes: () => 300 * 2 ** 20 }],
  ['fault', 'memory', /100 MiB .*any aggregate/, { availableBytes: () => 100 * 2 ** 20 }],
  ['fault', 'clock', /1970-01-01.*in the past/, { nowMs: () => 0 }, {}],
  [
    'fault',
    'packages',
    /cannot be loaded, for falconry serve/,
    { load: failing(missing('pg-types')) },
  ],
  [
    'fault',
    'config',
    /broken\.json is not valid JSON/,
    {},
    { config: `${folder.path}/broken.json` },
  ],
  ['fault', 'config', /nowhere\.json does not exist/, {}, { config: 'nowhere.json' }],
  ['warning', 'environment', /FALCONRY_URLL.*FALCONRY_URL/, {}, {}, { FALCONRY_URLL: 'x' }],
  ['fault', 'data', /a-file is not a directory/, {}, data('a-file')],
  ['fault', 'service', /cannot be reached: refused/, { fetch: failing(new Error('refused')) }],
  ['fault', 'service', /not as falconry/, { fetch: async () => answer('{}') }],
  ['fault', 'service', /not as falconry/, { fetch: async () => answer(about('\x1b[2J')) }],
  ['fault', 'service', /404/, { fetch: async () => new Response('', { status: 404 }) }],
  ['warning', 'service', /version 0\.0\.1, this/, { fetch: async () => answer(about('0.0.1')) }],
  ['warning', 'clock', /300 s/, { fetch: async () => answer(about(version), NOW + 300_000) }],
])('%s: %s, %s', async (level, check, message, host, options, env) => {
  const found = (await look(host, options, env)).filter((each) => each.level !== 'ok');
  expect(found.map((each) => `${each.level} ${each.check}`)).toContain(`${level} ${check}`);
  const [first] = found.filter((each) => each.check === check);
  expect(first!.message).toMatch(message);
});

it('behind the proxy of a company, the setting of Node is named', async () => {
  const refused = { fetch: failing(new Error('refused')) };
  const advice = async (env: object) =>
    (await look(refused, undefined, env)).find(({ check }) => check === 'service')?.advice;
  expect(await advice({ https_proxy: 'http://proxy' })).toMatch(/NODE_USE_ENV_PROXY=1/);
  for (const env of [{}, { HTTPS_PROXY: 'http://proxy', NODE_USE_ENV_PROXY: '1' }]) {
    expect(await advice(env)).toBe('start it, or correct --url');
  }
});

it('packages that are not there are no fault: what they are for is said', async () => {
  const findings = await look({
    load: async (name) => {
      throw missing(name);
    },
  });
  const packages = findings.filter(({ check }) => check === 'packages');
  expect(packages.map(({ level }) => level)).toEqual(packages.map(() => 'ok'));
  expect(packages.map(({ message }) => message)).toContain(
    'pg is not installed: only for --database',
  );
  expect(packages.filter(({ message }) => /some features/.test(message))).toEqual([]);
});

it('a clock far ahead of the store is a warning, until the operator accepts it', async () => {
  const path = join(folder.path, 'ahead');
  mkdirSync(path, { mode: 0o700 });
  const nowMs = () => Date.now() - 3 * 24 * 3_600_000;
  const store = sqliteTableStore({ path: join(path, STORE_FILE), nowMs });
  await store.apiKeys.putApiKey({ sha256: 'a'.repeat(64), name: 'a' });
  await store.close();
  const doctor = async (...more: string[]) => {
    const args = ['doctor', '--data', path, '--port', '0', '--json', ...more];
    const { accepted, findings } = JSON.parse((await falconryHere(args, {})).out);
    type Found = { level: string; check: string; message: string };
    const ofClock = findings.filter(({ check }: Found) => check === 'clock');
    return { accepted, ofClock: ofClock.map(({ level, message }: Found) => `${level} ${message}`) };
  };
  const { ofClock } = await doctor();
  expect(ofClock[1]).toMatch(/^warning .* 3 days ahead of the store: nothing expires/);
  const done = await doctor('--accept-clock');
  expect(done.accepted.aheadMs).toBeGreaterThan(2.9 * 24 * 3_600_000);
  expect(done.ofClock).toHaveLength(1);
  expect((await doctor('--accept-clock')).accepted).toBe(null);
});

describe('on this machine', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('Node, WebAssembly and threads are really tried', async () => {
    const host = thisHost();
    await host.startThread();
    expect(['plain', 'relaxed']).toContain(await host.module());
    await expect(host.load('no-such-package-at-all')).rejects.toThrow('no-such-package-at-all');
    expect(host.availableBytes()).toBeGreaterThan(1e6);
  });

  it('asks the service, and nothing that is secret is sent or shown', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization ?? 'without a key'}`);
      response.end(about(version));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    mkdirSync(join(folder.path, 'private'));
    chmodSync(join(folder.path, 'private'), 0o700);
    const env = { FALCONRY_URL: url, FALCONRY_API_KEY: 'a-secret-of-the-test' };
    const args = ['doctor', '--data', join(folder.path, 'private'), '--port', '0', '--json'];
    const { code, out } = await falconryHere(args, env);
    expect(code).toBe(0);
    expect(out).not.toContain('a-secret');
    expect(JSON.parse(out)).toMatchObject({ ok: true, faults: 0 });
    expect(asked).toEqual(['/v1/openapi.json without a key']);
  });

  it('exits with 1 for a fault, and says how to mend it', async () => {
    const own = ['--data', join(folder.path, 'none'), '--port', '0'];
    const { code, out } = await falconryHere(['doctor', ...own, '--url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(out).toMatch(/fault +service +http:\/\/127\.0\.0\.1:1 cannot be reached/);
    expect(out).toContain('start it, or correct --url');
    expect(out).toMatch(/1 fault, \d+ warnings?\n$/);
  });
});
