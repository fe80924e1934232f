/**
 * Aggregates of Falcon signatures. An aggregate combines many (public key, message, signature)
 * triples into one byte string, which a verifier checks against the list of (public key, message).
 *
 * There are two formats. The *bundle* holds every signature, losslessly, at its entropy. The
 * *proof* holds none: it proves, in far fewer bytes, that every statement has a signature.
 */

import type { ParameterSet, Profile, SignatureFormat } from '../falcon/index.ts';
import { PROFILE_NUMBERS } from '../falcon/params.ts';
import { copyBytes } from '../shared/arguments.ts';
import { toHex } from '../shared/bytes.ts';
import { CodedError, type InvalidItem } from '../shared/errors.ts';
import type { WasmModule } from '../shared/hostTypes.ts';
import { elementsOf, groupsOf, seriesOf } from './aggregateStream.ts';
import { checkCount, copyItems, copyStatements, readItems, readStatements } from './arguments.ts';
import { type AggregateItem, invalidItems, startBatch } from './batch.ts';
import { encodeBundle } from './bundle.ts';
import type { AggregateFormatOption, FormatChoice } from './chooseFormat.ts';
import {
  type AggregateFormat,
  FORMAT_VERSIONS,
  formOfKind,
  type HeaderFault,
  MAX_ITEMS,
  partTag,
  rowTag,
  SETS,
  setOfKind,
  setsOfKinds,
} from './container.ts';
import { MERGED_VERSION, type MergedFile, verifyMergedFile } from './mergedFormat.ts';
import { aggregateWith, verifyWith } from './onThreads.ts';
import {
  type Claim,
  type ElementClaims,
  type OpenElement,
  openElements,
  readClaims,
  verifiedSignatures,
} from './openAggregate.ts';
import {
  type AcceptOptions,
  type AggregateOptions,
  type AggregatePoolOptions,
  type AggregateProgress,
  type AggregateStats,
  type AggregateStreamOptions,
  checkAggregateOptions,
  checkAggregateStreamOptions,
  checkMergeOptions,
  checkPartsOptions,
  checkStreamOptions,
  checkVerifyOptions,
  type MergeOptions,
  type MergeProgress,
  type PartToMerge,
  type PoolAggregateOptions,
  type PoolPartsOptions,
  type PoolStreamOptions,
  type ProfileOption,
  readAccepted,
  readProfile,
  type StreamProgress,
  type ThreadOptions,
  type VerifyAggregateOptions,
  type VerifyStreamOptions,
  type WorkOptions,
} from './options.ts';
import { mergeWith, partWith } from './parts.ts';
import { CLAIMED_BITS, claimedBitsOf, MAX_SECTION_ITEMS, MOST_PARTS } from './proof/index.ts';
import { verifyProof } from './proofFormat.ts';
import type { SaltCoding } from './salts.ts';
import { type Element, isSeries, MAX_ELEMENTS, SERIES_VERSION, seriesIdentity } from './series.ts';
import { type Arriving, type ArrivingBytes, checkArriving } from './sources.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';
import { openThreads } from './threads.ts';
import { verifyStream } from './verifyStream.ts';
import { useModule } from './wasm.ts';

export { type AggregatePool, createAggregatePool } from './pool.ts';
export { joinSeries } from './series.ts';
export type {
  AcceptOptions,
  AggregateFormat,
  AggregateFormatOption,
  AggregateItem,
  AggregateOptions,
  AggregatePoolOptions,
  AggregateProgress,
  AggregateStats,
  AggregateStreamOptions,
  Arriving,
  ArrivingBytes,
  FormatChoice,
  MergeOptions,
  MergeProgress,
  PartToMerge,
  PoolAggregateOptions,
  PoolPartsOptions,
  PoolStreamOptions,
  ProfileOption,
  SaltCoding,
  Statement,
  StreamProgress,
  ThreadOptions,
  VerifyAggregateOptions,
  VerifyStreamOptions,
  WorkOptions,
};

/** Maximum number of items in one aggregate (8192). */
export const MAX_AGGREGATE_ITEMS = MAX_ITEMS;

/** Maximum number of aggregates in a series (4096). */
export const MAX_SERIES_ELEMENTS = MAX_ELEMENTS;

/** Maximum number of items in a proof, by parameter set: 5632 and 2944. */
export const MAX_PROOF_ITEMS: Readonly<Record<ParameterSet, number>> = MAX_SECTION_ITEMS;

/** Maximum number of parts in a merged proof (18). */
export const MAX_MERGED_PARTS = MOST_PARTS;

/** The information in an aggregate's header, readable without its statements. */
export interface AggregateInfo {
  readonly format: AggregateFormat | 'series' | 'merged';
  /** Version of the format: 2 of bundles, 3 of proofs, 1 of series and merged proofs. */
  readonly version: number;
  readonly count: number;
  /** The mapping from salt and message to a point: `round3` is HashToPoint of the specification. */
  readonly profile: Profile;
  /** The number of the profile, for every parameter set that occurs: 0 for `round3`. */
  readonly profiles: Readonly<Partial<Record<ParameterSet, number>>>;
  /**
   * The coding of the salts of consecutive items. `explicit` salts are stored, 40 bytes each;
   * `constant` ones are those of deterministic Falcon, whose first byte is `version`; `derived`
   * ones are computed from public key and message (docs/bundle-format.md, 1.2).
   */
  readonly saltRuns: readonly {
    readonly coding: SaltCoding;
    readonly count: number;
    readonly version?: number;
  }[];
  /**
   * Proofs only: the tag of the rows of the parameter table that the proof uses, four bytes in hex
   * (docs/protocol.md, 2.1).
   */
  readonly rowTag?: string;
  /**
   * Proofs only: the error terms of the interactive argument sum to at most 2^-claimedBits, in a
   * mixed batch over both sections (docs/soundness.md, 3.5 and 4). The value is 128; the errors of
   * a series add up, so with S sections in all it is floor(130 - log2 S), at most 128. Of merged
   * proofs it is 126 (docs/merged.md, 4). For the commitments, 133 bits of classical core-SVP or
   * more are estimated.
   */
  readonly claimedBits?: number;
  /** The parameter sets that occur, Falcon-512 first. */
  readonly parameterSets: readonly ParameterSet[];
  /** The set and, in a bundle, the form of every signature, in order. */
  readonly items: readonly {
    readonly parameterSet: ParameterSet;
    readonly form?: SignatureFormat;
  }[];
  /**
   * The statement commitment in the aggregate, 32 bytes; of a series or a merged proof, a hash of
   * those of its elements and their counts (docs/bundle-format.md, 7).
   */
  readonly statement: Uint8Array<ArrayBuffer>;
  /** Sizes in bytes: the total, and its parts. `salts` counts the explicit ones. */
  readonly sizes: {
    readonly total: number;
    readonly header: number;
    readonly salts: number;
    readonly body: number;
  };
  /**
   * Series: its aggregates, in the order of the list. Merged proofs: its parts, whose sizes are
   * those of their headers.
   */
  readonly elements?: readonly AggregateInfo[];
}

/**
 * Verifies every item and combines them into one aggregate, in the given order. Ordinary and
 * deterministic signatures of any form may be mixed. Yields to the event loop about every 10 ms.
 * The items are copied before the call returns.
 *
 * @returns the aggregate; the same items always produce the same bytes
 * @throws TypeError, RangeError for arguments of wrong types, no items, or more than 8192
 * @throws CodedError `INVALID_SIGNATURES` whose `invalid` lists every invalid item with its reason,
 *   `NO_PROOF` if a proof is requested and the batch has more items of a set than
 *   `MAX_PROOF_ITEMS` (or every attempt fails, which practically never happens), `ABORTED` if the
 *   signal is aborted (all as the promise's rejection)
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
  const read = checkAggregateOptions(options);
  const own = copyItems(items);
  const pool = openThreads(read);
  try {
    return await aggregateWith(pool, own, read);
  } finally {
    void pool.close();
  }
}

/**
 * Like {@link aggregate} with the format `bundle`, but synchronous.
 *
 * @throws TypeError, RangeError, CodedError `INVALID_SIGNATURES` as `aggregate`
 */
export function aggregateSync(
  items: readonly AggregateItem[],
  options?: ProfileOption,
): Uint8Array<ArrayBuffer> {
  const batch = startBatch(readProfile(options));
  batch.add(copyItems(items));
  return encodeBundle(batch.finish());
}

/**
 * Aggregates a list of any length, as its items arrive, into a series: aggregates of consecutive
 * items in one file, about 10 bytes a signature. Yields the file in pieces, one for each aggregate.
 * Works, and reads items, only while somebody waits for a piece; holds the items of one aggregate,
 * which are copied as they are read. An array is divided evenly into as few aggregates as possible,
 * and must not change until its items have been read. Of any other iterable, each aggregate but the
 * last takes as many items as fit: 5632 of Falcon-512 and 2944 of Falcon-1024 (8192 if `format` is
 * `bundle`), at most 8192 in all.
 *
 * @throws TypeError, RangeError for arguments of wrong types or an empty array, at once; for wrong
 *   items of an iterable, none, or more than fit 4096 aggregates, when they are reached
 * @throws CodedError as `aggregate`, while reading. `INVALID_SIGNATURES` lists the invalid items of
 *   the first aggregate that has any, by their index in the list. Errors of the iterable are
 *   rethrown as they are; it is closed in every case
 * @example
 * ```ts
 * for await (const piece of aggregateStream(items)) file.write(piece);
 * ```
 */
export function aggregateStream(
  items: Arriving<AggregateItem>,
  options?: AggregateStreamOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { threads, workerUrl, ...read } = checkAggregateStreamOptions(options);
  const pool = openThreads({ ...(threads && { threads }), ...(workerUrl && { workerUrl }) });
  const series = seriesOf(items, read, (own, work) => aggregateWith(pool, own, work));
  return (async function* () {
    try {
      yield* series;
    } finally {
      void pool.close();
    }
  })();
}

/**
 * Makes parts of a list of Falcon-512 signatures, in order, each of at most 5632 items and about 3
 * MB long. {@link mergeParts} makes one short proof of them, possibly elsewhere. Takes and divides
 * items like {@link aggregateStream}.
 *
 * @throws TypeError, RangeError, CodedError as `aggregateStream`; `NO_PROOF` for a part with
 *   signatures of Falcon-1024
 * @example
 * ```ts
 * for await (const part of aggregateParts(items)) await send(part);
 * ```
 */
export function aggregateParts(
  items: Arriving<AggregateItem>,
  options?: PoolPartsOptions & ThreadOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { threads, workerUrl, ...read } = checkPartsOptions(options);
  const pool = openThreads({ ...(threads && { threads }), ...(workerUrl && { workerUrl }) });
  const parts = elementsOf(groupsOf(items, read), read, (own, work) => partWith(pool, own, work));
  return (async function* () {
    try {
      yield* parts;
    } finally {
      void pool.close();
    }
  })();
}

/**
 * Merges parts from {@link aggregateParts}, at most 18, into one proof for all of their statements
 * in order: about 130 kB for 101,376 signatures. Each part is checked when it arrives, as their
 * makers need not be trusted; 8 MB of it are kept. A part without signatures for some statement
 * is refused, as any other that is not valid.
 *
 * @throws TypeError, RangeError for arguments of wrong types, no parts, or too many
 * @throws CodedError `BAD_PART` with the `index` of the first part that is not valid for its
 *   statements, or has another profile than the first; `NO_PROOF` if every attempt fails, which
 *   practically never happens; `ABORTED`; errors of the iterable, as they are
 * @example
 * ```ts
 * const proof = await mergeParts([{ part, statements }, { part: other, statements: more }]);
 * verifyAggregate(proof, [...statements, ...more]); // true
 * ```
 */
export async function mergeParts(
  parts: Arriving<PartToMerge>,
  options?: MergeOptions & ThreadOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { threads, workerUrl, ...read } = checkMergeOptions(options);
  const pool = openThreads({ ...(threads && { threads }), ...(workerUrl && { workerUrl }) });
  try {
    return await mergeWith(pool, parts, read);
  } finally {
    void pool.close();
  }
}

/**
 * Returns every item that does not verify, with its reason, by ascending index: the items that
 * {@link aggregate} would reject. Accepts up to 4,194,304 items of both parameter sets, which it
 * distinguishes by the length of the key.
 * @throws TypeError for items of wrong types; RangeError for too many
 */
export function findInvalid(
  items: readonly AggregateItem[],
  options?: ProfileOption,
): InvalidItem[] {
  const profile = readProfile(options);
  return invalidItems(readItems(items), profile);
}

/**
 * Returns whether the bytes are an aggregate of any format for exactly these statements, in this
 * order: a bundle of valid signatures, a proof that they exist, a series of these, or a merged
 * proof. Returns
 * `false` for all other bytes: another format or version, truncated, too long, not canonical, for
 * other statements, with an invalid signature, with a proof that does not verify, or of a profile
 * that is not accepted.
 *
 * A proof of the profile `fn-dsa-draft-2026-07` proves the equation and the norm bound, but not the
 * limit of 840 on every coefficient, which is checked before proving.
 *
 * @throws TypeError for arguments of wrong types
 * @example
 * ```ts
 * if (!verifyAggregate(bytes, statements)) throw new Error('not signed');
 * ```
 */
export function verifyAggregate(
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options?: AcceptOptions,
): boolean {
  const elements = readClaims(aggregate, statements, readAccepted(options));
  return elements?.every(verifyElement) ?? false;
}

function verifyElement({ claims, merged }: ElementClaims): boolean {
  if (merged !== undefined) return verifyMergedFile(merged, claims);
  const [claim] = claims as readonly [Claim];
  const isProof = claim.header.format === 'proof';
  return isProof ? verifyProof(claim) : verifiedSignatures(claim) !== undefined;
}

/**
 * Like {@link verifyAggregate}, on several threads if requested. Yields to the event loop about
 * every 10 ms. The arguments are copied before the call returns.
 *
 * @throws TypeError, RangeError for arguments of wrong types or values out of range; CodedError
 *   `ABORTED` if the signal is aborted (all as the promise's rejection)
 */
export async function verifyAggregateAsync(
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options: VerifyAggregateOptions = {},
): Promise<boolean> {
  const read = checkVerifyOptions(options);
  const pool = openThreads(read);
  try {
    return await verifyWith(pool, aggregate, statements, read);
  } finally {
    void pool.close();
  }
}

/**
 * Like {@link verifyAggregate}, for an aggregate or a series and statements that arrive in pieces.
 * Memory does not depend on their number: one aggregate of the series, at most 128 statements, and
 * 30 MB of WebAssembly memory; a merged proof takes 40 MB, and 4.5 MB for each part. Reads either
 * only when it is needed, and closes both in every case. Bytes may be cut anywhere. Stops at the
 * first fault; nothing is known to be valid before the promise resolves to `true`. Yields to the
 * event loop between the parts of its work.
 *
 * @throws TypeError, RangeError for arguments of wrong types, or a statement or piece of bytes of a
 *   wrong type, once it is reached; CodedError `ABORTED` if the signal is aborted; errors of the
 *   iterables, as they are (all as the promise's rejection)
 * @example
 * ```ts
 * const { body } = await fetch('list.series');
 * await verifyAggregateStream(body, statements); // true
 * ```
 */
export async function verifyAggregateStream(
  aggregate: ArrivingBytes,
  statements: Arriving<Statement>,
  options?: VerifyStreamOptions,
): Promise<boolean> {
  const read = checkStreamOptions(options);
  checkArriving('aggregate', aggregate, true);
  checkArriving('statements', statements, false);
  return verifyStream(aggregate, statements, read);
}

/**
 * Returns the signatures of a bundle, or of a series of bundles, in order, each exactly as it was
 * aggregated. Deterministic signatures are returned as the equivalent ordinary ones
 * (`det.fromRound3` converts them back).
 *
 * @throws TypeError for arguments of wrong types
 * @throws CodedError `NO_SIGNATURES` for a proof about these statements, also in a series, as it
 *   contains none; `BAD_AGGREGATE` where verifyAggregate returns false
 */
export function extractSignatures(
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options?: AcceptOptions,
): Uint8Array<ArrayBuffer>[] {
  const opened = readClaims(aggregate, statements, readAccepted(options));
  const claims = opened?.flatMap((element) => element.claims);
  if (claims?.some(({ header }) => header.format === 'proof')) {
    throw new CodedError('NO_SIGNATURES');
  }
  const signatures = claims?.map(verifiedSignatures);
  if (signatures === undefined || signatures.includes(undefined)) {
    throw new CodedError('BAD_AGGREGATE');
  }
  return (signatures as Uint8Array<ArrayBuffer>[][]).flat();
}

/**
 * Returns the contents of an aggregate's header, or of those of a series. It distinguishes an
 * aggregate of another version, or of another parameter table, from damaged bytes. Nothing is
 * verified: neither the body nor, without the statements, whether derived salts are coded as such.
 *
 * @throws TypeError if the argument is not bytes
 * @throws CodedError `BAD_AGGREGATE` if the bytes do not start with a supported header. The message
 *   states the reason, and `cause` identifies it: `magic` (no aggregate), `format`, `version`,
 *   `table` (another parameter table), `profile`, `saltCoding` (unknown, or a salt with a shorter
 *   coding) or `header` (damaged)
 */
export function inspectAggregate(aggregate: Uint8Array): AggregateInfo {
  const bytes = copyBytes('aggregate', aggregate);
  const elements = openElements(bytes);
  if (typeof elements === 'string') {
    throw new CodedError('BAD_AGGREGATE', { message: FAULTS[elements], cause: elements });
  }
  const infos = elements.map(infoOfElement);
  if (!isSeries(bytes)) return infos[0]!;
  const count = (format: AggregateInfo['format']): number =>
    infos.reduce((sum, info) => sum + (info.format === format ? info.parameterSets.length : 0), 0);
  const [sections, merged] = [count('proof'), count('merged')];
  const bits = sections + merged > 0 ? claimedBitsOf(sections, merged) : undefined;
  return infoOfList(bytes, 'series', infos, bits);
}

function infoOfElement({ bytes, parts, merged }: OpenElement): AggregateInfo {
  if (merged === undefined) return infoOf(parts[0]!);
  const infos = parts.map((part) => infoOf(part, merged));
  const info = infoOfList(bytes, 'merged', infos, claimedBitsOf(0, 1));
  // the proof of all parts follows their headers
  const body = bytes.length - merged.bodyAt;
  const header = info.sizes.header - body;
  return { ...info, sizes: { ...info.sizes, header, body } };
}

/** @param merged the proof whose part the element is */
function infoOf({ bytes, header }: Element, merged?: MergedFile): AggregateInfo {
  const { format, kinds, profile, bodyAt } = header;
  const { runs, explicit } = header.salts;
  const sets = setsOfKinds(kinds);
  const items = Array.from(kinds, (kind) => ({
    parameterSet: setOfKind(kind),
    ...(format === 'bundle' && { form: formOfKind(kind) }),
  }));
  return {
    format,
    version: FORMAT_VERSIONS[format],
    count: kinds.length,
    profile,
    profiles: profilesOf(sets, profile),
    saltRuns: runs.map(({ coding, count, version }) => {
      return { coding, count, ...(coding === 'constant' && { version }) };
    }),
    ...(format === 'proof' && {
      rowTag: toHex(merged ? partTag(merged.parameters.partHash) : rowTag(kinds)!),
      claimedBits: merged ? claimedBitsOf(0, 1) : CLAIMED_BITS,
    }),
    parameterSets: sets,
    items,
    statement: header.statement.slice(),
    sizes: {
      total: bytes.length,
      header: bodyAt - explicit.length,
      salts: explicit.length,
      body: bytes.length - bodyAt,
    },
  };
}

const profilesOf = (sets: readonly ParameterSet[], profile: Profile): AggregateInfo['profiles'] =>
  Object.fromEntries(sets.map((set) => [set, PROFILE_NUMBERS[profile]]));

function infoOfList(
  bytes: Uint8Array,
  format: 'series' | 'merged',
  infos: readonly AggregateInfo[],
  claimedBits: number | undefined,
): AggregateInfo {
  const sum = (value: (info: AggregateInfo) => number): number =>
    infos.reduce((all, info) => all + value(info), 0);
  const { profile } = infos[0]!;
  const sets = SETS.filter((set) => infos.some((info) => info.parameterSets.includes(set)));
  const [salts, body] = [sum(({ sizes }) => sizes.salts), sum(({ sizes }) => sizes.body)];
  return {
    format,
    version: format === 'merged' ? MERGED_VERSION : SERIES_VERSION,
    count: sum(({ count }) => count),
    profile,
    profiles: profilesOf(sets, profile),
    saltRuns: infos.flatMap(({ saltRuns }) => saltRuns),
    ...(claimedBits !== undefined && { claimedBits }),
    parameterSets: sets,
    items: infos.flatMap(({ items }) => items),
    statement: seriesIdentity(infos),
    sizes: { total: bytes.length, header: bytes.length - salts - body, salts, body },
    elements: infos,
  };
}

const VERSIONS = `${FORMAT_VERSIONS.bundle} (bundles) or ${FORMAT_VERSIONS.proof} (proofs)`;

const FAULTS: Readonly<Record<HeaderFault, string>> = Object.freeze({
  magic: 'These bytes are not an aggregate',
  format: 'The aggregate has an unknown format',
  version: `The aggregate has another version of its format than ${VERSIONS}`,
  table: 'The proof was made with another parameter table',
  profile: 'The aggregate has an unknown profile of hashing to points',
  saltCoding: 'The salts of the aggregate are not coded in the one known way',
  header: 'The header of the aggregate is damaged',
});

/**
 * Returns the SHAKE256 commitment, 32 bytes, to an ordered list of (parameter set, public key,
 * message). The length of the key determines the set. Aggregates and result files contain the
 * commitment.
 *
 * @throws TypeError for arguments of wrong types, RangeError for a key with the length of neither
 *   set, or a list that is empty or too long
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

/**
 * Supplies a compiled module, for hosts that only compile ahead of time (Cloudflare's workerd).
 * Call it, and `useFalconModule`, before any other function.
 *
 * @param module `falconry/labrador.wasm`, or `falconry/labrador.relaxed.wasm` if the engine has
 *   relaxed SIMD
 * @throws TypeError if the argument is not a compiled module, RangeError if it is another module;
 *   CodedError `NO_WEBASSEMBLY`
 * @example
 * ```ts
 * import wasm from 'falconry/labrador.wasm';
 * useLabradorModule(wasm);
 * ```
 */
export function useLabradorModule(module: WasmModule): void {
  useModule(module);
}
