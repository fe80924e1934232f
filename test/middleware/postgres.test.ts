/** The store on PostgreSQL, as far as it needs no server: options and times. */
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { parse } from 'pg-connection-string';
import { describe, expect, it, vi } from 'vitest';
import { readAddress } from '../../src/middleware/stores/postgres/address.ts';
import { migrate, postgresStore } from '../../src/middleware/stores/postgres/index.ts';
import { toTimestamp } from '../../src/middleware/stores/postgres/rows.ts';

const PASSWORD = 'hunter2hunter2';
const VERIFY = (parameters: string): [string, object] => [parameters, {}];

const HERE = encodeURIComponent(fileURLToPath(import.meta.url));
/** What the driver would ignore, or understand otherwise than libpq. */
const WRONG: [string, RegExp][] = [
  ['host/db?sslmode=requrie', /"sslmode" in "url" must be one of disable, no-verify, allow, /],
  ['host/db?ssl=yes', /"ssl" in "url" must be one of/],
  ['host/db?channel_binding=always', /"channel_binding" in "url" must be one of disable, /],
  ['host/db?target_session_attrs=standby', /"target_session_attrs" in "url" must be one of any, /],
  ['host/db?gssencmode=require', /"gssencmode" in "url" must be one of disable, prefer/],
  ['host/db?require_auth=scram-sha-256', /"require_auth" in "url" is not supported/],
  ['host/db?sslmode=require&sslcrl=a.pem', /"sslcrl" in "url" is not supported/],
  ['host/db?sslrootcert=/nowhere', /file of "sslrootcert" in "url" cannot be read, or /],
  [`host/db?sslrootcert=${HERE}`, /file of "sslrootcert" in "url" cannot be read, or /],
  [`host/db?sslkey=${HERE}`, /the file of "sslkey" in "url" cannot be read, or /],
  [`me:${PASSWORD},@a:1,b:2/db`, /"url" names several hosts: give one that leads to the primary/],
  ['a,b/db', /"url" names several hosts/],
  ['/db?host=a,b', /"url" names several hosts/],
];

describe('options of the store on PostgreSQL', () => {
  it.each([
    ['sslmode=disable', false],
    ['ssl=false', false],
    ['sslmode=require&sslmode=disable', false],
    ['ssl=0', false],
    ['', undefined],
    ['sslmode=no-verify', { rejectUnauthorized: false }],
    ['ssl=no-verify', { rejectUnauthorized: false }],
    ...['ssl=true', 'ssl=1', 'sslrootcert=system', 'sslmode=require&sslrootcert=system'].map(
      VERIFY,
    ),
    ...['allow', 'prefer', 'require', 'verify-ca', 'verify-full'].map((m) =>
      VERIFY(`sslmode=${m}`),
    ),
    // As the driver documents it.
    ['uselibpqcompat=true&sslmode=require', { rejectUnauthorized: false }],
    VERIFY('uselibpqcompat=true&ssl=true'),
    VERIFY('uselibpqcompat=true&sslmode=require&sslrootcert=system'),
  ])('"%s" verifies the server, unless it says otherwise', (parameters, ssl) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { config } = readAddress('url', `postgres://host/db?${parameters}`);
    expect(parse(config.connectionString!).ssl).toEqual(ssl);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('may name a server that can write, and commas elsewhere', () => {
    for (const url of [
      'a,b:c,d@host/db?application_name=a,b',
      'host/db?target_session_attrs=any&constructor=1',
    ]) {
      expect(readAddress('url', `postgres://${url}`).shown).toBe('host:5432/db');
    }
  });

  it('must be right, and are never shown', () => {
    const wrong: [unknown, RegExp][] = [
      [{ url: `http://me:${PASSWORD}@host/db` }, /"url" must be an address/],
      [{ url: `me:${PASSWORD}@host/db` }, /"url" must be an address/],
      [{ url: `postgres://me:${PASSWORD}@host:port/db` }, /"url" must be an address/],
      [{ url: 5 }, /"url" must be an address/],
      [{ url: 'postgres://host/db', directUrl: PASSWORD }, /"directUrl" must be an address/],
      [{ url: 'postgres://host/db?pooled=yes' }, /"pooled" in "url" must be one of 1, 0, true, /],
      ...WRONG.map(([url, message]): [unknown, RegExp] => [{ url: `postgres://${url}` }, message]),
      [
        { url: 'postgres://a/b', directUrl: 'postgres://a/b?pgbouncer=true' },
        /"directUrl" must be/,
      ],
      [{ url: 'postgres://host/db', schema: 'a"b' }, /"schema" must be a name/],
      [{ url: 'postgres://host/db', connections: 0 }, /"connections" must be a whole number/],
      [{ url: 'postgres://host/db', colour: 'red' }, /"colour" is not an option/],
    ];
    for (const [options, message] of wrong) {
      let fault: unknown;
      try {
        postgresStore(options as never);
      } catch (error) {
        fault = error;
      }
      expect((fault as Error).message).toMatch(message);
      expect(inspect(fault, { depth: 9 })).not.toContain(PASSWORD);
    }
  });

  it('do not appear in errors of the connection', async () => {
    const url = `postgres://me:${PASSWORD}@localhost/db?host=%2Fnowhere`;
    const store = postgresStore({ url });
    const tries = [
      () => store.open(),
      () => store.tasks.ping(),
      () => store.tasks.get(1),
      () => migrate(url),
    ];
    for (const attempt of tries) {
      const fault = await attempt().catch((error: unknown) => error);
      expect(fault).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(inspect(fault, { depth: 9, showHidden: true })).not.toContain(PASSWORD);
    }
    await store.close();
    await store.close();
    await expect(store.tasks.get(1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

it.each([
  ['2026-11-23 09:12:03.123456+00', '2026-11-23T09:12:03.123456000Z'],
  ['2026-11-23 09:12:03+00', '2026-11-23T09:12:03.000000000Z'],
  ['2026-11-23 01:12:03.5+05:30', '2026-11-22T19:42:03.500000000Z'],
  ['2026-12-31 20:00:00.000001-08', '2027-01-01T04:00:00.000001000Z'],
])('reads the time %s', (text, time) => {
  expect(toTimestamp(text)).toBe(time);
  expect(() => toTimestamp(`Mon ${text}`)).toThrow(RangeError);
});
