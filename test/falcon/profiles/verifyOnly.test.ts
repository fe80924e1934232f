/** `falconry/verify` as the package builds it: each profile gives what the whole library gives. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paramsIn } from '../../../src/falcon/params.ts';
import { ethFalcon512 } from '../../../src/falcon/profiles/ethFalcon.ts';
import {
  fnDsaDraft512,
  fnDsaDraft1024,
  type PreHash,
} from '../../../src/falcon/profiles/fnDsaDraft.ts';
import { DET_ANSWERS, hashOfLines, officialCase } from '../../support/algorand.ts';
import { falconOf, SETS, type TestItem, testItems, testKeys } from '../../support/ours.ts';
import { testRandom } from '../../support/random.ts';
import { buildSmallEntries, type SmallEntries } from '../../support/smallEntries.ts';

let entries: SmallEntries;
let small: SmallEntries['signatures'];
beforeAll(async () => {
  entries = await buildSmallEntries();
  small = entries.signatures;
});
afterAll(() => entries.remove());

/** What a call returns, or which error it throws. */
function outcomeOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    return { name, message, code };
  }
}

/** Every item with one bit of one field changed, for each field, and some cut or longer ones. */
function changed(items: readonly TestItem[], label: string): TestItem[] {
  const random = testRandom(label);
  return items.flatMap((item) => [
    ...(['signature', 'message', 'publicKey'] as const).flatMap((field) => {
      const bytes = item[field].slice();
      if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
      const header = item[field].slice();
      if (header.length > 0) header[0]! ^= 1 << random.below(8);
      return [bytes, header].map((value) => ({ ...item, [field]: value }));
    }),
    { ...item, signature: item.signature.slice(0, random.below(item.signature.length)) },
    { ...item, signature: Uint8Array.from([...item.signature, random.below(2)]) },
    { ...item, publicKey: item.publicKey.slice(0, -1) },
  ]);
}

/** Both give one verdict for each item; some are valid, more are not. */
function expectSameVerdicts(
  items: readonly TestItem[],
  own: (item: TestItem) => boolean,
  whole: (item: TestItem) => boolean,
): void {
  const verdicts = items.map(whole);
  expect(items.map(own)).toEqual(verdicts);
  const valid = verdicts.filter((verdict) => verdict).length;
  expect(valid).toBeGreaterThan(3);
  expect(valid).toBeLessThan(items.length / 2);
}

test('nothing in it signs, or makes keys', () => {
  for (const object of Object.values(small)) {
    if (typeof object === 'function') continue;
    const names = Object.keys({ ...object, ...('det' in object ? object.det : {}) });
    expect(names).toContain('verify');
    expect(names.filter((name) => /sign(?!ature)|keygen|secret|attached/i.test(name))).toEqual([]);
    expect(Object.isFrozen(object)).toBe(true);
  }
});

describe.each(SETS)('deterministic, $falcon.name', ({ degree, falcon }) => {
  const forms = ['compressed', 'constantTime'] as const;
  const items = Array.from({ length: 8 }, (_, i) => {
    const { publicKey, secretKey } = testKeys(degree, i % 2);
    const message = testRandom(`small det ${degree} ${i}`).bytes(i === 0 ? 0 : 700 * i);
    const signature = falcon.det.sign(message, secretKey, { format: forms[(i >> 1) % 2]! });
    return { signature, message, publicKey };
  });
  const otherVersion = items.map((item) => ({ ...item, signature: item.signature.with(1, 7) }));
  const ordinary = testItems(degree, 3, { forms: ['compressed', 'padded', 'constantTime'] });
  const all = [...items, ...changed(items, `det ${degree}`), ...otherVersion, ...ordinary];

  test('verdicts, one by one and in a batch', () => {
    const { det } = small[falcon.name];
    expect(items.every((it) => det.verify(it.signature, it.message, it.publicKey))).toBe(true);
    for (const options of [undefined, { saltVersions: 'any' as const }, { saltVersions: [7] }]) {
      expect(det.verifyBatch(all, options)).toEqual(falcon.det.verifyBatch(all, options));
    }
    expectSameVerdicts(
      all,
      (it) => det.verify(it.signature, it.message, it.publicKey),
      (it) => falcon.det.verify(it.signature, it.message, it.publicKey),
    );
    const { signature, message, publicKey } = items[0]!;
    const prepared = small[falcon.name].preparePublicKey(publicKey);
    expect(det.verify(signature, message, prepared)).toBe(true);
  });

  test('the official known answers', () => {
    const { det } = small[falcon.name];
    const signatures = Array.from({ length: 32 }, (_, i) => {
      const { publicKey, secretKey, message } = officialCase(falcon, i);
      const signature = falcon.det.sign(message, secretKey);
      expect(det.verify(signature, message, publicKey)).toBe(true);
      return signature;
    });
    expect(hashOfLines(signatures)).toBe(DET_ANSWERS[degree][32]);
  });

  test('conversions and their refusals', () => {
    const [own, whole] = [small[falcon.name].det, falcon.det];
    let refused = 0;
    for (const { signature } of all) {
      for (const call of [
        (det: typeof own) => det.saltVersion(signature),
        (det: typeof own) => det.convert(signature, 'compressed'),
        (det: typeof own) => det.convert(signature, 'constantTime'),
        (det: typeof own) => det.toRound3(signature),
        (det: typeof own) => det.fromRound3(signature),
        (det: typeof own) => det.fromRound3(det.toRound3(signature)),
      ]) {
        const outcome = outcomeOf(() => call(whole));
        expect(outcomeOf(() => call(own))).toEqual(outcome);
        if (!(outcome instanceof Uint8Array || typeof outcome === 'number')) refused++;
      }
    }
    expect(refused).toBeGreaterThan(all.length);
    expect(refused).toBeLessThan(5 * all.length);
    expect(own.lengths).toEqual(whole.lengths);
    for (const call of [
      (det: typeof own) => det.convert(items[0]!.signature, 'padded' as never),
      (det: typeof own) => det.toRound3('' as never),
      (det: typeof own) => det.verifyBatch(items, { saltVersions: [] }),
      (det: typeof own) => det.verifyBatch(items, { saltVersions: [256] }),
      (det: typeof own) => det.verifyBatch(items, { format: 'compressed' } as never),
    ]) {
      const outcome = outcomeOf(() => call(whole));
      expect(outcome).toHaveProperty('message');
      expect(outcomeOf(() => call(own))).toEqual(outcome);
    }
  });
});

describe('ETHFALCON', () => {
  const items = Array.from({ length: 8 }, (_, i) => {
    const { publicKey, secretKey } = testKeys(512, i % 3);
    const message = testRandom(`small eth ${i}`).bytes(1300 * i);
    const format = i % 2 === 0 ? 'compressed' : 'padded';
    return { signature: ethFalcon512.sign(message, secretKey, { format }), message, publicKey };
  });
  const round3 = testItems(512, 3, { forms: ['compressed', 'padded', 'constantTime'] });
  const all = [...items, ...changed(items, 'eth'), ...round3];

  test('verdicts, one by one and in a batch', () => {
    const own = small.ethFalcon512;
    expect([own.name, own.profile]).toEqual(['falcon512', 'eth-falcon']);
    expect(own.verifyBatch(all)).toEqual(ethFalcon512.verifyBatch(all));
    const padded = { format: 'padded' } as const;
    expect(own.verifyBatch(all, padded)).toEqual(ethFalcon512.verifyBatch(all, padded));
    expectSameVerdicts(
      all,
      (it) => own.verify(it.signature, it.message, it.publicKey),
      (it) => ethFalcon512.verify(it.signature, it.message, it.publicKey),
    );
    expect(round3.some((it) => own.verify(it.signature, it.message, it.publicKey))).toBe(false);
    const { signature, message, publicKey } = items[0]!;
    expect(small.falcon512.verify(signature, message, publicKey)).toBe(false);
    expect(own.verify(signature, message, own.preparePublicKey(publicKey))).toBe(true);
  });

  test('streams', async () => {
    const { signature, message, publicKey } = items[7]!;
    const pieces = async function* (bytes: Uint8Array) {
      for (let at = 0; at < bytes.length; at += 999) yield bytes.subarray(at, at + 999);
    };
    const judge = (bytes: Uint8Array) =>
      small.ethFalcon512.verifyStream(signature, pieces(bytes), publicKey);
    expect(await judge(message)).toBe(true);
    expect(await judge(message.with(5000, message[5000]! ^ 1))).toBe(false);
  });
});

describe.each([
  { degree: 512, draft: fnDsaDraft512 },
  { degree: 1024, draft: fnDsaDraft1024 },
] as const)('$draft.name', ({ degree, draft }) => {
  const HASHES = ['SHA-256', 'SHA-384', 'SHA-512', 'SHA-512/256', 'SHA3-256', 'SHA3-384'] as const;
  const hashes: PreHash[] = [...HASHES, 'SHA3-512', 'SHAKE128', 'SHAKE256'];
  const { publicKey: round3Key, secretKey } = testKeys(degree, 2);
  const publicKey = draft.publicKeyFromRound3(round3Key);
  const key = draft.secretKeyFromRound3(secretKey);
  const signed = [undefined, ...hashes].map((preHash, i) => {
    const random = testRandom(`small draft ${degree} ${i}`);
    const message = random.bytes(900 * i);
    const options = { context: random.bytes(i * 20), ...(preHash !== undefined && { preHash }) };
    return { options, item: { signature: draft.sign(message, key, options), message, publicKey } };
  });

  test('verdicts, for every hash', () => {
    const own = small[draft.name];
    for (const { options, item } of signed) {
      const all = [item, ...changed([item], `draft ${degree}`)];
      const verdicts = all.map((it) =>
        draft.verify(it.signature, it.message, it.publicKey, options),
      );
      expect(all.map((it) => own.verify(it.signature, it.message, it.publicKey, options))).toEqual(
        verdicts,
      );
      expect(verdicts[0]).toBe(true);
      // A change of the empty message is none.
      const same = item.message.length === 0 ? 3 : 1;
      expect(verdicts.filter((verdict) => verdict)).toHaveLength(same);
    }
    const { signature, message } = signed[3]!.item;
    for (const { options } of signed) {
      const isOwn = options === signed[3]!.options;
      expect(own.verify(signature, message, publicKey, options)).toBe(isOwn);
    }
    const ordinary = falconOf(degree).sign(message, secretKey, { format: 'padded' });
    expect(own.verify(ordinary, message, publicKey)).toBe(false);
  });

  test('statements, keys, and what is thrown', () => {
    const own = small[draft.name];
    const { profile, name, parameterSet, lengths } = draft;
    expect(own).toMatchObject({ profile, name, parameterSet, lengths, draft: draft.draft });
    expect(paramsIn(own.profile, own.parameterSet).name).toBe(parameterSet);
    for (const { options, item } of signed) {
      const statement = draft.statement(item.message, publicKey, options);
      expect(own.statement(item.message, publicKey, options)).toEqual(statement);
      expect(statement.publicKey).toEqual(round3Key);
    }
    expect(own.publicKeyToRound3(publicKey)).toEqual(round3Key);
    expect(own.publicKeyFromRound3(round3Key)).toEqual(publicKey);
    const { signature, message } = signed[0]!.item;
    for (const call of [
      (it: typeof own) => it.publicKeyToRound3(publicKey.with(0, 3)),
      (it: typeof own) => it.publicKeyToRound3(publicKey.slice(1)),
      (it: typeof own) => it.publicKeyFromRound3(round3Key.with(0, 3)),
      (it: typeof own) => it.statement(message, publicKey.with(0, 3)),
      (it: typeof own) => it.statement(message, 'key' as never),
      (it: typeof own) => it.verify(signature, message, publicKey, { preHash: 'MD5' as never }),
      (it: typeof own) => it.verify(signature, message, publicKey, { format: 1 } as never),
      (it: typeof own) =>
        it.verify(signature, message, publicKey, { context: new Uint8Array(256) }),
    ]) {
      const outcome = outcomeOf(() => call(draft));
      expect(outcome).toHaveProperty('message');
      expect(outcomeOf(() => call(own))).toEqual(outcome);
    }
  });
});
