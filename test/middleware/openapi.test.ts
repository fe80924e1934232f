/**
 * The document itself: is it OpenAPI 3.1, is it complete, does it say what the judges of requests
 * do?
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  MAX_LISTED_FAULTS,
  ProblemError,
  problemType,
} from '../../src/middleware/http/problems.ts';
import { falconService, type ServiceOptions } from '../../src/middleware/index.ts';
import { MAX_AGGREGATE_BYTES } from '../../src/middleware/routes/aggsign.ts';
import { readBatch } from '../../src/middleware/tasks/readBatch.ts';
import { ERROR_CODES } from '../../src/shared/errors.ts';
import { decodeWireHex } from '../../src/wire/hex.ts';
import { checkTriples, MAX_KEY_OR_SIGNATURE_BYTES } from '../../src/wire/taskFile.ts';
import { STATE_TEXTS } from '../../src/wire/taskStates.ts';
import { Contract } from '../support/contract/contract.ts';
import { fact } from '../support/facts.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

const METHODS = ['get', 'put', 'post', 'delete'];

async function documentOf(options: ServiceOptions = {}, address = 'http://falcon.test') {
  const { app } = falconService({ dataDirectory: '/nowhere', ...options });
  const response = await app.request(`${address}/v1/openapi.json`);
  expect(response.status).toBe(200);
  return { app, document: (await response.json()) as Json };
}

let document: Json;
let app: Awaited<ReturnType<typeof documentOf>>['app'];
let operations: { path: string; method: string; operation: Json }[];
beforeAll(async () => {
  ({ document, app } = await documentOf());
  operations = Object.entries(document.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) => ({ path, method, operation })),
  );
});

/** Every object in the document, with where it stands. */
function* objects(value: Json, at = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value];
  for (const [name, each] of Object.entries(value)) yield* objects(each, `${at}/${name}`);
}

const resolve = (ref: string): Json =>
  ref
    .slice(2)
    .split('/')
    .reduce(
      (value: Json, part) => value?.[part.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );

const followed = (part: Json): Json => (part.$ref === undefined ? part : resolve(part.$ref));

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1: its fixed members, and nothing that 3.1 does not know', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'falconry (svc)', version: expect.any(String) });
    const known = ['openapi', 'info', 'servers', 'tags', 'components', 'paths', 'webhooks'];
    expect(Object.keys(document).filter((name) => !known.includes(name))).toEqual([
      'x-general-answers',
    ]);
    for (const [path, item] of Object.entries(document.paths as Json)) {
      expect(path).toMatch(/^\/v1\//);
      expect(Object.keys(item as Json).filter((name) => !METHODS.includes(name))).toEqual([]);
    }
    const fields = [
      'operationId tags summary description parameters requestBody responses security',
      'name in required description schema example',
    ].map((names) => names.split(' '));
    for (const { path, operation } of operations) {
      expect(Object.keys(operation).filter((name) => !fields[0]!.includes(name))).toEqual([]);
      expect(operation.operationId).toMatch(/^[a-z]\w+$/);
      expect(operation.summary).not.toBe('');
      for (const tag of operation.tags) {
        expect(document.tags.map((each: Json) => each.name)).toContain(tag);
      }
      const parameters: Json[] = (operation.parameters ?? []).map(followed);
      for (const parameter of parameters) {
        expect(Object.keys(parameter).filter((name) => !fields[1]!.includes(name))).toEqual([]);
        expect(['path', 'query', 'header']).toContain(parameter.in);
        expect(parameter.schema).toBeTypeOf('object');
        expect(parameter.description).not.toBe('');
        if (parameter.in === 'path') expect(parameter.required).toBe(true);
      }
      const names = parameters.map((each) => `${each.in} ${each.name}`);
      expect(new Set(names).size).toBe(names.length);
      const inPath = parameters.filter((each) => each.in === 'path').map((each) => each.name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      for (const [status, response] of Object.entries(operation.responses as Json)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(followed(response).description).toMatch(/\w/);
      }
      for (const requirement of operation.security) {
        for (const name of Object.keys(requirement)) {
          expect(document.components.securitySchemes).toHaveProperty(name);
        }
      }
    }
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const { apiKey } = document.components.securitySchemes;
    expect(apiKey).toMatchObject({ type: 'apiKey', in: 'header', name: 'Authorization' });
  });

  it('refers to nothing that is not there, and holds nothing that is not referred to', () => {
    const used = new Set<string>();
    for (const [at, object] of objects(document)) {
      if (typeof object.$ref !== 'string') continue;
      expect(resolve(object.$ref), `${at}: ${object.$ref}`).toBeDefined();
      used.add(object.$ref);
    }
    const parts = ['schemas', 'headers', 'parameters', 'responses'].flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    expect(parts.filter((part) => !used.has(part))).toEqual([]);
  });

  it('has schemas of JSON Schema 2020-12 only, and examples that fit them', (context) => {
    const contract = new Contract(document);
    let schemas = 0;
    let examples = 0;
    const fits = (value: unknown, schema: Json, at: string) => {
      const validate = contract.validator(schema);
      expect(validate(value), `${at}: ${JSON.stringify(validate.errors)}`).toBe(true);
      examples++;
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      contract.validator(schema);
      expect(name).toMatch(/^\w+$/);
      schemas++;
    }
    for (const [at, object] of objects(document)) {
      if (at.startsWith('#/components/schemas')) {
        if ('example' in object && 'type' in object) fits(object.example, object, at);
        continue;
      }
      const { schema } = object;
      if (schema === undefined) continue;
      contract.validator(schema);
      schemas++;
      if ('example' in object) fits(object.example, schema, at);
    }
    expect(schemas).toBeGreaterThan(100);
    expect(examples).toBeGreaterThan(25);
    fact(context, 'OpenAPI document', `${schemas} schemas valid, ${examples} examples fit them`);
  });

  it('has every route, and nothing else', () => {
    const routes = new Set<string>();
    for (const { method, path } of app.routes) {
      if (method === 'ALL' || method === 'OPTIONS') continue;
      // Parts of the page: its files, and the way back from a slash too many.
      if (['/v1/ui/', '/v1/ui/:file'].includes(path)) continue;
      routes.add(`${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    }
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      [...routes].sort(),
    );
    expect(routes.size).toBeGreaterThanOrEqual(15);
  });

  it('is tight: answers are closed, statuses are the texts of the states', () => {
    const { schemas } = document.components;
    const open = Object.entries(schemas as Json)
      .filter(([, schema]: [string, Json]) => schema.type === 'object')
      .filter(([, schema]: [string, Json]) => schema.additionalProperties !== false)
      .map(([name]) => name);
    // What clients send may hold more; timings are measured things of any name.
    expect(open.sort()).toEqual([
      'AggregateRequest',
      'SignRequest',
      'Statement',
      'TaskFileItem',
      'Triple',
      'VerifyRequest',
    ]);
    const texts = (names: string[]) =>
      names.flatMap((name) => schemas[name].properties.status.enum).sort();
    const states = Object.values(STATE_TEXTS);
    const records = ['UnfinishedTask', 'CompletedTask', 'FailedTask', 'EndedTask'];
    expect(texts(records)).toEqual(states.map(({ progress }) => progress).sort());
    const items = ['UnfinishedItem', 'CompletedItem', 'EndedItem'];
    expect(texts(items)).toEqual(states.map(({ list }) => list).sort());
    for (const [name, schema] of Object.entries(schemas as Json) as [string, Json][]) {
      if (!name.startsWith('Problem_')) continue;
      const code = name.slice(8) as keyof typeof ERROR_CODES;
      const { type, title, status } = schema.properties;
      expect(schema.properties.code.enum).toEqual([code]);
      expect(status.enum).toEqual([ERROR_CODES[code].status]);
      expect(title.enum).toEqual([ERROR_CODES[code].message]);
      expect(type.enum).toEqual([problemType(code)]);
      const { retriable, message } = ERROR_CODES[code];
      const advice = `${message}. The same request can succeed later.`;
      expect(schema.description).toBe(retriable ? advice : undefined);
    }
    const code = new RegExp(schemas.TaskProblem.properties.code.pattern);
    for (const each of Object.keys(ERROR_CODES)) expect(each).toMatch(code);
    const queries = document.paths['/v1/svc/tasks'].get.parameters as Json[];
    expect(queries.find(({ name }) => name === 'status').schema.enum.toSorted()).toEqual(
      [...new Set(states.flatMap(({ list, progress }) => [list, progress]))].toSorted(),
    );
  });

  it('says of every problem what its codes mean', () => {
    const responses = operations.flatMap(({ operation }) => Object.values(operation.responses));
    const problems = responses
      .map((response) => followed(response))
      .filter(({ content }) => content?.['application/problem+json'] !== undefined);
    expect(problems.length).toBeGreaterThan(90);
    for (const { description, content } of problems) {
      const { schema } = content['application/problem+json'];
      const codes = (schema.anyOf ?? [schema]).map(({ $ref }: Json) => $ref.split('Problem_')[1]);
      const meanings = codes.map((code: keyof typeof ERROR_CODES) => {
        return `\`${code}\`: ${ERROR_CODES[code].message}.`;
      });
      expect(description).toBe(meanings.join(' '));
    }
  });

  it('carries the service’s name, mount path and address', async () => {
    const paths = (doc: Json) => Object.keys(doc.paths);
    const named = (await documentOf({ serviceName: 'pq-sign' })).document;
    expect(paths(named)).toContain('/v1/pq-sign/aggsign');
    expect(paths(named).some((path) => path.includes('/svc/'))).toBe(false);
    expect(named.info.title).toBe('falconry (pq-sign)');
    expect(document.servers).toEqual([{ url: 'http://falcon.test' }]);
    const publicUrl = 'https://x.example/a/b/';
    expect((await documentOf({ publicUrl })).document.servers).toEqual([
      { url: 'https://x.example/a/b' },
    ]);
    // An address that would break out of a string.
    const hostile = `https://x.example/a"><script>alert(1)</script>&'b`;
    expect((await documentOf({ publicUrl: hostile })).document.servers).toEqual([{ url: hostile }]);
    const { default: host } = { default: new (await import('hono')).Hono() };
    host.route('/deep/falcon', app);
    const mounted = await host.request('https://host.example/deep/falcon/v1/openapi.json');
    expect(((await mounted.json()) as Json).servers).toEqual([
      { url: 'https://host.example/deep/falcon' },
    ]);
    const smaller = (await documentOf({ maxSignatures: 7, maxDigestBytes: 3 })).document;
    expect(smaller.components.schemas.TaskFile.maxItems).toBe(7);
    expect(smaller.components.schemas.AggregateRequest.properties.data.maxItems).toBe(7);
    expect(smaller.components.schemas.VerifyRequest.properties.statements.maxItems).toBe(32_768);
    expect(smaller.components.schemas.Digest.maxLength).toBe(8);
    const { ui, ...rest } = (await documentOf({ ui: false })).document;
    expect([ui, Object.keys(rest.paths).includes('/v1/ui')]).toEqual([undefined, false]);
  });

  it('is kept by browsers until it changes, and read without a key', async () => {
    const path = '/v1/openapi.json';
    const first = await app.request(path);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    expect(first.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = first.headers.get('content-security-policy');
    expect(policy).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const etag = first.headers.get('etag')!;
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await app.request(path, { headers: { 'if-none-match': known } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    const other = await app.request(path, { headers: { 'if-none-match': '"x"' } });
    expect(other.status).toBe(200);
  });
});

describe('schemas and judges', () => {
  /** Short and long hex, good and bad, as strangers write it. */
  const good = fc
    .uint8Array({ maxLength: 6 })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
  const hex = fc.oneof(
    good,
    fc.constantFrom(
      '0xAb',
      '0x',
      'ab',
      '0X00',
      '0xabc',
      '0xzz',
      '',
      '0x00\n',
      `0x${'ab'.repeat(9)}`,
    ),
    fc.constantFrom(null, 5, [], {}, undefined, `0x${'00'.repeat(2048)}`, `0x${'00'.repeat(2049)}`),
  );
  const key = fc.constantFrom(
    `0x09${'5a'.repeat(896)}`,
    `0x0A${'A5'.repeat(1792)}`,
    `0x0a${'00'.repeat(896)}`,
    `0x09${'5a'.repeat(895)}`,
  );
  const element = fc.oneof(
    { weight: 20, arbitrary: fc.record({ digest: good, public_key: key, signature: good }) },
    { weight: 5, arbitrary: fc.record({ digest: good, public_key: good, signature: good }) },
    fc.record({ digest: hex, public_key: hex, signature: hex }, { requiredKeys: [] }),
    fc.record({ digest: hex, public_key: hex, signature: hex, note: fc.jsonValue() }),
    fc.constantFrom(null, [], 'x', 7),
  );
  const array = fc.oneof(
    { weight: 5, arbitrary: fc.array(element, { maxLength: 6 }) },
    fc.constantFrom(null, {}, 'x', 0),
  );

  it('agree about every task file and every request', async () => {
    const limits = { maxSignatures: 4, maxMessageBytes: 8 };
    const reading = { ...limits, maxAggregateBytes: MAX_AGGREGATE_BYTES, maxTokens: 1000 };
    const small = (await documentOf({ maxSignatures: 4, maxDigestBytes: 8 })).document;
    const contract = new Contract(small);
    const fitsSchema = (name: string, value: unknown) =>
      contract.validator(small.components.schemas[name])(value);
    const isRead = (value: unknown, wanted: 'triples' | 'claim') => {
      const body = Buffer.from(JSON.stringify(value));
      try {
        if (wanted === 'claim') readBatch(body, { wanted, limits: reading });
        else readBatch(body, { wanted, limits: reading, requestLine: null });
        return true;
      } catch (error) {
        if (error instanceof ProblemError) return false;
        throw error;
      }
    };
    const fitting = { files: 0, batches: 0, claims: 0 };
    fc.assert(
      fc.property(array, fc.oneof(good, hex), (value, aggregate) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        const isFile = checkTriples(json, limits).faults === undefined;
        expect(fitsSchema('TaskFile', json)).toBe(isFile);
        if (isFile) fitting.files++;
        const batch = { data: json };
        const isBatch = isRead(batch, 'triples');
        expect(fitsSchema('AggregateRequest', batch)).toBe(isBatch);
        if (isBatch) fitting.batches++;
        const claim = JSON.parse(JSON.stringify({ aggregate, statements: json }));
        const isClaim = isRead(claim, 'claim');
        // A list may be longer there; such long ones are not made here.
        const fits = fitsSchema('VerifyRequest', claim) && !(json as unknown[] | null)?.[4];
        expect(fits).toBe(isClaim);
        if (isClaim) fitting.claims++;
      }),
      { numRuns: 3000 },
    );
    for (const count of Object.values(fitting)) expect(count).toBeGreaterThan(100);
    fc.assert(
      fc.property(hex, (digest) => {
        const json = JSON.parse(JSON.stringify({ digest }));
        const isHex = typeof decodeWireHex(json.digest, 8) !== 'string';
        expect(fitsSchema('SignRequest', json)).toBe(isHex);
      }),
    );
  });

  it('agree about the longest fields and lists', () => {
    const { schemas } = document.components;
    const longest = (bytes: number) => 2 + 2 * bytes;
    const { aggregate } = schemas.VerifyRequest.properties;
    expect(aggregate.maxLength).toBe(longest(MAX_AGGREGATE_BYTES));
    for (const schema of [schemas.PublicKey, schemas.Signature]) {
      expect(schema.maxLength).toBe(longest(MAX_KEY_OR_SIGNATURE_BYTES));
    }
    expect(schemas.TaskFileItem.properties.public_key.maxLength).toBe(schemas.PublicKey.maxLength);
    expect(schemas.Faults.maxItems).toBe(MAX_LISTED_FAULTS);
  });
});

describe('the contract bites', () => {
  const id = { 'x-request-id': '0af7651916cd43dd8448eb211c80319c' };
  const always = { 'cache-control': 'no-store', ...id };
  const seen = (change: object) => ({
    method: 'POST',
    path: '/falcon/v1/svc/aggsign/verify',
    status: 200,
    headers: new Headers({ 'content-type': 'application/json', ...always }),
    body: '{"valid":true}',
    ...change,
  });

  it('at a wrong status, header, type, body, method or path', () => {
    const contract = new Contract(document);
    const faults = (change: object) => contract.judge(seen(change)).faults.length;
    expect(contract.judge(seen({}))).toEqual({ key: 'verifyAggregate 200', faults: [] });
    const wrong = [
      { status: 201 },
      { status: 404 },
      { headers: new Headers({ 'content-type': 'application/json', ...id }) },
      { headers: new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' }) },
      { headers: new Headers({ 'content-type': 'text/html', ...always }) },
      { body: '{"valid":1}' },
      { body: '{"valid":true,"more":1}' },
      { body: '{"valid":' },
      { body: '' },
      { method: 'GET' },
      { path: '/v1/svc/elsewhere' },
    ];
    for (const change of wrong) expect(faults(change), JSON.stringify(change)).toBeGreaterThan(0);
  });
});
