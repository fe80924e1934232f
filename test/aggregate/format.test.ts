/**
 * Proof or bundle: what is picked and why, and a proof as a whole aggregate, from items to true or
 * false.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { startBatch } from '../../src/aggregate/batch.ts';
import { encodeHeader, type ParsedHeader, parseHeader } from '../../src/aggregate/container.ts';
import {
  aggregate,
  aggregateSync,
  extractSignatures,
  type FormatChoice,
  findInvalid,
  inspectAggregate,
  MAX_PROOF_ITEMS,
  statementCommitment,
  verifyAggregate,
  verifyAggregateAsync,
} from '../../src/aggregate/index.ts';
import { openClaims, readClaims } from '../../src/aggregate/openAggregate.ts';
import { proveSection, statedItems } from '../../src/aggregate/proof/index.ts';
import {
  encodeProof,
  isTooLongForProof,
  openProof,
  verifyProof,
} from '../../src/aggregate/proofFormat.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { concat } from '../../src/shared/bytes.ts';
import { headerOf, saltOf, signedItem, tagOf } from '../reference/items.ts';
import { hashOfRow, tableRow } from '../reference/table.ts';
import { NIGHTLY } from '../support/run.ts';
import { bytesOf, type Item, inForm, keyPair, makeItem, statementsOf } from './batches.ts';
import { finished } from './proof/sections.ts';

const three = [0, 1, 2].map((i) => makeItem(512, 'compressed', i));
const mixed = [three[0]!, makeItem(1024, 'compressed', 5), three[1]!];

/** Many items, quickly: by this library, with three keys. */
function manyItems(count: number): Item[] {
  return Array.from({ length: count }, (_, i) => {
    const { publicKey, secretKey } = keyPair(512, i % 3);
    const message = bytesOf(`many ${i}`, 20);
    const testSeed = { salt: bytesOf(`salt ${i}`, 40), samplerSeed: bytesOf(`sampler ${i}`, 48) };
    return { publicKey, message, signature: falcon512.sign(message, secretKey, { testSeed }) };
  });
}

async function choose(items: readonly Item[], format?: 'auto' | 'proof' | 'bundle') {
  const choices: FormatChoice[] = [];
  const onFormat = (choice: FormatChoice) => void choices.push(choice);
  const bytes = await aggregate(items, { onFormat, ...(format && { format }) });
  expect(choices).toHaveLength(1);
  expect(inspectAggregate(bytes).format).toBe(choices[0]!.format);
  return { bytes, choice: choices[0]! };
}

const flipped = (bytes: Uint8Array, at: number, bit = 1) =>
  bytes.map((byte, i) => (i === at ? byte ^ bit : byte));

describe('the header of a proof', () => {
  const header = (format: 'bundle' | 'proof', kinds: readonly number[]) =>
    encodeHeader({
      format,
      statement: bytesOf('statement', 32),
      kinds: Uint8Array.from(kinds),
      profile: 'round3',
      salts: {
        runs: [{ coding: 'explicit', version: 0, count: kinds.length }],
        explicit: bytesOf('salts', 40 * kinds.length),
      },
    });

  it('says format 2, and knows one kind of each set', () => {
    const bytes = header('proof', [0, 0, 3, 0]);
    expect([...bytes.subarray(0, 6)]).toEqual([0x46, 0x4c, 0x52, 0x59, 2, 3]);
    const rows = [tableRow('falcon512', 3), tableRow('falcon1024', 1)];
    expect(bytes.slice(40, 44)).toEqual(tagOf(rows.map(hashOfRow)));
    expect(parseHeader(bytes)).toMatchObject({ format: 'proof', kinds: Uint8Array.of(0, 0, 3, 0) });
    for (const kind of [1, 2, 4, 5, 6, 7]) {
      expect(parseHeader(header('proof', [kind])), `kind ${kind}`).toBe('header');
      expect(parseHeader(header('proof', [0, kind])), `kind ${kind}`).toBe('header');
      expect(typeof parseHeader(header('bundle', [kind])) === 'object').toBe(kind < 6);
    }
  });

  it('is of a known format', () => {
    for (const format of [0, 3, 255]) {
      const bytes = header('proof', [0]);
      bytes[4] = format;
      expect(parseHeader(bytes)).toBe('format');
    }
  });
});

describe('the format', () => {
  it('is the bundle for a few signatures, and says what a proof would have cost', async () => {
    const { bytes, choice } = await choose(three);
    expect(bytes).toEqual(aggregateSync(three));
    expect(choice).toEqual({
      format: 'bundle',
      reason: 'smaller',
      bundleBytes: bytes.length,
      proofBytes: expect.any(Number),
    });
    expect(choice.proofBytes!).toBeGreaterThan(bytes.length);
    expect((await choose(three, 'auto')).bytes).toEqual(bytes);
  });

  it('is the one asked for', async () => {
    const { bytes, choice } = await choose(three, 'bundle');
    expect(bytes).toEqual(aggregateSync(three));
    expect(choice).toEqual({ format: 'bundle', reason: 'asked', bundleBytes: bytes.length });
  });

  it('is the proof for many', { timeout: 240_000 }, async () => {
    const items = manyItems(130);
    const { bytes, choice } = await choose(items);
    const bundle = aggregateSync(items);
    expect(choice).toEqual({
      format: 'proof',
      reason: 'smaller',
      bundleBytes: bundle.length,
      proofBytes: bytes.length,
    });
    expect(bytes.length).toBeLessThan(bundle.length);
    expect(verifyAggregate(bytes, statementsOf(items))).toBe(true);
    expect(verifyAggregate(bytes, statementsOf(items.toReversed()))).toBe(false);
  });

  it('is the bundle for more signatures of a set than a proof takes', async () => {
    const items = new Array<Item>(MAX_PROOF_ITEMS.falcon512 + 1).fill(three[0]!);
    expect(isTooLongForProof(items)).toBe(true);
    expect(isTooLongForProof(items.slice(1))).toBe(false);
    const { bytes, choice } = await choose(items);
    expect(choice).toEqual({
      format: 'bundle',
      reason: 'tooMany',
      bundleBytes: bytes.length,
    });
    const events: unknown[] = [];
    const onProgress = (event: unknown) => void events.push(event);
    await expect(aggregate(items, { format: 'proof', onProgress })).rejects.toMatchObject({
      code: 'NO_PROOF',
      status: 422,
      retriable: false,
      message: expect.stringMatching(/5632 .* 2944/),
    });
    expect(events).toEqual([]);
  });

  it('is one of three words', async () => {
    for (const format of ['', 'Proof', 'toString', 'snark']) {
      const options = { format } as unknown as { format: 'auto' };
      await expect(aggregate(three, options)).rejects.toThrow(RangeError);
    }
    const options = { onFormat: 5 } as unknown as { format: 'auto' };
    await expect(aggregate(three, options)).rejects.toThrow(TypeError);
  });
});

describe.each([
  ['Falcon-512', three],
  ['Falcon-1024', [makeItem(1024, 'compressed', 5)]],
  ['both sets', mixed],
])('a proof of %s', { timeout: 240_000 }, (_, items) => {
  const statements = statementsOf(items);
  let proof: Uint8Array;

  beforeAll(async () => {
    const { bytes, choice } = await choose(items, 'proof');
    expect(choice).toEqual({ format: 'proof', reason: 'asked', proofBytes: bytes.length });
    proof = bytes;
  }, 240_000);

  it('is accepted for its statements', async () => {
    expect(verifyAggregate(proof, statements)).toBe(true);
    expect(await verifyAggregateAsync(proof, statements)).toBe(true);
    const claim = readClaims(proof, statements)![0]!.claims[0]!;
    expect(verifyProof(claim)).toBe(true);
    expect(verifyProof({ ...claim, header: { ...claim.header, format: 'bundle' } })).toBe(false);
  });

  it('is refused in parts of the work, too', async () => {
    const wrong = [
      proof.subarray(0, -1),
      Uint8Array.of(...proof, 0),
      flipped(proof, proof.length - 60),
      ...[0.2, 0.5, 0.8].map((share) => flipped(proof, Math.floor(share * proof.length))),
    ];
    for (const bytes of wrong) expect(await verifyAggregateAsync(bytes, statements)).toBe(false);
    expect(await verifyAggregateAsync(proof, statements.slice(1))).toBe(false);
  });

  it('says what it is', () => {
    const info = inspectAggregate(proof);
    // magic to count, tag, kinds, profiles, a run of salts
    const header = 40 + 4 + (items === mixed ? 3 * 2 + 2 : 2 + 1) + 2;
    expect(info).toMatchObject({
      format: 'proof',
      version: 3,
      count: items.length,
      profile: 'round3',
      profiles: Object.fromEntries(info.parameterSets.map((set) => [set, 0])),
      saltRuns: [{ coding: 'explicit', count: items.length }],
      rowTag: Buffer.from(proof.subarray(40, 44)).toString('hex'),
      claimedBits: 128,
    });
    expect(info.statement).toEqual(statementCommitment(statements));
    // slice() of a Buffer is a view of it.
    const buffer = Buffer.from(proof);
    const { statement } = inspectAggregate(buffer);
    buffer.fill(0);
    expect(statement).toEqual(info.statement);
    expect(info.items.every((item) => !('form' in item))).toBe(true);
    expect(info.sizes).toEqual({
      total: proof.length,
      header,
      salts: 40 * items.length,
      body: proof.length - header - 40 * items.length,
    });
  });

  it('is the same every time, whatever forms the signatures have', async () => {
    const again = items.map((item) => {
      return { ...item, signature: inForm(item.signature, 'constantTime') };
    });
    expect(findInvalid(again)).toEqual([]);
    expect(await aggregate(again, { format: 'proof' })).toEqual(proof);
  });

  it('keeps no signatures', () => {
    expect(() => extractSignatures(proof, statements)).toThrow(
      expect.objectContaining({ code: 'NO_SIGNATURES', status: 422 }),
    );
    expect(() => extractSignatures(proof, statements.slice(1))).toThrow(
      expect.objectContaining({ code: 'BAD_AGGREGATE' }),
    );
  });

  it('is refused for other statements', () => {
    const [first, ...rest] = statements;
    const other = keyPair(first!.publicKey.length === 897 ? 512 : 1024, 7).publicKey;
    const lists = [
      rest,
      [...statements, first!],
      [...rest, first!].reverse(),
      [{ ...first!, message: bytesOf('another', 3) }, ...rest],
      [{ ...first!, publicKey: other }, ...rest],
      [{ ...first!, publicKey: first!.publicKey.subarray(1) }, ...rest],
    ];
    const same = JSON.stringify(statements);
    for (const list of lists.filter((each) => JSON.stringify(each) !== same)) {
      expect(verifyAggregate(proof, list)).toBe(false);
    }
  });

  it('is refused with another head, even one about the statements at hand', () => {
    const [first, ...rest] = statements;
    const wrong = [{ ...first!, message: bytesOf('another', 3) }, ...rest];
    const forged = proof.slice();
    forged.set(statementCommitment(wrong), 6);
    expect(verifyAggregate(forged, wrong)).toBe(false);

    const { header, salts } = inspectAggregate(proof).sizes;
    for (const at of [0, 4, 5, 6, 37, 38, 39, 40, 41, header, header + salts - 1]) {
      expect(verifyAggregate(flipped(proof, at), statements), `byte ${at}`).toBe(false);
    }
    const bundle = aggregateSync(items);
    for (const [bytes, format] of [
      [proof, 1],
      [bundle, 2],
    ] as const) {
      // biome-ignore format: pairs
      const other = bytes.slice();
      other[4] = format;
      expect(verifyAggregate(other, statements)).toBe(false);
    }
  });

  it('is refused under a key that is not canonical', () => {
    // The last coefficient of h, in the last 14 bits, as itself plus q where that fits; else as the
    // largest number.
    const publicKey = statements[0]!.publicKey.slice();
    publicKey[publicKey.length - 1] = 0xff;
    publicKey[publicKey.length - 2]! |= 0x3f;
    const wrong = [{ ...statements[0]!, publicKey }, ...statements.slice(1)];
    const forged = proof.slice();
    forged.set(statementCommitment(wrong), 6);
    expect(verifyAggregate(forged, wrong)).toBe(false);
  });

  it('is refused cut, longer, or with a byte of its body changed', () => {
    const { header, salts, body } = inspectAggregate(proof).sizes;
    const bodyAt = header + salts;
    for (const length of [0, 5, 40, header, bodyAt - 1, bodyAt, bodyAt + 1, proof.length - 1]) {
      expect(verifyAggregate(proof.subarray(0, length), statements), `${length}`).toBe(false);
    }
    expect(verifyAggregate(Uint8Array.of(...proof, 0), statements)).toBe(false);
    const flips = NIGHTLY ? 200 : 10;
    for (let i = 0; i < flips; i++) {
      const at = bodyAt + Math.floor((i * (body - 1)) / (flips - 1));
      expect(verifyAggregate(flipped(proof, at, 1 << (i % 8)), statements), `${at}`).toBe(false);
    }
  });
});

describe('a proof whose items arrive in blocks', () => {
  it('is refused as soon as something is wrong in form', async () => {
    const bytes = await aggregate(mixed, { format: 'proof' });
    const header = parseHeader(bytes) as ParsedHeader;
    const items = statedItems(
      mixed,
      concat(...mixed.map(({ signature }) => saltOf({ signature }))),
    );
    const publicKey = items[0]!.publicKey.slice().fill(255, 1, 3);
    const message = Uint8Array.of(1);
    for (const [change, isTaken, isProved] of [
      [{}, true, true],
      [{ message }, true, false],
      [{ publicKey }, false, false],
    ] as const) {
      const opened = openProof({ bytes, header })!;
      expect(finished(opened.add([{ ...items[0]!, ...change }, ...items.slice(1)]))).toBe(isTaken);
      expect(isTaken && opened.conclude()).toBe(isProved);
      opened.close();
    }
    // a retry byte
    const wrong = bytes.with(header.bodyAt, 255);
    expect(openProof({ bytes: wrong, header })).toBe(undefined);
  });
});

describe('a proof in the making', { timeout: 120_000 }, () => {
  it('is of no use with a head about other statements, even if all else is right', async () => {
    const [item] = three as [Item];
    const batch = startBatch();
    batch.add([item]);
    const statement = statementCommitment(statementsOf(three));
    const forged = (await encodeProof({ ...batch.finish(), statement }))!;
    expect(verifyProof(openClaims(forged, statementsOf([item]))![0]!.claims[0]!)).toBe(true);
    for (const items of [[item], three]) {
      expect(verifyAggregate(forged, statementsOf(items))).toBe(false);
      expect(await verifyAggregateAsync(forged, statementsOf(items))).toBe(false);
    }
  });

  it('is not begun when a signature is invalid', async () => {
    const items = three.map((item, i) =>
      i === 1 ? { ...item, message: new Uint8Array(9) } : item,
    );
    const phases = new Set<string>();
    const onProgress = ({ phase }: { phase: string }) => void phases.add(phase);
    await expect(aggregate(items, { format: 'proof', onProgress })).rejects.toMatchObject({
      code: 'INVALID_SIGNATURES',
      invalid: [{ index: 1, reason: 'signatureMismatch' }],
    });
    expect([...phases]).toEqual(['verifying']);
  });

  it('tells how far it is, and never less than before', async () => {
    const seen: string[] = [];
    let last = 0;
    await aggregate(mixed, {
      format: 'proof',
      onProgress({ phase, done, total }) {
        expect(total).toBe(3);
        if (seen.at(-1) !== phase) {
          seen.push(phase);
          last = 0;
        }
        expect(done).toBeGreaterThanOrEqual(last);
        last = done;
      },
    });
    expect(seen).toEqual(['verifying', 'aggregating']);
    expect(last).toBe(3);
  });

  it('stops when its signal says so, and hands on what its hooks throw', async () => {
    const stop = new AbortController();
    const work = aggregate(mixed, {
      format: 'proof',
      signal: stop.signal,
      onProgress({ phase }) {
        if (phase === 'aggregating') stop.abort('enough');
      },
    });
    await expect(work).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
    const thrown = aggregate(three.slice(0, 1), {
      format: 'proof',
      onProgress({ phase }) {
        if (phase === 'aggregating') throw new RangeError('mine');
      },
    });
    await expect(thrown).rejects.toThrow('mine');
  });
});

it('a proof is refused under a header about other statements, though it proves these', async () => {
  const items = [signedItem('falcon512', 0)];
  const header = headerOf(items);
  const statements = items.map(({ publicKey, message }) => ({ publicKey, message }));
  // magic, format and version come before the commitment
  for (const [at, isValid] of [
    [undefined, true],
    [6, false],
    [37, false],
  ] as const) {
    const lying = header.slice();
    if (at !== undefined) lying[at]! ^= 1;
    const bytes = concat(lying, (await proveSection('falcon512', lying, items))!);
    expect(verifyAggregate(bytes, statements)).toBe(isValid);
    expect(await verifyAggregateAsync(bytes, statements)).toBe(isValid);
    expect(await verifyAggregateAsync(bytes, statements, { threads: 2 })).toBe(isValid);
  }
});
