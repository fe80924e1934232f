import { describe, expect, it } from 'vitest';
import { BundleReader, decodeBundle } from '../../src/aggregate/bundle.ts';
import { type ParsedHeader, parseHeader } from '../../src/aggregate/container.ts';
import {
  aggregate,
  aggregateSync,
  extractSignatures,
  findInvalid,
  inspectAggregate,
  MAX_AGGREGATE_ITEMS,
  statementCommitment,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { completeSalts } from '../../src/aggregate/salts.ts';
import { statementDigest } from '../../src/aggregate/statement.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { fact } from '../support/facts.ts';
import {
  bytesOf,
  type Form,
  type Item,
  inForm,
  keyPair,
  makeItem,
  statementsOf,
} from './batches.ts';
import {
  joinSignature,
  referenceBundle,
  referenceCommitment,
  referenceUnbundle,
  splitSignature,
} from './referenceBundle.ts';

const FORMS: readonly Form[] = ['compressed', 'padded', 'constantTime'];

/** Everything that must hold of any batch. */
function expectRoundTrip(items: readonly Item[]): Uint8Array {
  const bytes = aggregateSync(items);
  const statements = statementsOf(items);
  expect(bytes).toEqual(referenceBundle(items));
  expect(referenceUnbundle(bytes, statements)).toEqual(items.map((item) => item.signature));
  expect(verifyAggregate(bytes, statements)).toBe(true);
  expect(extractSignatures(bytes, statements)).toEqual(items.map((item) => item.signature));
  return bytes;
}

/** The signatures of a bundle of a single item before anything is verified. */
function unpack(bytes: Uint8Array, item: Item): Uint8Array[] | undefined {
  const header = parseHeader(bytes) as ParsedHeader;
  return decodeBundle(bytes, header, completeSalts(header.salts, [item])!);
}

/** The error of a batch that must be refused. */
function refusalOf(items: readonly Item[]): CodedError {
  try {
    aggregateSync(items);
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error('the batch was not refused');
}

/** The signatures of a bundle, read in blocks of a size; undefined if it is refused. */
function readInBlocks(
  bytes: Uint8Array,
  items: readonly Item[],
  size: number,
): Uint8Array[] | undefined {
  const header = parseHeader(bytes) as ParsedHeader;
  const salts = completeSalts(header.salts, items);
  const reader = new BundleReader(bytes, header);
  const signatures: Uint8Array[] = [];
  for (let at = 0; at < items.length; at += size) {
    const block = reader.read(salts.subarray(40 * at, 40 * (at + size)));
    if (block === undefined) return undefined;
    signatures.push(...block);
  }
  return reader.isAtEnd() ? signatures : undefined;
}

describe('a bundle in blocks', () => {
  const [a, b, c] = [1, 2, 3].map((i) => makeItem(512, 'compressed', i)) as [Item, Item, Item];
  const [x, y] = [4, 5].map((i) => makeItem(1024, 'padded', i)) as [Item, Item];
  // Either set begins or ends, and one waits for the end of the other.
  const lists = [[a], [a, b, c], [x, y], [a, x, b, y, c], [x, y, a, b, c], [a, b, c, x, y]];

  it('has the same signatures, whatever their size', () => {
    for (const items of lists) {
      const bytes = aggregateSync(items);
      for (let size = 1; size <= items.length; size++) {
        const signatures = items.map(({ signature }) => signature);
        expect(readInBlocks(bytes, items, size)).toEqual(signatures);
      }
    }
  });

  it('is refused if it is damaged, cut or too long', () => {
    for (const items of lists) {
      const good = aggregateSync(items);
      const { bodyAt } = parseHeader(good) as ParsedHeader;
      const places = [0, 1, 6, 11, 12, 300, 610, 700, 1300, 1900];
      const wrong = places
        .filter((at) => bodyAt + at < good.length)
        .map((at) => good.with(bodyAt + at, good[bodyAt + at]! ^ 4));
      wrong.push(good.slice(0, -1), good.slice(0, bodyAt), Uint8Array.of(...good, 0));
      for (const bytes of wrong) {
        for (const size of [1, 2, items.length]) {
          // What is read first may be right; its signature is then another one.
          const found = readInBlocks(bytes, items, size);
          expect(found).toBeUndefined();
        }
      }
    }
  });
});

describe('bundle', () => {
  for (const n of [512, 1024] as const) {
    for (const form of FORMS) {
      it(`holds one and two ${form} signatures of Falcon-${n}`, () => {
        const items = [makeItem(n, form, 1), makeItem(n, form, 2)];
        expectRoundTrip(items.slice(0, 1));
        const info = inspectAggregate(expectRoundTrip(items));
        const kind = { parameterSet: `falcon${n}`, form };
        expect(info).toMatchObject({
          format: 'bundle',
          version: 2,
          count: 2,
          parameterSets: [`falcon${n}`],
          items: [kind, kind],
          statement: referenceCommitment(items),
        });
        const { total, header, salts, body } = info.sizes;
        expect([header, salts, header + salts + body]).toEqual([45, 80, total]);
      });
    }
  }

  it('keeps the order of a mixed batch, and repeats', () => {
    const a = makeItem(512, 'compressed', 3);
    const b = makeItem(1024, 'padded', 4);
    const c = makeItem(512, 'constantTime', 5);
    const d = makeItem(1024, 'compressed', 6);
    const items = [b, a, a, c, d, a, b, b];
    const bytes = expectRoundTrip(items);
    expect(inspectAggregate(bytes).parameterSets).toEqual(['falcon512', 'falcon1024']);
    expect(inspectAggregate(bytes).items.map(({ form }) => form)).toEqual([
      'padded',
      'compressed',
      'compressed',
      'constantTime',
      'compressed',
      'compressed',
      'padded',
      'padded',
    ]);
    const turned = [...items].reverse();
    expect(expectRoundTrip(turned)).not.toEqual(bytes);
    expect(verifyAggregate(bytes, statementsOf(turned))).toBe(false);
  });

  it('gives a compressed signature of the padded length one name', () => {
    // Such a signature is far too rare to be found, so its s2 is made; no key verifies it.
    for (const { n, high } of [
      { n: 512, high: 392 },
      { n: 1024, high: 690 },
    ] as const) {
      const item = makeItem(n, 'compressed', 1);
      const { salt } = splitSignature(item.signature);
      const s2 = Array.from({ length: n }, (_, i) => (i < high ? -130 : 3));
      const full = { ...item, signature: joinSignature({ n, form: 0, salt, s2 }) };
      expect(full.signature.length).toBe(n === 512 ? 666 : 1280);
      expect(inForm(full.signature, 'padded')).toEqual(full.signature);
      expect(unpack(referenceBundle([full]), full)).toEqual([full.signature]);
      expect(unpack(referenceBundle([full], { forms: [1] }), full)).toBeUndefined();
      // One byte less, and the two forms differ; one more, and the padded form cannot hold it.
      for (const [more, isPadded] of [
        [-9, true],
        [8, false],
      ] as const) {
        const values = s2.map((v, i) => (i < high + more ? -130 : v && 3));
        const other = { ...item, signature: joinSignature({ n, form: 0, salt, s2: values }) };
        expect(unpack(referenceBundle([other]), other)).toEqual([other.signature]);
        const padded = unpack(referenceBundle([other], { forms: [1] }), other);
        expect(padded).toEqual(isPadded ? [inForm(other.signature, 'padded')] : undefined);
      }
    }
  });

  it('gives the same bytes from the asynchronous call, with progress', async () => {
    const items = [1, 2, 3, 4].map((i) => makeItem(512, 'compressed', i));
    const seen: string[] = [];
    const many = Array.from({ length: 200 }, (_, i) => items[i % 4]!);
    const bytes = await aggregate(many, {
      format: 'bundle',
      onProgress: ({ phase, done, total }) => seen.push(`${phase} ${done}/${total}`),
    });
    expect(bytes).toEqual(aggregateSync(many));
    expect(seen[0]).toBe('verifying 0/200');
    expect(seen.slice(-2)).toEqual(['verifying 200/200', 'aggregating 200/200']);
  });

  it('stops when the signal says so, before and while it works', async () => {
    const item = makeItem(512, 'compressed', 1);
    const before = aggregate([item], { signal: AbortSignal.abort('why') });
    await expect(before).rejects.toMatchObject({ code: 'ABORTED', cause: 'why' });
    const controller = new AbortController();
    let calls = 0;
    const during = aggregate(new Array(4000).fill(item), {
      signal: controller.signal,
      onProgress: () => {
        if (++calls === 2) controller.abort();
      },
    });
    await expect(during).rejects.toMatchObject({ code: 'ABORTED' });
    expect(calls).toBe(2);
  });

  it('names every invalid item with its reason', async () => {
    const good = makeItem(512, 'compressed', 1);
    const good1024 = makeItem(1024, 'padded', 1);
    const flip = (bytes: Uint8Array, at: number, bits: number) => bytes.with(at, bytes[at]! ^ bits);
    const { publicKey, signature } = good;
    const items: Item[] = [
      good,
      { ...good, message: bytesOf('another message', 9) },
      { ...good, signature: flip(signature, 0, 0x40) },
      { ...good, signature: Uint8Array.from([...signature, 0]) },
      { ...good, signature: flip(inForm(signature, 'padded'), 665, 1) },
      good1024,
      { ...good, signature: good1024.signature },
      { ...good1024, signature: flip(good1024.signature, 40, 1) },
      { ...good, publicKey: publicKey.subarray(1) },
      { ...good, publicKey: flip(publicKey, 0, 3) },
      { ...good, publicKey: Uint8Array.from([9, 255, 255, ...publicKey.subarray(3)]) },
      { ...good, signature: new Uint8Array(0) },
      good,
    ];
    const error = refusalOf(items);
    expect(error).toMatchObject({ code: 'INVALID_SIGNATURES', retriable: false });
    expect(error.invalid).toEqual([
      { index: 1, reason: 'signatureMismatch' },
      { index: 2, reason: 'signatureHeader' },
      { index: 3, reason: 'signatureLength' },
      { index: 4, reason: 'signatureEncoding' },
      { index: 6, reason: expect.stringMatching(/^signature(Header|Length)$/) },
      { index: 7, reason: 'signatureMismatch' },
      { index: 8, reason: 'publicKeyLength' },
      { index: 9, reason: 'publicKeyHeader' },
      { index: 10, reason: 'publicKeyRange' },
      { index: 11, reason: 'signatureLength' },
    ]);
    await expect(aggregate(items)).rejects.toMatchObject({ invalid: error.invalid });
  });

  it('names invalid items far into a batch', async () => {
    const good = makeItem(512, 'compressed', 2);
    const items = new Array<Item>(300).fill(good);
    const wrong = { ...good, message: Uint8Array.of(1) };
    for (const i of [0, 63, 64, 299]) items[i] = wrong;
    const { invalid } = refusalOf(items);
    expect(invalid?.map(({ index }) => index)).toEqual([0, 63, 64, 299]);
    await expect(aggregate(items)).rejects.toMatchObject({ invalid });
  });

  it('commits to the ordered list of statements', () => {
    const [a, b] = statementsOf([makeItem(512, 'compressed', 1), makeItem(1024, 'padded', 2)]);
    for (const list of [[a!], [b!], [a!, b!], [b!, a!], [a!, a!]]) {
      expect(statementCommitment(list)).toEqual(referenceCommitment(list));
    }
    // Moving a byte over a border changes the commitment.
    const x = { ...a!, message: Uint8Array.of(1, 2) };
    expect(statementCommitment([x])).not.toEqual(
      statementCommitment([{ ...a!, message: Uint8Array.of(1) }]),
    );
    expect(() => statementCommitment([])).toThrow(RangeError);
    // The length of a message has 32 bits. The memory is only reserved: the next key ends the list
    // before anything is hashed.
    const reserved = new Uint8Array(2 ** 32);
    const after = {
      ...a!,
      get publicKey(): Uint8Array {
        throw new Error('the next key');
      },
    };
    const withMessage = (message: Uint8Array) => () => statementDigest([{ ...a!, message }, after]);
    expect(withMessage(reserved)).toThrow(RangeError);
    expect(withMessage(reserved.subarray(1))).toThrow('the next key');
    expect(() => statementCommitment([{ ...a!, publicKey: new Uint8Array(896) }])).toThrow(
      '"statements[0].publicKey" expected 897 or 1793 bytes, got 896',
    );
  });

  it('throws for arguments of wrong types, before any work', async () => {
    const item = makeItem(512, 'compressed', 1);
    const wrong = (value: unknown) => value as never;
    expect(() => aggregateSync(wrong('x'))).toThrow(TypeError);
    expect(() => aggregateSync(wrong(null))).toThrow(TypeError);
    expect(() => aggregateSync([])).toThrow(RangeError);
    expect(() => aggregateSync(new Array(MAX_AGGREGATE_ITEMS + 1).fill(item))).toThrow(RangeError);
    expect(() => aggregateSync([item, wrong(null)])).toThrow('"items[1]" expected an object');
    expect(() => aggregateSync([{ ...item, message: wrong('text') }])).toThrow(
      '"items[0].message" expected Uint8Array, got string',
    );
    expect(() => findInvalid([item, wrong(undefined)])).toThrow('"items[1]" expected an object');
    expect(findInvalid([])).toEqual([]);
    expect(() => verifyAggregate(wrong([1]), [])).toThrow(TypeError);
    expect(() => verifyAggregate(new Uint8Array(0), wrong({}))).toThrow(TypeError);
    expect(() => verifyAggregate(new Uint8Array(0), [wrong({ message: item.message })])).toThrow(
      TypeError,
    );
    expect(() => inspectAggregate(wrong(undefined))).toThrow(TypeError);
    await expect(aggregate([item], wrong({ thread: 2 }))).rejects.toThrow(
      'unknown option "thread"',
    );
    await expect(aggregate([item], wrong({ signal: {} }))).rejects.toThrow(TypeError);
    await expect(aggregate([item], wrong({ onProgress: 5 }))).rejects.toThrow(TypeError);
    await expect(aggregate([item], wrong(null))).rejects.toThrow(TypeError);
  });

  it('throws BAD_AGGREGATE where there is nothing to extract or to inspect', () => {
    const item = makeItem(512, 'compressed', 1);
    const bytes = aggregateSync([item]);
    const bad = expect.objectContaining({ code: 'BAD_AGGREGATE' });
    expect(() => extractSignatures(bytes.subarray(1), statementsOf([item]))).toThrow(bad);
    expect(() => extractSignatures(bytes, [])).toThrow(bad);
    expect(() => inspectAggregate(bytes.subarray(0, 60))).toThrow(bad);
    expect(() => inspectAggregate(new Uint8Array(0))).toThrow(bad);
  });
});

describe('extreme coefficients', () => {
  it('are lost by no form: the coder takes what no valid signature holds', () => {
    const item = makeItem(512, 'constantTime', 1);
    const s2 = Array.from({ length: 512 }, (_, i) => [2047, -2047, 0, 1][i % 4]!);
    const parts = { ...splitSignature(item.signature), s2 };
    const extreme = { ...item, signature: joinSignature({ ...parts, form: 2 }) };
    // Well formed, so it is the norm that refuses it, alone and in a bundle made by hand.
    expect(refusalOf([extreme]).invalid).toEqual([{ index: 0, reason: 'signatureMismatch' }]);
    expect(verifyAggregate(referenceBundle([extreme]), statementsOf([extreme]))).toBe(false);
  });
});

describe('1722 signatures', () => {
  it('take at most 646 bytes each, salts included', (context) => {
    const { publicKey, secretKey } = keyPair(512, 0);
    using key = falcon512.expandSecretKey(secretKey);
    const items = Array.from({ length: 1722 }, (_, i) => {
      const message = bytesOf(`message ${i}`, 32);
      const testSeed = { salt: bytesOf(`salt ${i}`, 40), samplerSeed: bytesOf(`sampler ${i}`, 48) };
      return { publicKey, message, signature: falcon512.sign(message, key, { testSeed }) };
    });
    const bytes = aggregateSync(items);
    const each = bytes.length / items.length;
    expect(each).toBeLessThanOrEqual(646);
    // The entropy of its coefficients and the salt, up to what this sample deviates.
    expect(Math.abs(each - 642.9)).toBeLessThan(1);
    const statements = statementsOf(items);
    expect(verifyAggregate(bytes, statements)).toBe(true);
    expect(extractSignatures(bytes, statements)).toEqual(items.map((item) => item.signature));
    // The same seeds give the same signatures on every machine, hence the same bundle.
    expect(bytes.length).toBe(1_107_153);
    fact(context, 'bundle', `1722 signatures: ${bytes.length} bytes, ${each.toFixed(2)} each`);
  });
});
