/** Lists of servers with habits: none of them is followed forever. */
import { expect, test } from 'vitest';
import { createClient, type TaskListItem } from '../../src/client/index.ts';

const item = (id: string) =>
  `{"id":${id},"status":"waiting","meta":{"count":1,"created_at":"","submitted_at":""}}`;

/** A client of a server that answers pages from this function. */
function clientOf(page: (cursor: string | null, count: number) => string) {
  const asked: (string | null)[] = [];
  const client = createClient({
    baseUrl: 'http://lists.test',
    retries: false,
    fetch: async (url) => {
      const cursor = new URL(url).searchParams.get('cursor');
      asked.push(cursor);
      if (asked.length > 50) throw new Error('it goes on and on');
      return new Response(page(cursor, asked.length));
    },
  });
  const collect = async () => {
    const ids: string[] = [];
    try {
      for await (const { id } of client.tasks()) ids.push(id);
    } catch (error) {
      return { ids, error };
    }
    return { ids, error: null };
  };
  return { asked, collect, client };
}

test.each([
  ['empty text', '""'],
  ['null', 'null'],
  ['false', 'false'],
])('the end is a falsy next: %s', async (_, end) => {
  const { collect, asked } = clientOf((cursor) =>
    cursor === null
      ? `{"tasks":[${item('1')}],"next":"a"}`
      : `{"tasks":[${item('2')}],"next":${end}}`,
  );
  expect(await collect()).toEqual({ ids: ['1', '2'], error: null });
  expect(asked).toEqual([null, 'a']);
});

test('the end is a next that is not there', async () => {
  const { collect } = clientOf(() => `{"tasks":[${item('912345678901234567')}]}`);
  expect(await collect()).toEqual({ ids: ['912345678901234567'], error: null });
});

test('the end is an empty page, whatever next is', async () => {
  const { collect, asked } = clientOf((cursor) =>
    cursor === null ? `{"tasks":[${item('1')}],"next":"a"}` : '{"tasks":[],"next":"a"}',
  );
  expect(await collect()).toEqual({ ids: ['1'], error: null });
  expect(asked.length).toBe(2);
});

test('cursors may be numbers, of any length', async () => {
  const { collect, asked } = clientOf((cursor) =>
    cursor === null
      ? `{"tasks":[${item('1')}],"next":912345678901234567}`
      : `{"tasks":[${item('2')}],"next":""}`,
  );
  expect((await collect()).ids).toEqual(['1', '2']);
  expect(asked[1]).toBe('912345678901234567');
});

test('a cursor that comes back is told, not followed', async () => {
  const { collect, asked } = clientOf(
    (_, count) => `{"tasks":[${item(String(count))}],"next":"${'ab'[count % 2]}"}`,
  );
  const { ids, error } = await collect();
  expect(error).toMatchObject({ kind: 'malformed', code: 'REPEATED_CURSOR' });
  expect(ids).toEqual(['1', '2', '3']);
  expect(asked.length).toBe(3);
});

test('a server that does not look at cursors is told, though they are new every time', async () => {
  const { collect, asked } = clientOf((_, count) => `{"tasks":[${item('7')}],"next":"c${count}"}`);
  const { ids, error } = await collect();
  expect(error).toMatchObject({ code: 'REPEATED_CURSOR' });
  expect([ids, asked.length]).toEqual([['7'], 2]);
});

test('who stops early asks for no more', async () => {
  const { client, asked } = clientOf(
    (_, count) => `{"tasks":[${item(`${count}`)}],"next":"c${count}"}`,
  );
  let seen: TaskListItem | undefined;
  for await (const each of client.tasks()) {
    seen = each;
    break;
  }
  expect(seen!.id).toBe('1');
  expect(asked.length).toBe(1);
});

test.each([
  ['no JSON', '<html>'],
  ['no object', '[]'],
  ['no tasks', '{"next":""}'],
  ['an id that is none', '{"tasks":[{"id":"x","status":"waiting","meta":{}}],"next":""}'],
  ['an id that was rounded', '{"tasks":[{"id":1.5,"status":"waiting","meta":{}}],"next":""}'],
  ['no status', '{"tasks":[{"id":1,"meta":{}}],"next":""}'],
])('a malformed page is told: %s', async (_, body) => {
  const { collect } = clientOf(() => body);
  expect((await collect()).error).toMatchObject({ kind: 'malformed', code: 'MALFORMED_ANSWER' });
});
