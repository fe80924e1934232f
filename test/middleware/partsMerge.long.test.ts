/** Lists of several merged proofs, and merges that are stopped. */
import { describe, expect } from 'vitest';
import {
  aggregate,
  inspectAggregate,
  MAX_MERGED_PARTS,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { falcon1024 } from '../../src/falcon/index.ts';
import { sha256Of } from '../../src/middleware/blobs/checksums.ts';
import type { Made, News } from '../../src/middleware/tasks/taskWork.ts';
import { openWorker } from '../../src/middleware/tasks/workerPool.ts';
import { encodeWireHex } from '../../src/wire/hex.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem, toTriple } from '../../src/wire/triple.ts';
import { serviceTest, until } from './support.ts';
import { makeItems } from './triples.ts';

const { it, http } = serviceTest({ threads: 2 });

/** Submits a list in the given parts. @returns its id once the list is closed */
async function submit(parts: readonly (readonly TaskItem[])[]): Promise<number> {
  const { json } = await http.ask('POST', '/v1/svc/aggsign/task', { parts: true });
  const id = json.process_id;
  for (const items of parts) {
    const part = await http.ask('POST', `/v1/svc/aggsign/task/${id}/part`);
    expect((await http.put(part.json.url, formatTaskFile(items))).status).toBe(200);
  }
  expect((await http.ask('POST', `/v1/svc/aggsign/notify/${id}`)).status).toBe(202);
  return id;
}

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
    const id = await submit([makeItems(2), makeItems(2)]);
    await until(async () => (await http.record(id)).progress.phase === 'aggregate');
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

describe('a worker', () => {
  it('merges parts in groups of as many as fit', async () => {
    const items = makeItems(1);
    const file = new TextEncoder().encode(formatTaskFile(items));
    const input = () => ({ file: file.slice().buffer, sha256: sha256Of(file) });
    const worker = openWorker(512);
    const limits = { maxSignatures: 1, maxMessageBytes: 100, maxFileBytes: file.length };
    const ofPart = { processId: 1, isPart: true, limits, format: 'auto', threads: 2, fetchMs: 0 };
    const part = (await worker.call({
      work: { kind: 'aggregate', ...ofPart, ...input() },
    })) as Made;
    expect(part.format).toBe('part');

    const count = MAX_MERGED_PARTS + 1;
    const asked: number[] = [];
    const work = { kind: 'merge', processId: 1, parts: count, threads: 2 };
    const onNews = (news: unknown) => {
      if (!('wants' in (news as News))) return;
      asked.push((news as { wants: number }).wants);
      void worker.call({ work: { kind: 'part', result: part.file, input: input() } });
    };
    const made = (await worker.call({ work }, { onNews })) as Made;
    await worker.close();
    expect(asked).toEqual(Array.from({ length: count }, (_, i) => i));
    const { aggregate: series } = parseResultFile(new Uint8Array(made.file));
    const { elements } = inspectAggregate(series);
    expect(elements!.map((one) => one.count)).toEqual([MAX_MERGED_PARTS, 1]);
    expect(verifyAggregate(series, new Array<TaskItem>(count).fill(items[0]!))).toBe(true);
  });
});
