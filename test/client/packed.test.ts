/** The option `compress`: batches go packed to the service itself, and plain to everyone else. */
import { expect } from 'vitest';
import { createClient, type Fetch } from '../../src/client/index.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { serviceTest } from '../middleware/support.ts';
import { signedItems } from './items.ts';

const items = signedItems(12);
const { test, http } = serviceTest({ threads: 1 });

/** What was sent: `PUT gzip 4711`. */
function watchedClient(options: { compress?: 'gzip' } = {}) {
  const sent: { method: string; encoding: string | null; bytes: number }[] = [];
  const watched: Fetch = async (input, init) => {
    const { body } = init;
    const encoding = new Headers(init.headers).get('content-encoding');
    if (body instanceof Uint8Array) {
      sent.push({ method: init.method!, encoding, bytes: body.length });
    }
    return fetch(input, init);
  };
  const client = createClient({
    baseUrl: http.address,
    apiKey: http.alice,
    fetch: watched,
    ...options,
  });
  return { client, sent };
}

test('packs uploads and direct requests, which are half as long', async () => {
  const plain = watchedClient();
  await plain.client.submit(items);
  await plain.client.aggregate(items);
  const packed = watchedClient({ compress: 'gzip' });
  const ids = [
    (await packed.client.submit(items)).process_id,
    (await packed.client.aggregate(items)).process_id,
  ];
  for (const id of ids) {
    expect((await packed.client.waitFor(id)).batch_size).toBe(12);
    expect((await packed.client.result(id, { statements: items })).checked).toBe(true);
  }
  const shape = ({ sent }: typeof plain) => sent.map(({ method, encoding }) => [method, encoding]);
  expect(shape(plain)).toEqual([
    ['PUT', null],
    ['POST', null],
  ]);
  expect(shape(packed)).toEqual([
    ['PUT', 'gzip'],
    ['POST', 'gzip'],
  ]);
  packed.sent.forEach(({ bytes }, i) => {
    expect(bytes / plain.sent[i]!.bytes).toBeLessThan(0.6);
  });
});

test('counts the bytes that are sent', async () => {
  const client = createClient({ baseUrl: http.address, apiKey: http.alice, compress: 'gzip' });
  const totals = new Set<number>();
  const record = await client.submit(items, {
    onProgress: ({ step, total }) => step === 'upload' && totals.add(total),
  });
  expect(totals.size).toBe(1);
  expect([...totals][0]).toBeLessThan(0.6 * formatTaskFile(items).length);
  expect((await client.waitFor(record)).batch_size).toBe(12);
});

test('leaves files for other hosts as they are', async () => {
  const { client, sent } = watchedClient({ compress: 'gzip' });
  const { url } = await client.createTask();
  await client.upload(url.replace('127.0.0.1', 'localhost'), items);
  expect(sent.map(({ encoding }) => encoding)).toEqual([null]);
});

test('takes gzip only', () => {
  const compress = 'br' as 'gzip';
  expect(() => createClient({ baseUrl: http.address, compress })).toThrow(RangeError);
});
