/**
 * An id that does not exist and the id of another client's task cannot be told apart, not even by
 * the time that the answer takes: the service asks the same of its stores, and answers the same.
 */
import { describe, expect } from 'vitest';
import { memoryStore } from '../../src/middleware/index.ts';
import type { ApiKeyStore, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import { type Answer, serviceTest } from './support.ts';
import { makeTriples } from './triples.ts';

/** The routes that name a task, without the service's own name. */
const ROUTES: readonly [method: string, path: string][] = [
  ['POST', '/aggsign/task/:id/url'],
  ['POST', '/aggsign/task/:id/part'],
  ['POST', '/aggsign/notify/:id'],
  ['GET', '/tasks/:id'],
  ['HEAD', '/tasks/:id'],
  ['DELETE', '/tasks/:id'],
  ['GET', '/tasks/:id/result'],
  ['GET', '/tasks/:id/events'],
  ['PUT', '/uploads/:id?expires=9999999999&signature=x'],
  ['GET', '/results/1/:id.json?expires=9999999999&signature=x'],
];

const calls: string[] = [];

/** Names and shapes only: the ids differ. */
const shapeOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `{${Object.entries(value)
        .map(([name, each]) => `${name}: ${shapeOf(each)}`)
        .join(', ')}}`
    : typeof value;

/** The same port, whose calls are written down while a request is under way. */
function recorded<Port extends object>(name: string, port: Port): Port {
  return new Proxy(port, {
    get(target, method, receiver) {
      const value: unknown = Reflect.get(target, method, receiver);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        calls.push(`${name}.${String(method)}(${given.map(shapeOf).join(', ')})`);
        return Reflect.apply(value, target, given);
      };
    },
  });
}

const store = memoryStore();
const { it, http } = serviceTest(() => ({
  store: {
    ...store,
    tasks: recorded<TaskStore>('store', store.tasks),
    apiKeys: recorded<ApiKeyStore>('store', store.apiKeys),
  },
  workers: false,
}));
/** Tasks of bob, one in each state that a client can bring about alone. */
const foreign = new Map<string, number>();
let absent: number;

it.beforeAll(async () => {
  const key = http.bob;
  const create = () => http.create(undefined, { key });
  foreign.set('created', (await create()).process_id);
  const { process_id, url } = await create();
  await http.put(url, makeTriples(1));
  foreign.set('uploaded', process_id);
  const direct = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(1) }, { key });
  foreign.set('waiting', direct.json.process_id);
  const { process_id: ended } = await create();
  await http.ask('DELETE', `/v1/svc/tasks/${ended}`, undefined, { key });
  foreign.set('cancelled', ended);

  const { process_id: done } = await create();
  foreign.set('completed', done);
  await store.tasks.upload(done, { key: 'inputs/0.json', bytes: 1 });
  const { clientId } = (await store.tasks.get(done))!;
  await store.tasks.notify(done, clientId);
  for (let task = null; task !== done; ) {
    const claimed = (await store.tasks.claim({ leaseMs: 60_000, threads: 1 })).task!;
    task = claimed.id;
    if (task !== done) continue;
    await store.tasks.extend(task, claimed.attempt, { leaseMs: 60_000, state: 'aggregating' });
    const blob = { key: `results/1/${task}.json`, bytes: 1 };
    await store.tasks.finish(task, claimed.attempt, { blob, format: 'bundle', aggregateBytes: 1 });
  }
  absent = Math.max(...foreign.values()) + 1_000_000;
});

interface Seen {
  readonly calls: readonly string[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What alice sees of an id, and what the stores were asked for it. */
async function look(method: string, path: string, id: number): Promise<Seen> {
  calls.length = 0;
  const { status, headers, text }: Answer = await http.ask(
    method,
    `/v1/svc${path.replace(':id', String(id))}`,
    method === 'PUT' ? '[]' : undefined,
  );
  const { date, 'x-request-id': _, ...told } = Object.fromEntries(headers);
  // Asked every now and then, whatever the task: the quota of the caller.
  const asked = calls.filter((call) => !call.startsWith('store.quota('));
  // The task may be read while the key is looked up.
  return { calls: asked.sort(), status, headers: told, text };
}

describe.each(ROUTES)('%s %s', (method, path) => {
  it.each(['created', 'uploaded', 'waiting', 'completed', 'cancelled'])(
    'says nothing of a task of another client that is %s',
    async (state) => {
      const before = await store.tasks.get(foreign.get(state)!);
      const [theirs, none] = [
        await look(method, path, foreign.get(state)!),
        await look(method, path, absent),
      ];
      expect(theirs).toEqual(none);
      expect(await store.tasks.get(foreign.get(state)!)).toEqual(before);
      expect(none.status).toBe(path.includes('signature') ? 403 : 404);
      // The recorder hears what is asked: the key, and the task unless the url is refused before.
      const asked = path.includes('signature')
        ? []
        : ['store.findApiKey(string)', 'store.get(number, number)'];
      expect(none.calls).toEqual(asked);
    },
  );
});

it('every route that names a task is among them', () => {
  const own = new Set(ROUTES.map(([method, path]) => `${method} ${path.replace(/\?.*/, '')}`));
  const named = http.service.app.routes
    .filter(({ method, path }) => /:(process_)?id\b|:file/.test(path) && /^[A-Z]+$/.test(method))
    .filter(({ method, path }) => !['ALL', 'OPTIONS'].includes(method) && !path.includes('/ui/'))
    .map(({ method, path }) => {
      const plain = path.replace(/^\/v1\/svc/, '').replace(/:process_id|:id/, ':id');
      return `${method} ${plain.replace(':attempt/:file', '1/:id.json')}`;
    });
  // Routes have no HEAD of their own; those with several methods stand there more than once.
  expect(new Set(named).size).toBe(ROUTES.length - 1);
  for (const route of named) expect(own).toContain(route);
});
