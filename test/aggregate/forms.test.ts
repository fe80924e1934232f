/** Signatures of every form side by side: ordinary, deterministic, and with derived salts. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  aggregate,
  aggregateSync,
  extractSignatures,
  findInvalid,
  inspectAggregate,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { nobleSign } from '../support/peers.ts';
import { bytesOf, type Item, keyPair, statementsOf } from './batches.ts';
import { referenceConstantSalt } from './referenceBundle.ts';

type Kind = 'ordinary' | 'det' | 'detConstantTime' | 'derived';
const KINDS: readonly Kind[] = ['ordinary', 'det', 'derived', 'detConstantTime'];

/** Item `number`, by one of three keys. */
function itemOf(n: 512 | 1024, kind: Kind, number: number): Item {
  const falcon = n === 512 ? falcon512 : falcon1024;
  const { publicKey, secretKey } = keyPair(n, number % 3);
  const message = bytesOf(`form ${n} ${number}`, number % 60);
  const signature = {
    ordinary: () => falcon.sign(message, secretKey),
    det: () => falcon.det.sign(message, secretKey),
    detConstantTime: () => falcon.det.sign(message, secretKey, { format: 'constantTime' }),
    derived: () => falcon.sign(message, secretKey, { salt: 'derived', format: 'padded' }),
  }[kind]();
  return { publicKey, message, signature };
}

/** The ordinary signature that an item's stands for. */
function ordinary({ publicKey, signature }: Item): Uint8Array {
  if (signature[0]! < 0x80) return signature;
  return (publicKey.length === 897 ? falcon512 : falcon1024).det.toRound3(signature);
}

describe('a list of every form', () => {
  let items: Item[];
  beforeAll(() => {
    items = [512, 1024].flatMap((n) =>
      KINDS.flatMap((kind, k) =>
        [0, 1].map((i) => itemOf(n as 512 | 1024, kind, 10 * n + 2 * k + i)),
      ),
    );
  });

  it('becomes one bundle, which writes out the drawn salts alone', () => {
    const bytes = aggregateSync(items);
    const statements = statementsOf(items);
    expect(verifyAggregate(bytes, statements)).toBe(true);
    expect(extractSignatures(bytes, statements)).toEqual(items.map(ordinary));
    const info = inspectAggregate(bytes);
    expect(info.sizes.salts).toBe(4 * 40);
    const runs = [
      { coding: 'explicit', count: 2 },
      { coding: 'constant', count: 2, version: 0 },
      { coding: 'derived', count: 2 },
      { coding: 'constant', count: 2, version: 0 },
    ];
    expect(info.saltRuns).toEqual([...runs, ...runs]);
    // What is signed deterministically or with a derived salt is the same at every call.
    const again = items.map((item, i) =>
      i % 8 < 2 ? item : itemOf(i < 8 ? 512 : 1024, KINDS[(i % 8) >> 1]!, numberOf(i)),
    );
    expect(aggregateSync(again)).toEqual(bytes);
  });

  it('becomes one proof', async () => {
    const bytes = await aggregate(items, { format: 'proof' });
    const statements = statementsOf(items);
    expect(verifyAggregate(bytes, statements)).toBe(true);
    expect(inspectAggregate(bytes).sizes.salts).toBe(4 * 40);
    expect(await aggregate(items.map(withOrdinary), { format: 'proof' })).toEqual(bytes);
  });

  const numberOf = (i: number) => 10 * (i < 8 ? 512 : 1024) + (i % 8);
  const withOrdinary = (item: Item): Item => ({ ...item, signature: ordinary(item) });
});

describe('a deterministic signature in a list', () => {
  it('may have any salt version, which the aggregate tells', () => {
    const { publicKey, secretKey } = keyPair(512, 1);
    const message = bytesOf('version 7', 20);
    const salt = referenceConstantSalt(512, 7);
    const salted = nobleSign(512, message, secretKey, salt, bytesOf('sampler', 48));
    const item = { publicKey, message, signature: falcon512.det.fromRound3(salted) };
    expect(item.signature[1]).toBe(7);
    const bytes = aggregateSync([item]);
    expect(verifyAggregate(bytes, statementsOf([item]))).toBe(true);
    expect(inspectAggregate(bytes).saltRuns).toEqual([
      { coding: 'constant', count: 1, version: 7 },
    ]);
    // Under another salt the same coefficients are no signature.
    const signature = item.signature.slice();
    signature[1] = 0;
    expect(findInvalid([{ ...item, signature }])).toEqual([
      { index: 0, reason: 'signatureMismatch' },
    ]);
  });

  it.each<[string, (signature: Uint8Array) => Uint8Array, string]>([
    ['padded with zeros', (s) => paddedTo(s, 666 - 39), 'signatureHeader'],
    ['with a zero too many', (s) => Uint8Array.of(...s, 0), 'signatureHeader'],
    ['cut short', (s) => s.slice(0, -1), 'signatureLength'],
    ['of two bytes', (s) => s.slice(0, 2), 'signatureLength'],
    ['of the other set', (s) => Uint8Array.of(s[0]! + 1, ...s.slice(1)), 'signatureHeader'],
    ['with an unknown header', (s) => Uint8Array.of(0x99, ...s.slice(1)), 'signatureHeader'],
  ])('%s is refused', (_, change, reason) => {
    const item = itemOf(512, 'det', 2);
    const bad = { ...item, signature: change(item.signature) };
    expect(findInvalid([item, bad])).toEqual([{ index: 1, reason }]);
    try {
      aggregateSync([item, bad]);
      expect.unreachable();
    } catch (error) {
      expect(isCodedError(error) && error.code).toBe('INVALID_SIGNATURES');
    }
  });

  const paddedTo = (signature: Uint8Array, length: number): Uint8Array => {
    const padded = new Uint8Array(length);
    padded.set(signature);
    return padded;
  };
});
