/** `verifyBatch`: exactly what `verify` says of every single item, for any mixture. */
import { describe, expect, test } from 'vitest';
import type { BatchItem, InvalidReason } from '../../src/falcon/index.ts';
import { fact } from '../support/facts.ts';
import { BUILDS_OF_SETS, preparedKeys, type TestItem, testItems } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';
import {
  concatBytes,
  decodeSignature,
  encodeSignature,
  FORMS,
  SPEC,
} from '../support/reference.ts';
import { SHORT_RUN } from '../support/run.ts';

describe.each(BUILDS_OF_SETS)('Falcon-$degree, $module', ({ degree, falcon, module }) => {
  const random = testRandom(`batch ${degree}`);

  test('nothing, one, and every small count', () => {
    expect(falcon.verifyBatch([])).toEqual([]);
    const items = testItems(degree, 70, { keys: 3, length: [0, 300], forms: FORMS });
    for (let count = 1; count <= items.length; count++) {
      expect(falcon.verifyBatch(items.slice(0, count)), `${count} items`).toEqual([]);
    }
  });

  test('each single place can be the wrong one', () => {
    const items: BatchItem[] = testItems(degree, 40, { keys: 3, length: [0, 200] });
    for (let place = 0; place < items.length; place++) {
      const wrong = { ...items[place]!, message: new Uint8Array(33) };
      expect(falcon.verifyBatch(items.with(place, wrong))).toEqual([
        { index: place, reason: 'signatureMismatch' },
      ]);
    }
  });

  test('thousands of items, all kinds of damage, prepared and raw keys mixed', (context) => {
    const count = (degree === 512 ? 4000 : 2000) / (SHORT_RUN ? 2 : 1);
    const options = { keys: 20, length: [0, 600] as [number, number], forms: FORMS };
    const valid = testItems(degree, count, { ...options, label: 'thousands' });
    const prepared = preparedKeys(falcon, valid);
    const expected: { index: number; reason: InvalidReason }[] = [];
    const items = valid.map((item, index): BatchItem => {
      const damage = random.below(4) === 0 ? random.pick(DAMAGES) : undefined;
      if (damage === undefined) {
        return index % 2 === 0 ? item : { ...item, publicKey: prepared.get(item.publicKey)! };
      }
      const [reason, change] = damage;
      const changed: TestItem = { ...item, ...change(item, degree) };
      expected.push({ index, reason });
      const keepsKey = changed.publicKey === item.publicKey;
      return keepsKey && index % 3 === 0
        ? { ...changed, publicKey: prepared.get(item.publicKey)! }
        : changed;
    });
    expect(falcon.verifyBatch(items)).toEqual(expected);
    for (const reason of new Set(DAMAGES.map(([reason]) => reason))) {
      expect(expected.filter((invalid) => invalid.reason === reason).length).toBeGreaterThan(5);
    }
    const wrong = new Set(expected.map(({ index }) => index));
    items.forEach(({ signature, message, publicKey }, index) => {
      if (falcon.verify(signature, message, publicKey) === wrong.has(index)) {
        expect.fail(`verify and verifyBatch disagree about item ${index}`);
      }
    });
    const what = `${count} mixed items, ${expected.length} wrong, each named with its reason`;
    fact(context, 'batches', `Falcon-${degree} (${module}): ${what}`);
  });

  test('long messages, and unequal ones side by side', () => {
    const lengths = [0, 1, 95, 96, 97, 135, 136, 137, 8191, 8192, 8193, 70_000, 1_000_000];
    const items: TestItem[] = lengths.flatMap((length) =>
      testItems(degree, 3, { keys: 2, length, label: `long ${length}` }),
    );
    for (let turn = 0; turn < items.length; turn++) {
      const rotated = [...items.slice(turn), ...items.slice(0, turn)];
      expect(falcon.verifyBatch(rotated)).toEqual([]);
      if (turn % 9 === 0) {
        const last = rotated.map((item) =>
          item.message.length === 0
            ? { ...item, message: new Uint8Array(1) }
            : { ...item, message: item.message.with(-1, item.message.at(-1)! ^ 1) },
        );
        expect(falcon.verifyBatch(last)).toEqual(
          last.map((_, index) => ({ index, reason: 'signatureMismatch' })),
        );
      }
    }
  });

  test('the same item many times, the same key as many objects', () => {
    const [item] = testItems(degree, 1);
    const copies = Array.from({ length: 100 }, () => ({
      ...item!,
      publicKey: Uint8Array.from(item!.publicKey),
    }));
    expect(falcon.verifyBatch(copies)).toEqual([]);
    expect(falcon.verifyBatch(new Array(100).fill(item))).toEqual([]);
    // A changed byte in one copy of the key concerns that item alone.
    const changed = copies.map((copy, i) =>
      i === 57 ? { ...copy, publicKey: copy.publicKey.with(0, 0) } : copy,
    );
    expect(falcon.verifyBatch(changed)).toEqual([{ index: 57, reason: 'publicKeyHeader' }]);
  });

  test('more keys than a call can hold', () => {
    const count = degree === 512 ? 600 : 150;
    const items = testItems(degree, count, { keys: count, label: 'many keys' });
    expect(falcon.verifyBatch(items)).toEqual([]);
    const prepared = items.map((item, i) =>
      i % 2 ? { ...item, publicKey: falcon.preparePublicKey(item.publicKey) } : item,
    );
    expect(falcon.verifyBatch([...prepared, ...items.toReversed()])).toEqual([]);
    const swapped = items.map((item, i) => ({
      ...item,
      publicKey: items[(i + 1) % count]!.publicKey,
    }));
    expect(falcon.verifyBatch(swapped)).toHaveLength(count);
  });

  test('wrong types are the caller’s fault and throw before any work', () => {
    const [item] = testItems(degree, 1);
    const bad: unknown[] = [
      undefined,
      null,
      5,
      'items',
      {},
      [undefined],
      [null],
      [{}],
      [item, { ...item, signature: undefined }],
      [item, { ...item, message: 'text' }],
      [item, { ...item, message: [1, 2, 3] }],
      [item, { ...item, publicKey: null }],
      [item, { ...item, publicKey: {} }],
      [item, { ...item, publicKey: new Uint16Array(4) }],
    ];
    for (const items of bad) expect(() => falcon.verifyBatch(items as never)).toThrow(TypeError);
  });
});

type Damage = readonly [InvalidReason, (item: TestItem, degree: 512 | 1024) => Partial<TestItem>];

const DAMAGES: readonly Damage[] = [
  ['signatureMismatch', ({ message }) => ({ message: concatBytes(message, [7]) })],
  ['signatureMismatch', ({ signature: s }) => ({ signature: s.with(5, s[5]! ^ 0x10) })],
  ['signatureHeader', ({ signature }) => ({ signature: signature.with(0, 0x21) })],
  ['signatureLength', ({ signature }) => ({ signature: signature.subarray(0, 20) })],
  ['signatureLength', () => ({ signature: new Uint8Array(0) })],
  ['publicKeyLength', ({ publicKey }) => ({ publicKey: publicKey.subarray(2) })],
  ['publicKeyHeader', ({ publicKey }) => ({ publicKey: publicKey.with(0, 0x0b) })],
  ['publicKeyRange', ({ publicKey }) => ({ publicKey: publicKey.with(1, 0xff).with(2, 0xff) })],
  [
    // A coefficient that no form can write: 2100 in the compressed one, -2048 where twelve bits are
    // all there is.
    'signatureEncoding',
    (item, degree) => {
      const { salt, s2 } = decodeSignature(item.signature);
      const isConstantTime = item.signature[0] === 0x50 + SPEC[degree].logn;
      const [form, x] = isConstantTime
        ? (['constantTime', -2048] as const)
        : (['compressed', 2100] as const);
      return { signature: encodeSignature(form, salt, s2.with(9, x)) };
    },
  ],
];
