/** Aggregates whose signatures hash in another way: who makes them, who accepts them. */
import { describe, expect, test } from 'vitest';
import {
  type AggregateItem,
  aggregate,
  aggregateSync,
  createAggregatePool,
  extractSignatures,
  findInvalid,
  inspectAggregate,
  type Statement,
  verifyAggregate,
  verifyAggregateAsync,
} from '../../src/aggregate/index.ts';
import { falcon512, type Profile } from '../../src/falcon/index.ts';
import { ethFalcon512 } from '../../src/falcon/profiles/ethFalcon.ts';
import { fnDsaDraft512, fnDsaDraft1024 } from '../../src/falcon/profiles/fnDsaDraft.ts';
import { testKeys } from '../support/ours.ts';
import { draftPoint } from '../support/profileReference.ts';
import { testRandom } from '../support/random.ts';
import { craftPublicKey, encodeSignature } from '../support/reference.ts';

const DRAFT = 'fn-dsa-draft-2026-07';
const NUMBERS = { round3: 0, 'eth-falcon': 2, [DRAFT]: 3 } as const;
const random = testRandom('aggregates of profiles');
const messages = Array.from({ length: 4 }, (_, i) => random.bytes(10 * i));

interface Made {
  readonly items: readonly AggregateItem[];
  readonly statements: readonly Statement[];
}

function ofEthFalcon(): Made {
  const { publicKey, secretKey } = testKeys(512, 0);
  const items = messages.map((message) => {
    return { publicKey, message, signature: ethFalcon512.sign(message, secretKey) };
  });
  return {
    items,
    statements: items.map(({ publicKey: key, message }) => ({ publicKey: key, message })),
  };
}

/** Items of both sizes, in turn. */
function ofDraft(): Made {
  const context = random.bytes(5);
  const pairs = [fnDsaDraft512, fnDsaDraft1024].map((draft, i) => {
    return { draft, ...draft.keygen(random.bytes(32)), options: i === 0 ? { context } : {} };
  });
  const of = (i: number) => pairs[i % 2]!;
  return {
    items: messages.map((message, i) => {
      const { draft, publicKey, secretKey, options } = of(i);
      return draft.item(draft.sign(message, secretKey, options), message, publicKey, options);
    }),
    statements: messages.map((message, i) => {
      const { draft, publicKey, options } = of(i);
      return draft.statement(message, publicKey, options);
    }),
  };
}

describe.each([
  ['eth-falcon', ofEthFalcon()],
  [DRAFT, ofDraft()],
] as const)('%s', (profile, { items, statements }) => {
  const profiles: readonly Profile[] = [profile];
  const bundle = aggregateSync(items, { profile });

  test('a bundle is accepted by those who ask for it, and gives its signatures back', async () => {
    expect(verifyAggregate(bundle, statements, { profiles })).toBe(true);
    expect(verifyAggregate(bundle, statements, { profiles: ['round3', profile] })).toBe(true);
    for (const accepted of [undefined, {}, { profiles: [] }, { profiles: ['round3'] }] as const) {
      expect(verifyAggregate(bundle, statements, accepted)).toBe(false);
      expect(await verifyAggregateAsync(bundle, statements, accepted)).toBe(false);
      expect(() => extractSignatures(bundle, statements, accepted)).toThrow('is not valid');
    }
    expect(await aggregate(items, { profile, format: 'bundle' })).toEqual(bundle);
    const extracted = extractSignatures(bundle, statements, { profiles });
    expect(extracted).toEqual(items.map(({ signature }) => signature));
  });

  test('its header says what it is', () => {
    const info = inspectAggregate(bundle);
    expect(info.profile).toBe(profile);
    expect(info.profiles).toEqual(
      Object.fromEntries(info.parameterSets.map((set) => [set, NUMBERS[profile]])),
    );
  });

  test('of another profile, nothing is valid', async () => {
    expect(findInvalid(items, { profile })).toEqual([]);
    for (const other of Object.keys(NUMBERS) as Profile[]) {
      if (other === profile) continue;
      expect(findInvalid(items, { profile: other })).toHaveLength(items.length);
      expect(() => aggregateSync(items, { profile: other })).toThrow('not valid');
      await expect(aggregate(items, { profile: other })).rejects.toThrow('not valid');
      // The same bytes under another name.
      const sets = inspectAggregate(bundle).parameterSets.length;
      // Behind magic to count, and one run of kinds for each item or for all.
      const at = sets === 1 ? 42 : 48;
      const renamed = bundle.slice();
      for (let set = 0; set < sets; set++) {
        expect(renamed[at + set]).toBe(NUMBERS[profile]);
        renamed[at + set] = NUMBERS[other];
      }
      expect(verifyAggregate(renamed, statements, { profiles: [other, profile] })).toBe(false);
    }
  });

  test('a proof, on a pool with a thread', async () => {
    const pool = createAggregatePool({ threads: 2 });
    const proof = await pool.aggregate(items, { profile, format: 'proof' });
    expect(inspectAggregate(proof)).toMatchObject({ format: 'proof', profile });
    expect(await pool.verifyAggregate(proof, statements, { profiles })).toBe(true);
    expect(await pool.verifyAggregate(proof, statements)).toBe(false);
    expect(await pool.findInvalid(items, { profile })).toEqual([]);
    expect(await pool.findInvalid(items)).toHaveLength(items.length);
    await pool.close();
    expect(verifyAggregate(proof, statements, { profiles })).toBe(true);
    expect(verifyAggregate(proof, statements)).toBe(false);
    const swapped = statements.map(({ publicKey }, i) => ({
      publicKey,
      message: statements[(i + 2) % statements.length]!.message,
    }));
    expect(verifyAggregate(proof, swapped, { profiles })).toBe(false);
  });
});

test('a set that the profile lacks', () => {
  const { publicKey, secretKey } = testKeys(1024, 0);
  const message = random.bytes(10);
  const item = {
    publicKey,
    message,
    signature: fnDsaDraft1024.sign(message, fnDsaDraft1024.secretKeyFromRound3(secretKey)),
  };
  expect(findInvalid([item], { profile: 'eth-falcon' })).toEqual([
    { index: 0, reason: 'publicKeyLength' },
  ]);
});

test('the limit of the draft is checked before anything is aggregated', () => {
  const make = (x: number): AggregateItem => {
    for (;;) {
      const [salt, message] = [random.bytes(40), random.bytes(64)];
      const small = () => Array.from({ length: 512 }, () => random.between(-60, 60));
      const s1 = small().with(7, x);
      const s2 = small();
      const publicKey = craftPublicKey(s1, s2, salt, message, draftPoint);
      if (publicKey === undefined) continue;
      return { publicKey, message, signature: encodeSignature('padded', salt, s2) };
    }
  };
  const items = [make(840), make(841), make(-840), make(-841)];
  expect(findInvalid(items, { profile: DRAFT })).toEqual([
    { index: 1, reason: 'signatureMismatch' },
    { index: 3, reason: 'signatureMismatch' },
  ]);
  expect(() => aggregateSync(items, { profile: DRAFT })).toThrow('not valid');
});

test('what is thrown', async () => {
  const { publicKey, secretKey } = testKeys(512, 0);
  const [message] = [random.bytes(3)];
  const items = [{ publicKey, message, signature: falcon512.sign(message, secretKey) }];
  const bytes = aggregateSync(items);
  expect(verifyAggregate(bytes, items)).toBe(true);
  for (const profile of ['x', 0, null, 'toString'] as never[]) {
    expect(() => aggregateSync(items, { profile })).toThrow(RangeError);
    expect(() => findInvalid(items, { profile })).toThrow(RangeError);
    await expect(aggregate(items, { profile })).rejects.toThrow(RangeError);
    expect(() => verifyAggregate(bytes, items, { profiles: [profile] })).toThrow(RangeError);
    const verifying = verifyAggregateAsync(bytes, items, { profiles: [profile] });
    await expect(verifying).rejects.toThrow(RangeError);
  }
  const wrong = { profiles: 'round3' } as never;
  expect(() => verifyAggregate(bytes, items, wrong)).toThrow(TypeError);
  expect(() => verifyAggregate(bytes, items, { profile: 'round3' } as never)).toThrow(TypeError);
  expect(() => findInvalid(items, { profiles: [] } as never)).toThrow(TypeError);
  await expect(createAggregatePool().findInvalid(items, wrong)).rejects.toThrow(TypeError);
});
