/** Bodies compressed with gzip, at every endpoint that accepts a body. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { gunzipped } from '../../src/middleware/http/body.ts';
import { formatTaskFile, toTriple } from '../../src/wire/triple.ts';
import { fact } from '../support/facts.ts';
import { expectProblem, serviceTest } from './support.ts';
import { makeItems } from './triples.ts';

const SIGN = '/v1/falcon/sign';
const DIRECT = '/v1/svc/aggsign';
const VERIFY = '/v1/svc/aggsign/verify';
const MIB = 1024 * 1024;
const GZIP = { 'content-encoding': 'gzip' };

const { it, http } = serviceTest({ maxBodyBytes: MIB, maxSignatures: 50 });
const items = makeItems(12, 3);

const gzip = (body: string | Uint8Array) => new Uint8Array(gzipSync(body));
const json = (value: unknown) => JSON.stringify(value);

async function put(body: string | Uint8Array, headers: Record<string, string>) {
  const { url, process_id: id } = await http.create();
  return { id, answer: await http.put(url, body, headers) };
}

async function uploaded(body: string | Uint8Array, headers: Record<string, string>) {
  const { id, answer } = await put(body, headers);
  expect(answer.status, answer.text).toBe(200);
  expect((await http.ask('POST', `/v1/svc/aggsign/notify/${id}`)).status).toBe(202);
  return { id, bytes: answer.json.bytes as number };
}

describe('gzip', () => {
  it('signs, takes batches, and verifies', async () => {
    const signed = await http.ask('POST', SIGN, gzip('{"digest":"0x00"}'), { headers: GZIP });
    expect(signed.status, signed.text).toBe(200);
    const data = items.map(toTriple);
    const direct = await http.ask('POST', DIRECT, gzip(json({ data })), { headers: GZIP });
    expect(direct.status, direct.text).toBe(202);
    const record = await http.ended(direct.json.process_id);
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
    expect(await http.ended(id)).toMatchObject({ status: 'completed', batch_size: 12 });
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

  it('a bomb is a 413, and is not unpacked', async ({ task }) => {
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
    fact(
      { task },
      'packed bodies',
      `four bombs of 400 MiB: ${grown.toFixed(0)} MiB more in memory`,
    );
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

  it('counts what it unpacks to against the share of a client', async ({ start }) => {
    const narrow = await start({ maxBodyBytes: 1024, maxBufferedBytes: 2048, workers: false });
    // The signing endpoint takes more than the share.
    const body = gzip(`{"digest":"0x00"}${' '.repeat(2000)}`);
    const answer = await narrow.ask('POST', SIGN, body, { headers: GZIP });
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
