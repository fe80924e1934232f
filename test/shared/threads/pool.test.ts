/** The pool that everything with threads stands on: its own behaviour, with small real workers. */
import { afterAll, describe, expect, test } from 'vitest';
import { CodedError } from '../../../src/shared/errors.ts';
import { workerAt, workerBeside } from '../../../src/shared/threads/host.ts';
import { packItems, unpackItems } from '../../../src/shared/threads/packItems.ts';
import { type PoolSettings, ThreadPool } from '../../../src/shared/threads/pool.ts';
import { BLOCK, moduleOf, threadsSoFar } from './workers.ts';

const pools: ThreadPool[] = [];
function poolOf(source: string, settings: Partial<PoolSettings> = {}): ThreadPool {
  const module = workerAt(moduleOf(source));
  const made = new ThreadPool({ size: 2, name: 'test', module, ...settings });
  pools.push(made);
  return made;
}
afterAll(() => Promise.all(pools.map((each) => each.close())));

/** A worker that does what `perform`, the text of a function, says. */
const serving = (perform: string, name = 'test'): string => `
  import { serveThread } from '${new URL('../../../src/shared/threads/serve.ts', import.meta.url).href}';
  serveThread('${name}', ${perform});`;

const SQUARE = '({ x }) => ({ square: x * x, own: Uint8Array.of(x), buffer: new ArrayBuffer(x) })';
const SILENT = 'setInterval(() => {}, 1000);';
const lost = { name: 'CodedError', code: 'THREAD_LOST', retriable: true };

interface Squared {
  readonly square: number;
}

/** Squares the numbers up to `count`, and tells who did how many. */
async function squares(
  pool: ThreadPool,
  count: number,
  more: { isSpare?: boolean; signal?: AbortSignal; local?: () => Promise<void> } = {},
): Promise<{ results: number[]; here: number }> {
  const results: number[] = [];
  let here = 0;
  const jobs = Array.from({ length: count }, (_, x) => ({ x }));
  await pool.spread<{ x: number }, Squared>(jobs.values(), count, {
    parcel: (job) => ({ work: job }),
    local: async ({ x }) => {
      await more.local?.();
      here++;
      return { square: x * x };
    },
    onDone: ({ x }, { square }) => {
      expect(results[x]).toBe(undefined);
      results[x] = square;
    },
    ...(more.isSpare && { isSpare: true }),
    ...(more.signal && { signal: more.signal }),
  });
  return { results, here };
}
const expected = (count: number): number[] => Array.from({ length: count }, (_, x) => x * x);

describe('calls', () => {
  test('are answered, with their bytes as they were', async () => {
    const pool = poolOf(serving(SQUARE));
    const answer = await pool.call({ work: { x: 3 } });
    expect(answer).toEqual({ square: 9, own: Uint8Array.of(3), buffer: new ArrayBuffer(3) });
    expect(pool.running).toBe(1);
  });

  test('bring news, and can be called off', async () => {
    const pool = poolOf(
      serving(`async (work, { signal, tell }) => {
        tell('begun');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return signal.reason.code;
      }`),
    );
    const controller = new AbortController();
    const news: unknown[] = [];
    const onNews = (told: unknown): void => {
      news.push(told);
      controller.abort();
    };
    const answer = await pool.call({ work: {} }, { onNews, signal: controller.signal });
    expect([news, answer]).toEqual([['begun'], 'ABORTED']);
    expect(pool.running).toBe(1);
    // Called off before it was begun.
    const signal = AbortSignal.abort();
    expect(await pool.call({ work: {} }, { signal, onNews })).toBe('ABORTED');
  });

  test('whose worker does not stop in time end the thread; the next call has another', async () => {
    const pool = poolOf(serving(`(work) => { if (work.block) ${BLOCK} return 'well'; }`));
    const signal = AbortSignal.abort();
    const call = pool.call({ work: { block: true } }, { signal, graceMs: 1 });
    await expect(call).rejects.toMatchObject(lost);
    expect(await pool.call({ work: {} })).toBe('well');
  });

  test('that cannot travel are refused alone', async () => {
    const pool = poolOf(serving(SQUARE));
    await pool.ready();
    const other = pool.call({ work: { x: 5 } });
    const call = pool.call({ work: { x: () => 1 } });
    await expect(call).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await other).toMatchObject({ square: 25 });
    expect(pool.running).toBe(1);
  });

  test('tell a fault with its code, and where it came from', async () => {
    const pool = poolOf(serving(`() => { throw new Error('of the worker'); }`));
    const fault = await pool.call({ work: {} }).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(CodedError);
    expect(fault).toMatchObject({ code: 'INTERNAL' });
    expect(String((fault as Error).cause)).toContain('of the worker');
    expect(pool.running).toBe(1);
  });

  test('are rejected when there is no thread, with the reason', async () => {
    const missing = workerAt('./nowhere/worker.js');
    const pool = poolOf('', { module: missing });
    await expect(pool.ready()).rejects.toMatchObject(lost);
    await expect(pool.call({ work: {} })).rejects.toMatchObject({
      ...lost,
      cause: { code: 'MODULE_NOT_FOUND' },
    });
    // A bundle that has no import.meta.url.
    const nowhere = poolOf('', { module: workerBeside(undefined, 'worker') });
    await expect(nowhere.call({ work: {} })).rejects.toMatchObject(lost);
    await pool.close();
    await expect(pool.call({ work: {} })).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('jobs', () => {
  test('are done once each, by threads and by the calling one', async () => {
    const pool = poolOf(serving(SQUARE));
    const first = await squares(pool, 100);
    expect(first.results).toEqual(expected(100));
    expect(await pool.started()).toBe(2);
    // The calling one pauses between its jobs here, so that the others get some.
    const local = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
    const shared = await squares(pool, 300, { local });
    expect(shared.results).toEqual(expected(300));
    expect(shared.here).toBeGreaterThan(0);
    expect(shared.here).toBeLessThan(300);
    const spared = await squares(pool, 50, { isSpare: true });
    expect(spared).toEqual({ results: expected(50), here: 0 });
  });

  test.each([
    ['are not there', `import './nothing-here.js';`, 0],
    ['never say hello', SILENT, 0],
    ['say another name', serving(SQUARE, 'another'), 0],
    ['die at a job', serving('() => process.exit(3)'), 0],
    ['die at some', serving('({ x }) => x % 7 === 6 ? process.exit(3) : { square: x * x }'), 1],
  ])('of threads that %s', async (_, source, answered) => {
    const pool = poolOf(source);
    for (let again = 0; again < 3; again++) {
      const { results, here } = await squares(pool, 40, { isSpare: true });
      expect(results).toEqual(expected(40));
      if (answered === 0) expect(here).toBe(40);
    }
  });

  test('end with the first fault, of a thread or of a callback', async () => {
    const pool = poolOf(serving(`() => { throw new Error('of the worker'); }`));
    await pool.ready();
    await expect(squares(pool, 9, { isSpare: true })).rejects.toMatchObject({ code: 'INTERNAL' });
    const fault = new Error('of the caller');
    const local = (): Promise<void> => Promise.reject(fault);
    const alone = poolOf('', { size: 0 });
    await expect(squares(alone, 9, { local })).rejects.toBe(fault);
    const signal = AbortSignal.abort(fault);
    const aborted = { code: 'ABORTED', cause: fault };
    await expect(squares(alone, 9, { signal })).rejects.toMatchObject(aborted);
  });

  test('of a pool that is closed meanwhile are rejected', async () => {
    const pool = poolOf(serving(`() => { ${BLOCK} }`));
    await pool.ready();
    const run = squares(pool, 9, { isSpare: true });
    const ended = expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    await pool.close();
    await ended;
  });
});

describe('threads', () => {
  test('are asked for no more where they were refused', async () => {
    const before = await threadsSoFar();
    const pool = poolOf('process.exit(0);');
    for (let again = 0; again < 5; again++) {
      await squares(pool, 9);
      expect(await pool.started()).toBe(0);
    }
    // two at first, two more, and that is enough
    expect((await threadsSoFar()) - before - 1).toBe(4);
  });

  test('that never say hello are given up, and others are not asked for', async () => {
    const before = await threadsSoFar();
    const pool = poolOf(SILENT, { helloMs: 50 });
    const { threads, release } = pool.session();
    await expect(threads[0]!.call({ work: {} })).rejects.toMatchObject(lost);
    release({ work: {} });
    expect(await pool.started()).toBe(0);
    pool.start();
    expect((await threadsSoFar()) - before - 1).toBe(2);
  });

  test('are no more than there is use for, and stay', async () => {
    const before = await threadsSoFar();
    const pool = poolOf(serving(SQUARE), { size: 5 });
    await squares(pool, 2);
    expect(await pool.started()).toBe(2);
    await squares(pool, 100);
    await pool.started();
    await squares(pool, 100);
    expect((await threadsSoFar()) - before - 1).toBe(5);
  });

  test('of a session hear its end', async () => {
    const pool = poolOf(serving('(work) => work.kind'));
    const session = pool.session();
    expect(session.threads).toHaveLength(2);
    const answers = session.threads.map((thread) => thread.call({ work: { kind: 'step' } }));
    expect(await Promise.all(answers)).toEqual(['step', 'step']);
    const late = session.threads[0]!.call({ work: { kind: 'late' } });
    const reason = new CodedError('ABORTED');
    session.release({ work: { kind: 'last' } }, reason);
    await expect(late).rejects.toBe(reason);
    expect(pool.session().id).not.toBe(session.id);
  });
});

test('an address of the caller may be relative to the working directory', async () => {
  const file = new URL('../../../src/falcon/verifyWorker.ts', import.meta.url);
  const cwd = process.cwd();
  expect(workerAt('./src/falcon/verifyWorker.ts').locate().href).toBe(
    new URL(`file://${cwd}/src/falcon/verifyWorker.ts`).href,
  );
  expect(workerAt(file.pathname).locate().href).toBe(file.href);
  expect(workerAt(file.href).locate().href).toBe(file.href);
  expect(workerAt(file).locate()).toBe(file);
});

test('packed items come back as they were, keys shared, whole and in part', () => {
  const bytes = (n: number) => Uint8Array.from({ length: n }, (_, i) => i + n);
  const key = bytes(11);
  const items = [3, 0, 70, 1].map((n) => ({
    publicKey: n === 70 ? bytes(n) : key,
    message: bytes(2 * n),
    signature: bytes(n + 1),
  }));
  expect(unpackItems(packItems(items))).toEqual(items);
  const [first, second] = unpackItems(packItems(items));
  expect(first!.publicKey).toBe(second!.publicKey);
  for (let from = 0; from <= 4; from++) {
    for (let to = from; to <= 4; to++) {
      expect(unpackItems(packItems(items, from, to))).toEqual(items.slice(from, to));
    }
  }
  const prepared = { ...items[0]!, publicKey: { publicKey: key } };
  expect(unpackItems(packItems([prepared]))).toEqual([items[0]]);
});
