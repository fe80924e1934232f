/** Options of the asynchronous calls, and their validation. */

import type { Profile } from '../falcon/index.ts';
import { checkProfile } from '../falcon/params.ts';
import { checkHook, checkSignal, readList, readOptions } from '../shared/arguments.ts';
import type { HostSignal, HostUrl } from '../shared/hostTypes.ts';
import { hostParallelism } from '../shared/threads/host.ts';
import { checkThreads } from '../shared/threads/pool.ts';
import type { AggregateFormatOption, FormatChoice } from './chooseFormat.ts';
import { FORMATS } from './container.ts';
import type { Statement } from './statement.ts';

/** The progress of an aggregation; `done` counts items and reaches `total` in both phases. */
export interface AggregateProgress {
  readonly phase: 'verifying' | 'aggregating';
  readonly done: number;
  readonly total: number;
}

/** Resources used by an aggregation. */
export interface AggregateStats {
  /** Number of threads that made the proof, including the calling one; 1 for a bundle. */
  readonly threads: number;
  /** Peak WebAssembly memory of the prover in all threads, in bytes; 0 for a bundle. */
  readonly memoryBytes: number;
}

export interface WorkOptions {
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: HostSignal;
  /** Called occasionally, and at the end of each phase. If it throws, the promise is rejected. */
  readonly onProgress?: (progress: AggregateProgress) => void;
}

export interface ThreadOptions {
  /**
   * Maximum number of threads, including the calling one, 1 to 64. Fewer are used if the host
   * reports less concurrency, or if the work is too small: two threads need a proof of at least 187
   * signatures of Falcon-512. The result does not depend on the number of threads. If no thread can
   * be started, or one fails, the calling thread does all of the work.
   */
  readonly threads?: number;
  /**
   * URL of the worker module, if the bundler does not find it: `falconry/aggregate-worker`, built
   * as a separate entry. A relative string is resolved against the page (in Node, Deno and Bun: the
   * process's working directory).
   */
  readonly workerUrl?: string | HostUrl;
}

export interface ProfileOption {
  /**
   * The mapping from salt and message to a point (docs/profiles.md), for all signatures of the
   * call. Default `round3`. For `fn-dsa-draft-2026-07`, create items and statements with `item` and
   * `statement` of falconry/drafts/fn-dsa-2026-07.
   */
  readonly profile?: Profile;
}

export interface AcceptOptions {
  /** The accepted profiles of aggregates. Default `['round3']`. */
  readonly profiles?: readonly Profile[];
}

export interface PoolAggregateOptions extends WorkOptions, ProfileOption {
  /**
   * The format of the body. Default `auto`: the smaller one, which is a proof for about 82 or more
   * signatures of Falcon-512, 41 of Falcon-1024. A proof takes up to about a second, a bundle
   * milliseconds. Signatures cannot be extracted from a proof.
   */
  readonly format?: AggregateFormatOption;
  /** Called once, when the format is decided, with the reason. */
  readonly onFormat?: (choice: FormatChoice) => void;
  /** Called once, when the aggregate is complete. */
  readonly onStats?: (stats: AggregateStats) => void;
}

/** The progress of a stream. */
export interface StreamProgress {
  /** Number of items so far. */
  readonly done: number;
  /** Number of items in all; absent while it is not known. */
  readonly total?: number;
}

/** The progress of a merge: items whose parts have been checked, then items that are merged. */
export interface MergeProgress extends StreamProgress {
  readonly phase: 'verifying' | 'aggregating';
}

/** A part and its statements, in order. */
export interface PartToMerge {
  readonly part: Uint8Array;
  readonly statements: readonly Statement[];
}

/** Options of `mergeParts` of a pool. */
export interface MergeOptions {
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: HostSignal;
  /** Called occasionally. If it throws, the promise is rejected. */
  readonly onProgress?: (progress: MergeProgress) => void;
}

/** Options of `aggregateParts` of a pool. */
export type PoolPartsOptions = Omit<PoolStreamOptions, 'format'>;

/** Options of `aggregateStream` of a pool. */
export interface PoolStreamOptions extends ProfileOption {
  /** The format of the elements; see `aggregate`. */
  readonly format?: AggregateFormatOption;
  /** Stops the work: reading is rejected with `ABORTED`. */
  readonly signal?: HostSignal;
  /** Called occasionally, and for every element. If it throws, reading is rejected. */
  readonly onProgress?: (progress: StreamProgress) => void;
}

/** Options of `aggregateStream`; `threads` is 1 by default. */
export interface AggregateStreamOptions extends PoolStreamOptions, ThreadOptions {}

/** Options of `verifyAggregateStream`. */
export interface VerifyStreamOptions extends AcceptOptions {
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: HostSignal;
  /** Called occasionally. If it throws, the promise is rejected. */
  readonly onProgress?: (progress: StreamProgress) => void;
}

/** Options of `aggregate`; `threads` is 1 by default. */
export interface AggregateOptions extends PoolAggregateOptions, ThreadOptions {}

/** Options of `verifyAggregateAsync`; `threads` is 1 by default. */
export interface VerifyAggregateOptions extends WorkOptions, AcceptOptions, ThreadOptions {}

/**
 * Options of `createAggregatePool`; `threads` defaults to the concurrency that the host reports.
 */
export interface AggregatePoolOptions extends ThreadOptions {
  /**
   * Maximum memory, in bytes over all threads, for a cache of expanded commitment keys that is kept
   * between proofs until the pool is closed. 0 to 2^30, default 0. It saves about a seventh of the
   * work on small batches. On one thread 100 signatures of Falcon-512 fill 10 MB and 1722 fill 45
   * MB; a smaller cache saves less.
   */
  readonly keyCacheBytes?: number;
}

const MAX_THREADS = 64;
const MAX_KEY_CACHE = 2 ** 30;
const WORK = ['signal', 'onProgress'] as const;
const AGGREGATE = [...WORK, 'profile', 'format', 'onFormat', 'onStats'] as const;
const VERIFY = [...WORK, 'profiles'] as const;
const STREAM = [...WORK, 'profile', 'format'] as const;
const THREADS = ['threads', 'workerUrl'] as const;

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkAggregateOptions<T extends AggregateOptions>(options: T, ofPool = false): T {
  const read = readOptions(options, ofPool ? AGGREGATE : [...AGGREGATE, ...THREADS]) as T;
  checkHook('onFormat', read.onFormat);
  checkHook('onStats', read.onStats);
  checkAggregation(read);
  return read;
}

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkAggregateStreamOptions<T extends AggregateStreamOptions>(
  options: T | undefined,
  ofPool = false,
): T {
  const read = readOptions(options, ofPool ? STREAM : [...STREAM, ...THREADS]) as T;
  checkAggregation(read);
  return read;
}

function checkAggregation(
  read: Omit<AggregateOptions, 'onProgress'> & { onProgress?: unknown },
): void {
  const { format } = read;
  if (format !== undefined && format !== 'auto' && !Object.hasOwn(FORMATS, format)) {
    throw new RangeError('"format" expected "auto", "proof" or "bundle"');
  }
  checkProfileOption(read);
  checkWork(read);
  checkThreads(read.threads, MAX_THREADS);
}

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkPartsOptions<T extends PoolPartsOptions & ThreadOptions>(
  options: T | undefined,
  ofPool = false,
): T {
  const read = readOptions(options, [...WORK, 'profile', ...(ofPool ? [] : THREADS)]) as T;
  checkAggregation(read);
  return read;
}

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkMergeOptions<T extends MergeOptions & ThreadOptions>(
  options: T | undefined,
  ofPool = false,
): T {
  const read = readOptions(options, ofPool ? WORK : [...WORK, ...THREADS]) as T;
  checkWork(read);
  checkThreads(read.threads, MAX_THREADS);
  return read;
}

/** @throws TypeError or RangeError for unknown names, wrong types, unknown profiles */
export function checkStreamOptions(options: VerifyStreamOptions | undefined) {
  const read = readOptions(options, VERIFY) as VerifyStreamOptions;
  checkWork(read);
  return { ...read, profiles: readProfiles(read.profiles) };
}

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkVerifyOptions<T extends VerifyAggregateOptions>(
  options: T,
  ofPool = false,
): T {
  const given = readOptions(options, ofPool ? VERIFY : [...VERIFY, ...THREADS]) as T;
  const read = { ...given, profiles: readProfiles(given.profiles) };
  checkWork(read);
  checkThreads(read.threads, MAX_THREADS);
  return read;
}

/**
 * @returns the options with their defaults
 * @throws TypeError or RangeError for unknown names, wrong types, values out of range
 */
export function checkPoolOptions(options: AggregatePoolOptions): AggregatePoolOptions & {
  readonly threads: number;
} {
  const read = readOptions(options, [...THREADS, 'keyCacheBytes']) as AggregatePoolOptions;
  checkThreads(read.threads, MAX_THREADS);
  const { threads = Math.min(MAX_THREADS, hostParallelism()), keyCacheBytes = 0, workerUrl } = read;
  if (typeof keyCacheBytes !== 'number') throw new TypeError('"keyCacheBytes" expected a number');
  if (!(Number.isInteger(keyCacheBytes) && keyCacheBytes >= 0 && keyCacheBytes <= MAX_KEY_CACHE)) {
    throw new RangeError(`"keyCacheBytes" expected an integer from 0 to ${MAX_KEY_CACHE}`);
  }
  return { threads, keyCacheBytes, ...(workerUrl !== undefined && { workerUrl }) };
}

/** @throws TypeError or RangeError for unknown names, wrong types, an unknown profile */
export function checkProfileWork<T extends WorkOptions & ProfileOption>(options: T): T {
  const read = readOptions(options, [...WORK, 'profile']) as T;
  checkWork(read);
  checkProfileOption(read);
  return read;
}

/** @throws TypeError or RangeError for unknown names or an unknown profile */
export function readProfile(options: ProfileOption | undefined): Profile {
  const read = readOptions(options, ['profile']) as ProfileOption;
  checkProfileOption(read);
  return read.profile ?? 'round3';
}

/** @throws TypeError or RangeError for unknown names, or anything but a list of profiles */
export function readAccepted(options: AcceptOptions | undefined): readonly Profile[] {
  return readProfiles(readOptions(options, ['profiles']).profiles);
}

function checkProfileOption({ profile }: ProfileOption): void {
  if (profile !== undefined) checkProfile('profile', profile);
}

/** Maximum length of a list of profiles: more names than existing profiles are an error. */
const MAX_PROFILES = 16;

function readProfiles(value: unknown): readonly Profile[] {
  if (value === undefined) return ['round3'];
  return readList('profiles', value, MAX_PROFILES, (profile) => checkProfile('profiles', profile));
}

function checkWork({ signal, onProgress }: { signal?: unknown; onProgress?: unknown }): void {
  checkSignal(signal);
  checkHook('onProgress', onProgress);
}
