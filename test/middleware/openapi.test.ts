/**
 * The document itself: is it OpenAPI 3.1, is it complete, does it say what the judges of requests
 * do?
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { falconService, type ServiceOptions } from '../../src/middleware/index.ts';
import { requestShapes } from '../../src/middleware/schemas.ts';
import { ERROR_CODES } from '../../src/shared/errors.ts';
import { checkStatements, checkTriples } from '../../src/wire/taskFile.ts';
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
      const parameters: Json[] = operation.parameters ?? [];
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
        expect((response as Json).description).toMatch(/\w/);
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
    const parts = ['schemas', 'headers', 'responses'].flatMap((kind) =>
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
      const { schema } = object;
      if (schema === undefined || at.startsWith('#/components/schemas')) continue;
      contract.validator(schema);
      schemas++;
      if ('example' in object) fits(object.example, schema, at);
      for (const { value } of Object.values((object.examples ?? {}) as Json) as Json[]) {
        fits(value, schema, at);
      }
    }
    expect(schemas).toBeGreaterThan(100);
    expect(examples).toBeGreaterThan(80);
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
      expect(schema.properties.status.enum).toEqual([ERROR_CODES[code].status]);
      expect(schema.properties.code.enum).toEqual([code]);
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
    const { default: host } = { default: new (await import('hono')).Hono() };
    host.route('/deep/falcon', app);
    const mounted = await host.request('https://host.example/deep/falcon/v1/openapi.json');
    expect(((await mounted.json()) as Json).servers).toEqual([
      { url: 'https://host.example/deep/falcon' },
    ]);
    const smaller = (await documentOf({ maxSignatures: 7, maxDigestBytes: 3 })).document;
    expect(smaller.components.schemas.TaskFile.maxItems).toBe(7);
    expect(smaller.components.schemas.SignRequest.properties.digest.maxLength).toBe(8);
  });

  it('is kept by browsers until it changes, and read without a key', async () => {
    for (const path of ['/v1/openapi.json', '/v1/docs']) {
      const first = await app.request(path);
      expect(first.headers.get('cache-control')).toBe('no-cache');
      const etag = first.headers.get('etag')!;
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const again = await app.request(path, { headers: { 'if-none-match': known } });
        expect([again.status, await again.text()]).toEqual([304, '']);
      }
      const other = await app.request(path, { headers: { 'if-none-match': '"x"' } });
      expect(other.status).toBe(200);
      const head = await app.request(path, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
    }
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
  const element = fc.oneof(
    { weight: 5, arbitrary: fc.record({ digest: good, public_key: good, signature: good }) },
    fc.record({ digest: hex, public_key: hex, signature: hex }, { requiredKeys: [] }),
    fc.record({ digest: hex, public_key: hex, signature: hex, note: fc.jsonValue() }),
    fc.constantFrom(null, [], 'x', 7),
  );
  const array = fc.oneof(
    { weight: 5, arbitrary: fc.array(element, { maxLength: 6 }) },
    fc.constantFrom(null, {}, 'x', 0),
  );

  it('agree about every array of triples and statements', () => {
    const limits = { maxSignatures: 4, maxDigestBytes: 8 };
    const shapes = requestShapes(limits);
    const contract = new Contract(document);
    const judgeLimits = { maxSignatures: 4, maxMessageBytes: 8 };
    let fitting = 0;
    const { TaskFile, VerifyRequest } = shapes;
    const statements = VerifyRequest.shape.statements;
    fc.assert(
      fc.property(array, (value) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        const read = checkTriples(json, judgeLimits);
        expect(TaskFile.safeParse(json).success).toBe(read.faults === undefined);
        const known = checkStatements(json, judgeLimits);
        expect(statements.safeParse(json).success).toBe(known.faults === undefined);
        if (!read.faults) fitting++;
      }),
      { numRuns: 3000 },
    );
    expect(fitting).toBeGreaterThan(100);
    // And what zod judges is what the document says.
    const digest = document.components.schemas.SignRequest;
    fc.assert(
      fc.property(hex, (value) => {
        const json: unknown = JSON.parse(JSON.stringify({ digest: value }));
        const zod = requestShapes({ maxSignatures: 1722, maxDigestBytes: 4096 }).SignRequest;
        expect(contract.validator(digest)(json)).toBe(zod.safeParse(json).success);
      }),
    );
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
