/** The options of the client and its methods: each is read once, and checked before any request. */

import { checkHook, checkSignal, readOptions, typeName } from '../shared/arguments.ts';
import type { HostSignal } from '../shared/hostTypes.ts';
import type { CallOptions, ClientOptions, RetryOptions } from './types.ts';

/** The longest delay of a timer, in milliseconds: about 25 days. */
const MAX_MS = 2 ** 31 - 1;
const MAX_RETRIES = 1_000_000;

/** The defaults of {@link RetryOptions}. */
const DEFAULT_RETRIES: Required<RetryOptions> = Object.freeze({
  times: 4,
  baseMs: 300,
  maxMs: 10_000,
  maxRetryAfterMs: 60_000,
});

const CLIENT = [
  'baseUrl',
  'apiKey',
  'serviceName',
  'fetch',
  'retries',
  'timeoutMs',
  'transferTimeoutMs',
  'idempotencyKeys',
  'uploadBy',
  'compress',
  'signal',
] as const;

/** The checked options of a client, with their defaults. */
export interface Settings {
  readonly baseUrl: unknown;
  readonly apiKey: ClientOptions['apiKey'];
  readonly serviceName: string;
  readonly fetch: ClientOptions['fetch'];
  readonly retries: Required<RetryOptions>;
  readonly timeoutMs: number;
  readonly transferTimeoutMs: number;
  readonly idempotencyKeys: boolean | 'ask';
  readonly uploadBy: NonNullable<ClientOptions['uploadBy']>;
  readonly compress: 'gzip' | false;
  readonly signal: HostSignal | undefined;
}

/** @throws TypeError, RangeError for unknown options and wrong values */
export function readClientOptions(options: unknown): Settings {
  const read = readOptions(options, CLIENT, 'createClient');
  const { apiKey, serviceName = 'svc', fetch, idempotencyKeys = 'ask' } = read;
  const { uploadBy = 'auto', compress = false } = read;
  const { timeoutMs = 30_000, transferTimeoutMs = 900_000 } = read;
  if (typeof apiKey !== 'function' && apiKey !== undefined) checkKey(apiKey);
  if (typeof serviceName !== 'string' || !/^(?!\.+$)[\w.~-]+$/.test(serviceName)) {
    throw new TypeError('"serviceName" must be one path segment');
  }
  checkHook('fetch', fetch);
  checkSignal(read.signal);
  return {
    baseUrl: read.baseUrl,
    apiKey: apiKey as ClientOptions['apiKey'],
    serviceName,
    fetch: fetch as ClientOptions['fetch'],
    retries: readRetries(read.retries),
    timeoutMs: readNumber('timeoutMs', timeoutMs, 1, MAX_MS),
    transferTimeoutMs: readNumber('transferTimeoutMs', transferTimeoutMs, 1, MAX_MS),
    idempotencyKeys: readChoice('idempotencyKeys', idempotencyKeys, ['ask', true, false]),
    uploadBy: readChoice('uploadBy', uploadBy, ['auto', 'xhr', 'stream', 'whole']),
    compress: readChoice('compress', compress, ['gzip', false]),
    signal: read.signal as HostSignal | undefined,
  };
}

function readRetries(value: unknown): Required<RetryOptions> {
  if (value === false) return { ...DEFAULT_RETRIES, times: 0 };
  const { times, baseMs, maxMs, maxRetryAfterMs } = {
    ...DEFAULT_RETRIES,
    ...given(readOptions(value, ['times', 'baseMs', 'maxMs', 'maxRetryAfterMs'], 'retries')),
  };
  return {
    times: readNumber('retries.times', times, 0, MAX_RETRIES),
    baseMs: readNumber('retries.baseMs', baseMs, 0, MAX_MS),
    maxMs: readNumber('retries.maxMs', maxMs, 0, MAX_MS),
    maxRetryAfterMs: readNumber('retries.maxRetryAfterMs', maxRetryAfterMs, 0, MAX_MS),
  };
}

/** Returns the options that are not undefined. */
const given = (options: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** Checks a key, which may come from a function at any time. @throws TypeError */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(key)) return key;
  throw new TypeError('"apiKey" must be text that fits into a header');
}

/** Readers of the options of methods that are no signal. */
const READERS = {
  idempotencyKey: readText,
  status: readText,
  cursor: readText,
  limit: (name: string, value: unknown) => readNumber(name, value, 1, 1000, true),
  order: (name: string, value: unknown) => readChoice(name, value, ['asc', 'desc']),
  onProgress(name: string, value: unknown) {
    checkHook(name, value);
    return value;
  },
  statements: readArray,
  by: (name: string, value: unknown) => readChoice(name, value, ['events', 'poll']),
  patienceMs: (name: string, value: unknown) => readNumber(name, value, 0, MAX_MS),
  pollMs(name: string, value: unknown) {
    const [first, most, ...more] = readArray(name, value);
    if (more.length > 0) throw new TypeError(`"${name}" expected two numbers`);
    readNumber(`${name}[0]`, first, 1, MAX_MS);
    return [first, readNumber(`${name}[1]`, most, first as number, MAX_MS)];
  },
} as const;

/**
 * Reads the options of a method.
 *
 * @param names its options besides `signal`
 * @throws TypeError, RangeError for unknown options and wrong values
 */
export function readCall<Options extends CallOptions>(
  options: Options | undefined,
  ...names: readonly (keyof typeof READERS)[]
): Options {
  const read: Record<string, unknown> = readOptions(options, ['signal', ...names]);
  checkSignal(read.signal);
  const own = given(read);
  for (const name of names) {
    if (own[name] !== undefined) own[name] = READERS[name](name, own[name]);
  }
  return own as unknown as Options;
}

function readNumber(name: string, value: unknown, min: number, max: number, whole = false): number {
  if (typeof value !== 'number') {
    throw new TypeError(`"${name}" expected a number, got ${typeName(value)}`);
  }
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
  const kind = whole ? 'whole number' : 'number';
  throw new RangeError(`"${name}" must be a ${kind} from ${min} to ${max}`);
}

function readChoice<T>(name: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T;
  const list = choices.map((choice) => JSON.stringify(choice)).join(', ');
  const message = `"${name}" must be one of ${list}`;
  throw typeof value === 'string' ? new RangeError(message) : new TypeError(message);
}

function readText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`"${name}" expected a string, got ${typeName(value)}`);
}

function readArray(name: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`"${name}" expected an array, got ${typeName(value)}`);
}
