/** The client's types, paths and texts, against the document that the service gives of itself. */
import { describe, expect } from 'vitest';
import {
  type Client,
  createClient,
  type Fault,
  type InvalidItem,
  outcomeOf,
  type Problem,
  type ResultFile,
  type SignAnswer,
  type TaskListItem,
  type TaskPage,
  type TaskProgress,
  type TaskRecord,
  type Triple,
  type UploadTicket,
} from '../../src/client/index.ts';
import { serviceTest } from '../middleware/support.ts';
import { signedItems } from './items.ts';

/**
 * The members of a type, as a value: the compiler says so when one is missing, too many, or
 * optional by mistake.
 */
type Members<T> = { [K in keyof Required<T>]: undefined extends T[K] ? 'optional' : 'always' };
const members = <T>(all: Members<T>) => all as Record<string, 'optional' | 'always'>;

const record = members<TaskRecord>({
  client_id: 'always',
  process_id: 'always',
  status: 'always',
  batch_size: 'always',
  VCPUs: 'always',
  request_utc_time: 'always',
  latest_status_update_iso_utc_time: 'always',
  progress: 'optional',
  parts: 'optional',
  quarantined: 'optional',
  error: 'optional',
  finished_at: 'optional',
  result_path: 'optional',
  format: 'optional',
  result_bytes: 'optional',
  result_expires_at: 'optional',
});
const item = members<TaskListItem>({ id: 'always', status: 'always', meta: 'always' });
const meta = members<TaskListItem['meta']>({
  count: 'always',
  created_at: 'always',
  submitted_at: 'always',
  finished_at: 'optional',
  result_path: 'optional',
  result_expires_at: 'optional',
});
const problem = members<Problem>({
  type: 'optional',
  title: 'optional',
  status: 'optional',
  detail: 'optional',
  code: 'optional',
  errors: 'optional',
  errors_total: 'optional',
  invalid: 'optional',
  stored_bytes: 'optional',
  allowed_bytes: 'optional',
  id: 'optional',
  part: 'optional',
});
const triple = members<Triple>({ digest: 'always', public_key: 'always', signature: 'always' });

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;
let document: Json;
let schemas: Json;

const { test, http } = serviceTest({ onDisk: true, threads: 1 });
test.beforeAll(async () => {
  document = (await http.ask('GET', '/v1/openapi.json', undefined, { key: null })).json;
  schemas = document.components.schemas;
});

const follow = (schema: Json): Json =>
  schema.$ref ? schemas[schema.$ref.split('/').at(-1)] : schema;

/**
 * Members of a schema and of all its alternatives; `always` where every alternative requires it.
 */
function membersOf(schema: Json): Record<string, 'optional' | 'always'> {
  const all = follow(schema);
  if (all.oneOf === undefined) {
    return Object.fromEntries(
      Object.keys(all.properties).map((name) => [
        name,
        all.required?.includes(name) ? 'always' : 'optional',
      ]),
    );
  }
  const parts: Record<string, string>[] = all.oneOf.map(membersOf);
  const names = new Set(parts.flatMap((part) => Object.keys(part)));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      parts.every((part) => part[name] === 'always') ? 'always' : 'optional',
    ]),
  );
}

/**
 * The same names; what the type promises, the document does. (Other servers leave out what it does
 * not.)
 */
function expectSame(type: Record<string, 'optional' | 'always'>, schema: Json): void {
  const documented = membersOf(schema);
  expect(Object.keys(type).sort()).toEqual(Object.keys(documented).sort());
  for (const [name, when] of Object.entries(type)) {
    if (when === 'always') expect(documented[name], name).toBe('always');
  }
}

describe('types', () => {
  test('of records and lists', () => {
    expectSame(record, schemas.ProgressRecord);
    expectSame(item, schemas.TaskListItem);
    const metas = schemas.TaskListItem.oneOf.map((each: Json) => follow(each).properties.meta);
    expectSame(meta, { oneOf: metas });
    expectSame(members<TaskPage>({ tasks: 'always', next: 'always' }), schemas.TaskList);
    const { progress } = follow(schemas.ProgressRecord.oneOf[0]).properties;
    expectSame(
      members<TaskProgress>({ phase: 'always', done: 'always', total: 'always' }),
      progress,
    );
  });

  test('of problems: the members of all of them together', () => {
    const all = Object.entries(schemas).filter(([name]) => /^(Task)?Problem/.test(name));
    expect(all.length).toBeGreaterThan(20);
    const names = new Set(all.flatMap(([, schema]) => Object.keys((schema as Json).properties)));
    expect([...names].sort()).toEqual(Object.keys(problem).sort());
    expectSame(
      members<Fault>({ path: 'always', code: 'always', message: 'always' }),
      schemas.Fault,
    );
    const { invalid } = schemas.TaskProblem.properties;
    expectSame(members<InvalidItem>({ index: 'always', reason: 'always' }), invalid.items);
  });

  test('of the rest', () => {
    expectSame(triple, schemas.Triple);
    expectSame(members<SignAnswer>({ ...triple } as Members<SignAnswer>), schemas.SignAnswer);
    expectSame(
      members<UploadTicket>({ process_id: 'always', url: 'always', expires_at: 'optional' }),
      schemas.UploadTicket,
    );
    expectSame(
      members<ResultFile>({
        version: 'always',
        process_id: 'always',
        count: 'always',
        format: 'always',
        parameter_set: 'always',
        statement: 'always',
        aggregate: 'always',
        sizes: 'always',
        timings: 'always',
      }),
      schemas.ResultFile,
    );
  });
});

test('status texts: each is known for what it is', () => {
  const texts = (name: string): string[] => {
    const { status } = schemas[name].properties;
    return status.enum ?? [status.const];
  };
  for (const name of ['UnfinishedTask', 'UnfinishedItem']) {
    expect(texts(name).length).toBe(5);
    for (const text of texts(name)) expect(outcomeOf(text), text).toBe('open');
  }
  for (const name of ['CompletedTask', 'CompletedItem', 'FailedTask', 'EndedTask', 'EndedItem']) {
    for (const text of texts(name)) expect(outcomeOf(text), text).toBe(text);
  }
});

test('paths: the methods use every operation of the document, and nothing else', async () => {
  const used = new Set<string>();
  const operations = Object.entries(document.paths as Record<string, object>).flatMap(
    ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const patterns = operations.map((name) => ({
    name,
    pattern: new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  const client: Client = createClient({
    baseUrl: http.address,
    apiKey: http.alice,
    fetch: (url, init) => {
      const asked = `${init.method} ${new URL(url).pathname}`;
      const found = patterns.filter(({ pattern }) => pattern.test(asked));
      expect(
        found.map(({ name }) => name),
        asked,
      ).toHaveLength(1);
      used.add(found[0]!.name);
      return fetch(url, init);
    },
  });
  const items = signedItems(2);
  await client.sign('0x00');
  const ticket = await client.createTask();
  await client.upload(await client.renewUpload(ticket.process_id), items);
  await client.notify(ticket.process_id);
  await client.waitFor(ticket);
  const merged = await client.waitFor(await client.submit(items.values()));
  expect(merged).toMatchObject({ format: 'merged', parts: { total: 1 } });
  const { process_id } = await client.aggregate(items);
  await client.waitFor(process_id, { by: 'poll', pollMs: [10, 50] });
  const { aggregate } = await client.result(process_id, { statements: items });
  expect(await client.verify(aggregate!, items)).toBe(true);
  await client.page();
  await client.remove(process_id);

  const forPeople = ['GET /v1/ui', 'GET /v1/openapi.json'];
  // `result` takes the url from the record instead, which spares a request.
  const spared = ['GET /v1/svc/tasks/{id}/result'];
  expect([...used].sort()).toEqual(
    operations.filter((name) => ![...forPeople, ...spared].includes(name)).sort(),
  );
});
