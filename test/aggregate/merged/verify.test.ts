/** The library's verifier of merged proofs: one proof of the slow prover, and what is no proof. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  extractSignatures,
  inspectAggregate,
  type Statement,
  verifyAggregate,
  verifyAggregateStream,
} from '../../../src/aggregate/index.ts';
import {
  type MergedFile,
  openMergedFile,
  openMergedProof,
  verifyMergedFile,
  verifyMergedFileIn,
} from '../../../src/aggregate/mergedFormat.ts';
import { readMergedRow } from '../../../src/aggregate/parameters/rows.ts';
import { MERGED_TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { type FoldJob, foldOnIdle, statedItems } from '../../../src/aggregate/proof/index.ts';
import { keepInstance, takeInstance } from '../../../src/aggregate/proof/instances.ts';
import { planMerged } from '../../../src/aggregate/proof/verifier/folds.ts';
import { parseZero } from '../../../src/aggregate/proof/verifier/parse.ts';
import { beginPart } from '../../../src/aggregate/proof/verifier/part.ts';
import { openMerged } from '../../../src/aggregate/proof/verifier/verifyMerged.ts';
import { joinSeries, seriesIdentity } from '../../../src/aggregate/series.ts';
import { bestModule } from '../../../src/aggregate/wasm.ts';
import { isCodedError } from '../../../src/shared/errors.ts';
import { commitmentOf, type SignedItem, signedItem } from '../../reference/items.ts';
import { headerOfPart } from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import { hashOfRow } from '../../reference/table.ts';
import { hex } from '../../support/hex.ts';
import { everyThread } from '../everyThread.ts';
import { finished, saltsOf } from '../proof/sections.ts';
import { bytesOf, hollowMerged, projectionField } from './hollowMerged.ts';
import { type MergedProof, mergedProof, placesOf, withRows } from './mergedFiles.ts';

const ROW = MERGED_TOY_ROWS['levels 0 and 1 hidden']!;
/** The same part row. */
const LARGER = MERGED_TOY_ROWS['levels 0 and 1 hidden, level 2 cut']!;

let proof: MergedProof;
let list: readonly SignedItem[];
let file: MergedFile;
beforeAll(async () => {
  proof = mergedProof(ROW, 2);
  list = proof.parts.flat();
  file = (await withRows([ROW], () => openMergedFile(proof.bytes))) as MergedFile;
}, 300_000);

/** Pieces of 1000 bytes. */
async function* piecesOf(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

/** The verdicts on one thread, on two, and of streams, which are the same. */
async function verdict(bytes: Uint8Array, statements: readonly Statement[] = list) {
  const pool = everyThread({ threads: 2 });
  try {
    const verdicts = await withRows([ROW, LARGER], async () => [
      verifyAggregate(bytes, statements),
      await pool.verifyAggregate(bytes, statements),
      await verifyAggregateStream(piecesOf(bytes), statements),
    ]);
    expect(new Set(verdicts).size).toBe(1);
    return verdicts[0];
  } finally {
    await pool.close();
  }
}

const inspected = (bytes: Uint8Array, rows = [ROW, LARGER]) =>
  withRows(rows, () => {
    try {
      return inspectAggregate(bytes);
    } catch (error) {
      if (isCodedError(error) && error.code === 'BAD_AGGREGATE') return error.cause;
      throw error;
    }
  });

test('is accepted for its list alone', async () => {
  expect(await verdict(proof.bytes)).toBe(true);
  const [a, b, c] = list as [SignedItem, SignedItem, SignedItem];
  const other = signedItem('falcon512', 7);
  for (const wrong of [[], [a, b], [b, c], [...list, other], [a, c, b], [c, a, b], [a, b, other]]) {
    expect(await verdict(proof.bytes, wrong)).toBe(false);
  }
  for (const set of ['falcon512', 'falcon1024'] as const) {
    const { publicKey } = signedItem(set, 9);
    expect(await verdict(proof.bytes, [a, b, { ...c, publicKey }])).toBe(false);
  }
});

test('is accepted for the profiles that the caller accepts', async () => {
  const profiles = ['fn-dsa-draft-2026-07'] as const;
  await withRows([ROW], async () => {
    expect(verifyAggregate(proof.bytes, list, { profiles })).toBe(false);
    expect(await verifyAggregateStream(piecesOf(proof.bytes), list, { profiles })).toBe(false);
  });
});

test('contains no signatures', async () => {
  await withRows([ROW], () => {
    expect(() => extractSignatures(proof.bytes, list)).toThrow(
      expect.objectContaining({ code: 'NO_SIGNATURES' }),
    );
    expect(() => extractSignatures(proof.bytes, list.slice(1))).toThrow(
      expect.objectContaining({ code: 'BAD_AGGREGATE' }),
    );
  });
});

test('is an element of a series', async () => {
  const series = joinSeries([proof.bytes, proof.bytes]);
  expect(await verdict(series, [...list, ...list])).toBe(true);
  expect(await verdict(series)).toBe(false);
  expect(await verdict(series, [...list, ...list.toReversed()])).toBe(false);
  const [info, { count, statement }] = await withRows([ROW], () => [
    inspectAggregate(series),
    inspectAggregate(proof.bytes),
  ]);
  expect(info).toMatchObject({ format: 'series', count: 6, claimedBits: 125 });
  expect(info.elements?.map(({ format }) => format)).toEqual(['merged', 'merged']);
  expect(info.statement).toEqual(seriesIdentity([info, info].map(() => ({ count, statement }))));
});

test('is inspected', async () => {
  const { bytes, parts } = proof;
  const info = await withRows([ROW], () => inspectAggregate(bytes));
  const headers = parts.map((items) => headerOfPart(items, ROW[0]));
  const salts = 40 * list.length;
  const header = 40 + headers.reduce((sum, { length }) => sum + length, 0) - salts;
  expect(info).toMatchObject({
    format: 'merged',
    version: 1,
    count: 3,
    profile: 'round3',
    profiles: { falcon512: 0 },
    saltRuns: [
      { coding: 'explicit', count: 2 },
      { coding: 'explicit', count: 1 },
    ],
    claimedBits: 126,
    parameterSets: ['falcon512'],
    items: list.map(() => ({ parameterSet: 'falcon512' })),
    sizes: { total: bytes.length, header, salts, body: bytes.length - header - salts },
  });
  expect(info.statement).toEqual(seriesIdentity(info.elements!));
  expect(info.elements).toHaveLength(2);
  for (const [i, element] of info.elements!.entries()) {
    const own = headers[i]!;
    expect(element).toMatchObject({
      format: 'proof',
      count: parts[i]!.length,
      rowTag: hex(own.slice(34, 38)),
      claimedBits: 126,
      statement: commitmentOf(parts[i]!),
      sizes: { total: own.length, salts: 40 * parts[i]!.length, body: 0 },
    });
  }
});

describe('start and headers', () => {
  const with1 = (at: number, value: number) => proof.bytes.with(at, value);

  test.each([
    ['another magic', 0, 0x47, 'magic'],
    ['an unknown format', 4, 5, 'format'],
    ['another version', 5, 2, 'version'],
    ['an unknown part row', 6, 0, 'table'],
    ['no parts', 38, 0, 'header'],
    ['more parts than any row has', 38, 4, 'header'],
    ['256 parts more', 39, 1, 'header'],
    ['more items than a part may have', 40 + 33, 3, 'header'],
    ['another tag', 40 + 34, 0, 'table'],
    ['an unknown profile', 40 + 40, 1, 'profile'],
  ])('%s', async (_, at, value, cause) => {
    expect(proof.bytes[at]).not.toBe(value);
    expect(await verdict(with1(at, value))).toBe(false);
    expect(await inspected(with1(at, value))).toBe(cause);
  });

  test('another profile in the second part', async () => {
    const at = 40 + file.parts[0]!.bytes.length + 40;
    expect(proof.bytes[at]).toBe(0);
    expect(await verdict(with1(at, 3))).toBe(false);
    expect(await inspected(with1(at, 3))).toBe('profile');
  });

  test('cut anywhere', async () => {
    for (let end = 0; end < file.bodyAt; end++) {
      const cut = proof.bytes.slice(0, end);
      expect(['magic', 'header']).toContain(await inspected(cut));
      if (end % 40 === 0) expect(await verdict(cut)).toBe(false);
    }
    expect(typeof (await inspected(proof.bytes.slice(0, file.bodyAt)))).toBe('object');
    // nothing is missing of what is wrong
    expect(await inspected(with1(6, 0).slice(0, 38))).toBe('table');
  });

  test('rows are those in use', async () => {
    expect(await inspected(proof.bytes, [])).toBe('table');
    expect(await inspected(proof.bytes, [MERGED_TABLE[0]!])).toBe('table');
    // two parts use the row of two, not that of three
    expect(await withRows([LARGER], () => verifyAggregate(proof.bytes, list))).toBe(false);
    const three = (await withRows([ROW, LARGER], () => {
      const hollow = hollowMerged(LARGER, [[list[0]!], [list[1]!], [list[2]!]]);
      return openMergedFile(bytesOf(hollow));
    })) as MergedFile;
    expect(hex(three.parameters.rowHash)).toBe(hex(hashOfRow(LARGER)));
    expect(three.parts).toHaveLength(3);
  });
});

test('fields that are changed, cut off or continued are refused', async () => {
  const { bytes } = proof;
  const { parameters, bodyAt } = file;
  const fields = openMerged(parameters, bytes, bodyAt)!;
  const places = placesOf(fields, bytes);
  expect(places.length).toBeGreaterThan(12);
  // where byte strings begin and end, hence where other fields do
  const borders = places.flatMap(({ at, length }) => [at, at + length]);
  for (const at of new Set([bodyAt, ...borders, bytes.length - 1])) {
    const flipped = bytes.with(at, bytes[at]! ^ (1 << (at % 8)));
    expect(await withRows([ROW], () => verifyAggregate(flipped, list)), `${at}`).toBe(false);
    expect(openMerged(parameters, bytes.subarray(0, at), bodyAt)).toBe(undefined);
  }
  expect(await verdict(Uint8Array.from([...bytes, 0]))).toBe(false);
  expect(await verdict(bytes.slice(0, -1))).toBe(false);
  // a salt, and the last field
  for (const at of [bodyAt - 1, bytes.length - 100]) {
    expect(await verdict(bytes.with(at, bytes[at]! ^ 1))).toBe(false);
  }
});

describe('right in form alone', () => {
  const parts = [[signedItem('falcon512', 0)], [signedItem('falcon512', 1)]];

  test('numbers that are all zero', async () => {
    expect(await verdict(bytesOf(hollowMerged(ROW, parts)), parts.flat())).toBe(false);
  });

  test.each([0, 1])('a key of part %i that is none', async (part) => {
    const item = parts[part]![0]!;
    const publicKey = item.publicKey.slice().fill(255, 1, 3);
    const changed = parts.with(part, [{ ...item, publicKey }]);
    expect(await verdict(bytesOf(hollowMerged(ROW, changed)), changed.flat())).toBe(false);
  });

  test.each([1, 2])('a projection of level 0 of part %i that is too long', async (part) => {
    const [, , zero] = ROW[0];
    const [inSq, code] = [zero[10] as number, zero[12] as number];
    const y = projectionField(code, [Math.floor(Math.sqrt(72 * inSq)) + 1]);
    const bytes = bytesOf(hollowMerged(ROW, parts), { [`part ${part} y`]: y });
    expect(await verdict(bytes, parts.flat())).toBe(false);
  });

  test.each([1, 2])('a functional of part %i that is out of range', async (part) => {
    const w = new Uint8Array(40).fill(127, 36);
    const bytes = bytesOf(hollowMerged(ROW, parts), { [`part ${part} w`]: w });
    expect(await verdict(bytes, parts.flat())).toBe(false);
  });
});

test('items may arrive one by one, and every part frees its memory', async () => {
  const module = bestModule();
  const lab = takeInstance(module, 'rest');
  keepInstance(module, 'rest', lab);
  const mark = lab.kernels.mark();
  const items = proof.parts.flatMap((part) => statedItems(part, saltsOf(part)));
  const opened = openMergedProof(file)!;
  expect(items.map((item) => finished(opened.add([item])))).toEqual([true, true, true]);
  expect(lab.kernels.mark()).toBe(mark);
  expect(opened.conclude()).toBe(true);
  opened.close();
  const again = takeInstance(module, 'rest');
  expect(again).toBe(lab);
  keepInstance(module, 'rest', lab);

  const bad = openMergedProof(file)!;
  const publicKey = items[0]!.publicKey.slice().fill(255, 1, 3);
  expect(finished(bad.add([{ ...items[0]!, publicKey }]))).toBe(false);
  bad.close();
});

test('a fold that fails elsewhere, as if its module had trapped, is a refusal', async () => {
  const items = proof.parts.map((statements) => ({ statements, salts: saltsOf(statements) }));
  const verified = (failing?: FoldJob['kind']) =>
    verifyMergedFileIn(file, items, 4, async (jobs) =>
      jobs.map((job) => (job.kind === failing ? undefined : finished(foldOnIdle(job)))),
    );
  expect(await verified()).toBe(true);
  for (const kind of ['items', 'keys', 'rows'] as const) expect(await verified(kind)).toBe(false);
});

test('on one thread no fold is divided, however few the items', () => {
  const parameters = readMergedRow(MERGED_TABLE[0]!, 2);
  const seed = new Uint8Array(32);
  const level = { jl: seed, lift: seed, combine: seed, amortise: seed };
  const first = { ...level, alpha: seed, rho: seed };
  const items = statedItems(list.slice(0, 1), saltsOf(list.slice(0, 1)));
  const more = { set: 'falcon512', profile: 'round3', count: 1, items } as const;
  const input = { ...more, parameters, seeds: { first } };
  const tail = { ...level, stateOfT: seed, stateOfH: seed };
  const seeds = { ordinary: parameters.levels.slice(1).map(() => level), tail };
  const planned = (parts: number) => planMerged([input, input], parameters, seeds, parts);
  // the keys, then every level after the first
  const once = 1 + parameters.levels.length;
  expect(planned(1).parts.map(({ length }) => length)).toEqual([1, 1]);
  expect(planned(1).rest.jobs).toHaveLength(once);
  expect(planned(8).rest.jobs.length).toBeGreaterThan(once);
});

test.each([0, 1])('another commitment in part %i, with nothing else wrong', async (part) => {
  const { parts, bytes } = mergedProof(ROW, 2, (header, i) =>
    i === part ? header.with(3, header[3]! ^ 1) : header,
  );
  const forged = (await withRows([ROW], () => openMergedFile(bytes))) as MergedFile;
  const items = parts.map((statements) => ({ statements, salts: saltsOf(statements) }));
  expect(verifyMergedFile(forged, items)).toBe(true);
  expect(await verdict(bytes)).toBe(false);
});

test('attempts are at most 15, and are absorbed', async () => {
  const { parameters, bodyAt } = file;
  const second = parseZero(parameters, proof.bytes, bodyAt)!.end;
  const at = parseZero(parameters, proof.bytes, second)!.end;
  expect(proof.bytes[at]).toBe(0);
  const open = (attempt: number) => openMerged(parameters, proof.bytes.with(at, attempt), bodyAt);
  expect(open(15)?.attempt).toBe(15);
  expect(open(16)).toBe(undefined);
  expect(await verdict(proof.bytes.with(at, 1))).toBe(false);
});

describe('bounds of projections', () => {
  const [[, , zero, [inP, tP, XP, tXP]]] = ROW;
  const parameters = readMergedRow(ROW, 2);
  const fields = hollowMerged(ROW, [[signedItem('falcon512', 0)], [signedItem('falcon512', 1)]]);
  const at = [...fields].findIndex(([name]) => name === 'part 1 retry');
  const bodyAt = [...fields].slice(0, at).reduce((sum, [, { length }]) => sum + length, 0);
  const open = (name: string, code: number, value: number) =>
    openMerged(parameters, bytesOf(fields, { [name]: projectionField(code, [value]) }), bodyAt);
  /** The largest y' that alone has a norm of at most 288 times the bound. */
  const largest = (bound: number) => Math.floor(Math.sqrt(72 * bound));

  test.each([
    ['level 1 y 1', tP, inP],
    ['level 1 y 2', tP, inP],
    ['level 1 yx 1', tXP, XP],
    ['level 1 yx 2', tXP, XP],
  ])('%s', (name, code, bound) => {
    expect(open(name, code, largest(bound))).toBeDefined();
    expect(open(name, code, largest(bound) + 1)).toBe(undefined);
  });

  test.each([0, 1])('of level 0 of part %i', (part) => {
    const [inSq, code] = [zero[10] as number, zero[12] as number];
    const begun = (value: number) => {
      const changed = projectionField(code, [value]);
      const bytes = bytesOf(fields, { [`part ${part + 1} y`]: changed });
      const start = part === 0 ? bodyAt : parseZero(parameters, bytes, bodyAt)!.end;
      const own = parseZero(parameters, bytes, start)!.fields;
      const header = new Uint8Array(0);
      const more = { profile: 'round3', header, count: 1, items: undefined } as const;
      return beginPart({ parameters, fields: own, ...more });
    };
    expect(begun(largest(inSq))).toBeDefined();
    expect(begun(largest(inSq) + 1)).toBe(undefined);
  });
});
