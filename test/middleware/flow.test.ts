import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { memoryStore } from '../../src/middleware/index.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { type Triple, toTriple } from '../../src/wire/triple.ts';
import { type Answer, expectProblem, serviceTest } from './support.ts';
import { bytesOf, makeMixedTriples, makeTriples, spoil, statementsOf } from './triples.ts';

const AGGSIGN = '/v1/svc/aggsign';
const NANOSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

const { it, http } = serviceTest({ onDisk: true });

/** Follows the events of a task to its end; every record in order. */
async function follow(id: number): Promise<{ status: string; progress: unknown }[]> {
  const response = await fetch(`${http.address}/v1/svc/tasks/${id}/events`, {
    headers: { authorization: http.alice },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = (await response.text())
    .split('\n\n')
    .filter((event) => event.startsWith('event: progress'));
  return events.map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)));
}

async function upload(triples: unknown): Promise<number> {
  const { process_id, url } = (await http.ask('POST', `${AGGSIGN}/task`)).json;
  expect((await http.ask('PUT', url, triples, { key: null })).status).toBe(200);
  expect((await http.ask('POST', `${AGGSIGN}/notify/${process_id}`)).status).toBe(202);
  return process_id;
}

/** A task by a direct request, at its end. @returns its id */
async function submit(data: unknown, status: 'completed' | 'failed'): Promise<number> {
  const answer = await http.ask('POST', AGGSIGN, { data });
  expect(answer.status).toBe(202);
  const id = answer.json.process_id;
  expect((await follow(id)).at(-1)!.status).toBe(status);
  return id;
}

async function fetchResult(id: number): Promise<Answer> {
  const { result_path } = await http.record(id);
  return http.ask('GET', result_path, undefined, { key: null });
}

describe('from signatures to a result', () => {
  it('three steps end in a result file that the library accepts', async () => {
    const triples = makeTriples(40, 4);
    const id = await upload(triples);
    const records = await follow(id);
    expect(records.at(-1)!.status).toBe('completed');
    const done = await http.record(id);
    expect(done).toMatchObject({ batch_size: 40, format: 'bundle', status: 'completed' });
    expect(done.progress).toEqual({ phase: 'store', done: 40, total: 40 });
    expect(done.finished_at).toMatch(NANOSECONDS);
    const path = new URL(done.result_path).pathname;
    expect(path.endsWith(`/${id}.json`)).toBe(true);

    const result = await fetchResult(id);
    expect(result.status).toBe(200);
    expect(result.headers.get('content-type')).toBe('application/json');
    expect(Number(result.headers.get('content-length'))).toBe(done.result_bytes);
    expect(result.json).toMatchObject({ process_id: id, count: 40, format: 'bundle' });
    const aggregate = bytesOf(result.json.aggregate);
    const statements = statementsOf(triples);
    expect(verifyAggregate(aggregate, statements)).toBe(true);
    expect(verifyAggregate(aggregate, [...statements].reverse())).toBe(false);

    const { aggregate: hex } = result.json;
    const verdict = async (aggregate: string, statements: readonly Triple[]) =>
      (await http.ask('POST', `${AGGSIGN}/verify`, { aggregate, statements })).json;
    expect(await verdict(hex, triples)).toEqual({ valid: true });
    expect(await verdict(hex, triples.slice(1))).toEqual({ valid: false });
    // the version of the format is byte 5
    expect(await verdict(`${hex.slice(0, 12)}01${hex.slice(14)}`, triples)).toEqual({
      valid: false,
      reason: 'The aggregate has another version of its format than 2 (bundles) or 3 (proofs)',
    });
    const redirect = await http.ask('GET', `/v1/svc/tasks/${id}/result`);
    expect(redirect.status).toBe(302);
    expect((await http.ask('GET', redirect.headers.get('location')!)).text).toBe(result.text);
  });

  it('shows it in the list: completed, finished_at and result_path', async () => {
    const id = await upload(makeTriples(2));
    await follow(id);
    const { json } = await http.ask('GET', '/v1/svc/tasks?status=completed&order=desc&limit=1');
    const { meta } = json.tasks[0];
    expect(json.tasks[0]).toMatchObject({ id, status: 'completed' });
    expect(Object.keys(meta).sort()).toEqual([
      'count',
      'created_at',
      'finished_at',
      'result_expires_at',
      'result_path',
      'submitted_at',
    ]);
    expect(meta.count).toBe(2);
    for (const name of ['created_at', 'submitted_at', 'finished_at']) {
      expect(meta[name]).toMatch(NANOSECONDS);
    }
    expect(meta.submitted_at > meta.created_at).toBe(true);
    expect(meta.finished_at > meta.submitted_at).toBe(true);
    expect(new URL(meta.result_path).pathname.endsWith(`/${id}.json`)).toBe(true);
    const fetched = await http.ask('GET', meta.result_path, undefined, { key: null });
    expect(fetched.status).toBe(200);
    expect(fetched.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('a direct request does the same, with both parameter sets, in the caller’s order', async () => {
    const triples = makeMixedTriples(6);
    const data = [...triples, triples[0]!];
    const result = await fetchResult(await submit(data, 'completed'));
    const statements = statementsOf(data);
    expect(verifyAggregate(bytesOf(result.json.aggregate), statements)).toBe(true);
  });

  it('takes what the signing endpoint signs', async () => {
    const data = [];
    for (const digest of ['0x', '0xAB', '0x00ff']) {
      data.push((await http.ask('POST', '/v1/falcon/sign', { digest })).json);
    }
    await submit(data, 'completed');
  });

  it('takes every form of a signature that the library accepts', async () => {
    const { publicKey, secretKey } = falcon512.keygen();
    const message = new TextEncoder().encode('in three forms');
    const forms = ['compressed', 'padded', 'constantTime'] as const;
    const data = forms.map((format) =>
      toTriple({ publicKey, message, signature: falcon512.sign(message, secretKey, { format }) }),
    );
    expect(data.map(({ signature }) => signature.slice(0, 4))).toEqual(['0x39', '0x39', '0x59']);
    await submit(data, 'completed');
    const late = { ...data[1]!, signature: `${data[1]!.signature.slice(0, -2)}01` };
    const { error } = await http.record(await submit([data[0], late], 'failed'));
    expect(error.invalid).toEqual([{ index: 1, reason: expect.any(String) }]);
  });

  it('fails with every invalid item, and its reason', async () => {
    const triples = makeTriples(30, 2);
    for (const index of [3, 17, 29]) triples[index] = spoil(triples[index]!);
    triples[8] = { ...triples[8]!, public_key: '0x09' };
    const id = await upload(triples);
    expect((await follow(id)).at(-1)!.status).toBe('failed');
    const { error, result_path, finished_at } = await http.record(id);
    expect(result_path).toBeUndefined();
    expect(finished_at).toMatch(NANOSECONDS);
    expect(error).toMatchObject({ code: 'INVALID_SIGNATURES', status: 422 });
    expect(error.invalid.map(({ index }: { index: number }) => index)).toEqual([3, 8, 17, 29]);
    for (const { reason } of error.invalid) expect(reason).toMatch(/^[a-zA-Z]+$/);
    expectProblem(await http.ask('GET', `/v1/svc/tasks/${id}/result`), 409, 'CONFLICT');
    const { json } = await http.ask('GET', '/v1/svc/tasks?status=failed');
    expect(json.tasks.map((task: { id: number }) => task.id)).toContain(id);
  });

  const unreadable: [string, string, string][] = [
    ['that is not JSON', '[{"digest":', 'MALFORMED_JSON'],
    ['that is an object', '{}', 'BAD_TASK_FILE'],
    ['that is empty', '[]', 'BAD_TASK_FILE'],
    ['of 1723 triples', JSON.stringify(Array(1723).fill({})), 'TOO_MANY_ITEMS'],
    ['of a million zeros', `[${'0,'.repeat(1_000_000)}0]`, 'TOO_MANY_ITEMS'],
    ['of depth 100,000', '['.repeat(100_000), 'MALFORMED_JSON'],
    ['with bad hex', '[{"digest":"0xzz","public_key":"0x","signature":"ab"}]', 'BAD_TASK_FILE'],
  ];
  it.each(unreadable)('a task file %s fails, and says so', async (_, file, code) => {
    const id = await upload(file);
    expect((await follow(id)).at(-1)!.status).toBe('failed');
    const { error } = await http.record(id);
    expect(error.code).toBe(code);
    expect(error.detail).toBeTypeOf('string');
    expect(JSON.stringify(error)).not.toMatch(/\/tmp\/|node_modules/);
  });

  it('HEAD tells of a result and of events without opening either', async () => {
    const id = await submit(makeTriples(1), 'completed');
    const { result_path, result_bytes } = await http.record(id);
    const result = await http.ask('HEAD', result_path, undefined, { key: null });
    expect(result.status).toBe(200);
    expect(Number(result.headers.get('content-length'))).toBe(result_bytes);
    expect(result.text).toBe('');
    const events = await http.ask('HEAD', `/v1/svc/tasks/${id}/events`);
    expect(events.headers.get('content-type')).toBe('text/event-stream');
  });

  it('events pass compression and proxies, and an EventSource stops after the last', async () => {
    const id = await submit(makeTriples(1), 'completed');
    const path = `/v1/svc/tasks/${id}/events`;
    const events = (lastEventId: string) =>
      http.ask('GET', path, undefined, { headers: { 'last-event-id': lastEventId } });
    const { headers, text } = await http.ask('GET', path);
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    const last = /^id: (\S+)$/m.exec(text.slice(text.lastIndexOf('event: ')))![1]!;
    const again = await events(last);
    expect([again.status, again.text]).toEqual([204, '']);
    for (const other of ['', last.replace('completed', 'waiting'), `${last}0`]) {
      expect((await events(other)).text).toContain(`id: ${last}\n`);
    }
    const foreign = await http.ask('GET', path, undefined, {
      ...{ key: http.bob, headers: { 'last-event-id': last } },
    });
    expectProblem(foreign, 404, 'NOT_FOUND');
    // The id of an event of a task that goes on ends nothing.
    const { process_id } = await http.create();
    const reader = await http.watch(process_id, {
      ...{ authorization: http.alice, 'last-event-id': 'created-1' },
    });
    await reader.cancel();
  });

  it('events of one client are limited, and free again when the reader has gone', async ({
    start,
  }) => {
    const few = await start({ workers: false, limits: { eventStreams: 2 } });
    const { process_id } = (await few.ask('POST', `${AGGSIGN}/task`)).json;
    const path = `/v1/svc/tasks/${process_id}/events`;
    const open = async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const response = await fetch(few.address + path, {
        headers: { authorization: few.alice },
        signal,
      });
      return { status: response.status, leave: () => controller.abort() };
    };
    const first = await open();
    const second = await open();
    expect([first.status, second.status]).toEqual([200, 200]);
    expectProblem(await few.ask('GET', path), 429, 'TOO_MANY_STREAMS');
    first.leave();
    let third = await open();
    while (third.status === 429) third = await open();
    expect(third.status).toBe(200);
    // The end of the task ends its streams.
    await few.ask('DELETE', `/v1/svc/tasks/${process_id}`);
    let after = await few.ask('GET', path);
    while (after.status === 429) after = await few.ask('GET', path);
    expect(after.text).toContain('"status":"cancelled"');
  });

  it('hooks of the host that throw or reject stop nothing', async ({ start }) => {
    const lines: string[] = [];
    let told = 0;
    const log = (message: string) => {
      lines.push(message);
      throw new Error('the host’s logger');
    };
    const shaky = await start({
      onEvent() {
        if (told++ % 2) throw new Error('the host’s fault');
        return Promise.reject(new Error('the host’s fault, later')) as never;
      },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    const { json } = await shaky.ask('POST', AGGSIGN, { data: makeTriples(1) });
    expect(await shaky.ended(json.process_id)).toMatchObject({ status: 'completed' });
    expect(lines).toContain('onEvent failed');
    expect(told).toBeGreaterThan(3);
  });

  it('completes a task that was stored, though the store could not say so', async ({ start }) => {
    const memory = memoryStore();
    let cuts = 1;
    const store: typeof memory = {
      ...memory,
      tasks: {
        ...memory.tasks,
        async put(task, options) {
          const outcome = await memory.tasks.put(task, options);
          // The line is cut between the commit and its confirmation.
          if (cuts-- > 0) throw new CodedError('STORE_UNAVAILABLE');
          return outcome;
        },
      },
    };
    const cut = await start({ store });
    const data = makeTriples(1);
    const headers = { 'idempotency-key': 'k' };
    const ask = () => cut.ask('POST', AGGSIGN, { data }, { headers });
    expectProblem(await ask(), 503, 'STORE_UNAVAILABLE');
    const { json } = await ask();
    const { tasks } = (await cut.ask('GET', '/v1/svc/tasks')).json;
    expect(tasks.map(({ id }: { id: number }) => id)).toEqual([json.process_id]);
    expect(await cut.ended(json.process_id)).toMatchObject({ status: 'completed' });
  });

  it('a result goes away with its task', async () => {
    const id = await submit(makeTriples(1), 'completed');
    const { result_path } = await http.record(id);
    expect((await http.ask('DELETE', `/v1/svc/tasks/${id}`)).status).toBe(204);
    const gone = await http.ask('GET', result_path, undefined, { key: null });
    expectProblem(gone, 404, 'NOT_FOUND');
    const files = await readdir(join(http.directory, 'files'), { recursive: true });
    expect(files.filter((file) => file.endsWith(`${id}.json`))).toEqual([]);
  });

  it('a result url is good for this result only, and not for ever', async ({ start }) => {
    const id = await submit(makeTriples(1), 'completed');
    const url = new URL((await http.record(id)).result_path);
    for (const [name, value] of url.searchParams) {
      const forged = new URL(url);
      forged.searchParams.set(name, (value.startsWith('1') ? '2' : '1') + value.slice(1));
      expectProblem(await http.ask('GET', forged.href), 403, 'FORBIDDEN_URL');
    }
    const other = new URL(url);
    other.pathname = other.pathname.replace(/results\/\d+/, 'results/2');
    expectProblem(await http.ask('GET', other.href), 403, 'FORBIDDEN_URL');
    const short = await start({ resultUrlTtlMs: 1, workers: true });
    const { json } = await short.ask('POST', AGGSIGN, { data: makeTriples(1) });
    const { result_path } = await short.ended(json.process_id);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const late = await short.ask('GET', result_path);
    expectProblem(late, 403, 'FORBIDDEN_URL');
  });
});
