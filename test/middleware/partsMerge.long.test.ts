/** Lists of several merged proofs, and merges that are stopped. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import {
  aggregate,
  inspectAggregate,
  MAX_MERGED_PARTS,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { falcon1024 } from '../../src/falcon/index.ts';
import { sha256Of } from '../../src/middleware/blobs/checksums.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { Isolation } from '../../src/middleware/tasks/isolation.ts';
import type { Made, News } from '../../src/middleware/tasks/taskWork.ts';
import { openWorker } from '../../src/middleware/tasks/workerPool.ts';
import type { ThreadPool } from '../../src/shared/threads/pool.ts';
import { encodeWireHex } from '../../src/wire/hex.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem, toTriple } from '../../src/wire/triple.ts';
import { recordedLog, serviceTest, until } from './support.ts';
import { makeItems } from './triples.ts';

const { it, http } = serviceTest({ threads: 2 });

/** Uploads a list in the given parts. @returns its id */
async function upload(parts: readonly (readonly TaskItem[])[], service = http): Promise<number> {
  const { json } = await service.ask('POST', '/v1/svc/aggsign/task', { parts: true });
  const id = json.process_id;
  for (const items of parts) {
    const part = await service.ask('POST', `/v1/svc/aggsign/task/${id}/part`);
    expect((await service.put(part.json.url, formatTaskFile(items))).status).toBe(200);
  }
  return id;
}

async function close(id: number, service = http): Promise<number> {
  expect((await service.ask('POST', `/v1/svc/aggsign/notify/${id}`)).status).toBe(202);
  return id;
}

const submit = async (parts: readonly (readonly TaskItem[])[]) => close(await upload(parts));

describe('a task with parts', () => {
  it('joins merged proofs to a series with what lies between them', async () => {
    const parts = [makeItems(2), makeItems(2, 1, falcon1024), makeItems(2), makeItems(1)];
    const record = await http.ended(await submit(parts));
    expect(record).toMatchObject({ status: 'completed', format: 'series', batch_size: 7 });
    const { text } = await http.ask('GET', record.result_path, undefined, { key: null });
    const file = parseResultFile(text);
    expect(verifyResultFile(file, parts.flat())).toBe(true);
    const { elements } = inspectAggregate(file.aggregate);
    expect(elements!.map(({ format, count }) => [format, count])).toEqual([
      ['merged', 2],
      ['bundle', 2],
      ['merged', 3],
    ]);
  });

  it('can be cancelled while it is merged', async () => {
    const id = await submit(Array.from({ length: 5 }, () => makeItems(1)));
    const phases = ['verify', 'aggregate'];
    await until(async () => phases.includes((await http.record(id)).progress.phase));
    const { json } = await http.ask('DELETE', `/v1/svc/tasks/${id}`);
    expect(json.status).toBe('cancelled');
    const items = makeItems(2);
    const next = await http.ended(await submit([items]));
    expect(next).toMatchObject({ status: 'completed', format: 'merged' });

    // Its result is judged by the service, and does not hold up what is small.
    const { json: merged } = await http.ask('GET', next.result_path, undefined, { key: null });
    const proof = encodeWireHex(await aggregate(items, { format: 'proof' }));
    const statements = items.map(toTriple).map(({ signature, ...statement }) => statement);
    let ended = 0;
    const judge = async (claimed: string) => {
      const body = { aggregate: claimed, statements };
      const answer = await http.ask('POST', '/v1/svc/aggsign/verify', body);
      expect(answer.json).toEqual({ valid: true });
      ended++;
    };
    const large = Array.from({ length: 6 }, () => judge(merged.aggregate));
    await judge(proof);
    expect(ended).toBeLessThan(4);
    await Promise.all(large);
  });
});

it('a damaged task file is named, and its part made again once it is right', async ({ start }) => {
  const log = recordedLog();
  const service = await start({ threads: 2, onDisk: true, logger: log.logger });
  const id = await upload([makeItems(2), makeItems(1)], service);
  await until(async () => (await service.record(id)).parts.done === 2);
  const db = new DatabaseSync(join(service.directory, STORE_FILE));
  const sql = 'SELECT input_key AS key FROM tasks WHERE parent = ? AND part = 0';
  const { key } = db.prepare(sql).get(id) as { key: string };
  db.close();
  const path = join(service.directory, 'files', key);
  const right = await readFile(path);
  const wrong = Uint8Array.from(right);
  wrong[wrong.length >> 1]! ^= 1;
  await writeFile(path, wrong);
  await close(id, service);
  const faults = () => log.entries.filter(({ code }) => code === 'FILE_DAMAGED');
  // The merge, and then the part itself.
  await until(async () => faults().length >= 2);
  expect(faults()[0]).toMatchObject({ level: 'error', taskId: id });
  expect(faults()[0]!.error).toMatch(/parts are damaged: 0\b/);
  expect((await service.record(id)).parts).toEqual({ total: 2, uploaded: 2, done: 1 });
  await writeFile(path, right);
  const record = await service.ended(id);
  expect(record).toMatchObject({ status: 'completed', batch_size: 3, format: 'merged' });
});

describe('a worker', () => {
  const items = makeItems(1);
  const file = new TextEncoder().encode(formatTaskFile(items));
  const input = () => ({ file: file.slice().buffer, sha256: sha256Of(file) });

  /** Makes a part, and merges as many of it. @returns the numbers of those that were asked for */
  async function merge(worker: ThreadPool, count: number): Promise<number[]> {
    const limits = { maxSignatures: 1, maxMessageBytes: 100, maxFileBytes: file.length };
    const ofPart = { processId: 1, isPart: true, limits, format: 'auto', threads: 2, fetchMs: 0 };
    const making = worker.call({ work: { kind: 'aggregate', ...ofPart, ...input() } });
    const part = (await making) as Made;
    expect(part.format).toBe('part');
    const asked: number[] = [];
    const work = { kind: 'merge', processId: 1, parts: count, threads: 2 };
    const onNews = (news: unknown) => {
      if (!('wants' in (news as News))) return;
      asked.push((news as { wants: number }).wants);
      void worker.call({ work: { kind: 'part', result: part.file, input: input() } });
    };
    const made = (await worker.call({ work }, { onNews })) as Made;
    const { aggregate } = parseResultFile(new Uint8Array(made.file));
    expect(verifyAggregate(aggregate, new Array<TaskItem>(count).fill(items[0]!))).toBe(true);
    const { format, elements } = inspectAggregate(aggregate);
    const most = MAX_MERGED_PARTS;
    const sizes = count > most ? [most, count - most] : new Array(count).fill(1);
    expect(format).toBe(count > most ? 'series' : 'merged');
    expect(elements!.map((one) => one.count)).toEqual(sizes);
    return asked;
  }

  it('merges parts in groups of as many as fit', async () => {
    const worker = openWorker(512);
    const count = MAX_MERGED_PARTS + 1;
    expect(await merge(worker, count)).toEqual(Array.from({ length: count }, (_, i) => i));
    await worker.close();
  });

  it('merges them in a process of its own, too', async () => {
    const { signal } = new AbortController();
    const asked = await new Isolation(512).lend(signal, (worker) => merge(worker, 2));
    expect(asked).toEqual([0, 1]);
  });
});
