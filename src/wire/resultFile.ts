/**
 * The result file: a JSON object with an aggregate and its description, written by the workers and
 * the command line.
 *
 * It is written canonically: fixed fields in a fixed order, no blanks, lower-case hex, a newline at
 * the end. The reader accepts any JSON object with these fields and ignores others.
 */
import { inspectAggregate, joinSeries, verifyAggregate } from '../aggregate/index.ts';
import { equal, writeHex } from '../shared/bytes.ts';
import { CodedError, isCodedError } from '../shared/errors.ts';
import { decodeUtf8 } from '../shared/utf8.ts';
import { decodeWireHex, encodeWireHex } from './hex.ts';
import { parseJsonFile } from './taskFile.ts';
import type { Statement, TaskItem } from './triple.ts';

const RESULT_FILE_VERSION = 1;

/** `mixed` if both sets occur. */
export type ResultParameterSet = 'falcon512' | 'falcon1024' | 'mixed';

const SIZE_NAMES = ['aggregate', 'salts', 'signatures', 'public_keys', 'digests'] as const;

/** Sizes in bytes of the aggregate, of its salts, and of its source items. */
export type ResultSizes = Readonly<Record<(typeof SIZE_NAMES)[number], number>>;

/** Milliseconds per phase: `verify_ms`, `aggregate_ms`; others may be added. */
export type ResultTimings = Readonly<Record<string, number>>;

export interface ResultFile {
  readonly version: typeof RESULT_FILE_VERSION;
  /** The task's id; null if the file was not made by a service. */
  readonly processId: number | null;
  readonly count: number;
  /** The format of the aggregate: `bundle`, `proof`, `merged` or `series`. */
  readonly format: string;
  readonly parameterSet: ResultParameterSet;
  /**
   * Commitment to the ordered (parameter set, public key, digest) list, 32 bytes; for a series or a
   * merged proof, a hash of those of its elements.
   */
  readonly statement: Uint8Array;
  readonly aggregate: Uint8Array;
  readonly sizes: ResultSizes;
  readonly timings: ResultTimings;
}

/** Maximum size of a file: holds a series of 2,000 proofs in hex, of 11 million signatures. */
const MAX_RESULT_FILE_BYTES = 256 * 1024 * 1024;

const MAX_AGGREGATE_BYTES = MAX_RESULT_FILE_BYTES / 2;

/**
 * Builds the result file of an aggregate and its source items.
 *
 * @throws CodedError `BAD_AGGREGATE` if the bytes are not an aggregate
 */
export function makeResultFile(made: {
  readonly processId: number | null;
  readonly aggregate: Uint8Array;
  readonly items: readonly TaskItem[];
  readonly timings: ResultTimings;
}): ResultFile {
  const { processId, aggregate, items, timings } = made;
  return { processId, ...aboutAggregate(aggregate, sourceSizes(items)), timings };
}

type SourceSizes = Omit<ResultSizes, 'aggregate' | 'salts'>;

/** Returns the sizes of the source items of an aggregate. */
export function sourceSizes(items: readonly TaskItem[]): SourceSizes {
  const bytesOf = (field: keyof TaskItem) => items.reduce((sum, i) => sum + i[field].length, 0);
  const signatures = bytesOf('signature');
  return { signatures, public_keys: bytesOf('publicKey'), digests: bytesOf('message') };
}

/**
 * Builds the result file of a list from its aggregates, in order: of a series, if there are
 * several.
 *
 * @throws RangeError unless there are 1 to 4096
 */
export function joinResultFile(made: {
  readonly processId: number;
  readonly aggregates: readonly Uint8Array[];
  /** Of all source items, in parts. */
  readonly sizes: readonly SourceSizes[];
  readonly timings: ResultTimings;
}): ResultFile {
  const { processId, aggregates, timings } = made;
  const sum = (name: keyof SourceSizes) => made.sizes.reduce((all, sizes) => all + sizes[name], 0);
  const [signatures, public_keys, digests] = [
    sum('signatures'),
    sum('public_keys'),
    sum('digests'),
  ];
  const aggregate = aggregates.length === 1 ? aggregates[0]! : joinSeries(aggregates);
  return {
    processId,
    ...aboutAggregate(aggregate, { signatures, public_keys, digests }),
    timings,
  };
}

function aboutAggregate(aggregate: Uint8Array, sizes: SourceSizes) {
  const info = inspectAggregate(aggregate);
  return {
    version: RESULT_FILE_VERSION,
    count: info.count,
    format: info.format,
    parameterSet: parameterSetOf(info.parameterSets),
    statement: info.statement,
    aggregate,
    sizes: { aggregate: aggregate.length, salts: info.sizes.salts, ...sizes },
  } as const;
}

/** Formats a result file as text; equal contents give equal texts. */
export const formatResultFile = (result: ResultFile): string =>
  decodeUtf8(encodeResultFile(result));

/** Returns that text in UTF-8. A series may be long: its digits never become a string. */
export function encodeResultFile(result: ResultFile): Uint8Array<ArrayBuffer> {
  // Microseconds are the finest resolution of the clocks.
  const rounded = (ms: number) => Math.round(ms * 1000) / 1000;
  const timings = Object.entries(result.timings).map(([name, ms]) => [name, rounded(ms)]);
  const fields = {
    version: result.version,
    process_id: result.processId,
    count: result.count,
    format: result.format,
    parameter_set: result.parameterSet,
    statement: encodeWireHex(result.statement),
    aggregate: '0x',
    sizes: Object.fromEntries(SIZE_NAMES.map((name) => [name, result.sizes[name]])),
    timings: Object.fromEntries(timings),
  };
  const text = `${JSON.stringify(fields)}\n`;
  const at = text.indexOf(AGGREGATE) + AGGREGATE.length;
  const [head, tail] = [text.slice(0, at), text.slice(at)].map((part) =>
    new TextEncoder().encode(part),
  );
  const file = new Uint8Array(head!.length + 2 * result.aggregate.length + tail!.length);
  file.set(head!);
  writeHex(file.subarray(head!.length), result.aggregate);
  file.set(tail!, file.length - tail!.length);
  return file;
}

/** What precedes the digits of the aggregate; a quote within a string is escaped. */
const AGGREGATE = '"aggregate":"0x';

/**
 * Reads a result file. Checks only its form; verifyResultFile checks the contents.
 *
 * @throws CodedError `BODY_TOO_LARGE`, `MALFORMED_JSON`, or `BAD_RESULT_FILE` with the fault
 */
export function parseResultFile(file: Uint8Array | string): ResultFile {
  const json = parseJsonFile(file, 'result file', MAX_RESULT_FILE_BYTES);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) fail('must be an object');
  const fields = json as Record<string, unknown>;
  const { version, process_id, count, format, parameter_set } = fields;
  if (version !== RESULT_FILE_VERSION) fail(`has a version other than ${RESULT_FILE_VERSION}`);
  if (process_id !== null && !isCount(process_id)) fail('has a wrong process_id');
  if (!isCount(count)) fail('has a wrong count');
  if (typeof format !== 'string') fail('has a wrong format');
  if (!isParameterSet(parameter_set)) fail('has a wrong parameter_set');
  const statement = readHex(fields, 'statement', 32);
  if (statement.length !== 32) fail('has a wrong statement');
  return {
    version: RESULT_FILE_VERSION,
    processId: process_id,
    count,
    format,
    parameterSet: parameter_set,
    statement,
    aggregate: readHex(fields, 'aggregate', MAX_AGGREGATE_BYTES),
    sizes: readSizes(fields.sizes),
    timings: readNumbers('timings', fields.timings),
  };
}

/**
 * Returns whether a result file holds a valid aggregate of exactly these statements and describes
 * it correctly. Timings, and sizes of data outside the file, cannot be checked.
 */
export function verifyResultFile(result: ResultFile, statements: readonly Statement[]): boolean {
  return verifyAggregate(result.aggregate, statements) && isTrueAboutItself(result);
}

/** Like verifyResultFile, with a given verifier, such as that of an aggregate pool. */
export async function verifyResultFileWith(
  verify: (aggregate: Uint8Array, statements: readonly Statement[]) => Promise<boolean>,
  result: ResultFile,
  statements: readonly Statement[],
): Promise<boolean> {
  return (await verify(result.aggregate, statements)) && isTrueAboutItself(result);
}

/** Returns whether a file describes its valid aggregate, and so the list, correctly. */
function isTrueAboutItself(result: ResultFile): boolean {
  const info = inspectAggregate(result.aggregate);
  return (
    result.count === info.count &&
    result.format === info.format &&
    result.parameterSet === parameterSetOf(info.parameterSets) &&
    result.sizes.aggregate === result.aggregate.length &&
    result.sizes.salts === info.sizes.salts &&
    equal(result.statement, info.statement)
  );
}

function parameterSetOf(sets: readonly ('falcon512' | 'falcon1024')[]): ResultParameterSet {
  return sets.length === 1 ? sets[0]! : 'mixed';
}

function isParameterSet(value: unknown): value is ResultParameterSet {
  return value === 'falcon512' || value === 'falcon1024' || value === 'mixed';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function readHex(fields: Record<string, unknown>, name: string, maxBytes: number): Uint8Array {
  const bytes = decodeWireHex(fields[name], maxBytes);
  return typeof bytes === 'string' ? fail(`has a wrong ${name}`) : bytes;
}

function readNumbers(name: string, value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) fail(`has wrong ${name}`);
  const isValid = (number: unknown) => typeof number === 'number' && number >= 0;
  if (!Object.values(value).every(isValid)) fail(`has wrong ${name}`);
  return { ...value };
}

function readSizes(value: unknown): ResultSizes {
  const numbers = readNumbers('sizes', value);
  const sizes = Object.fromEntries(SIZE_NAMES.map((name) => [name, numbers[name]]));
  if (!Object.values(sizes).every(isCount)) fail('has wrong sizes');
  return sizes as ResultSizes;
}

function fail(what: string): never {
  throw new CodedError('BAD_RESULT_FILE', { message: `The result file ${what}` });
}

/**
 * Values of the `cause` that `inspectAggregate` sets for aggregates of other versions, as opposed
 * to damaged ones or other bytes.
 */
const FOREIGN: readonly unknown[] = ['format', 'version', 'table', 'profile', 'saltCoding'];

/**
 * Describes the refusal, for callers that accept only the profile `round3`.
 *
 * @param aggregate bytes that did not verify
 * @returns undefined if the aggregate is supported and invalid, or if it is no aggregate at all
 */
export function refusalOf(aggregate: Uint8Array): string | undefined {
  try {
    const { profile } = inspectAggregate(aggregate);
    if (profile === 'round3') return undefined;
    return `The aggregate is of the profile ${profile}, and only round3 is accepted here`;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return FOREIGN.includes(error.cause) ? error.message : undefined;
  }
}
