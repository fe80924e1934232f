/**
 * The slow verifier of merged proofs without a prover: rows, bytes, counts, headers, norms, and
 * what is absorbed. Every refusal has the name of its check.
 */
import { describe, expect, test } from 'vitest';
import { type SignedItem, saltOf, shake256, signedItem } from '../../reference/items.ts';
import { parseMerged } from '../../reference/merged/parseProof.ts';
import { mergedShapesOf, rowsOfPart } from '../../reference/merged/parseRow.ts';
import { headerOfPart, readMergedRow } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import { type Flaw, verifyMerged, whyMerged } from '../../reference/merged/verifier.ts';
import { checkNorms } from '../../reference/merged/verifyLevel.ts';
import { hashOfRow } from '../../reference/table.ts';
import type { MergedRow } from '../../reference/tableRow.ts';
import { ALL_CHECKS, Refused } from '../../reference/verifier/checks.ts';
import { hex } from '../../support/hex.ts';
import { bytesOf, hollowMerged, projectionField } from './hollowMerged.ts';

const items = (first: number, count: number, set: SignedItem['set'] = 'falcon512') =>
  Array.from({ length: count }, (_, i) => signedItem(set, first + i));

const [OPEN, OPEN_3, HIDDEN, HIDDEN_3, LARGE] = Object.values(MERGED_TOY_ROWS) as [
  ...[MergedRow, MergedRow, MergedRow, MergedRow, MergedRow],
];
const ALL = Object.values(MERGED_TOY_ROWS);
/** Two parts with room for two items each, the first with one. */
const PARTS = [items(0, 1), items(1, 2)];
const LIST = PARTS.flat();
const FIELDS = hollowMerged(HIDDEN, PARTS);
/** Two parts of one item by a smaller row, which are judged faster. */
const QUICK_LIST = items(0, 2);
const QUICK = hollowMerged(OPEN, [items(0, 1), items(1, 1)]);
/** What refuses a hollow proof that has nothing else wrong. */
const HOLLOW = 'sealT: tail';

/** Why the hollow proof with these other fields is refused. */
const why = (changes: Record<string, ArrayLike<number>>, flaws: Flaw[] = [], list = LIST) =>
  whyMerged(bytesOf(FIELDS, changes), list, ALL, flaws);
const whyQuick = (changes: Record<string, ArrayLike<number>>, flaws: Flaw[] = []) =>
  whyMerged(bytesOf(QUICK, changes), QUICK_LIST, ALL, flaws);

describe('rows', () => {
  test('hashes are of the JSON text', () => {
    const levelZero = '[34,2,7,5,9,4,7,1,1,9,34034726,2000000000,80,0,0,0,0,0]';
    const part = `[512,1,${levelZero},[2200000000,96,0,0]]`;
    expect(hex(hashOfRow(OPEN[0]))).toBe(hex(shake256(32, part)));
    const [levelOne, tail] = OPEN[2];
    const text = `[${part},2,[${JSON.stringify(levelOne)},${JSON.stringify(tail)}]]`;
    expect(hex(hashOfRow(OPEN))).toBe(hex(shake256(32, text)));
    expect(hex(mergedShapesOf(OPEN).partHash)).toBe(hex(shake256(32, part)));
    expect(hex(mergedShapesOf(OPEN).mergedHash)).toBe(hex(shake256(32, text)));
  });

  test.each(Object.entries(MERGED_TOY_ROWS))('rows of level 1 hold one part each: %s', (_, row) => {
    const { zero, most, levels } = mergedShapesOf(row);
    const { f, n, m } = zero;
    const first = levels[0];
    const ofZ = Math.ceil(n / first.n);
    expect(first.r).toBe(f * most * ofZ + Math.ceil((most * m) / first.n));
    expect(first.rowsOf.slice(0, -1)).toEqual(new Array(f * most).fill(ofZ));
    expect(first.lengths).toEqual([...new Array(f * most).fill(n), most * m]);
    expect([zero.level, ...levels.map(({ level }) => level)]).toEqual([
      ...levels.keys(),
      levels.length,
    ]);
  });

  test('rows that break a rule are errors', () => {
    const [set, bucket, levelZero, bounds] = HIDDEN[0];
    const withBounds = (at: number, value: number): MergedRow =>
      [
        [set, bucket, levelZero, bounds.with(at, value) as unknown as typeof bounds],
        ...[HIDDEN[1], HIDDEN[2]],
      ] as unknown as MergedRow;
    const ofOpen = (at: number, value: number): MergedRow => {
      const [a, b, c, d] = OPEN[0];
      return [[a, b, c, d.with(at, value) as unknown as typeof d], OPEN[1], OPEN[2]];
    };
    const ofOne = (at: number, value: number): MergedRow => {
      const [levelOne, ...others] = HIDDEN[2];
      return [HIDDEN[0], HIDDEN[1], [levelOne!.with(at, value), ...others]];
    };
    const outSq = levelZero[11] as number;
    const X = levelZero[15] as number;
    const ofLevel1 = [
      ['inSq of level 1', ofOne(10, 1)],
      ['tY of level 1', ofOne(12, 1)],
      ['ct of level 1', ofOne(17, 4)],
    ] as const;
    const bad: readonly (readonly [string, MergedRow])[] = [
      ['inP', withBounds(0, outSq - 1)],
      ['inP', withBounds(0, 2 ** 43)],
      ['tP', withBounds(1, 144)],
      ['tP', withBounds(1, -1)],
      ['XP', withBounds(2, X - 1)],
      ['XP', withBounds(2, 2 ** 43)],
      ['tXP', withBounds(3, 144)],
      ['XP', ofOpen(2, 1)],
      ['tXP', ofOpen(3, 1)],
      ...ofLevel1,
      ['P', [HIDDEN[0], 0, HIDDEN[2]]],
      ['P', [HIDDEN[0], 65536, HIDDEN[2]]],
      ['level 1 and the tail', [HIDDEN[0], 2, HIDDEN[2].slice(1)]],
    ];
    for (const [what, row] of bad) expect(() => mergedShapesOf(row), what).toThrow(what);
    for (const [what, row] of ofLevel1) expect(() => readMergedRow(row), what).toThrow('level 1');
    for (const row of [withBounds(0, outSq), withBounds(2, X), withBounds(1, 143)]) {
      expect(() => mergedShapesOf(row)).not.toThrow();
    }
  });

  test("P parts use the row of the smallest P' that holds them", () => {
    const hash = hashOfRow(HIDDEN[0]);
    expect(rowsOfPart([LARGE, HIDDEN_3, OPEN, HIDDEN], hash)).toEqual([HIDDEN, HIDDEN_3]);
    expect(rowsOfPart([LARGE, OPEN], hash)).toEqual([]);
    expect(() => rowsOfPart([HIDDEN, HIDDEN], hash)).toThrow(RangeError);
    // the fields of the smaller row, whatever the order of the rows
    expect(whyMerged(bytesOf(QUICK), QUICK_LIST, [OPEN_3, OPEN])).toBe(HOLLOW);
    expect(whyMerged(bytesOf(QUICK), QUICK_LIST, [OPEN_3])).toMatch(/^(states|end of)/);
  });
});

describe('bytes', () => {
  test('the hollow proof is refused by the seal alone', () => {
    expect(whyQuick({})).toBe(HOLLOW);
    expect(whyQuick({}, ['sealT'])).toBe('sealH: tail');
    expect(verifyMerged(bytesOf(QUICK), QUICK_LIST, ALL)).toBe(false);
    expect(verifyMerged(bytesOf(QUICK), QUICK_LIST, ALL, ['sealT', 'sealH'])).toBe(true);
  });

  test('magic, format, version', () => {
    const start = [...FIELDS.get('start')!];
    for (const i of start.keys()) {
      expect(why({ start: start.with(i, start[i]! ^ 1) })).toBe('magic, format or version');
    }
  });

  test('another part row, and none', () => {
    expect(why({ hash: hashOfRow(HIDDEN) })).toBe('unknown part row');
    expect(why({ hash: new Uint8Array(32) })).toBe('unknown part row');
    expect(whyMerged(bytesOf(FIELDS), LIST, [OPEN, LARGE])).toBe('unknown part row');
    expect(whyMerged(bytesOf(FIELDS), LIST, [])).toBe('unknown part row');
    expect(why({ hash: hashOfRow(LARGE[0]) })).toBe('tag: part 1');
  });

  test('counts of parts', () => {
    for (const P of [
      [0, 0],
      [4, 0],
      [255, 255],
      [0, 1],
      [2, 1],
    ]) {
      expect(why({ P }), `${P}`).toBe('count of parts');
    }
    expect(why({ P: [1, 0] })).toBe('list: too long');
    expect(why({ P: [3, 0] })).toMatch(/^header: part 3/);
  });

  test('attempts up to 15', () => {
    expect(whyQuick({ attempt: [15] })).toBe(HOLLOW);
    expect(why({ attempt: [16] })).toBe('attempt');
    expect(why({ attempt: [255] })).toBe('attempt');
  });

  test('every beginning is refused, and every surplus', () => {
    const bytes = bytesOf(FIELDS);
    const ends = [...Array(60).keys(), ...Array.from({ length: 60 }, (_, i) => 61 + 601 * i)];
    for (const end of [...ends, bytes.length - 1].filter((x) => x < bytes.length)) {
      expect(whyMerged(bytes.subarray(0, end), LIST, ALL), `${end}`).toMatch(/end of the bytes/);
    }
    expect(whyMerged(Uint8Array.from([...bytes, 0]), LIST, ALL)).toBe('bytes left over');
    expect(verifyMerged(new Uint8Array(0), [], ALL)).toBe(false);
  });

  test('bytes at random are refused, or read to their end', () => {
    const bytes = bytesOf(FIELDS);
    const random = new DataView(shake256(1280, 'places and values').buffer);
    const seen = new Set<string>();
    for (let i = 0; i < 160; i++) {
      const spoiled = bytes.slice();
      spoiled[random.getUint32(8 * i) % (i < 120 ? 400 : bytes.length)] = random.getUint8(
        8 * i + 4,
      );
      try {
        parseMerged(spoiled, ALL, ALL_CHECKS, () => {});
        seen.add('read');
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        seen.add(error.message.split(':')[0]!);
      }
    }
    const expected = ['read', 'unknown part row', 'count of parts', 'header', 'states'];
    expect(expected.filter((name) => !seen.has(name))).toEqual([]);
  });

  test('ranges of fields, at their places', () => {
    const ones = (name: string) => new Uint8Array(FIELDS.get(name)!.length).fill(255);
    for (const [name, expected] of [
      ['part 2 uB', 'quarterRange: level 0 p_B'],
      ['part 1 b32', 'b32Range: level 0'],
      ['level 1 u1', 'quarterRange: level 1 p_1'],
      ['level 1 b', 'quarterRange: level 1 p_b'],
      ['level 1 u2', 'quarterRange: level 1 p_2'],
      ['level 1 y 1', 'states: level 1, part 1 y'],
      ['level 1 yx 2', 'states: level 1, part 2 y_x'],
      ['tail b', 'residueRange: tail b'],
    ] as const) {
      expect(why({ [name]: ones(name) }), name).toBe(expected);
    }
    for (const [name, expected] of [
      ['part 2 retry', 'retryRange: level 0'],
      ['part 1 counter', 'counterRange: level 0'],
      ['level 1 retry', 'retryRange: level 1'],
      ['level 1 counter', 'counterRange: level 1'],
      ['tail retry', 'retryRange: tail'],
    ] as const) {
      expect(why({ [name]: [16] }), name).toBe(expected);
    }
  });
});

describe('headers and the list', () => {
  const [first, second] = PARTS as [SignedItem[], SignedItem[]];
  const changed = (name: string, at: number, by = 1) => {
    const bytes = FIELDS.get(name)!;
    return { [name]: bytes.with(at, bytes[at]! ^ by) };
  };
  /** A header with the right tag for any list. */
  const headerFor = (list: readonly SignedItem[]) => headerOfPart(list, HIDDEN[0]);
  const bytesFor = (parts: readonly (readonly SignedItem[])[]) => {
    const changes = parts.map((list, i) => [`header ${i + 1}`, headerFor(list)] as const);
    return bytesOf(FIELDS, Object.fromEntries(changes));
  };

  test('commitment, tag, profile and salts of every part', () => {
    for (const part of [1, 2]) {
      const name = `header ${part}`;
      expect(why(changed(name, 0))).toBe(`commitment: part ${part}`);
      expect(why(changed(name, 31))).toBe(`commitment: part ${part}`);
      expect(why(changed(name, 34))).toBe(`tag: part ${part}`);
      expect(why(changed(name, 37))).toBe(`tag: part ${part}`);
      expect(why(changed(name, 40, 1))).toBe(`header: part ${part}: profile`);
      expect(why({ [name]: FIELDS.get(name)!.with(32, 255) })).toBe(`header: part ${part}: count`);
    }
    // the salt is absorbed; 1.2 of bundle-format.md: a derived one may not be written out
    const derived = [signedItem('falcon512', 0, 'derived')];
    const header = headerFor(first);
    const written = Uint8Array.from([...header.slice(0, -40), ...saltOf(derived[0]!)]);
    written.set(headerFor(derived).subarray(0, 32));
    const bytes = bytesOf(FIELDS, { 'header 1': written });
    expect(whyMerged(bytes, [...derived, ...second], ALL)).toBe('salt: part 1, item 0');
  });

  test('parts are consecutive items, and all of the list', () => {
    const other = signedItem('falcon512', 7);
    expect(why({}, [], [...LIST, other])).toBe('list: too long');
    expect(why({}, [], LIST.slice(1))).toBe('list: too short');
    expect(why({}, [], [])).toBe('list: too short');
    expect(why({}, [], [...second, ...first])).toBe('commitment: part 1');
    expect(why({}, [], [first[0]!, second[1]!, second[0]!])).toBe('commitment: part 2');
    expect(why({}, [], [...first, second[0]!, other])).toBe('commitment: part 2');
    const exchanged = { 'header 1': headerFor(second), 'header 2': headerFor(first) };
    expect(why(exchanged)).toBe('commitment: part 1');
  });

  test("a part has at most N' items", () => {
    const most = [items(0, 1), items(1, 3)];
    expect(whyMerged(bytesFor(most), most.flat(), ALL)).toBe('count of items: part 2');
  });

  test('all items are of the set of the part row', () => {
    const large = signedItem('falcon1024', 0);
    const mixed = [first, [second[0]!, large]];
    expect(whyMerged(bytesFor(mixed), mixed.flat(), ALL)).toBe('set: part 2');
    const wrong = [[large], second];
    expect(whyMerged(bytesFor(wrong), wrong.flat(), ALL)).toBe('set: part 1');
    expect(whyMerged(bytesFor(wrong), wrong.flat(), ALL, ['otherSet'])).toBe('set: part 1');
    // a key of the other set under a kind of this one
    const header = headerFor(first);
    header.set(headerFor([large]).subarray(0, 32));
    const bytes = bytesOf(FIELDS, { 'header 1': header });
    expect(whyMerged(bytes, [large, ...second], ALL)).toBe('public key: part 1, item 0');
  });

  test('keys are canonical', () => {
    const publicKey = first[0]!.publicKey.slice().fill(255, 1, 3);
    const item = { ...first[0]!, publicKey };
    const bytes = bytesOf(FIELDS, { 'header 1': headerFor([item]) });
    expect(whyMerged(bytes, [item, ...second], ALL)).toBe('public key: part 1, item 0');
    const short = { ...item, publicKey: publicKey.slice(1) };
    expect(whyMerged(bytes, [short, ...second], ALL)).toBe('commitment: part 1');
  });

  test('with a flaw, the list may go on, and items of the other set go unproved', () => {
    const seals: Flaw[] = ['sealT', 'sealH'];
    const bytes = bytesOf(QUICK);
    const longer = [...QUICK_LIST, signedItem('falcon512', 9)];
    expect(whyMerged(bytes, longer, ALL, seals)).toBe('list: too long');
    expect(whyMerged(bytes, longer, ALL, [...seals, 'longerList'])).toBe(undefined);
    const mixed = [[...first, signedItem('falcon1024', 0)], first];
    const fields = hollowMerged(HIDDEN, mixed);
    expect(whyMerged(bytesOf(fields), mixed.flat(), ALL, seals)).toBe('set: part 1');
    expect(whyMerged(bytesOf(fields), mixed.flat(), ALL, [...seals, 'otherSet'])).toBe(undefined);
  });
});

describe('norms of blocks', () => {
  const shapes = mergedShapesOf(HIDDEN_3);
  const [inP, , XP] = HIDDEN_3[0][3];
  const inAll = 3 * inP;
  const zeros = { rows: new Array<number>(272).fill(0), U: 4, V: -2 };
  const long = (value: number) => ({ ...zeros, rows: zeros.rows.with(200, value) });
  /** The largest y' that alone has a norm of at most 288 times the bound. */
  const largest = (bound: number) => Math.floor(Math.sqrt(72 * bound));
  const judge = (name: string, value: number, flaws: Flaw[] = []) => {
    const at = (other: string) => (name === other ? long(value) : zeros);
    const blocks = [1, 2].map((part) => ({ y: at(`y ${part}`), yOfX: at(`x ${part}`) }));
    return () => checkNorms(shapes, { blocks }, new Set(flaws));
  };

  test.each([
    ['y 1', inP, 'normOfBlock: part 1'],
    ['y 2', inP, 'normOfBlock: part 2'],
    ['x 1', XP, 'normOfXOfBlock: part 1'],
    ['x 2', XP, 'normOfXOfBlock: part 2'],
  ] as const)('%s has its own bound', (name, bound, expected) => {
    const most = largest(bound);
    for (const sign of [1, -1]) {
      expect(judge(name, sign * most)).not.toThrow();
      expect(judge(name, sign * (most + 1))).toThrow(expected);
    }
  });

  test('with a flaw, another bound or none', () => {
    for (const [name, flaw, bound, expected] of [
      ['y 2', 'boundOfRow', inAll, 'normOfBlock: part 2'],
      ['x 2', 'boundOfRow', inAll, 'normOfXOfBlock: part 2'],
      ['y 1', 'oneBound', inAll, 'normOfAll'],
      ['x 1', 'oneBound', XP, 'normOfXOfBlock: part 1'],
      ['y 1', 'noNormOfX', inP, 'normOfBlock: part 1'],
    ] as const) {
      expect(judge(name, largest(bound), [flaw])).not.toThrow();
      expect(judge(name, largest(bound) + 1, [flaw])).toThrow(expected);
    }
    expect(judge('x 2', 2 ** 40, ['noNormOfX'])).not.toThrow();
  });

  test('in a proof', () => {
    const [inOpen, tOpen] = OPEN[0][3];
    const numbers = zeros.rows.with(7, largest(inOpen) + 1);
    const found = whyQuick({ 'level 1 y 2': projectionField(tOpen, numbers) });
    expect(found).toBe('normOfBlock: part 2');
  });
});

describe('what is absorbed', () => {
  const absorbed = (st: Uint8Array, label: string, data: ArrayLike<number>): Uint8Array => {
    const length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(data.length), true);
    const name = Uint8Array.of(label.length, ...Buffer.from(label));
    return shake256(64, Uint8Array.of(1), st, name, length, Uint8Array.from(data));
  };
  const start = new Uint8Array(64);
  /** Labels and states, in their order. */
  const run = (fields: ReturnType<typeof hollowMerged>, rows: MergedRow[], flaws: Flaw[] = []) => {
    const seen: [string, string][] = [];
    whyMerged(
      bytesOf(fields),
      QUICK_LIST,
      rows,
      [...flaws, 'sealT', 'sealH'],
      (kind, label, st) => {
        if (kind !== 'seal') seen.push([`${kind} ${label}`, hex(st)]);
      },
    );
    return seen;
  };
  const PART = [
    ...['absorb falconry/part/v1', 'absorb header', 'absorb retry', 'absorb uA', 'seed alpha'],
    ...['absorb uB', 'seed rho', 'absorb counter', 'seed jl', 'absorb y', 'seed lift'],
    ...['absorb b', 'seed combine', 'absorb u2', 'seed amortise'],
  ];
  const ORDINARY = [
    ...['absorb retry', 'absorb u1', 'absorb counter', 'seed jl', 'absorb y', 'seed lift'],
    ...['absorb b', 'seed combine', 'absorb u2', 'seed amortise'],
  ];
  const TAIL = ORDINARY.map((step) => step.replace('u1', 't').replace('u2', 'h'));

  test('parts from the zero state, then the merge from the zero state', () => {
    const fields = new Map(hollowMerged(HIDDEN_3, [items(0, 1), items(1, 1)]));
    const numbers = Array.from({ length: 272 }, (_, i) => i % 7);
    fields.set('level 1 y 2', projectionField(96, numbers, 3, -4));
    fields.set('level 1 yx 1', projectionField(28, numbers.with(0, 9), 7, 8));
    fields.set('attempt', Uint8Array.of(9));
    const seen = run(fields, [HIDDEN_3]);
    expect(seen.map(([step]) => step)).toEqual([
      ...[...PART, ...PART, 'absorb falconry/merge/v1', ...ORDINARY, ...ORDINARY, ...TAIL],
    ]);
    const states = seen.map(([, st]) => st);
    const [partHash, mergedHash] = [hashOfRow(HIDDEN_3[0]), hashOfRow(HIDDEN_3)];
    for (const part of [1, 2]) {
      const opened = absorbed(start, 'falconry/part/v1', [...partHash, 9, 2, 0, 1, 0]);
      const at = PART.length * (part - 1);
      expect(states[at]).toBe(hex(opened));
      const header = absorbed(opened, 'header', fields.get(`header ${part}`)!);
      expect(states[at + 1]).toBe(hex(header));
      expect(states[at + 2]).toBe(hex(absorbed(header, 'retry', [0])));
    }
    const ends = [1, 2].map((part) => Buffer.from(states[PART.length * part - 2]!, 'hex'));
    const data = [...partHash, ...mergedHash, 9, 2, 0, ...ends[0]!, ...ends[1]!];
    const at = 2 * PART.length;
    const merge = absorbed(start, 'falconry/merge/v1', data);
    expect(states[at]).toBe(hex(merge));
    const zeros = (count: number) => new Array<number>(count).fill(0);
    const i32s = (list: readonly number[]) => [...new Uint8Array(Int32Array.from(list).buffer)];
    const [retry, u1, counter] = [...['retry', 'u1', 'counter']].map(
      (x) => fields.get(`level 1 ${x}`)!,
    );
    let st = absorbed(absorbed(merge, 'retry', retry!), 'u1', u1!);
    st = absorbed(st, 'counter', counter!);
    const y = [...zeros(274), ...numbers.with(0, 9), 7, 8, ...numbers, 3, -4, ...zeros(274)];
    st = absorbed(st, 'y', i32s(y));
    expect(states[at + 5]).toBe(hex(st));
  });

  test('with a flaw, without the header, and in any order', () => {
    const at = 2 * (PART.length - 1);
    const seen = run(QUICK, [OPEN], ['noHeader']);
    expect(seen.map(([step]) => step).slice(0, PART.length - 1)).toEqual(
      PART.filter((step) => step !== 'absorb header'),
    );
    const ends = [1, 2].map((part) => seen[(PART.length - 1) * part - 2]![1]);
    // both parts are zero but for their headers
    expect(ends[0]).toBe(ends[1]);
    expect(seen[at]![0]).toBe('absorb falconry/merge/v1');
    const sorted = run(QUICK, [OPEN], ['noOrder']);
    const states = [1, 2].map((part) => sorted[PART.length * part - 2]![1]).sort();
    const all = Buffer.from(states.join(''), 'hex');
    const data = [...hashOfRow(OPEN[0]), ...hashOfRow(OPEN), 0, 2, 0, ...all];
    const merge = absorbed(start, 'falconry/merge/v1', data);
    expect(sorted[2 * PART.length]![1]).toBe(hex(merge));
  });
});
