/** Salts that need not be written out: one coding each, from signatures to bytes and back. */
import { describe, expect, it } from 'vitest';
import {
  aggregate,
  aggregateSync,
  extractSignatures,
  inspectAggregate,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { areCodedAs, codeSalts, completeSalts } from '../../src/aggregate/salts.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { constantSalt, derivedSalt } from '../../src/falcon/salts.ts';
import { concat } from '../../src/shared/bytes.ts';
import { nobleSign } from '../support/peers.ts';
import { bytesOf, type Item, keyPair, makeItem, statementsOf } from './batches.ts';
import {
  referenceBundle,
  referenceConstantSalt,
  referenceDerivedSalt,
  referenceUnbundle,
} from './referenceBundle.ts';

/** An item with a salt of its own choice. */
function itemWith(n: 512 | 1024, number: number, saltOf: (item: Item) => Uint8Array): Item {
  const { publicKey, secretKey } = keyPair(n, number % 3);
  const message = bytesOf(`salted ${number}`, 12 + number);
  const salt = saltOf({ publicKey, message, signature: new Uint8Array(0) });
  const seed = bytesOf(`sampler ${number}`, 48);
  return { publicKey, message, signature: nobleSign(n, message, secretKey, salt, seed) };
}

const constant = (n: 512 | 1024, number: number, version = 0) =>
  itemWith(n, number, () => referenceConstantSalt(n, version));
const derived = (n: 512 | 1024, number: number) => itemWith(n, number, referenceDerivedSalt);

describe('salts', () => {
  const statement = { publicKey: keyPair(512, 1).publicKey, message: bytesOf('m', 9) };

  it('are what the specification says', () => {
    for (const version of [0, 3, 255]) {
      expect(constantSalt(version, 'falcon512')).toEqual(referenceConstantSalt(512, version));
      expect(constantSalt(version, 'falcon1024')).toEqual(referenceConstantSalt(1024, version));
    }
    expect(derivedSalt(statement)).toEqual(referenceDerivedSalt(statement));
  });

  it('have one coding: whatever else is claimed of them is refused', () => {
    const [plain, fixed] = [bytesOf('any', 40), constantSalt(2, 'falcon512')];
    const made = derivedSalt(statement);
    expect(codeSalts([plain], [statement]).runs).toEqual([
      { coding: 'explicit', version: 0, count: 1 },
    ]);
    expect(codeSalts([fixed], [statement])).toEqual({
      runs: [{ coding: 'constant', version: 2, count: 1 }],
      explicit: new Uint8Array(0),
    });
    expect(codeSalts([made], [statement]).runs).toEqual([
      { coding: 'derived', version: 0, count: 1 },
    ]);
    for (const salt of [fixed, made]) {
      const runs = [{ coding: 'explicit', version: 0, count: 1 }] as const;
      expect(completeSalts({ runs, explicit: salt }, [statement])).toEqual(salt);
      expect(areCodedAs(runs, salt, [statement])).toBe(false);
    }
    for (const salt of [plain, fixed, made]) {
      const coded = codeSalts([salt], [statement]);
      expect(completeSalts(coded, [statement])).toEqual(salt);
      expect(areCodedAs(coded.runs, salt, [statement])).toBe(true);
    }
  });

  it('of many items come back in their order', () => {
    const other = { ...statement, message: bytesOf('other', 3) };
    const list = [
      [bytesOf('a', 40), statement],
      [constantSalt(0, 'falcon512'), statement],
      [constantSalt(1, 'falcon512'), other],
      [derivedSalt(statement), statement],
      [derivedSalt(other), other],
      [bytesOf('b', 40), other],
      [derivedSalt(other), statement], // another statement's
    ] as const;
    const salts = list.map(([salt]) => salt);
    const statements = list.map(([, of]) => of);
    const coded = codeSalts(salts, statements);
    expect(coded.runs.map(({ coding, count }) => [coding, count])).toEqual([
      ['explicit', 1],
      ['constant', 1],
      ['constant', 1],
      ['derived', 2],
      ['explicit', 2],
    ]);
    expect(completeSalts(coded, statements)).toEqual(concat(...salts));
  });
});

describe('a bundle', () => {
  const items = [
    constant(512, 1),
    constant(512, 2),
    constant(1024, 3),
    derived(512, 4),
    derived(1024, 5),
    makeItem(512, 'compressed', 6),
    constant(512, 7, 9),
  ];
  const statements = statementsOf(items);

  it('writes out only what it must', () => {
    const bytes = aggregateSync(items);
    expect(bytes).toEqual(referenceBundle(items));
    expect(referenceUnbundle(bytes, statements)).toEqual(items.map((item) => item.signature));
    expect(verifyAggregate(bytes, statements)).toBe(true);
    expect(extractSignatures(bytes, statements)).toEqual(items.map((item) => item.signature));
    const info = inspectAggregate(bytes);
    expect(info.sizes.salts).toBe(40);
    expect(info.saltRuns).toEqual([
      { coding: 'constant', count: 3, version: 0 },
      { coding: 'derived', count: 2 },
      { coding: 'explicit', count: 1 },
      { coding: 'constant', count: 1, version: 9 },
    ]);
    expect(info).not.toHaveProperty('claimedBits');
    expect(info).not.toHaveProperty('table');
    expect(info.profiles).toEqual({ falcon512: 0, falcon1024: 0 });
  });

  it('of deterministic signatures has no salts', () => {
    const deterministic = [1, 2, 3, 4].map((i) => constant(512, i));
    const bytes = aggregateSync(deterministic);
    expect(inspectAggregate(bytes).sizes).toMatchObject({ header: 46, salts: 0 });
    expect(verifyAggregate(bytes, statementsOf(deterministic))).toBe(true);
  });

  it('that writes out more is refused, and inspection says why where it can', () => {
    const why = (bytes: Uint8Array) => {
      try {
        return inspectAggregate(bytes).format;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const one = [items[0]!];
    const long = referenceBundle(one, { codings: ['explicit'] });
    expect(verifyAggregate(long, statementsOf(one))).toBe(false);
    expect(why(long)).toMatch('not coded in the one known way');
    const two = [items[3]!];
    const longer = referenceBundle(two, { codings: ['explicit'] });
    expect(verifyAggregate(longer, statementsOf(two))).toBe(false);
    expect(why(longer)).toBe('bundle'); // the statement is needed to see it
    const apart = referenceBundle(items.slice(0, 2), { singleRuns: true });
    expect(verifyAggregate(apart, statementsOf(items.slice(0, 2)))).toBe(false);
    expect(why(apart)).toMatch('not coded in the one known way');
    // a salt that is not what the coding says
    for (const codings of [['derived'], ['constant']] as const) {
      const plain = [items[5]!];
      const wrong = referenceBundle(plain, { codings });
      expect(verifyAggregate(wrong, statementsOf(plain))).toBe(false);
    }
  });

  it('of another version or profile is told apart', () => {
    const one = [makeItem(512, 'compressed', 6)];
    const message = (lies: Parameters<typeof referenceBundle>[1]) => {
      const bytes = referenceBundle(one, lies);
      expect(verifyAggregate(bytes, statementsOf(one))).toBe(false);
      try {
        inspectAggregate(bytes);
      } catch (error) {
        return (error as Error).message;
      }
      return 'read';
    };
    expect(message({ version: 1 })).toMatch('another version');
    expect(message({ profile: 1 })).toMatch('unknown profile');
  });
});

describe('signatures of the library whose salts follow', () => {
  it('are aggregated without them', async () => {
    const items = [falcon512, falcon1024].flatMap((falcon, i) => {
      const { publicKey, secretKey } = keyPair(i === 0 ? 512 : 1024, 1);
      const message = bytesOf('theirs', 30);
      const det = falcon.det.toRound3(falcon.det.sign(message, secretKey));
      const derivedOne = falcon.sign(message, secretKey, { salt: 'derived' });
      return [det, derivedOne].map((signature) => ({ publicKey, message, signature }));
    });
    for (const format of ['bundle', 'proof'] as const) {
      const bytes = await aggregate(items, { format });
      expect(verifyAggregate(bytes, statementsOf(items))).toBe(true);
      expect(inspectAggregate(bytes).sizes.salts).toBe(0);
      if (format === 'proof') continue;
      const back = extractSignatures(bytes, statementsOf(items));
      expect(back).toEqual(items.map(({ signature }) => signature));
      expect(falcon512.det.fromRound3(back[0]!)).toEqual(
        falcon512.det.sign(items[0]!.message, keyPair(512, 1).secretKey),
      );
    }
  });
});
