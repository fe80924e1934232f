import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect } from 'vitest';
import {
  type AggregateFormatOption,
  aggregate as aggregateItems,
  extractSignatures,
} from '../../src/aggregate/index.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { putHashed, sha256Of } from '../../src/middleware/blobs/checksums.ts';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import {
  type BlobRef,
  type BlobStore,
  newInputKey,
} from '../../src/middleware/blobs/port/blobStore.ts';
import type { RunnerEvent } from '../../src/middleware/events.ts';
import type { Task, TaskProgress } from '../../src/middleware/stores/port/task.ts';
import type { TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { type Aggregator, createAggregator } from '../../src/middleware/tasks/aggregateTask.ts';
import { packStatements } from '../../src/middleware/tasks/readBatch.ts';
import { createRunner, type Runner } from '../../src/middleware/tasks/runner.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { isFinal } from '../../src/wire/taskStates.ts';
import { formatTaskFile, type TaskItem, toTriple } from '../../src/wire/triple.ts';
import { BLOCK, ruined, watchWorkers } from '../shared/threads/workers.ts';
import { accepted, it, taskThat, until } from './support.ts';
import { makeItems } from './triples.ts';

/** The same item with one bit of its signature's last third changed. */
const spoil = (item: TaskItem): TaskItem => {
  const signature = item.signature.slice();
  signature[signature.length - 200]! ^= 4;
  return { ...item, signature };
};

const md5Tag = (bytes: Uint8Array) => `"${createHash('md5').update(bytes).digest('hex')}"`;

describe('an aggregation task', () => {
  let items: TaskItem[];
  let folder: string;
  let blobs: BlobStore;
  let store: TaskStore;
  let aggregator: Aggregator;
  let runner: Runner;
  let events: RunnerEvent[];

  beforeAll(() => {
    items = makeItems(300, 20);
  });
  it.beforeEach(async ({ folder: given }) => {
    folder = given;
    blobs = directoryBlobs({ path: folder });
    store = memoryStore().tasks;
    events = [];
    await startRunner('bundle');
  });
  const startRunner = async (format: AggregateFormatOption, stopMs = 1000) => {
    await stop();
    const limits = { maxSignatures: 1722, maxDigestBytes: 4096, maxFileBytes: 1 << 25 };
    aggregator = createAggregator({ blobs, threads: 2, format, stopMs, ...limits });
    runner = createRunner({
      store,
      handler: aggregator.handler,
      threads: 2,
      retryMs: 1,
      onEvent: (event) => void events.push(event),
    });
    runner.start();
  };
  const stop = async () => {
    await runner?.stop({ graceMs: 0 });
    await aggregator?.close();
  };
  afterEach(stop);

  const submit = async (file: string | Uint8Array): Promise<Task> => {
    const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
    const input = await blobs.put(newInputKey(), bytes, { maxBytes: 1 << 26 });
    return accepted(store.put({ clientId: 1, state: 'waiting', threads: 1, ttlMs: 0, input }));
  };
  const filesLeft = async () => {
    const left = await readdir(folder, { recursive: true, withFileTypes: true });
    return left.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const watchProgress = (seen: TaskProgress[]) =>
    store.watch(async ({ id }) => {
      const { progress } = (await store.get(id))!;
      if (progress) seen.push(progress);
    });
  const finished = async (file: string | Uint8Array) =>
    taskThat(store, (await submit(file)).id, ({ state }) => isFinal(state));

  it('verifies every signature and stores a result that holds them all', async () => {
    const seen: TaskProgress[] = [];
    watchProgress(seen);
    const task = await finished(formatTaskFile(items));
    expect(task).toMatchObject({ state: 'completed', count: 300, threads: 2, error: null });
    expect(seen.map((progress) => progress.phase)).toContain('aggregate');

    const { blob, format, aggregateBytes } = task.result!;
    expect(blob.key).toBe(`results/1/${task.id}.json`);
    const bytes = (await blobs.read(blob, 1 << 25))!;
    expect(bytes.length).toBe(blob.bytes);
    const result = parseResultFile(bytes);
    expect(result).toMatchObject({ processId: task.id, count: 300, format: 'bundle' });
    expect(format).toBe('bundle');
    expect(result.aggregate.length).toBe(aggregateBytes);
    expect(Object.keys(result.timings)).toEqual(['read_ms', 'verify_ms', 'aggregate_ms']);
    expect(verifyResultFile(result, items)).toBe(true);
    expect(verifyResultFile(result, items.toReversed())).toBe(false);
    expect(extractSignatures(result.aggregate, items)).toEqual(items.map((i) => i.signature));

    await runner.stop();
    expect(await filesLeft()).toEqual([`${task.id}.json`]);
  });

  it('takes deterministic signatures as they are', async () => {
    const { publicKey, secretKey } = falcon1024.keygen();
    const message = new TextEncoder().encode('deterministic');
    const signature = falcon1024.det.sign(message, secretKey);
    const mixed = [items[0]!, { publicKey, message, signature }];
    const task = await finished(formatTaskFile(mixed));
    expect(task).toMatchObject({ state: 'completed', count: 2 });
    const result = parseResultFile((await blobs.read(task.result!.blob, 1 << 25))!);
    expect(extractSignatures(result.aggregate, mixed)[1]).toEqual(
      falcon1024.det.toRound3(signature),
    );
    const other = await finished(formatTaskFile([items[0]!, spoil(mixed[1]!)]));
    expect(other.error).toMatchObject({ code: 'INVALID_SIGNATURES' });
  });

  it('stores a proof where that is smaller, tells how far it is, and judges it', async () => {
    await startRunner('auto');
    const batch = items.slice(0, 130);
    const seen: TaskProgress[] = [];
    watchProgress(seen);
    const task = await finished(formatTaskFile(batch));
    expect(task).toMatchObject({ state: 'completed', count: 130, result: { format: 'proof' } });
    expect(seen.filter(({ phase }) => phase === 'aggregate').at(-1)).toMatchObject({ total: 130 });

    const { blob } = task.result!;
    const result = parseResultFile((await blobs.read(blob, 1 << 25))!);
    expect(result).toMatchObject({ count: 130, format: 'proof', sizes: { salts: 40 * 130 } });
    expect(result.sizes.aggregate).toBeLessThan(result.sizes.signatures);
    expect(verifyResultFile(result, batch)).toBe(true);

    const { aggregate } = result;
    const before = performance.now();
    const turns: number[] = [];
    const timer = setInterval(() => turns.push(performance.now() - before), 5);
    const judge = (claimed: Uint8Array, items: readonly TaskItem[], clientId = 1) =>
      aggregator.judge(clientId, claimed, packStatements(items));
    expect(await judge(aggregate, batch)).toBe(true);
    clearInterval(timer);
    expect(turns.length).toBeGreaterThan(3); // this thread was free meanwhile
    expect(await judge(aggregate, batch.toReversed())).toBe(false);
    expect(await judge(aggregate.subarray(1), batch)).toBe(false);
    const ended: string[] = [];
    const many = (count: number, clientId: number) =>
      Array.from({ length: count }, async () => {
        const verdict = judge(aggregate, batch.toReversed(), clientId);
        ended.push(`${await verdict.catch(({ code }) => code)} ${clientId}`);
      });
    // One client fills the queue; another has its share, and its turns.
    await Promise.all([...many(66, 1), ...many(20, 2), ...many(24, 3)]);
    const count = (what: string) => ended.filter((end) => end === what).length;
    expect([1, 2, 3].map((client) => count(`OVERLOADED ${client}`))).toEqual([2, 0, 2]);
    expect([1, 2, 3].map((client) => count(`false ${client}`))).toEqual([64, 20, 22]);
    expect(ended.lastIndexOf('false 2')).toBeLessThan(ended.lastIndexOf('false 1') - 20);

    // What is small does not wait for what is large.
    const bundle = await aggregateItems(items.slice(0, 3));
    const proof = await aggregateItems(items.slice(0, 3), { format: 'proof' });
    ended.length = 0;
    const large = many(12, 1);
    expect(await judge(bundle, items.slice(0, 3))).toBe(true);
    expect(await judge(bundle, items.slice(1, 4))).toBe(false);
    expect(ended).toEqual([]);
    expect(await judge(proof, items.slice(0, 3))).toBe(true);
    expect(ended.length).toBeLessThan(6);
    await Promise.all(large);
  });

  it('makes a proof of a few where it is told to, and fails where there can be none', async () => {
    await startRunner('proof');
    const task = await finished(formatTaskFile(items.slice(0, 2)));
    expect(task).toMatchObject({ state: 'completed', result: { format: 'proof' } });
    const spoilt = await finished(formatTaskFile([items[0]!, spoil(items[1]!)]));
    expect(spoilt).toMatchObject({ state: 'failed', error: { code: 'INVALID_SIGNATURES' } });
  });

  it('takes both parameter sets in one batch, and repeats', async () => {
    const large = makeItems(3, 2, falcon1024);
    const mixed = [items[0]!, large[0]!, items[0]!, large[1]!, large[2]!, items[7]!];
    const task = await finished(formatTaskFile(mixed));
    expect(task.state).toBe('completed');
    const result = parseResultFile((await blobs.read(task.result!.blob, 1 << 25))!);
    expect(result.parameterSet).toBe('mixed');
    expect(verifyResultFile(result, mixed)).toBe(true);
  });

  it('names every invalid signature with its reason, in order', async () => {
    const bad = items.slice();
    bad[0] = spoil(bad[0]!);
    bad[17] = { ...bad[17]!, message: new Uint8Array(3) };
    bad[130] = { ...bad[130]!, publicKey: new Uint8Array(5) };
    bad[131] = { ...bad[131]!, signature: new Uint8Array(0) };
    bad[299] = { ...bad[299]!, publicKey: bad[298]!.publicKey };
    const task = await finished(formatTaskFile(bad));
    expect(task).toMatchObject({ state: 'failed', attempt: 1, count: 300, result: null });
    expect(task.error?.code).toBe('INVALID_SIGNATURES');
    const indexes = task.error!.invalid!.map((item) => item.index);
    expect(indexes).toEqual([0, 17, 130, 131, 299]);
    const reasons = new Map(task.error!.invalid!.map((item) => [item.index, item.reason]));
    expect(reasons.get(17)).toBe('signatureMismatch');
    expect(reasons.get(130)).toBe('publicKeyLength');
    expect(reasons.get(131)).toBe('signatureLength');
    await runner.stop();
    expect(await filesLeft()).toEqual([]);
  });

  it('reads its file alone, though a store hands it out as a part of other memory', async () => {
    const { read } = blobs;
    const pooled: BlobStore['read'] = async (...of) => Buffer.from((await read(...of))!);
    blobs = { ...blobs, read: pooled };
    await startRunner('bundle');
    for (const [file, code] of [
      ['', 'MALFORMED_JSON'],
      ['[]', 'BAD_TASK_FILE'],
      [Uint8Array.of(0x80), 'MALFORMED_JSON'],
    ] as const) {
      expect((await finished(file)).error?.code).toBe(code);
    }
  });

  it('judges every unreadable file, names what is wrong, and stays alive', async () => {
    const triple = toTriple(items[0]!);
    const nine = Array.from({ length: 9 }, () => triple);
    const json = (value: unknown) => JSON.stringify(value);
    const many = Array.from({ length: 1723 }, () => triple);
    const files: [string, string | Uint8Array, string][] = [
      ['empty', '', 'MALFORMED_JSON'],
      ['truncated', json(nine).slice(0, -5), 'MALFORMED_JSON'],
      ['not UTF-8', Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d), 'MALFORMED_JSON'],
      ['deep', '['.repeat(100_000), 'MALFORMED_JSON'],
      ['a million objects', `[${'{},'.repeat(1_000_000)}{}]`, 'TOO_MANY_ITEMS'],
      ['no array', json(triple), 'BAD_TASK_FILE'],
      ['no items', '[]', 'BAD_TASK_FILE'],
      ['1723 items', json(many), 'TOO_MANY_ITEMS'],
      ['a number', json([...nine, 5]), 'BAD_TASK_FILE'],
      ['a missing field', json([...nine, { ...triple, digest: undefined }]), 'BAD_TASK_FILE'],
      ['not hex', json([...nine, { ...triple, signature: '0xzz' }]), 'BAD_TASK_FILE'],
      ['no prefix', json([...nine, { ...triple, digest: 'ab' }]), 'BAD_TASK_FILE'],
      ['odd', json([...nine, { ...triple, digest: '0xabc' }]), 'BAD_TASK_FILE'],
      ['long', json([...nine, { ...triple, digest: `0x${'ab'.repeat(4097)}` }]), 'BAD_TASK_FILE'],
    ];
    for (const [name, file, code] of files) {
      const task = await finished(file);
      expect(task, name).toMatchObject({ state: 'failed', attempt: 1, error: { code } });
      if (code !== 'BAD_TASK_FILE' || ['no array', 'no items'].includes(name)) continue;
      expect(
        task.error!.invalid!.map((item) => item.index),
        name,
      ).toEqual([9]);
      expect(task.error, name).toMatchObject({ total: 1, errors: [{ path: /^\/9/ }] });
    }
    const edge = { ...triple, digest: `0x${'ab'.repeat(4096)}` };
    const signed = items.slice(0, 2).map(toTriple);
    expect(await finished(json([...signed, edge]))).toMatchObject({
      error: { code: 'INVALID_SIGNATURES', invalid: [{ index: 2, reason: 'signatureMismatch' }] },
    });
    expect(await finished(json(signed))).toMatchObject({ state: 'completed' });
  });

  /** The largest batch. */
  const largeFile = () => {
    const pair = falcon512.keygen();
    const message = new Uint8Array(4096);
    const signature = falcon512.sign(message, pair.secretKey);
    const item = { publicKey: pair.publicKey, message, signature };
    return formatTaskFile(Array.from({ length: 1722 }, () => item));
  };

  it('stops at a cancellation, and keeps its thread for the next task', async () => {
    const workers = watchWorkers();
    // However slow the machine is, the thread is not given up.
    await startRunner('proof', 600_000);
    const { id } = await submit(largeFile());
    await taskThat(store, id, ({ state }) => state === 'aggregating');
    expect(await store.cancel(id, 1)).toMatchObject({ ok: true });
    const next = await finished(formatTaskFile(items.slice(0, 3)));
    expect(next.state).toBe('completed');
    expect(await store.get(id)).toMatchObject({ state: 'cancelled', result: null });
    await runner.stop();
    expect(runner.running).toBe(0);
    expect(events).toContainEqual({ type: 'cancelled', taskId: id, attempt: 1 });
    // One worker did both: the first task was left where it was.
    expect(workers).toHaveLength(1);
  });

  it('ends a thread that does not stop when told to, and takes the next task', async () => {
    let isFirst = true;
    const workers = watchWorkers((url) => {
      const news = 'parentPort.postMessage({ id: message.id, news: { counted: 7 } });';
      const worker = isFirst ? ruined(url, 1, news + BLOCK) : url;
      isFirst = false;
      return worker;
    });
    await startRunner('bundle');
    const { id } = await submit(formatTaskFile(items.slice(0, 3)));
    await taskThat(store, id, ({ count }) => count === 7);
    expect(await store.cancel(id, 1)).toMatchObject({ ok: true });
    const next = await finished(formatTaskFile(items.slice(0, 3)));
    expect(next.state).toBe('completed');
    expect(workers).toHaveLength(2);
    expect(events).toContainEqual({ type: 'cancelled', taskId: id, attempt: 1 });
  });

  it.for([
    ['a flipped bit', (file: Buffer) => file.with(file.length - 200, file.at(-200)! ^ 4)],
    ['a missing end', (file: Buffer) => file.subarray(0, -300)],
    ['an addition', (file: Buffer) => Buffer.concat([file, Buffer.alloc(1 << 25)])],
  ] as const)('is retried until its file has been repaired: %s', async ([, damage]) => {
    const bytes = Buffer.from(formatTaskFile(items.slice(0, 2)));
    const file = { bytes, sha256: sha256Of(bytes) };
    const input = await putHashed(blobs, newInputKey(), file, { maxBytes: 1 << 26 });
    const path = join(folder, input.key);
    await writeFile(path, damage(bytes));
    const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0, input } as const;
    const { id } = await accepted(store.put(task));
    await until(() => codesOfRetries().length > 1);
    await writeFile(path, bytes);
    const ended = await taskThat(store, id, ({ state }) => isFinal(state));
    expect(ended).toMatchObject({ state: 'completed', failures: 0, error: null });
    expect(new Set(codesOfRetries())).toEqual(new Set(['FILE_DAMAGED']));
  });

  it('keeps the hash of a file at its first read, if it has none', async () => {
    const { read, put } = blobs;
    let reads = 0;
    blobs.read = async (...args) => {
      const file = (await read(...args))!;
      return ++reads === 2 ? file.with(100, file[100]! ^ 1) : file;
    };
    blobs.put = async (...args) => {
      if (reads === 1) throw new CodedError('STORAGE_FULL');
      return put(...args);
    };
    const bytes = new TextEncoder().encode(formatTaskFile(items.slice(0, 2)));
    const input = await put(newInputKey(), bytes, { maxBytes: 1 << 26 });
    expect(input.sha256).toBe(undefined);
    await completed({ ...input, tag: md5Tag(bytes) });
    expect(codesOfRetries()).toEqual(['STORAGE_FULL', 'FILE_DAMAGED']);
  });

  it.for([
    ['whose tag is an MD5', md5Tag],
    ['with another tag', () => '"0123-2"'],
    ['without a tag', () => undefined],
  ] as const)('is not blamed for the first read of a file %s', async ([, tagOf]) => {
    const { read } = blobs;
    let reads = 0;
    blobs.read = async (...args) => {
      const file = (await read(...args))!;
      return ++reads === 1 ? file.with(-200, file.at(-200)! ^ 4) : file;
    };
    const bytes = new TextEncoder().encode(formatTaskFile(items.slice(0, 2)));
    const input = await blobs.put(newInputKey(), bytes, { maxBytes: 1 << 26 });
    const tag = tagOf(bytes);
    await completed({ ...input, ...(tag && { tag }) });
    expect(codesOfRetries()).toEqual(['FILE_DAMAGED']);
    // Only a tag that says nothing costs a second read.
    expect(reads).toBe(tagOf === md5Tag ? 3 : 4);
  });

  const completed = async (input: BlobRef) => {
    const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0, input } as const;
    const { id } = await accepted(store.put(task));
    const ended = await taskThat(store, id, ({ state }) => isFinal(state));
    expect(ended).toMatchObject({ state: 'completed', error: null });
  };
  const codesOfRetries = () =>
    events.flatMap((event) => (event.type === 'retried' ? event.error.code : []));

  it('tries again when the disk fails, and gives up on a file that is gone', async () => {
    const { read } = blobs;
    let faults = 2;
    blobs.read = async (...args) => {
      if (faults-- > 0) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return read(...args);
    };
    expect(await finished(formatTaskFile(items.slice(0, 2)))).toMatchObject({
      state: 'completed',
      failures: 0,
      attempt: 3,
    });
    blobs.read = async () => null;
    expect(await finished('[]')).toMatchObject({ state: 'failed', error: { code: 'INTERNAL' } });
  });
});
