/** The options of the service, for code and for the command line: one row for each. */
import type { AggregateFormatOption } from '../../aggregate/index.ts';
import type { ParameterSet } from '../../falcon/index.ts';
import {
  bytes,
  choice,
  duration,
  flag,
  inGroup,
  integer,
  type OptionTable,
  origins,
  path,
  proxies,
  text,
  url,
} from '../../shared/optionRows.ts';
import { DEFAULT_TASK_FILE_LIMITS } from '../../wire/taskFile.ts';
import { networkFault } from '../http/address.ts';
import type { Arithmetic, SigningSalt } from '../signing/keyFile.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The most signatures of an aggregate. */
const MAX_SIGNATURES = 8192;

const SETS: readonly ParameterSet[] = ['falcon512', 'falcon1024'];
const SALTS: readonly SigningSalt[] = ['random', 'derived'];
const ARITHMETICS: readonly Arithmetic[] = ['float', 'integer'];
const FORMATS: readonly AggregateFormatOption[] = ['auto', 'proof', 'bundle'];

/** Other paths below `/v1/`; `v1` itself would hide the mount point. */
const TAKEN_NAMES: ReadonlySet<string> = new Set(['openapi.json', 'ui', 'v1']);

function checkServiceName(name: string): string | null {
  if (TAKEN_NAMES.has(name)) return `must not be ${name}`;
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._~-]{0,62}[A-Za-z0-9])?$/.test(name)) return null;
  return 'must be one path segment of letters and digits';
}

/** Leaves one processor for requests. */
function defaultThreads(): number {
  const available = globalThis.navigator?.hardwareConcurrency ?? 2;
  return Math.min(8, Math.max(1, available - 1));
}

const URL_LIFETIME = { setting: null, min: 1, fallback: HOUR_MS } as const;
const RATE = { min: 1, max: 1e9 } as const;

/** The options by their names in `ServiceOptions`, in the order of the help text. */
export const SERVICE_OPTIONS = {
  ...inGroup('Server', {
    dataDirectory: path('directory of the store, the files and the signing key', {
      setting: 'data',
      placeholder: 'directory',
      fallback: '.falconry',
    }),
    allowSharedDatabase: flag('start although other users can read the store', {
      setting: 'allowShared',
      fallback: false,
    }),
    publicUrl: url('address that clients use, if not the one listened on'),
    trustProxy: proxies('trust X-Forwarded-Proto, -Host and -For of so many proxies, or networks', {
      fallback: false,
      check: networkFault,
    }),
    cors: origins('origins whose pages may call the service, or * for all', {
      fallbackText: 'none',
    }),
    ui: flag('serve the page at /v1/ui', { fallback: true }),
  }),

  ...inGroup('Service', {
    serviceName: text("the service's segment in paths", {
      placeholder: 'name',
      fallback: 'svc',
      check: checkServiceName,
    }),
    signing: flag('offer the signing endpoint, for testing', {
      fallback: () => globalThis.process?.env.NODE_ENV !== 'production',
      fallbackText: 'unless NODE_ENV is production',
    }),
    signingKeyFile: path('key file of the signing endpoint', {
      placeholder: 'file',
      fallbackText: 'created in --data',
    }),
    signingSet: choice('parameter set of the signing endpoint', SETS, {
      setting: null,
      fallback: 'falcon512',
    }),
    signingSalt: choice('salts of the signing endpoint', SALTS, { fallback: 'random' }),
    arithmetic: choice('arithmetic of the signing endpoint', ARITHMETICS, { fallback: 'float' }),
    workers: flag('work on tasks in this process', { fallback: true }),
    threads: integer('worker threads', {
      min: 1,
      max: 256,
      fallback: defaultThreads,
      fallbackText: 'processors - 1, from 1 to 8',
    }),
    parallelTasks: integer('tasks at a time: one computes, the others are fetched', {
      setting: 'tasks',
      min: 1,
      max: 64,
      fallback: 2,
    }),
    housekeeping: flag('remove expired tasks and files', { setting: null, fallback: true }),
    aggregateFormat: choice('format of aggregates', FORMATS, { fallback: 'auto' }),
    leaseMs: duration('a worker that is silent for this long loses its task', {
      setting: 'lease',
      min: 200,
      max: 600_000,
      fallback: 10_000,
    }),
  }),

  ...inGroup('Limits', {
    maxSignatures: integer('most signatures in a batch', {
      min: 1,
      max: MAX_SIGNATURES,
      fallback: DEFAULT_TASK_FILE_LIMITS.maxSignatures,
    }),
    maxDigestBytes: bytes('largest message', {
      setting: 'maxDigest',
      max: 16 * MIB,
      fallback: DEFAULT_TASK_FILE_LIMITS.maxMessageBytes,
    }),
    maxBodyBytes: bytes('largest task file or batch request', {
      setting: 'maxBody',
      min: 1024,
      max: 1024 * MIB,
      fallback: DEFAULT_TASK_FILE_LIMITS.maxFileBytes,
    }),
    maxBufferedBytes: bytes('memory for request bodies, in total', {
      setting: null,
      min: 2048,
      max: 64 * 1024 * MIB,
      fallback: 128 * MIB,
    }),
    bodyIdleTimeoutMs: duration('abort an upload after this long without data', {
      setting: null,
      min: 10,
      fallback: 30_000,
    }),
    minBodyBytesPerSecond: bytes('slowest sender, per second; 0 for none', {
      setting: null,
      max: 1024 * MIB,
      fallback: 16 * 1024,
    }),
    uploadUrlTtlMs: duration(
      'lifetime of an upload URL, and of a task without its file',
      URL_LIFETIME,
    ),
    resultUrlTtlMs: duration('lifetime of a result URL', URL_LIFETIME),
    retentionMs: duration('how long finished tasks are kept; none: until they are deleted', {
      setting: 'retention',
      max: Number.MAX_SAFE_INTEGER,
      none: true,
      fallback: 30 * DAY_MS,
    }),
    minFreeBytes: bytes('free disk space below which task files are refused', {
      setting: 'minFree',
      fallbackText: '512MiB or 5 % of the disk',
    }),
  }),
} as const satisfies OptionTable;

/** Limits of each client, and of each address, by their names in `ServiceOptions.limits`. */
export const CLIENT_LIMITS = inGroup('Limits', {
  requestsPerSecond: integer('sustained requests per second of a client', {
    ...RATE,
    fallback: 500,
  }),
  burst: integer('requests of a client in a burst', {
    ...RATE,
    setting: null,
    fallbackText: 'twice the requests per second',
  }),
  openTasks: integer('unfinished tasks of a client', { fallback: 10_000 }),
  storedBytes: bytes('task files and results of a client', { fallback: 4096 * MIB }),
  parallelUploads: integer('uploads of a client at a time', { min: 1, max: 1e6, fallback: 8 }),
  eventStreams: integer('open event streams of a client', { max: 1e6, fallback: 32 }),
  refusedPerSecond: integer('sustained requests per second without a valid key, per address', {
    ...RATE,
    setting: null,
    fallback: 50,
  }),
  refusedBurst: integer('such requests in a burst', { ...RATE, setting: null, fallback: 500 }),
});
