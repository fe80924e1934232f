/** Aggregates on several threads: the same bytes and verdicts for any number, and an end to all. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import {
  type AggregatePool,
  type AggregatePoolOptions,
  type AggregateProgress,
  type AggregateStats,
  aggregate,
  createAggregatePool,
  findInvalid,
  verifyAggregate,
  verifyAggregateAsync,
} from '../../src/aggregate/index.ts';
import { poolOn } from '../../src/aggregate/pool.ts';
import { AggregateThreads, type Divisible, openThreads } from '../../src/aggregate/threads.ts';
import { type SetName, signedItem, signedItems } from '../reference/items.ts';
import { fact } from '../support/facts.ts';
import { hex } from '../support/hex.ts';
import { SHORT_RUN } from '../support/run.ts';
import { everyThread } from './everyThread.ts';

const LONG = { timeout: 600_000 };

const pools: AggregatePool[] = [];
function pool(options: AggregatePoolOptions): AggregatePool {
  const made = everyThread(options);
  pools.push(made);
  return made;
}
afterAll(() => Promise.all(pools.map((each) => each.close())));

const proof = { format: 'proof' } as const;
/** Options, and what `onStats` was told. */
function telling<T extends object>(options: T) {
  const told: AggregateStats[] = [];
  const onStats = (stats: AggregateStats) => void told.push(stats);
  return { told, options: { ...options, onStats } };
}
/** Both sets, in no order. */
const [last, ...others] = signedItems('falcon512', 21);
const mixed = [...others, ...signedItems('falcon1024', 17), last!];

describe('any number of threads', () => {
  const counts = SHORT_RUN
    ? { falcon512: [15], both: [38] }
    : { falcon512: [1, 2, 15, 16, 17, 33, 110], falcon1024: [16, 41], both: [38] };
  const cases = Object.entries(counts).flatMap(([set, list]) =>
    list.map((count) => [set as SetName | 'both', count] as const),
  );
  test.each(cases)('%s, %i items: the bytes of one', LONG, async (set, count) => {
    const items = set === 'both' ? mixed : signedItems(set, count);
    const expected = await aggregate(items, proof);
    expect(verifyAggregate(expected, items)).toBe(true);
    const wrong = expected.slice();
    wrong[wrong.length - 100]! ^= 1;
    for (const threads of SHORT_RUN ? [set === 'both' ? 3 : 2] : [2, 3]) {
      const each = pool({ threads });
      const { told, options } = telling(proof);
      const bytes = await each.aggregate(items, options);
      expect(hex(bytes)).toBe(hex(expected));
      expect(told[0]!.threads).toBe(threads);
      expect(told[0]!.memoryBytes).toBeGreaterThan(1_000_000);
      expect(await each.verifyAggregate(bytes, items)).toBe(true);
      expect(await each.verifyAggregate(wrong, items)).toBe(false);
      expect(await each.verifyAggregate(bytes, items.slice(1))).toBe(false);
      await each.close();
    }
    expect(await verifyAggregateAsync(expected, items)).toBe(true);
    expect(await verifyAggregateAsync(wrong, items)).toBe(false);
  });

  test.skipIf(SHORT_RUN)('more threads than there is work for', LONG, async (context) => {
    const items = signedItems('falcon512', 16);
    const expected = hex(await aggregate(items, proof));
    const each = pool({ threads: 7 });
    const bytes = await each.aggregate(items, proof);
    expect(hex(bytes)).toBe(expected);
    expect(await each.verifyAggregate(bytes, items)).toBe(true);
    fact(context, 'threads', '1, 2, 3 and 7 threads make the same proof, byte for byte');
  });

  test('bundles, and every invalid item', LONG, async () => {
    const each = pool({ threads: 3 });
    const items = signedItems('falcon512', 200);
    const bundle = await aggregate(items, { format: 'bundle' });
    const { told, options } = telling({ format: 'bundle' } as const);
    expect(hex(await each.aggregate(items, options))).toBe(hex(bundle));
    expect(told).toEqual([{ threads: 1, memoryBytes: 0 }]);
    expect(await each.verifyAggregate(bundle, items)).toBe(true);
    expect(await each.verifyAggregate(bundle, items.toReversed())).toBe(false);
    const wrong = items.map((item, i) =>
      i % 60 === 7 ? { ...item, message: new Uint8Array(99) } : item,
    );
    const invalid = findInvalid(wrong);
    expect(invalid.length).toBe(4);
    expect(await each.findInvalid(wrong)).toEqual(invalid);
    const refusal = { code: 'INVALID_SIGNATURES', invalid };
    await expect(each.aggregate(wrong, proof)).rejects.toMatchObject(refusal);
  });

  test('several calls at once', LONG, async () => {
    const each = pool({ threads: 2 });
    const lists = SHORT_RUN
      ? [signedItems('falcon512', 5), mixed.slice(18, 24), signedItems('falcon1024', 2)]
      : [signedItems('falcon512', 17), mixed, signedItems('falcon1024', 16)];
    const expected = [];
    for (const items of lists) expected.push(hex(await aggregate(items, proof)));
    const made = await Promise.all(lists.map((items) => each.aggregate(items, proof)));
    expect(made.map(hex)).toEqual(expected);
    const verdicts = made.map((bytes, i) => each.verifyAggregate(bytes, lists[i]!));
    expect(await Promise.all(verdicts)).toEqual([true, true, true]);
  });
});

describe('the number of threads', () => {
  afterEach(() => void vi.unstubAllGlobals());
  const onHost = (hardwareConcurrency?: number): void => {
    vi.stubGlobal('navigator', { hardwareConcurrency });
  };
  const items = Array.from({ length: 400 }, (_, i) => signedItem('falcon512', i % 8));

  test('is at most that of the host, if it says one', () => {
    onHost(3);
    expect(openThreads({ threads: 64 }).size).toBe(2);
    expect(openThreads({ threads: 2 }).size).toBe(1);
    expect(openThreads({}).size).toBe(0);
    expect(createAggregatePool({ threads: 64 }).threads).toBe(3);
    expect(createAggregatePool().threads).toBe(3);
    onHost(undefined);
    expect(openThreads({ threads: 64 }).size).toBe(63);
    expect(createAggregatePool().threads).toBe(1);
  });

  test('rises with the work', () => {
    onHost(64);
    const all = openThreads({ threads: 64 });
    const helpers = (count: number, set: 'falcon512' | 'falcon1024', kind: Divisible): number =>
      all.helpersFor(new Array(count).fill(signedItem(set, 0)), kind);
    expect(helpers(100, 'falcon512', 'prove')).toBe(0);
    // The smallest for two threads, by docs/bundlers.md and the options.
    expect(helpers(186, 'falcon512', 'prove')).toBe(0);
    expect(helpers(187, 'falcon512', 'prove')).toBe(1);
    expect(helpers(100, 'falcon1024', 'prove')).toBe(1);
    expect(helpers(1722, 'falcon512', 'prove')).toBe(17);
    expect(helpers(1722, 'falcon512', 'verify')).toBe(6);
    expect(helpers(1722, 'falcon512', 'check')).toBe(0);
    expect(helpers(8192, 'falcon1024', 'check')).toBe(8);
    expect(openThreads({ threads: 2 }).helpersFor(items, 'prove')).toBe(1);
  });

  test.skipIf(SHORT_RUN)('bounds how many start', LONG, async () => {
    onHost(64);
    const few = items.slice(0, 100);
    const bytes = await aggregate(few, proof);
    const all = openThreads({ threads: 64 });
    const each = poolOn(all);
    pools.push(each);
    expect(hex(await each.aggregate(few, proof))).toBe(hex(bytes));
    expect(await each.verifyAggregate(bytes, few)).toBe(true);
    expect(await each.findInvalid(few)).toEqual([]);
    expect(await all.started()).toBe(0);
    const { told, options } = telling(proof);
    await each.aggregate(items, options);
    expect(told[0]!.threads).toBe(4);
    expect(await all.started()).toBe(3);
  });

  test('is one for a malformed proof', LONG, async () => {
    const all = new AggregateThreads({ size: 63, leastMs: 0 });
    await using each = poolOn(all);
    const few = items.slice(0, 20);
    const bytes = await aggregate(few, proof);
    for (const wrong of [bytes.subarray(1), bytes.slice(0, -1), Uint8Array.of(...bytes, 0)]) {
      expect(await each.verifyAggregate(wrong, few)).toBe(false);
    }
    expect(await all.started()).toBe(0);
  });
});

describe('on the way', () => {
  const items = signedItems('falcon512', SHORT_RUN ? 60 : 110);

  test('progress rises to the end of both phases', LONG, async () => {
    const seen: AggregateProgress[] = [];
    const { length: total } = items;
    const each = pool({ threads: 2 });
    const bytes = await each.aggregate(items, { ...proof, onProgress: (p) => seen.push(p) });
    const order = seen.map(({ phase, done }) => (phase === 'verifying' ? 0 : 1000) + done);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(seen.filter(({ phase }) => phase === 'aggregating').length).toBeGreaterThan(5);
    expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([total]));
    expect(seen.at(-1)).toEqual({ phase: 'aggregating', done: total, total });
    seen.length = 0;
    const onProgress = (p: AggregateProgress): unknown => seen.push(p);
    expect(await each.verifyAggregate(bytes, items, { onProgress })).toBe(true);
    expect(seen.at(-1)).toEqual({ phase: 'verifying', done: total, total });
    const done = seen.map((p) => p.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
  });

  test('a callback that throws ends its call, not the pool', LONG, async () => {
    const each = pool({ threads: 2 });
    const fault = new Error('from the callback');
    for (const phase of ['verifying', 'aggregating']) {
      const onProgress = (progress: AggregateProgress): void => {
        if (progress.phase === phase) throw fault;
      };
      await expect(each.aggregate(items, { ...proof, onProgress })).rejects.toBe(fault);
    }
    const few = items.slice(0, 16);
    expect(hex(await each.aggregate(few, proof))).toBe(hex(await aggregate(few, proof)));
  });

  test('a signal stops it anywhere, at once', LONG, async () => {
    const each = pool({ threads: 2 });
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    const aborted = { code: 'ABORTED', cause: reason };
    const bytes = await each.aggregate(items, proof);
    await expect(each.aggregate(items, { ...proof, signal })).rejects.toMatchObject(aborted);
    await expect(each.verifyAggregate(bytes, items, { signal })).rejects.toMatchObject(aborted);
    await expect(each.findInvalid(items, { signal })).rejects.toMatchObject(aborted);
    for (const [phase, share] of [
      ['verifying', 0],
      ['aggregating', 0],
      ['aggregating', 0.2],
      ['aggregating', 0.5],
    ] as const) {
      const controller = new AbortController();
      let shown = 0;
      const run = each.aggregate(items, {
        ...proof,
        signal: controller.signal,
        onProgress: (progress) => {
          if (controller.signal.aborted) shown++;
          if (progress.phase === phase && progress.done >= share * progress.total) {
            controller.abort(reason);
          }
        },
      });
      await expect(run).rejects.toMatchObject(aborted);
      expect(shown).toBe(0);
    }
    const controller = new AbortController();
    const run = each.verifyAggregate(bytes, items, {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(run).rejects.toMatchObject(aborted);
    expect(hex(await each.aggregate(items, proof))).toBe(hex(bytes));
  });

  test('close: calls in work are rejected, later ones too', LONG, async () => {
    const each = pool({ threads: 2 });
    const run = each.aggregate(items, { ...proof, onProgress: () => void each.close() });
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await each.close();
    await expect(each.aggregate(items)).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(each.verifyAggregate(new Uint8Array(9), [])).rejects.toMatchObject({
      code: 'ABORTED',
    });
    await expect(each.aggregateParts(items).next()).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(each.mergeParts([])).rejects.toMatchObject({ code: 'ABORTED' });
    await using scoped = createAggregatePool({ threads: 2 });
    expect(await scoped.findInvalid(items)).toEqual([]);
  });
});

describe('threads that cannot be had, or die: this one does the work', () => {
  const items = signedItems('falcon512', SHORT_RUN ? 20 : 40);
  const worker = new URL('../../src/aggregate/aggregateWorker.ts', import.meta.url).href;
  const from = (source: string): URL =>
    new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  /** The real worker, with something done to it before its n-th message. */
  const ruined = (count: number, what: string): URL =>
    from(`import { parentPort } from 'node:worker_threads';
      let count = 0;
      parentPort.on('message', (message) => { if (++count === ${count}) { ${what} } });
      await import('${worker}');`);

  const ends: [name: string, workerUrl: string | URL][] = [
    ['exits at once', from('process.exit(0);')],
    ['throws while loading', from(`throw new Error('broken');`)],
    ['does not parse', from('this is no javascript')],
    ['is not there', new URL('file:///nowhere/worker.js')],
    ['is of a kind that the host refuses', 'https://example.org/worker.js'],
    ['exits at its first message', ruined(1, 'process.exit(3);')],
    ...[2, 3, 4, 5, 7, 9, 20].map((count): [string, URL] => [
      `exits at message ${count}`,
      ruined(count, 'process.exit(3);'),
    ]),
    ['throws in the middle', ruined(6, `throw new Error('broken');`)],
  ];
  const few = ['exits at once', 'throws in the middle'];
  const tried = SHORT_RUN ? ends.filter(([name]) => few.includes(name)) : ends;
  test.each(tried)('one that %s', LONG, async (_, workerUrl) => {
    const expected = hex(await aggregate(items, proof));
    const each = pool({ threads: 2, workerUrl });
    const shown: number[] = [];
    const bytes = await each.aggregate(items, {
      ...proof,
      onProgress: ({ phase, done }) => shown.push((phase === 'verifying' ? 0 : 1000) + done),
    });
    expect(hex(bytes)).toBe(expected);
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(await each.verifyAggregate(bytes, items)).toBe(true);
    expect(await each.findInvalid(items)).toEqual([]);
    await each.close();
  });

  test('a fault in a thread is told, and not hidden by doing it again', LONG, async () => {
    const faulty = (code: string): URL =>
      from(`import { parentPort } from 'node:worker_threads';
        parentPort.postMessage({ hello: 'falconry aggregate' });
        parentPort.on('message', ({ id }) =>
          parentPort.postMessage({ id, fault: { code: '${code}', text: 'of a thread' } }));`);
    for (const code of ['OUT_OF_MEMORY', 'INTERNAL']) {
      const each = pool({ threads: 2, workerUrl: faulty(code) });
      await expect(each.aggregate(items, proof)).rejects.toMatchObject({ code });
    }
  });
});

test('wrong options are refused', async () => {
  const [item] = signedItems('falcon512', 1);
  for (const options of [{ threads: '2' }, { workerUrl: 5 }, { thread: 2 }, { onStats: 1 }]) {
    await expect(aggregate([item!], options as never)).rejects.toThrow(TypeError);
  }
  for (const options of [{ threads: '2' }, { workerUrl: 5 }, { format: 'proof' }, { signal: 1 }]) {
    const run = verifyAggregateAsync(new Uint8Array(1), [item!], options as never);
    await expect(run).rejects.toThrow(TypeError);
  }
  for (const options of [{ threads: 0 }, { threads: 1.5 }, { threads: 65 }, { threads: -1 }]) {
    await expect(aggregate([item!], options)).rejects.toThrow(RangeError);
    expect(() => createAggregatePool(options)).toThrow(RangeError);
  }
  for (const keyCacheBytes of [-1, 0.5, Number.NaN, 2 ** 31]) {
    expect(() => createAggregatePool({ keyCacheBytes })).toThrow(RangeError);
  }
  expect(() => createAggregatePool({ keyCacheBytes: '1' as never })).toThrow(TypeError);
  for (const options of [{ thread: 2 }, { threads: null }, { signal: undefined }, 7, null]) {
    expect(() => createAggregatePool(options as never)).toThrow(TypeError);
  }
  const each = pool({ threads: 1 });
  await expect(each.aggregate([item!], { threads: 2 } as never)).rejects.toThrow(TypeError);
  await expect(each.findInvalid([{}] as never)).rejects.toThrow(TypeError);
  await expect(each.aggregate([])).rejects.toThrow(RangeError);
});

const KEPT = 'neither an idle pool nor a call that is over keeps the process alive';
test.skipIf(SHORT_RUN)(KEPT, LONG, async () => {
  const library = new URL('../../src/aggregate/index.ts', import.meta.url).href;
  const source = `
    import { createAggregatePool } from '${library}';
    import { falcon512 } from '${library.replace('aggregate', 'falcon')}';
    const { publicKey, secretKey } = falcon512.keygen();
    const items = Array.from({ length: 20 }, (_, i) => {
      const message = Uint8Array.of(i);
      return { signature: falcon512.sign(message, secretKey), message, publicKey };
    });
    const pool = createAggregatePool({ threads: 2 });
    const bytes = await pool.aggregate(items, { format: 'proof' });
    console.log(await pool.verifyAggregate(bytes, items));
    // no close()
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', source],
    { timeout: 120_000 },
  );
  expect(stdout.trim()).toBe('true');
});
