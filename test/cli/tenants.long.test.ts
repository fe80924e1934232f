/** `falconry keys` and `quota` on the store of a service. */
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { it } from '../middleware/support.ts';
import { falconryHere } from './cli.ts';

let data: string;
it.beforeEach(({ folder }) => {
  data = folder;
});

const run = (...args: string[]) => falconryHere([...args, '--data', data]);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);

/** The store itself, between commands. */
async function inStore<T>(use: (store: ReturnType<typeof sqliteTableStore>) => Promise<T>) {
  const store = sqliteTableStore({ path: join(data, STORE_FILE) });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const DAY_MS = 86_400_000;
const near = (time: string, ms: number) =>
  expect(Math.abs(Date.parse(time) - Date.now() - ms)).toBeLessThan(60_000);

describe('falconry keys', () => {
  it('creates keys that expire, and shows expiry and last use', async () => {
    const made = await json('keys', 'create', '--name', 'a', '--expires', '90d');
    near(made.expires_at, 90 * DAY_MS);
    expect(made).toMatchObject({ ok: true, expired: false, last_used_at: null });
    const { err } = await run('keys', 'create', '--name', 'b');
    expect(err).not.toContain('expires');
    await inStore((store) => store.apiKeys.markApiKeysUsed([made.sha256]));
    const [a, b] = await json('keys', 'list');
    near(a.last_used_at, 0);
    expect(b).toMatchObject({ expires_at: null, expired: false, last_used_at: null });
    const { out } = await run('keys', 'list');
    const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ';
    expect(out).toMatch(
      new RegExp(`^${made.sha256.slice(0, 16)} .* expires ${time}  used ${time}  a$`, 'm'),
    );
    expect(out).toMatch(/ never expires {2}not used {2}b$/m);
  });

  it('says that a key has expired', async () => {
    const { sha256 } = await json('keys', 'create');
    await inStore((s) => s.apiKeys.rotateApiKey(sha256, { sha256: '9'.repeat(64), overlapMs: 0 }));
    expect((await run('keys', 'list')).out).toMatch(/ {2}expired \S+Z {2}not used {2}key\n/);
  });

  it('rotates a key', async () => {
    const old = await json('keys', 'create', '--name', 'a', '--client', '5');
    const made = await json('keys', 'rotate', old.sha256.slice(0, 8));
    expect(made).toMatchObject({ client_id: 5, name: 'a', replaces: old.sha256, expires_at: null });
    expect(made.key).toMatch(/^falconry_/);
    near(made.replaced_expires_at, DAY_MS);
    const args = [
      'keys',
      'rotate',
      made.sha256.toUpperCase(),
      '--overlap',
      '1h',
      '--expires',
      '2d',
    ];
    const next = await json(...args);
    near(next.replaced_expires_at, DAY_MS / 24);
    near(next.expires_at, 2 * DAY_MS);
    const silentLoss = await run('keys', 'rotate', next.sha256);
    expect(silentLoss.code).toBe(2);
    expect(silentLoss.err).toContain('--expires none');
    const ever = await run('keys', 'rotate', next.sha256, '--expires', 'none', '--overlap', '0');
    expect(ever.out).toMatch(/^falconry_\S+\n$/);
    expect(ever.err).toMatch(/The old key ends at \S+Z\./);
    expect((await json('keys', 'list')).filter((key: { expired: boolean }) => key.expired)).toEqual(
      [expect.objectContaining({ sha256: next.sha256 })],
    );
  });

  it.each([
    [['keys', 'rotate', 'f'.repeat(8)], 1, 'no hash starts with ffffffff'],
    [['keys', 'rotate'], 2, '8 to 64 hex digits'],
    [['keys', 'create', '--expires', '10'.repeat(9)], 2, '--expires must be a time'],
    [['keys', 'create', '--expires', '0'], 2, '--expires must be a time'],
    [['keys', 'create', '--overlap', '1h'], 2, '"keys create" has no option --overlap'],
    [['keys', 'list', '--expires', '1h'], 2, '"keys list" has no option --expires'],
    [['keys', 'rotate', 'f'.repeat(8), '--overlap', 'x'], 2, '--overlap must be a time'],
    [['quota', '0x1'], 2, 'the client must be'],
    [['quota', '1', '2'], 2, 'unexpected argument 2'],
    [['quota', '--rate', '3'], 2, 'expected the number of a client'],
    [['quota', '1', '--rate', '0'], 2, '--rate must be'],
    [['quota', '1', '--rate', '3', '--default'], 2, '--default excludes'],
  ])('refuses %j', async (args, code, message) => {
    await run('keys', 'create');
    const ended = await run(...args);
    expect({ code: ended.code, out: ended.out }).toEqual({ code, out: '' });
    expect(ended.err).toContain(message);
    const told = await run(...args, '--json');
    expect(JSON.parse(told.out)).toMatchObject({
      ok: false,
      message: expect.stringContaining(message),
    });
  });
});

describe('falconry quota', () => {
  it('sets limits one by one, shows them, and removes them', async () => {
    await run('keys', 'create');
    expect((await run('quota')).out).toBe('');
    expect((await run('quota', '1')).out).toBe(
      'Client 1: the limits of the service; in use: 0 unfinished tasks, 0 B of files\n',
    );
    const { out } = await run('quota', '1', '--open-tasks', '0', '--stored-bytes', '2GiB');
    expect(out).toBe(
      'Client 1: 0 unfinished tasks, 2GiB of files; in use: 0 unfinished tasks, 0 B of files\n',
    );
    const wire = { client_id: 1, open_tasks: 0, stored_bytes: 2 ** 31, requests_per_second: 9 };
    const used = { open_tasks: 0, stored_bytes: 0 };
    expect(await json('quota', '1', '--rate', '9')).toEqual({ ok: true, ...wire, used });
    const input = { key: 'inputs/1.json', bytes: 5000 };
    const task = { clientId: 1, state: 'waiting', input, threads: 1, ttlMs: 0 } as const;
    await inStore((store) => store.tasks.put(task));
    expect((await run('quota', '1')).out).toContain('in use: 1 unfinished task, 5.0 kB of files');
    expect(await json('quota')).toEqual([wire]);
    expect(await inStore((store) => store.quotas.quota(1))).toEqual({
      openTasks: 0,
      storedBytes: 2 ** 31,
      requestsPerSecond: 9,
    });
    expect((await run('quota')).out).toMatch(/^client 1 {2}0 unfinished tasks, .* 9 requests/);
    const none = { open_tasks: null, stored_bytes: null, requests_per_second: null };
    expect(await json('quota', '1', '--default')).toMatchObject({ client_id: 1, ...none });
    expect(await json('quota')).toEqual([]);
  });

  it('needs a store', async () => {
    const { code, err } = await run('quota', '1');
    expect(code).toBe(3);
    expect(err).toContain('there is no store at');
  });
});
