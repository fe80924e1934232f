/** `falconry webhook` on the store of a service. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const run = (...args: string[]) => falconryHere(['webhook', ...args, '--data', folder.path]);
const store = sqliteTableStore({ path: join(folder.path, STORE_FILE) });
beforeAll(() => store.open());
afterAll(async () => {
  await store.close();
  folder.remove();
});

test('sets one, shows its secret once, lists and removes it', async () => {
  expect(await run()).toMatchObject({ code: 0, out: '', err: 'no webhooks\n' });
  const made = await run('7', 'https://example.com/hook');
  expect(made.code).toBe(0);
  expect(made.out).toMatch(/^whsec_[\w-]{43}\n$/);
  expect(made.err).toContain('will not be shown again');
  await store.putWebhook({ owner: 0, url: 'https://operator.example/', secret: 'x' });
  const listed = await run();
  expect(listed.out).toBe(
    'operator  https://operator.example/  in use; 0 waiting, 0 given up\n' +
      'client 7  https://example.com/hook  in use; 0 waiting, 0 given up\n',
  );
  const inJson = JSON.parse((await run('--json')).out);
  expect(inJson).toMatchObject([{ client_id: null }, { client_id: 7, failing_since: null }]);
  expect(JSON.stringify(inJson)).not.toContain(made.out.trim());
  const again = JSON.parse((await run('7', 'https://example.com/2', '--json')).out);
  expect(again).toMatchObject({ ok: true, client_id: 7, url: 'https://example.com/2' });
  expect(again.secret).not.toBe(made.out.trim());

  expect(await run('7', '--remove')).toMatchObject({ code: 0 });
  const gone = await run('7', '--remove');
  expect([gone.code, gone.err]).toEqual([1, 'falconry webhook: client 7 has no webhook\n']);
  expect(JSON.parse((await run('7', '--remove', '--json')).out)).toMatchObject({ ok: false });
  expect(await run('operator', '--remove')).toMatchObject({
    code: 0,
    out: 'Removed the webhook of operator.\n',
  });
  expect(await store.listWebhooks()).toEqual([]);
});

test('shows one that fails, and one that was disabled', async () => {
  await store.putWebhook({ owner: 3, url: 'https://a.example/', secret: 'x' });
  const end = async () => {
    const input = { key: 'inputs/a.json', bytes: 1 };
    await store.put({ clientId: 3, state: 'waiting', input, threads: 1, ttlMs: 1000 });
    const { task } = await store.claim({ leaseMs: 60_000, threads: 1 });
    await store.fail(task!.id, 1, { code: 'INTERNAL', message: 'm' });
    return (await store.claimDelivery(1000))!;
  };
  const failed = { arrived: false, error: 'the answer was 500', pauseMs: 0 } as const;
  await store.settleDelivery(await end(), { ...failed, retryMs: 1e6, disableMs: 1e9 });
  expect((await run()).out).toMatch(
    /failing since \S+Z \(the answer was 500\); 1 waiting, 0 given up$/m,
  );
  await store.settleDelivery(await end(), { ...failed, retryMs: 1e6, disableMs: 0 });
  expect((await run()).out).toMatch(/disabled since \S+Z \(.*\); 0 waiting, 2 given up$/m);
});

test('wrong arguments', async () => {
  for (const args of [
    ['7'],
    ['--remove'],
    ['7', 'https://example.com/', '--remove'],
    ['7', 'https://example.com/', 'more'],
    ['operator', 'https://example.com/'],
    ['0', 'https://example.com/'],
    ['7', 'http://example.com/'],
    ['7', 'https://localhost.example@127.0.0.1/'],
    ['7', 'https://127.0.0.1/'],
    ['7', 'nowhere'],
  ]) {
    expect([args, (await run(...args)).code]).toEqual([args, 2]);
  }
  expect((await run('7', 'http://127.0.0.1/', '--webhook-allow-private')).code).toBe(0);
  const none = await falconryHere(['webhook', '--data', join(folder.path, 'none')]);
  expect([none.code, none.err]).toEqual([3, expect.stringContaining('there is no store at')]);
});
