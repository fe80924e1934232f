/** Random requests to every endpoint: whatever comes, an answer of the contract, and never a 500. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../src/middleware/schemas.ts';
import { fact } from '../support/facts.ts';
import { expectProblem, startService, type TestService, toAnswer } from './support.ts';
import { makeTriples } from './triples.ts';

const RUNS = process.env.SLOW ? 20_000 : 1000;
const STATUSES = [200, 201, 202, 204, 302, 400, 401, 403, 404, 405, 409, 411, 413, 415, 422, 429];

let http: TestService;
let goodIds: string[];
let goodTriple: unknown;
beforeAll(async () => {
  http = await startService({
    workers: false,
    limits: { requestsPerSecond: 1_000_000, burst: 1_000_000 },
  });
  goodTriple = makeTriples(1)[0];
  goodIds = [];
  for (let i = 0; i < 5; i++) {
    goodIds.push(String((await http.ask('POST', '/v1/svc/aggsign/task')).json.process_id));
  }
});
afterAll(() => http.close());

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    'null',
    '../..',
    '%00',
    "'",
    '0x',
    '0xz',
    '9'.repeat(40),
    '\u202e',
  ),
);
const hex = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  nasty,
);
const triple = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null).map(() => goodTriple) },
  fc.record({ digest: hex, public_key: hex, signature: hex }, { requiredKeys: [] }),
  fc.jsonValue(),
);
const body = fc.oneof(
  fc.record({ digest: hex }),
  fc.record({ data: fc.array(triple, { maxLength: 4 }) }),
  fc.record({ aggregate: hex, statements: fc.array(triple, { maxLength: 4 }) }),
  fc.array(triple, { maxLength: 4 }),
  fc.jsonValue(),
);
/** JSON, or what is left of it after a cut, a change of one byte, or noise. */
const bytes = fc.oneof(
  { weight: 4, arbitrary: body.map((value) => Buffer.from(JSON.stringify(value))) },
  fc.tuple(body, fc.nat()).map(([value, at]) => {
    const whole = Buffer.from(JSON.stringify(value));
    return whole.subarray(0, at % (whole.length + 1));
  }),
  fc.tuple(body, fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
    const changed = Buffer.from(JSON.stringify(value));
    changed[at % changed.length] = byte;
    return changed;
  }),
  fc.uint8Array({ maxLength: 200 }).map((noise) => Buffer.from(noise)),
);
const segment = nasty.map(encodeURIComponent);
const id = fc.oneof(
  fc.nat(4).map((index) => goodIds[index]!),
  fc.bigInt(0n, 10n ** 20n).map(String),
  segment,
);
const query = fc.array(
  fc.tuple(
    fc.constantFrom('limit', 'cursor', 'status', 'order', 'expires', 'signature', 'x'),
    segment,
  ),
  { maxLength: 3 },
);
const path = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        '/v1/falcon/sign',
        '/v1/svc/aggsign',
        '/v1/svc/aggsign/task',
        '/v1/svc/aggsign/verify',
        '/v1/svc/tasks',
      ),
      id.map((part) => `/v1/svc/tasks/${part}`),
      id.map((part) => `/v1/svc/tasks/${part}/result`),
      id.map((part) => `/v1/svc/aggsign/notify/${part}`),
      id.map((part) => `/v1/svc/aggsign/task/${part}/url`),
      id.map((part) => `/v1/svc/uploads/${part}`),
      fc.tuple(id, id).map(([a, b]) => `/v1/svc/results/${a}/${b}.json`),
      fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
    ),
    query,
  )
  .map(
    ([where, parts]) =>
      where + (parts.length ? `?${parts.map((pair) => pair.join('=')).join('&')}` : ''),
  );
const oddHeaders = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'text/plain',
      ';',
      '',
    ),
    'idempotency-key': fc.constantFrom('a', 'b', '"c"', '""', 'd e'),
    'content-encoding': fc.constantFrom('gzip', 'identity'),
    authorization: fc.constantFrom('', 'x', 'Bearer x'),
  },
  { requiredKeys: [] },
);
const headers = fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, oddHeaders);
const request = fc.record({
  method: fc.constantFrom(
    'GET',
    'POST',
    'POST',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'HEAD',
  ),
  path,
  bytes,
  headers,
});
/** Requests that nearly fit, so that some get through. */
const fitting = fc.record({
  method: fc.constant('POST'),
  path: fc.constantFrom('/v1/svc/aggsign', '/v1/falcon/sign', '/v1/svc/aggsign/verify'),
  bytes: fc
    .oneof(fc.record({ digest: hex }), fc.record({ data: fc.array(triple, { maxLength: 2 }) }))
    .map((value) => Buffer.from(JSON.stringify(value))),
  headers,
});

describe('random requests', () => {
  it('are answered as the contract says', async (context) => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: request }, fitting), async (sent) => {
        const hasBody = sent.method !== 'GET' && sent.method !== 'HEAD';
        const given = new Headers({
          authorization: http.alice,
          'content-type': 'application/json',
        });
        for (const [name, value] of Object.entries(sent.headers)) given.set(name, value);
        const answer = await toAnswer(
          await http.service.app.request(`http://falcon.test${sent.path}`, {
            method: sent.method,
            headers: given,
            ...(hasBody && { body: new Uint8Array(sent.bytes) }),
          }),
        );
        expect(STATUSES).toContain(answer.status);
        if (answer.status >= 400 && sent.method !== 'HEAD') {
          expectProblem(answer, answer.status);
          Problem.parse(answer.json);
        }
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      }),
      { numRuns: RUNS },
    );
    for (const status of [200, 202, 401, 404, 405, 422]) {
      expect(seen.has(status), `no ${status} among the answers`).toBe(true);
    }
    const counts = [...seen].sort(([a], [b]) => a - b).map(([status, n]) => `${n} × ${status}`);
    fact(context, 'hostile requests', `${RUNS} random ones: ${counts.join(', ')}`);
  });
});
