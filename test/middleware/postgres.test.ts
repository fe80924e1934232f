/** The store on PostgreSQL, as far as it needs no server: options and times. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { migrate, postgresStore } from '../../src/middleware/stores/postgres/index.ts';
import { toTimestamp } from '../../src/middleware/stores/postgres/rows.ts';

const PASSWORD = 'hunter2hunter2';

describe('options of the store on PostgreSQL', () => {
  it('must be right, and are never shown', () => {
    const wrong: [unknown, RegExp][] = [
      [{ url: `http://me:${PASSWORD}@host/db` }, /"url" must be an address/],
      [{ url: `me:${PASSWORD}@host/db` }, /"url" must be an address/],
      [{ url: `postgres://me:${PASSWORD}@host:port/db` }, /"url" must be an address/],
      [{ url: 5 }, /"url" must be an address/],
      [{ url: 'postgres://host/db', directUrl: PASSWORD }, /"directUrl" must be an address/],
      [{ url: 'postgres://host/db?pooled=yes' }, /"pooled" in "url" must be 1 or 0/],
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
