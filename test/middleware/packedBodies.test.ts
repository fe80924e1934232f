/** Smaller bodies: packed with gzip, and in CBOR, by every way on which triples come and go. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCbor, parseStrictCbor } from '../../src/middleware/http/cbor.ts';
import { gunzipped } from '../../src/middleware/http/gunzip.ts';
import { parseResultFile } from '../../src/wire/resultFile.ts';
import type { TaskItem } from '../../src/wire/triple.ts';
import { formatTaskFile, toTriple } from '../../src/wire/triple.ts';
import { fact } from '../support/facts.ts';
import { type Answer, expectProblem, startService, type TestService } from './support.ts';
import { makeItems } from './triples.ts';

const SIGN = '/v1/falcon/sign';
const DIRECT = '/v1/svc/aggsign';
const VERIFY = '/v1/svc/aggsign/verify';
const MIB = 1024 * 1024;
const GZIP = { 'content-encoding': 'gzip' };
const CBOR = { 'content-type': 'application/cbor' };

let http: TestService;
let items: TaskItem[];
beforeAll(async () => {
  http = await startService({ maxBodyBytes: MIB, maxSignatures: 50 });
  items = makeItems(12, 3);
});
afterAll(() => http.close());

const gzip = (body: string | Uint8Array) => new Uint8Array(gzipSync(body));
const map = ({ message, publicKey, signature }: TaskItem) => {
  return { digest: message, public_key: publicKey, signature };
};
const json = (value: unknown) => JSON.stringify(value);

async function put(body: string | Uint8Array, headers: Record<string, string>) {
  const { url, process_id } = (await http.ask('POST', '/v1/svc/aggsign/task')).json;
  return {
    id: process_id as number,
    answer: await http.ask('PUT', url, body, { headers, key: null }),
  };
}

async function uploaded(body: string | Uint8Array, headers: Record<string, string>) {
  const { id, answer } = await put(body, headers);
  expect(answer.status, answer.text).toBe(200);
  expect((await http.ask('POST', `/v1/svc/aggsign/notify/${id}`)).status).toBe(202);
  return { id, bytes: answer.json.bytes as number };
}

/** The record of a task at its end. */
async function ended(id: number) {
  const headers = { authorization: http.alice };
  const events = await fetch(`${http.address}/v1/svc/tasks/${id}/events`, { headers });
  await events.text();
  return (await http.ask('GET', `/v1/svc/tasks/${id}`)).json;
}

describe('gzip', () => {
  it('signs, takes batches, and verifies', async () => {
    const signed = await http.ask('POST', SIGN, gzip('{"digest":"0x00"}'), { headers: GZIP });
    expect(signed.status, signed.text).toBe(200);
    const data = items.map(toTriple);
    const direct = await http.ask('POST', DIRECT, gzip(json({ data })), { headers: GZIP });
    expect(direct.status, direct.text).toBe(202);
    const record = await ended(direct.json.process_id);
    expect(record).toMatchObject({ status: 'completed', batch_size: 12 });
    const result = (await http.ask('GET', record.result_path)).json;
    const body = gzip(json({ aggregate: result.aggregate, statements: data }));
    const verdict = await http.ask('POST', VERIFY, body, { headers: GZIP });
    expect(verdict.json).toEqual({ valid: true });
  });

  it('stores an uploaded file plain, and counts it so', async () => {
    const file = formatTaskFile(items);
    const { id, bytes } = await uploaded(gzip(file), GZIP);
    expect(bytes).toBe(file.length);
    expect(await ended(id)).toMatchObject({ status: 'completed', batch_size: 12 });
  });

  it('of a repeat is the same request as a plain one', async () => {
    const body = json({ data: items.map(toTriple) });
    const headers = { 'idempotency-key': 'packed or not' };
    const plain = await http.ask('POST', DIRECT, body, { headers });
    const packed = await http.ask('POST', DIRECT, gzip(body), { headers: { ...headers, ...GZIP } });
    expect(packed.json.process_id).toBe(plain.json.process_id);
  });

  const whole = gzip('{"digest":"0x00","data":[],"aggregate":"0x00"}');
  const spoilt: [string, Uint8Array | string][] = [
    ['plain text', '{"digest":"0x00"}'],
    ['a header alone', whole.slice(0, 10)],
    ['all but the last byte', whole.slice(0, -1)],
    ['a byte that is another', whole.with(whole.length - 12, whole.at(-12)! ^ 1)],
    ['a wrong checksum', whole.with(whole.length - 7, whole.at(-7)! ^ 1)],
    ['bytes after its end', new Uint8Array([...whole, 0x20])],
    ['zeros after its end', new Uint8Array([...whole, 0, 0, 0])],
  ];
  it.each(spoilt)('%s is a 400', async (_, body) => {
    for (const path of [SIGN, DIRECT, VERIFY]) {
      const answer = await http.ask('POST', path, body, { headers: GZIP });
      expectProblem(answer, 400, 'MALFORMED_GZIP');
    }
    expectProblem((await put(body, GZIP)).answer, 400, 'MALFORMED_GZIP');
  });

  it('nothing packed is nothing', async () => {
    expectProblem((await put(gzip(''), GZIP)).answer, 400, 'MALFORMED_JSON');
    expectProblem(await http.ask('POST', SIGN, gzip(''), { headers: GZIP }), 400, 'MALFORMED_JSON');
  });

  it('a bomb is a 413, and is not unpacked', async (context) => {
    const bomb = gzip(Buffer.alloc(400 * MIB, ' '));
    expect(bomb.length).toBeLessThan(MIB / 2);
    const before = process.memoryUsage().rss;
    let mostBytes = before;
    const look = setInterval(() => {
      mostBytes = Math.max(mostBytes, process.memoryUsage().rss);
    }, 1);
    for (const path of [SIGN, DIRECT, VERIFY]) {
      const answer = await http.ask('POST', path, bomb, { headers: GZIP });
      expectProblem(answer, 413, 'BODY_TOO_LARGE');
    }
    expectProblem((await put(bomb, GZIP)).answer, 413, 'BODY_TOO_LARGE');
    clearInterval(look);
    const grown = (mostBytes - before) / MIB;
    expect(grown).toBeLessThan(200);
    fact(context, 'packed bodies', `four bombs of 400 MiB: ${grown.toFixed(0)} MiB more in memory`);
  });

  it('throws nothing that nobody can catch when reading ends early', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on('uncaughtException', note);
    const bomb = gzip(Buffer.alloc(4 * MIB, ' '));
    async function* sent() {
      yield bomb;
    }
    for (let round = 0; round < 60; round++) {
      // It is full again after each wait: the last chunk is taken while more stands behind it.
      let wanted = 1 + (round % 7);
      for await (const chunk of gunzipped(sent())) {
        expect(chunk.length).toBeGreaterThan(0);
        if (--wanted === 0) break;
        await sleep(2);
      }
    }
    await sleep(50);
    process.off('uncaughtException', note);
    expect(uncaught).toEqual([]);
  });

  it('counts what it unpacks to against the share of a client', async () => {
    const narrow = await startService({
      maxBodyBytes: 1024,
      maxBufferedBytes: 2048,
      workers: false,
    });
    // The signing endpoint takes more than the share.
    const body = gzip(`{"digest":"0x00"}${' '.repeat(2000)}`);
    const answer = await narrow.ask('POST', SIGN, body, { headers: GZIP });
    await narrow.close();
    expectProblem(answer, 503, 'OVERLOADED');
  });

  it('is the only packing: others are a 415 that says so', async () => {
    for (const encoding of ['br', 'deflate', 'zstd', 'gzip, gzip', 'x']) {
      const headers = { 'content-encoding': encoding };
      for (const path of [SIGN, DIRECT, VERIFY]) {
        const answer = await http.ask('POST', path, '{}', { headers });
        expectProblem(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
        expect(answer.headers.get('accept-encoding')).toBe('gzip, identity');
      }
      expectProblem((await put('[]', headers)).answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
  });
});

describe('CBOR', () => {
  it('is a task file of half the size', async (context) => {
    const file = formatCbor(items.map(map));
    const { id, bytes } = await uploaded(file, CBOR);
    expect(bytes).toBe(file.length);
    expect(await ended(id)).toMatchObject({ status: 'completed', batch_size: 12 });
    const saved = 1 - file.length / formatTaskFile(items).length;
    expect(saved).toBeGreaterThan(0.48);
    fact(context, 'packed bodies', `a task file in CBOR is ${(100 * saved).toFixed(0)} % shorter`);
  });

  it('is a request for a batch; its result and verdict come in CBOR, too', async () => {
    const body = formatCbor({ data: items.map(map), note: 'of our own' });
    const direct = await http.ask('POST', DIRECT, body, { headers: CBOR });
    expect(direct.status, direct.text).toBe(202);
    const record = await ended(direct.json.process_id);
    expect(record).toMatchObject({ status: 'completed', batch_size: 12 });

    const text = (await http.ask('GET', record.result_path)).text;
    const path = `/v1/svc/tasks/${record.process_id}/result`;
    const headers = { authorization: http.alice, accept: 'application/cbor' };
    const response = await fetch(http.address + path, { headers, redirect: 'manual' });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/cbor',
    ]);
    const result = parseStrictCbor(new Uint8Array(await response.arrayBuffer())) as {
      aggregate: Uint8Array;
    };
    const file = parseResultFile(text);
    expect(result).toEqual({
      ...JSON.parse(text),
      aggregate: file.aggregate,
      statement: file.statement,
    });

    const { aggregate } = result;
    const verify = (statements: unknown) =>
      http.ask('POST', VERIFY, formatCbor({ aggregate, statements }), { headers: CBOR });
    expect((await verify(items.map(map))).json).toEqual({ valid: true });
    expect((await verify(items.slice(1).map(map))).json).toMatchObject({ valid: false });
  });

  it('of a result comes only to who asks for it', async () => {
    const { id } = await uploaded(formatCbor(items.map(map)), CBOR);
    const path = `/v1/svc/tasks/${id}/result`;
    await ended(id);
    const status = async (accept: string) =>
      (await http.ask('GET', path, undefined, { headers: { accept } })).status;
    const cases: [string, number][] = [
      ['*/*', 302],
      ['application/*', 302],
      ['application/json', 302],
      ['application/json, application/cbor;q=0.5', 302],
      ['application/cbor;q=0', 302],
      ['application/cbor;q=x', 302],
      ['application/cbor', 200],
      ['Application/CBOR, */*;q=0.1', 200],
      ['application/json;q=0.5, application/cbor;q=0.9', 200],
    ];
    for (const [accept, expected] of cases)
      expect([accept, await status(accept)]).toEqual([accept, expected]);
  });

  it('and gzip go together', async () => {
    const { id } = await uploaded(gzip(formatCbor(items.map(map))), { ...CBOR, ...GZIP });
    expect(await ended(id)).toMatchObject({ status: 'completed', batch_size: 12 });
  });

  it('a file is read as what it is, whatever its sender says', async () => {
    const { id } = await uploaded(formatCbor(items.map(map)), {
      'content-type': 'application/json',
    });
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    const other = await uploaded(formatTaskFile(items), CBOR);
    expect(await ended(other.id)).toMatchObject({ status: 'completed' });
  });

  const good = () => map(items[0]!);
  const faulty: [string, (item: ReturnType<typeof good>) => unknown, string, string][] = [
    ['a missing digest', ({ digest: _, ...rest }) => rest, 'digest', 'missing'],
    ['hex as a text', (item) => ({ ...item, signature: '0x39' }), 'signature', 'type'],
    ['an array of numbers', (item) => ({ ...item, digest: [1, 2] }), 'digest', 'type'],
    ['null', (item) => ({ ...item, public_key: null }), 'public_key', 'type'],
    ['a long digest', (item) => ({ ...item, digest: new Uint8Array(4097) }), 'digest', 'tooLong'],
    [
      'a long signature',
      (item) => ({ ...item, signature: new Uint8Array(2049) }),
      'signature',
      'tooLong',
    ],
  ];
  it.each(faulty)(
    '%s is named in a 422, and in the failure of a task',
    async (_, spoil, field, code) => {
      const list = [good(), spoil(good()), good()];
      const direct = await http.ask('POST', DIRECT, formatCbor({ data: list }), { headers: CBOR });
      expectProblem(direct, 422, 'INVALID_BODY');
      expect(direct.json.errors).toEqual([
        expect.objectContaining({ path: `/data/1/${field}`, code }),
      ]);
      const { id } = await uploaded(formatCbor(list), CBOR);
      const { status, error } = await ended(id);
      expect(status).toBe('failed');
      expect(error).toMatchObject({ code: 'BAD_TASK_FILE', invalid: [{ index: 1 }] });
      expect(error.errors).toEqual([expect.objectContaining({ path: `/1/${field}`, code })]);
    },
  );

  const shapes: [string, unknown, string][] = [
    ['an array', [{}], 'INVALID_BODY'],
    ['a byte string', new Uint8Array(5), 'INVALID_BODY'],
    ['a number', 7, 'INVALID_BODY'],
    ['null', null, 'INVALID_BODY'],
    ['no data', {}, 'INVALID_BODY'],
    ['data that is a byte string', { data: new Uint8Array(5) }, 'INVALID_BODY'],
    ['no triples', { data: [] }, 'INVALID_BODY'],
    ['triples that are byte strings', { data: [new Uint8Array(5)] }, 'INVALID_BODY'],
    ['too many triples', { data: Array(51).fill({}) }, 'TOO_MANY_ITEMS'],
    ['a hundred thousand zeros', { data: Array(100_000).fill(0) }, 'TOO_MANY_ITEMS'],
  ];
  it.each(shapes)('%s is a 422', async (_, value, code) => {
    const answer = await http.ask('POST', DIRECT, formatCbor(value), { headers: CBOR });
    expectProblem(answer, 422, code);
  });

  it.each([
    ['bytes that are none', Uint8Array.of(0x1c)],
    ['JSON', '{"data":[]}'],
    ['half a map', formatCbor({ data: [] }).slice(0, -1)],
    ['two of them', new Uint8Array([...formatCbor({ data: [] }), 0])],
  ])('%s is a 400', async (_, body) => {
    for (const path of [DIRECT, VERIFY]) {
      expectProblem(await http.ask('POST', path, body, { headers: CBOR }), 400, 'MALFORMED_CBOR');
    }
  });

  it('of a task that is none fails the task', async () => {
    const { id } = await uploaded(formatCbor(items.map(map)).slice(0, -1), CBOR);
    const { status, error } = await ended(id);
    expect([status, error.code]).toEqual(['failed', 'MALFORMED_CBOR']);
    expect(error.detail).toContain('task file');
    const many = await uploaded(formatCbor(Array(51).fill(good())), CBOR);
    expect((await ended(many.id)).error.code).toBe('TOO_MANY_ITEMS');
    expectProblem((await put(new Uint8Array(0), CBOR)).answer, 400, 'MALFORMED_CBOR');
  });

  it('an aggregate of CBOR is a byte string', async () => {
    const statements = [good()];
    const ask = (aggregate: unknown): Promise<Answer> =>
      http.ask('POST', VERIFY, formatCbor({ aggregate, statements }), { headers: CBOR });
    expect((await ask(new Uint8Array(100))).json).toEqual({ valid: false });
    for (const wrong of ['0x00', null, 5, []]) {
      const answer = await ask(wrong);
      expectProblem(answer, 422, 'INVALID_BODY');
      expect(answer.json.errors).toEqual([
        expect.objectContaining({ path: '/aggregate', code: 'type' }),
      ]);
    }
  });

  it('is not for the signing endpoint', async () => {
    const body = formatCbor({ digest: '0x00' });
    const answer = await http.ask('POST', SIGN, body, { headers: CBOR });
    expectProblem(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
    expect(answer.headers.get('accept')).toBe('application/json');
    const other = await http.ask('POST', DIRECT, body, {
      headers: { 'content-type': 'text/cbor' },
    });
    expect(other.headers.get('accept')).toBe('application/json, application/cbor');
  });
});
