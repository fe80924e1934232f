/**
 * What a hostile user would send, over real HTTP, to every endpoint: each time a problem document
 * with the right status, and the service alive afterwards.
 */
import { describe, expect } from 'vitest';
import { openHttpServer } from '../../src/cli/operate/httpServer.ts';
import type { Triple } from '../../src/wire/triple.ts';
import { contractAt, noteAnswer } from '../support/contract/watch.ts';
import { fact } from '../support/facts.ts';
import { type RawRequest, requestHead, sendRaw } from './rawHttp.ts';
import { expectProblem, serviceTest, spaces, type TestService } from './support.ts';
import { makeTriples } from './triples.ts';

const SIGN = '/v1/falcon/sign';
const DIRECT = '/v1/svc/aggsign';
const VERIFY = '/v1/svc/aggsign/verify';
const CREATE = '/v1/svc/aggsign/task';
const MIB = 1024 * 1024;

const { it, http } = serviceTest({ workers: false });
/** Its patience is short, so that the tests of it are. */
const { it: onWire, http: wire } = serviceTest({ workers: false, bodyIdleTimeoutMs: 300 });
const [triple] = makeTriples(1) as [Triple];
let answered = 0;

/** After every single test: an ordinary request is answered in an ordinary way. */
const alive = async (service: TestService) => {
  expect((await service.ask('GET', '/v1/svc/tasks?limit=1')).status).toBe(200);
  answered++;
};
it.afterEach(({ http }) => alive(http));

const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

type Case = [what: string, path: string, body: unknown, status: number, code: string];

describe('bodies', () => {
  const notJson: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['a space', ' '],
    ['half an object', '{"digest":"0x00"'],
    ['half a string', '{"digest":"0x0'],
    ['a single quote', "{'digest':'0x00'}"],
    ['a trailing comma', '{"digest":"0x00",}'],
    ['a comment', '{"digest":"0x00"}//'],
    ['two values', '{"digest":"0x00"}{}'],
    ['NaN', '{"digest":NaN}'],
    ['a bare word', 'hello'],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)],
    ['UTF-16', new Uint8Array(Buffer.from('{"digest":"0x00"}', 'utf16le'))],
    ['half a character', Uint8Array.of(0x22, 0xe2, 0x82, 0x22)],
    ['two byte order marks', '\ufeff\ufeff{"digest":"0x00"}'],
    ['a zero byte', '{"digest":"0x00"}\0'],
    ['a control character in a string', '{"digest":"0x0\n0"}'],
    ['the same name twice', '{"digest":"0x00","digest":"0x01","data":[],"aggregate":"0x"}'],
    ['a form', 'digest=0x00'],
    ['XML', '<digest>0x00</digest>'],
    ['depth 10,000', nested(10_000)],
    ['depth 5,000, never closed', '{"data":'.repeat(5_000)],
  ];
  const wrongShape: [string, unknown][] = [
    ['null', null],
    ['an array', []],
    ['a number', 7],
    ['a string', 'digest'],
    ['true', true],
    ['an empty object', {}],
  ];
  const cases: Case[] = [];
  for (const path of [SIGN, DIRECT, VERIFY]) {
    for (const [what, body] of notJson) cases.push([what, path, body, 400, 'MALFORMED_JSON']);
    for (const [what, body] of wrongShape) {
      cases.push([what, path, JSON.stringify(body), 422, 'INVALID_BODY']);
    }
  }
  it.each(cases)('%s → %s', async (_, path, body, status, code) => {
    const answer = await http.ask('POST', path, body);
    expectProblem(answer, status, code);
    if (status === 422) expect(answer.json.errors.length).toBeGreaterThan(0);
  });

  const values: [string, unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['a number', 5],
    ['an array', ['0x00']],
    ['an object', { hex: '0x00' }],
    ['empty', ''],
    ['without 0x', 'abcd'],
    ['with 0X', '0Xabcd'],
    ['of odd length', '0xabc'],
    ['not hex', '0xzz'],
    ['with a space', '0xab cd'],
    ['with a space around', ' 0xab '],
    ['of full-width digits', '0x１２'],
    ['with a line end', '0xab\n'],
    ['with a sign', '0x-1'],
  ];
  it.each(values)('a digest %s is a 422 at the signing endpoint', async (_, digest) => {
    const answer = await http.ask('POST', SIGN, { digest });
    expectProblem(answer, 422, 'INVALID_BODY');
    expect(answer.json.errors).toEqual([expect.objectContaining({ path: '/digest' })]);
  });

  const fields = ['digest', 'public_key', 'signature'] as const;
  it.each(fields.flatMap((field) => values.map(([what, value]) => [field, what, value] as const)))(
    'the %s of one triple %s is named in a 422',
    async (field, _, value) => {
      const data = [triple, { ...triple, [field]: value }, triple];
      const answer = await http.ask('POST', DIRECT, { data });
      expectProblem(answer, 422, 'INVALID_BODY');
      expect(answer.json.errors[0].path).toBe(`/data/1/${field}`);
      expect(answer.json.errors_total).toBe(1);
    },
  );

  const badTriples: [string, unknown, string][] = [
    ['a digest of 4097 bytes', { digest: hex(4097) }, '/data/0/digest'],
    ['a key that is cut off', { public_key: hex(896) }, '/data/0/public_key'],
    ['a key of another kind', { public_key: hex(897) }, '/data/0/public_key'],
    ['no key bytes at all', { public_key: '0x' }, '/data/0/public_key'],
    ['a key of a megabyte', { public_key: hex(MIB) }, '/data/0/public_key'],
    ['a signature of a megabyte', { signature: hex(MIB) }, '/data/0/signature'],
  ];
  it.each(badTriples)('%s is a 422', async (_, change, path) => {
    const answer = await http.ask('POST', DIRECT, { data: [{ ...triple, ...(change as object) }] });
    expectProblem(answer, 422, 'INVALID_BODY');
    expect(answer.json.errors).toEqual([expect.objectContaining({ path })]);
  });

  const badData: [string, unknown, string][] = [
    ['no data', undefined, 'INVALID_BODY'],
    ['data that is an object', { 0: {} }, 'INVALID_BODY'],
    ['data that is a string', '[]', 'INVALID_BODY'],
    ['no triples', [], 'INVALID_BODY'],
    ['triples that are arrays', [['0x00', '0x00', '0x00']], 'INVALID_BODY'],
    ['triples that are null', [null, null], 'INVALID_BODY'],
    ['1723 empty objects', Array(1723).fill({}), 'TOO_MANY_ITEMS'],
    ['a million zeros', Array(1_000_000).fill(0), 'TOO_MANY_ITEMS'],
  ];
  it.each(badData)('%s is a 422', async (_, data, code) => {
    expectProblem(await http.ask('POST', DIRECT, { data }), 422, code);
  });

  it('32 MiB of empty objects are a 422, and do not become objects', async () => {
    const body = `{"data":[${'{},'.repeat(11_000_000)}{}]}`;
    const answer = await http.ask('POST', DIRECT, body);
    expectProblem(answer, 422, 'TOO_MANY_ITEMS');
  });

  it('a polluted prototype is only an unknown member', async () => {
    const body = `{"digest":"0x00","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`;
    expect((await http.ask('POST', SIGN, body)).status).toBe(200);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const inherited = await http.ask('POST', SIGN, `{"__proto__":{"digest":"0x00"}}`);
    expectProblem(inherited, 422);
  });

  const statements = () => [{ digest: triple.digest, public_key: triple.public_key }];
  it('garbage that is hex is simply not a valid aggregate', async () => {
    for (const aggregate of ['0x', '0x00', hex(100), hex(700_000)]) {
      const answer = await http.ask('POST', VERIFY, { aggregate, statements: statements() });
      expect([answer.status, answer.json]).toEqual([200, { valid: false }]);
    }
  });
  it.each(values)('an aggregate %s is a 422', async (_, aggregate) => {
    const answer = await http.ask('POST', VERIFY, { aggregate, statements: statements() });
    expectProblem(answer, 422, 'INVALID_BODY');
    expect(answer.json.errors[0].path).toBe('/aggregate');
  });
  const badStatements = badData.map(([name, data, code]): (typeof badData)[number] =>
    name.startsWith('1723')
      ? ['32769 empty objects', Array(32_769).fill({}), code]
      : [name, data, code],
  );
  it.each(badStatements)('statements: %s is a 422', async (_, data, code) => {
    const answer = await http.ask('POST', VERIFY, { aggregate: '0x00', statements: data });
    expectProblem(answer, 422, code);
  });
});

describe('types, methods, paths', () => {
  it.each([SIGN, DIRECT, VERIFY])('%s takes JSON only', async (path) => {
    const types = [
      '',
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'json',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-16',
      'application/jsonp',
    ];
    for (const type of types) {
      const headers = { 'content-type': type };
      expectProblem(await http.ask('POST', path, '{}', { headers }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
    const headers = { 'content-encoding': 'br' };
    expectProblem(await http.ask('POST', path, '{}', { headers }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  const wrongMethods: [string, string, string][] = [
    [SIGN, 'GET PUT PATCH DELETE', 'POST'],
    [CREATE, 'GET PUT PATCH DELETE', 'POST'],
    [`${CREATE}/1/url`, 'GET PUT DELETE', 'POST'],
    ['/v1/svc/aggsign/notify/1', 'GET PUT PATCH DELETE', 'POST'],
    [DIRECT, 'GET PUT PATCH DELETE', 'POST'],
    [VERIFY, 'GET PUT DELETE', 'POST'],
    ['/v1/svc/tasks', 'POST PUT PATCH DELETE', 'GET, HEAD'],
    ['/v1/svc/tasks/1', 'POST PUT PATCH', 'GET, DELETE, HEAD'],
    ['/v1/svc/tasks/1/result', 'POST PUT DELETE', 'GET, HEAD'],
    ['/v1/svc/tasks/1/events', 'POST PUT DELETE', 'GET, HEAD'],
    ['/v1/svc/uploads/1', 'GET POST PATCH DELETE', 'PUT'],
    ['/v1/svc/results/1/1.json', 'POST PUT DELETE', 'GET, HEAD'],
  ];
  it.each(wrongMethods)('%s refuses %s', async (path, methods, allow) => {
    for (const method of methods.split(' ')) {
      const answer = await http.ask(method, path, method === 'GET' ? undefined : {});
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe(`${allow}, OPTIONS`);
    }
  });

  it.each([
    ...['/', '/v1', '/v1/', '/v2/svc/tasks', '/v1/svc', '/v1/svc/', '/v1/svc/task'],
    ...['/v1/svc/tasks/', '/v1/svc/tasks/1/2', '/v1/falcon', '/v1/falcon/verify'],
    ...['/V1/svc/tasks', '/v1/SVC/tasks', '/v1/svc/aggsign/', '/favicon.ico'],
    ...['/v1/svc/%2e%2e/tasks', '/v1//svc/tasks', '/v1/svc/tasks%00', '/v1/svc/tasks;x=1'],
    ...['/.env', `/v1/svc/${'a'.repeat(8000)}`],
  ])('%s is a 404', async (path) => {
    expectProblem(await http.ask('GET', path), 404, 'NOT_FOUND');
  });

  const noIds = [
    ...['0', '1', '00', '-1', '1.0', '1e3', '0x1', 'abc', 'null', 'NaN', '%31%20', '１', '%00'],
    ...["1'--", '9007199254740993', '999999999999999999', '9'.repeat(19), '9'.repeat(4000)],
    ...['..%2f1', '1%2fresult', '+1'],
  ];
  it.each(noIds)('the task id %s is a 404 everywhere', async (id) => {
    for (const [method, path] of [
      ['GET', `/v1/svc/tasks/${id}`],
      ['DELETE', `/v1/svc/tasks/${id}`],
      ['GET', `/v1/svc/tasks/${id}/result`],
      ['GET', `/v1/svc/tasks/${id}/events`],
      ['POST', `/v1/svc/aggsign/notify/${id}`],
      ['POST', `${CREATE}/${id}/url`],
    ] as const) {
      expectProblem(await http.ask(method, path), 404, 'NOT_FOUND');
    }
  });

  it.each([
    '/v1/svc/uploads/1',
    '/v1/svc/uploads/1?expires=9999999999999&signature=AAAA',
    '/v1/svc/uploads/x?signature=',
    '/v1/svc/uploads/1?expires=NaN&signature=%00',
    `/v1/svc/uploads/1?expires=1&signature=${'A'.repeat(5000)}`,
    '/v1/svc/uploads/99999999999999999999',
  ])('PUT %s is a forged url', async (path) => {
    expectProblem(await http.ask('PUT', path, '[]', { key: null }), 403, 'FORBIDDEN_URL');
  });

  it.each([
    '/v1/svc/results/1/1.json',
    '/v1/svc/results/1/1.json?expires=9999999999999&signature=AAAA',
    '/v1/svc/results/x/1.json',
    '/v1/svc/results/1/1',
    '/v1/svc/results/1/..%2f..%2ffalconry.sqlite',
    '/v1/svc/results/..%2f..%2fkeys/signing.json',
    '/v1/svc/results/1/%00.json',
  ])('GET %s is a forged url', async (path) => {
    expectProblem(await http.ask('GET', path, undefined, { key: null }), 403, 'FORBIDDEN_URL');
  });
});

describe('bytes on the wire', () => {
  onWire.afterEach(({ http }) => alive(http));

  const head = (method: string, path: string, ...headers: string[]) =>
    requestHead(method, path, wire.alice, ...headers);
  const json = 'Content-Type: application/json';

  type Raw = [what: string, parts: () => RawRequest['parts'], status: number, code: string];
  const TASKS = '/v1/svc/tasks';
  const chunked = 'Transfer-Encoding: chunked';
  const lengths = (...given: number[]) => given.map((length) => `Content-Length: ${length}`);
  const malformed: [what: string, parts: () => RawRequest['parts']][] = [
    ['no HTTP at all', () => ['hello falcon\r\n\r\n']],
    ['a TLS greeting', () => [Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3), '\r\n\r\n']],
    ['an unknown method', () => [head('FALCON', TASKS)]],
    ['a header with a zero byte', () => [head('GET', TASKS, 'X-A: \0')]],
    ['a backslash in the path', () => [head('GET', '/v1\\svc\\tasks')]],
    ['a host that is none', () => [`GET ${TASKS} HTTP/1.1\r\nHost: a/b@c\r\n\r\n`]],
    ...['1.2.3.4.5', '256.256.256.256', '9'.repeat(40)].map((host): (typeof malformed)[number] => [
      `a host that only looks like an address: ${host}`,
      () => [head('POST', CREATE).replace('falcon.test', host)],
    ]),
    ['two hosts', () => [head('GET', '/v1/openapi.json', 'host: other.test')]],
    ['no host', () => [`GET ${TASKS} HTTP/1.1\r\n\r\n`]],
    ['a negative length', () => [head('POST', SIGN, json, ...lengths(-5))]],
    ['two lengths', () => [head('POST', SIGN, json, ...lengths(2, 3)), '{}']],
    ['length and chunks', () => [head('POST', SIGN, json, ...lengths(2), chunked), '{}']],
  ];
  const late: typeof malformed = [
    ['a body that never comes', () => [head('POST', SIGN, json, ...lengths(20))]],
    ['a body that stops half-way', () => [head('POST', SIGN, json, ...lengths(20)), '{"digest"']],
    ['chunks that never end', () => [head('POST', DIRECT, json, chunked), '5\r\n{"dat\r\n']],
  ];
  const long = () => [head('GET', TASKS, `X-A: ${'a'.repeat(100_000)}`)];
  const petabyte = () => [head('POST', DIRECT, json, ...lengths(2 ** 50))];
  const noChunks = () => [head('POST', SIGN, json, chunked), 'zz\r\n{}\r\n'];
  const broken: Raw[] = [
    ...malformed.map(([what, parts]): Raw => [what, parts, 400, 'MALFORMED_REQUEST']),
    ['headers of 100 kB', long, 431, 'HEADERS_TOO_LARGE'],
    ['a length of a petabyte', petabyte, 413, 'BODY_TOO_LARGE'],
    ['chunks that are none', noChunks, 400, ''],
    ...late.map(([what, parts]): Raw => [what, parts, 408, 'REQUEST_TIMEOUT']),
    ['a body that is not there', () => [head('POST', SIGN, json)], 400, 'MALFORMED_JSON'],
  ];
  onWire.each(broken)('%s', async (_, parts, status, code) => {
    const answer = await sendRaw(wire.port, { parts: parts() });
    expect(answer).not.toBeNull();
    expectProblem(answer!, status, code || undefined);
    // What became a request is watched in the service itself.
    if (code !== 'MALFORMED_REQUEST' && code !== 'HEADERS_TOO_LARGE') return;
    const { headers, text } = answer!;
    const seen = { method: 'GET', path: '/v1/svc/tasks', status, headers, body: text, raw: true };
    noteAnswer(await contractAt(wire.address), seen);
  });

  onWire('an upload without any length is a 411', async () => {
    const { url } = (await wire.ask('POST', CREATE)).json;
    const { pathname, search } = new URL(url);
    const answer = await sendRaw(wire.port, { parts: [head('PUT', pathname + search, json)] });
    expectProblem(answer!, 411, 'LENGTH_REQUIRED');
  });

  onWire(
    'an upload that stops half-way, or is cut, leaves no file and can be repeated',
    async () => {
      const { url, process_id } = (await wire.ask('POST', CREATE)).json;
      const { pathname, search } = new URL(url);
      const parts = [head('PUT', pathname + search, json, 'Content-Length: 100'), '[ '];
      expectProblem((await sendRaw(wire.port, { parts }))!, 408, 'REQUEST_TIMEOUT');
      await sendRaw(wire.port, { parts, ending: 'cut' });
      await sendRaw(wire.port, { parts, ending: 'end' });
      const notify = await wire.ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
      expectProblem(notify, 409, 'NOT_UPLOADED');
      expect((await wire.ask('PUT', url, '[]', { key: null })).status).toBe(200);
    },
  );

  onWire('a body that comes drop by drop is read to its end', async ({ start }) => {
    // All in all it takes longer than the patience with one drop, and one drop far less.
    const slow = { workers: false, bodyIdleTimeoutMs: 2500, minBodyBytesPerSecond: 1 };
    const patient = await start(slow);
    const body = '{"digest":"0x00"}';
    const length = `Content-Length: ${body.length}`;
    const parts = [requestHead('POST', SIGN, patient.alice, json, length), ...body];
    const answer = await sendRaw(patient.port, { parts, pauseMs: 160 });
    expect(answer?.status).toBe(200);
  });

  it('unannounced bodies are read to their limit and no further', async () => {
    for (const [path, bytes] of [
      [SIGN, 2 * MIB],
      [CREATE, MIB],
      [DIRECT, 33 * MIB],
      [VERIFY, 33 * MIB],
    ] as const) {
      expectProblem(await http.ask('POST', path, spaces(bytes)), 413, 'BODY_TOO_LARGE');
    }
  });

  onWire('a hundred connections that say half a word do not stop the others', async ({ start }) => {
    const halfWord = (to: TestService) => ({
      parts: [requestHead('POST', DIRECT, to.alice, json, 'Content-Length: 33000000'), '{"data":['],
    });
    // One that waits for them longer than this test lasts, and answers another all the same.
    const patient = await start({ workers: false, bodyIdleTimeoutMs: 600_000 });
    const kept = Array.from({ length: 100 }, () => sendRaw(patient.port, halfWord(patient)));
    expect((await patient.ask('GET', '/v1/svc/tasks')).status).toBe(200);
    await patient.close();
    await Promise.all(kept);

    const slow = Array.from({ length: 100 }, () => sendRaw(wire.port, halfWord(wire)));
    const quick = await wire.ask('GET', '/v1/svc/tasks');
    expect(quick.status).toBe(200);
    for (const answer of await Promise.all(slow)) {
      // Out of memory for bodies (503) or out of patience (408): both are problem documents.
      expect([408, 503]).toContain(answer?.status);
      expectProblem(answer!, answer!.status);
    }
  });

  onWire('headers that never end are cut off', async () => {
    const { service } = wire;
    const { fetch } = service.app;
    const hasty = await openHttpServer({
      fetch,
      port: 0,
      host: '127.0.0.1',
      headersTimeoutMs: 200,
    });
    const parts = ['GET /v1/svc/tasks HTTP/1.1\r\nHost: falcon.test\r\nX-A: '];
    const answer = await sendRaw(hasty.port, { parts });
    await hasty.close(0);
    expectProblem(answer!, 408, 'REQUEST_TIMEOUT');
  });

  onWire('many cut connections leave nothing behind', async () => {
    const parts = [head('POST', DIRECT, json, 'Content-Length: 1000000'), '{"data":['];
    await Promise.all(
      Array.from({ length: 50 }, () => sendRaw(wire.port, { parts, ending: 'cut' })),
    );
    const good = await wire.ask('POST', DIRECT, { data: [triple] });
    expect(good.status).toBe(202);
  });
});

it('states what was tried', ({ task }) => {
  expect(answered).toBeGreaterThan(250);
  fact({ task }, 'hostile requests', `${answered} cases over HTTP, the service alive after each`);
});
