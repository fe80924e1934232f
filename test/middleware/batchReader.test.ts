/** Large bodies are read in a thread, small ones at once: with the same answers. */
import { afterEach, describe, expect, vi } from 'vitest';
import { Blocks } from '../../src/middleware/http/body.ts';
import { MAX_AGGREGATE_BYTES } from '../../src/middleware/routes/aggsign.ts';
import { BatchReader, type BatchReaderOptions } from '../../src/middleware/tasks/batchReader.ts';
import {
  type BatchLimits,
  type ClaimReading,
  type ReadWork,
  readBatch,
  type TriplesReading,
} from '../../src/middleware/tasks/readBatch.ts';
import { TASK_WORKER } from '../../src/middleware/tasks/taskWork.ts';
import type { HostThreadEvents, StartThread } from '../../src/shared/threads/host.ts';
import { parseTaskFile } from '../../src/wire/taskFile.ts';
import { formatTaskFile, toTriple } from '../../src/wire/triple.ts';
import { fact } from '../support/facts.ts';
import { serviceTest } from './support.ts';
import { makeItems } from './triples.ts';

// As it is, but what this thread calls is counted.
vi.mock('../../src/middleware/tasks/readBatch.ts', { spy: true });

const DIRECT = '/v1/svc/aggsign';
const VERIFY = '/v1/svc/aggsign/verify';
const MIB = 1024 * 1024;
/** Above the limit of what is read at once. */
const LARGE = 70_000;

const limits: BatchLimits = {
  maxSignatures: 50,
  maxMessageBytes: 64,
  maxAggregateBytes: MAX_AGGREGATE_BYTES,
  maxTokens: 16 * 50 + 1000,
};
const TRIPLES: TriplesReading = { wanted: 'triples', limits, requestLine: null };
const CLAIM: ClaimReading = { wanted: 'claim', limits };

const items = makeItems(5, 2);
const triples = items.map(toTriple);
const good = JSON.stringify({ data: triples });
afterEach(() => vi.mocked(readBatch).mockClear());

const json = (value: unknown) => JSON.stringify(value);
const encoder = new TextEncoder();
const padded = (text: string) => text.padEnd(LARGE, ' ');
const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`;

function blocksOf(body: string | Uint8Array): Blocks {
  const blocks = new Blocks();
  blocks.add(typeof body === 'string' ? encoder.encode(body) : body);
  return blocks;
}

const { it, http } = serviceTest({
  workers: false,
  maxSignatures: limits.maxSignatures,
  maxDigestBytes: limits.maxMessageBytes,
});
describe('the service', () => {
  it('reads large batches elsewhere, and small ones at once', async () => {
    expect((await http.ask('POST', DIRECT, good)).status).toBe(202);
    expect(readBatch).toHaveBeenCalledTimes(1);
    expect((await http.ask('POST', DIRECT, padded(good))).status).toBe(202);
    const claim = { aggregate: hex(LARGE), statements: triples };
    const verdict = await http.ask('POST', VERIFY, claim);
    expect(verdict.json).toEqual({ valid: false });
    expect(readBatch).toHaveBeenCalledTimes(1);
  });

  const change = (field: string, value: unknown) => () => ({
    data: [triples[0], { ...triples[1], [field]: value }, triples[2]],
  });
  const bodies: [string, () => unknown][] = [
    ['good', () => good],
    ['null', () => null],
    ['an array', () => []],
    ['a string', () => hex(100)],
    ['an object without data', () => ({})],
    ['data that is no array', () => ({ data: { 0: 1 } })],
    ['no items', () => ({ data: [] })],
    ['too many items', () => ({ data: Array(51).fill({}) })],
    ['too many values', () => ({ data: Array(5000).fill(0) })],
    ['items that are none', () => ({ data: [null, [], 'x', 7] })],
    ['an empty item', () => ({ data: [{}] })],
    ['long hex where an item should be', () => ({ data: [hex(100)] })],
    ['the same name twice', () => '{"data":1,"data":2}'],
    ['half an object', () => `{"data":"${hex(100)}"`],
    ['half a string', () => `{"data":"${hex(100)}`],
    ['hex without a comma', () => `{"data":["${hex(100)}" "${hex(100)}"]}`],
    ['hex as a name of an array', () => `{"data":["${hex(100)}":1]}`],
    ['depth 20', () => '['.repeat(20) + ']'.repeat(20)],
    ['an escape', () => json(change('digest', 'X')()).replace('X', '\\u0030x00')],
    ['a byte order mark', () => `\ufeff${json({ data: [] })}`],
    ...['digest', 'public_key', 'signature'].flatMap((field) =>
      [
        ...[undefined, null, 5, [], '', 'ab', '0X00', '0xa', '0xzz', hex(5000), `${hex(60)}a`],
        ...[`${hex(60)}zz`, `${hex(60)} `, ` ${hex(60)}`, hex(896), `0x0a${'00'.repeat(896)}`],
        ...['0x', `0x09${'FF'.repeat(896)}`, hex(64), hex(65), hex(2048), hex(2049)],
      ].map((value): [string, () => unknown] => [
        `${field} ${String(json(value)).slice(0, 12)}`,
        change(field, value),
      ]),
    ),
  ];

  it('says the same of large and small bodies, and verifies by the same rules', async ({
    task,
  }) => {
    const codes = new Set<string>();
    for (const [what, make] of bodies) {
      const value = make();
      const text = typeof value === 'string' && value !== hex(100) ? value : json(value);
      const aggregate = typeof value === 'object' && value && 'data' in value;
      const claim = aggregate ? json({ aggregate: '0x00', statements: value.data }) : text;
      for (const [path, body] of [
        [DIRECT, text],
        [VERIFY, claim],
      ] as const) {
        vi.mocked(readBatch).mockClear();
        const small = await http.ask('POST', path, body);
        const calls = vi.mocked(readBatch).mock.calls.length;
        const large = await http.ask('POST', path, padded(body));
        expect(vi.mocked(readBatch).mock.calls.length, what).toBe(calls);
        expect(large.status, what).toBe(small.status);
        if (small.status === 202) continue;
        expect(large.json, what).toEqual(small.json);
        if (small.status !== 200) codes.add(small.json.code);
      }
    }
    expect([...codes].sort()).toEqual(['INVALID_BODY', 'MALFORMED_JSON', 'TOO_MANY_ITEMS']);
    fact({ task }, 'large batches', `${2 * bodies.length} bodies are answered as small ones are`);
  });

  it('knows the repeat of a large request', async () => {
    const headers = { 'idempotency-key': 'large' };
    const body = padded(good);
    const first = await http.ask('POST', DIRECT, body, { headers });
    const again = await http.ask('POST', DIRECT, body, { headers });
    expect(first.status).toBe(202);
    expect(again.json).toEqual(first.json);
    const other = await http.ask('POST', DIRECT, `${body} `, { headers });
    expect(other.json.code).toBe('IDEMPOTENCY_MISMATCH');
  });
});

describe('what is read', () => {
  it('is the task file of the items, whatever the form of the body', () => {
    const body = encoder.encode(json({ more: [hex(99)], data: triples, and: hex(99) }));
    const { count, file } = readBatch(body, TRIPLES) as { count: number; file: Uint8Array };
    expect(count).toBe(5);
    expect(parseTaskFile(file)).toEqual(items);
    expect(json(JSON.parse(new TextDecoder().decode(file)))).toBe(
      json(JSON.parse(formatTaskFile(items))),
    );
  });

  it('does not depend on how digits and short strings are written', () => {
    const [triple] = triples;
    const upper = `0x${triple!.signature.slice(2).toUpperCase()}`;
    const text = json({ data: [{ ...triple, digest: '0x41', signature: upper }] });
    const body = encoder.encode(text.replace('0x41', '\\u0030x\\u00341'));
    const { file } = readBatch(body, TRIPLES) as { file: Uint8Array };
    const [item] = parseTaskFile(file);
    expect(item).toEqual({ ...items[0], message: Uint8Array.of(0x41) });
  });

  const faults: [unknown, string, string][] = [
    [undefined, 'invalid_type', 'is missing'],
    [null, 'invalid_type', 'must be a string of hex digits'],
    [7, 'invalid_type', 'must be a string of hex digits'],
    [[], 'invalid_type', 'must be a string of hex digits'],
    ['', 'prefix', 'must start with 0x'],
    ['ab', 'prefix', 'must start with 0x'],
    ['0xa', 'oddLength', 'must have an even number of hex digits'],
    [`${hex(99)}a`, 'oddLength', 'must have an even number of hex digits'],
    ['0xzz', 'digit', 'contains a character that is not a hex digit'],
    [hex(MIB * 16.5), 'tooLong', 'must not be longer than 16777216 bytes'],
  ];
  it.each(faults)('has the fault of an aggregate: %.20j', (aggregate, code, message) => {
    const body = encoder.encode(json({ aggregate, statements: [] }));
    expect(() => readBatch(body, CLAIM)).toThrow(
      expect.objectContaining({
        code: 'INVALID_BODY',
        errors: [{ path: '/aggregate', code, message }],
      }),
    );
  });
});

describe('the reader', () => {
  const readers: BatchReader[] = [];
  const open = (options: Partial<BatchReaderOptions> = {}) => {
    const reader = new BatchReader({ maxBodyBytes: MIB, ...options });
    readers.push(reader);
    return reader;
  };
  afterEach(() => Promise.all(readers.splice(0).map((reader) => reader.close())));
  const large = () => blocksOf(padded(good));

  /** A thread that works on what it gets only when the test says so. */
  class FakeThread {
    readonly asked: { work: ReadWork; answer: (value: unknown) => void }[] = [];
    events: HostThreadEvents | undefined;
    readonly start: StartThread = (_module, events) => {
      this.events = events;
      setTimeout(() => events.onMessage({ hello: TASK_WORKER }));
      return {
        post: (message) => {
          const { id, work } = message as { id: number; work: ReadWork };
          const answer = (value: unknown) => events.onMessage({ id, value, memoryBytes: 0 });
          this.asked.push({ work, answer });
        },
        hold: () => {},
        terminate: async () => {},
      };
    };

    isAsked(times: number): Promise<void> {
      return vi.waitFor(() => expect(this.asked.length).toBe(times), { timeout: 20_000 });
    }
  }

  const openFake = () => {
    const thread = new FakeThread();
    return { thread, reader: open({ start: thread.start }) };
  };

  it('starts its thread for the first large body, and ends it when it has been idle', async () => {
    const reader = open({ idleMs: 200 });
    await reader.read(1, blocksOf(good), TRIPLES);
    expect(reader.hasWorker).toBe(false);
    const { count } = await reader.read(1, large(), TRIPLES);
    expect(count).toBe(5);
    expect(reader.hasWorker).toBe(true);
    await vi.waitFor(() => expect(reader.hasWorker).toBe(false), { timeout: 20_000 });
    expect((await reader.read(1, large(), TRIPLES)).count).toBe(5);
  });

  it('gives its blocks away instead of copying them', async () => {
    const blocks = new Blocks();
    const pieces = 3 * MIB;
    blocks.add(encoder.encode(`{"data":[]${' '.repeat(pieces)}}`));
    const taken: ArrayBuffer[] = [];
    const take = blocks.take.bind(blocks);
    vi.spyOn(blocks, 'take').mockImplementation(() => {
      taken.push(...take());
      return taken;
    });
    await expect(open().read(1, blocks, TRIPLES)).rejects.toThrow();
    expect(taken.length).toBeGreaterThan(3);
    for (const { byteLength } of taken) expect(byteLength).toBe(0);
    expect(blocks.bytes).toBe(0);
  });

  it('makes a file with memory of its own', async () => {
    const reader = open();
    const files: ArrayBuffer[] = [];
    for (const more of ['', ' '.repeat(LARGE)]) {
      const { file } = await reader.read(1, blocksOf(good + more), TRIPLES);
      expect(file.length).toBe(file.buffer.byteLength);
      files.push(file.buffer);
    }
    expect(files[0]).not.toBe(files[1]);
  });

  it('reads here if the host refuses a thread', async () => {
    const start = () => {
      throw new Error('no threads');
    };
    const { count } = await open({ start }).read(1, large(), TRIPLES);
    expect(count).toBe(5);
    expect(readBatch).toHaveBeenCalledTimes(1);
  });

  it('reads one body at a time, and clients take turns', async () => {
    const { thread, reader } = openFake();
    const done: string[] = [];
    const read = (client: number, name: string) =>
      reader.read(client, large(), { ...TRIPLES, requestLine: name }).then(() => done.push(name));
    const all = [
      ...['a1', 'a2', 'a3'].map((name) => read(1, name)),
      ...['b1', 'b2'].map((name) => read(2, name)),
      read(3, 'c1'),
    ];
    const order: (string | null)[] = [];
    for (let i = 0; i < all.length; i++) {
      await thread.isAsked(i + 1);
      const { work, answer } = thread.asked[i]!;
      order.push((work.reading as TriplesReading).requestLine);
      answer({ count: 1, file: new Uint8Array(1), fingerprint: null });
    }
    await Promise.all(all);
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
    expect(done).toEqual(order);
  });

  it('asks to come again if its thread is lost, and starts another one', async () => {
    const { thread, reader } = openFake();
    const lost = reader.read(1, large(), TRIPLES);
    await thread.isAsked(1);
    thread.events!.onLost(new Error('out of memory'));
    await expect(lost).rejects.toMatchObject({ code: 'OVERLOADED', retriable: true });
    const second = reader.read(1, large(), TRIPLES);
    await thread.isAsked(2);
    thread.asked[1]!.answer({ count: 7, file: new Uint8Array(1), fingerprint: null });
    expect((await second).count).toBe(7);
  });

  it('says that it shuts down to those who wait', async () => {
    const { thread, reader } = openFake();
    const waiting = [1, 2, 3].map((client) => reader.read(client, large(), TRIPLES));
    const settled = Promise.allSettled(waiting);
    await thread.isAsked(1);
    await reader.close();
    for (const result of await settled) {
      expect(result).toMatchObject({ reason: { code: 'SHUTTING_DOWN' } });
    }
  });
});
