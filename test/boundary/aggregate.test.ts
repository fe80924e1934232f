/** Aggregates are made of the bytes that were verified: copied when the call is made. */
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import * as falconry from '../../src/index.ts';
import { testItems, testKeys } from '../support/ours.ts';

/** Both sets, four keys each, in memory that a test may spoil. */
const fresh = (): falconry.AggregateItem[] =>
  [...testItems(512, 24), ...testItems(1024, 8)].map(({ publicKey, message, signature }) => {
    return {
      publicKey: Uint8Array.from(publicKey),
      message: Uint8Array.from(message),
      signature: Uint8Array.from(signature),
    };
  });
const honest = fresh();
const proof = await falconry.aggregate(honest, { format: 'proof' });
const bundle = await falconry.aggregate(honest, { format: 'bundle' });

const SPOILERS: readonly [string, (items: falconry.AggregateItem[], bytes?: Uint8Array) => void][] =
  [
    [
      'overwritten',
      (items, bytes) => {
        for (const item of items) {
          for (const field of [item.publicKey, item.message, item.signature]) field.fill(1);
        }
        bytes?.fill(1);
      },
    ],
    [
      'handed over to a thread',
      (items, bytes) => {
        const arrays = items.flatMap((item) => [item.publicKey, item.message, item.signature]);
        if (bytes !== undefined) arrays.push(bytes);
        const buffers = arrays.map(({ buffer }) => buffer as ArrayBuffer);
        structuredClone(buffers, { transfer: buffers });
      },
    ],
    [
      'exchanged in their list',
      (items) => {
        items.reverse();
        items.length = 3;
      },
    ],
    [
      'exchanged in their objects',
      (items) => {
        for (const item of items) Object.assign(item, { message: new Uint8Array(4) });
      },
    ],
  ];

describe.each(SPOILERS)('arrays that are %s after the call', (_, spoil) => {
  test.each(['proof', 'bundle'] as const)('%s', async (format) => {
    const items = fresh();
    const making = falconry.aggregate(items, { format });
    spoil(items);
    expect(Buffer.compare(await making, format === 'proof' ? proof : bundle)).toBe(0);
  });

  test.each([
    ['proof', proof],
    ['bundle', bundle],
  ])('verification of a %s', async (_format, made) => {
    const [items, bytes] = [fresh(), Uint8Array.from(made)];
    const judging = falconry.verifyAggregateAsync(bytes, items);
    spoil(items, bytes);
    expect(await judging).toBe(true);
  });

  test('in a pool', async () => {
    const pool = falconry.createAggregatePool({ threads: 2 });
    const items = fresh();
    const making = pool.aggregate(items, { format: 'proof' });
    spoil(items);
    const made = await making;
    expect(Buffer.compare(made, proof)).toBe(0);
    const statements = fresh();
    const judging = pool.verifyAggregate(made, statements);
    spoil(statements, made);
    expect(await judging).toBe(true);
    await pool.close();
  });
});

test('what a hook changes or calls has no say in the result', async () => {
  const items = fresh();
  const { publicKey, secretKey } = testKeys(512);
  const message = new Uint8Array(5);
  const verdicts: unknown[] = [];
  const inner: Promise<unknown>[] = [];
  let calls = 0;
  const hook = (): void => {
    SPOILERS[0]![1](items);
    if (calls++ > 2) return;
    const signature = falconry.falcon512.sign(message, secretKey);
    const own = [{ publicKey, message, signature }];
    verdicts.push(
      falconry.falcon512.verify(signature, message, publicKey),
      falconry.verifyAggregate(falconry.aggregateSync(own), own),
      falconry.verifyAggregate(proof, honest),
      falconry.findInvalid(honest).length === 0,
    );
    inner.push(
      falconry.aggregate(fresh(), { format: 'proof' }).then((made) => Buffer.compare(made, proof)),
      falconry.verifyAggregateAsync(bundle, honest).then((isValid) => (isValid ? 0 : 1)),
    );
  };
  const options = { onProgress: hook, onFormat: hook, onStats: hook };
  const made = await falconry.aggregate(items, { format: 'proof', ...options });
  expect(Buffer.compare(made, proof)).toBe(0);
  expect(calls).toBeGreaterThan(3);
  expect(verdicts).toEqual(verdicts.map(() => true));
  expect(await Promise.all(inner)).toEqual(inner.map(() => 0));
});

test('options are read once, by their own properties', async () => {
  const asked: string[] = [];
  const options = {
    get format() {
      asked.push('format');
      return 'bundle' as const;
    },
    get threads() {
      asked.push('threads');
      return 1;
    },
  };
  expect(Buffer.compare(await falconry.aggregate(honest, options), bundle)).toBe(0);
  expect(asked.sort()).toEqual(['format', 'threads']);
});

describe('arrays that lie', () => {
  class Lying extends Uint8Array {
    override get length(): number {
      return 897;
    }
    override slice(): never {
      throw new Error('asked');
    }
  }
  const lie = (bytes: Uint8Array): Uint8Array => {
    const array = new Lying(bytes.byteLength);
    Uint8Array.prototype.set.call(array, bytes);
    return array;
  };

  test('about their length are taken for what they are', async () => {
    const lying = honest.map(({ publicKey, message, signature }) => {
      return { publicKey: lie(publicKey), message: lie(message), signature: lie(signature) };
    });
    expect(falconry.findInvalid(lying)).toEqual([]);
    expect(Buffer.compare(falconry.aggregateSync(lying), bundle)).toBe(0);
    expect(Buffer.compare(await falconry.aggregate(lying, { format: 'proof' }), proof)).toBe(0);
    expect(falconry.verifyAggregate(lie(proof), lying)).toBe(true);
    expect(falconry.verifyAggregate(lie(bundle), lying)).toBe(true);
    expect(falconry.extractSignatures(lie(bundle), lying)).toEqual(
      honest.map(({ signature }) => Uint8Array.from(signature)),
    );
    expect(falconry.inspectAggregate(lie(bundle)).sizes.total).toBe(bundle.length);
    expect(falconry.statementCommitment(lying)).toEqual(falconry.inspectAggregate(proof).statement);
    const pool = falconry.createAggregatePool({ threads: 2 });
    expect(await pool.findInvalid(lying)).toEqual([]);
    expect(await pool.verifyAggregate(lie(proof), lying)).toBe(true);
    await pool.close();
  });

  test('a list that is no list, lists of another length', async () => {
    const none = new Proxy(honest, {
      get: (target, name) => (name === 'length' ? Number.NaN : Reflect.get(target, name)),
    });
    for (const list of [none, new Set(honest), { length: 1, 0: honest[0] }] as never[]) {
      expect(() => falconry.aggregateSync(list)).toThrow(TypeError);
      expect(() => falconry.findInvalid(list)).toThrow(TypeError);
      expect(() => falconry.verifyAggregate(bundle, list)).toThrow(TypeError);
      expect(() => falconry.extractSignatures(bundle, list)).toThrow(TypeError);
      expect(() => falconry.statementCommitment(list)).toThrow(TypeError);
      await expect(falconry.aggregate(list)).rejects.toThrow(TypeError);
      await expect(falconry.verifyAggregateAsync(bundle, list)).rejects.toThrow(TypeError);
    }
    expect(() => falconry.findInvalid(new Array(2 ** 32 - 1))).toThrow(RangeError);
    expect(falconry.verifyAggregate(bundle, [...honest, honest[0]!])).toBe(false);
  });

  test('getters are asked once for each field', () => {
    let asked = 0;
    const watched = honest.map(
      (item) =>
        new Proxy(item, {
          get(target, name) {
            asked++;
            falconry.falcon1024.verifyBatch([]);
            return Reflect.get(target, name);
          },
        }),
    );
    expect(falconry.findInvalid(watched)).toEqual([]);
    expect(asked).toBe(3 * honest.length);
    expect(Buffer.compare(falconry.aggregateSync(watched), bundle)).toBe(0);
    expect(asked).toBe(6 * honest.length);
    expect(falconry.verifyAggregate(proof, watched)).toBe(true);
    expect(asked).toBe(8 * honest.length);
  });
});

test('results are plain arrays in memory of their own', async () => {
  const buffers = honest.map(({ publicKey, message, signature }) => {
    return {
      publicKey: Buffer.from(publicKey),
      message: Buffer.from(message),
      signature: Buffer.from(signature),
    };
  });
  const given = Buffer.from(bundle);
  const results = [
    falconry.aggregateSync(buffers),
    await falconry.aggregate(buffers, { format: 'proof' }),
    ...falconry.extractSignatures(given, buffers),
    falconry.inspectAggregate(given).statement,
    falconry.statementCommitment(buffers),
  ];
  given.fill(0);
  expect(results.slice(2, 2 + honest.length)).toEqual(honest.map(({ signature }) => signature));
  for (const bytes of results) {
    expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  }
});

test('what is sealed is what was signed, though another thread writes to the message', async () => {
  const { publicKey, secretKey } = testKeys(512);
  const key = falconry.falcon512.expandSecretKey(secretKey);
  const shared = new Uint8Array(new SharedArrayBuffer(100_000));
  const writer = new Worker(
    `const { workerData } = require('node:worker_threads');
     const bytes = new Uint8Array(workerData);
     require('node:worker_threads').parentPort.postMessage('writes');
     for (let i = 1; ; i++) bytes.fill(i);`,
    { eval: true, workerData: shared.buffer },
  );
  await new Promise((resolve) => writer.once('message', resolve));
  for (let i = 0; i < 50; i++) {
    const sealed = falconry.falcon512.attached.seal(shared, key);
    expect(falconry.falcon512.attached.open(sealed, publicKey)).toHaveLength(shared.length);
  }
  await writer.terminate();
});
