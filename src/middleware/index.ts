/**
 * The service: signs messages, and turns batches of signatures into aggregates, over HTTP.
 *
 * @example
 * ```ts
 * const service = falconService({ dataDirectory: '/var/lib/falconry' });
 * await service.start();
 * host.route('/falcon', service.app);
 * ```
 */
import type { Hono } from 'hono';
import { CodedError } from '../shared/errors.ts';
import { createApp } from './app.ts';
import type { Health } from './http/health.ts';
import type { Env } from './http/observe.ts';
import { createApiKey, rotateApiKey } from './identity/apiKeys.ts';
import { resolveOptions, type ServiceOptions } from './options/options.ts';
import { Runtime } from './service.ts';
import type { ApiKeyRecord, QueueDepth } from './stores/port/taskStore.ts';

export type { CodedError, ErrorCode, InvalidItem } from '../shared/errors.ts';
export type { HostSignal, HostStream } from '../shared/hostTypes.ts';
export type { FinalState, TaskState, UnfinishedState } from '../wire/taskStates.ts';
export type {
  Arrivals,
  BlobBody,
  BlobPutOptions,
  BlobRef,
  BlobStore,
  ResultUrlOptions,
  StoredBlob,
  Uploaded,
  UploadUrlOptions,
} from './blobs/port/blobStore.ts';
export type { Logger, PortCall, RunnerEvent, ServiceEvent } from './events.ts';
export { toFastifyPlugin } from './hosts/fastify.ts';
export {
  type FetchHandler,
  type Mountable,
  type MountOptions,
  toFetchHandler,
} from './hosts/fetch.ts';
export { type NodeHandler, toNodeHandler } from './hosts/node.ts';
export { answerHealth, type Health, type ServiceState } from './http/health.ts';
export type { ProblemBody } from './http/problems.ts';
export type { TracingApi } from './http/tracing.ts';
export type { Authenticate, ClientIdentity } from './identity/callers.ts';
export type {
  PerClientLimits,
  ServiceOptions,
} from './options/options.ts';
export type { Arithmetic, SigningSalt } from './signing/keyFile.ts';
export {
  SIGNER_TIMEOUT_MS,
  type Signed,
  type Signer,
  SignerBusy,
  SignerRefusal,
  type SignRequest,
} from './signing/signer.ts';
export type {
  ClientQuota,
  CompleteStore,
  OperatorStore,
  QuotaStore,
  ServiceStore,
  UnfinishedQuery,
} from './stores/port/serviceStore.ts';
export type {
  ListedTask,
  PartCounts,
  Task,
  TaskError,
  TaskKind,
  TaskProgress,
  TaskResult,
} from './stores/port/task.ts';
// All types of the ports, for hosts that write their own store.
export type {
  AnswerHold,
  ApiKeyRecord,
  ApiKeyStore,
  Attempt,
  BeginAnswer,
  CancelOutcome,
  Claim,
  ClaimOptions,
  ClientLimits,
  ClientUsage,
  Extension,
  ListPage,
  ListQuery,
  NewPart,
  NewTask,
  NextApiKey,
  NotifyOutcome,
  PartQuery,
  PartStore,
  PutOptions,
  PutOutcome,
  PutPartOutcome,
  QueueDepth,
  RemoveOutcome,
  Retry,
  SuspectClock,
  Sweep,
  SweepOptions,
  TaskNews,
  TaskStore,
  UploadOutcome,
} from './stores/port/taskStore.ts';
export type { TableStoreOptions } from './stores/rules/tableStore.ts';
export { memoryStore } from './stores/sqlite/memory.ts';
export { type SqliteOptions, sqliteStore } from './stores/sqlite/sqlite.ts';
export type { SqliteFile } from './stores/sqlite/sqliteFile.ts';
export type { StoreSettings } from './stores/sqlite/sqliteWork.ts';

/** The API keys in the service's own store. */
export interface ApiKeys {
  /** Creates a key, for a new client by default. The key is returned only here. */
  create(owner: {
    readonly name: string;
    readonly clientId?: number;
    /** Lifetime; default: unlimited. */
    readonly ttlMs?: number;
  }): Promise<{
    readonly key: string;
    readonly clientId: number;
  }>;
  /** Returns the record of every key; keys themselves are not stored. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /**
   * Creates a key with the same client and name; the old one expires after the overlap.
   *
   * @returns the key, only here; null if there is no key with this hash
   */
  rotate(
    sha256: string,
    options: { readonly overlapMs: number; readonly ttlMs?: number },
  ): Promise<string | null>;
  /** @returns false if there is no key with this hash */
  revoke(sha256: string): Promise<boolean>;
}

export interface FalconService {
  /** Mount it with `host.route('/falcon', service.app)`, or pass a Request to `app.fetch`. */
  readonly app: Hono<Env>;
  readonly apiKeys: ApiKeys;
  /**
   * Opens the store, files and keys, and starts the workers. Every call returns the same promise.
   */
  start(): Promise<void>;
  /**
   * Refuses new requests with 503, lets running work finish for up to `graceMs` (default 10,000),
   * returns the rest to the queue, and closes everything. A stopped service cannot be restarted.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  /**
   * Returns whether the service can work, for load balancers; `answerHealth` makes HTTP responses.
   * Results are cached for a second, so any number of calls is cheap.
   */
  health(): Promise<Health>;
  /**
   * Announces the stop: `health` reports `draining`, so that load balancers stop sending requests.
   * Requests are still served until `stop`.
   */
  drain(): void;
  /** Number of tasks that this process works on. */
  readonly running: number;
  /**
   * Counts unfinished tasks of all clients. @throws CodedError `NOT_STARTED`, `STORE_UNAVAILABLE`
   */
  depth(): Promise<QueueDepth>;
}

/**
 * Creates the service. This only checks the options; nothing is opened before `start`.
 *
 * @throws TypeError for unknown options and wrong types, RangeError for values out of range
 */
export function falconService(options: ServiceOptions = {}): FalconService {
  const runtime = new Runtime(resolveOptions(options));
  const keys = () => {
    const { apiKeys } = runtime.ports;
    if (apiKeys === null) {
      throw new CodedError('CONFLICT', { message: 'The store of this service keeps no API keys' });
    }
    return apiKeys;
  };
  return {
    app: createApp(runtime),
    apiKeys: {
      async create(owner) {
        const { key, record } = await createApiKey(keys(), owner);
        return { key, clientId: record.clientId };
      },
      rotate: async (sha256, next) => (await rotateApiKey(keys(), sha256, next))?.key ?? null,
      list: async () => keys().listApiKeys(),
      revoke: async (sha256) => keys().removeApiKey(sha256),
    },
    start: () => runtime.start(),
    stop: ({ graceMs = 10_000 } = {}) => runtime.stop(graceMs),
    health: () => runtime.health.look(),
    drain: () => runtime.drain(),
    get running() {
      return runtime.running;
    },
    depth: async () => runtime.ports.store.depth(),
  };
}
