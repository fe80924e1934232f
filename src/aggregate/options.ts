/** The options of the asynchronous calls, and their validation. */

import type { Profile } from '../falcon/index.ts';
import { checkProfile } from '../falcon/params.ts';
import { checkHook, readList, readOptions } from '../shared/arguments.ts';
import { hostParallelism } from '../shared/threads/host.ts';
import { checkThreads } from '../shared/threads/options.ts';
import type { AggregateFormatOption, FormatChoice } from './chooseFormat.ts';
import { FORMATS } from './container.ts';

/** The progress of an aggregation; `done` counts items and reaches `total` in both phases. */
export interface AggregateProgress {
  readonly phase: 'verifying' | 'aggregating';
  readonly done: number;
  readonly total: number;
}

/** The resources that an aggregation used. */
export interface AggregateStats {
  /** Threads that made the proof, including the calling one; 1 for a bundle. */
  readonly threads: number;
  /** Peak bytes of WebAssembly memory that the prover used in all threads; 0 for a bundle. */
  readonly memoryBytes: number;
}

export interface WorkOptions {
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: AbortSignal;
  /**
   * Called from time to time, and at the end of each phase. If it throws, the promise is rejected.
   */
  readonly onProgress?: (progress: AggregateProgress) => void;
}

export interface ThreadOptions {
  /**
   * The maximum number of threads, including the calling one, 1 to 64. Fewer take part if the host
   * says that fewer can run at once, or if the work is too small for them: a proof of 187
   * signatures of Falcon-512 is the smallest for two. The result does not depend on their number.
   * If no thread can be started, or one dies, the calling thread does all of the work.
   */
  readonly threads?: number;
  /**
   * The address of the threads' module, if the bundler does not find it:
   * `falconry/aggregate-worker`, built as an entry of its own. A relative string is resolved
   * against the page (in Node, Deno and Bun: the process's working directory).
   */
  readonly workerUrl?: string | URL;
}

export interface ProfileOption {
  /**
   * How salts and messages become points (docs/profiles.md), for all signatures of the call.
   * Default `round3`. For `fn-dsa-draft-2026-07`, items and statements are those that `item` and
   * `statement` of falconry/drafts/fn-dsa-2026-07 give.
   */
  readonly profile?: Profile;
}

export interface AcceptOptions {
  /** The profiles of aggregates that are accepted. Default `['round3']`. */
  readonly profiles?: readonly Profile[];
}

export interface PoolAggregateOptions extends WorkOptions, ProfileOption {
  /**
   * The format of the body. Default `auto`: the smaller one, which is a proof from about 82
   * signatures of Falcon-512 on, 41 of Falcon-1024. A proof takes up to about a second where a
   * bundle takes milliseconds, and its signatures cannot be extracted.
   */
  readonly format?: AggregateFormatOption;
  /** Called once, when the format is decided, with the reason. */
  readonly onFormat?: (choice: FormatChoice) => void;
  /** Called once, when the aggregate is complete. */
  readonly onStats?: (stats: AggregateStats) => void;
}

/** Options of `aggregate`; `threads` is 1 by default. */
export interface AggregateOptions extends PoolAggregateOptions, ThreadOptions {}

/** Options of `verifyAggregateAsync`; `threads` is 1 by default. */
export interface VerifyAggregateOptions extends WorkOptions, AcceptOptions, ThreadOptions {}

/**
 * Options of `createAggregatePool`; by default, `threads` is as many as the host says can run at
 * once.
 */
export interface AggregatePoolOptions extends ThreadOptions {
  /**
   * Keeps expanded commitment keys from one proof to the next, in at most this many bytes of all
   * threads together, until the pool is closed. 0 to 2^30, default 0. It saves about a seventh of
   * the work on small batches. On one thread 100 signatures of Falcon-512 fill 10 MB and 1722 fill
   * 45 MB; with less than that, it saves less.
   */
  readonly keyCacheBytes?: number;
}

const MAX_THREADS = 64;
const MAX_KEY_CACHE = 2 ** 30;
const WORK = ['signal', 'onProgress'] as const;
const AGGREGATE = [...WORK, 'profile', 'format', 'onFormat', 'onStats'] as const;
const VERIFY = [...WORK, 'profiles'] as const;
const THREADS = ['threads', 'workerUrl'] as const;

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkAggregateOptions<T extends AggregateOptions>(options: T, ofPool = false): T {
  const read = readOptions(options, ofPool ? AGGREGATE : [...AGGREGATE, ...THREADS]) as T;
  const { format, onFormat, onStats } = read;
  if (format !== undefined && format !== 'auto' && !Object.hasOwn(FORMATS, format)) {
    throw new RangeError('"format" expected "auto", "proof" or "bundle"');
  }
  checkProfileOption(read);
  checkHook('onFormat', onFormat);
  checkHook('onStats', onStats);
  checkWork(read);
  checkThreads(read.threads, MAX_THREADS);
  return read;
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

/** More names than there are profiles are a mistake. */
const MAX_PROFILES = 16;

function readProfiles(value: unknown): readonly Profile[] {
  if (value === undefined) return ['round3'];
  return readList('profiles', value, MAX_PROFILES, (profile) => checkProfile('profiles', profile));
}

function checkWork({ signal, onProgress }: WorkOptions): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('"signal" expected an AbortSignal');
  }
  checkHook('onProgress', onProgress);
}
