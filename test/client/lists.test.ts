/** Lists of servers with habits: none of them is followed forever. */
import { expect, test } from 'vitest';
import { createClient, type TaskListItem } from '../../src/client/index.ts';

const item = (id: string) =>
  `{"id":${id},"status":"waiting","meta":{"count":1,"created_at":"","submitted_at":""}}`;

/** More than a number holds. */
const LONG = '912345678901234567';
/** A page of one task; the cursor is JSON. */
const page = (id: string, next: string) => `{"tasks":[${item(id)}],"next":${next}}`;

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
  ['an empty text', page('1', '"a"'), page('2', '""'), ['1', '2'], 'a'],
  ['null', page('1', '"a"'), page('2', 'null'), ['1', '2'], 'a'],
  ['false', page('1', '"a"'), page('2', 'false'), ['1', '2'], 'a'],
  ['nothing', page('1', '"a"'), `{"tasks":[${item(LONG)}]}`, ['1', LONG], 'a'],
  ['an empty page, whatever next is', page('1', '"a"'), '{"tasks":[],"next":"a"}', ['1'], 'a'],
  ['an end after a cursor that is a number', page('1', LONG), page('2', '""'), ['1', '2'], LONG],
])('the end is told by %s', async (_, first, second, ids, cursor) => {
  const { collect, asked } = clientOf((given) => (given === null ? first : second));
  expect(await collect()).toEqual({ ids, error: null });
  expect(asked).toEqual([null, cursor]);
});

test('a cursor that comes back is told, not followed', async () => {
  const { collect, asked } = clientOf((_, count) => page(String(count), `"${'ab'[count % 2]}"`));
  const { ids, error } = await collect();
  expect(error).toMatchObject({ kind: 'malformed', code: 'REPEATED_CURSOR' });
  expect(ids).toEqual(['1', '2', '3']);
  expect(asked.length).toBe(3);
});

test('a server that does not look at cursors is told, though they are new every time', async () => {
  const { collect, asked } = clientOf((_, count) => page('7', `"c${count}"`));
  const { ids, error } = await collect();
  expect(error).toMatchObject({ code: 'REPEATED_CURSOR' });
  expect([ids, asked.length]).toEqual([['7'], 2]);
});

test('who stops early asks for no more', async () => {
  const { client, asked } = clientOf((_, count) => page(`${count}`, `"c${count}"`));
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
