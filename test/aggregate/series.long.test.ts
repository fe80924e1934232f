/** Series at random, at the edges of what elements hold, and in memory that does not grow. */
import { describe, expect, test } from 'vitest';
import {
  aggregateStream,
  aggregateSync,
  inspectAggregate,
  type Statement,
  verifyAggregate,
  verifyAggregateStream,
} from '../../src/aggregate/index.ts';
import { keepInstance, takeInstance } from '../../src/aggregate/proof/instances.ts';
import { framedElement, joinSeries, seriesEnd } from '../../src/aggregate/series.ts';
import { bestModule } from '../../src/aggregate/wasm.ts';
import { frozenCases } from '../reference/frozenCases.ts';
import { signedItem, signedItems } from '../reference/items.ts';
import { fact } from '../support/facts.ts';
import { type TestRandom, testRandom } from '../support/random.ts';
import { NIGHTLY } from '../support/run.ts';

const LONG = { timeout: 3_600_000 };
const { good } = frozenCases();
const POOL = good.filter(({ name }) => /^bundle: .*(1 items|derived|constant)/.test(name));

/** Bytes of pieces of random sizes. */
function* pieces(bytes: Uint8Array, random: TestRandom): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(random.pick([4, 40, 4000]));
    yield bytes.subarray(at, (at += size));
  }
}

interface Drawn {
  readonly bytes: Uint8Array;
  readonly statements: readonly Statement[];
}

/** A change that makes a series of these elements, or its list, a wrong one. */
type Change = (elements: readonly Uint8Array[], list: readonly Statement[], r: TestRandom) => Drawn;

const changedBytes = (change: (bytes: Uint8Array, r: TestRandom) => Uint8Array): Change => {
  return (elements, statements, random) => {
    return { bytes: change(joinSeries(elements), random), statements };
  };
};
const CHANGES: readonly Change[] = [
  changedBytes((bytes, r) => {
    const at = r.below(bytes.length);
    return bytes.with(at, bytes[at]! ^ (1 << r.below(8)));
  }),
  changedBytes((bytes, r) => {
    const at = r.below(10);
    return bytes.with(at, bytes[at]! ^ (1 + r.below(255)));
  }),
  changedBytes((bytes, r) => bytes.slice(0, r.below(bytes.length))),
  changedBytes((bytes, r) => Uint8Array.of(...bytes, ...bytes.slice(0, 1 + r.below(60)))),
  changedBytes((bytes, r) => {
    const [from, to] = [r.below(bytes.length), r.below(bytes.length)];
    const cut = Uint8Array.of(...bytes.slice(0, from), ...bytes.slice(to));
    return cut.length === bytes.length ? bytes.slice(1) : cut;
  }),
  (elements, statements, r) => {
    const index = r.below(elements.length);
    const more = [...elements.slice(0, index + 1), ...elements.slice(index)];
    return { bytes: joinSeries(more), statements };
  },
  (elements, statements, r) => {
    const nested = elements.with(r.below(elements.length), joinSeries(elements));
    return { bytes: joinSeries(nested), statements };
  },
  (elements, statements, r) => {
    const index = r.below(statements.length);
    return { bytes: joinSeries(elements), statements: statements.toSpliced(index, 1) };
  },
  (elements, statements, r) => {
    const more = statements.toSpliced(r.below(statements.length + 1), 0, r.pick(statements));
    return { bytes: joinSeries(elements), statements: more };
  },
  (elements, statements, r) => {
    const index = r.below(statements.length);
    const { publicKey, message } = statements[index]!;
    const wrong = { publicKey, message: Uint8Array.of(...message, r.below(256)) };
    return { bytes: joinSeries(elements), statements: statements.with(index, wrong) };
  },
];

test(
  'a right series is accepted and a wrong one refused, alike in memory and as a stream',
  LONG,
  async (context) => {
    const random = testRandom('series');
    const count = NIGHTLY ? 100_000 : 4000;
    for (let i = 0; i < count; i++) {
      const cases = Array.from({ length: 1 + random.below(4) }, () => random.pick(POOL));
      const elements = cases.map(({ aggregate }) => aggregate);
      const list = cases.flatMap(({ items }) => items);
      const isRight = i % 8 === 0;
      const { bytes, statements } = isRight
        ? { bytes: joinSeries(elements), statements: list }
        : random.pick(CHANGES)(elements, list, random);
      const found = verifyAggregate(bytes, statements);
      if (found !== isRight) expect(Buffer.from(bytes).toString('base64')).toBe(isRight);
      const streamed = await verifyAggregateStream(pieces(bytes, random), statements);
      if (streamed !== isRight) expect(Buffer.from(bytes).toString('base64')).toBe(isRight);
    }
    fact(context, 'series', `${count} at random, in memory and as streams`);
  },
);

describe('aggregateStream', () => {
  // One signature again and again: only counts matter here.
  const { items } = good.find(({ name }) => name === 'bundle: falcon512, 1 items')!;
  async function* repeated(count: number) {
    for (let i = 0; i < count; i++) yield items[0]!;
  }
  const counts = async (stream: AsyncIterable<Uint8Array>) => {
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part);
    const bytes = new Uint8Array(Buffer.concat(parts));
    return { bytes, counts: inspectAggregate(bytes).elements!.map(({ count }) => count) };
  };

  test('fills elements if the count is not known, and divides evenly if it is', LONG, async () => {
    const format = 'bundle' as const;
    const list = new Array(8193).fill(items[0]);
    const filled = await counts(aggregateStream(repeated(8193), { format }));
    expect(filled.counts).toEqual([8192, 1]);
    expect(await verifyAggregateStream([filled.bytes], list.values())).toBe(true);
    expect((await counts(aggregateStream(repeated(8192), { format }))).counts).toEqual([8192]);
    expect((await counts(aggregateStream(list, { format }))).counts).toEqual([4097, 4096]);
    // Nothing is read beyond the item that does not fit.
    let read = 0;
    async function* watched() {
      for await (const item of repeated(10_000)) {
        read++;
        yield item;
      }
    }
    const stream = aggregateStream(watched(), { format });
    await stream.next();
    expect(read).toBe(8193);
    await stream.return();
    await expect(stream.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test('numbers the invalid items of a later element as in the list', LONG, async () => {
    async function* wrong() {
      yield* repeated(8200);
      yield { ...items[0]!, message: Uint8Array.of(1) };
    }
    const stream = aggregateStream(wrong(), { format: 'bundle' });
    expect((await stream.next()).value!.length).toBeGreaterThan(5_000_000);
    await expect(stream.next()).rejects.toMatchObject({ invalid: [{ index: 8200 }] });
  });
});

test('a stream of more than 4096 elements is refused', LONG, async () => {
  const { aggregate: element, items } = good.find((one) =>
    /^bundle: falcon512, 1 i/.test(one.name),
  )!;
  for (const count of [4096, 4097]) {
    const elements = Array.from({ length: count }, (_, i) => framedElement(element, i));
    const list = new Array<Statement>(count).fill(items[0]!);
    expect(await verifyAggregateStream([...elements, seriesEnd()], list)).toBe(count === 4096);
  }
});

test('proofs over more than one block of statements', LONG, async () => {
  const mixed = [...signedItems('falcon512', 170), ...signedItems('falcon1024', 150)];
  const shuffled = mixed.map((_, i) => mixed[(i * 101) % mixed.length]!);
  const parts: Uint8Array[] = [];
  for await (const part of aggregateStream(shuffled, { format: 'proof' })) parts.push(part);
  expect(await verifyAggregateStream(parts, shuffled.values())).toBe(true);
  for (const at of [0, 127, 128, 255, 256, shuffled.length - 1]) {
    const wrong = shuffled.with(at, { ...shuffled[at]!, message: new Uint8Array(99) });
    expect(await verifyAggregateStream(parts, wrong.values())).toBe(false);
  }
});

test(
  'the verifier needs as much memory for a long list as for a short one',
  LONG,
  async (context) => {
    const one = [0, 1].map((i) => signedItem('falcon512', i));
    const element = aggregateSync(one);
    const parts: Uint8Array[] = [];
    const list = signedItems('falcon512', 500);
    for await (const part of aggregateStream(list, { format: 'proof' })) parts.push(part);
    const proof = parts[0]!.slice(10);
    function* bytes(times: number) {
      for (let i = 0; i < 2 * times; i++) yield framedElement(i % 2 === 0 ? proof : element, i);
      yield seriesEnd();
    }
    function* statements(times: number) {
      for (let i = 0; i < times; i++) yield* [...list, ...one];
    }
    const memory: number[] = [];
    for (const times of [1, 1, 5]) {
      expect(await verifyAggregateStream(bytes(times), statements(times))).toBe(true);
      const lab = takeInstance(bestModule(), 'rest');
      memory.push(lab.memoryBytes);
      keepInstance(bestModule(), 'rest', lab);
    }
    expect(memory[2]).toBe(memory[1]);
    expect(memory[2]).toBeLessThan(40e6);
    fact(
      context,
      'series',
      `${(memory[2]! / 1e6).toFixed(1)} MB to verify any number of proofs of 500`,
    );
  },
);
