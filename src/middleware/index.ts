/**
 * The service: signing, and batches of signatures that become one aggregate, behind seven endpoints.
 *
 * @example
 * ```ts
 * const service = falconService({ dataDirectory: '/var/lib/falconry' });
 * await service.start();
 * host.route('/falcon', service.app);
 * ```
 */
import type { Hono } from 'hono';
import { CodedError } from '../errors.ts';
import { createApp } from './app.ts';
import { createApiKey } from './keys/apiKeys.ts';
import { resolveOptions, type ServiceOptions } from './options.ts';
import type { Env } from './routes/route.ts';
import { Runtime } from './runtime.ts';
import type { ApiKeyRecord } from './stores/taskStore.ts';

export type { BlobStore } from './blobs/blobStore.ts';
export { toFastifyPlugin } from './hosts/fastify.ts';
export {
  type FetchHandler,
  type Mountable,
  type MountOptions,
  toFetchHandler,
} from './hosts/fetch.ts';
export { type NodeHandler, toNodeHandler } from './hosts/node.ts';
export { fileKeyStore, type KeyStore, type SigningKey } from './keys/keyStore.ts';
export type { Logger, PerClientLimits, ServiceEvent, ServiceOptions } from './options.ts';
export type { ProblemBody } from './problems.ts';
export { memoryStore } from './stores/memory.ts';
export { sqliteStore } from './stores/sqlite.ts';
export type { ApiKeyRecord, ApiKeyStore, TaskStore } from './stores/taskStore.ts';
export type { Task, TaskState } from './task.ts';

/** API keys of a service that keeps them itself. */
export interface ApiKeys {
  /** A new key, shown only here; `clientId` absent: for a new client. */
  create(owner: { readonly name: string; readonly clientId?: number }): Promise<{
    readonly key: string;
    readonly clientId: number;
  }>;
  /** Every key's record; the keys themselves are not kept. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /** @returns false when there is no key with this hash */
  revoke(sha256: string): Promise<boolean>;
}

export interface FalconService {
  /** Mount it anywhere: `host.route('/falcon', service.app)`, or hand `app.fetch` a Request. */
  readonly app: Hono<Env>;
  readonly apiKeys: ApiKeys;
  /** Opens store, files and keys, and starts the workers. Repeats give the same promise. */
  start(): Promise<void>;
  /**
   * Refuses new requests with 503, gives running work `graceMs` (default 10,000) to end, returns what
   * has not ended to the queue, closes everything. A stopped service does not start again.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Makes the service; only checks its options. Nothing is opened before `start`.
 *
 * @throws TypeError, RangeError for options that cannot be
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
      list: async () => keys().listApiKeys(),
      revoke: async (sha256) => keys().removeApiKey(sha256),
    },
    start: () => runtime.start(),
    stop: ({ graceMs = 10_000 } = {}) => runtime.stop(graceMs),
  };
}
