/**
 * Parts, and the merging of them: one proof over many parts (docs/merged.md). Parts may be made by
 * anybody; a merger checks each against its statements before it is used.
 *
 * A part, format 5 (docs/merged.md, 1.7); mergedFormat.ts has the merged proof:
 *
 *   "FLRY" ‖ 5 ‖ 1 ‖ hash of the part row ‖ header ‖ fields of level 0 ‖ output, 16 bits each
 */
import type { ParameterSet } from '../falcon/index.ts';
import { copyBytes, typeName } from '../shared/arguments.ts';
import { concat, concatAll, equal } from '../shared/bytes.ts';
import { CodedError } from '../shared/errors.ts';
import type { HostSignal } from '../shared/hostTypes.ts';
import { Slices, throwIfAborted } from '../shared/threads/slices.ts';
import { copyStatements, readStatements } from './arguments.ts';
import type { AggregateItem } from './batch.ts';
import {
  encodePartHeader,
  kindOf,
  MAGIC,
  type ParsedHeader,
  parsePartHeader,
  SETS,
} from './container.ts';
import { HASH_BYTES, startOfMerged } from './mergedFormat.ts';
import { foldOn, partsFor, verifiedBatch } from './onThreads.ts';
import { haveSets, isAbout } from './openAggregate.ts';
import type {
  AggregateProgress,
  MergeOptions,
  PartToMerge,
  PoolAggregateOptions,
  ProfileOption,
} from './options.ts';
import { type MergedParameters, readMergedRow } from './parameters/rows.ts';
import {
  jobsOfPart,
  mergedParametersFor,
  mergedRowsOf,
  openPart,
  type PartOutput,
  type ProveOptions,
  proveMerge,
  provePart,
  statedItems,
  verifiedPart,
} from './proof/index.ts';
import { proveIn } from './proofFormat.ts';
import { completeSalts } from './salts.ts';
import { type Arriving, checkArriving, Source } from './sources.ts';
import type { Statement } from './statement.ts';
import type { AggregateThreads } from './threads.ts';

const PART = Uint8Array.of(...MAGIC, 5, 1);

/** The only set of the items for which parts exist. @throws CodedError `NO_PROOF` */
function parametersOfPart(items: readonly Statement[]): MergedParameters {
  for (const set of SETS) {
    const kinds = new Uint8Array(items.length).fill(kindOf(set, 'compressed'));
    const parameters = haveSets(items, kinds) ? mergedParametersFor(set, 1) : undefined;
    if (parameters !== undefined && items.length <= parameters.bucket) return parameters;
  }
  throw new CodedError('NO_PROOF', {
    message: 'A part takes signatures of Falcon-512 only, at most 5632',
  });
}

/**
 * Verifies items and makes a part of them, for options that have been checked.
 *
 * @throws CodedError as `aggregateParts` of index.ts
 */
export async function partWith(
  pool: AggregateThreads,
  items: readonly AggregateItem[],
  options: PoolAggregateOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { signal } = options;
  const parameters = parametersOfPart(items);
  const set: ParameterSet = `falcon${parameters.set}`;
  throwIfAborted(signal);
  const batch = await verifiedBatch(pool, pool.helpersFor(items, 'check', 'prove'), items, options);
  throwIfAborted(signal);
  const kinds = new Uint8Array(items.length).fill(kindOf(set, 'compressed'));
  const header = encodePartHeader({ ...batch, kinds }, parameters);
  const proving = provingOf(items.length, options);
  const made = await proveIn(pool, pool.helpersFor(items, 'prove'), proving, (own) =>
    provePart(set, parameters, header, batch.items, own),
  );
  if (made === undefined) throw new CodedError('NO_PROOF');
  const { buffer, byteOffset, byteLength } = made.output;
  const output = new Uint8Array(buffer, byteOffset, byteLength);
  return concat(PART, parameters.partHash, header, made.fields, output);
}

/** The options of a prover whose progress is told in items. */
function provingOf(
  total: number,
  options: ProfileOption & {
    readonly signal?: HostSignal;
    readonly onProgress?: (progress: AggregateProgress) => void;
  },
): ProveOptions {
  const { signal, onProgress, profile } = options;
  return {
    ...(profile && { profile }),
    ...(signal && { signal }),
    onProgress: (step) => {
      const done = Math.floor((total * step.done) / step.total);
      onProgress?.({ phase: 'aggregating', done, total });
    },
  };
}

/** A part that has been checked, with what a merged proof repeats of it. */
interface ReadyPart {
  readonly checked: PartOutput;
  readonly parameters: MergedParameters;
  readonly parsed: ParsedHeader;
  readonly header: Uint8Array;
  readonly fields: Uint8Array;
}

/** Checks a part (docs/merged.md, 1.7). @returns undefined if it is refused */
async function checkPart(
  pool: AggregateThreads,
  bytes: Uint8Array,
  statements: readonly Statement[],
  { signal }: MergeOptions,
  slices: Slices,
): Promise<ReadyPart | undefined> {
  const start = PART.length + HASH_BYTES;
  if (!PART.every((byte, i) => bytes[i] === byte)) return undefined;
  const rows = mergedRowsOf(bytes.subarray(PART.length, start));
  if (rows.length === 0) return undefined;
  const parameters = readMergedRow(rows[0]!, 1);
  const parsed = parsePartHeader(bytes, start, parameters);
  if (typeof parsed === 'string' || parsed.kinds.length !== statements.length) return undefined;
  const opened = openPart(parameters, bytes, parsed.bodyAt);
  if (opened === undefined) return undefined;
  const salts = completeSalts(parsed.salts, statements);
  if (!isAbout({ bytes, header: parsed, statements, salts })) return undefined;
  const header = bytes.slice(start, parsed.bodyAt);
  const helpers = pool.helpersFor(statements, 'verify');
  const items = statedItems(statements, salts);
  const { profile } = parsed;
  const checking = jobsOfPart(parameters, opened, header, profile, items, partsFor(helpers));
  if (checking === undefined) return undefined;
  const results = await foldOn(pool, helpers, checking.jobs, { signal, slices });
  const checked = verifiedPart(parameters, checking, opened, results);
  const fields = bytes.slice(opened.from, opened.to);
  return checked && { checked, parameters, parsed, header, fields };
}

/** Implements `mergeParts` of index.ts, for options that have been checked. */
export async function mergeWith(
  pool: AggregateThreads,
  parts: Arriving<PartToMerge>,
  options: MergeOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { signal, onProgress } = options;
  checkArriving('parts', parts, false);
  const ready: ReadyPart[] = [];
  let total = 0;
  const slices = new Slices(signal, () => onProgress?.({ phase: 'verifying', done: total }));
  const source = new Source(parts, signal);
  try {
    for (;;) {
      const next = await source.next();
      if (next === undefined) break;
      const index = ready.length;
      const { part, statements } = readPart(next.value, index);
      const made = await checkPart(pool, part, statements, options, slices);
      const [first = made] = ready;
      if (made === undefined || !isLike(first!, made)) throw new CodedError('BAD_PART', { index });
      if (mergedParametersFor(`falcon${made.parameters.set}`, index + 1) === undefined) {
        throw new RangeError(`"parts" expected at most ${index}`);
      }
      ready.push(made);
      total += statements.length;
    }
  } finally {
    await source.close();
  }
  const [first] = ready;
  if (first === undefined) throw new RangeError('"parts" expected at least one');
  onProgress?.({ phase: 'verifying', done: total, total });
  const parameters = mergedParametersFor(`falcon${first.parameters.set}`, ready.length)!;
  const proving = provingOf(total, options);
  const checked = ready.map((part) => part.checked);
  const rest = await proveIn(pool, pool.size, proving, (own) =>
    proveMerge(parameters, checked, own),
  );
  if (rest === undefined) throw new CodedError('NO_PROOF');
  return concatAll([
    startOfMerged(parameters),
    ...ready.map(({ header }) => header),
    ...ready.map(({ fields }) => fields),
    rest,
  ]);
}

/** Returns whether a merged proof may have both parts. */
const isLike = (one: ReadyPart, other: ReadyPart): boolean =>
  equal(one.parameters.partHash, other.parameters.partHash) &&
  one.parsed.profile === other.parsed.profile;

/** Copies a part and its statements. @throws TypeError for wrong types */
function readPart(value: unknown, index: number): PartToMerge {
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`"parts[${index}]" expected an object, got ${typeName(value)}`);
  }
  const { part, statements } = value as Partial<PartToMerge>;
  return {
    part: copyBytes(`parts[${index}].part`, part),
    statements: copyStatements(readStatements(statements)),
  };
}
