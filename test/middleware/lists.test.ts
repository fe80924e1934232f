import { afterEach, describe, expect, vi } from 'vitest';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { expectProblem, serviceTest } from './support.ts';

const TASKS = '/v1/svc/tasks';
const NANOSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

afterEach(() => vi.restoreAllMocks());

const { it, http } = serviceTest({ workers: false });

describe('GET /v1/svc/tasks', () => {
  /** Alice's tasks in order of making; every third has its file uploaded. */
  const ids: number[] = [];
  const uploaded: number[] = [];
  it.beforeAll(async () => {
    for (let i = 0; i < 250; i++) {
      const { process_id, url } = await http.create();
      ids.push(process_id);
      if (i % 3 === 0) {
        await http.put(url);
        uploaded.push(process_id);
      }
      if (i % 50 === 0) await http.create(undefined, { key: http.bob });
    }
  });

  const page = async (query: string, key?: string) => {
    const answer = await http.ask('GET', TASKS + query, undefined, key ? { key } : {});
    expect(answer.status, answer.text).toBe(200);
    return answer.json as { tasks: { id: number; status: string }[]; next: string };
  };
  /** Follows `next` until it is empty, as clients do. */
  async function all(query: string, key?: string): Promise<number[]> {
    const seen: number[] = [];
    let next = '';
    do {
      const sign = query === '' ? '?' : '&';
      const cursor = next === '' ? '' : `${sign}cursor=${encodeURIComponent(next)}`;
      const { tasks, next: following } = await page(`${query}${cursor}`, key);
      seen.push(...tasks.map(({ id }) => id));
      next = following;
    } while (next !== '');
    return seen;
  }

  it('gives 100 tasks by default, oldest first, and a cursor', async () => {
    const { tasks, next } = await page('');
    expect(tasks.map(({ id }) => id)).toEqual(ids.slice(0, 100));
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    expect(next).toMatch(/^[\w-]+$/);
  });

  it('has the fields of the contract, with nine fractional digits', async () => {
    const { tasks } = await page('?limit=1');
    expect(Object.keys(tasks[0]!).sort()).toEqual(['id', 'meta', 'status']);
    expect(tasks[0]).toMatchObject({ id: ids[0], status: 'uploaded' });
    const { meta } = tasks[0] as unknown as { meta: Record<string, unknown> };
    expect(Object.keys(meta).sort()).toEqual(['count', 'created_at', 'submitted_at']);
    expect(meta.created_at).toMatch(NANOSECONDS);
    expect(meta.submitted_at).toBe(meta.created_at);
    expect(meta.count).toBe(0);
  });

  it.each([1, 7, 100, 249, 250, 251, 1000])(
    'gives every task once, %i at a time',
    async (limit) => {
      expect(await all(`?limit=${limit}`)).toEqual(ids);
    },
  );

  it('gives the newest first when asked', async () => {
    expect(await all('?limit=60&order=desc')).toEqual([...ids].reverse());
  });

  it('ends also for a client that asks until a page is empty', async () => {
    const { next } = await page('?limit=1000');
    expect(next).toMatch(/^[\w-]+$/);
    expect(await page(`?limit=1000&cursor=${next}`)).toEqual({ tasks: [], next: '' });
  });

  it('starts from the beginning for a cursor without a value', async () => {
    expect(await page('?limit=7&cursor=')).toEqual(await page('?limit=7'));
  });

  it('shows a task that arrives while somebody pages, once', async () => {
    const { key } = await http.service.apiKeys.create({ name: 'dave' });
    const create = async () => (await http.create(undefined, { key })).process_id;
    const expected = [await create(), await create(), await create()];
    const first = await page('?limit=2', key);
    expected.push(await create());
    const second = await page(`?limit=2&cursor=${first.next}`, key);
    expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(expected);
  });

  it.each(['uploaded', 'wait for notification'])('filters by the text "%s"', async (status) => {
    const query = `?status=${encodeURIComponent(status)}&limit=20`;
    expect(await all(query)).toEqual(uploaded);
    expect((await page(query)).tasks.every((task) => task.status === 'uploaded')).toBe(true);
  });

  it('gives an empty page for a state that no task has', async () => {
    for (const status of ['completed', 'waiting', 'wait for falcon signature verify']) {
      expect(await page(`?status=${encodeURIComponent(status)}`)).toEqual({ tasks: [], next: '' });
    }
  });

  it('lists only the own tasks, and knows no one else’s cursor', async () => {
    const bobs = await all('', http.bob);
    expect(bobs).toHaveLength(5);
    expect(bobs.some((id) => ids.includes(id))).toBe(false);
    const { next } = await page('?limit=1');
    const stolen = await http.ask('GET', `${TASKS}?cursor=${next}`, undefined, { key: http.bob });
    expectProblem(stolen, 400, 'INVALID_CURSOR');
  });

  it('refuses every changed cursor', async () => {
    const { next } = await page('?limit=3');
    const broken = [
      ...Array.from({ length: next.length }, (_, i) => {
        const other = next[i] === 'A' ? 'B' : 'A';
        return next.slice(0, i) + other + next.slice(i + 1);
      }),
      next.slice(1),
      `${next}A`,
      'x',
      '0',
      String(ids[5]),
      '../../etc/passwd',
      "' OR 1=1 --",
      'ü',
      'A'.repeat(5000),
    ];
    for (const cursor of broken) {
      const answer = await http.ask('GET', `${TASKS}?cursor=${encodeURIComponent(cursor)}`);
      expectProblem(answer, 400, 'INVALID_CURSOR');
    }
    expectProblem(await http.ask('GET', `${TASKS}?cursor=${next}&order=desc`), 400);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1001',
    'limit=1e2',
    'limit=0x10',
    'limit=1.5',
    'limit=',
    'limit=ten',
    'limit=%20',
    'limit=99999999999999999999',
    'limit=5&limit=6',
    'status=nonsense',
    'status=',
    'status=Completed',
    'status=waiting&status=failed',
    'order=up',
    'order=',
    'state=failed',
    'Status=failed',
    '__proto__=1',
  ])('refuses ?%s', async (query) => {
    expectProblem(await http.ask('GET', `${TASKS}?${query}`), 400, 'INVALID_QUERY');
  });
});

describe('a large page', () => {
  it('costs one request per 100 tasks that it has, and is read in slices', async ({ start }) => {
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const store = memoryStore();
    const limits = { requestsPerSecond: 1, burst: 12 };
    const own = await start({ store, limits, workers: false });
    const [key] = await store.apiKeys.listApiKeys();
    const { clientId } = key!;
    for (let i = 0; i < 250; i++) {
      await store.tasks.put({ clientId, state: 'created', threads: 1, ttlMs: 1e6 });
    }
    const slices = vi.spyOn(store.tasks, 'list');
    const list = (query: string) => own.ask('GET', `${TASKS}?${query}`);
    // Of the ten requests that a page of 1000 may cost, seven are given back.
    expect((await list('limit=1000')).json.tasks).toHaveLength(250);
    expect(slices.mock.calls.map(([{ limit }]) => limit)).toEqual([100, 100, 100]);
    expect((await list('limit=200')).json.tasks).toHaveLength(200);
    expectProblem(await list('limit=900'), 429, 'RATE_LIMITED');
    for (let i = 0; i < 7; i++) expect((await list('limit=100')).status).toBe(200);
    expectProblem(await list('limit=1'), 429, 'RATE_LIMITED');
  });
});
