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
  parseHeader,
  rowTag,
  setOfKind,
  setsOfKinds,
} from './container.ts';
import { aggregateWith, verifyWith } from './onThreads.ts';
import { readClaim, verifiedSignatures } from './openAggregate.ts';
import {
  type AcceptOptions,
  type AggregateOptions,
  type AggregatePoolOptions,
  type AggregateProgress,
  type AggregateStats,
  checkAggregateOptions,
  checkVerifyOptions,
  type PoolAggregateOptions,
  type ProfileOption,
  readAccepted,
  readProfile,
  type ThreadOptions,
  type VerifyAggregateOptions,
  type WorkOptions,
} from './options.ts';
import { CLAIMED_BITS, MAX_SECTION_ITEMS } from './proof/index.ts';
import { verifyProof } from './proofFormat.ts';
import type { SaltCoding } from './salts.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';
import { openThreads } from './threads.ts';
import { useModule } from './wasm.ts';

export { type AggregatePool, createAggregatePool } from './pool.ts';
export type {
  AcceptOptions,
  AggregateFormat,
  AggregateFormatOption,
  AggregateItem,
  AggregateOptions,
  AggregatePoolOptions,
  AggregateProgress,
  AggregateStats,
  FormatChoice,
  PoolAggregateOptions,
  ProfileOption,
  SaltCoding,
  Statement,
  ThreadOptions,
  VerifyAggregateOptions,
  WorkOptions,
};

/** Maximum number of items in one aggregate (8192). */
export const MAX_AGGREGATE_ITEMS = MAX_ITEMS;

/** Maximum number of items in a proof, by parameter set: 5632 and 2944. */
export const MAX_PROOF_ITEMS: Readonly<Record<ParameterSet, number>> = MAX_SECTION_ITEMS;

/** The information in an aggregate's header, readable without its statements. */
export interface AggregateInfo {
  readonly format: AggregateFormat;
  /** Version of the format: 2 of bundles, 3 of proofs. Others are rejected. */
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
   * mixed batch over both sections (docs/soundness.md, 3.5 and 4). The value is 128. For the
   * commitments, 133 bits of classical core-SVP or more are estimated.
   */
  readonly claimedBits?: number;
  /** The parameter sets that occur, Falcon-512 first. */
  readonly parameterSets: readonly ParameterSet[];
  /** The set and, in a bundle, the form of every signature, in order. */
  readonly items: readonly {
    readonly parameterSet: ParameterSet;
    readonly form?: SignatureFormat;
  }[];
  /** The statement commitment in the aggregate, 32 bytes. */
  readonly statement: Uint8Array<ArrayBuffer>;
  /** Sizes in bytes: the total, and its parts. `salts` counts the explicit ones. */
  readonly sizes: {
    readonly total: number;
    readonly header: number;
    readonly salts: number;
    readonly body: number;
  };
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
 * Returns whether the bytes are an aggregate of either format for exactly these statements, in this
 * order: a bundle of valid signatures, or a proof that they exist. Returns `false` for all other
 * bytes: another format or version, truncated, too long, not canonical, for other statements, with
 * an invalid signature, with a proof that does not verify, or of a profile that is not accepted.
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
  const claim = readClaim(aggregate, statements, readAccepted(options));
  if (claim === undefined) return false;
  if (claim.header.format === 'proof') return verifyProof(claim);
  return verifiedSignatures(claim) !== undefined;
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
 * Returns the signatures of a bundle, in order, each exactly as it was aggregated. Deterministic
 * signatures are returned as the equivalent ordinary ones (`det.fromRound3` converts them back).
 *
 * @throws TypeError for arguments of wrong types
 * @throws CodedError `NO_SIGNATURES` for a proof about these statements, which contains none;
 *   `BAD_AGGREGATE` where verifyAggregate returns false
 */
export function extractSignatures(
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options?: AcceptOptions,
): Uint8Array<ArrayBuffer>[] {
  const claim = readClaim(aggregate, statements, readAccepted(options));
  if (claim?.header.format === 'proof') throw new CodedError('NO_SIGNATURES');
  const signatures = claim && verifiedSignatures(claim);
  if (signatures === undefined) throw new CodedError('BAD_AGGREGATE');
  return signatures;
}

/**
 * Returns the contents of an aggregate's header. It distinguishes an aggregate of another version,
 * or of another parameter table, from damaged bytes. Nothing is verified: neither the body nor,
 * without the statements, whether derived salts are coded as such.
 *
 * @throws TypeError if the argument is not bytes
 * @throws CodedError `BAD_AGGREGATE` if the bytes do not start with a supported header. The message
 *   states the reason, and `cause` identifies it: `magic` (no aggregate), `format`, `version`,
 *   `table` (another parameter table), `profile`, `saltCoding` (unknown, or a salt with a shorter
 *   coding) or `header` (damaged)
 */
export function inspectAggregate(aggregate: Uint8Array): AggregateInfo {
  const bytes = copyBytes('aggregate', aggregate);
  const header = parseHeader(bytes);
  if (typeof header === 'string') {
    throw new CodedError('BAD_AGGREGATE', { message: FAULTS[header], cause: header });
  }
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
    profiles: Object.fromEntries(sets.map((set) => [set, PROFILE_NUMBERS[profile]])),
    saltRuns: runs.map(({ coding, count, version }) => {
      return { coding, count, ...(coding === 'constant' && { version }) };
    }),
    ...(format === 'proof' && { rowTag: toHex(rowTag(kinds)!), claimedBits: CLAIMED_BITS }),
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
