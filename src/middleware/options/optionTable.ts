/** The options of the service, for code and for the command line: one row for each. */
import type { AggregateFormatOption } from '../../aggregate/index.ts';
import type { ParameterSet } from '../../falcon/index.ts';
import { DEFAULT_TASK_FILE_LIMITS } from '../../wire/taskFile.ts';
import type { SigningSalt } from '../signing/keyFile.ts';
import {
  bytes,
  choice,
  duration,
  flag,
  integer,
  type OptionTable,
  origins,
  path,
  text,
  url,
} from './optionRows.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** More do not fit into an aggregate. */
const MAX_SIGNATURES = 8192;

const SETS: readonly ParameterSet[] = ['falcon512', 'falcon1024'];
const SALTS: readonly SigningSalt[] = ['random', 'derived'];
const FORMATS: readonly AggregateFormatOption[] = ['auto', 'proof', 'bundle'];

/** Used below `/v1/`; `v1` itself would hide where the service is mounted. */
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

/** The options by their names in `ServiceOptions`, in the order of the help text. */
export const SERVICE_OPTIONS = {
  dataDirectory: path('directory of the store, files and keys', {
    setting: 'data',
    placeholder: 'directory',
    fallback: '.falconry',
    group: 'Server',
  }),
  allowSharedDatabase: flag('use a store that others can read', {
    setting: 'allowShared',
    fallback: false,
    group: 'Server',
  }),
  publicUrl: url('address that clients use, if not the one listened on', { group: 'Server' }),
  trustProxy: flag('believe X-Forwarded-Proto, -Host and -For', {
    fallback: false,
    group: 'Server',
  }),
  cors: origins('origins whose pages may call the service, or * for all', {
    fallbackText: 'none',
    group: 'Server',
  }),
  ui: flag('serve the page at /v1/ui', { fallback: true, group: 'Server' }),

  serviceName: text("the service's segment in paths", {
    placeholder: 'name',
    fallback: 'svc',
    check: checkServiceName,
    group: 'Service',
  }),
  signing: flag('signing endpoint, for testing', {
    fallback: () => globalThis.process?.env.NODE_ENV !== 'production',
    fallbackText: 'not if NODE_ENV is production',
    group: 'Service',
  }),
  signingKeyFile: path('key file of the signing endpoint', {
    placeholder: 'file',
    fallbackText: 'created in --data',
    group: 'Service',
  }),
  signingSet: choice('parameter set of the signing endpoint', SETS, {
    fallback: 'falcon512',
    group: 'Service',
  }),
  signingSalt: choice('salts of the signing endpoint', SALTS, {
    fallback: 'random',
    group: 'Service',
  }),
  workers: flag('work on tasks in this process', { fallback: true, group: 'Service' }),
  threads: integer('worker threads', {
    min: 1,
    max: 256,
    fallback: defaultThreads,
    fallbackText: 'processors - 1, from 1 to 8',
    group: 'Service',
  }),
  parallelTasks: integer('tasks at a time: one computes, the others are fetched', {
    setting: 'tasks',
    min: 1,
    max: 64,
    fallback: 2,
    group: 'Service',
  }),
  housekeeping: flag('end tasks and delete files whose time is over', {
    fallback: true,
    group: 'Service',
  }),
  aggregateFormat: choice('format of aggregates', FORMATS, { fallback: 'auto', group: 'Service' }),
  leaseMs: duration('silence after which a worker loses its task', {
    setting: 'lease',
    min: 200,
    max: 600_000,
    fallback: 10_000,
    group: 'Service',
  }),

  maxSignatures: integer('most signatures in a batch', {
    min: 1,
    max: MAX_SIGNATURES,
    fallback: DEFAULT_TASK_FILE_LIMITS.maxSignatures,
    group: 'Limits',
  }),
  maxDigestBytes: bytes('largest message', {
    setting: 'maxDigest',
    max: 16 * MIB,
    fallback: DEFAULT_TASK_FILE_LIMITS.maxMessageBytes,
    group: 'Limits',
  }),
  maxBodyBytes: bytes('largest task file or batch request', {
    setting: 'maxBody',
    min: 1024,
    max: 1024 * MIB,
    fallback: DEFAULT_TASK_FILE_LIMITS.maxFileBytes,
    group: 'Limits',
  }),
  maxBufferedBytes: bytes('most request bodies in memory at once', {
    setting: 'maxBuffered',
    min: 2048,
    max: 64 * 1024 * MIB,
    fallback: 128 * MIB,
    group: 'Limits',
  }),
  bodyIdleTimeoutMs: duration('longest pause of a sender in the middle of a body', {
    setting: 'bodyIdleTimeout',
    min: 10,
    fallback: 30_000,
    group: 'Limits',
  }),
  minBodyBytesPerSecond: bytes('lowest speed of a sender, per second; 0 for none', {
    setting: 'minBodySpeed',
    max: 1024 * MIB,
    fallback: 16 * 1024,
    group: 'Limits',
  }),
  uploadUrlTtlMs: duration('life of an upload URL, and of a task without its file', {
    setting: 'uploadUrlTtl',
    min: 1,
    fallback: HOUR_MS,
    group: 'Limits',
  }),
  resultUrlTtlMs: duration('life of a result URL', {
    setting: 'resultUrlTtl',
    min: 1,
    fallback: HOUR_MS,
    group: 'Limits',
  }),
  retentionMs: duration('how long finished tasks are kept; none: for ever', {
    setting: 'retention',
    max: Number.MAX_SAFE_INTEGER,
    none: true,
    fallback: 30 * DAY_MS,
    group: 'Limits',
  }),
  minFreeBytes: bytes('free disk space that task files leave', {
    setting: 'minFree',
    fallbackText: '512MiB or 5 % of the disk',
    group: 'Limits',
  }),
} as const satisfies OptionTable;

/** Limits of each client, and of each address, by their names in `ServiceOptions.limits`. */
export const CLIENT_LIMITS = {
  requestsPerSecond: integer('most requests per second of a client, in the long run', {
    min: 1,
    max: 1e9,
    fallback: 500,
    group: 'Limits',
  }),
  burst: integer('most requests of a client at once, after a rest', {
    min: 1,
    max: 1e9,
    fallback: 1000,
    group: 'Limits',
  }),
  openTasks: integer('most unfinished tasks of a client', { fallback: 10_000, group: 'Limits' }),
  storedBytes: bytes('most bytes of task files and results of a client', {
    fallback: 4096 * MIB,
    group: 'Limits',
  }),
  parallelUploads: integer('most uploads of a client at once', {
    min: 1,
    max: 1e6,
    fallback: 8,
    group: 'Limits',
  }),
  eventStreams: integer('most open event streams of a client', {
    max: 1e6,
    fallback: 32,
    group: 'Limits',
  }),
  refusedPerSecond: integer('most requests per second without a valid key, per address', {
    min: 1,
    max: 1e9,
    fallback: 50,
    group: 'Limits',
  }),
  refusedBurst: integer('most such requests at once, after a rest', {
    min: 1,
    max: 1e9,
    fallback: 500,
    group: 'Limits',
  }),
} as const satisfies OptionTable;
