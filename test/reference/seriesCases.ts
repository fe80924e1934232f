/** The cases of `vectors/series.json`: aggregates of `good.json`, joined by bundle-format.md, 7. */
import type { Reason } from './cases.ts';
import type { StoredCase } from './frozenCases.ts';

/** A series and whether it is accepted; the items are numbers in `items.json`. */
export interface StoredSeries {
  readonly name: string;
  readonly valid: boolean;
  readonly items: readonly number[];
  /** base64 */
  readonly aggregate: string;
  readonly reason?: Reason;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const START = Buffer.from([...Buffer.from('FLRY'), 3, 1]);
const END = u32(0);
const framed = (bytes: Buffer, length = bytes.length) => Buffer.concat([u32(length), bytes]);

type Case = [name: string, items: readonly number[], bytes: Buffer, reason?: Reason | true];

const series = (...elements: readonly Buffer[]) =>
  Buffer.concat([START, ...elements.map((one) => framed(one)), END]);
const changed = (bytes: Buffer, at: number, value: number) =>
  Buffer.from(new Uint8Array(bytes).with(at, value));

/** An aggregate of `good.json` and its items. */
interface Part {
  readonly items: readonly number[];
  readonly bytes: Buffer;
}

/** Good series, and those whose frame is wrong. */
function framingCases(a: Part, b: Part, c: Part, p: Part, q: Part): Case[] {
  const both = [...a.items, ...b.items];
  const ab = series(a.bytes, b.bytes);
  return [
    ['one bundle', a.items, series(a.bytes), true],
    ['bundles of both sets', [...both, ...c.items], series(a.bytes, b.bytes, c.bytes), true],
    ['a bundle three times', [0, 0, 0], series(a.bytes, a.bytes, a.bytes), true],
    [
      'proofs and bundles',
      [...a.items, ...p.items, ...q.items, ...b.items],
      series(a.bytes, p.bytes, q.bytes, b.bytes),
      true,
    ],
    ['no elements', [], Buffer.concat([START, END]), 'header'],
    ['no end', both, ab.subarray(0, -4), 'header'],
    ['a part of the end', both, ab.subarray(0, -1), 'header'],
    ['a byte behind the end', both, Buffer.concat([ab, Buffer.alloc(1)]), 'header'],
    ['two ends', both, Buffer.concat([ab, END]), 'header'],
    ['a series behind the end', [...both, ...both], Buffer.concat([ab, ab])],
    [
      'an end between the elements',
      both,
      Buffer.concat([ab.subarray(0, 10 + a.bytes.length), END, framed(b.bytes), END]),
    ],
    ['cut behind the start', both, ab.subarray(0, 6), 'header'],
    ['cut within an element', both, ab.subarray(0, 100), 'header'],
    [
      'a length too short',
      both,
      Buffer.concat([START, framed(a.bytes, a.bytes.length - 1), framed(b.bytes), END]),
    ],
    [
      'a length too long',
      both,
      Buffer.concat([START, framed(a.bytes), framed(b.bytes, b.bytes.length + 1), END]),
    ],
    [
      'the largest length',
      both,
      Buffer.concat([START, framed(a.bytes, 2 ** 32 - 1), framed(b.bytes), END]),
      'header',
    ],
    ['an empty header', both, series(a.bytes, b.bytes.subarray(0, 6)), 'header'],
  ];
}

/** Series whose elements are wrong, or for another list. */
function elementCases(a: Part, b: Part, p: Part): Case[] {
  const both = [...a.items, ...b.items];
  const ab = series(a.bytes, b.bytes);
  return [
    ['version 2', both, changed(ab, 5, 2), 'format'],
    ['version 0', both, changed(ab, 5, 0), 'format'],
    ['a series in a series', both, series(ab), 'format'],
    ['a series as its second element', both, series(a.bytes, series(b.bytes)), 'format'],
    ['an element of profile 1', both, series(a.bytes, changed(b.bytes, 42, 1)), 'profile'],
    ['an element that is no aggregate', both, series(a.bytes, changed(b.bytes, 0, 0)), 'magic'],
    ['the first element twice', both, series(a.bytes, a.bytes, b.bytes)],
    ['the last element twice', both, series(a.bytes, b.bytes, b.bytes), 'list'],
    ['the elements in the other order', both, series(b.bytes, a.bytes), 'list'],
    ['without its first element', both, series(b.bytes), 'list'],
    ['without its last element', both, series(a.bytes), 'list'],
    ['a list longer by one', [...both, 0], ab, 'list'],
    ['a list shorter by one', both.slice(0, -1), ab, 'list'],
    ['a list without its first item', both.slice(1), ab, 'list'],
    ['a list in another order', [0, 91, 90], ab, 'list'],
    ['an empty list', [], ab, 'list'],
    ['another message in the last element', [0, 90, 93], ab, 'list'],
    ['a bit of the last bundle', both, changed(ab, ab.length - 5, ab.at(-5)! ^ 1), 'bytes'],
    [
      'a bit of a proof',
      [...p.items, ...a.items],
      series(changed(p.bytes, 300, p.bytes[300]! ^ 1), a.bytes),
      'proof',
    ],
  ];
}

export function seriesCases(good: readonly StoredCase[]): StoredSeries[] {
  const named = (name: string): Part => {
    const { items, aggregate } = good.find((one) => one.name === name)!;
    return { items, bytes: Buffer.from(aggregate!, 'base64') };
  };
  const a = named('bundle: falcon512, 1 items');
  const b = named('bundle: falcon512, 2 items, derived salts');
  const c = named('bundle: 9 items, salts and forms of all kinds in both sets');
  const [p, q] = [named('falcon512, 1 items'), named('falcon1024, 1 items')];
  const cases = [...framingCases(a, b, c, p, q), ...elementCases(a, b, p)];
  return cases.map(([name, items, bytes, reason]) => ({
    name: `series: ${name}`,
    valid: reason === true,
    items,
    aggregate: bytes.toString('base64'),
    ...(reason !== undefined && reason !== true && { reason }),
  }));
}
