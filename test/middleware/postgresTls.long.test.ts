/** The store on PostgreSQL over TLS: certificates of a CA of the test, and bound logins. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../../src/middleware/stores/postgres/database.ts';
import { migrate, postgresStore } from '../../src/middleware/stores/postgres/index.ts';
import { type PostgresServer, skipLoudly, startNewestPostgres } from '../support/postgres.ts';
import { findProgram } from '../support/programs.ts';

const NOBODY = 65_534;
/** Of this process alone: the port of a server is also the name of its socket. */
const [HOST, OTHER] = [1, 2].map(
  (last) => `127.${64 + last}.${(process.pid >> 8) & 255}.${process.pid & 255}`,
) as [string, string];

/** A CA, and the certificate that it signs for `HOST`. */
function makeCertificates(folder: string) {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const kind = ['-newkey', 'rsa:2048', '-nodes', '-days', '1', '-x509'];
  const subject = ['-addext', `subjectAltName=IP:${HOST}`, '-subj', '/CN=server'];
  const key = ['-keyout', at('server.key'), '-out', at('server.pem')];
  openssl('req', ...kind, '-subj', '/CN=CA', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  openssl('req', ...kind, ...subject, '-CA', at('ca.pem'), '-CAkey', at('ca.key'), ...key);
  openssl('req', ...kind, '-subj', '/CN=other', '-keyout', at('x.key'), '-out', at('other.pem'));
  chmodSync(at('server.key'), 0o600);
  if (process.getuid?.() === 0) chownSync(at('server.key'), NOBODY, NOBODY);
}

if (findProgram('openssl') === undefined) skipLoudly('openssl', 'the Debian package openssl');
describe.skipIf(findProgram('openssl') === undefined)('PostgreSQL over TLS', () => {
  let folder: string;
  let server: PostgresServer;
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'falconry-tls-'));
    chmodSync(folder, 0o755);
    makeCertificates(folder);
    const rules = ['local all all trust'];
    for (const [user, method] of [
      ['bound', 'scram-sha-256'],
      ['loose', 'password'],
      ['open', 'trust'],
    ]) {
      rules.push(`hostssl all ${user} 127.0.0.0/8 ${method}`);
    }
    writeFileSync(join(folder, 'hba'), `${rules.join('\n')}\n`);
    server = (await startNewestPostgres({
      listen_addresses: `${HOST},${OTHER}`,
      hba_file: join(folder, 'hba'),
      ssl: 'on',
      ssl_cert_file: join(folder, 'server.pem'),
      ssl_key_file: join(folder, 'server.key'),
    }))!;
    for (const role of ['bound', 'loose', 'open']) {
      await server.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'secret'`);
    }
    process.on('warning', warned);
  });
  afterAll(async () => {
    process.off('warning', warned);
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const ca = (file = 'ca.pem') => `sslrootcert=${encodeURIComponent(join(folder, file))}`;
  const addressOf = (parameters: string, user = 'bound', host = HOST) =>
    `postgres://${user}:secret@${host}/postgres?${parameters}`;
  /** The cause of the refusal; null if the store opens. */
  const refusal = async (url: string): Promise<string | null> => {
    const check = migrate(url, { check: true });
    return check.then(
      () => null,
      ({ code, cause }) => `${code} ${cause.message}`,
    );
  };

  it('is verified in every mode that has it, without a warning', async () => {
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      expect(await refusal(addressOf(`sslmode=${mode}&${ca()}`)), mode).toBe(null);
      expect(await refusal(addressOf(`sslmode=${mode}`)), mode).toMatch(
        /^STORE_UNAVAILABLE \w+: .*; add sslrootcert=FILE, the certificate of its CA$/,
      );
    }
    expect(await refusal(addressOf(ca('other.pem')))).toMatch(/; add sslrootcert=FILE/);
    expect(await refusal(addressOf(ca(), 'bound', OTHER))).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
    expect(await refusal(addressOf('sslrootcert=system'))).toMatch(/; add sslrootcert=FILE/);
    expect(await refusal(addressOf('sslmode=no-verify'))).toBe(null);
    expect(await refusal(addressOf(''))).toMatch(
      /STORE_UNAVAILABLE 28000: .* no encryption; add sslmode=verify-full$/,
    );
    const plain = server.url.replace('?', '?sslmode=require&');
    expect(await refusal(plain)).toMatch(/does not support SSL/);
    expect(warnings).toEqual([]);
  });

  it('waits for files that are being replaced', async () => {
    const copy = join(folder, 'copy.pem');
    cpSync(join(folder, 'ca.pem'), copy);
    const url = addressOf(ca('copy.pem'));
    const store = postgresStore({ url, schema: await server.newSchema(), connections: 1 });
    await store.open();
    store.tasks.watch(() => {});
    const others = `FROM pg_stat_activity WHERE usename = 'bound'`;
    const listens = async () =>
      (await server.query(`SELECT 1 ${others} AND query LIKE 'LISTEN%'`)).length > 0;
    await expect.poll(listens).toBe(true);
    rmSync(copy);
    await server.query(`SELECT pg_terminate_backend(pid) ${others}`);
    await expect.poll(() => store.tasks.ping().catch(({ code }) => code)).toBe('STORE_UNAVAILABLE');
    const opened = vi.spyOn(Database.prototype, 'open');
    await expect.poll(() => opened.mock.results.some(({ type }) => type === 'throw')).toBe(true);
    cpSync(join(folder, 'ca.pem'), copy);
    await expect.poll(listens).toBe(true);
    await store.tasks.ping();
    await store.close();
    opened.mockRestore();
  });

  it('binds logins where the address requires it', async () => {
    const required = `${ca()}&channel_binding=require&target_session_attrs=read-write`;
    const schema = await server.newSchema();
    const store = postgresStore({ url: addressOf(required), schema, connections: 1 });
    await store.open();
    expect(await store.apiKeys.listApiKeys()).toEqual([]);
    await store.close();
    expect(await refusal(addressOf(`${ca()}&channel_binding=prefer`, 'open'))).toBe(null);
    // Without a password, or with one that any server could read.
    for (const user of ['open', 'loose']) {
      expect(await refusal(addressOf(ca(), user)), user).toBe(null);
      expect(await refusal(addressOf(required, user)), user).toMatch(
        /bind.*channel_binding=require/,
      );
    }
    // A server without TLS cannot bind.
    const plain = server.url.replace('?', '?channel_binding=require&');
    expect(await refusal(plain)).toMatch(/bind.*channel_binding=require/);
  });
});
