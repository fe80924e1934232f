/** `service.eraseClient`: all that a service keeps of a client goes, and nothing of the others. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  falconService,
  memoryStore,
  type ServiceOptions,
  sqliteStore,
} from '../../src/middleware/index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'falconry-erasure-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A service whose clients are named by their `Authorization`. */
async function start(options: ServiceOptions = {}) {
  const service = falconService({
    dataDirectory: folder,
    authenticate: (key) => (key === '' ? null : { client: key }),
    workers: false,
    threads: 1,
    ...options,
  });
  await service.start();
  const ask = (client: string, path: string, body?: object) =>
    service.app.request(`http://host/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: client, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const fill = async (client: string) => {
    const created = await ask(client, 'svc/aggsign/task', {});
    const { url } = (await created.json()) as { url: string };
    const headers = { 'content-type': 'application/json' };
    const upload = await service.app.request(url, { method: 'PUT', headers, body: '[]' });
    expect([created.status, upload.status]).toEqual([201, 200]);
  };
  const tasks = async (client: string) => {
    const answer = await ask(client, 'svc/tasks');
    return ((await answer.json()) as { tasks: unknown[] }).tasks.length;
  };
  return { service, fill, tasks };
}

const filesIn = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

test('tasks, files, quota and name go, and those of others stay', async () => {
  const store = sqliteStore({ path: join(folder, 'store.sqlite') });
  const { service, fill, tasks } = await start({ store });
  try {
    await fill('ada');
    await fill('bob');
    const [ada, bob] = [await store.clientNamed('ada'), await store.clientNamed('bob')];
    await store.setQuota(ada, { openTasks: 5 });
    await store.setQuota(bob, { openTasks: 6 });
    const erased = await service.eraseClient(ada);
    expect(erased).toEqual({ tasks: 1, unfinished: 1, files: 1, apiKeys: 0 });
    const nothing = { tasks: 0, unfinished: 0, files: 0, apiKeys: 0 };
    expect(await service.eraseClient(ada)).toEqual(nothing);
    // A number that nobody has ever had.
    expect(await service.eraseClient(99)).toEqual(nothing);

    expect(await store.quota(ada)).toBeNull();
    expect((await store.quota(bob))?.openTasks).toBe(6);
    expect(filesIn(join(folder, 'files')).length).toBe(1);
    expect(await tasks('bob')).toBe(1);
    // The name is free: whoever has it now is another client.
    expect(await store.clientNamed('ada')).not.toBe(ada);
    await fill('ada');
    expect(await tasks('ada')).toBe(1);
    const anew = await store.clientNamed('ada');
    expect(anew).toBeGreaterThan(bob);
    expect((await service.eraseClient(anew)).tasks).toBe(1);
    expect(await tasks('ada')).toBe(0);
  } finally {
    await service.stop();
    await store.close();
  }
});

test('refused: what is no client, a store that cannot, a service that does not run', async () => {
  const { disown: _, ...store } = memoryStore();
  const { service } = await start({ store });
  for (const wrong of [0, -1, 1.5, Number.NaN]) {
    await expect(service.eraseClient(wrong)).rejects.toThrow(RangeError);
  }
  await expect(service.eraseClient(1)).rejects.toMatchObject({ code: 'CONFLICT' });
  await service.stop();
  await expect(service.eraseClient(1)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});
