/** The vectors for other implementations: the library finds what each file says. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  aggregate,
  aggregateParts,
  aggregateSync,
  extractSignatures,
  inspectAggregate,
  mergeParts,
  type PartToMerge,
  verifyAggregate,
  verifyAggregateStream,
} from '../../src/aggregate/index.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { HEADER_REASONS } from '../reference/cases.ts';
import { frozenCases, frozenMerged, frozenSeries, VECTORS } from '../reference/frozenCases.ts';
import { MERGED_PARTS, mergedCases } from '../reference/mergedCases.ts';
import { seriesCases } from '../reference/seriesCases.ts';

const LONG = { timeout: 600_000 };
const { good, bad } = frozenCases();

/** The reason that inspectAggregate gives; undefined if it reads the header. */
function faultOf(bytes: Uint8Array): unknown {
  try {
    inspectAggregate(bytes);
    return undefined;
  } catch (error) {
    if (isCodedError(error) && error.code === 'BAD_AGGREGATE') return error.cause;
    throw error;
  }
}

const isBundle = (bytes: Uint8Array): boolean => inspectAggregate(bytes).format === 'bundle';

describe('the vectors', () => {
  test('are of both formats and both sets, with salts and reasons of all kinds', () => {
    const infos = good.map((one) => inspectAggregate(one.aggregate));
    for (const format of ['proof', 'bundle']) {
      const own = infos.filter((info) => info.format === format);
      expect(new Set(own.map((info) => info.parameterSets.join()))).toEqual(
        new Set(['falcon512', 'falcon1024', 'falcon512,falcon1024']),
      );
      const codings = own.flatMap(({ saltRuns }) => saltRuns.map(({ coding }) => coding));
      expect(new Set(codings)).toEqual(new Set(['explicit', 'constant', 'derived']));
    }
    const proofs = infos.filter(({ format, parameterSets }) => {
      return format === 'proof' && parameterSets.length === 1;
    });
    expect(new Set(proofs.map(({ count }) => count))).toEqual(new Set([1, 2, 3, 5, 9, 17, 33]));
    const reasons = bad.map(({ reason }) => reason).filter((reason) => reason !== undefined);
    const behindHeader = ['key', 'list', 'derivedSalt', 'bytes', 'proof', 'signature'];
    expect(new Set(reasons)).toEqual(new Set([...HEADER_REASONS, ...behindHeader]));
    // where several rules are broken, none is named
    expect(bad.length - reasons.length).toBeLessThan(8);
    const names = [...good, ...bad].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('that are bad change every field of two hidden levels, and of those behind them', () => {
    const flips = bad.map(({ name }) => /^9 items, level (\d \w+): a bit/.exec(name)?.[1]);
    const fields = new Set(flips.filter((field) => field !== undefined));
    const ofZero = ['0 pA', '0 pB', '0 pb', '0 b32', '0 p2'];
    const ofOne = ['1 p1', '1 yx', '1 UVx', '1 pb', '1 p2'];
    expect(fields).toEqual(new Set([...ofZero, ...ofOne, '2 yx', '2 UVx']));
  });

  test('that are good are accepted', LONG, () => {
    const refused = good.filter((one) => !verifyAggregate(one.aggregate, one.items));
    expect(refused.map(({ name }) => name)).toEqual([]);
  });

  test('that are good are what the library makes of their items', LONG, async () => {
    for (const { name, aggregate: bytes, items } of good) {
      if (isBundle(bytes)) {
        expect(aggregateSync(items), name).toEqual(bytes);
        const signatures = items.map(({ signature }) => signature);
        expect(extractSignatures(bytes, items), name).toEqual(signatures);
      } else {
        const made = await aggregate(items, { format: 'proof' });
        expect(Buffer.compare(made, bytes), name).toBe(0);
      }
    }
  });

  test('that are bad are refused', LONG, () => {
    const accepted = bad.filter((one) => verifyAggregate(one.aggregate, one.items));
    expect(accepted.map(({ name }) => name)).toEqual([]);
  });

  test('that are bad are refused as streams, too', LONG, async () => {
    // Every bundle, and some proofs: most of what is checked of these is common.
    const own = bad.filter(({ name }, i) => /^bundle|for its/.test(name) || i % 9 === 0);
    expect(own.length).toBeGreaterThan(60);
    const accepted: string[] = [];
    for (const { name, aggregate: bytes, items } of own) {
      if (await verifyAggregateStream([bytes], items)) accepted.push(name);
    }
    expect(accepted).toEqual([]);
  });

  test.each(HEADER_REASONS)('inspectAggregate says %s', (reason) => {
    const own = bad.filter((one) => one.reason === reason);
    const faults = own.map(({ name, aggregate: bytes }) => [name, faultOf(bytes)]);
    expect(faults).toEqual(own.map(({ name }) => [name, reason]));
  });

  test('inspectAggregate reads every header that it cannot find a fault in', () => {
    const seen: readonly unknown[] = HEADER_REASONS;
    const named = bad.filter(({ reason }) => reason !== undefined && !seen.includes(reason));
    expect(named.length).toBeGreaterThan(50);
    const faults = [...good, ...named].filter((one) => faultOf(one.aggregate) !== undefined);
    expect(faults.map(({ name }) => name)).toEqual([]);
  });
});

describe('the series among the vectors', () => {
  const series = frozenSeries();

  test('are those that good cases make', () => {
    const stored = (name: string) => JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8'));
    expect(stored('series.json')).toEqual(seriesCases(stored('good.json')));
    expect(series.filter(({ valid }) => valid).length).toBe(4);
  });

  test.each(series)('$name', LONG, async ({ aggregate: bytes, items, valid, reason }) => {
    expect(verifyAggregate(bytes, items)).toBe(valid);
    expect(await verifyAggregateStream([bytes], items)).toBe(valid);
    const seen: readonly unknown[] = HEADER_REASONS;
    // where several rules are broken, none is named
    if (valid || reason !== undefined) {
      expect(faultOf(bytes)).toBe(seen.includes(reason) ? reason : undefined);
    }
  });
});

describe('the merged proofs among the vectors', () => {
  const merged = frozenMerged();

  test('are one that the library makes, and edits of it', LONG, async () => {
    const [{ items, aggregate: bytes }] = merged as [(typeof merged)[0]];
    const parts: PartToMerge[] = [];
    let at = 0;
    for (const { length } of MERGED_PARTS) {
      const statements = items.slice(at, (at += length));
      for await (const part of aggregateParts(statements)) parts.push({ part, statements });
    }
    expect(Buffer.compare(await mergeParts(parts), bytes)).toBe(0);
    const stored = JSON.parse(readFileSync(new URL('merged.json', VECTORS), 'utf8'));
    expect(stored).toEqual(mergedCases(bytes));
  });

  test.each(merged)('$name', LONG, async ({ aggregate: bytes, items, valid, reason }) => {
    expect(verifyAggregate(bytes, items)).toBe(valid);
    expect(await verifyAggregateStream([bytes], items)).toBe(valid);
    const seen: readonly unknown[] = HEADER_REASONS;
    expect(faultOf(bytes)).toBe(seen.includes(reason) ? reason : undefined);
  });
});
