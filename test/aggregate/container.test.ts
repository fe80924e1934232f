import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BatchHeader,
  encodeHeader,
  encodePartHeader,
  formOfKind,
  type HeaderFault,
  kindOf,
  MAX_ITEMS,
  type ParsedHeader,
  parseHeader,
  parsePartHeader,
  rowTag,
  setOfKind,
} from '../../src/aggregate/container.ts';
import type { CodedSalts } from '../../src/aggregate/salts.ts';
import { shake256 } from '../../src/falcon/points.ts';
import { constantSalt, SALT_BYTES } from '../../src/falcon/salts.ts';
import { NIGHTLY } from '../support/run.ts';

const RUNS = NIGHTLY ? 5000 : 500;

const pattern = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed) & 255);

const explicitSalts = (count: number): CodedSalts => ({
  runs: [{ coding: 'explicit', version: 0, count }],
  explicit: pattern(SALT_BYTES * count, 2),
});

function fieldsOf(
  kinds: readonly number[],
  salts = explicitSalts(kinds.length),
  format: BatchHeader['format'] = 'bundle',
): BatchHeader {
  const statement = pattern(32, 1);
  return { format, statement, kinds: Uint8Array.from(kinds), profile: 'round3', salts };
}

const header = (...of: Parameters<typeof fieldsOf>) => encodeHeader(fieldsOf(...of));

const parsed = (bytes: Uint8Array): ParsedHeader | HeaderFault => parseHeader(bytes);

interface ByHand {
  readonly count: number;
  readonly format?: number;
  readonly version?: number;
  readonly tag?: readonly number[];
  readonly kinds: readonly (readonly [kind: number, length: number])[];
  readonly profiles?: readonly number[];
  /** a version makes three bytes of a run */
  readonly salts: readonly (readonly [coding: number, length: number, version?: number])[];
  /** salts that are written out */
  readonly written?: number;
}

/** A header whose every field is written by hand. */
function byHand(of: ByHand): Uint8Array {
  const u16 = (value: number) => [(value >> 8) & 255, value & 255];
  const { count, format = 1, kinds, profiles = [0], salts, written = 0 } = of;
  const version = of.version ?? (format === 2 ? 3 : 2);
  const list = kinds.flatMap(([kind, length]) => new Array<number>(length).fill(kind));
  const tag = of.tag ?? (format === 2 ? [...rowTag(Uint8Array.from(list))!] : []);
  return Uint8Array.from([
    ...[0x46, 0x4c, 0x52, 0x59, format, version],
    ...new Uint8Array(32),
    ...u16(count),
    ...tag,
    ...kinds.flatMap(([kind, length]) => u16((kind << 13) | (length - 1))),
    ...profiles,
    ...salts.flatMap(([coding, length, first]) => [
      ...u16((coding << 13) | (length - 1)),
      ...(first === undefined ? [] : [first]),
    ]),
    ...pattern(SALT_BYTES * written, 2),
  ]);
}

describe('container', () => {
  it('gives every pair of set and form a kind of its own', () => {
    const kinds = (['falcon512', 'falcon1024'] as const).flatMap((set) =>
      (['compressed', 'padded', 'constantTime'] as const).map((form) => {
        const kind = kindOf(set, form);
        expect([setOfKind(kind), formOfKind(kind)]).toEqual([set, form]);
        return kind;
      }),
    );
    expect(kinds).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is laid out as documented', () => {
    const bytes = header([0, 0, 0, 4]);
    expect(bytes.length).toBe(40 + 4 + 2 + 2 + 160);
    expect([...bytes.subarray(0, 6)]).toEqual([0x46, 0x4c, 0x52, 0x59, 1, 2]);
    expect(bytes.subarray(6, 38)).toEqual(pattern(32, 1));
    // count, two runs of kinds, two profiles, a run of salts
    expect([...bytes.subarray(38, 48)]).toEqual([0, 4, 0, 2, 0x80, 0, 0, 0, 0, 3]);
    expect(bytes.subarray(48)).toEqual(pattern(160, 2));

    const runs = [
      { coding: 'constant', version: 7, count: 2 },
      { coding: 'derived', version: 0, count: 3 },
    ] as const;
    const salts = { runs, explicit: new Uint8Array(0) };
    const proof = header([0, 0, 0, 0, 0], salts, 'proof');
    expect([...proof.subarray(38)]).toEqual([
      ...[0, 5, ...rowTag(Uint8Array.of(0, 0, 0, 0, 0))!, 0, 4, 0],
      ...[0x20, 1, 7, 0x40, 2],
    ]);
  });

  const saltsOf = (codings: readonly (readonly [number, number])[]): CodedSalts => {
    const runs: { coding: 'explicit' | 'constant' | 'derived'; version: number; count: number }[] =
      [];
    for (const [number, first] of codings) {
      const coding = (['explicit', 'constant', 'derived'] as const)[number]!;
      const version = coding === 'constant' ? first : 0;
      const last = runs.at(-1);
      if (last?.coding === coding && last.version === version) last.count++;
      else runs.push({ coding, version, count: 1 });
    }
    const written = codings.filter(([number]) => number === 0).length;
    return { runs, explicit: pattern(SALT_BYTES * written, 2) };
  };

  it('reads what it writes, for any order of kinds and salts', () => {
    const item = fc.tuple(fc.nat(5), fc.nat(2), fc.nat(2));
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 60 }),
        fc.boolean(),
        fc.uint8Array({ maxLength: 9 }),
        (items, isProof, body) => {
          const kinds = items.map(([kind]) => (isProof ? 3 * Math.floor(kind / 3) : kind));
          const salts = saltsOf(items.map(([, coding, version]) => [coding, version]));
          const fields = fieldsOf(kinds, salts, isProof ? 'proof' : 'bundle');
          const head = encodeHeader(fields);
          const bytes = new Uint8Array([...head, ...body]);
          expect(parsed(bytes)).toEqual({ ...fields, bodyAt: head.length });
          for (let i = 0; i < head.length; i++) {
            const fault = parseHeader(bytes.subarray(0, i));
            expect(typeof fault, `${i} bytes`).toBe('string');
          }
        },
      ),
      { numRuns: RUNS / 5 },
    );
  });

  it('whatever parses, is written again in the same way', () => {
    let count = 0;
    const runs = (last: number) =>
      fc.array(fc.tuple(fc.nat(last), fc.integer({ min: 1, max: 4 })), {
        minLength: 1,
        maxLength: 3,
      });
    const fields = fc.record({
      // Null for the sum of the runs: most headers would be refused for their count alone.
      count: fc.option(fc.nat(6)),
      format: fc.constantFrom(1, 2),
      kinds: runs(6),
      profiles: fc.constantFrom([0], [0, 0], [2], [3], [3, 3], [], [1], [0, 3], [2, 2]),
      salts: fc.oneof(runs(3), fc.nat(3)),
      written: fc.option(fc.integer({ min: 3, max: 9 })),
    });
    fc.assert(
      fc.property(fields, ({ salts: drawn, ...rest }) => {
        const sum = (lengths: [number, number][]) => lengths.reduce((all, [, one]) => all + one, 0);
        const salts: [number, number][] =
          typeof drawn === 'number' ? [[drawn, sum(rest.kinds)]] : drawn;
        const bytes = byHand({
          ...rest,
          count: rest.count ?? sum(rest.kinds),
          written: rest.written ?? sum(salts.filter(([coding]) => coding === 0)),
          salts: salts.map(([coding, length]) => {
            return coding === 1 ? [coding, length, 5] : [coding, length];
          }),
        });
        const found = parseHeader(bytes);
        if (typeof found === 'string') return;
        count++;
        expect(encodeHeader(found)).toEqual(bytes.subarray(0, found.bodyAt));
      }),
      { numRuns: 20 * RUNS },
    );
    expect(count).toBeGreaterThan(40);
  });

  const tagOf = (...kinds: number[]): number[] => [...rowTag(Uint8Array.from(kinds))!];
  const otherTag = (at: number): number[] =>
    tagOf(0, 0, 0).map((byte, i) => (i === at ? byte ^ 1 : byte));
  const one: ByHand = { count: 3, kinds: [[0, 3]], salts: [[0, 3]], written: 3 };

  // biome-ignore format: one case a line
  it.each<[string, HeaderFault | 'good', Partial<ByHand>]>([
    ['as it should be', 'good', {}],
    ['two runs of kinds', 'good', { kinds: [[0, 1], [1, 2]] }],
    ['no item', 'header', { count: 0 }],
    ['two runs of one kind', 'header', { kinds: [[0, 1], [0, 2]] }],
    ['a run beyond the count', 'header', { kinds: [[0, 4]] }],
    ['a later run beyond the count', 'header', { kinds: [[0, 2], [1, 2]] }],
    ['a kind that does not exist', 'header', { kinds: [[6, 3]] }],
    ['another kind that does not exist', 'header', { kinds: [[7, 3]] }],
    ['an unknown format', 'format', { format: 3 }],
    ['the version before, of a bundle', 'version', { version: 1 }],
    ['a later version, of a bundle', 'version', { version: 3 }],
    ['the version before, of a proof', 'version', { format: 2, version: 2 }],
    ['a later version, of a proof', 'version', { format: 2, version: 4 }],
    ['a proof', 'good', { format: 2 }],
    ['a proof of forms', 'header', { format: 2, kinds: [[1, 3]] }],
    ['a proof with the larger set', 'good', { format: 2, kinds: [[3, 3]] }],
    ['another tag', 'table', { format: 2, tag: otherTag(3) }],
    ['another tag, first byte', 'table', { format: 2, tag: otherTag(0) }],
    ['the tag of a smaller bucket', 'table', { format: 2, tag: tagOf(0, 0) }],
    ['the tag of the other set', 'table', { format: 2, tag: tagOf(3, 3, 3) }],
    ['the tag of one of two sections', 'table', { format: 2, kinds: [[0, 1], [3, 2]], tag: tagOf(0) }],
    ['more items than a row has', 'table', { format: 2, count: 5633, kinds: [[0, 5633]], tag: [0, 0, 0, 0] }],
    ['an unknown profile', 'profile', { profiles: [1] }],
    ['an unknown profile, second set', 'profile', { kinds: [[0, 1], [3, 2]], profiles: [0, 1] }],
    ['two profiles', 'good', { kinds: [[0, 1], [3, 2]], profiles: [0, 0] }],
    ['the profile eth-falcon', 'good', { profiles: [2] }],
    ['the draft profile', 'good', { profiles: [3] }],
    ['the draft profile twice', 'good', { kinds: [[0, 1], [3, 2]], profiles: [3, 3] }],
    ['a profile beyond the last', 'profile', { profiles: [4] }],
    ['eth-falcon for the larger set', 'profile', { kinds: [[3, 3]], profiles: [2] }],
    ['eth-falcon for both sets', 'profile', { kinds: [[0, 1], [3, 2]], profiles: [2, 2] }],
    ['different profiles', 'profile', { kinds: [[0, 1], [3, 2]], profiles: [0, 3] }],
    ['different profiles, turned', 'profile', { kinds: [[0, 1], [3, 2]], profiles: [3, 0] }],
    ['an unknown coding', 'saltCoding', { salts: [[3, 3]] }],
    ['two runs of explicit salts', 'saltCoding', { salts: [[0, 1], [0, 2]] }],
    ['two runs of derived salts', 'saltCoding', { salts: [[2, 1], [2, 2]], written: 0 }],
    ['two runs of the same constant salt', 'saltCoding', { salts: [[1, 1, 4], [1, 2, 4]] }],
    ['two constant salts', 'good', { salts: [[1, 1, 4], [1, 2, 5]], written: 0 }],
    ['runs of every coding', 'good', { salts: [[0, 1], [2, 1], [1, 1, 0]], written: 1 }],
    ['a run of salts beyond the count', 'header', { salts: [[2, 4]] }],
    ['a later run of salts beyond the count', 'header', { salts: [[2, 1], [0, 3]] }],
    ['a salt that is missing', 'header', { written: 2 }],
  ])('%s: %s', (_, verdict, change) => {
    const found = parseHeader(byHand({ ...one, ...change }));
    expect(typeof found === 'string' ? found : 'good').toBe(verdict);
  });

  it('says of a header cut anywhere that it is damaged, and of what is there what is wrong', () => {
    const salts = [
      [1, 1, 4],
      [2, 1],
      [0, 1],
    ] as const;
    const bytes = byHand({ ...one, format: 2, salts, written: 1 });
    expect(typeof parseHeader(bytes)).toBe('object');
    for (let end = 0; end < bytes.length; end++) {
      expect(parseHeader(bytes.subarray(0, end)), `${end}`).toBe(end < 4 ? 'magic' : 'header');
    }
    const endsIn = (at: number, end = at + 1) => parseHeader(bytes.with(at, 9).subarray(0, end));
    expect([4, 5, 46].map((at) => endsIn(at)).join()).toBe('format,version,profile');
    // the tag is that of kinds, which come after it
    expect([40, 43].map((at) => `${endsIn(at, 45)} ${endsIn(at, 46)}`)).toEqual([
      'header table',
      'header table',
    ]);
  });

  it('refuses a constant salt that is written out', () => {
    for (const [kind, set, other] of [
      [0, 'falcon512', 'falcon1024'],
      [3, 'falcon1024', 'falcon512'],
    ] as const) {
      for (const version of [0, 1, 255]) {
        const constant = constantSalt(version, set);
        const of = (salt: Uint8Array) => ({ ...explicitSalts(1), explicit: salt });
        expect(parseHeader(header([kind], of(constant)))).toBe('saltCoding');
        expect(typeof parseHeader(header([kind], of(constantSalt(version, other))))).toBe('object');
        for (const at of [1, 2, 11, 12, 39]) {
          const near = constant.with(at, constant[at]! ^ 1);
          expect(typeof parseHeader(header([kind], of(near)))).toBe('object');
        }
      }
    }
  });

  it('refuses other magics, formats, and counts before it allocates', () => {
    const good = header([0, 1]);
    for (let i = 0; i < 5; i++) {
      for (const flip of [1, 2, 128]) {
        const bytes = good.slice();
        bytes[i]! ^= flip;
        expect(typeof parseHeader(bytes)).toBe('string');
      }
    }
    const most: ByHand = {
      count: MAX_ITEMS,
      kinds: [[0, MAX_ITEMS]],
      salts: [[0, MAX_ITEMS]],
      written: MAX_ITEMS,
    };
    expect(typeof parseHeader(byHand(most))).toBe('object');
    expect(parseHeader(byHand(most).subarray(0, -1))).toBe('header');
    const kinds = [...most.kinds, [1, 1]] as const;
    const salts = [...most.salts, [2, 1]] as const;
    const more: ByHand = { ...most, count: MAX_ITEMS + 1, kinds, salts };
    expect(parseHeader(byHand(more))).toBe('header');
  });

  it('holds the most items that a run can say', () => {
    const kinds = new Array<number>(MAX_ITEMS).fill(5);
    const found = parseHeader(header(kinds)) as ParsedHeader;
    expect(found.kinds).toEqual(Uint8Array.from(kinds));
    expect(found.bodyAt).toBe(45 + 40 * MAX_ITEMS);
  });

  it('reads headers of parts, which have no magic and the tag of their row', () => {
    const row = { set: 512, bucket: 3, partHash: pattern(32, 9) } as const;
    const fields = fieldsOf([0, 0, 0], explicitSalts(3), 'proof');
    const bytes = encodePartHeader(fields, row);
    const whole = encodeHeader(fields);
    const tag = shake256([row.partHash], 4);
    expect(bytes).toEqual(Uint8Array.from([...whole.slice(6, 40), ...tag, ...whole.slice(44)]));
    const inside = Uint8Array.from([1, 2, ...bytes, 3]);
    expect(parsePartHeader(inside, 2, row)).toEqual({ ...fields, bodyAt: 2 + bytes.length });
    for (let end = 0; end < bytes.length; end++) {
      expect(parsePartHeader(bytes.subarray(0, end), 0, row), `${end}`).toBe('header');
    }
    const faultOf = (other: Partial<Parameters<typeof parsePartHeader>[2]>, of = bytes) =>
      parsePartHeader(of, 0, { ...row, ...other });
    expect(faultOf({ partHash: pattern(32, 8) })).toBe('table');
    expect(faultOf({ bucket: 2 })).toBe('header');
    expect(faultOf({ set: 1024 })).toBe('header');
    const mixed = encodePartHeader(fieldsOf([0, 3], explicitSalts(2), 'proof'), row);
    expect(faultOf({}, mixed)).toBe('header');
    expect(faultOf({ set: 1024 }, mixed)).toBe('header');
    const large = encodePartHeader(fieldsOf([3, 3], explicitSalts(2), 'proof'), row);
    expect(typeof faultOf({ set: 1024 }, large)).toBe('object');
  });

  it('reads from within a larger buffer', () => {
    const bytes = header([2, 2, 3]);
    const inside = new Uint8Array(bytes.length + 20).fill(9);
    inside.set(bytes, 11);
    expect(parseHeader(inside.subarray(11, 11 + bytes.length))).toEqual(parseHeader(bytes));
  });
});
