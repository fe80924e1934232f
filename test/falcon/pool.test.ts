/** `verifyBatch` over threads: the answer of the synchronous call, and an end to every story, also the bad ones. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { type BatchItem, createVerifyPool, type VerifyPool } from '../../src/falcon/index.ts';
import { fact } from '../support/facts.ts';
import { falconOf, SETS, testItems } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';
import { FORMS } from '../support/reference.ts';

const pools: VerifyPool[] = [];
const pool = (...options: Parameters<typeof createVerifyPool>): VerifyPool => {
  const made = createVerifyPool(...options);
  pools.push(made);
  return made;
};
afterAll(() => Promise.all(pools.map((each) => each.close())));

/** A batch with every fifth item wrong in some way, half of the keys prepared. */
function mixedBatch(degree: 512 | 1024, count: number): BatchItem[] {
  const random = testRandom(`pool ${degree}`);
  const falcon = falconOf(degree);
  const items = testItems(degree, count, {
    keys: 6,
    length: [0, 500],
    forms: FORMS,
    label: 'pool',
  });
  const prepared = new Map(
    items.map(({ publicKey }) => [publicKey, falcon.preparePublicKey(publicKey)]),
  );
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
    const items = mixedBatch(degree, 3000);
    const expected = falcon.verifyBatch(items);
    expect(expected.length).toBeGreaterThan(500);
    for (const threads of [1, 2, 3, 5]) {
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
    fact(
      context,
      'batches',
      `Falcon-${degree}: 1, 2, 3 and 5 threads give the answer of the synchronous call (${items.length} items, ${expected.length} wrong)`,
    );
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

describe('threads that die', () => {
  const dying = (source: string): URL =>
    new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const items = testItems(512, 200, { label: 'dying' });
  const lost = { name: 'CodedError', code: 'THREAD_LOST', retriable: true };

  test.each([
    [
      'exits at its first message',
      `import {parentPort} from 'node:worker_threads'; parentPort.on('message', () => process.exit(3));`,
    ],
    ['exits at once', 'process.exit(0);'],
    ['throws while loading', `throw new Error('broken');`],
    [
      'throws at a message',
      `import {parentPort} from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('broken'); });`,
    ],
    ['does not parse', 'this is no javascript'],
    ['imports what is not there', `import './nothing-here.js';`],
  ])('%s', async (_, source) => {
    const each = pool({ threads: 2, workerUrl: dying(source) });
    await expect(each.verifyBatch(items)).rejects.toMatchObject(lost);
    // Not only the first time, and all of several at once.
    const several = await Promise.allSettled([each.verifyBatch(items), each.verifyBatch(items)]);
    for (const result of several) {
      expect(result).toMatchObject({ status: 'rejected', reason: lost });
    }
  });

  test('one that is not there', async () => {
    const each = pool({ threads: 1, workerUrl: new URL('file:///nowhere/worker.js') });
    await expect(each.verifyBatch(items)).rejects.toMatchObject(lost);
  });

  test('one death, then a new thread: the pool recovers', async () => {
    // The counter lives in shared memory of the process: the first thread dies, its successors work.
    const worker = new URL('../../src/falcon/verifyWorker.ts', import.meta.url);
    const marker = `FALCONRY_TEST_DEATHS_${process.pid}`;
    const source = `
      import { setEnvironmentData, getEnvironmentData, parentPort, BroadcastChannel } from 'node:worker_threads';
      const dead = new Int32Array(getEnvironmentData('${marker}'));
      if (Atomics.add(dead, 0, 1) === 0) parentPort.on('message', () => process.exit(1));
      else await import('${worker.href}');
    `;
    const { setEnvironmentData } = process.getBuiltinModule('node:worker_threads');
    setEnvironmentData(marker, new SharedArrayBuffer(4));
    const each = pool({ threads: 1, workerUrl: dying(source) });
    await expect(each.verifyBatch(items)).rejects.toMatchObject(lost);
    expect(await each.verifyBatch(items)).toEqual([]);
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
    { onprogress: () => undefined },
    null,
  ]) {
    await expect(each.verifyBatch([item!], options as never)).rejects.toThrow(TypeError);
  }
  for (const options of [{ thread: 2 }, { threads: '2' }, 7, null]) {
    expect(() => createVerifyPool(options as never)).toThrow(TypeError);
  }
  for (const options of [
    { threads: 0 },
    { threads: -1 },
    { threads: 1.5 },
    { threads: 257 },
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
