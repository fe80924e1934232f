/** The client and the real service, over real HTTP. */
import { describe, expect } from 'vitest';
import {
  type Client,
  createClient,
  type SubmitProgress,
  type TaskRecord,
} from '../../src/client/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { formatTaskFile, toTriple } from '../../src/wire/triple.ts';
import { serviceTest } from '../middleware/support.ts';
import { failure } from './failure.ts';
import { signedItems } from './items.ts';

let client: Client;
const items = signedItems(12);

const { test, http } = serviceTest({ threads: 1, workers: true });
test.beforeAll(() => {
  client = createClient({ baseUrl: http.address, apiKey: http.alice });
});

describe('the whole way', () => {
  test('submit, wait, result: with progress of every step, checked here', async () => {
    const steps: SubmitProgress[] = [];
    const large = [...items, ...items, ...items, ...items];
    const accepted = await client.submit(large, { onProgress: (each) => steps.push(each) });
    expect(accepted.process_id).toMatch(/^\d+$/);
    expect([...new Set(steps.map(({ step }) => step))]).toEqual(['create', 'upload', 'notify']);
    const sent = steps.filter(({ step }) => step === 'upload');
    expect(sent[0]!.done).toBe(0);
    expect(sent.at(-1)!.done).toBe(sent.at(-1)!.total);
    expect(sent.filter(({ done, total }) => done > 0 && done < total).length).toBeGreaterThan(1);
    expect(sent.map(({ done }) => done)).toEqual(
      sent.map(({ done }) => done).sort((a, b) => a - b),
    );

    const seen: TaskRecord[] = [];
    const record = await client.waitFor(accepted, { onProgress: (each) => seen.push(each) });
    expect(record).toMatchObject({ status: 'completed', batch_size: 48 });
    expect(seen.at(-1)).toEqual(record);

    const result = await client.result(record.process_id, { statements: large });
    expect(result).toMatchObject({ checked: true, file: { count: 48, parameter_set: 'mixed' } });
    expect(new URL(result.url).pathname.endsWith(`/${record.process_id}.json`)).toBe(true);
    expect(JSON.parse(result.text)).toEqual(result.json);
    expect(await client.verify(result.aggregate!, large)).toBe(true);
    expect(await client.verify(result.file!, [...large].reverse())).toBe(false);
  });

  test('directly, as triples of hex', async () => {
    const triples = items.map(toTriple);
    const { process_id } = await client.aggregate(triples);
    await client.waitFor(process_id, { by: 'poll', pollMs: [10, 50] });
    const { file } = await client.result(process_id, { statements: triples });
    expect(file!.process_id).toBe(process_id);
  });

  test('sign: bytes or hex', async () => {
    const message = Uint8Array.of(1, 2, 255);
    const bytes = (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex'));
    for (const given of [message, '0x0102ff']) {
      const { digest, public_key, signature } = await client.sign(given);
      expect(digest).toBe('0x0102ff');
      expect(falcon512.verify(bytes(signature), message, bytes(public_key))).toBe(true);
    }
  });

  test('a file as it is, in steps, with a second url', async () => {
    const ticket = await client.createTask();
    const other = await client.renewUpload(BigInt(ticket.process_id));
    expect(other.process_id).toBe(ticket.process_id);
    expect((await failure(client.notify(ticket.process_id))).code).toBe('NOT_UPLOADED');
    await client.upload(ticket, '[]');
    await client.upload(other.url, items);
    expect((await client.task(ticket.process_id)).status).toBe('wait for notification');
    // Watched before anything happens, so there is something to see however fast the service is.
    const seen: TaskRecord[] = [];
    const waiting = client.waitFor(ticket, { onProgress: (each) => seen.push(each) });
    await expect.poll(() => seen.length, { timeout: 100_000 }).toBe(1);
    await client.notify(Number(ticket.process_id));
    await client.notify(ticket.process_id);
    const record = await waiting;
    expect(seen[0]!.status).toBe('wait for notification');
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toEqual(record);
    expect((await client.result(ticket.process_id, { statements: items })).checked).toBe(true);
  });

  test('a file as a browser has it', async () => {
    const blob = new Blob([formatTaskFile(items)], { type: 'application/json' });
    const record = await client.waitFor(await client.submit(blob));
    expect((await client.result(record.process_id, { statements: items })).checked).toBe(true);
    // @ts-expect-error: no batch
    await expect(client.submit(5)).rejects.toThrow(TypeError);
    const wrong = [{ ...items[0]!, message: 'text' as unknown as Uint8Array }];
    await expect(client.submit(wrong)).rejects.toThrow(TypeError);
  });

  test('events: every record until the end', async () => {
    const { process_id } = await client.submit(items);
    const texts: string[] = [];
    for await (const { status } of client.events(process_id)) texts.push(status);
    expect(texts.at(-1)).toBe('completed');
  });
});

describe('lists', () => {
  test('all tasks over all pages, both orders, by status; one page', async () => {
    const bob = createClient({ baseUrl: `${http.address}/`, apiKey: async () => http.bob });
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.push((await bob.createTask()).process_id);
    const collect = async (options: Parameters<Client['tasks']>[0]) => {
      const found: string[] = [];
      for await (const { id } of bob.tasks(options)) found.push(id);
      return found;
    };
    expect(await collect({ limit: 2 })).toEqual(ids);
    expect(await collect({})).toEqual(ids);
    expect(await collect({ limit: 3, order: 'desc' })).toEqual([...ids].reverse());
    expect(await collect({ status: 'completed' })).toEqual([]);
    const first = await bob.page({ limit: 5 });
    const second = await bob.page({ limit: 5, cursor: first.next });
    expect([first.tasks.length, second.tasks.length]).toEqual([5, 2]);
    expect(second.next).toBeTypeOf('string');
    const third = await bob.page({ limit: 5, cursor: second.next });
    expect([third.tasks.length, third.next]).toEqual([0, '']);
  });

  test('cancel: only what has not ended; remove: whatever it is', async () => {
    const open = await client.createTask();
    expect((await client.cancel(open.process_id))!.status).toBe('cancelled');
    expect((await client.cancel(open.process_id))!.status).toBe('cancelled');
    expect((await failure(client.waitFor(open))).code).toBe('TASK_CANCELLED');
    await client.remove(open.process_id);
    expect((await failure(client.task(open.process_id))).code).toBe('NOT_FOUND');
    expect((await failure(client.remove(open.process_id))).status).toBe(404);
    const second = await client.createTask();
    await client.remove(second.process_id);
    expect((await failure(client.task(second.process_id))).status).toBe(404);
  });
});

describe('refusals', () => {
  test('of a batch: which members are at fault', async () => {
    const error = await failure(
      client.aggregate([{ digest: '0x1', public_key: 'ab', signature: '0x' }]),
    );
    expect(error).toMatchObject({ kind: 'problem', code: 'INVALID_BODY', status: 422 });
    expect(error.errors.map(({ path }) => path)).toContain('/data/0/digest');
  });

  test('of a task: every invalid signature by its index', async () => {
    const wrong = items.map((item, i) =>
      i === 3 || i === 8 ? { ...item, message: Uint8Array.of(i) } : item,
    );
    const { process_id } = await client.submit(wrong);
    const error = await failure(client.waitFor(process_id));
    expect(error).toMatchObject({ kind: 'task', code: 'TASK_FAILED' });
    expect(error.invalid.map(({ index }) => index)).toEqual([3, 8]);
    expect(error.record!.process_id).toBe(process_id);
    expect(await failure(client.result(process_id))).toMatchObject({ code: 'NO_RESULT' });
  });

  test('of a result that is about something else', async () => {
    const { process_id } = await client.submit(items);
    await client.waitFor(process_id);
    for (const statements of [items.slice(1), [...items].reverse(), [...items, items[0]!]]) {
      const error = await failure(client.result(process_id, { statements }));
      expect(error).toMatchObject({ kind: 'result', code: 'BAD_RESULT' });
    }
  });

  test('of a key: typed, and never quoted', async () => {
    const stranger = createClient({ baseUrl: http.address, apiKey: 'no-such-key' });
    const error = await failure(stranger.task(1));
    expect(error).toMatchObject({ kind: 'problem', code: 'UNAUTHENTICATED', status: 401 });
    const none = createClient({ baseUrl: http.address });
    expect((await failure(none.task(1))).status).toBe(401);
    const secret = 'sec\nret';
    expect(() => createClient({ baseUrl: http.address, apiKey: secret })).toThrow(TypeError);
    const late = createClient({ baseUrl: http.address, apiKey: () => secret });
    await expect(late.task(1)).rejects.not.toThrow(/sec/);
  });

  test('of arguments: at once, before any request', async () => {
    const { tasks } = client;
    expect(tasks).toBeTypeOf('function');
    expect(() => createClient({ baseUrl: 'ftp://x' })).toThrow(TypeError);
    expect(() => createClient({ baseUrl: 'nowhere' })).toThrow(TypeError);
    // @ts-expect-error: no such option
    expect(() => createClient({ baseUrl: http.address, key: 'x' })).toThrow(/unknown option "key"/);
    expect(() => createClient({ baseUrl: http.address, retries: { times: -1 } })).toThrow(
      RangeError,
    );
    for (const serviceName of ['a/b', '..', '.', '']) {
      expect(() => createClient({ baseUrl: http.address, serviceName })).toThrow(TypeError);
    }
    for (const id of ['', 'x', '-1', '../1', 2 ** 53, 1.5, -1, -1n]) {
      expect(() => client.task(id)).toThrow(RangeError);
    }
  });

  test('a task of another client is not there', async () => {
    const { process_id } = await client.createTask();
    const bob = createClient({ baseUrl: http.address, apiKey: http.bob });
    expect((await failure(bob.task(process_id))).code).toBe('NOT_FOUND');
  });
});

describe('signals', () => {
  test('each call, and the whole client', async () => {
    const controller = new AbortController();
    const { process_id } = await client.createTask();
    const waiting = client.waitFor(process_id, { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 50);
    const abortion = { kind: 'aborted', code: 'ABORTED', cause: 'enough' };
    expect(await failure(waiting)).toMatchObject(abortion);
    const { signal } = controller;
    const over = { baseUrl: http.address, apiKey: http.alice, signal: AbortSignal.abort() };
    const ended = createClient(over);
    const works = [
      client.task(process_id, { signal }),
      client.upload('http://127.0.0.1:1/', items, { signal }),
      ended.task(process_id),
      ended.waitFor(process_id),
    ];
    for (const { kind } of await Promise.all(works.map(failure))) expect(kind).toBe('aborted');
    await client.remove(process_id);
  });
});
