/** Lists of any length: the client and the real service. */
import { describe, expect } from 'vitest';
import { inspectAggregate } from '../../src/aggregate/index.ts';
import { createClient, type SubmitProgress } from '../../src/client/index.ts';
import { serviceTest } from '../middleware/support.ts';
import { failure } from './failure.ts';
import { signedItems } from './items.ts';

// About four items fit the file of a part.
const { test, http } = serviceTest({
  threads: 1,
  aggregateFormat: 'bundle',
  maxBodyBytes: 20_000,
  maxSignatures: 1722,
});

const items = signedItems(12);
const retries = { baseMs: 1, maxMs: 5 };

/** A client whose every first request of a kind is carried out, but not answered. */
function clientOf(options: { readonly loses?: (asked: string) => boolean } = {}) {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: http.address,
    apiKey: http.alice,
    retries,
    fetch: async (url, init) => {
      const name = `${init.method} ${new URL(url).pathname}`;
      asked.push(name);
      const answer = await fetch(url, init);
      if (options.loses?.(name)) throw new TypeError('the connection is gone');
      return answer;
    },
  });
  return { client, asked };
}

const tasks = async () => (await http.ask('GET', '/v1/svc/tasks?limit=1000')).json.tasks.length;

describe('a list that comes item by item', () => {
  test('is submitted in parts, and becomes a series', async () => {
    const { client, asked } = clientOf();
    const steps: SubmitProgress[] = [];
    async function* source() {
      for (const item of items) {
        await new Promise(setImmediate);
        yield item;
      }
    }
    const accepted = await client.submit(source(), { onProgress: (each) => steps.push(each) });
    const { total } = accepted.parts!;
    expect(total).toBeGreaterThan(2);
    expect(asked.filter((name) => name.endsWith('/part')).length).toBe(total);
    expect([...new Set(steps.map(({ step }) => step))]).toEqual(['create', 'parts', 'notify']);
    const parts = steps.filter(({ step }) => step === 'parts');
    expect(parts.at(-1)).toEqual({ step: 'parts', done: total, total });

    const record = await client.waitFor(accepted);
    expect(record).toMatchObject({ format: 'series', batch_size: 12 });
    const result = await client.result(record.process_id, { statements: items });
    expect(inspectAggregate(result.aggregate!).elements!.length).toBe(total);
    const other = client.result(record.process_id, { statements: items.toReversed() });
    expect((await failure(other)).code).toBe('BAD_RESULT');
  });

  test('is submitted once, although answers are lost', async () => {
    const seen = new Set<string>();
    const loses = (name: string) => {
      const isFirst = !seen.has(name);
      seen.add(name);
      return isFirst && !name.startsWith('GET');
    };
    const { client } = clientOf({ loses });
    const before = await tasks();
    const record = await client.waitFor(await client.submit(items.values()));
    expect(record.batch_size).toBe(12);
    expect(await tasks()).toBe(before + 1);
    await client.result(record.process_id, { statements: items });
  });

  test('continues under the same key where it was interrupted', async () => {
    const { client, asked } = clientOf();
    const idempotencyKey = `key of ${performance.now()}`.replaceAll(' ', '-');
    const broken = new Error('the source broke off');
    function* some() {
      yield* items.slice(0, 9);
      throw broken;
    }
    const before = await tasks();
    await expect(client.submit(some(), { idempotencyKey })).rejects.toBe(broken);
    const uploads = () => asked.filter((name) => name.startsWith('PUT')).length;
    const first = uploads();
    expect(first).toBeGreaterThan(0);
    const accepted = await client.submit(items.values(), { idempotencyKey });
    expect(uploads()).toBe(accepted.parts!.total);
    expect((await client.waitFor(accepted)).batch_size).toBe(12);
    expect(await tasks()).toBe(before + 1);
    // Everything is there already.
    const again = await client.submit(items.values(), { idempotencyKey });
    expect(again.process_id).toBe(accepted.process_id);
    expect(uploads()).toBe(accepted.parts!.total);
  });

  test('gets a new url if one has expired', async () => {
    const { client } = createExpired();
    const record = await client.waitFor(await client.submit(items.slice(0, 2).values()));
    expect(record).toMatchObject({ batch_size: 2, format: 'bundle' });
  });

  test('must not be empty, and is not uploaded if an item is none', async () => {
    const { client } = clientOf();
    await expect(client.submit([].values())).rejects.toThrow(RangeError);
    await expect(client.submit([{ publicKey: 1 } as never].values())).rejects.toThrow(TypeError);
  });
});

/** The first upload goes to a url that the service does not accept any more. */
function createExpired() {
  let refused = 0;
  const client = createClient({
    baseUrl: http.address,
    apiKey: http.alice,
    retries,
    fetch: async (url, init) => {
      if (init.method !== 'PUT' || refused++ > 0) return fetch(url, init);
      return fetch(url.replace(/expires=\d+/, 'expires=1'), init);
    },
  });
  return { client };
}

describe('an array', () => {
  test('is divided if it is longer than a file may be', async () => {
    const { client } = clientOf();
    expect(await client.needsParts(1722)).toBe(false);
    expect(await client.needsParts(1723)).toBe(true);
    const { client: other } = clientOf({ loses: (name) => name.endsWith('openapi.json') });
    expect(await other.needsParts(1723)).toBe(false);
  });
});
