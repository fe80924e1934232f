/** Stores that several hosts share: every mistake is told at once, and no password with it. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ready, welcome } from '../../src/cli/operate/serve.ts';
import { type Ended, falconryHere, temporaryFolder } from './cli.ts';

const PASSWORD = 'hunter2hunter2';
const NOWHERE = 'postgres://me@localhost/db?host=%2Fnowhere';
const SECRET = `postgres://me:${PASSWORD}@localhost/db?host=%2Fnowhere`;
const AWS = { AWS_ACCESS_KEY_ID: 'an-id', AWS_SECRET_ACCESS_KEY: PASSWORD };
const BUCKET = ['--blobs', 's3://bucket/one/'];
/** Nothing listens there. */
const CLOSED = ['--s3-endpoint', 'http://127.0.0.1:9'];

const folder = temporaryFolder();

async function refusal(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const ended = await falconryHere(args, env);
  expect(ended.out).toBe('');
  expect(ended.err).not.toContain(PASSWORD);
  return ended;
}

describe.each(['serve', 'worker'])('falconry %s', (name) => {
  const database = [name, '--database', NOWHERE];
  const cases: [string, string[], NodeJS.ProcessEnv, RegExp][] = [
    ['a password in an option', [name, '--database', SECRET], AWS, /--database may hold no passw/],
    ['no bucket', database, AWS, /needs "blobs"|needs a bucket/],
    ['no address of a bucket', [...database, '--blobs', 'bucket'], AWS, /must be s3:\/\/bucket or/],
    ['no name of a bucket', [...database, '--blobs', 's3://A_b/'], AWS, /"blobs" must be the name/],
    ['a wrong prefix', [...database, '--blobs', 's3://bucket/a b/'], AWS, /"blobs" must be names/],
    ['a wrong region', [...database, ...BUCKET, '--s3-region', 'a b'], AWS, /"s3Region" must be l/],
    ['a password of a bucket', [...BUCKET, '--s3-endpoint', `http://a:${PASSWORD}@b`], AWS, /URL/],
    ['no credentials', [...database, ...BUCKET], {}, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
    ['no secret', [...database, ...BUCKET], { AWS_ACCESS_KEY_ID: 'a' }, /AWS_SECRET_ACCESS_KEY_F/],
    [
      'no database at all',
      [name, '--database', 'http://a/b', ...BUCKET],
      AWS,
      /"database" must be/,
    ],
    ['no direct one', [...database, '--database-direct', 'a', ...BUCKET], AWS, /"databaseDirect"/],
    ['an argument', [...database, 'now'], AWS, /unexpected argument now/],
  ];
  it.each(cases)('%s', async (_, args, env, message) => {
    const all = args[0] === name ? args : [...database, ...args];
    const { code, err } = await refusal(all, env);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });

  it('a database that is not there', async () => {
    const file = join(folder.path, `${name}-address`);
    writeFileSync(file, `${SECRET}\n`);
    for (const [args, env] of [
      [[name, '--database', NOWHERE], {}],
      [[name, '--database-file', file], {}],
      [[name], { FALCONRY_DATABASE: SECRET }],
      [[name], { FALCONRY_DATABASE_FILE: file }],
    ] as const) {
      const { code, err } = await refusal([...args, ...BUCKET, ...CLOSED], { ...AWS, ...env });
      expect([code, err]).toEqual([3, expect.stringMatching(/cannot be reached \(ENOENT: /)]);
    }
  });
});

describe('a service with a database', () => {
  it('a worker needs one', async () => {
    const { code, err } = await refusal(['worker', ...BUCKET], AWS);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/a worker needs a database: --database/),
    ]);
  });

  it('signs only with a key file that all hosts have', async () => {
    const args = ['serve', '--database', NOWHERE, ...BUCKET, '--signing'];
    const { code, err } = await refusal(args, AWS);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/"signing" with "database" needs "signingKeyFile"/),
    ]);
    const shared = await refusal([...args, '--signing-key-file', 'key.json'], AWS);
    expect(shared.code).toBe(3);
  });

  it.each([['keys', 'list'], ['queue'], ['retry', '--all']])('falconry %s', async (...words) => {
    const { code, err } = await refusal([...words], { FALCONRY_DATABASE: SECRET });
    expect([code, err]).toEqual([3, expect.stringMatching(/cannot be reached \(ENOENT: /)]);
    const wrong = await refusal([...words], { FALCONRY_DATABASE: `http://me:${PASSWORD}@host` });
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringMatching(/"database" must be an add/),
    ]);
  });

  it('a bucket that refuses, or is not there, is named', async () => {
    let allowed = ['none'];
    const denied = '<Error><Code>AccessDenied</Code></Error>';
    const server = createServer(({ method }, answer) => {
      if (allowed.includes(method!)) return answer.end('x');
      return answer.writeHead(403).end(method === 'HEAD' ? undefined : denied);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const args = ['serve', '--data', join(folder.path, 'data'), '--port', '0', ...BUCKET];
    const refused = await refusal([...args, '--s3-endpoint', `http://127.0.0.1:${port}`], AWS);
    expect(refused.code).toBe(3);
    expect(refused.err).toMatch(
      /^falconry serve: s3:\/\/bucket\/one\/: The store cannot be reached .*403 AccessDenied: /,
    );
    const bucket = [...BUCKET, '--s3-endpoint', `http://127.0.0.1:${port}`];
    const doctor = ['doctor', '--data', join(folder.path, 'data'), '--port', '0', '--json'];
    const look = async () => {
      const { findings } = JSON.parse((await falconryHere([...doctor, ...bucket], AWS)).out);
      return findings.find(({ check }: { check: string }) => check === 'blobs');
    };
    const message = expect.stringMatching(/answered 403 AccessDenied: a policy must allow s3:Li/);
    // With the first, a service would start.
    for (const methods of [[], ['HEAD'], ['HEAD', 'PUT'], ['HEAD', 'PUT', 'GET']]) {
      allowed = methods;
      expect(await look(), methods.join()).toMatchObject({ level: 'fault', message });
    }
    allowed = ['HEAD', 'PUT', 'GET', 'DELETE'];
    expect(await look()).toMatchObject({ level: 'ok' });
    const gone = await refusal([...args, ...CLOSED], AWS);
    expect([gone.code, gone.err]).toEqual([3, expect.stringMatching(/s3:\/\/bucket\/one\/: /)]);
    server.close();
  });

  it('--check tells of both, and does not need the directory of the data', async () => {
    const args = ['doctor', '--port', '0', '--json', ...BUCKET, ...CLOSED];
    const env = { ...AWS, FALCONRY_DATABASE: SECRET };
    const { code, out } = await falconryHere(args, env);
    expect(code).toBe(1);
    expect(out).not.toContain(PASSWORD);
    const { findings, config } = JSON.parse(out);
    const faults = findings.filter(({ level }: { level: string }) => level === 'fault');
    expect(faults).toEqual([
      expect.objectContaining({ check: 'database', message: expect.stringContaining('ENOENT') }),
      expect.objectContaining({ check: 'blobs', message: expect.stringContaining('cannot be re') }),
    ]);
    const checks = findings.map(({ check }: { check: string }) => check);
    for (const own of ['data', 'disk', 'apiKeys']) expect(checks).not.toContain(own);
    expect(config).toContainEqual(expect.objectContaining({ name: 'database', text: '(hidden)' }));
    const without = await falconryHere(args, { FALCONRY_DATABASE: SECRET });
    expect(JSON.parse(without.out).findings).toContainEqual(
      expect.objectContaining({ check: 'blobs', message: expect.stringMatching(/AWS_ACCESS_KEY/) }),
    );
  });

  it('its welcome tells where keys are made, and of no directory', () => {
    const ready: Ready = {
      address: 'http://127.0.0.1:1',
      base: 'https://falcon.example',
      dataDirectory: null,
      database: 'db:5432/falconry',
      blobs: 's3://bucket/one/',
      serviceName: 'svc',
      signingKey: '/shared/signing.json',
      ui: true,
      key: null,
      keyFile: null,
      link: null,
    };
    expect(welcome(ready)).toBe(`Falconry is listening on http://127.0.0.1:1
  database db:5432/falconry
  files    s3://bucket/one/
  page     https://falcon.example/v1/ui
  signing  /shared/signing.json (for testing)

More API keys: falconry keys create --name NAME --database URL
`);
  });
});
