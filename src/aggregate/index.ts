/**
 * Aggregates of Falcon signatures: many (public key, message, signature) triples in, one string
 * of bytes out, which a verifier checks against the list of (public key, message) alone.
 *
 * There is one format so far, the *bundle*: every signature, losslessly, at its entropy.
 */
import { abytes, equal } from '../bytes.ts';
import { CodedError, type InvalidItem } from '../errors.ts';
import type { ParameterSet, SignatureFormat } from '../falcon/index.ts';
import { type AggregateItem, type Batch, invalidItems, startBatch } from './batch.ts';
import { decodeBundle } from './bundle.ts';
import {
  type AggregateFormat,
  formOfKind,
  MAX_ITEMS,
  type ParsedHeader,
  parseHeader,
  setOfKind,
} from './container.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

export type { AggregateFormat, AggregateItem, Statement };

/** Most items of one aggregate (8192). */
export const MAX_AGGREGATE_ITEMS = MAX_ITEMS;

/** How far an aggregation is; `done` counts items, and comes to `total` in both phases. */
export interface AggregateProgress {
  readonly phase: 'verifying' | 'aggregating';
  readonly done: number;
  readonly total: number;
}

export interface AggregateOptions {
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** Called now and then, and at the end of each phase. What it throws rejects the promise. */
  readonly onProgress?: (progress: AggregateProgress) => void;
}

/** What can be read off an aggregate without its statements. */
export interface AggregateInfo {
  readonly format: AggregateFormat;
  /** Version of that format. */
  readonly version: number;
  readonly count: number;
  /** The sets that occur, Falcon-512 first. */
  readonly parameterSets: readonly ParameterSet[];
  /** Set and form of every signature, in order. */
  readonly items: readonly {
    readonly parameterSet: ParameterSet;
    readonly form: SignatureFormat;
  }[];
  /** The statement commitment that it carries, 32 bytes. */
  readonly statement: Uint8Array;
  /** Bytes: all, and the parts that they consist of. */
  readonly sizes: {
    readonly total: number;
    readonly header: number;
    readonly salts: number;
    readonly body: number;
  };
}

/** Items between two looks at the clock, the signal and the progress. */
const STEP_ITEMS = 64;
/** Work for about this long before other work of the thread gets its turn. */
const SLICE_MS = 10;

/**
 * Verifies every item and makes one aggregate of them, in the given order. Gives other work of
 * the thread its turn every 10 ms or so. The items' bytes must stay as they are meanwhile.
 *
 * @returns the aggregate; the same items always give the same bytes
 * @throws TypeError, RangeError for arguments of wrong types, no items, or more than 8192
 * @throws CodedError `INVALID_SIGNATURES` whose `invalid` names every invalid item with its reason,
 *   `ABORTED` when the signal says so (all as the promise's rejection)
 * @example
 * ```ts
 * const bytes = await aggregate([{ publicKey, message, signature }]);
 * verifyAggregate(bytes, [{ publicKey, message }]); // true
 * ```
 */
export async function aggregate(
  items: readonly AggregateItem[],
  options: AggregateOptions = {},
): Promise<Uint8Array> {
  const { signal, onProgress } = checkOptions(options);
  const batch = checkItems(items);
  const total = items.length;
  let sliceEnd = 0;
  for (let done = 0; done < total; ) {
    throwIfAborted(signal);
    if (performance.now() >= sliceEnd) {
      onProgress?.({ phase: 'verifying', done, total });
      await new Promise((resolve) => setTimeout(resolve, 0));
      sliceEnd = performance.now() + SLICE_MS;
    }
    batch.add(items.slice(done, (done = Math.min(done + STEP_ITEMS, total))));
  }
  onProgress?.({ phase: 'verifying', done: total, total });
  throwIfAborted(signal);
  const bytes = batch.finish();
  onProgress?.({ phase: 'aggregating', done: total, total });
  return bytes;
}

/**
 * As {@link aggregate}, in one go.
 *
 * @throws TypeError, RangeError, CodedError `INVALID_SIGNATURES` as there
 */
export function aggregateSync(items: readonly AggregateItem[]): Uint8Array {
  const batch = checkItems(items);
  batch.add(items);
  return batch.finish();
}

/**
 * Every item that does not verify, with its reason, by ascending index: what {@link aggregate}
 * would refuse. Any number of items of both parameter sets, told apart by the length of the key.
 *
 * @throws TypeError for items of wrong types
 */
export function findInvalid(items: readonly AggregateItem[]): InvalidItem[] {
  checkList('items', items, ['publicKey', 'message', 'signature']);
  return invalidItems(items);
}

/**
 * Whether the bytes are an aggregate of valid signatures for exactly these statements, in this
 * order. The same `false` for every other bytes: another format or version, cut, longer, not the
 * canonical encoding, of other statements, or holding a signature that does not verify.
 *
 * @throws TypeError for arguments of wrong types
 * @example
 * ```ts
 * if (!verifyAggregate(bytes, statements)) throw new Error('not signed');
 * ```
 */
export function verifyAggregate(aggregate: Uint8Array, statements: readonly Statement[]): boolean {
  return verifiedSignatures(aggregate, statements) !== undefined;
}

/**
 * The signatures of an aggregate, each exactly the bytes that were aggregated, in order.
 *
 * @throws TypeError for arguments of wrong types
 * @throws CodedError `BAD_AGGREGATE` where verifyAggregate is false
 */
export function extractSignatures(
  aggregate: Uint8Array,
  statements: readonly Statement[],
): Uint8Array[] {
  const signatures = verifiedSignatures(aggregate, statements);
  if (signatures === undefined) throw new CodedError('BAD_AGGREGATE');
  return signatures;
}

/**
 * What the head of an aggregate says. It is the aggregate's word, nothing is verified.
 *
 * @throws TypeError if it is not bytes
 * @throws CodedError `BAD_AGGREGATE` if it is not the head of an aggregate of a known format
 */
export function inspectAggregate(aggregate: Uint8Array): AggregateInfo {
  const header = parseHeader(abytes('aggregate', aggregate));
  if (header === undefined) throw new CodedError('BAD_AGGREGATE');
  const { format, version, kinds, salts, bodyAt } = header;
  const items = Array.from(kinds, (kind) => ({
    parameterSet: setOfKind(kind),
    form: formOfKind(kind),
  }));
  return {
    format,
    version,
    count: kinds.length,
    parameterSets: [...new Set(items.map((item) => item.parameterSet))].sort(bySize),
    items,
    statement: header.statement.slice(),
    sizes: {
      total: aggregate.length,
      header: bodyAt - salts.length,
      salts: salts.length,
      body: aggregate.length - bodyAt,
    },
  };
}

/**
 * SHAKE256 commitment, 32 bytes, to an ordered list of (parameter set, public key, message).
 * The set is that of the key's length. Aggregates carry it, and result files show it.
 *
 * @throws TypeError for arguments of wrong types, RangeError for a key of no set's length or an
 *   empty or too long list
 */
export function statementCommitment(statements: readonly Statement[]): Uint8Array {
  checkList('statements', statements, ['publicKey', 'message']);
  const wrong = statements.findIndex((s) => setOfPublicKey(s.publicKey) === undefined);
  if (wrong >= 0) {
    const { length } = statements[wrong]!.publicKey;
    throw new RangeError(
      `"statements[${wrong}].publicKey" expected 897 or 1793 bytes, got ${length}`,
    );
  }
  checkCount('statements', statements);
  return statementDigest(statements);
}

/** The signatures, when everything about the bytes holds; cheap checks first. */
function verifiedSignatures(
  aggregate: Uint8Array,
  statements: readonly Statement[],
): Uint8Array[] | undefined {
  abytes('aggregate', aggregate);
  checkList('statements', statements, ['publicKey', 'message']);
  const header = parseHeader(aggregate);
  if (header === undefined || !isAbout(header, statements)) return undefined;
  const signatures = decodeBundle(aggregate, header);
  if (signatures === undefined) return undefined;
  const items = statements.map((statement, i) => ({
    publicKey: statement.publicKey,
    message: statement.message,
    signature: signatures[i]!,
  }));
  return invalidItems(items).length === 0 ? signatures : undefined;
}

function isAbout(header: ParsedHeader, statements: readonly Statement[]): boolean {
  return (
    header.kinds.length === statements.length &&
    statements.every((s, i) => setOfPublicKey(s.publicKey) === setOfKind(header.kinds[i]!)) &&
    equal(statementDigest(statements), header.statement)
  );
}

function bySize(a: ParameterSet, b: ParameterSet): number {
  return a === b ? 0 : a === 'falcon512' ? -1 : 1;
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CodedError('ABORTED', { cause: signal.reason });
}

function checkItems(items: readonly AggregateItem[]): Batch {
  checkList('items', items, ['publicKey', 'message', 'signature']);
  checkCount('items', items);
  return startBatch();
}

function checkCount(name: string, list: readonly unknown[]): void {
  if (list.length < 1 || list.length > MAX_ITEMS) {
    throw new RangeError(`"${name}" expected 1 to ${MAX_ITEMS} elements, got ${list.length}`);
  }
}

function checkList(name: string, list: unknown, fields: readonly string[]): void {
  if (!Array.isArray(list)) throw new TypeError(`"${name}" expected an array, got ${typeof list}`);
  for (let i = 0; i < list.length; i++) {
    const element: unknown = list[i];
    if (typeof element !== 'object' || element === null) {
      throw new TypeError(`"${name}[${i}]" expected an object, got ${String(element)}`);
    }
    for (const field of fields) {
      abytes(`${name}[${i}].${field}`, (element as Record<string, unknown>)[field]);
    }
  }
}

function checkOptions(options: unknown): AggregateOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`"options" expected an object, got ${String(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (name !== 'signal' && name !== 'onProgress') throw new TypeError(`unknown option "${name}"`);
  }
  const { signal, onProgress } = options as AggregateOptions;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('"signal" expected an AbortSignal');
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new TypeError(`"onProgress" expected a function, got ${typeof onProgress}`);
  }
  return options as AggregateOptions;
}
