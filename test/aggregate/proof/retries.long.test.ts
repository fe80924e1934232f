/**
 * The prover when levels fail (docs/protocol.md, 12): the next retry byte; after 16 of
 * them at a level above 0, level 0 again with its next one; after those of level 0, no proof. The
 * library's table is replaced by rows whose bound on the output lies within what honest outputs
 * have, so that real attempts fail for a real reason.
 */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { aggregate, type FormatChoice, verifyAggregate } from '../../../src/aggregate/index.ts';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { proveSection } from '../../../src/aggregate/proof/index.ts';
import { headerOf, type SignedItem, signedItems } from '../../reference/items.ts';
import { proveReference } from '../../reference/prover/prove.ts';
import { fact } from '../../support/facts.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY } from '../../support/run.ts';
import { TOY2 } from '../reference/toyRows.ts';
import { judge, saltsOf } from './sections.ts';

const LONG = { timeout: 600_000 };

const tables = vi.hoisted(() => ({
  inUse: [] as unknown[],
  real: [] as unknown[],
}));
vi.mock('../../../src/aggregate/parameters/table.gen.ts', async (importOriginal) => {
  const real =
    await importOriginal<typeof import('../../../src/aggregate/parameters/table.gen.ts')>();
  tables.real = [...real.TABLE];
  return { ...real, TABLE: tables.inUse };
});
const realRow = (count: number): TableRow =>
  (tables.real as TableRow[]).find(([set, bucket]) => set === 512 && bucket >= count)!;
const use = (row: TableRow): number => tables.inUse.splice(0, tables.inUse.length, row).length;
afterEach(() => tables.inUse.splice(0));

/** Absorbed as the hash of every row, so that other bounds leave the attempts as they are. */
const hash = new Uint8Array(32);

/** Where a level has the bound on its output. */
const outSqAt = ([, , levels]: TableRow, level: number): number =>
  level === levels.length - 1 ? 4 : 11;

function withOutSq(row: TableRow, level: number, outSq: number): TableRow {
  const [set, bucket, levels] = row;
  const at = outSqAt(row, level);
  return [set, bucket, levels.with(level, levels[level]!.with(at, outSq))];
}

interface Attempt {
  readonly level: number;
  readonly retry: number;
}

/** The state after absorb("retry", u8): SHAKE256(1 ‖ st ‖ 5 ‖ "retry" ‖ u64(1) ‖ byte). */
function retried(st: Uint8Array, retry: number): string {
  const hash = createHash('shake256', { outputLength: 64 });
  hash.update(Uint8Array.of(1)).update(st).update(Uint8Array.of(5)).update('retry');
  return hash.update(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, retry)).digest('hex');
}

/**
 * Proves one item, and says what was tried: an attempt at level 0 is one that starts from the state
 * after the header, a retry byte of 0 is the next level, any other one the same level.
 */
async function prove(
  row: TableRow,
  isEnough: (attempt: Attempt) => boolean = () => false,
  items: readonly SignedItem[] = signedItems('falcon512', 1),
) {
  const header = headerOf(items);
  const attempts: Attempt[] = [];
  const enough = new AbortController();
  let start = new Uint8Array();
  const bytes = await proveSection('falcon512', header, items, {
    signal: enough.signal,
    other: { row, hash },
    trace: (event) => {
      if (event.kind !== 'absorb') return;
      if (event.label === 'header') start = Uint8Array.from(event.st);
      if (event.label !== 'retry') return;
      const retry = event.data[0]!;
      const before = attempts.at(-1)?.level ?? 0;
      const isFirst = hex(event.st) === retried(start, retry);
      attempts.push({ level: isFirst ? 0 : before + (retry === 0 ? 1 : 0), retry });
      if (isEnough(attempts.at(-1)!)) enough.abort();
    },
  }).catch((error) => {
    if (!enough.signal.aborted) throw error;
    return undefined;
  });
  const section = { set: 'falcon512', header, items, salts: saltsOf(items) } as const;
  return { bytes, attempts, section };
}

/** Every step from one attempt to the next is one of the three that there are. */
function expectLegal(attempts: readonly Attempt[]): void {
  expect(attempts[0]).toEqual({ level: 0, retry: 0 });
  let zero = 0;
  for (const [i, { level, retry }] of attempts.entries()) {
    if (i === 0) continue;
    const before = attempts[i - 1]!;
    if (level === before.level) expect(retry).toBe(before.retry + 1);
    else if (level === before.level + 1) expect(retry).toBe(0);
    else expect([before.retry, level, retry]).toEqual([15, 0, zero + 1]);
    if (level === 0) zero = retry;
  }
}

/**
 * The largest bound with which a level fails 16 times after level 0 with 0. What fails under a
 * larger bound fails under a smaller one, so halving finds it.
 */
async function boundInVain(row: TableRow, level: number, items: readonly SignedItem[]) {
  let [fails, passes] = [1, Number(row[2][level]![outSqAt(row, level)])];
  const isSecond = (attempt: Attempt) => attempt.level === 0 && attempt.retry > 0;
  while (passes - fails > 1) {
    const bound = Math.floor((fails + passes) / 2);
    const { attempts } = await prove(withOutSq(row, level, bound), isSecond, items);
    if (attempts.some(isSecond)) fails = bound;
    else passes = bound;
  }
  return fails;
}

/**
 * A proof that took a later retry of level 0, because `level` failed 16 times after the first one.
 * In one of 16 cases the first one is the luckiest of all, and there is no proof under that bound:
 * so several items are tried.
 */
async function proveInVainFirst(row: TableRow, level: number) {
  for (const item of signedItems('falcon512', 8)) {
    const tight = withOutSq(row, level, await boundInVain(row, level, [item]));
    const { bytes, ...rest } = await prove(tight, undefined, [item]);
    if (bytes !== undefined) return { row: tight, bytes, ...rest };
  }
  throw new Error('no later retry of level 0 led to a proof');
}

/** Three levels with ranks of nearly nothing: an attempt takes milliseconds. */
const THREE = TOY2 as unknown as TableRow;

describe('a level above 0 has used up its retries', () => {
  test.for([
    ['the tail', 2],
    ['the level between', 1],
  ] as const)(
    '%s: level 0 runs again (nightly: as with the slow prover)',
    LONG,
    async ([name, level], context) => {
      const { row, bytes, attempts, section } = await proveInVainFirst(THREE, level);
      expectLegal(attempts);
      expect(attempts).toContainEqual({ level, retry: 15 });
      expect(bytes[0]).toBeGreaterThan(0);
      expect(bytes[0]).toBe(attempts.findLast((attempt) => attempt.level === 0)!.retry);
      expect(judge({ ...section, bytes }, { other: { row, hash } })).toBe(bytes.length);

      const { length } = attempts;
      fact(context, 'retries', `${name} fails: level 0 with ${bytes[0]}, ${length} attempts`);
      if (!NIGHTLY) return;
      const tried: number[] = [];
      const slowBytes = proveReference({
        ...section,
        row,
        rowHash: hash,
        trace: (event) => {
          if (event.kind === 'absorb' && event.label === 'retry') tried.push(event.data[0]!);
        },
      });
      expect(tried).toEqual(attempts.map(({ retry }) => retry));
      expect(hex(bytes)).toBe(hex(slowBytes));
    },
  );

  test('no proof after all of level 0: 16 times 17 attempts', LONG, async () => {
    const { bytes, attempts } = await prove(withOutSq(THREE, 1, 1));
    expect(bytes).toBeUndefined();
    expectLegal(attempts);
    expect(attempts.length).toBe(16 * 17);
    expect(attempts.at(-1)).toEqual({ level: 1, retry: 15 });
  });
});

describe('no proof', () => {
  test('level 0 fails 16 times', LONG, async () => {
    const { bytes, attempts } = await prove(withOutSq(THREE, 0, 1));
    expect(bytes).toBeUndefined();
    expect(attempts).toEqual(Array.from({ length: 16 }, (_, retry) => ({ level: 0, retry })));
  });

  test('the caller gets the bundle, or the reason if a proof was forced', LONG, async () => {
    const items = signedItems('falcon512', 110);
    const row = realRow(items.length);
    use(row);
    const choices: FormatChoice[] = [];
    const onFormat = (choice: FormatChoice) => choices.push(choice);
    const proof = await aggregate(items, { onFormat });
    expect(choices.at(-1)).toMatchObject({ format: 'proof', reason: 'smaller' });
    expect(verifyAggregate(proof, items)).toBe(true);

    use(withOutSq(row, 0, 1));
    const bundle = await aggregate(items, { onFormat });
    expect(choices.at(-1)).toMatchObject({ format: 'bundle', reason: 'noProof' });
    expect(verifyAggregate(bundle, items)).toBe(true);
    await expect(aggregate(items, { format: 'proof' })).rejects.toMatchObject({ code: 'NO_PROOF' });
  });
});
