/** What the log says of the work on tasks, of trouble, and at which level. */
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/middleware/index.ts';
import { workLog } from '../../src/middleware/tasks/workLog.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { expectProblem, startService } from './support.ts';

type Line = Readonly<Record<string, unknown>>;
let lines: Line[];
const method = (level: string) => (message: string, fields?: object) =>
  void lines.push({ level, message, ...fields });
const logger = {
  debug: method('debug'),
  info: method('info'),
  warn: method('warn'),
  error: method('error'),
};
beforeEach(() => {
  lines = [];
});

const named = { taskId: 7, attempt: 2, requestId: 'abc' };
const invalid = new CodedError('INVALID_SIGNATURES');
const away = new CodedError('STORE_UNAVAILABLE', { cause: new Error('connection refused') });

describe('the log', () => {
  it.each([
    [{ type: 'claimed', ...named }, 'debug', 'runner'],
    [{ type: 'failed', ...named, error: invalid }, 'info', 'task failed'],
    [{ type: 'failed', ...named, error: new CodedError('INTERNAL') }, 'error', 'task failed'],
    [{ type: 'retried', ...named, error: away }, 'warn', 'task will be tried again'],
    [{ type: 'lost', ...named, stale: true }, 'warn', 'task lost to another worker'],
  ] as const)('%j is at %s', (event, level, message) => {
    workLog(logger)(event);
    expect(lines).toMatchObject([{ level, message, ...named }]);
  });

  it('has the code and the causes of a retry, and the stack of a fault of ours', () => {
    const log = workLog(logger);
    log({ type: 'retried', ...named, error: away });
    const cause = new TypeError('of ours');
    log({ type: 'failed', ...named, error: new CodedError('INTERNAL', { cause }) });
    expect(lines[0]).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      error: 'The store cannot be reached: connection refused',
    });
    expect(lines[1]?.error).toMatch(/TypeError: of ours\n +at /);
  });

  it('tells the same trouble once in a while, and every other one', () => {
    const log = workLog(logger);
    for (let i = 0; i < 100; i++) log({ type: 'trouble', error: away });
    log({ type: 'trouble', error: new Error('something else') });
    expect(lines.map(({ level, error }) => [level, error])).toEqual([
      ['warn', 'The store cannot be reached: connection refused'],
      ['warn', 'something else'],
    ]);
  });
});

it('a request that the store refuses is told, with its id', async () => {
  const store = memoryStore();
  const tasks = Object.assign(Object.create(store.tasks) as typeof store.tasks, {
    list: async () => {
      throw away;
    },
  });
  const http = await startService({ store: { ...store, tasks }, workers: false, logger });
  try {
    const answer = await http.ask('GET', '/v1/svc/tasks');
    expectProblem(answer, 503, 'STORE_UNAVAILABLE');
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: 'request refused',
        id: answer.headers.get('x-request-id'),
        code: 'STORE_UNAVAILABLE',
        error: 'The store cannot be reached: connection refused',
      },
    ]);
  } finally {
    await http.close();
  }
});
