import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aggregateSync,
  extractSignatures,
  inspectAggregate,
  verifyAggregate,
  verifyAggregateAsync,
} from '../../src/aggregate/index.ts';
import { itemsOfBundle, readClaims } from '../../src/aggregate/openAggregate.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { fact } from '../support/facts.ts';
import { NIGHTLY } from '../support/run.ts';
import { bytesOf, type Item, inForm, makeItem, statementsOf } from './batches.ts';
import { joinSignature, referenceBundle, splitSignature } from './referenceBundle.ts';

const RUNS = NIGHTLY ? 100_000 : 2_000;

const small = [makeItem(512, 'compressed', 1)];
const mixed = [...small, makeItem(512, 'padded', 2), makeItem(1024, 'constantTime', 3)];

const flipped = (bytes: Uint8Array, bit: number): Uint8Array =>
  bytes.with(bit >> 3, bytes[bit >> 3]! ^ (1 << (bit & 7)));

describe('a changed bundle is false', () => {
  it.each([
    ['one item', small],
    ['both sets', mixed],
  ])('every single bit of it: %s', (name, items) => {
    const bytes = aggregateSync(items);
    const statements = statementsOf(items);
    const wrong: number[] = [];
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      if (verifyAggregate(flipped(bytes, bit), statements)) wrong.push(bit);
    }
    expect(wrong).toEqual([]);
    expect(verifyAggregate(bytes, statements), name).toBe(true);
  });

  it('every value of every byte of the header', () => {
    const bytes = aggregateSync(small);
    const statements = statementsOf(small);
    for (let at = 0; at < 45; at++) {
      for (let value = 0; value < 256; value++) {
        const copy = bytes.slice();
        copy[at] = value;
        expect(verifyAggregate(copy, statements)).toBe(value === bytes[at]);
      }
    }
  });

  it('every cut, and bytes after the end', () => {
    const bytes = aggregateSync(mixed);
    const statements = statementsOf(mixed);
    for (let length = 0; length < bytes.length; length++) {
      expect(verifyAggregate(bytes.subarray(0, length), statements)).toBe(false);
    }
    for (const tail of [[0], [0, 0], [1, 2, 3], new Array(5000).fill(0)]) {
      expect(verifyAggregate(Uint8Array.from([...bytes, ...tail]), statements)).toBe(false);
    }
    expect(verifyAggregate(Uint8Array.from([0, ...bytes]), statements)).toBe(false);
  });

  it('bytes left out or doubled anywhere', () => {
    const bytes = aggregateSync(small);
    const statements = statementsOf(small);
    for (let at = 0; at < bytes.length; at++) {
      const without = [...bytes.subarray(0, at), ...bytes.subarray(at + 1)];
      const doubled = [...bytes.subarray(0, at + 1), ...bytes.subarray(at)];
      expect(verifyAggregate(Uint8Array.from(without), statements)).toBe(false);
      expect(verifyAggregate(Uint8Array.from(doubled), statements)).toBe(false);
    }
  });
});

describe('other statements are false', () => {
  const bytes = aggregateSync(mixed);
  const [a, b, c] = statementsOf(mixed) as [Item, Item, Item];

  it.each([
    ['none', []],
    ['one left out', [a, b]],
    ['one more', [a, b, c, c]],
    ['another order', [b, a, c]],
    ['another message', [{ ...a, message: bytesOf('x', 5) }, b, c]],
    ['a longer message', [a, { ...b, message: Uint8Array.from([...b.message, 0]) }, c]],
    ['another key', [a, { ...b, publicKey: makeItem(512, 'compressed', 3).publicKey }, c]],
    ['a key of another set', [{ ...a, publicKey: c.publicKey }, b, c]],
    ['a key cut short', [{ ...a, publicKey: a.publicKey.subarray(1) }, b, c]],
    ['an empty key', [{ ...a, publicKey: new Uint8Array(0) }, b, c]],
    [
      'a key that is not canonical',
      [{ ...a, publicKey: Uint8Array.from([9, 255, 255, ...a.publicKey.subarray(3)]) }, b, c],
    ],
  ])('%s', (_name, statements) => {
    expect(verifyAggregate(bytes, statements)).toBe(false);
    expect(verifyAggregate(bytes, [a, b, c])).toBe(true);
  });

  it('even when the bundle is made for them: the signatures are judged', async () => {
    const other = { ...mixed[0]!, message: bytesOf('never signed', 12) };
    for (const items of [[other], [other, ...mixed.slice(1)], [...mixed.slice(1), other]]) {
      const forged = referenceBundle(items);
      expect(verifyAggregate(forged, statementsOf(items))).toBe(false);
      expect(await verifyAggregateAsync(forged, statementsOf(items))).toBe(false);
    }
    expect(await verifyAggregateAsync(bytes, [a, b, c])).toBe(true);
    for (const end of [0, 30, -1]) {
      expect(await verifyAggregateAsync(bytes.subarray(0, end), [a, b, c])).toBe(false);
    }
    expect(verifyAggregate(referenceBundle(mixed), [a, b, c])).toBe(true);
  });
});

describe('a bundle made by hand is false', () => {
  const [item] = small as [Item];
  const parts = splitSignature(item.signature);

  it('with another salt or another s2', () => {
    const salt = parts.salt.map((byte, i) => (i === 0 ? byte ^ 1 : byte));
    const s2 = parts.s2.map((v, i) => (i === 100 ? v + 1 : v));
    for (const change of [{ salt }, { s2 }, { s2: parts.s2.map((v) => -v) }]) {
      const forged = { ...item, signature: joinSignature({ ...parts, ...change }) };
      expect(verifyAggregate(referenceBundle([forged]), statementsOf([item]))).toBe(false);
    }
  });

  it('with kinds of the other set: it is not about these statements', () => {
    const statements = statementsOf([item]);
    const padded = referenceBundle([item], { forms: [1] });
    const claim = readClaims(padded, statements)![0]!.claims[0]!;
    expect(itemsOfBundle(claim)).toHaveLength(1);
    expect(itemsOfBundle({ ...claim, header: { ...claim.header, format: 'proof' } })).toBe(
      undefined,
    );
    for (const form of [3, 4, 5]) {
      const other = referenceBundle([item], { forms: [form] });
      expect(readClaims(other, statements)).toBeUndefined();
      expect(verifyAggregate(other, statements)).toBe(false);
    }
    const elsewhere = referenceBundle([item], { forms: [1], statements: [] });
    expect(readClaims(elsewhere, statements)).toBeUndefined();
  });

  it('with the norm beyond the bound, or none at all', () => {
    for (const s2 of [parts.s2.map(() => 0), parts.s2.map((_, i) => (i % 2 ? 2047 : -2047))]) {
      const forged = { ...item, signature: joinSignature({ ...parts, s2, form: 2 }) };
      expect(verifyAggregate(referenceBundle([forged]), statementsOf([item]))).toBe(false);
    }
  });

  it('with runs cut otherwise', () => {
    const pair = [item, item];
    const bytes = aggregateSync(pair);
    // One run of two (00 01) as two runs of one (00 00 00 00).
    const split = Uint8Array.from([...bytes.subarray(0, 40), 0, 0, 0, 0, ...bytes.subarray(42)]);
    expect(verifyAggregate(bytes, statementsOf(pair))).toBe(true);
    expect(verifyAggregate(split, statementsOf(pair))).toBe(false);
  });

  it('with another version, or the commitment to another list', async () => {
    const statements = statementsOf([item]);
    const other = { ...item, message: bytesOf('another', 7) };
    for (const lies of [
      { version: 0 },
      { version: 1 },
      { version: 3 },
      { profile: 1 },
      { statements: [other] },
      { statements: [] },
    ]) {
      const bytes = referenceBundle([item], lies);
      expect(verifyAggregate(bytes, statements)).toBe(false);
      expect(verifyAggregate(bytes, [other])).toBe(false);
      expect(await verifyAggregateAsync(bytes, statements)).toBe(false);
    }
    expect(verifyAggregate(referenceBundle([item], { version: 2 }), statements)).toBe(true);
  });

  it('with more items than statements', () => {
    const two = referenceBundle([item, item], { statements: [item] });
    expect(verifyAggregate(two, statementsOf([item]))).toBe(false);
    expect(verifyAggregate(two, statementsOf([item, item]))).toBe(false);
    expect(verifyAggregate(referenceBundle([item, item]), statementsOf([item, item]))).toBe(true);
  });

  it('but the same signature in another form is another, valid bundle', () => {
    const padded = { ...item, signature: inForm(item.signature, 'padded') };
    const bytes = referenceBundle([item], { forms: [1] });
    expect(bytes).toEqual(aggregateSync([padded]));
    expect(extractSignatures(bytes, statementsOf([item]))).toEqual([padded.signature]);
  });
});

describe('fuzzed bytes', () => {
  const items = mixed;
  const statements = statementsOf(items);
  const good = aggregateSync(items);

  /** Judged false, never thrown; inspect may read the head, or refuses with its code. */
  function expectRefused(bytes: Uint8Array): void {
    expect(verifyAggregate(bytes, statements)).toBe(false);
    try {
      const info = inspectAggregate(bytes);
      expect(info.sizes.total).toBe(bytes.length);
    } catch (error) {
      expect(isCodedError(error) && error.code).toBe('BAD_AGGREGATE');
    }
  }

  it('never crash, hang, or pass', (context) => {
    const edits = fc.array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        edits,
        fc.nat(good.length),
        fc.uint8Array({ maxLength: 40 }),
        (list, cut, tail) => {
          const bytes = good.slice();
          for (const [at, mask] of list) bytes[at]! ^= mask;
          if (Buffer.compare(bytes, good) !== 0) expectRefused(bytes);
          expectRefused(Uint8Array.from([...bytes.subarray(0, cut), ...tail, 7]));
        },
      ),
      { numRuns: RUNS },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4000 }), fc.nat(44), (noise, keep) => {
        expectRefused(Uint8Array.from([...good.subarray(0, keep), ...noise]));
      }),
      { numRuns: RUNS },
    );
    fact(context, 'bundle', `${3 * RUNS} fuzzed bundles refused`);
  });

  it('claims of many items cost nothing', () => {
    const { publicKey, message } = small[0]!;
    let looks = 0;
    const item = {
      get publicKey() {
        looks++;
        return publicKey;
      },
      get message() {
        looks++;
        return message;
      },
    };
    const many = new Array(8192).fill(item);
    const head = Uint8Array.from([...good.subarray(0, 38), 0x20, 0, 0x1f, 0xff]);
    expect(verifyAggregate(head, many)).toBe(false);
    expect(() => inspectAggregate(head)).toThrow();
    // Each was looked at once, for its type: refused before the 7 MB of statements are hashed.
    expect(looks).toBe(2 * 8192);
  });
});
