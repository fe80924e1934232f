/** Tasks with parts over HTTP: a long list, from its first part to one aggregate. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import {
  aggregateSync,
  inspectAggregate,
  MAX_PROOF_ITEMS,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import type { Made, News } from '../../src/middleware/tasks/taskWork.ts';
import { openWorker } from '../../src/middleware/tasks/workerPool.ts';
import {
  encodeResultFile,
  makeResultFile,
  parseResultFile,
  verifyResultFile,
} from '../../src/wire/resultFile.ts';
import { toTriple } from '../../src/wire/triple.ts';
import { expectProblem, recordedLog, serviceTest, type TestService, until } from './support.ts';
import { bytesOf, makeItems, makeMixedTriples, spoil, statementsOf } from './triples.ts';

const AGGSIGN = '/v1/svc/aggsign';

const log = recordedLog();
const { it, http } = serviceTest({
  threads: 1,
  maxSignatures: 3,
  logger: log.logger,
  onEvent: (event) => event.type === 'task' && told.add(event.taskId),
});
/** A service that works on nothing. */
const { it: itIdle, http: idle } = serviceTest({ workers: false });
/** The tasks of events. */
const told = new Set<number>();

const triples = makeMixedTriples(12);

async function open(service: TestService = http): Promise<number> {
  const answer = await service.ask('POST', `${AGGSIGN}/task`, { parts: true });
  expect(answer.status).toBe(201);
  return answer.json.process_id;
}

const announce = (id: number, body?: object, key?: string, service = http) =>
  service.ask('POST', `${AGGSIGN}/task/${id}/part`, body, {
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

async function upload(id: number, file: unknown, service = http): Promise<string> {
  const { status, json } = await announce(id, undefined, undefined, service);
  expect(status).toBe(201);
  const put = await service.put(json.url, JSON.stringify(file));
  expect(put.json).toMatchObject({ process_id: id, part: json.part });
  return json.url;
}

const close = (id: number, service = http) => service.ask('POST', `${AGGSIGN}/notify/${id}`);

/** Waits until so many parts of the task are done. */
const done = (id: number, parts: number, service = http) =>
  until(async () => (await service.record(id)).parts.done === parts);

describe('a task with parts', () => {
  it('becomes a series of the whole list, and looks like one task', async () => {
    const created = await http.ask('POST', `${AGGSIGN}/task`, { parts: true });
    const { process_id: id, ...ticket } = created.json;
    expect(ticket).toEqual({
      expires_at: expect.any(String),
      max_parts: 4096,
      max_part_bytes: 32 * 2 ** 20,
      max_part_items: MAX_PROOF_ITEMS,
    });
    expect(await http.record(id)).toMatchObject({
      status: 'wait for task file upload',
      parts: { total: 0, uploaded: 0, done: 0 },
      progress: { phase: 'parts', done: 0, total: 0 },
    });
    // The first part has more signatures than a task without parts may have.
    await upload(id, triples.slice(0, 6));
    await done(id, 1);
    expect(await http.record(id)).toMatchObject({ status: 'wait for notification', batch_size: 6 });
    await upload(id, triples.slice(6, 8));
    await upload(id, triples.slice(8));
    const events = http.ended(id);
    const closed = await close(id);
    expect(closed.status).toBe(202);
    expect(closed.json.parts).toMatchObject({ total: 3, uploaded: 3 });
    expect((await close(id)).status).toBe(202);
    const record = await events;
    expect(record).toMatchObject({ status: 'completed', batch_size: 12, format: 'series' });
    expect(record.progress).toEqual({ phase: 'store', done: 12, total: 12 });

    const { json, text } = await http.ask('GET', record.result_path, undefined, { key: null });
    expect(json).toMatchObject({ process_id: id, count: 12, format: 'series' });
    const aggregate = bytesOf(json.aggregate);
    expect(verifyAggregate(aggregate, statementsOf(triples))).toBe(true);
    expect(verifyAggregate(aggregate, statementsOf(triples.toReversed()))).toBe(false);
    expect(inspectAggregate(aggregate).count).toBe(12);
    const verified = await http.ask('POST', `${AGGSIGN}/verify`, {
      aggregate: json.aggregate,
      statements: triples,
    });
    expect(verified.json).toEqual({ valid: true });
    const file = parseResultFile(text);
    expect(verifyResultFile(file, statementsOf(triples))).toBe(true);
    const sizes = { ...file.sizes, salts: file.sizes.salts + 1 };
    expect(verifyResultFile({ ...file, sizes }, statementsOf(triples))).toBe(false);

    const { tasks } = (await http.ask('GET', '/v1/svc/tasks?order=desc')).json;
    expect(tasks.filter((task: { id: number }) => task.id >= id)).toMatchObject([
      { id, status: 'completed', meta: { count: 12 } },
    ]);
    expect([...told].filter((task) => task >= id)).toEqual([id]);
  });

  it('has no series if there is one aggregate', async () => {
    const id = await open();
    await upload(id, triples.slice(0, 2));
    await close(id);
    expect(await http.ended(id)).toMatchObject({ status: 'completed', format: 'bundle' });
  });

  it('of Falcon-512 becomes one proof, of parts that are about their statements', async ({
    start,
  }) => {
    const own = recordedLog();
    const service = await start({ threads: 1, onDisk: true, logger: own.logger });
    const id = await open(service);
    const items = makeItems(4);
    const list = items.map(toTriple);
    await upload(id, list.slice(0, 3), service);
    await upload(id, list.slice(3), service);
    await done(id, 2, service);
    // The result of the second part stands in place of the first one's.
    const db = new DatabaseSync(join(service.directory, STORE_FILE));
    const columns = 'result_key, result_bytes, result_sha256';
    const result = `SELECT ${columns} FROM tasks WHERE parent = ? AND part = 1`;
    const replace = `UPDATE tasks SET (${columns}) = (${result}) WHERE parent = ? AND part = 0`;
    expect(db.prepare(replace).run(id, id).changes).toBe(1);
    db.close();
    await close(id, service);
    const events = await service.ask('GET', `/v1/svc/tasks/${id}/events`);
    // Which of them are seen depends on how long they take.
    expect(events.text).toMatch(/"progress":\{"phase":"(parts|verify|aggregate)","done":/);
    const retried = own.entries.filter(({ code }) => code === 'FILE_DAMAGED');
    expect(retried).toMatchObject([{ level: 'error', taskId: id }]);
    expect(retried[0]!.error).toMatch(/parts are damaged: 0\b.*A part is not valid/s);
    const record = await service.record(id);
    expect(record).toMatchObject({ status: 'completed', batch_size: 4, format: 'merged' });
    const { text } = await service.ask('GET', record.result_path, undefined, { key: null });
    const file = parseResultFile(text);
    const whole = makeResultFile({ ...file, items });
    expect(file).toEqual({ ...whole, timings: { merge_ms: expect.any(Number) } });
    expect(file).toMatchObject({ format: 'merged', count: 4 });
    expect(verifyResultFile(file, statementsOf(list))).toBe(true);
    expect(verifyResultFile(file, statementsOf(list.toReversed()))).toBe(false);
  });

  it('of Falcon-512 is a series of bundles where bundles are wanted', async ({ start }) => {
    const service = await start({ threads: 1, aggregateFormat: 'bundle' });
    const id = await open(service);
    const items = makeItems(2);
    for (const item of items) await upload(id, [toTriple(item)], service);
    await close(id, service);
    const record = await service.ended(id);
    const { json } = await service.ask('GET', record.result_path, undefined, { key: null });
    const { format, elements } = inspectAggregate(bytesOf(json.aggregate));
    expect([format, elements!.map((one) => one.format)]).toEqual(['series', ['bundle', 'bundle']]);
  });

  it('names part and index of what is invalid, and goes on with another file', async () => {
    const id = await open();
    await upload(id, triples.slice(0, 2));
    const url = await upload(id, [triples[2], spoil(triples[3]!)]);
    await until(async () => (await http.record(id)).error !== undefined);
    const error = { code: 'INVALID_SIGNATURES', part: 1, invalid: [{ index: 1 }] };
    const { status, parts, ...record } = await http.record(id);
    expect(record).toMatchObject({ error });
    expect([status, parts.uploaded]).toEqual(['wait for notification', 1]);
    const refused = await close(id);
    expectProblem(refused, 409, 'NOT_UPLOADED');
    expect(refused.json.errors).toMatchObject([{ path: '/parts/1', code: 'failed' }]);
    await http.put(url, JSON.stringify(triples.slice(2, 4)));
    expect((await http.record(id)).error).toBeUndefined();
    expect((await close(id)).status).toBe(202);
    expect(await http.ended(id)).toMatchObject({ status: 'completed', batch_size: 4 });
  });

  it('refuses parts with more than one proof covers', async () => {
    const id = await open();
    await upload(
      id,
      Array.from({ length: 2945 }, () => triples[1]),
    );
    await until(async () => (await http.record(id)).error !== undefined);
    expect((await http.record(id)).error).toMatchObject({ code: 'TOO_MANY_ITEMS', part: 0 });
  });

  it('makes results of parts again that are damaged or gone', async ({ start }) => {
    const service = await start({ threads: 1, onDisk: true, logger: log.logger });
    const id = await open(service);
    for (let i = 0; i < 3; i++) await upload(id, triples.slice(0, 2 + i), service);
    await done(id, 3, service);
    const folder = join(service.directory, 'files/parts', String(id));
    const [first, second] = await readdir(folder);
    const bytes = await readFile(join(folder, first!));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(folder, first!), bytes);
    await writeFile(join(folder, second!), '');
    await close(id, service);
    const record = await service.ended(id);
    expect(record).toMatchObject({ status: 'completed', batch_size: 9 });
    const retried = log.entries.filter(({ code }) => code === 'FILE_DAMAGED');
    expect(retried).toMatchObject([{ level: 'error', taskId: id }]);
  });
});

describe('parts', () => {
  it('are merged in a heap that has no room for their series', async () => {
    const items = makeItems(100);
    const aggregate = aggregateSync(items);
    const part = makeResultFile({ processId: 1, aggregate, items, timings: {} });
    const worker = openWorker(40);
    const work = { kind: 'merge', processId: 1, parts: 400, threads: 1 };
    const onNews = (news: unknown) => {
      if (!('wants' in (news as News))) return;
      const result = encodeResultFile(part).buffer;
      void worker.call({ work: { kind: 'part', result }, transfer: [result] });
    };
    const made = (await worker.call({ work }, { onNews })) as Made;
    expect(made.aggregateBytes).toBeGreaterThan(400 * aggregate.length);
    expect(made.file.byteLength).toBeGreaterThan(50e6);
    await worker.close();
  });

  itIdle('are announced once per Idempotency-Key, in order', async () => {
    const id = await open(idle);
    const put = async (key?: string) => (await announce(id, undefined, key, idle)).json.part;
    expect([await put('a'), await put('a'), await put('b'), await put()]).toEqual([0, 0, 1, 2]);
    const { json } = await announce(id, undefined, 'a', idle);
    expect(json.status).toBe('created');
    await idle.put(json.url, JSON.stringify(triples));
    expect((await announce(id, undefined, 'a', idle)).json).toMatchObject({
      part: 0,
      status: 'waiting',
    });
  });

  itIdle('get another url, also for another file, as long as they take one', async () => {
    const id = await open(idle);
    const first = (await announce(id, undefined, undefined, idle)).json.url;
    const again = await announce(id, { part: 0 }, undefined, idle);
    expect(again).toMatchObject({ status: 201, json: { part: 0, status: 'created' } });
    expect((await idle.put(first, '[1]')).status).toBe(200);
    const { json } = await idle.put(again.json.url, '[22]');
    expect(json).toMatchObject({ part: 0, status: 'wait for falcon signature verify', bytes: 4 });
    expectProblem(await announce(id, { part: 1 }, undefined, idle), 409, 'CONFLICT');
    expectProblem(await announce(id, { bytes: 2 ** 40 }, undefined, idle), 413);
  });

  itIdle('are refused where there are none, to others, and after the close', async () => {
    const plain = (await idle.create()).process_id;
    expectProblem(await announce(plain, undefined, undefined, idle), 409, 'CONFLICT');
    const id = await open(idle);
    const path = `${AGGSIGN}/task/${id}/part`;
    expectProblem(await idle.ask('POST', path, undefined, { key: idle.bob }), 404);
    expectProblem(await idle.ask('POST', `${AGGSIGN}/task/${id}/url`), 409, 'CONFLICT');

    const empty = await close(id, idle);
    expectProblem(empty, 409, 'NOT_UPLOADED');
    expect(empty.json.errors).toBeUndefined();
    const { url } = (await announce(id, undefined, undefined, idle)).json;
    const gap = (await announce(id, undefined, undefined, idle)).json;
    await idle.put(url);
    const missing = await close(id, idle);
    expectProblem(missing, 409, 'NOT_UPLOADED');
    expect(missing.json.errors).toMatchObject([{ path: '/parts/1', code: 'missing' }]);
    await idle.put(gap.url);
    expect((await close(id, idle)).status).toBe(202);
    expectProblem(await idle.put(url), 409, 'CONFLICT');
    expectProblem(await announce(id, undefined, undefined, idle), 409, 'CONFLICT');
    expectProblem(await announce(id, { part: 0 }, undefined, idle), 409, 'CONFLICT');
  });

  itIdle('have no address of their own, and go with their task', async () => {
    const id = await open(idle);
    const { url } = (await announce(id, undefined, undefined, idle)).json;
    const part = Number(new URL(url).pathname.split('/').at(-1));
    for (const method of ['GET', 'DELETE']) {
      expectProblem(await idle.ask(method, `/v1/svc/tasks/${part}`), 404);
    }
    expectProblem(await announce(part, undefined, undefined, idle), 404);
    await idle.put(url);
    expect((await idle.ask('DELETE', `/v1/svc/tasks/${id}`)).json.status).toBe('cancelled');
    expectProblem(await idle.put(url), 409, 'CONFLICT');
    expect((await idle.ask('DELETE', `/v1/svc/tasks/${id}`)).status).toBe(204);
  });
});
