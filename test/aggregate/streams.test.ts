/** Streams of aggregates and statements: read only when needed, and closed however a call ends. */
import { describe, expect, test } from 'vitest';
import {
  type AggregateItem,
  aggregate,
  aggregateStream,
  type Statement,
  verifyAggregateStream,
} from '../../src/aggregate/index.ts';
import { keepInstance, takeInstance } from '../../src/aggregate/proof/instances.ts';
import { joinSeries, MAX_ELEMENT_BYTES } from '../../src/aggregate/series.ts';
import { bestModule } from '../../src/aggregate/wasm.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { deferred } from '../../src/shared/wait.ts';
import { frozenCases } from '../reference/frozenCases.ts';

const { good } = frozenCases();
const BUNDLE = good.find(({ name }) => name === 'bundle: falcon1024, 2 items, derived salts')!;
const PROOF = good.find(({ name }) => name === 'falcon512, 1 items')!;
const series = joinSeries([BUNDLE.aggregate, PROOF.aggregate, BUNDLE.aggregate]);
const items = [...BUNDLE.items, ...PROOF.items, ...BUNDLE.items];

/** An iterable of values that counts what is done to it; a function is called, and may throw. */
class Watched<T> {
  readonly seen: string[] = [];
  readonly #values: readonly unknown[];

  constructor(...values: readonly (T | (() => unknown))[]) {
    this.#values = values;
  }

  get isClosed(): boolean {
    return this.seen.includes('return');
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    let at = 0;
    return {
      next: async () => {
        this.seen.push('next');
        if (at === this.#values.length) return { done: true, value: undefined };
        const value = this.#values[at++];
        return { done: false, value: (typeof value === 'function' ? await value() : value) as T };
      },
      return: async () => {
        this.seen.push('return');
        return { done: true, value: undefined };
      },
    };
  }
}

const fail = (error: unknown) => () => Promise.reject(error);
const stall = () => new Promise(() => {});
/** A value that never comes, and a promise that it has been asked for. */
function stallPoint() {
  const { promise: stalled, resolve } = deferred<void>();
  const wait = () => {
    resolve();
    return stall();
  };
  return { stalled, wait };
}
/** The first one ends within the second element. */
const halves = [series.slice(0, 3000), series.slice(3000)] as const;

describe('verifyAggregateStream', () => {
  test('reads both to their ends, and closes neither then', async () => {
    const bytes = new Watched<Uint8Array>(...halves);
    const list = new Watched<Statement>(...items);
    expect(await verifyAggregateStream(bytes, list)).toBe(true);
    expect(bytes.seen).toEqual(['next', 'next', 'next']);
    expect(list.seen).toEqual(new Array(items.length + 1).fill('next'));
  });

  test('asks a source that has ended for nothing more', async () => {
    const bytes = new Watched<Uint8Array>(BUNDLE.aggregate);
    expect(await verifyAggregateStream(bytes, BUNDLE.items)).toBe(true);
    expect(bytes.seen).toEqual(['next', 'next']);
  });

  test('refuses an element that is too long before it is read', async () => {
    for (const [length, reads] of [
      [MAX_ELEMENT_BYTES + 1, 1],
      [MAX_ELEMENT_BYTES, 2],
    ] as const) {
      const start = series.slice(0, 10);
      new DataView(start.buffer).setUint32(6, length);
      const bytes = new Watched<Uint8Array>(start);
      expect(await verifyAggregateStream(bytes, items)).toBe(false);
      expect(bytes.seen.filter((what) => what === 'next')).toHaveLength(reads);
    }
  });

  test('gives the instance back, whatever the verdict', async () => {
    const module = bestModule();
    const lab = takeInstance(module, 'rest');
    keepInstance(module, 'rest', lab);
    const mark = lab.kernels.mark();
    const wrong = { ...PROOF.items[0]!, message: Uint8Array.of(1) };
    expect(await verifyAggregateStream([PROOF.aggregate], PROOF.items)).toBe(true);
    expect(await verifyAggregateStream([PROOF.aggregate], [wrong])).toBe(false);
    expect(await verifyAggregateStream([PROOF.aggregate], [])).toBe(false);
    await expect(verifyAggregateStream([PROOF.aggregate], [5 as never])).rejects.toThrow();
    const again = takeInstance(module, 'rest');
    keepInstance(module, 'rest', again);
    expect(again).toBe(lab);
    expect(lab.kernels.mark()).toBe(mark);
  });

  test('stops at the first fault, and closes both', async () => {
    const damaged = halves[0].with(50, halves[0][50]! ^ 1);
    const bytes = new Watched<Uint8Array>(damaged, stall as never);
    const list = new Watched<Statement>(...items);
    expect(await verifyAggregateStream(bytes, list)).toBe(false);
    const other = new Watched<Statement>(items[2]!, items[1]!, stall as never);
    const again = new Watched<Uint8Array>(...halves, stall as never);
    expect(await verifyAggregateStream(again, other)).toBe(false);
    expect([bytes, list, again, other].map((each) => each.isClosed)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    // what follows the fault is not read
    expect(other.seen).toEqual(['next', 'next', 'return']);
  });

  test('copies a statement of any length before it asks for the next one', async () => {
    const { publicKey, secretKey } = falcon512.keygen();
    // one byte more than a block has room for, with the key; more than is kept for the next block
    const lengths = [2 ** 17 - 901, 200_000, 7, 3_000_000, 0, 9];
    const signed = lengths.map((length, i) => {
      const message = new Uint8Array(length).fill(i + 1);
      return { publicKey, message, signature: falcon512.sign(message, secretKey) };
    });
    const bundle = await aggregate(signed, { format: 'bundle' });
    const [key, text] = [new Uint8Array(publicKey.length), new Uint8Array(Math.max(...lengths))];
    function* statements(wrong?: number) {
      for (const [i, { message }] of signed.entries()) {
        key.set(publicKey);
        text.set(message);
        if (i === wrong) text[message.length - 1]! ^= 1;
        yield { publicKey: key, message: text.subarray(0, message.length) };
        key.fill(0);
        text.fill(0);
      }
    }
    expect(await verifyAggregateStream([bundle], statements())).toBe(true);
    for (const i of [0, 1, 2, 3, 5]) {
      expect(await verifyAggregateStream([bundle], statements(i))).toBe(false);
    }
  });

  test('closes what it has not begun to read', async () => {
    const list = new Watched<Statement>(...items);
    expect(await verifyAggregateStream([new Uint8Array(9)], list)).toBe(false);
    expect(list.seen).toEqual(['return']);
  });

  test('reads statements only of an element that has arrived', async () => {
    const list = new Watched<Statement>(...items);
    let atSecond: number | undefined;
    const second = async () => {
      atSecond = list.seen.length;
      return halves[1];
    };
    expect(await verifyAggregateStream(new Watched(halves[0], second as never), list)).toBe(true);
    expect(atSecond).toBe(BUNDLE.items.length);
  });

  test.each(['bytes', 'statements'])(
    'rethrows the error of the %s, and closes the other',
    async (which) => {
      const error = new Error('mine');
      const isBytes = which === 'bytes';
      const bytes = new Watched<Uint8Array>(
        halves[0],
        isBytes ? (fail(error) as never) : halves[1],
      );
      const list = new Watched<Statement>(...(isBytes ? items : [items[0]!, fail(error) as never]));
      await expect(verifyAggregateStream(bytes, list)).rejects.toBe(error);
      expect([bytes.isClosed, list.isClosed]).toEqual([!isBytes, isBytes]);
    },
  );

  test('rethrows what an iterable throws as it is opened, or closed', async () => {
    const error = new Error('mine');
    const broken = {
      [Symbol.asyncIterator]() {
        throw error;
      },
    };
    const bytes = new Watched<Uint8Array>(...halves);
    await expect(verifyAggregateStream(bytes, broken)).rejects.toBe(error);
    expect(bytes.isClosed).toBe(true);
    const clinging = (value: Uint8Array) => ({
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value }),
        return: () => {
          throw error;
        },
      }),
    });
    const list = new Watched<Statement>(...items);
    await expect(verifyAggregateStream(clinging(joinSeries([PROOF.aggregate])), list)).rejects.toBe(
      error,
    );
    expect(list.isClosed).toBe(true);
    // An earlier error comes first.
    const mine = new Error('earlier');
    const failing = new Watched<Statement>(fail(mine) as never);
    await expect(verifyAggregateStream(clinging(series), failing)).rejects.toBe(mine);
  });

  test('names a statement or a piece of a wrong type, and closes both', async () => {
    for (const [wrong, message] of [
      [null, '"statements[3]" expected an object, got null'],
      [
        { message: new Uint8Array(1) },
        '"statements[3].publicKey" expected Uint8Array, got undefined',
      ],
      [{ ...items[0], message: 'x' }, '"statements[3].message" expected Uint8Array, got string'],
    ] as const) {
      const bytes = new Watched<Uint8Array>(...halves);
      const list = new Watched<Statement>(...items.with(3, wrong as never));
      await expect(verifyAggregateStream(bytes, list)).rejects.toThrow(new TypeError(message));
      expect([bytes.isClosed, list.isClosed]).toEqual([true, true]);
    }
    const bytes = new Watched<Uint8Array>(halves[0], 'x' as never);
    const list = new Watched<Statement>(...items);
    await expect(verifyAggregateStream(bytes, list)).rejects.toThrow(
      new TypeError('"piece of "aggregate"" expected Uint8Array, got string'),
    );
    expect([bytes.isClosed, list.isClosed]).toEqual([true, true]);
    for (const step of [5, null, undefined]) {
      const broken = { [Symbol.iterator]: () => ({ next: () => step }) };
      await expect(verifyAggregateStream(broken as never, items)).rejects.toThrow(TypeError);
    }
  });

  test('rejects wrong arguments', async () => {
    await expect(verifyAggregateStream(5 as never, items)).rejects.toThrow(
      new TypeError('"aggregate" expected a ReadableStream or an iterable, got number'),
    );
    await expect(verifyAggregateStream({} as never, items)).rejects.toThrow(
      new TypeError('"aggregate" expected a ReadableStream or an iterable, got object'),
    );
    await expect(verifyAggregateStream(null as never, items)).rejects.toThrow(
      new TypeError('"aggregate" expected a ReadableStream or an iterable, got null'),
    );
    await expect(verifyAggregateStream([series], { getReader() {} } as never)).rejects.toThrow(
      new TypeError('"statements" expected an iterable, got object'),
    );
    await expect(verifyAggregateStream([series], {} as never)).rejects.toThrow(
      new TypeError('"statements" expected an iterable, got object'),
    );
    await expect(verifyAggregateStream([series], items, { threads: 2 } as never)).rejects.toThrow(
      'unknown option "threads"',
    );
    await expect(
      verifyAggregateStream([series], items, { profiles: ['none' as never] }),
    ).rejects.toThrow(RangeError);
  });

  test.each(['bytes', 'statements'])('is aborted while the %s stall', async (which) => {
    const control = new AbortController();
    const { stalled, wait } = stallPoint();
    const isBytes = which === 'bytes';
    const bytes = new Watched<Uint8Array>(halves[0], isBytes ? (wait as never) : halves[1]);
    const list = new Watched<Statement>(...(isBytes ? items : [items[0]!, wait as never]));
    const { signal } = control;
    const verifying = verifyAggregateStream(bytes, list, { signal });
    await stalled;
    const reason = new Error('enough');
    control.abort(reason);
    await expect(verifying).rejects.toMatchObject({ code: 'ABORTED', cause: reason });
    expect([bytes.isClosed, list.isClosed]).toEqual([true, true]);
    await expect(verifyAggregateStream([series], items, { signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });

  test('is aborted although a source cannot be closed while it stalls', async () => {
    const control = new AbortController();
    async function* stalling(): AsyncGenerator<Statement> {
      yield items[0]!;
      control.abort();
      await stall();
    }
    const call = verifyAggregateStream([series], stalling(), { signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('is aborted between pieces, by a signal that nothing else listens to', async () => {
    const control = new AbortController();
    const abort = () => {
      control.abort();
      return halves[1];
    };
    const bytes = new Watched<Uint8Array>(halves[0], abort as never);
    const call = verifyAggregateStream(bytes, items, { signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('reads a ReadableStream, releases it at its end, and cancels it otherwise', async () => {
    const streamed = (of: Uint8Array, end = true) => {
      const state = { cancelled: false };
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(of);
          if (end) controller.close();
        },
        cancel() {
          state.cancelled = true;
        },
      });
      return { stream, state };
    };
    const whole = streamed(series);
    expect(await verifyAggregateStream(whole.stream, items)).toBe(true);
    expect([whole.state.cancelled, whole.stream.locked]).toEqual([false, false]);
    // not every host's streams are iterables
    const { stream } = streamed(series);
    expect(await verifyAggregateStream({ getReader: () => stream.getReader() }, items)).toBe(true);
    const open = streamed(series, false);
    expect(await verifyAggregateStream(open.stream, items.slice(1))).toBe(false);
    expect([open.state.cancelled, open.stream.locked]).toEqual([true, false]);
    const control = new AbortController();
    const stalled = streamed(halves[0], false);
    const call = verifyAggregateStream(stalled.stream, items, { signal: control.signal });
    control.abort();
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
    expect(stalled.state.cancelled).toBe(true);
    const error = new Error('mine');
    const broken = new ReadableStream({ pull: (controller) => controller.error(error) });
    await expect(verifyAggregateStream(broken, items)).rejects.toBe(error);
    expect(broken.locked).toBe(false);
    broken.getReader();
    await expect(verifyAggregateStream(broken, items)).rejects.toThrow(TypeError);
  });

  test('keeps copies: pieces and statements may be reused once the next one is asked for', async () => {
    const piece = new Uint8Array(100);
    function* reused() {
      for (let at = 0; at < series.length; at += 100) {
        const part = series.subarray(at, at + 100);
        piece.set(part);
        yield piece.subarray(0, part.length);
        piece.fill(0);
      }
    }
    function* statements() {
      const message = new Uint8Array(4096);
      for (const { publicKey, message: own } of items) {
        const key = publicKey.slice();
        message.set(own);
        yield { publicKey: key, message: message.subarray(0, own.length) };
        key.fill(0);
        message.fill(0);
      }
    }
    expect(await verifyAggregateStream(reused(), statements())).toBe(true);
  });

  test('shows the number of statements, and how many there are at the end', async () => {
    const shown: unknown[] = [];
    const onProgress = (progress: unknown) => void shown.push(progress);
    expect(await verifyAggregateStream([series], items, { onProgress })).toBe(true);
    expect(shown.at(-1)).toEqual({ done: 5, total: 5 });
    shown.length = 0;
    expect(await verifyAggregateStream([series], items.slice(1), { onProgress })).toBe(false);
    expect(shown).not.toContainEqual(expect.objectContaining({ total: expect.anything() }));
    const error = new Error('mine');
    const list = new Watched<Statement>(...items);
    const failing = () => {
      throw error;
    };
    await expect(verifyAggregateStream([series], list, { onProgress: failing })).rejects.toBe(
      error,
    );
  });
});

describe('aggregateStream', () => {
  test('reads nothing before bytes are taken, and nothing ahead', async () => {
    const list = new Watched<AggregateItem>(...items);
    const stream = aggregateStream(list, { format: 'bundle' });
    await Promise.resolve();
    expect(list.seen).toEqual([]);
    const first = await stream.next();
    expect(first.value!.length).toBeGreaterThan(1000);
    expect(list.seen.length).toBe(items.length + 1);
    expect(await stream.next()).toEqual({ done: false, value: new Uint8Array(4) });
    expect((await stream.next()).done).toBe(true);
    expect(list.isClosed).toBe(false);
  });

  test('closes its source if nobody takes more, if it fails, and if it is aborted', async () => {
    const error = new Error('mine');
    const failing = new Watched<AggregateItem>(items[0]!, fail(error) as never);
    await expect(aggregateStream(failing).next()).rejects.toBe(error);
    expect(failing.isClosed).toBe(false);
    const wrong = new Watched<AggregateItem>(items[0]!, 5 as never);
    await expect(aggregateStream(wrong).next()).rejects.toThrow(TypeError);
    expect(wrong.isClosed).toBe(true);
    const control = new AbortController();
    const { stalled, wait } = stallPoint();
    const stalling = new Watched<AggregateItem>(items[0]!, wait as never);
    const call = aggregateStream(stalling, { signal: control.signal }).next();
    await stalled;
    control.abort();
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
    expect(stalling.isClosed).toBe(true);
  });
});
