/** `verifyBatch` over threads: the answer of the synchronous call, and an end to every story. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type BatchItem,
  createVerifyPool,
  type VerifyPool,
  type VerifyPoolStats,
} from '../../src/falcon/index.ts';
import { moduleOf, ruined } from '../shared/threads/workers.ts';
import { fact } from '../support/facts.ts';
import { falconOf, preparedKeys, SETS, testItems } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';
import { FORMS } from '../support/reference.ts';
import { SHORT_RUN } from '../support/run.ts';

const pools: VerifyPool[] = [];
const pool = (...options: Parameters<typeof createVerifyPool>): VerifyPool => {
  const made = createVerifyPool(...options);
  pools.push(made);
  return made;
};
afterAll(() => Promise.all(pools.map((each) => each.close())));

const COUNTS = SHORT_RUN ? [1, 3] : [1, 2, 3, 5];

/** A batch with every fifth item wrong in some way, half of the keys prepared. */
function mixedBatch(degree: 512 | 1024, count: number): BatchItem[] {
  const random = testRandom(`pool ${degree}`);
  const falcon = falconOf(degree);
  const options = { keys: 6, length: [0, 500] as [number, number], forms: FORMS };
  const items = testItems(degree, count, { ...options, label: 'pool' });
  const prepared = preparedKeys(falcon, items);
  return items.map((item, i): BatchItem => {
    if (i % 5 === 3) {
      const part = random.pick(['signature', 'message', 'publicKey'] as const);
      return { ...item, [part]: random.bytes(random.below(900)) };
    }
    return i % 2 === 0 ? item : { ...item, publicKey: prepared.get(item.publicKey)! };
  });
}

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  test('any number of threads answers as the synchronous call', async (context) => {
    const items = mixedBatch(degree, SHORT_RUN ? 1000 : 3000);
    const expected = falcon.verifyBatch(items);
    expect(expected.length).toBeGreaterThan(items.length / 6);
    for (const threads of COUNTS) {
      const each = pool({ parameterSet: falcon.name, threads });
      expect(each.threads).toBe(threads);
      expect(each.parameterSet).toBe(falcon.name);
      expect(await each.verifyBatch(items)).toEqual(expected);
      for (const count of [0, 1, 15, 16, 17, 100]) {
        const part = items.slice(0, count);
        expect(await each.verifyBatch(part)).toEqual(falcon.verifyBatch(part));
      }
      await each.close();
    }
    const what = `${items.length} items, ${expected.length} of them wrong`;
    fact(context, 'batches', `Falcon-${degree}, ${COUNTS} threads: as without, ${what}`);
  });

  test('a batch of the other set is named item by item', async () => {
    const other = SETS.find((set) => set.degree !== degree)!;
    const items = testItems(other.degree, 40);
    const each = pool({ parameterSet: falcon.name, threads: 2 });
    expect(await each.verifyBatch(items)).toEqual(falcon.verifyBatch(items));
  });
});

test('several batches at once, each gets its own answer', async () => {
  const each = pool({ threads: 2 });
  const items = mixedBatch(512, 600);
  const falcon = falconOf(512);
  const batches = Array.from({ length: 12 }, (_, i) => items.slice(20 * i, 300 + 20 * i));
  const answers = await Promise.all(batches.map((batch) => each.verifyBatch(batch)));
  expect(answers).toEqual(batches.map((batch) => falcon.verifyBatch(batch)));
});

test('long messages: runs are cut by bytes, too', async () => {
  const each = pool({ threads: 2 });
  const items = testItems(512, 12, { keys: 2, length: 700_000, label: 'pool long' });
  const wrong = items.map((item, i) => (i === 7 ? { ...item, message: new Uint8Array(9) } : item));
  const seen: number[] = [];
  expect(await each.verifyBatch(wrong, { onProgress: (done) => seen.push(done) })).toEqual([
    { index: 7, reason: 'signatureMismatch' },
  ]);
  expect(seen.length).toBeGreaterThan(4);
});

test('progress rises to the end', async () => {
  const each = pool({ threads: 2 });
  const items = testItems(512, 1000, { label: 'progress' });
  const seen: [number, number][] = [];
  await each.verifyBatch(items, { onProgress: (done, total) => seen.push([done, total]) });
  expect(seen.length).toBeGreaterThan(5);
  expect(seen.map(([done]) => done)).toEqual(seen.map(([done]) => done).sort((a, b) => a - b));
  expect(seen.at(-1)).toEqual([1000, 1000]);
  expect(new Set(seen.map(([, total]) => total))).toEqual(new Set([1000]));
});

test('a progress callback that throws ends its batch, not the pool', async () => {
  const each = pool({ threads: 2 });
  const items = testItems(512, 300);
  const fault = new Error('from the callback');
  const run = each.verifyBatch(items, {
    onProgress: () => {
      throw fault;
    },
  });
  await expect(run).rejects.toBe(fault);
  expect(await each.verifyBatch(items)).toEqual([]);
});

test('a signal stops a batch, before or in the middle', async () => {
  const each = pool({ threads: 2 });
  const items = testItems(512, 2000, { label: 'abort' });
  const reason = new Error('enough');
  await expect(
    each.verifyBatch(items, { signal: AbortSignal.abort(reason) }),
  ).rejects.toMatchObject({ code: 'ABORTED', retriable: false, cause: reason });

  const controller = new AbortController();
  let judged = 0;
  const run = each.verifyBatch(items, {
    signal: controller.signal,
    onProgress: (done) => {
      judged = done;
      controller.abort(reason);
    },
  });
  await expect(run).rejects.toMatchObject({ code: 'ABORTED', cause: reason });
  expect(judged).toBeLessThan(items.length);
  // The pool is as good as new, and the stopped batch says nothing more.
  const before = judged;
  expect(await each.verifyBatch(items)).toEqual([]);
  expect(judged).toBe(before);
});

test('close: batches in work are rejected, later ones too', async () => {
  const each = pool({ threads: 2 });
  const run = each.verifyBatch(testItems(512, 2000, { label: 'abort' }));
  const closing = expect(run).rejects.toMatchObject({ code: 'ABORTED' });
  await each.close();
  await closing;
  await each.close();
  await expect(each.verifyBatch(testItems(512, 2))).rejects.toMatchObject({ code: 'ABORTED' });
  await using scoped = createVerifyPool({ threads: 1 });
  expect(await scoped.verifyBatch(testItems(512, 2))).toEqual([]);
});

describe('threads that cannot be had, or die: the calling one does the work', () => {
  const items = mixedBatch(512, 400);
  const expected = falconOf(512).verifyBatch(items);
  const worker = new URL('../../src/falcon/verifyWorker.ts', import.meta.url);

  /**
   * With how many threads the last batch ends; undefined where that depends on the hour of death.
   */
  const ends: [name: string, workerUrl: string | URL, threads: number | undefined][] = [
    ['exits at once', moduleOf('process.exit(0);'), 0],
    ['throws while loading', moduleOf(`throw new Error('broken');`), 0],
    ['does not parse', moduleOf('this is no javascript'), 0],
    ['imports what is not there', moduleOf(`import './nothing-here.js';`), 0],
    ['is not there', new URL('file:///nowhere/worker.js'), 0],
    ['is not there, as a relative path', './nowhere/worker.js', 0],
    ['is of a kind that the host refuses', 'https://example.org/worker.js', 0],
    ['is another worker', new URL('../aggregate/aggregateWorker.ts', worker), 0],
    ['exits at its first message', ruined(worker, 1, 'process.exit(3);'), 0],
    ['exits at its second message', ruined(worker, 2, 'process.exit(3);'), undefined],
    ['throws at a message', ruined(worker, 1, `throw new Error('broken');`), 0],
    ['works', worker, 2],
  ];
  const few = ['exits at once', 'exits at its second message', 'works'];
  const tried = SHORT_RUN ? ends.filter(([name]) => few.includes(name)) : ends;
  test.each(tried)('one that %s', async (_, workerUrl, threads) => {
    const told: number[] = [];
    const onStats = (stats: VerifyPoolStats): unknown => told.push(stats.threads);
    const each = pool({ threads: 2, workerUrl, onStats });
    // From the second batch on, the threads run or are known not to.
    expect(await each.verifyBatch(items)).toEqual(expected);
    const several = [each.verifyBatch(items), each.verifyBatch(items)];
    expect(await Promise.all(several)).toEqual([expected, expected]);
    // A host whose threads die is not asked for ever.
    for (let again = 0; again < 4; again++) await each.verifyBatch(items);
    expect(told).toHaveLength(7);
    if (threads !== undefined) expect(told.at(-1)).toBe(threads);
  });

  test('one that never says hello is not waited for', async () => {
    const each = pool({ threads: 2, workerUrl: moduleOf('setInterval(() => {}, 1000);') });
    const seen: number[] = [];
    const onProgress = (done: number): unknown => seen.push(done);
    expect(await each.verifyBatch(items, { onProgress })).toEqual(expected);
    expect(seen.at(-1)).toBe(items.length);
  });

  test('a host without threads', async () => {
    const { getBuiltinModule } = process;
    const told: VerifyPoolStats[] = [];
    try {
      process.getBuiltinModule = ((name: string) =>
        name === 'node:worker_threads' ? undefined : getBuiltinModule(name)) as never;
      const each = createVerifyPool({ threads: 2, onStats: (stats) => told.push(stats) });
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      const long = Array.from({ length: 50 }, () => items).flat();
      expect(await each.verifyBatch(long)).toHaveLength(50 * expected.length);
      clearInterval(timer);
      expect(turns).toBeGreaterThan(3); // the host was not held up
      await each.close();
    } finally {
      process.getBuiltinModule = getBuiltinModule;
    }
    expect(told).toEqual([{ threads: 0 }]);
  });

  test('a signal and the end of the pool stop the calling thread as well', async () => {
    const each = pool({ threads: 2, workerUrl: './nowhere/worker.js' });
    const long = Array.from({ length: 50 }, () => items).flat();
    const controller = new AbortController();
    const reason = new Error('enough');
    const run = each.verifyBatch(long, {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(run).rejects.toMatchObject({ code: 'ABORTED', cause: reason });
    const last = each.verifyBatch(long, { onProgress: () => void each.close() });
    await expect(last).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('one death, then a new thread: the pool recovers', async () => {
    // The counter lives in shared memory of the process: the first thread dies, its successors
    // work.
    const marker = `FALCONRY_TEST_DEATHS_${process.pid}`;
    const source = `
      import { getEnvironmentData, parentPort } from 'node:worker_threads';
      const deaths = new Int32Array(getEnvironmentData('${marker}'));
      if (Atomics.add(deaths, 0, 1) === 0) parentPort.on('message', () => process.exit(1));
      await import('${worker.href}');
    `;
    const { setEnvironmentData } = process.getBuiltinModule('node:worker_threads');
    setEnvironmentData(marker, new SharedArrayBuffer(4));
    const told: number[] = [];
    const onStats = (stats: VerifyPoolStats): unknown => told.push(stats.threads);
    const each = pool({ threads: 1, workerUrl: moduleOf(source), onStats });
    for (let again = 0; again < 3; again++) expect(await each.verifyBatch(items)).toEqual(expected);
    expect(told.at(-1)).toBe(1);
    setEnvironmentData(marker, undefined);
  });
});

test('wrong arguments reject at once', async () => {
  const each = pool({ threads: 1 });
  const [item] = testItems(512, 1);
  for (const items of [undefined, null, 5, {}, [null], [{ ...item, message: 'text' }]]) {
    await expect(each.verifyBatch(items as never)).rejects.toThrow(TypeError);
  }
  for (const options of [
    { signal: 5 },
    { onProgress: 'often' },
    { onStats: 1 },
    { onprogress: () => undefined },
    null,
  ]) {
    await expect(each.verifyBatch([item!], options as never)).rejects.toThrow(TypeError);
  }
  const wrong = [{ thread: 2 }, { threads: '2' }, { workerUrl: 5 }, { onStats: 1 }, 7, null];
  for (const options of wrong) {
    expect(() => createVerifyPool(options as never)).toThrow(TypeError);
  }
  for (const options of [
    { threads: 0 },
    { threads: -1 },
    { threads: 1.5 },
    { threads: 257 },
    { workerUrl: 'http://' },
    { parameterSet: 'falcon256' },
  ]) {
    expect(() => createVerifyPool(options as never)).toThrow(RangeError);
  }
});

test('an idle pool does not keep the process alive', async () => {
  const library = new URL('../../src/falcon/index.ts', import.meta.url).href;
  const source = `
    import { createVerifyPool, falcon512 } from '${library}';
    const { publicKey, secretKey } = falcon512.keygen();
    const message = new Uint8Array(3);
    const item = { signature: falcon512.sign(message, secretKey), message, publicKey };
    const pool = createVerifyPool({ threads: 2 });
    console.log(JSON.stringify(await pool.verifyBatch(new Array(100).fill(item))));
    // no close()
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', source],
    { timeout: 100_000 },
  );
  expect(stdout.trim()).toBe('[]');
});
