/**
 * Whatever a server answers, every method ends in a value of its type or a ClientError, and soon.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventReader } from '../../src/client/events.ts';
import { type Client, createClient, isClientError } from '../../src/client/index.ts';
import { readRetryAfter } from '../../src/client/retry.ts';
import { NIGHTLY } from '../support/run.ts';

const runs = NIGHTLY ? 3000 : 150;

const digits = fc.bigInt({ min: 0n, max: 10n ** 18n }).map(String);
const texts = fc.constantFrom(
  'completed',
  'completed',
  'completed',
  'waiting',
  'failed',
  'wait for x',
  'other',
  '',
  '\x1b[2J',
);
/** JSON that is nearly what is expected: right names, anything below. */
const MEMBERS = {
  // That of the task that is asked for, most of the time: what comes after is to be reached too.
  process_id: fc.oneof({ weight: 8, arbitrary: fc.constant('1') }, digits, fc.json()),
  client_id: fc.oneof(digits, fc.json()),
  id: fc.oneof(digits, fc.json()),
  url: fc.oneof(fc.constant('"http://x/"'), fc.json()),
  status: fc.oneof({ weight: 8, arbitrary: texts.map((text) => JSON.stringify(text)) }, fc.json()),
  progress: fc.oneof(fc.constant('{"phase":"x","done":1,"total":2}'), fc.json()),
  error: fc.oneof(fc.constant('{"detail":1,"invalid":[null]}'), fc.json()),
  result_path: fc.oneof(
    { weight: 8, arbitrary: fc.constant('"http://files.test/1.json"') },
    fc.json(),
  ),
  meta: fc.json(),
  tasks: fc.oneof(fc.constant('[{"id":1,"status":"x","meta":{}}]'), fc.json()),
  next: fc.oneof(fc.constant('"again"'), fc.json()),
  valid: fc.json(),
  digest: fc.constant('"0x00"'),
  public_key: fc.constant('"0x00"'),
  signature: fc.oneof({ weight: 8, arbitrary: fc.constant('"0x00"') }, fc.json()),
  paths: fc.json(),
  version: fc.constant('1'),
  count: fc.json(),
  format: fc.json(),
  statement: fc.oneof(fc.constant('"0x00"'), fc.json()),
  aggregate: fc.oneof(fc.constant('"0x00"'), fc.json()),
  sizes: fc.json(),
  errors: fc.oneof(fc.constant('[{"path":"/a","message":"b"},7]'), fc.json()),
  detail: fc.json(),
  code: fc.json(),
};
const nearly = fc
  .oneof(
    fc.record(MEMBERS, { requiredKeys: [] }),
    fc.record(MEMBERS, {
      requiredKeys: ['process_id', 'status', 'digest', 'public_key', 'signature', 'result_path'],
    }),
  )
  .map((object) => {
    const members = Object.entries(object).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
    return `{${members.join()}}`;
  });
const bodies = fc.oneof(
  { weight: 4, arbitrary: nearly },
  nearly.map((text) => text.slice(0, -1)),
  fc.json(),
  fc.string(),
  nearly.map((text) => `event: progress\ndata: ${text}\n\n`),
);
const answers = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 202, 204, 301, 304, 400, 404, 409, 429, 500, 503),
  type: fc.constantFrom('application/json', 'text/event-stream', 'text/html', ''),
  retryAfter: fc.option(fc.oneof(fc.constant('0'), fc.stringMatching(/^[ -~]*$/)), {
    nil: undefined,
  }),
  location: fc.option(fc.constantFrom('/tasks/7', '/', 'x'), { nil: undefined }),
  body: bodies,
});

const item = {
  publicKey: new Uint8Array(1),
  message: new Uint8Array(1),
  signature: new Uint8Array(1),
};
const CALLS: Record<string, (client: Client, signal: AbortSignal) => Promise<unknown>> = {
  sign: (client) => client.sign('0x00'),
  createTask: (client) => client.createTask(),
  renewUpload: (client) => client.renewUpload(1),
  upload: (client) => client.upload('http://files.test/', '[]', { onProgress: () => {} }),
  notify: (client) => client.notify(1),
  aggregate: (client) => client.aggregate([item]),
  submit: (client) => client.submit([item]),
  task: (client) => client.task(1),
  tasks: async (client) => {
    for await (const { id, status, meta } of client.tasks()) {
      expect(id).toMatch(/^\d+$/);
      expect([typeof status, typeof meta.count]).toEqual(['string', 'number']);
    }
  },
  page: (client) => client.page(),
  cancel: (client) => client.cancel(1),
  remove: (client) => client.remove(1),
  result: (client) => client.result(1, { statements: [item] }),
  plainResult: (client) => client.result(1),
  verify: (client) => client.verify('0x00', [item]),
  events: async (client) => {
    for await (const { process_id } of client.events(1)) expect(process_id).toMatch(/^\d+$/);
  },
  waitFor: (client, signal) => client.waitFor(1, { signal, pollMs: [1, 2], patienceMs: 20 }),
};

describe('any answers', () => {
  test.each(Object.keys(CALLS))('%s', async (name) => {
    let failures = 0;
    let values = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(answers, { minLength: 1, maxLength: 4 }), async (list) => {
        let count = 0;
        const client = createClient({
          baseUrl: 'http://hostile.test/mount',
          apiKey: 'the-secret-key',
          retries: { times: 1, baseMs: 0, maxRetryAfterMs: 0 },
          uploadBy: 'whole',
          fetch: async (url, init) => {
            if (init.signal?.aborted) throw init.signal.reason;
            const sent = new Headers(init.headers).get('authorization');
            expect(sent).toBe(
              url.startsWith('http://hostile.test/mount/') ? 'the-secret-key' : null,
            );
            const { status, type, retryAfter, location, body } = list[count++ % list.length]!;
            return new Response([204, 304].includes(status) ? null : body, {
              status,
              headers: {
                'content-type': type,
                ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
                ...(location !== undefined && { location }),
              },
            });
          },
        });
        try {
          await CALLS[name]!(client, AbortSignal.timeout(100));
          values++;
        } catch (error) {
          if (!isClientError(error)) throw error;
          failures++;
          expect(error.message).not.toContain('the-secret-key');
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
          expect(error.message).not.toMatch(/[\0-\x1f\x7f]/);
          expect(error.message.length).toBeLessThan(700);
        }
      }),
      {
        numRuns: name === 'waitFor' ? Math.min(runs, 200) : runs,
        endOnFailure: true,
        ...(!NIGHTLY && { seed: 26 }),
      },
    );
    expect(failures).toBeGreaterThan(0);
    // Some of these answers are good enough, but for a result that can be checked.
    if (name !== 'result') expect(values).toBeGreaterThan(0);
  });
});

describe('streams of events', () => {
  test('any cut of any stream gives the same events', () => {
    const lines = fc.array(
      fc.constantFrom(
        'data: {"a":1}',
        'data:x',
        'data',
        'event: progress',
        ': comment',
        '',
        'id: 7',
        'é',
      ),
    );
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(lines, ends, fc.array(fc.nat(60)), (list, end, cuts) => {
        const stream = list.map((line) => line + end).join('') + (end === '\r' ? '\n' : '');
        const whole = eventReader().push(stream);
        const reader = eventReader();
        const pieces = [];
        let at = 0;
        for (const cut of cuts) pieces.push(...reader.push(stream.slice(at, (at += cut))));
        pieces.push(...reader.push(stream.slice(at)));
        expect(pieces).toEqual(whole);
      }),
      { numRuns: runs * 3 },
    );
  });

  test('the standard examples', () => {
    const read = (text: string) => eventReader().push(text);
    expect(read('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual(['YHOO\n+2\n10']);
    expect(read('data\n\ndata\ndata\n\ndata:')).toEqual(['', '\n']);
    expect(read('data:test\n\ndata: test\n\n')).toEqual(['test', 'test']);
    expect(read(': only a comment\n\nevent: x\n\n')).toEqual([]);
  });

  test('an event without an end is refused, not gathered', () => {
    for (const piece of ['x'.repeat(100_000), `${'x'.repeat(100_000)}\ndata: `]) {
      const reader = eventReader();
      reader.push('data: ');
      expect(() => {
        for (let i = 0; i < 100; i++) reader.push(piece);
      }).toThrow(/too long/);
    }
  });
});

test('Retry-After: seconds, dates, nonsense', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  expect(readRetryAfter('120', now)).toBe(120_000);
  expect(readRetryAfter('Sat, 21 Nov 2026 12:00:30 GMT', now)).toBe(30_000);
  expect(readRetryAfter('Sat, 21 Nov 2026 11:00:00 GMT', now)).toBe(0);
  for (const nonsense of [null, '', 'soon', '-1x'])
    expect(readRetryAfter(nonsense, now)).toBe(undefined);
});
