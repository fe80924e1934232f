/** `falconry submit` against the real service: whole, interrupted everywhere, and never twice. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { type BadNetwork, badNetwork } from '../client/badNetwork.ts';
import { signedItems } from '../client/items.ts';
import { PLAIN_KEY, startPlainServer } from '../client/plainServer.ts';
import { start } from '../middleware/process.ts';
import { serviceTest, startService } from '../middleware/support.ts';
import { temporaryFolder } from './cli.ts';
import { environment, falconry, writeTask } from './submitServer.ts';

/** Proofs would take most of the time; a long list comes in two parts. */
const { test, http } = serviceTest({
  threads: 1,
  aggregateFormat: 'bundle',
  maxBodyBytes: 3 * 2 ** 20,
});
let network: BadNetwork;
let env: NodeJS.ProcessEnv;
const folder = temporaryFolder();
let files = 0;
/** A new task file for every test, so that each has a state of its own. */
const newTask = (items = signedItems(6)) => writeTask(folder.path, `task${++files}.json`, items);

test.beforeEach(async ({ http }) => {
  await network?.close();
  network = await badNetwork(http.port);
  env = environment(network.address, http.alice);
});
afterAll(() => network.close());

const tasksOf = async () => {
  const { json } = await http.ask('GET', '/v1/svc/tasks?limit=1000');
  return json.tasks.map(({ id }: { id: number }) => String(id)) as string[];
};
const stateOf = (path: string) => JSON.parse(readFileSync(`${path}.submit`, 'utf8'));

describe('line by line', () => {
  const lines = formatTaskFile(signedItems(6)).replace(/^\[|,(?=\n)|\]\n$/g, '');
  const newList = (text: string) => {
    const path = join(folder.path, `list${++files}.ndjson`);
    writeFileSync(path, text);
    return path;
  };

  test('a short list, with a byte order mark', async () => {
    const out = join(folder.path, 'few.json');
    const { stdout } = await falconry(['submit', newList(`\ufeff${lines}`), '-o', out], env);
    expect(stdout).toMatch(/: 6 signatures in a bundle of \d+ bytes, verified\n$/);
  });

  test('a list that is too long for one file: in parts, resumed, and not twice', async () => {
    const list = newList(`${lines}\n`.repeat(300));
    const out = join(folder.path, 'many.json');
    const before = (await tasksOf()).length;
    const first = await falconry(['submit', list, '--no-wait'], env);
    expect(first.stdout).toMatch(/^task \d+ accepted: 1800 signatures\n$/);
    const state = stateOf(list);
    expect(state).toMatchObject({ step: 'wait', upload_url: null });
    // As a command leaves it that was killed before it had the last answer.
    writeFileSync(`${list}.submit`, JSON.stringify({ ...state, step: 'create', process_id: null }));
    const { stdout } = await falconry(['submit', list, '-o', out], env);
    expect(stdout).toMatch(/: 1800 signatures in a series of \d+ bytes, verified\n$/);
    expect((await tasksOf()).length).toBe(before + 1);
    expect((await falconry(['verify-aggregate', out, list], {})).code).toBe(0);
  });
});

describe('to the end', () => {
  test('a checked result file, a report, and no state left', async () => {
    const task = newTask();
    const out = join(folder.path, 'result.json');
    const { code, stdout, stderr } = await falconry(['submit', task, '-o', out], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^task \d+: 6 signatures in a bundle of \d+ bytes, verified\n$/);
    expect(existsSync(`${task}.submit`)).toBe(false);
    const { code: verified } = await falconry(['verify-aggregate', out, task], {});
    expect(verified).toBe(0);
  });

  test('as JSON; the result on standard output; from standard input', async () => {
    const task = newTask();
    const out = join(folder.path, 'json.json');
    const { code, stdout } = await falconry(['submit', task, '--out', out, '--json'], env);
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ ok: true, count: 6, resumed: false, checked: true, out });
    expect(report.process_id).toMatch(/^\d+$/);
    const piped = await falconry(['submit', task, '--quiet'], env);
    expect(JSON.parse(piped.stdout)).toMatchObject({ version: 1, count: 6 });
  });

  test('with --no-wait the state stays, and the next call fetches the same task', async () => {
    const task = newTask();
    const before = await tasksOf();
    const first = await falconry(['submit', task, '--no-wait', '--json'], env);
    expect(first.code).toBe(0);
    const { process_id } = JSON.parse(first.stdout);
    expect(stateOf(task)).toMatchObject({ step: 'wait', process_id });
    expect(statSync(`${task}.submit`).mode & 0o777).toBe(0o600);
    const out = join(folder.path, 'nowait.json');
    const second = await falconry(['submit', task, '-o', out, '--json'], env);
    expect(JSON.parse(second.stdout)).toMatchObject({ process_id, resumed: true });
    expect((await tasksOf()).length).toBe(before.length + 1);
  });

  test('a task that fails: every bad signature, code 1, and no state left', async () => {
    const items = signedItems(6).map((item, i) =>
      i === 4 ? { ...item, message: new Uint8Array(1) } : item,
    );
    const task = newTask(items);
    const { code, stderr, stdout } = await falconry(['submit', task], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/failed/);
    expect(stderr).toMatch(/item 4: .*signatureMismatch/);
    expect(existsSync(`${task}.submit`)).toBe(false);
  });
});

describe('killed', () => {
  /**
   * Stops the command with kill -9 as soon as this request comes, before or after the server has
   * heard of it.
   */
  async function killedAt(task: string, pattern: RegExp, when: 'before' | 'after'): Promise<void> {
    const command = start('src/cli/main.ts', ['submit', task, '-o', `${task}.out`], env);
    network.fate = (request) => {
      if (!pattern.test(request)) return 'pass';
      // The answer never comes, so the command is still in this step when it dies.
      setTimeout(() => command.kill('SIGKILL'), when === 'before' ? 0 : 300);
      return when;
    };
    const { code } = await command.ended;
    expect(code).toBe(null);
    network.fate = () => 'pass';
  }

  const moments: [string, RegExp, 'before' | 'after'][] = [
    ['before the creation', /^POST .*aggsign\/task$/, 'before'],
    ['after the creation, before its answer', /^POST .*aggsign\/task$/, 'after'],
    ['before the upload', /^PUT /, 'before'],
    ['after the upload, before its answer', /^PUT /, 'after'],
    ['before the notification', /notify/, 'before'],
    ['after the notification, before its answer', /notify/, 'after'],
    ['while it waits', /^GET .*\/events$/, 'before'],
    ['before the result', /^GET .*\/results\//, 'before'],
  ];
  test.each(moments)(
    '%s: the same command goes on, and there is one task',
    async (_, pattern, when) => {
      const task = newTask();
      const before = await tasksOf();
      await killedAt(task, pattern, when);
      expect(existsSync(`${task}.submit`)).toBe(true);
      expect(existsSync(`${task}.out`)).toBe(false);
      network.requests.length = 0;
      const { code, stderr } = await falconry(['submit', task, '-o', `${task}.out`], env);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(/^resuming task\d+\.json\.submit: /);
      expect((await tasksOf()).length).toBe(before.length + 1);
      expect(existsSync(`${task}.submit`)).toBe(false);
      expect((await falconry(['verify-aggregate', `${task}.out`, task], {})).code).toBe(0);
    },
  );
});

test('started twice at once: one task, and both fetch its result', async () => {
  const task = newTask();
  const before = await tasksOf();
  const ends = await Promise.all(
    [1, 2].map((i) => falconry(['submit', task, '-o', `${task}.out${i}`], env)),
  );
  expect(ends.map(({ code, stderr }) => [code, stderr.replace(/^resuming .*\n/, '')])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect((await tasksOf()).length).toBe(before.length + 1);
  expect(existsSync(`${task}.submit`)).toBe(false);
  const [one, two] = [1, 2].map((i) => readFileSync(`${task}.out${i}`, 'utf8'));
  expect(one).toBe(two);
});

describe('another call of the command sends the same file', () => {
  const refused = { status: 409, headers: { 'content-type': 'application/problem+json' } };

  test('its upload takes the place of ours, twice: its task is ours', async () => {
    const task = newTask();
    const before = await tasksOf();
    let other: Promise<unknown> | undefined;
    network.fate = (request, count) => {
      if (!/^PUT /.test(request) || count > 1) return 'pass';
      if (count === 1) {
        const own = { ...env, ...environment(`http://127.0.0.1:${http.port}`, http.alice) };
        other = falconry(['submit', task, '-o', `${task}.other`], own);
      }
      return refused;
    };
    const { code, stderr } = await falconry(['submit', task, '-o', `${task}.out`], env);
    expect(code, stderr).toBe(0);
    await other;
    expect((await tasksOf()).length).toBe(before.length + 1);
  });

  test('it notifies just before a new url is asked for: no second task', async () => {
    const task = newTask();
    const before = await tasksOf();
    expect((await falconry(['submit', task, '--no-wait'], env)).code).toBe(0);
    const state = stateOf(task);
    writeFileSync(`${task}.submit`, JSON.stringify({ ...state, step: 'upload' }));
    const status = 'wait for task file upload';
    const early = JSON.stringify({ process_id: Number(state.process_id), status });
    network.requests.length = 0;
    network.fate = (request, count) =>
      count === 0 && /^GET .*\/tasks\/\d+$/.test(request)
        ? { status: 200, headers: { 'content-type': 'application/json' }, body: early }
        : 'pass';
    const { code, stderr } = await falconry(['submit', task, '-o', `${task}.out`], env);
    expect(code, stderr).toBe(0);
    expect(network.requests.join()).toMatch(/PUT .*POST .*GET/);
    expect((await tasksOf()).length).toBe(before.length + 1);
  });
});

describe('a lost network', () => {
  test('code 4, the state kept, and the next call goes on', async () => {
    const task = newTask();
    network.fate = (request) => (/^PUT /.test(request) ? 'before' : 'pass');
    const lost = await falconry(['submit', task, '--retries', '1', '--json'], env);
    expect(lost.code).toBe(4);
    expect(JSON.parse(lost.stderr)).toMatchObject({ ok: false, code: 'UNREACHABLE' });
    expect(lost.stderr).toMatch(/run the same command again to resume/);
    expect(stateOf(task).step).toBe('upload');
    const behind = { ...env, HTTPS_PROXY: 'http://127.0.0.1:9' };
    const { stderr } = await falconry(['submit', task, '--retries', '0'], behind);
    expect(stderr).toContain('only with NODE_USE_ENV_PROXY=1');
    network.fate = () => 'pass';
    const { code } = await falconry(['submit', task, '-o', `${task}.out`], env);
    expect(code).toBe(0);
  });

  test('every first request is lost, half or whole: one call does it all the same', async () => {
    const task = newTask();
    const before = await tasksOf();
    network.fate = (request, count) =>
      count > 0 ? 'pass' : /results|events/.test(request) ? 'half' : 'after';
    const { code, stderr } = await falconry(['submit', task, '-o', `${task}.out`], env);
    expect(code, stderr).toBe(0);
    expect((await tasksOf()).length).toBe(before.length + 1);
  });
});

describe('a state that does not fit', () => {
  test('of another content: refused, unless it is begun anew', async () => {
    const task = newTask();
    expect((await falconry(['submit', task, '--no-wait'], env)).code).toBe(0);
    writeTask(folder.path, task.split('/').at(-1)!, signedItems(5));
    const refused = await falconry(['submit', task], env);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/a submission of a different task file: give --restart/);
    const anew = await falconry(['submit', task, '--restart', '-o', `${task}.out`], env);
    expect(anew.code, anew.stderr).toBe(0);
  });

  test('of another service; of a task that was deleted; of a broken file', async () => {
    const task = newTask();
    expect((await falconry(['submit', task, '--no-wait'], env)).code).toBe(0);
    const elsewhere = await falconry(['submit', task], environment(http.address, http.alice));
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringMatching(/another service/),
    ]);

    const { process_id } = stateOf(task);
    expect((await falconry(['tasks', 'delete', process_id], env)).code).toBe(0);
    const gone = await falconry(['submit', task], env);
    expect([gone.code, gone.stderr]).toEqual([
      4,
      expect.stringMatching(/no longer exists: give --restart/),
    ]);

    writeFileSync(`${task}.submit`, '{"version":1');
    const broken = await falconry(['submit', task], env);
    expect([broken.code, broken.stderr]).toEqual([
      3,
      expect.stringMatching(/is not the state of a submission/),
    ]);
  });

  test('a task that expired before its notification was never submitted: another one is made', async () => {
    let aheadMs = 0;
    const store = memoryStore({ nowMs: () => Date.now() + aheadMs });
    const short = await startService({ threads: 1, store });
    try {
      const task = newTask();
      const proxied = await badNetwork(short.port);
      const own = environment(proxied.address, short.alice);
      proxied.fate = (request) => (/^PUT /.test(request) ? 'before' : 'pass');
      expect((await falconry(['submit', task, '--retries', '0'], own)).code).toBe(4);
      aheadMs = 2 * 3_600_000;
      expect((await store.tasks.sweep({ answerMs: 24 * 3_600_000 })).expired).toHaveLength(1);
      aheadMs = 0;
      proxied.fate = () => 'pass';
      const { code, stderr } = await falconry(['submit', task, '-o', `${task}.out`], own);
      expect(code, stderr).toBe(0);
      await proxied.close();
    } finally {
      await short.close();
    }
  });
});

test('a wrong key, a wrong address, wrong arguments: each with its code', async () => {
  const task = newTask();
  const stranger = await falconry(['submit', task], { ...env, FALCONRY_API_KEY: 'nobody' });
  expect([stranger.code, stranger.stderr]).toEqual([4, expect.stringMatching(/answered 401/)]);
  expect(stranger.stderr).not.toMatch(/nobody/);
  const keyless = await falconry(['submit', task], { FALCONRY_URL: network.address });
  expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringMatching(/no API key/)]);
  expect((await falconry(['submit'], env)).code).toBe(2);
  expect((await falconry(['submit', join(folder.path, 'none.json')], env)).code).toBe(3);
  const broken = join(folder.path, 'broken.json');
  writeFileSync(broken, '[{"digest":"0x"}]');
  expect((await falconry(['submit', broken], env)).code).toBe(1);
  expect(existsSync(`${broken}.submit`)).toBe(false);
});

test('another server of the same contract: ids of 18 digits, no events, a result that only it can read', async () => {
  const plain = await startPlainServer();
  try {
    const task = newTask();
    const own = {
      ...environment(plain.base, PLAIN_KEY),
      FALCONRY_SERVICE_NAME: 'plain',
    };
    const args = ['submit', task, '-o', `${task}.out`];
    const unread = await falconry(args, own);
    expect([unread.code, unread.stderr]).toEqual([
      1,
      expect.stringMatching(/is not a result file that can be verified/),
    ]);
    const taken = await falconry([...args, '--no-check'], own);
    expect(taken.code, taken.stderr).toBe(0);
    expect(plain.tasks.size).toBe(1);
    const [id] = plain.tasks.keys();
    expect(readFileSync(`${task}.out`, 'utf8')).toContain(`{"task":${id},`);
  } finally {
    await plain.close();
  }
});
