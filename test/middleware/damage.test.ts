/** Result files that are damaged: no client gets them as whole ones, and the operator is told. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, vi } from 'vitest';
import { openChecked } from '../../src/middleware/blobs/checksums.ts';
import type { BlobStore } from '../../src/middleware/blobs/port/blobStore.ts';
import type { ServiceEvent } from '../../src/middleware/index.ts';
import { expectProblem, recordedLog, serviceTest } from './support.ts';
import { makeTriples } from './triples.ts';

let events: ServiceEvent[] = [];
const log = recordedLog();
const { it, http } = serviceTest({
  threads: 1,
  logger: log.logger,
  onEvent: (event) => void events.push(event),
});

describe('a result file', () => {
  let id: number;
  let url: string;
  let path: string;
  let whole: Buffer;
  const get = (method = 'GET') => http.ask(method, url, undefined, { key: null });
  const alarms = () => [
    events.filter(({ type }) => type === 'damaged'),
    log.entries.filter(({ level, taskId }) => level === 'error' && taskId === id).length,
  ];

  beforeEach(async () => {
    events = [];
    // More than a piece of the stream.
    const { json } = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(60) });
    id = json.process_id;
    url = (await http.ended(id)).result_path;
    path = join(http.directory, 'files', new URL(url).pathname.replace('/v1/svc/', ''));
    whole = await readFile(path);
    expect(whole.length).toBeGreaterThan(70_000);
  });

  it('is served as long as it is whole', async () => {
    const { status, text, headers } = await get();
    expect([status, text]).toEqual([200, whole.toString()]);
    expect(headers.get('content-length')).toBe(String(whole.length));
    expect((await get('HEAD')).headers.get('content-length')).toBe(String(whole.length));
    expect(alarms()).toEqual([[], 0]);
  });

  it.for([
    ['in the first piece', 10],
    ['in the last piece', -10],
  ] as const)('breaks the connection before its end after a flipped bit %s', async ([, at]) => {
    const flipped = Buffer.from(whole);
    flipped[at < 0 ? whole.length + at : at]! ^= 1;
    await writeFile(path, flipped);
    const response = await fetch(url);
    const reader = response.body!.getReader();
    let bytes = 0;
    const read = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 'complete';
        bytes += value.length;
      }
    };
    await expect(read()).rejects.toThrow();
    expect(bytes).toBeLessThan(whole.length);
    expect(alarms()).toEqual([[{ type: 'damaged', taskId: id }], 1]);
  });

  it.for([
    ['shorter', (file: Buffer) => file.subarray(0, -1)],
    ['longer', (file: Buffer) => Buffer.concat([file, file])],
    ['empty', () => Buffer.alloc(0)],
  ] as const)('is refused if it is %s', async ([, change]) => {
    await writeFile(path, change(whole));
    expectProblem(await get(), 503, 'FILE_DAMAGED');
    expect((await get('HEAD')).status).toBe(503);
    const alarm = { type: 'damaged', taskId: id };
    expect(alarms()).toEqual([[alarm, alarm], 2]);
  });

  it('is reported if it is gone, unless the task is gone as well', async () => {
    await rm(path);
    expectProblem(await get(), 404, 'NOT_FOUND');
    expect(alarms()).toEqual([[{ type: 'damaged', taskId: id }], 1]);
    await http.ask('DELETE', `/v1/svc/tasks/${id}`);
    expectProblem(await get(), 404, 'NOT_FOUND');
    expect(alarms()[0]).toHaveLength(1);
  });
});

it('a file is not damaged if its reader leaves while the disk is slow', async () => {
  const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  const blobs = { get: async () => ({ bytes: 9, body }) } as unknown as BlobStore;
  const alarm = vi.fn();
  const stream = await openChecked(blobs, { key: 'results/1/1.json', bytes: 9 }, alarm);
  const reader = stream.getReader();
  const piece = reader.read();
  await setImmediate();
  await reader.cancel();
  expect(await piece).toEqual({ done: true, value: undefined });
  await setImmediate();
  expect(alarm).not.toHaveBeenCalled();
});
