/** Parts in the library: made and merged; a merger refuses, by its number, every bad one. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type AggregateItem,
  aggregateParts,
  mergeParts,
  type PartToMerge,
  type PoolPartsOptions,
  verifyAggregate,
} from '../../../src/aggregate/index.ts';
import { type MergedRow, readMergedRow } from '../../../src/aggregate/parameters/rows.ts';
import { provePart } from '../../../src/aggregate/proof/index.ts';
import { ethFalcon512 } from '../../../src/falcon/profiles/ethFalcon.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { commitmentOf, type SignedItem, signedItem } from '../../reference/items.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import { testKeys } from '../../support/ours.ts';
import { everyThread } from '../everyThread.ts';
import { hollowMerged, projectionField } from './hollowMerged.ts';
import { useRows, withRows } from './mergedFiles.ts';

const ROW = MERGED_TOY_ROWS['levels 0 and 1 hidden']!;
useRows([ROW]);

async function partOf(
  items: readonly AggregateItem[],
  options?: PoolPartsOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of aggregateParts(items, options)) parts.push(part);
  expect(parts).toHaveLength(1);
  return parts[0]!;
}

const items = [0, 1, 2].map((i) => signedItem('falcon512', i));
const [a, b, c] = items as [SignedItem, SignedItem, SignedItem];
let good: readonly PartToMerge[];
beforeAll(async () => {
  good = [
    { part: await partOf([a, b]), statements: [a, b] },
    { part: await partOf([c]), statements: [c] },
  ];
}, 60_000);

test('are merged to a proof of all statements, on any number of threads', async () => {
  const proof = await mergeParts(good);
  expect(verifyAggregate(proof, items)).toBe(true);
  expect(verifyAggregate(proof, items.toReversed())).toBe(false);
  const pool = everyThread({ threads: 2 });
  try {
    expect(await pool.mergeParts(good)).toEqual(proof);
    for await (const part of pool.aggregateParts([a, b])) expect(part).toEqual(good[0]!.part);
  } finally {
    await pool.close();
  }
  expect(verifyAggregate(await mergeParts(good.slice(1)), [c])).toBe(true);
});

test('tell their progress', async () => {
  const seen: string[] = [];
  await mergeParts(good, {
    onProgress: ({ phase, done, total }) => seen.push(`${phase} ${done} ${total}`),
  });
  expect(seen).toContain('verifying 3 3');
  expect(seen.at(-1)).toBe('aggregating 3 3');
});

/** The error with which the second part is refused. */
const refused = (index = 1) => expect.objectContaining({ code: 'BAD_PART', index, status: 422 });

const merge = (second: Partial<PartToMerge>) => mergeParts([good[0]!, { ...good[1]!, ...second }]);

describe('a bad part is named', () => {
  const { levels } = readMergedRow(ROW, 1);
  const output = 128 * (levels[0]!.f * levels[0]!.n + levels[0]!.m);

  test.each([
    ['magic', 0],
    ['format', 4],
    ['version', 5],
    ['the hash of the row', 6],
    ['the commitment to the statements', 38],
    ['the number of items', 38 + 33],
    ['the tag', 38 + 34],
    ['the profile', 38 + 40],
    ['a salt', 38 + 43],
    ['the first field', 38 + 43 + 40],
  ])('another byte in %s', async (_, at) => {
    const part = good[1]!.part.slice();
    part[at]! ^= 1;
    await expect(merge({ part })).rejects.toEqual(refused());
  });

  test('bytes of its fields and of its output', async () => {
    const { length } = good[1]!.part;
    const start = 38 + 43 + 40;
    const places = Array.from({ length: 40 }, (_, i) => start + 1 + i * 37);
    for (const at of [...places, length - output - 1]) {
      const part = good[1]!.part.slice();
      part[at]! ^= 4;
      await expect(merge({ part })).rejects.toEqual(refused());
    }
    for (let at = length - output; at < length; at += 8191) {
      const part = good[1]!.part.slice();
      part[at]! ^= 1;
      await expect(merge({ part })).rejects.toEqual(refused());
    }
  });

  test('cut, or longer', async () => {
    const { part } = good[1]!;
    for (const wrong of [part.slice(0, -2), part.slice(0, -1), new Uint8Array(0)]) {
      await expect(merge({ part: wrong })).rejects.toEqual(refused());
    }
    const longer = new Uint8Array(part.length + 2);
    longer.set(part);
    await expect(merge({ part: longer })).rejects.toEqual(refused());
  });

  test('for other statements', async () => {
    const { publicKey } = signedItem('falcon1024', 0);
    const key = c.publicKey.slice();
    key[5]! ^= 255;
    for (const statements of [
      [],
      [a],
      [c, c],
      [{ ...c, message: a.message }],
      [{ ...c, publicKey }],
      [{ ...c, publicKey: key }],
    ]) {
      await expect(merge({ statements })).rejects.toEqual(refused());
    }
    const [first, second] = good as [PartToMerge, PartToMerge];
    await expect(mergeParts([{ ...first, statements: [b, a] }, second])).rejects.toEqual(
      refused(0),
    );
  });

  test.each([
    ['is none', { ...c, publicKey: c.publicKey.slice().fill(255, 1, 3) }],
    ['is of another set', { ...signedItem('falcon1024', 0) }],
  ])('whose key %s, committed to as it is', async (_, item) => {
    const part = good[1]!.part.slice();
    part.set(commitmentOf([item]), 38);
    await expect(merge({ part, statements: [item] })).rejects.toEqual(refused());
  });

  test('a projection that is too long', async () => {
    const [, , zero] = ROW[0];
    const [inSq, code] = [zero[10] as number, zero[12] as number];
    const fields = new Map(hollowMerged(ROW, [[c]]));
    fields.set('part 1 y', projectionField(code, [Math.floor(Math.sqrt(72 * inSq)) + 1]));
    const own = [...fields].filter(([name]) => name === 'header 1' || name.startsWith('part 1 '));
    const { part } = good[1]!;
    const wrong = [part.slice(0, 38), ...own.map(([, bytes]) => bytes), new Uint8Array(output)];
    await expect(merge({ part: concat(...wrong) })).rejects.toEqual(refused());
  });
});

test('another commitment, with nothing else wrong, is refused', async () => {
  const made = async (change = 0) => {
    const header = good[1]!.part.slice(38, 38 + 43 + 40);
    header[0]! ^= change;
    const parameters = readMergedRow(ROW, 1);
    const { fields, output } = (await provePart('falcon512', parameters, header, [c]))!;
    return concat(good[1]!.part.slice(0, 38), header, fields, new Uint8Array(output.buffer));
  };
  expect(await made()).toEqual(good[1]!.part);
  await expect(merge({ part: await made(1) })).rejects.toEqual(refused());
});

test('a part of another part row is refused', async () => {
  const large = MERGED_TOY_ROWS['level 0 hidden, level 1 open and with one digit']!;
  const item = signedItem('falcon1024', 0);
  await withRows([ROW, large], async () => {
    const other = { part: await partOf([item]), statements: [item] };
    expect(verifyAggregate(await mergeParts([other]), [item])).toBe(true);
    await expect(mergeParts([good[0]!, other])).rejects.toEqual(refused());
    await expect(mergeParts([other, good[0]!])).rejects.toEqual(refused());
  });
});

test('parts of two profiles are not merged', async () => {
  const profile = 'eth-falcon';
  const { publicKey, secretKey } = testKeys(512, 0);
  const signature = ethFalcon512.sign(c.message, secretKey);
  const item = { publicKey, message: c.message, signature };
  const other = { part: await partOf([item], { profile }), statements: [item] };
  expect(verifyAggregate(await mergeParts([other]), [item], { profiles: [profile] })).toBe(true);
  await expect(mergeParts([good[0]!, other])).rejects.toEqual(refused());
});

test('parts that no projection passes for are not merged', async () => {
  const [[set, most, zero, [, ...bounds]], count, levels] = ROW;
  const narrow: MergedRow = [[set, most, zero, [1, ...bounds] as never], count, levels];
  await withRows([narrow], async () => {
    const part = { part: await partOf([c]), statements: [c] };
    await expect(mergeParts([part])).rejects.toThrow(expect.objectContaining({ code: 'NO_PROOF' }));
  });
});

test('signatures of another set, or invalid ones, make no part', async () => {
  await expect(partOf([signedItem('falcon1024', 0)])).rejects.toThrow(
    expect.objectContaining({ code: 'NO_PROOF' }),
  );
  for (const wrong of [
    [a, signedItem('falcon1024', 0)],
    [a, b, c],
  ]) {
    await expect(partOf(wrong)).rejects.toThrow(expect.objectContaining({ code: 'NO_PROOF' }));
  }
  const signature = a.signature.slice();
  signature[60]! ^= 1;
  await expect(partOf([b, { ...a, signature }])).rejects.toThrow(
    expect.objectContaining({
      code: 'INVALID_SIGNATURES',
      invalid: [expect.objectContaining({ index: 1 })],
    }),
  );
});

test('arguments are checked', async () => {
  await expect(mergeParts([])).rejects.toThrow(RangeError);
  await expect(mergeParts([...good, ...good])).rejects.toThrow('"parts" expected at most 2');
  await expect(mergeParts(7 as never)).rejects.toThrow(TypeError);
  for (const wrong of [7, null]) {
    await expect(mergeParts([wrong] as never)).rejects.toThrow('"parts[0]" expected an object');
  }
  await expect(mergeParts([{ statements: [] }] as never)).rejects.toThrow('"parts[0].part"');
  await expect(mergeParts(good, { parts: 1 } as never)).rejects.toThrow('unknown option');
  expect(() => aggregateParts([])).toThrow(RangeError);
  expect(() => aggregateParts([a], { format: 'proof' } as never)).toThrow('unknown option');
});

test('a merge is aborted, and closes its source', async () => {
  const stop = new AbortController();
  let isClosed = false;
  const source = (function* () {
    try {
      yield good[0]!;
      stop.abort('enough');
      yield good[1]!;
    } finally {
      isClosed = true;
    }
  })();
  await expect(mergeParts(source, { signal: stop.signal })).rejects.toThrow(
    expect.objectContaining({ code: 'ABORTED', cause: 'enough' }),
  );
  expect(isClosed).toBe(true);
});
