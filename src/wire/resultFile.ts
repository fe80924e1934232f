/**
 * The result file: a JSON object with an aggregate and its description. Written by the workers and
 * by the command line.
 *
 * It is written canonically: fixed fields in a fixed order, no blanks, lower-case hex, a newline at
 * the end. The reader accepts any JSON with these fields and ignores others.
 */
import { inspectAggregate, statementCommitment, verifyAggregate } from '../aggregate/index.ts';
import { equal } from '../shared/bytes.ts';
import { CodedError } from '../shared/errors.ts';
import { decodeWireHex, encodeWireHex } from './hex.ts';
import { parseJsonFile } from './jsonFile.ts';
import type { Statement, TaskItem } from './triple.ts';

const RESULT_FILE_VERSION = 1;

/** `mixed` if both sets occur. */
export type ResultParameterSet = 'falcon512' | 'falcon1024' | 'mixed';

/** Sizes in bytes of the aggregate, of the salts in it, and of the items that it was made of. */
export interface ResultSizes {
  readonly aggregate: number;
  readonly salts: number;
  readonly signatures: number;
  readonly public_keys: number;
  readonly digests: number;
}

/** Milliseconds per phase: `verify_ms`, `aggregate_ms`; others may be added. */
export type ResultTimings = Readonly<Record<string, number>>;

export interface ResultFile {
  readonly version: typeof RESULT_FILE_VERSION;
  /** The id of the task; null if the file was not made by a service. */
  readonly processId: number | null;
  readonly count: number;
  /** The format of the aggregate: `bundle` or `proof`. */
  readonly format: string;
  readonly parameterSet: ResultParameterSet;
  /** Commitment to the ordered (parameter set, public key, digest) list, 32 bytes. */
  readonly statement: Uint8Array;
  readonly aggregate: Uint8Array;
  readonly sizes: ResultSizes;
  readonly timings: ResultTimings;
}

/** The largest file that is read: more than any aggregate of 8192 signatures takes in hex. */
const MAX_RESULT_FILE_BYTES = 64 * 1024 * 1024;

const MAX_AGGREGATE_BYTES = MAX_RESULT_FILE_BYTES / 2;
const SIZE_NAMES = ['aggregate', 'salts', 'signatures', 'public_keys', 'digests'] as const;

/**
 * The result file of an aggregate that was made of these items.
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
  const info = inspectAggregate(aggregate);
  const bytesOf = (field: keyof TaskItem) => items.reduce((sum, i) => sum + i[field].length, 0);
  return {
    version: RESULT_FILE_VERSION,
    processId,
    count: info.count,
    format: info.format,
    parameterSet: parameterSetOf(info.parameterSets),
    statement: info.statement,
    aggregate,
    sizes: {
      aggregate: aggregate.length,
      salts: info.sizes.salts,
      signatures: bytesOf('signature'),
      public_keys: bytesOf('publicKey'),
      digests: bytesOf('message'),
    },
    timings,
  };
}

/** The text of a result file; equal contents give equal texts. */
export function formatResultFile(result: ResultFile): string {
  const timings = Object.entries(result.timings).map(([name, ms]) => [name, roundMs(ms)]);
  const fields = {
    version: result.version,
    process_id: result.processId,
    count: result.count,
    format: result.format,
    parameter_set: result.parameterSet,
    statement: encodeWireHex(result.statement),
    aggregate: encodeWireHex(result.aggregate),
    sizes: Object.fromEntries(SIZE_NAMES.map((name) => [name, result.sizes[name]])),
    timings: Object.fromEntries(timings),
  };
  return `${JSON.stringify(fields)}\n`;
}

/**
 * Reads a result file. This checks only its form; verifyResultFile checks what it says.
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
 * Whether a result file holds a valid aggregate for exactly these statements and describes it
 * correctly. (Timings, and sizes of what is not in the file, cannot be checked.)
 */
export function verifyResultFile(result: ResultFile, statements: readonly Statement[]): boolean {
  return verifyAggregate(result.aggregate, statements) && isTrueAbout(result, statements);
}

/** Like verifyResultFile, with a verifier of the caller's, such as that of an aggregate pool. */
export async function verifyResultFileWith(
  verify: (aggregate: Uint8Array, statements: readonly Statement[]) => Promise<boolean>,
  result: ResultFile,
  statements: readonly Statement[],
): Promise<boolean> {
  return (await verify(result.aggregate, statements)) && isTrueAbout(result, statements);
}

/** Whether a file describes its aggregate, which is valid, correctly. */
function isTrueAbout(result: ResultFile, statements: readonly Statement[]): boolean {
  const info = inspectAggregate(result.aggregate);
  return (
    result.count === info.count &&
    result.format === info.format &&
    result.parameterSet === parameterSetOf(info.parameterSets) &&
    result.sizes.aggregate === result.aggregate.length &&
    result.sizes.salts === info.sizes.salts &&
    equal(result.statement, statementCommitment(statements))
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

/** No clock here is finer than a microsecond. */
function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function readHex(fields: Record<string, unknown>, name: string, maxBytes: number): Uint8Array {
  const bytes = decodeWireHex(fields[name], maxBytes);
  return typeof bytes === 'string' ? fail(`has a wrong ${name}`) : bytes;
}

function readNumbers(name: string, value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) fail(`has wrong ${name}`);
  const numbers: [string, number][] = [];
  for (const [key, number] of Object.entries(value)) {
    if (typeof number !== 'number' || !(number >= 0)) fail(`has wrong ${name}`);
    numbers.push([key, number]);
  }
  return Object.fromEntries(numbers);
}

function readSizes(value: unknown): ResultSizes {
  const numbers = readNumbers('sizes', value);
  const sizes = Object.fromEntries(SIZE_NAMES.map((name) => [name, numbers[name]]));
  if (!Object.values(sizes).every(isCount)) fail('has wrong sizes');
  return sizes as unknown as ResultSizes;
}

function fail(what: string): never {
  throw new CodedError('BAD_RESULT_FILE', { message: `The result file ${what}` });
}
