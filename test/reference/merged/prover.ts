/** The prover of docs/merged.md, slow and plain: parts (1.2), and one proof over them (1.7). */
import { headerOf, type SignedItem } from '../items.ts';
import type { Output } from '../prover/combine.ts';
import { Context } from '../prover/context.ts';
import { concat, u16 } from '../prover/encode.ts';
import type { ShownZero } from '../prover/identities.ts';
import { proveOrdinary } from '../prover/level.ts';
import { proveLevelZero } from '../prover/levelZero.ts';
import {
  type Levels,
  levelZeroOf,
  type Ordinary,
  ordinaryOf,
  partsAfter,
  type Tail,
  tailOf,
} from '../prover/parameters.ts';
import { proveTail } from '../prover/tail.ts';
import type { Faults, Trace } from '../prover/trace.ts';
import { decodeItem } from '../prover/witness.ts';
import { hashOfRow } from '../table.ts';
import type { LevelRow, MergedRow, PartRow } from '../tableRow.ts';
import { type Bounds, type MergeFaults, type Merging, proveMerged } from './level.ts';

const ATTEMPTS = 16;
const RETRIES = 16;
/** Format 4, version 1. */
const FIRST_BYTES = Uint8Array.of(...new TextEncoder().encode('FLRY'), 4, 1);
/** Magic, format and version, which the header of a part lacks. */
const FIRST_OF_HEADER = 6;
const MOST_INDEX = 143;
const MOST_NORM = 2 ** 43;

/** Level 0 of a part, up to and including `u2`, and everything that a merge needs of it. */
export interface Part {
  readonly row: PartRow;
  /** as absorbed: without magic, format and version */
  readonly header: Uint8Array;
  /** the fields of level 0 */
  readonly fields: Uint8Array;
  /** the state after `u2` */
  readonly st: Uint8Array;
  /** z_0, ..., v, and the claims about them */
  readonly output: Output;
  /** all values of level 0 */
  readonly shown: ShownZero;
}

export interface PartOptions {
  readonly trace?: Trace;
  readonly faults?: Faults;
  /** what is absorbed and sent as the header, for cheating provers */
  readonly header?: Uint8Array;
}

export interface MergeOptions extends Omit<PartOptions, 'header'> {
  readonly mergeFaults?: MergeFaults;
}

/** @throws RangeError for numbers outside the ranges of 1.1 */
export function readPartRow([set, bucket, row, numbers]: PartRow): Levels & { bounds: Bounds } {
  const zero = levelZeroOf(set, bucket, row);
  const { outSq, w, X } = zero.levels[0]!;
  const [inP, tP, XP, tXP] = numbers;
  const areBounds = inP >= outSq && XP >= X && Math.max(inP, XP) < MOST_NORM;
  const isOpen = w > 0 || (XP === 0 && tXP === 0);
  if (!areBounds || !isOpen || Math.max(tP, tXP) > MOST_INDEX) throw new RangeError('part row');
  return { ...zero, bounds: { inP, tP, XP, tXP } };
}

/** A merged row in words. */
export interface Merged {
  readonly merging: Merging;
  /** levels 2, 3, ... */
  readonly further: readonly Ordinary[];
  readonly tail: Tail;
}

/** @throws RangeError for numbers outside the ranges of 1.1 */
export function readMergedRow([partRow, most, rows]: MergedRow): Merged {
  const { levels, bounds } = readPartRow(partRow);
  const zero = levels[0]!;
  const { f, n, m } = zero;
  const segments = [...new Array<number>(f * most).fill(n), most * m];
  const ordinary = rows.slice(0, -1) as readonly LevelRow[];
  const made: Ordinary[] = [];
  for (const [i, row] of ordinary.entries()) {
    made.push(ordinaryOf(row, i + 1, i === 0 ? segments : partsAfter(made[i - 1]!)));
  }
  const [params, ...further] = made;
  if (params === undefined) throw new RangeError('no level but the tail');
  const { ct, inSq, tY } = params;
  if (ct !== 0 || inSq !== 0 || tY !== 0) throw new RangeError('level 1: ct, inSq or tY');
  return {
    merging: { zero, bounds, most, params },
    further,
    tail: tailOf(rows.at(-1)!, partsAfter(made.at(-1)!)),
  };
}

/** Section 1.2: the header of a part, which lacks magic, format and version. */
export const headerOfPart = (items: readonly SignedItem[], row: PartRow): Uint8Array =>
  headerOf(items, [hashOfRow(row)]).slice(FIRST_OF_HEADER);

/**
 * Level 0 of some items.
 *
 * @throws RangeError if an item is invalid, if there are too many, or if no retry succeeds
 */
export function provePart(
  items: readonly SignedItem[],
  row: PartRow,
  { trace, faults = {}, header = headerOfPart(items, row) }: PartOptions = {},
): Part {
  const parameters = readPartRow(row);
  const { degree, bucket } = parameters;
  if (items.length < 1 || items.length > bucket) throw new RangeError(`${items.length} items`);
  const decoded = items.map((item, index) => decodeItem(item, index, degree, faults.unchecked));
  let shown: unknown;
  const seeing: Trace = (event) => {
    if (event.kind === 'level') shown = event.values;
    trace?.(event);
  };
  const context = new Context(seeing, faults);
  const logn = degree === 512 ? 9 : 10;
  const start = concat(hashOfRow(row), Uint8Array.of(logn), u16(bucket), u16(items.length));
  context.absorb('falconry/part/v1', start);
  context.absorb('header', header);
  const run = context.run(0, () => proveLevelZero(context, parameters, decoded));
  if (run === undefined) throw new RangeError('level 0 fails with every retry byte');
  return {
    row,
    header,
    fields: concat(...run.fields),
    st: context.transcript.st,
    output: run.result,
    shown: shown as ShownZero,
  };
}

/**
 * The file of a merged proof.
 *
 * @throws RangeError if the row does not fit, or if no attempt succeeds
 */
export function mergeParts(
  parts: readonly Part[],
  row: MergedRow,
  { trace, faults = {}, mergeFaults = {} }: MergeOptions = {},
): Uint8Array {
  const merged = readMergedRow(row);
  const partHash = hashOfRow(row[0]);
  if (parts.length < 1 || parts.length > merged.merging.most) {
    throw new RangeError(`${parts.length} parts`);
  }
  if (parts.some((part) => JSON.stringify(part.row) !== JSON.stringify(row[0]))) {
    throw new RangeError('parts of another row');
  }
  const states = parts.map(({ st }) => st);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const context = new Context(trace, faults);
    const start = [Uint8Array.of(attempt), u16(parts.length), ...states];
    context.absorb('falconry/merge/v1', concat(partHash, hashOfRow(row), ...start));
    const fields = proveLevels(context, merged, parts, mergeFaults);
    if (fields === undefined) continue;
    return concat(
      FIRST_BYTES,
      partHash,
      u16(parts.length),
      ...parts.map(({ header }) => header),
      ...parts.map((part) => part.fields),
      Uint8Array.of(attempt),
      ...fields,
    );
  }
  throw new RangeError('every attempt fails');
}

/** The fields of level 1, of further levels and of the tail; undefined if level 1 fails. */
function proveLevels(
  context: Context,
  { merging, further, tail }: Merged,
  parts: readonly Part[],
  mergeFaults: MergeFaults,
): Uint8Array[] | undefined {
  const { st } = context.transcript;
  const outputs = parts.map(({ output }) => output);
  for (let retry = 0; retry < RETRIES; retry++) {
    context.transcript.st = st;
    const one = context.run(1, () => proveMerged(context, merging, outputs, mergeFaults), retry);
    if (one === undefined) return undefined;
    const rest = proveRest(context, further, tail, one.result);
    if (rest !== undefined) return [...one.fields, ...rest];
    ({ retry } = one);
  }
  return undefined;
}

/** The fields after level 1; undefined if a level fails with every retry byte. */
function proveRest(
  context: Context,
  further: readonly Ordinary[],
  tail: Tail,
  first: Output,
): Uint8Array[] | undefined {
  const sent: Uint8Array[] = [];
  let output = first;
  for (const [i, params] of further.entries()) {
    const run = context.run(i + 2, () => proveOrdinary(context, params, output));
    if (run === undefined) return undefined;
    sent.push(...run.fields);
    output = run.result;
  }
  const last = context.run(further.length + 2, () => proveTail(context, tail, output));
  return last === undefined ? undefined : [...sent, ...last.fields];
}
