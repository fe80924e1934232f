/** `falconry tasks` against the real service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { signedItems } from '../client/items.ts';
import { PLAIN_KEY, startPlainServer } from '../client/plainServer.ts';
import { startService, type TestService } from '../middleware/support.ts';
import { temporaryFolder } from './cli.ts';
import { environment, falconry, writeTask } from './submitServer.ts';

let http: TestService;
let env: NodeJS.ProcessEnv;
let task: string;
const ids: string[] = [];
const folder = temporaryFolder();
const tasks = (...args: string[]) => falconry(['tasks', ...args], env);

beforeAll(async () => {
  http = await startService({ threads: 1 });
  env = environment(http.address, http.alice);
  task = writeTask(folder.path, 'task.json');
  const client = createClient({ baseUrl: http.address, apiKey: http.alice });
  for (let i = 0; i < 3; i++) {
    ids.push((await client.submit(signedItems(6))).process_id);
  }
  for (const id of ids) await client.waitFor(id);
  ids.push((await client.createTask()).process_id);
});
afterAll(async () => {
  await http.close();
});

test('list: a table or JSON, by status, newest first, no more than asked for', async () => {
  const { code, stdout, stderr } = await tasks();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^ID +STATUS +SIGNATURES +CREATED +FINISHED$/);
  expect(lines.map((line) => line.split(/ +/)[0])).toEqual(ids);
  expect(lines[0]).toMatch(/^\d+ +completed +6 +\S+Z +\S+Z$/);
  expect(lines[3]).toMatch(/^\d+ +created +0 +\S+Z$/);

  const listed = async (...args: string[]) =>
    JSON.parse((await tasks('list', '--json', ...args)).stdout).map(({ id }: { id: string }) => id);
  expect(await listed()).toEqual(ids);
  expect(await listed('--newest')).toEqual([...ids].reverse());
  expect(await listed('--status', 'completed')).toEqual(ids.slice(0, 3));
  expect(await listed('--status', 'failed')).toEqual([]);
  expect(await listed('--limit', '2')).toEqual(ids.slice(0, 2));
  expect(await listed('--limit', '0')).toEqual(ids);
  expect((await tasks('list', '--limit', '2')).stderr).toBe(
    'there are more tasks; --limit 0 lists all\n',
  );
  expect((await tasks('list', '--limit', '4')).stderr).toBe('');
});

test('show: the record', async () => {
  const { stdout } = await tasks('show', ids[0]!);
  expect(stdout).toMatch(/^process_id +\d+$/m);
  expect(stdout).toMatch(/^status +completed$/m);
  const { stdout: json } = await tasks('show', '--json', ids[0]!, ids[3]!);
  const records = json
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ process_id }) => process_id)).toEqual([ids[0], ids[3]]);
});

test('wait: 0 for completed tasks, 1 for what ended otherwise', async () => {
  expect(await tasks('wait', ids[0]!, ids[1]!)).toMatchObject({
    code: 0,
    stderr: `${ids[0]} completed\n${ids[1]} completed\n`,
  });
  const bad = signedItems(2).map((item) => ({ ...item, message: new Uint8Array(3) }));
  const client = createClient({ baseUrl: http.address, apiKey: http.alice });
  const { process_id } = await client.submit(bad);
  const { code, stderr } = await tasks('wait', process_id);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/item 0: .*\n {2}item 1: /)]);
  // The tasks after one that failed are awaited too.
  const both = await tasks('wait', process_id, ids[0]!, process_id);
  expect(both.code).toBe(1);
  expect(both.stderr).toMatch(/completed\n.*item 0: .*\n {2}item 1: /s);
  expect(both.stderr.match(/item 0: /g)).toHaveLength(1);
  const told = await tasks('wait', process_id, '--json');
  expect(JSON.parse(told.stdout)).toMatchObject({ ok: false, code: 'TASK_FAILED', process_id });
  await client.remove(process_id);
});

test('result: fetched, checked, written', async () => {
  const out = join(folder.path, 'result.json');
  const checked = await tasks('result', ids[1]!, '-o', out, '--statements', task);
  expect(checked.stderr).toMatch(/ verified\n$/);
  expect(String(JSON.parse(readFileSync(out, 'utf8')).process_id)).toBe(ids[1]);
  expect((await tasks('result', ids[1]!)).stdout).toBe(readFileSync(out, 'utf8'));
  const other = writeTask(folder.path, 'other.json', signedItems(5));
  const wrong = await tasks('result', ids[1]!, '-o', `${out}.no`, '--statements', other);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/refused/)]);
  expect((await tasks('result', ids[3]!)).code).toBe(1);
});

test('cancel and delete', async () => {
  const [done, , , open] = ids as [string, string, string, string];
  expect((await tasks('cancel', open)).stdout).toMatch(/^status +cancelled$/m);
  expect((await tasks('cancel', done)).stdout).toMatch(/^status +completed$/m);
  expect(await tasks('delete', done, open)).toMatchObject({
    code: 0,
    stderr: `${done} removed\n${open} removed\n`,
  });
  const gone = await tasks('show', open);
  expect([gone.code, gone.stderr]).toEqual([4, expect.stringMatching(/answered 404/)]);
});

test('ids of another server that a number does not hold', async () => {
  const plain = await startPlainServer();
  const client = createClient({ baseUrl: plain.base, apiKey: PLAIN_KEY, serviceName: 'plain' });
  const { process_id } = await client.aggregate(signedItems(2));
  const own = { ...environment(plain.base, PLAIN_KEY), FALCONRY_SERVICE_NAME: 'plain' };
  const waited = await falconry(['tasks', 'wait', process_id, '--json'], own);
  expect(JSON.parse(waited.stdout)).toMatchObject({ process_id, status: 'aggregate stored' });
  expect(String(Number(process_id))).not.toBe(process_id);
  const listed = await falconry(['tasks', 'list', '--json'], own);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id: process_id, status: 'completed' }]);
  await plain.close();
});

test('what a server says cannot steer the terminal', async () => {
  const plain = await startPlainServer();
  plain.intercept = (_, response) => {
    const record = { process_id: 1, status: 'x\x1b[2J\x1b]0;title\x07', note: 'a\nb' };
    response.writeHead(200).end(JSON.stringify(record));
    return true;
  };
  const { stdout } = await falconry(['tasks', 'show', '1'], environment(plain.base, PLAIN_KEY));
  expect(stdout).toContain('x [2J ]0;title ');
  expect(stdout).toMatch(/^note +a b$/m);
  plain.intercept = (_, response) => {
    response.writeHead(400).end(JSON.stringify({ detail: '\x1b[31mred' }));
    return true;
  };
  const { stderr } = await falconry(['tasks', 'show', '1'], environment(plain.base, PLAIN_KEY));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
  expect([stderr.includes('[31mred'), /\x1b/.test(stderr)]).toEqual([true, false]);
  await plain.close();
});

test.each([
  [['lst'], /did you mean/i],
  [['show'], /expected the id of a task/],
  [['show', 'x1'], /"x1" is not the id of a task/],
  [['list', '5'], /unexpected argument 5/],
  [['show', '5', '--limit', '1'], /has no option --limit/],
  [['list', '--limit', '-1'], /limit/],
  [['result', '1', '2'], /only one task/],
])('wrong usage: tasks %j', async (args, pattern) => {
  const { code, stderr } = await tasks(...args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(pattern)]);
});

test('the service says why it refuses', async () => {
  const { code, stderr } = await tasks('list', '--status', 'nonsense');
  expect([code, stderr]).toEqual([4, expect.stringMatching(/status must be one of/)]);
  const told = await tasks('list', '--status', 'nonsense', '--json');
  expect(JSON.parse(told.stdout)).toMatchObject({ ok: false, code: 'INVALID_QUERY', status: 400 });
});
