/** Whatever is changed in a proof or its statement is refused; no bytes make the verifier throw. */
import { beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, signedItem, signedItems } from '../../reference/items.ts';
import { NIGHTLY } from '../../support/run.ts';
import {
  type FieldPlace,
  fastSection,
  fieldsOf,
  judge,
  type Section,
  saltsOf,
} from './sections.ts';

const LONG = { timeout: 36_000_000 };

let one: Section;
let three: Section;
beforeAll(async () => {
  one = await fastSection('falcon512', 1);
  three = await fastSection('falcon512', 3);
});

const flipped = (bytes: Uint8Array, at: number, mask: number): Uint8Array =>
  bytes.with(at, bytes[at]! ^ mask);

/** Where a change of a byte is accepted, by name. */
function acceptedFlips(section: Section, places: Iterable<readonly [string, number]>): string[] {
  const wrong: string[] = [];
  for (const [name, at] of places) {
    const bytes = flipped(section.bytes, at, 1 << (at % 8));
    if (judge(section, { bytes }) !== undefined) wrong.push(`${name} at ${at}`);
  }
  return wrong;
}

describe('a changed proof', () => {
  test('the unchanged ones are accepted', LONG, () => {
    expect(judge(one)).toBe(one.bytes.length);
    expect(judge(three)).toBe(three.bytes.length);
  });

  test('every field, in its first, middle and last byte', LONG, () => {
    for (const section of [one, three]) {
      const fields = fieldsOf(section);
      const last = fields.at(-1)!;
      expect(last.at + last.length).toBe(section.bytes.length);
      expect(fields.length).toBeGreaterThanOrEqual(18);
      const ends = ({ name, at, length }: FieldPlace) =>
        [at, at + (length >> 1), at + length - 1].map((place) => [name, place] as const);
      expect(acceptedFlips(section, fields.flatMap(ends))).toEqual([]);
    }
  });

  test('fields of another proof of the same statement', LONG, () => {
    // the same items under another header: all shapes are equal, every value is another one
    const header = flipped(one.header, 7, 1);
    const fields = fieldsOf(one);
    expect(judge(one, { header })).toBeUndefined();
    for (const { at, length } of fields.filter(({ name }) => name.includes('seal'))) {
      const bytes = one.bytes.slice();
      bytes.set(bytesOf('another seal', length), at);
      expect(judge(one, { bytes })).toBeUndefined();
    }
  });

  test('cut off anywhere', LONG, () => {
    const { length } = one.bytes;
    const ends = [0, 1, length - 1, length - 2, ...fieldsOf(one).map(({ at }) => at)];
    for (let end = 0; end < length; end += NIGHTLY ? 1 : 97) ends.push(end);
    for (const end of ends) {
      expect(judge(one, { bytes: one.bytes.subarray(0, end) })).toBeUndefined();
    }
  });

  test('longer: what follows is the caller’s, and is not read', LONG, () => {
    const bytes = Uint8Array.from([...one.bytes, ...bytesOf('more', 100)]);
    expect(judge(one, { bytes })).toBe(one.bytes.length);
  });
});

describe('another statement', () => {
  const refused = (changes: Parameters<typeof judge>[1], section = three) =>
    expect(judge(section, changes)).toBeUndefined();

  test('items reordered, dropped, added, repeated', LONG, () => {
    const items = signedItems('falcon512', 5);
    const pick = (...numbers: number[]) => {
      const list = numbers.map((i) => items[i]!);
      refused({ items: list, salts: saltsOf(list) });
    };
    pick(1, 0, 2);
    pick(0, 2, 1);
    pick(0, 1);
    pick(0, 1, 2, 3);
    pick(0, 1, 2, 2);
    pick(0, 1, 1);
    pick(0, 1, 2, 3, 4);
    refused({ items: [], salts: new Uint8Array(0) });
    const many = Array.from({ length: 5633 }, () => items[0]!);
    refused({ items: many, salts: new Uint8Array(40 * 5633) });
  });

  test('a key, a message, a salt', LONG, () => {
    const other = signedItem('falcon512', 9);
    for (let i = 0; i < 3; i++) {
      const { publicKey, message } = three.items[i]!;
      const change = (item: { publicKey: Uint8Array; message: Uint8Array }) =>
        refused({ items: three.items.with(i, item) });
      change({ publicKey: other.publicKey, message });
      change({ publicKey, message: other.message });
      change({ publicKey, message: Uint8Array.from([...message, 0]) });
      change({ publicKey: flipped(publicKey, 500, 1), message });
      refused({ salts: flipped(three.salts, 40 * i + 17, 16) });
    }
  });

  test('bytes that are not keys', LONG, () => {
    const [first, ...rest] = three.items;
    const { publicKey, message } = first!;
    const zero = flipped(publicKey, 0, 3);
    const large = publicKey.slice();
    large.set([255, 255], 1);
    for (const key of [zero, large, publicKey.subarray(1), new Uint8Array(0)]) {
      refused({ items: [{ publicKey: key, message }, ...rest] });
    }
    refused({ salts: three.salts.subarray(1) });
    refused({ salts: Uint8Array.from([...three.salts, 0]) });
  });

  test('another header, another set', LONG, () => {
    const { header } = three;
    for (const at of [0, 4, 5, 6, 37, 39, 41, 42, header.length - 1]) {
      refused({ header: flipped(header, at, 2) });
    }
    refused({ header: header.subarray(1) });
    refused({ header: Uint8Array.from([...header, 0]) });
    refused({ header: new Uint8Array(0) });
    refused({ set: 'falcon1024' });
  });

  test('a proof of other items', LONG, () => {
    refused({ bytes: one.bytes });
    refused({ bytes: three.bytes }, one);
  });
});

describe('any bytes at all', () => {
  test('the largest values of every field do not throw', LONG, () => {
    for (const { name, at, length } of fieldsOf(one)) {
      for (const value of [0, 1, 127, 128, 255]) {
        const bytes = one.bytes.slice().fill(value, at, at + length);
        const isSame = bytes.every((byte, i) => byte === one.bytes[i]);
        expect(judge(one, { bytes }) !== undefined, `${name} of ${value}`).toBe(isSame);
      }
    }
  });
});
