/** The series: its bytes, its division, and every way to refuse one, in memory and as a stream. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { divide } from '../../src/aggregate/aggregateStream.ts';
import {
  aggregate,
  aggregateStream,
  aggregateSync,
  createAggregatePool,
  extractSignatures,
  inspectAggregate,
  joinSeries,
  MAX_PROOF_ITEMS,
  MAX_SERIES_ELEMENTS,
  type Statement,
  statementCommitment,
  verifyAggregate,
  verifyAggregateAsync,
  verifyAggregateStream,
} from '../../src/aggregate/index.ts';
import { codeSalts, completeSalts, sliceSalts } from '../../src/aggregate/salts.ts';
import { checkElements, MAX_ELEMENT_BYTES } from '../../src/aggregate/series.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { frozenCases } from '../reference/frozenCases.ts';
import { type SaltKind, saltOf, signedItem } from '../reference/items.ts';

const { good } = frozenCases();
const named = (name: string) => good.find((one) => one.name === name)!;
const PROOF = named('falcon512, 1 items');
const MIXED_PROOF = named('2 + 1 items, mixed');
const BUNDLE = named('bundle: falcon1024, 2 items, derived salts');
const MIXED_BUNDLE = named('bundle: 9 items, salts and forms of all kinds in both sets');
const ALL = [MIXED_BUNDLE, PROOF, BUNDLE, MIXED_PROOF];
const BUNDLES = [BUNDLE, MIXED_BUNDLE, BUNDLE];

const u32 = (value: number): number[] => [
  value >>> 24,
  (value >> 16) & 255,
  (value >> 8) & 255,
  value & 255,
];
const START = [0x46, 0x4c, 0x52, 0x59, 3, 1];
/** A series from the text alone; `length` may be wrong. */
const written = (
  elements: readonly Uint8Array[],
  end: readonly number[] = u32(0),
  lengthOf = (element: Uint8Array) => element.length,
): Uint8Array =>
  Uint8Array.from([
    ...START,
    ...elements.flatMap((one) => [...u32(lengthOf(one)), ...one]),
    ...end,
  ]);
const bytesOf = (cases: typeof ALL): Uint8Array[] => cases.map((one) => one.aggregate);
const itemsOf = (cases: typeof ALL) => cases.flatMap(({ items }) => items);

/** Cuts bytes into pieces. */
function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

/** The verdict, which has to be the same however bytes and statements arrive. */
async function verdict(
  bytes: Uint8Array,
  statements: readonly Statement[],
  size = 1000,
): Promise<boolean> {
  const found = verifyAggregate(bytes, statements);
  expect(await verifyAggregateStream(pieces(bytes, size), statements.values())).toBe(found);
  return found;
}

const faultOf = (bytes: Uint8Array): unknown => {
  try {
    return inspectAggregate(bytes) && undefined;
  } catch (error) {
    if (isCodedError(error) && error.code === 'BAD_AGGREGATE') return error.cause;
    throw error;
  }
};

describe('a series', () => {
  test('is the one of the text, and is accepted in memory, on threads and as a stream', async () => {
    const bytes = joinSeries(bytesOf(ALL));
    expect(bytes).toEqual(written(bytesOf(ALL)));
    const items = itemsOf(ALL);
    const shown: number[] = [];
    const onProgress = ({ done }: { done: number }) => void shown.push(done);
    expect(await verdict(bytes, items)).toBe(true);
    expect(await verifyAggregateAsync(bytes, items, { onProgress })).toBe(true);
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(shown.at(-1)).toBe(items.length);
    for (const i of [0, -1]) {
      expect(await verifyAggregateAsync(bytes, items.with(i, items[2]!))).toBe(false);
    }
  });

  test('may be cut anywhere', async () => {
    const bytes = joinSeries(bytesOf(BUNDLES));
    for (const size of [1, 2, 3, 5, 7, 11, 64, 997, bytes.length - 1, bytes.length]) {
      expect(await verdict(bytes, itemsOf(BUNDLES), size)).toBe(true);
    }
    // empty pieces are none
    const sparse = [...pieces(bytes, 100)].flatMap((piece) => [piece, new Uint8Array(0)]);
    expect(await verifyAggregateStream(sparse, itemsOf(BUNDLES))).toBe(true);
  });

  test('is not needed: a stream of a single aggregate is read as well', async () => {
    for (const { aggregate: bytes, items } of ALL) {
      expect(await verdict(bytes, items)).toBe(true);
      expect(await verdict(bytes, [...items, items[0]!])).toBe(false);
      expect(await verdict(Uint8Array.of(...bytes, 0), items)).toBe(false);
      expect(await verdict(bytes.slice(0, -1), items)).toBe(false);
    }
    expect(await verdict(new Uint8Array(0), [])).toBe(false);
    expect(await verdict(Uint8Array.from(START.slice(0, 5)), [])).toBe(false);
  });

  test('gives back the signatures of its bundles', () => {
    const bytes = joinSeries(bytesOf(BUNDLES));
    const items = itemsOf(BUNDLES);
    expect(extractSignatures(bytes, items)).toEqual(items.map(({ signature }) => signature));
    const proved = joinSeries([...bytesOf(BUNDLES), PROOF.aggregate]);
    const more = [...items, ...PROOF.items];
    expect(() => extractSignatures(proved, more)).toThrow(
      expect.objectContaining({ code: 'NO_SIGNATURES' }),
    );
    expect(() => extractSignatures(bytes, more)).toThrow(
      expect.objectContaining({ code: 'BAD_AGGREGATE' }),
    );
    const wrong = bytes.slice();
    wrong[wrong.length - 5]! ^= 1;
    expect(() => extractSignatures(wrong, items)).toThrow(
      expect.objectContaining({ code: 'BAD_AGGREGATE' }),
    );
  });

  test('is inspected with its elements, an identity of its own, and the sum of errors', () => {
    const bytes = joinSeries(bytesOf(ALL));
    const info = inspectAggregate(bytes);
    const own = bytesOf(ALL).map((element) => inspectAggregate(element));
    const hash = createHash('shake256', { outputLength: 32 }).update('falconry series v1');
    for (const { count, statement } of own)
      hash.update(Uint8Array.from(u32(count))).update(statement);
    expect(info).toMatchObject({
      format: 'series',
      version: 1,
      count: 15,
      profile: 'round3',
      profiles: { falcon512: 0, falcon1024: 0 },
      claimedBits: 128,
      parameterSets: ['falcon512', 'falcon1024'],
      statement: new Uint8Array(hash.digest()),
      elements: own,
      items: own.flatMap(({ items }) => items),
      saltRuns: own.flatMap(({ saltRuns }) => saltRuns),
    });
    const { total, header, salts, body } = info.sizes;
    expect([total, header + salts + body]).toEqual([bytes.length, bytes.length]);
    expect(body).toBe(own.reduce((sum, { sizes }) => sum + sizes.body, 0));
    expect(info).not.toHaveProperty('rowTag');
    expect(inspectAggregate(joinSeries(bytesOf(BUNDLES)))).not.toHaveProperty('claimedBits');
  });

  test.each([
    [[PROOF], 1, 128],
    [[PROOF], 4, 128],
    [[PROOF], 5, 127],
    [[PROOF, BUNDLE], 4, 128],
    [[MIXED_PROOF], 2, 128],
    [[MIXED_PROOF], 3, 127],
    [[PROOF], 178, 122],
  ])('claims floor(130 - log2 S) bits: %#', (cases, times, bits) => {
    const elements = Array.from({ length: times }, () => bytesOf(cases as typeof ALL)).flat();
    expect(inspectAggregate(joinSeries(elements)).claimedBits).toBe(bits);
  });
});

describe('a series is refused', () => {
  const [a, b, c] = bytesOf(BUNDLES) as [Uint8Array, Uint8Array, Uint8Array];
  const items = itemsOf(BUNDLES);
  const series = written([a, b, c]);
  const cases: [what: string, bytes: Uint8Array, statements: readonly Statement[]][] = [
    ['of no elements', written([]), []],
    ['without its end', written([a, b, c], []), items],
    ['with a part of its end', written([a, b, c], [0, 0, 0]), items],
    ['with another length as its end', written([a, b, c], u32(1)), items],
    ['with a byte behind its end', written([a, b, c], [...u32(0), 0]), items],
    ['with a second end', written([a, b, c], [...u32(0), ...u32(0)]), items],
    ['with a series behind it', Uint8Array.of(...series, ...series), [...items, ...items]],
    ['cut within an element', series.slice(0, 100), items],
    ['cut within a length', written([a, b], [0, 0]), items],
    ['cut behind its start', series.slice(0, 6), items],
    [
      'with an end between elements',
      Uint8Array.from([...written([a]), ...written([b, c]).slice(6)]),
      items,
    ],
    ['with an element twice', written([a, b, b, c]), items],
    ['with an element twice, which the list has once', written([a, a, b, c]), items],
    ['without an element', written([a, c]), items],
    ['in another order', written([b, a, c]), items],
    ['in another series', written([written([a, b, c])]), items],
    ['that holds a series', written([a, written([b]), c]), items],
    ['with an empty element', written([a, new Uint8Array(0), b, c]), items],
    ['with a damaged element', written([a, b.with(b.length - 1, b.at(-1)! ^ 1), c]), items],
    ['with a damaged header', written([a, b, c.with(38, 255)]), items],
    ['with a length too short', written([a, b, c], u32(0), (one) => one.length - 1), items],
    ['with a length too long', written([a, b, c], u32(0), (one) => one.length + 1), items],
    ['with a length beyond all', written([a, b, c], u32(0), () => 0xffffffff), items],
    [
      'with a proof cut short at its end, for a list without its items',
      written([a, PROOF.aggregate.slice(0, -1)]),
      BUNDLES[0]!.items,
    ],
    ['of version 2', series.with(5, 2), items],
    ['for a list longer by one', series, [...items, items[0]!]],
    ['for a list shorter by one', series, items.slice(0, -1)],
    ['for a list without its first item', series, items.slice(1)],
    ['for an empty list', series, []],
    ['for another order', series, items.with(0, items[1]!).with(1, items[0]!)],
    [
      'for another message',
      series,
      items.with(-1, { ...items.at(-1)!, message: Uint8Array.of(1) }),
    ],
    [
      'for a key of another set',
      series,
      items.with(0, items.find(({ publicKey }) => publicKey.length === 897)!),
    ],
  ];

  test.each(cases)('%s', async (_, bytes, statements) => {
    expect(await verdict(bytes, statements)).toBe(false);
  });

  test('and its faults are named', () => {
    expect(faultOf(written([]))).toBe('header');
    expect(faultOf(series.slice(0, -1))).toBe('header');
    expect(faultOf(Uint8Array.of(...series, 0))).toBe('header');
    expect(faultOf(series.with(5, 2))).toBe('format');
    expect(faultOf(written([a, series]))).toBe('format');
    expect(faultOf(written([a, b.with(0, 0)]))).toBe('magic');
    expect(faultOf(written([a, c.with(5, 9)]))).toBe('version');
  });

  test('with more than 4096 elements', async () => {
    const { aggregate: one, items: own } = named('bundle: falcon512, 1 items');
    const most = new Array<Uint8Array>(MAX_SERIES_ELEMENTS).fill(one);
    const list = most.flatMap(() => own);
    expect(verifyAggregate(joinSeries(most.slice(0, 3)), list.slice(0, 3))).toBe(true);
    expect(inspectAggregate(joinSeries(most)).count).toBe(4096);
    expect(() => joinSeries([...most, one])).toThrow(
      new RangeError('"aggregates" expected at most 4096 elements'),
    );
    expect(() => joinSeries([one, 5 as never])).toThrow(TypeError);
    expect(() => joinSeries([])).toThrow(RangeError);
    // Joined by hand: the bytes alone decide.
    const more = written(most.slice(0, 1), []);
    const element = more.slice(6);
    const bytes = new Uint8Array(6 + 4097 * element.length + 4);
    bytes.set(START);
    for (let i = 0; i <= 4096; i++) bytes.set(element, 6 + i * element.length);
    expect(faultOf(bytes)).toBe('header');
    expect(verifyAggregate(bytes, [...list, ...own])).toBe(false);
    expect(await verifyAggregateStream([bytes], [...list, ...own])).toBe(false);
  });

  test('with elements of two profiles, and with one that is not accepted', async () => {
    const item = named('bundle: falcon512, 1 items').items[0]!;
    const eth = await ethBundle();
    const profiles = ['round3', 'eth-falcon'] as const;
    const both = joinSeries([named('bundle: falcon512, 1 items').aggregate, eth.bytes]);
    const list = [item, eth.item];
    // Nor for the items before the other profile alone.
    for (const statements of [list, [item]]) {
      expect(verifyAggregate(both, statements, { profiles })).toBe(false);
      expect(await verifyAggregateStream([both], statements, { profiles })).toBe(false);
    }
    expect(faultOf(both)).toBe('profile');
    const twice = joinSeries([eth.bytes, eth.bytes]);
    for (const accepted of [profiles, ['round3'] as const]) {
      const own = [eth.item, eth.item];
      const expected = accepted.length === 2;
      expect(verifyAggregate(twice, own, { profiles: accepted })).toBe(expected);
      expect(await verifyAggregateStream([twice], own, { profiles: accepted })).toBe(expected);
    }
    for (const bytes of [eth.bytes, twice]) {
      expect(await verifyAggregateStream([bytes], [])).toBe(false);
    }
    expect(inspectAggregate(twice).profile).toBe('eth-falcon');
  });

  test('no valid element is longer than the limit of a stream', () => {
    // Σ log2(2^24 / f(k)) <= n log2(W 2^24 / (2^24 - 4095)) + β² / (2 σ² ln 2): 3.1 of the format
    const [sigma, betaSq, n] = [168.388571447, 70_265_242, 1024];
    const width = Math.sqrt(2 * Math.PI) * sigma + 0.001;
    const each = n * Math.log2((width * 2 ** 24) / (2 ** 24 - 4095));
    const bits = each + betaSq / (2 * sigma ** 2 * Math.LN2);
    const header = 46 + 2 * 8192 + 2 + 3 * 8192;
    const largest = header + 8192 * (40 + bits / 8) + 2 * 16;
    expect(largest).toBeLessThan(MAX_ELEMENT_BYTES);
    expect(largest).toBeGreaterThan(0.9 * MAX_ELEMENT_BYTES);
  });
});

/** A signature of the profile eth-falcon, as a bundle. */
async function ethBundle() {
  const { ethFalcon512 } = await import('../../src/falcon/profiles/ethFalcon.ts');
  const { publicKey, secretKey } = ethFalcon512.keygen(new Uint8Array(48));
  const message = new TextEncoder().encode('message');
  const signature = ethFalcon512.sign(message, secretKey);
  const item = { publicKey, message, signature };
  return { item, bytes: aggregateSync([item], { profile: 'eth-falcon' }) };
}

describe('a list is divided', () => {
  const key = { 512: new Uint8Array(897), 1024: new Uint8Array(1793), 0: new Uint8Array(3) };
  const list = (...runs: [count: number, set: keyof typeof key][]) =>
    runs.flatMap(([count, set]) => new Array(count).fill({ publicKey: key[set] }));
  const sizes = (ends: readonly number[]) => ends.map((end, i) => end - (ends[i - 1] ?? 0));
  const { falcon512: F, falcon1024: G } = MAX_PROOF_ITEMS;

  test.each([
    [[1], [1]],
    [[F], [F]],
    [[F + 1], [2817, 2816]],
    [[2 * F], [F, F]],
    [[2 * F + 1], [3755, 3755, 3755]],
    [[10 * F + 7], [5121, 5121, 5121, 5121, 5121, 5121, 5121, 5120, 5120, 5120, 5120]],
  ])('evenly: %j of Falcon-512', ([count], expected) => {
    expect(sizes(divide(list([count!, 512]), 'auto'))).toEqual(expected);
  });

  test('evenly, into bundles of 8192, and proofs of 2944 of Falcon-1024', () => {
    expect(sizes(divide(list([8192, 512]), 'bundle'))).toEqual([8192]);
    expect(sizes(divide(list([8193, 1024]), 'bundle'))).toEqual([4097, 4096]);
    expect(sizes(divide(list([G, 1024]), 'proof'))).toEqual([G]);
    expect(sizes(divide(list([G + 1, 1024]), 'proof'))).toEqual([1473, 1472]);
    // a wrong key is left to the verification of the signatures
    expect(sizes(divide(list([3, 0]), 'auto'))).toEqual([3]);
    expect(divide([], 'auto')).toEqual([]);
  });

  test('so that both sets and the container hold every element, with as few as possible', () => {
    const mixed = [
      list([F, 512], [G, 1024]),
      list([F, 512], [2560, 1024]),
      list([F + 1, 512], [G, 1024]),
      list([G, 1024], [F, 512], [G, 1024], [F, 512]),
      list([5000, 512], [2000, 1024], [700, 512], [5000, 1024], [9000, 512]),
      Array.from({ length: 20_000 }, (_, i) => list([1, i % 3 === 0 ? 1024 : 512])[0]),
    ];
    const counts = mixed.map((items) => {
      const ends = divide(items, 'auto');
      for (const [i, end] of ends.entries()) {
        const own = items.slice(ends[i - 1] ?? 0, end);
        const large = own.filter(({ publicKey }) => publicKey.length === 1793).length;
        expect(own.length).toBeGreaterThan(0);
        expect(own.length).toBeLessThanOrEqual(8192);
        expect(large).toBeLessThanOrEqual(G);
        expect(own.length - large).toBeLessThanOrEqual(F);
      }
      expect(ends.at(-1)).toBe(items.length);
      return ends.length;
    });
    expect(counts).toEqual([2, 1, 2, 3, 4, 3]);
  });
});

describe('aggregateStream', () => {
  const items = Array.from({ length: 5 }, (_, i) => signedItem('falcon512', i));
  const collect = async (stream: AsyncIterable<Uint8Array>) => {
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part);
    return new Uint8Array(Buffer.concat(parts));
  };

  test('makes a series of the aggregates of its parts, also of one', async () => {
    const expected = joinSeries([await aggregate(items, { format: 'bundle' })]);
    const pool = createAggregatePool({ threads: 1 });
    const progress: unknown[] = [];
    const onProgress = (each: unknown) => void progress.push(each);
    const options = { format: 'bundle', onProgress } as const;
    expect(await collect(aggregateStream(items, options))).toEqual(expected);
    expect(progress.at(-1)).toEqual({ done: 5, total: 5 });
    expect(await collect(aggregateStream(items.values(), options))).toEqual(expected);
    expect(progress.at(-1)).toEqual({ done: 5 });
    expect(await collect(pool.aggregateStream(items))).toEqual(expected);
    await pool.close();
    await expect(collect(pool.aggregateStream(items))).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('refuses wrong arguments at once, wrong elements where they are', async () => {
    expect(() => aggregateStream(5 as never)).toThrow('"items" expected an iterable, got number');
    expect(() => aggregateStream([{}] as never)).toThrow('"items[0].publicKey" expected');
    expect(() => aggregateStream([])).toThrow('a series expected 1 to 4096 aggregates, got 0');
    expect(() => aggregateStream(items, { format: 'zip' as never })).toThrow(RangeError);
    expect(() => aggregateStream(items, { onStats: () => {} } as never)).toThrow('unknown option');
    await expect(collect(aggregateStream(new Set<never>()))).rejects.toThrow(RangeError);
    const wrong = [...items, null as never].values();
    await expect(collect(aggregateStream(wrong))).rejects.toThrow(
      new TypeError('"items[5]" expected an object, got null'),
    );
  });

  test('numbers invalid items as in the whole list', async () => {
    const bad = items.with(3, { ...items[3]!, message: Uint8Array.of(7) });
    await expect(collect(aggregateStream(bad))).rejects.toMatchObject({
      code: 'INVALID_SIGNATURES',
      invalid: [{ index: 3 }],
    });
  });
});

test('an aggregate with the commitment of a list of other sets is refused', async () => {
  const list = MIXED_PROOF.items.map((_, i) => BUNDLE.items[i % BUNDLE.items.length]!);
  const bytes = Uint8Array.from(MIXED_PROOF.aggregate);
  bytes.set(statementCommitment(list), 6);
  expect(verifyAggregate(bytes, list)).toBe(false);
  expect(await verifyAggregateStream([bytes], list)).toBe(false);
});

test('a series has 1 to 4096 elements', () => {
  expect(() => checkElements(0)).toThrow(RangeError);
  for (const count of [1, MAX_SERIES_ELEMENTS]) checkElements(count);
  expect(() => checkElements(MAX_SERIES_ELEMENTS + 1)).toThrow('1 to 4096 aggregates, got 4097');
});

test('salts of a part of a list', () => {
  const kinds: SaltKind[] = [
    'random',
    'random',
    { version: 1 },
    'derived',
    { version: 2 },
    'random',
  ];
  const items = kinds.map((kind, i) => signedItem('falcon512', i, kind));
  const coded = codeSalts(items.map(saltOf), items);
  for (let from = 0; from <= items.length; from++) {
    for (let to = from; to <= items.length; to++) {
      const own = items.slice(from, to);
      const part = sliceSalts(coded, from, to);
      expect(part).toEqual(codeSalts(own.map(saltOf), own));
      expect(completeSalts(part, own)).toEqual(new Uint8Array(Buffer.concat(own.map(saltOf))));
    }
  }
});
