/**
 * Aggregates of Falcon signatures: many (public key, message, signature) triples in, one string
 * of bytes out, which a verifier checks against the list of (public key, message) alone.
 *
 * Two formats: the *bundle* holds every signature, losslessly, at its entropy; the *proof* holds
 * none, and proves in far fewer bytes that there is one for every statement.
 */
import { copyBytes } from '../arguments.ts';
import { CodedError, type InvalidItem } from '../errors.ts';
import type { ParameterSet, SignatureFormat } from '../falcon/index.ts';
import { checkCount, copyItems, copyStatements, readItems, readStatements } from './arguments.ts';
import { type AggregateItem, invalidItems, startBatch } from './batch.ts';
import { encodeBundle } from './bundle.ts';
import {
  type AggregateFormat,
  formOfKind,
  MAX_ITEMS,
  parseHeader,
  setOfKind,
} from './container.ts';
import type { AggregateFormatOption, FormatChoice } from './format.ts';
import { readClaim, verifiedSignatures } from './judge.ts';
import {
  type AggregateOptions,
  type AggregatePoolOptions,
  type AggregateProgress,
  type AggregateStats,
  checkAggregateOptions,
  checkVerifyOptions,
  type PoolAggregateOptions,
  type ThreadOptions,
  type VerifyAggregateOptions,
  type WorkOptions,
} from './options.ts';
import { MAX_SECTION_ITEMS } from './proof/index.ts';
import { verifyProof } from './proof.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';
import { Crew } from './threads/crew.ts';
import { useModule } from './wasm.ts';
import { aggregateWith, verifyWith } from './work.ts';

export { type AggregatePool, createAggregatePool } from './pool.ts';
export type {
  AggregateFormat,
  AggregateFormatOption,
  AggregateItem,
  AggregateOptions,
  AggregatePoolOptions,
  AggregateProgress,
  AggregateStats,
  FormatChoice,
  PoolAggregateOptions,
  Statement,
  ThreadOptions,
  VerifyAggregateOptions,
  WorkOptions,
};

/** Most items of one aggregate (8192). */
export const MAX_AGGREGATE_ITEMS = MAX_ITEMS;

/** Most items of one parameter set in a proof (1722). */
export const MAX_PROOF_ITEMS = MAX_SECTION_ITEMS;

/** What can be read off an aggregate without its statements. */
export interface AggregateInfo {
  readonly format: AggregateFormat;
  /** Version of that format. */
  readonly version: number;
  readonly count: number;
  /** The sets that occur, Falcon-512 first. */
  readonly parameterSets: readonly ParameterSet[];
  /** Set and, in a bundle, form of every signature, in order. */
  readonly items: readonly {
    readonly parameterSet: ParameterSet;
    readonly form?: SignatureFormat;
  }[];
  /** The statement commitment that it carries, 32 bytes. */
  readonly statement: Uint8Array<ArrayBuffer>;
  /** Bytes: all, and the parts that they consist of. */
  readonly sizes: {
    readonly total: number;
    readonly header: number;
    readonly salts: number;
    readonly body: number;
  };
}

/**
 * Verifies every item and makes one aggregate of them, in the given order. Gives other work of
 * the thread its turn every 10 ms or so. The items' bytes must stay as they are meanwhile.
 *
 * @returns the aggregate; the same items always give the same bytes
 * @throws TypeError, RangeError for arguments of wrong types, no items, or more than 8192
 * @throws CodedError `INVALID_SIGNATURES` whose `invalid` names every invalid item with its reason,
 *   `NO_PROOF` when a proof is asked for and the batch has more than 1722 items of one set (or, which
 *   practically never happens, every attempt fails), `ABORTED` when the signal says so (all as the
 *   promise's rejection)
 * @example
 * ```ts
 * const bytes = await aggregate([{ publicKey, message, signature }]);
 * verifyAggregate(bytes, [{ publicKey, message }]); // true
 * ```
 */
export async function aggregate(
  items: readonly AggregateItem[],
  options: AggregateOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { threads = 1, workerUrl, ...work } = checkAggregateOptions(options);
  const own = copyItems(items);
  const crew = new Crew({ threads, workerUrl });
  try {
    return await aggregateWith(crew, own, work);
  } finally {
    crew.close();
  }
}

/**
 * As {@link aggregate} with the format `bundle`, in one go.
 *
 * @throws TypeError, RangeError, CodedError `INVALID_SIGNATURES` as there
 */
export function aggregateSync(items: readonly AggregateItem[]): Uint8Array<ArrayBuffer> {
  const own = copyItems(items);
  const batch = startBatch();
  batch.add(own);
  const { signatures } = batch.finish();
  return encodeBundle(statementDigest(own), signatures);
}

/**
 * Every item that does not verify, with its reason, by ascending index: what {@link aggregate}
 * would refuse. Any number of items of both parameter sets, told apart by the length of the key.
 *
 * @throws TypeError for items of wrong types
 */
export function findInvalid(items: readonly AggregateItem[]): InvalidItem[] {
  return invalidItems(readItems(items));
}

/**
 * Whether the bytes are an aggregate of either format for exactly these statements, in this order:
 * a bundle of valid signatures, or a proof that there are some. The same `false` for every other
 * bytes: another format or version, cut, longer, not the canonical encoding, of other statements,
 * holding a signature that does not verify, or a proof that does not convince.
 *
 * @throws TypeError for arguments of wrong types
 * @example
 * ```ts
 * if (!verifyAggregate(bytes, statements)) throw new Error('not signed');
 * ```
 */
export function verifyAggregate(aggregate: Uint8Array, statements: readonly Statement[]): boolean {
  const claim = readClaim(aggregate, statements);
  if (claim === undefined) return false;
  const { bytes, header, statements: own } = claim;
  if (header.format === 'proof') return verifyProof(bytes, header, own);
  return verifiedSignatures(claim) !== undefined;
}

/**
 * As {@link verifyAggregate}, on several threads if asked, and giving other work of the thread its turn every 10 ms or so. The bytes
 * must stay as they are meanwhile.
 *
 * @throws TypeError, RangeError for arguments of wrong types or values out of range; CodedError `ABORTED` when the signal says so
 *   (all as the promise's rejection)
 */
export async function verifyAggregateAsync(
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options: VerifyAggregateOptions = {},
): Promise<boolean> {
  const { threads = 1, workerUrl, ...work } = checkVerifyOptions(options);
  const crew = new Crew({ threads, workerUrl });
  try {
    return await verifyWith(crew, aggregate, statements, work);
  } finally {
    crew.close();
  }
}

/**
 * The signatures of a bundle, each exactly the bytes that were aggregated, in order.
 *
 * @throws TypeError for arguments of wrong types
 * @throws CodedError `NO_SIGNATURES` for a proof about these statements, which keeps none;
 *   `BAD_AGGREGATE` where verifyAggregate is false
 */
export function extractSignatures(
  aggregate: Uint8Array,
  statements: readonly Statement[],
): Uint8Array<ArrayBuffer>[] {
  const claim = readClaim(aggregate, statements);
  if (claim?.header.format === 'proof') throw new CodedError('NO_SIGNATURES');
  const signatures = claim && verifiedSignatures(claim);
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
  const bytes = copyBytes('aggregate', aggregate);
  const header = parseHeader(bytes);
  if (header === undefined) throw new CodedError('BAD_AGGREGATE');
  const { format, version, kinds, salts, bodyAt } = header;
  const items = Array.from(kinds, (kind) => ({
    parameterSet: setOfKind(kind),
    ...(format === 'bundle' && { form: formOfKind(kind) }),
  }));
  return {
    format,
    version,
    count: kinds.length,
    parameterSets: [...new Set(items.map((item) => item.parameterSet))].sort(bySize),
    items,
    statement: header.statement.slice(),
    sizes: {
      total: bytes.length,
      header: bodyAt - salts.length,
      salts: salts.length,
      body: bytes.length - bodyAt,
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
export function statementCommitment(statements: readonly Statement[]): Uint8Array<ArrayBuffer> {
  const read = readStatements(statements);
  checkCount('statements', read);
  const own = copyStatements(read);
  const wrong = own.findIndex((s) => setOfPublicKey(s.publicKey) === undefined);
  if (wrong < 0) return statementDigest(own);
  const { length } = own[wrong]!.publicKey;
  throw new RangeError(
    `"statements[${wrong}].publicKey" expected 897 or 1793 bytes, got ${length}`,
  );
}

function bySize(a: ParameterSet, b: ParameterSet): number {
  return a === b ? 0 : a === 'falcon512' ? -1 : 1;
}

/**
 * Hands over the module that the host has compiled, for hosts that compile ahead and not at run time (Cloudflare's workerd).
 * Call it, and `useFalconModule`, before anything else.
 *
 * @param module `falconry/labrador.wasm`, or `falconry/labrador.relaxed.wasm` where the engine has relaxed SIMD
 * @throws TypeError if it is not a compiled module, RangeError if it is another one
 * @example
 * ```ts
 * import wasm from 'falconry/labrador.wasm';
 * useLabradorModule(wasm);
 * ```
 */
export function useLabradorModule(module: WebAssembly.Module): void {
  useModule(module);
}
