/** `falconry keys`, `quota` and `rotate` on the store of a service. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEYS_FOLDER, STORE_FILE } from '../../src/middleware/options/options.ts';
import { fileKeyStore } from '../../src/middleware/signing/keyStore.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (...args: string[]) => falconryHere([...args, '--data', folder.path]);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);

/** The store itself, between commands. */
async function inStore<T>(use: (store: ReturnType<typeof sqliteTableStore>) => Promise<T>) {
  const store = sqliteTableStore({ path: join(folder.path, STORE_FILE) });
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
    await inStore((store) => store.markApiKeysUsed([made.sha256]));
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
    await inStore((s) => s.rotateApiKey(sha256, { sha256: '9'.repeat(64), overlapMs: 0 }));
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
    [['keys', 'create', '--overlap', '1h'], 2, '--overlap is no option of keys create'],
    [['keys', 'list', '--expires', '1h'], 2, '--expires is no option of keys list'],
    [['keys', 'rotate', 'f'.repeat(8), '--overlap', 'x'], 2, '--overlap must be a time'],
    [['quota', '0x1'], 2, 'the client must be'],
    [['quota', '1', '2'], 2, 'unexpected argument 2'],
    [['quota', '--rate', '3'], 2, 'expected the number of a client'],
    [['quota', '1', '--rate', '0'], 2, '--rate must be'],
    [['quota', '1', '--rate', '3', '--default'], 2, '--default stands alone'],
    [['rotate'], 2, 'expected urls, signing or passphrase'],
    [['rotate', 'url'], 2, 'did you mean urls?'],
    [['rotate', 'urls', 'now'], 2, 'unexpected argument now'],
    [['rotate', 'urls', '--list'], 2, '--list is no option of rotate urls'],
    [['rotate', 'signing', '1', '2'], 2, 'unexpected argument 2'],
    [['rotate', 'signing', 'x'], 2, 'the client must be'],
    [['rotate', 'passphrase', 'now'], 2, 'unexpected argument now'],
    [['rotate', 'passphrase', '--list'], 2, '--list is no option of rotate passphrase'],
    [['rotate', 'passphrase'], 2, 'the old and the new passphrase are needed'],
    [['rotate', 'signing', '--at-once'], 2, '--at-once is no option of rotate signing'],
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
    await inStore((store) => store.put(task));
    expect((await run('quota', '1')).out).toContain('in use: 1 unfinished task, 5.0 kB of files');
    expect(await json('quota')).toEqual([wire]);
    expect(await inStore((store) => store.quota(1))).toEqual({
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

describe('falconry rotate urls', () => {
  it('keeps the old secret, or forgets it', async () => {
    await run('keys', 'create');
    const before = await inStore((store) => store.secret('urls'));
    expect((await run('rotate', 'urls')).out).toMatch(
      /Urls signed before stay good until they end/,
    );
    const ring = await inStore((store) => store.secretRing('urls'));
    expect(ring!.current).not.toEqual(before);
    expect(ring!.retired.map(({ value }) => value)).toEqual([before]);
    expect(await json('rotate', 'urls', '--at-once')).toMatchObject({ old_urls_valid: false });
    expect((await inStore((store) => store.secretRing('urls')))!.retired).toEqual([]);
  });
});

describe('falconry rotate signing', () => {
  it('exchanges the key of a client or of all, and lists the public keys', async () => {
    const missing = await run('rotate', 'signing');
    expect({ code: missing.code, err: missing.err }).toEqual({
      code: 1,
      err: 'falconry rotate: the signing key of all clients does not exist yet\n',
    });
    expect(await json('rotate', 'signing', '7', '--list')).toMatchObject({ code: 'NOT_FOUND' });
    const keys = fileKeyStore({ directory: join(folder.path, KEYS_FOLDER) });
    const wire = ({ publicKey }: { publicKey: Uint8Array }) =>
      `0x${Buffer.from(publicKey).toString('hex')}`;
    const [common, own] = [await keys.signingKey(null), await keys.signingKey(7)];
    expect((await run('rotate', 'signing')).out).toMatch(/^The signing key of all clients was/);
    const made = await json('rotate', 'signing', '7');
    expect(made).toMatchObject({ ok: true, rotated: 'signing', client_id: 7 });
    expect(made.public_key).toBe(wire(await keys.signingKey(7)));
    const listed = await json('rotate', 'signing', '7', '--list');
    expect(listed.map((key: { public_key: string }) => key.public_key)).toEqual([
      made.public_key,
      wire(own),
    ]);
    expect(listed[0].retired_at).toBe(null);
    const { out } = await run('rotate', 'signing', '--list');
    const [now, before, ...none] = out.trimEnd().split('\n');
    expect(now).toMatch(/^falcon512 {2}from \S+Z {2}in use {2}0x[0-9a-f]{1794}$/);
    expect(before).toMatch(/^falcon512 {2}from \S+Z {2}to \S+Z {2}0x/);
    expect(before!.endsWith(wire(common))).toBe(true);
    expect(none).toEqual([]);
  });

  it('needs the passphrase of encrypted keys', async () => {
    const directory = join(folder.path, KEYS_FOLDER);
    const secret = 'correct horse';
    const keys = fileKeyStore({ directory, secret });
    await keys.signingKey(null);
    const rotate = (env: NodeJS.ProcessEnv) =>
      falconryHere(['rotate', 'signing', '--json', '--data', folder.path], env);
    for (const [env, code] of [
      [{}, 'PASSPHRASE_NEEDED'],
      [{ FALCONRY_KEYS_PASSPHRASE: 'wrong' }, 'WRONG_PASSPHRASE'],
    ] as const) {
      const refused = await rotate(env);
      expect(refused.code).toBe(1);
      expect(JSON.parse(refused.out)).toMatchObject({ ok: false, code });
    }
    const file = join(folder.path, 'passphrase');
    writeFileSync(file, `${secret}\n`);
    const { public_key } = JSON.parse((await rotate({ FALCONRY_KEYS_PASSPHRASE_FILE: file })).out);
    const { publicKey } = await keys.signingKey(null);
    expect(public_key).toBe(`0x${Buffer.from(publicKey).toString('hex')}`);
  });
});

describe('falconry rotate passphrase', () => {
  it('encrypts the signing keys anew, and refuses a wrong old one', async () => {
    const directory = join(folder.path, KEYS_FOLDER);
    const old = fileKeyStore({ directory, secret: 'the old one' });
    const keys = [await old.signingKey(null), await old.signingKey(7)];
    const change = async (from: string, to: string) => {
      const env = { FALCONRY_KEYS_PASSPHRASE: from, FALCONRY_NEW_PASSPHRASE: to };
      const args = ['rotate', 'passphrase', '--data', folder.path, '--json'];
      const { code, out } = await falconryHere(args, env);
      return { code, ...JSON.parse(out) };
    };
    expect(await change('a wrong one', 'new')).toMatchObject({ code: 'WRONG_PASSPHRASE' });
    expect(await change('new', 'new')).toMatchObject({
      message: 'the new passphrase is the old one',
    });
    const done = { ok: true, rotated: 'passphrase', keys: 2 };
    expect(await change('the old one', 'new')).toEqual({ code: 0, ...done });
    const now = fileKeyStore({ directory, secret: 'new' });
    await now.open();
    expect([await now.signingKey(null), await now.signingKey(7)]).toEqual(keys);
    // It was done before.
    expect(await change('the old one', 'new')).toEqual({ code: 0, ...done });
    // From files, and for people.
    for (const name of ['new', 'newer']) writeFileSync(join(folder.path, name), `${name}\n`);
    const options = ['--keys-passphrase-file', join(folder.path, 'new')];
    options.push('--new-passphrase-file', join(folder.path, 'newer'));
    expect((await run('rotate', 'passphrase', ...options)).out).toBe(
      '2 signing keys are encrypted anew.\n',
    );
    expect(await fileKeyStore({ directory, secret: 'newer' }).signingKey(7)).toEqual(keys[1]);
  });

  it('says so if no keys are encrypted', async () => {
    const env = { FALCONRY_KEYS_PASSPHRASE: 'a', FALCONRY_NEW_PASSPHRASE: 'b' };
    const rotate = () =>
      falconryHere(['rotate', 'passphrase', '--data', folder.path, '--json'], env);
    for (const made of [false, true]) {
      if (made) await fileKeyStore({ directory: join(folder.path, KEYS_FOLDER) }).signingKey(1);
      const { code, out } = await rotate();
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({ ok: false, code: 'NOT_FOUND' });
    }
  });
});
