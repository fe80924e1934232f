/**
 * Random requests to every endpoint, made from the OpenAPI document: parameters, headers and bodies
 * that fit its schemas, and such as were damaged on the way; over real sockets, in one piece, in
 * chunks, drop by drop, cut off. Whatever comes, the answer is one that the document has for the
 * operation, never a 500, and the service lives on.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bytesOf, fitting, nasty } from '../support/contract/arbitrary.ts';
import type { Contract, Seen } from '../support/contract/contract.ts';
import { contractAt, contractFetch, noteAnswer } from '../support/contract/watch.ts';
import { fact } from '../support/facts.ts';
import { NIGHTLY } from '../support/run.ts';
import type { Told } from './fixtures/fuzzService.ts';
import { type RawRequest, sendRaw } from './rawHttp.ts';
import { toAnswer } from './support.ts';
import { makeTriples } from './triples.ts';

const REQUESTS = NIGHTLY ? 20_000 : 1000;
/** At once, on as many connections. */
const BATCH = 10;
/** More than this above what a warm service takes is not bounded by anything. */
const MAX_GROWTH_MIB = 300;
/** Nor may the heap keep more than this, whatever was sent. */
const MAX_KEPT_MIB = 24;

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document
type Json = any;

let folder: string;
let child: ChildProcess;
let port: number;
let key: string;
let contract: Contract;
/** Parts of real requests: ids of tasks, queries of signed urls, a cursor. */
const real: Record<string, string[]> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'falconry-fuzz-'));
  child = fork(new URL('./fixtures/fuzzService.ts', import.meta.url), [folder], {
    execArgv: ['--expose-gc'],
  });
  const [told] = (await once(child, 'message')) as [Extract<Told, { port: number }>];
  ({ port, key } = told);
  contract = await contractAt(`http://127.0.0.1:${port}`);
  await prepare();
});
afterAll(async () => {
  child.send('stop');
  await once(child, 'exit');
  await rm(folder, { recursive: true, force: true });
});

const ask = async (method: string, path: string, body?: unknown, authorization = key) => {
  const url = path.startsWith('http') ? path : `http://127.0.0.1:${port}${path}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return toAnswer(await contractFetch(url, init));
};

/** Tasks in several states, so that fitting requests come to something. */
async function prepare(): Promise<void> {
  const remember = (name: string, value: string) => (real[name] ??= []).push(value);
  const noteUrl = (url: string) => {
    const { searchParams, pathname } = new URL(url);
    remember('expires', searchParams.get('expires')!);
    remember('signature', searchParams.get('signature')!);
    remember(pathname.includes('uploads') ? 'upload' : 'download', pathname + new URL(url).search);
  };
  for (let i = 0; i < 12; i++) {
    const { process_id, url } = (await ask('POST', '/v1/svc/aggsign/task')).json;
    remember('id', String(process_id));
    noteUrl(url);
    if (i % 3 > 0) await ask('PUT', url, makeTriples(1));
    if (i % 3 > 1) await ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
  }
  const { process_id } = (await ask('POST', '/v1/svc/aggsign', { data: makeTriples(2) })).json;
  let record: Json;
  do record = (await ask('GET', `/v1/svc/tasks/${process_id}`)).json;
  while (record.result_path === undefined);
  remember('id', String(process_id));
  noteUrl(record.result_path);
  remember('cursor', (await ask('GET', '/v1/svc/tasks?limit=1')).json.next);
}

interface Sent {
  readonly id: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  readonly transport: Transport;
}

type Transport =
  | 'plain'
  | 'chunked'
  | 'slow'
  | 'short'
  | 'cut'
  | 'long'
  | 'badChunk'
  | 'twoLengths';

/** Paths with queries that fit the operation, or nearly. */
function urlsFor(path: string, operation: Json): fc.Arbitrary<string> {
  const { document } = contract;
  const parameters: Json[] = operation.parameters ?? [];
  const parameterValue = ({ name, schema }: Json): fc.Arbitrary<string> => {
    const known = real[name === 'process_id' ? 'id' : name] ?? [];
    return fc.oneof(
      ...(known.length > 0 ? [{ weight: 6, arbitrary: fc.constantFrom(...known) }] : []),
      { weight: 4, arbitrary: fitting(document, schema).map(String) },
      { weight: 2, arbitrary: nasty },
    );
  };
  const inPath = parameters.filter((each) => each.in === 'path');
  const target = fc
    .tuple(...inPath.map(parameterValue))
    .map((values) =>
      inPath.reduce(
        (url: string, { name }, i) =>
          url.replace(`{${name}}`, () => encodeURIComponent(clean(values[i]!))),
        path,
      ),
    );
  const inQuery = parameters.filter((each) => each.in === 'query');
  const pairs = inQuery.map((each) =>
    fc.option(
      parameterValue(each).map((value) => `${each.name}=${encodeURIComponent(clean(value))}`),
      { nil: '', freq: each.required ? 20 : 2 },
    ),
  );
  const strange = fc.constantFrom(
    '',
    '',
    '',
    'x=1',
    'limit=1',
    'limit=1&limit=2',
    '%',
    '&&=&',
    'a[]=%ff',
  );
  const query = fc
    .tuple(strange, ...pairs)
    .map((parts) => parts.filter((part) => part !== '').join('&'))
    .map((text) => (text === '' ? '' : `?${text}`));
  return fc.oneof(
    { weight: 9, arbitrary: fc.tuple(target, query).map(([where, more]) => where + more) },
    {
      weight: operation.operationId === 'uploadTaskFile' ? 20 : 3,
      arbitrary: fc.constantFrom(
        ...((operation.operationId === 'uploadTaskFile' && real.upload) ||
          (operation.operationId === 'downloadResult' && real.download) || [
            path.replace(/\{\w+\}/g, '1'),
          ]),
      ),
    },
  );
}

/** Everything about one operation that can be sent. */
function requestsFor(path: string, method: string, operation: Json): fc.Arbitrary<Sent> {
  const schema = operation.requestBody?.content['application/json'].schema;
  const body = schema
    ? bytesOf(fitting(contract.document, schema))
    : fc.oneof(fc.constant(null), fc.constant(null), bytesOf(fc.jsonValue()));
  return fc
    .record({
      id: fc.constant(String(operation.operationId)),
      method: fc.oneof(
        { weight: 12, arbitrary: fc.constant(method.toUpperCase()) },
        fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'),
      ),
      target: urlsFor(path, operation),
      headers: headersFor(operation.parameters ?? []),
      body,
      transport: fc.oneof(
        { weight: 10, arbitrary: fc.constant<Transport>('plain') },
        fc.constantFrom<Transport>('chunked', 'chunked', 'slow', 'short', 'cut', 'long'),
        fc.constantFrom<Transport>('badChunk', 'twoLengths'),
      ),
    })
    .map(readable);
}

/** Says itself in one line, in case it is a counterexample. */
function readable(sent: Sent): Sent {
  const { method, target, headers, transport, body } = sent;
  const text = `${method} ${target} ${JSON.stringify(headers)} ${transport} ${body?.toString('latin1').slice(0, 200)}`;
  return { ...sent, [fc.toStringMethod]: () => text } as Sent;
}

/** A lone surrogate has no percent encoding. */
const clean = (text: string) => Buffer.from(text).toString();
const headerSafe = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?');

function headersFor(parameters: readonly Json[]): fc.Arbitrary<[string, string][]> {
  const often = (good: string, other: fc.Arbitrary<string>, weight = 12) =>
    fc.oneof({ weight, arbitrary: fc.constant(good) }, other.map(headerSafe));
  /** Left out so many times for each time that it is there. */
  const optional = (name: string, value: fc.Arbitrary<string>, left: number) =>
    fc.oneof(
      { weight: left, arbitrary: fc.constant(null) },
      value.map((text): [string, string] => [name, headerSafe(text)]),
    );
  const own = parameters
    .filter((each) => each.in === 'header')
    .map((each) =>
      optional(each.name, fc.oneof(fitting(contract.document, each.schema).map(String), nasty), 1),
    );
  const types = fc.constantFrom(
    'text/plain',
    'application/json; charset=utf-8',
    ';',
    '',
    'a/b; c=d',
  );
  return fc
    .tuple(
      often(key, nasty).map((value): [string, string] => ['Authorization', value]),
      often('application/json', types, 6).map((value): [string, string] => ['Content-Type', value]),
      optional('Content-Encoding', fc.constantFrom('gzip', 'identity', 'br'), 20),
      optional('If-None-Match', fc.constantFrom('*', '"x"', 'W/"y"', ''), 5),
      optional('X-Forwarded-Host', nasty, 10),
      ...own,
    )
    .map((all) => all.filter((each) => each !== null));
}

/** The request as it goes over the line. */
function overTheLine(sent: Sent): RawRequest {
  const { method, target, headers, transport } = sent;
  const body = sent.body ?? Buffer.alloc(0);
  const plain = sent.body !== null;
  const head = (...more: string[]) =>
    [
      `${method} ${target} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      ...more,
      '',
      '',
    ].join('\r\n');
  const length = (bytes: number) => `Content-Length: ${bytes}`;
  const isHead = method === 'HEAD' ? { head: true } : {};
  switch (transport) {
    case 'plain':
      return { parts: plain ? [head(length(body.length)), body] : [head()], ...isHead };
    case 'slow': {
      const step = Math.max(1, Math.ceil(body.length / 4));
      const drops = [0, 1, 2, 3].map((i) => body.subarray(i * step, (i + 1) * step));
      return { parts: [head(length(body.length)), ...drops], pauseMs: 5, ...isHead };
    }
    case 'short':
      return { parts: [head(length(body.length + 7)), body], ending: 'wait', ...isHead };
    case 'cut':
      return { parts: [head(length(body.length + 7)), body], ending: 'end', ...isHead };
    case 'long':
      return { parts: [head(length(Math.floor(body.length / 2))), body], ...isHead };
    case 'twoLengths':
      return { parts: [head(length(1), length(2)), body], ...isHead };
    case 'chunked':
    case 'badChunk': {
      const step = Math.max(1, Math.ceil(body.length / 3));
      const chunks: Buffer[] = [];
      for (let at = 0; at < body.length; at += step) {
        const piece = body.subarray(at, at + step);
        const size = transport === 'badChunk' ? 'zz' : piece.length.toString(16);
        chunks.push(Buffer.concat([Buffer.from(`${size}\r\n`), piece, Buffer.from('\r\n')]));
      }
      return { parts: [head('Transfer-Encoding: chunked'), ...chunks, '0\r\n\r\n'], ...isHead };
    }
  }
}

async function tell(): Promise<Extract<Told, { peakMib: number }>> {
  const answer = once(child, 'message');
  child.send('memory');
  return (await answer)[0];
}

it('every endpoint, as the document has it', { timeout: 1_200_000 }, async (context) => {
  const requests = Object.entries(contract.document.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) => requestsFor(path, method, operation)),
  );
  const statuses = new Map<number, number>();
  const reached = new Set<string>();
  let unanswered = 0;
  const one = async (sent: Sent): Promise<void> => {
    const answer = await sendRaw(port, overTheLine(sent));
    if (answer === null) {
      // Only who went away himself, or sent what is no HTTP, may be left without a word.
      expect(['cut', 'badChunk'], fc.stringify(sent)).toContain(sent.transport);
      unanswered++;
      return;
    }
    const { status, headers, text } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status < 400) reached.add(sent.id);
    expect(status, text).not.toBe(500);
    const events = headers.get('content-type') === 'text/event-stream';
    const path = pathOf(sent.target);
    const body = events ? null : text;
    const seen: Seen = { method: sent.method, path, status, headers, body, raw: true };
    expect(contract.judge(seen).faults, fc.stringify(sent)).toEqual([]);
    noteAnswer(contract, seen);
  };
  const batch = fc.array(fc.oneof(...requests), { minLength: BATCH, maxLength: BATCH });
  const warm = await tell();
  await fc.assert(
    fc.asyncProperty(batch, async (all) => {
      await Promise.all(all.map(one));
    }),
    // Tasks and keys are new in every run: a smaller example would be of another service.
    { numRuns: REQUESTS / BATCH, endOnFailure: true },
  );

  const { peakMib, heapMib } = await tell();
  expect(peakMib - warm.nowMib).toBeLessThan(MAX_GROWTH_MIB);
  expect(heapMib - warm.heapMib).toBeLessThan(MAX_KEPT_MIB);
  for (const status of [200, 201, 202, 400, 401, 403, 404, 405, 409, 415, 422]) {
    expect(statuses.has(status), `no ${status} among the answers`).toBe(true);
  }
  expect(reached.size).toBeGreaterThan(12);
  expect(child.exitCode).toBe(null);
  const signed = await ask('POST', '/v1/falcon/sign', { digest: '0x00' });
  expect(signed.status).toBe(200);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${n} × ${status}`);
  fact(
    context,
    'hostile requests',
    `${REQUESTS} made from the OpenAPI document, over sockets, to ${requests.length} operations ` +
      `(${reached.size} of them with success): ${counts.join(', ')}; ${unanswered} went away unanswered`,
  );
  fact(
    context,
    'hostile requests',
    `memory of the service: ${warm.nowMib} MiB before, ${peakMib} MiB at most; ` +
      `its heap ${warm.heapMib} MiB before, ${heapMib} MiB after`,
  );
});

/** The path as the service reads it: dots resolved, percent signs decoded where they can be. */
function pathOf(target: string): string {
  const { pathname } = new URL(target, 'http://falcon.test');
  return pathname.replaceAll(/%25/g, '%');
}
