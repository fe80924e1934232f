/** The client and a server that was written from the contract alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import { type Client, createClient, type SubmitProgress } from '../../src/client/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { signedItems } from './items.ts';
import { PLAIN_KEY, type PlainServer, startPlainServer } from './plainServer.ts';

let server: PlainServer;
let client: Client;
const items = signedItems(40);
const pollMs = [5, 20] as const;

beforeAll(async () => {
  server = await startPlainServer();
  client = createClient({
    baseUrl: server.base,
    apiKey: PLAIN_KEY,
    serviceName: 'plain',
    retries: { baseMs: 10, maxMs: 50 },
  });
});
afterAll(() => server.close());

test('submit, wait without events, find the result in the list, fetch it', async () => {
  server.seen.length = 0;
  const steps: SubmitProgress[] = [];
  const accepted = await client.submit(items, { onProgress: (each) => steps.push(each) });
  // 18 digits, of which a number would have changed the last ones.
  expect(accepted.process_id).toMatch(/^9\d{17}$/);
  expect(server.tasks.has(accepted.process_id)).toBe(true);
  expect(String(Number(accepted.process_id))).not.toBe(accepted.process_id);
  expect(accepted.client_id).toBe('100000000000000001');
  const sent = steps.filter(({ step }) => step === 'upload').map(({ done }) => done);
  expect(sent.length).toBeGreaterThan(3);
  expect(sent.at(-1)).toBe(server.tasks.get(accepted.process_id)!.file!.length);

  const texts: string[] = [];
  const record = await client.waitFor(accepted, {
    pollMs,
    onProgress: ({ status }) => texts.push(status),
  });
  expect(texts).toContain('wait for falcon signature verify');
  expect(record.status).toBe('aggregate stored');
  expect(record.finished_at).toMatch(/\.\d{9}Z$/);

  const { json, file, aggregate } = await client.result(record.process_id);
  expect([file, aggregate]).toEqual([null, null]);
  const { task, bytes } = json as { task: bigint; bytes: string };
  expect(String(task)).toBe(record.process_id);
  expect(verifyAggregate(new Uint8Array(Buffer.from(bytes.slice(2), 'hex')), items)).toBe(true);
  // A file that cannot be checked is no checked file.
  await expect(client.result(task, { statements: items })).rejects.toMatchObject({
    code: 'BAD_RESULT',
  });

  // The key went to the service alone, and a length was announced to the store.
  const files = server.seen.filter(({ origin }) => origin === 'files');
  expect(files.map(({ method }) => method)).toEqual(['PUT', 'GET', 'GET']);
  for (const { headers } of files) expect(headers.authorization).toBeUndefined();
  expect(Number(files[0]!.headers['content-length'])).toBe(sent.at(-1));
  expect(files[0]!.headers['content-type']).toBe('application/json');
  for (const { headers } of server.seen.filter(({ origin }) => origin === 'service')) {
    expect(headers.authorization).toBe(PLAIN_KEY);
  }
});

test('directly: the answer names the task and no more', async () => {
  const { process_id, status } = await client.aggregate(items.slice(0, 2));
  expect(status).toBe('wait for falcon signature verify');
  await client.waitFor(process_id, { pollMs });
});

test('a task that failed, by a text of its own', async () => {
  const { process_id } = await client.aggregate([{ ...items[0]!, message: Uint8Array.of(1) }]);
  await expect(client.waitFor(process_id, { pollMs })).rejects.toMatchObject({
    code: 'TASK_FAILED',
    record: { status: 'failed: a signature is not valid' },
  });
});

test('sign', async () => {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex'));
  const { public_key, signature } = await client.sign('0x616263');
  expect(falcon512.verify(bytes(signature), bytes('0x616263'), bytes(public_key))).toBe(true);
});

test('lists that end by an empty page', async () => {
  const found: string[] = [];
  for await (const { id } of client.tasks({ limit: 1 })) found.push(id);
  expect(found).toEqual([...server.tasks.keys()]);
  const completed: string[] = [];
  for await (const { id } of client.tasks({ status: 'completed' })) completed.push(id);
  expect(completed.length).toBe(2);
});

test('errors without a problem document', async () => {
  const stranger = createClient({ baseUrl: server.base, apiKey: 'other', serviceName: 'plain' });
  await expect(stranger.task(1)).rejects.toMatchObject({
    kind: 'problem',
    code: 'HTTP_401',
    status: 401,
    problem: undefined,
  });
  await expect(client.task('1')).rejects.toMatchObject({ code: 'HTTP_404' });
});

test('a notification whose answer is lost was heard: its repeat is refused, and that is no failure', async () => {
  const ticket = await client.createTask();
  await client.upload(ticket, items.slice(0, 3));
  let lost = 0;
  server.intercept = (request, response) => {
    if (!request.url!.includes('/notify/') || lost++ > 0) return false;
    server.tasks.get(ticket.process_id)!.notified = true;
    response.destroy();
    return true;
  };
  const record = await client.notify(ticket.process_id);
  server.intercept = null;
  expect(lost).toBe(2);
  expect(record.status).toBe('wait for falcon signature verify');
  // Without a lost answer the same refusal is one.
  await expect(client.notify(ticket.process_id)).rejects.toMatchObject({ code: 'HTTP_409' });
});

test('a direct aggregation whose answer is lost is not sent again: this server knows no Idempotency-Key', async () => {
  const before = server.tasks.size;
  server.intercept = (request, response) => {
    if (!(request.method === 'POST' && request.url!.endsWith('/aggsign'))) return false;
    request.resume().on('end', () => response.destroy());
    return true;
  };
  server.seen.length = 0;
  const error = await client.aggregate(items.slice(0, 1)).catch((each) => each);
  server.intercept = null;
  expect(error).toMatchObject({ kind: 'network', code: 'NETWORK' });
  expect(server.seen.filter(({ path }) => path.endsWith('/aggsign')).length).toBe(1);
  expect(server.tasks.size).toBe(before);
});
