/** The type of a route, which is plain data. */
import type { Context } from 'hono';
import type { BlobStore } from '../blobs/port/blobStore.ts';
import type { BodyBudget } from '../http/bodyBudget.ts';
import type { ClientLimits } from '../http/clientLimits.ts';
import type { Env } from '../http/observe.ts';
import type { AnonymousLimiter, RequestLimiter } from '../http/rateLimits.ts';
import type { FindCaller } from '../identity/callers.ts';
import type { Settings } from '../options/options.ts';
import type { VerifiedSigner } from '../signing/signer.ts';
import type { ApiKeyStore, PartStore, TaskStore } from '../stores/port/taskStore.ts';
import type { Aggregator } from '../tasks/aggregateTask.ts';
import type { BatchReader } from '../tasks/batchReader.ts';
import type { Reservations } from './reservations.ts';

/** The ports of a running service. */
export interface Ports {
  readonly store: TaskStore;
  readonly parts: PartStore | null;
  readonly blobs: BlobStore;
  readonly apiKeys: ApiKeyStore | null;
  readonly signer: VerifiedSigner | null;
  /** Verifies aggregates, and does the work of the runner. */
  readonly aggregator: Aggregator;
  /** Reads bodies with many items. */
  readonly reader: BatchReader;
  /** Key for the signatures of URLs that the service serves itself. */
  readonly urlSecret: Uint8Array;
  readonly limits: ClientLimits;
  /** Key for the checksums of cursors. */
  readonly cursorSecret: Uint8Array;
  readonly authenticate: FindCaller;
}

/** What runs behind the routes. */
export interface Backend {
  /** @throws CodedError `NOT_STARTED` before the start, `SHUTTING_DOWN` after the stop */
  readonly ports: Ports;
  readonly stopping: boolean;
  /** Counts a request; the ports stay open until the returned function is called. */
  enter(): () => void;
}

/** The dependencies of handlers. */
export interface Deps {
  readonly settings: Settings;
  readonly runtime: Backend;
  readonly budget: BodyBudget;
  readonly limiter: RequestLimiter;
  readonly anonymous: AnonymousLimiter;
  /** Limits the documents that need no key, by address. */
  readonly visitors: RequestLimiter;
  /** Refusals that are answered at once, by client or address. */
  readonly refusals: RequestLimiter;
  readonly reservations: Reservations;
}

/** The sender of a request with a valid API key. */
export interface Caller {
  readonly clientId: number;
}

/** `Begun`: what `begin` returns. */
export interface Route<Begun = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the mount point: `/v1/…`. */
  readonly path: string;
  /**
   * 'key': needs an API key; 'url': the signed URL grants access; 'open': for everyone, even before
   * the start.
   */
  readonly right: 'key' | 'url' | 'open';
  /** The requests that one counts as, in the rate of its client. Default: 1. */
  cost?(c: Context<Env>): number;
  /**
   * What `handle` reads first of a client. May be called before it is known that this client sent
   * the request.
   */
  begin?(c: Context<Env>, clientId: number): Promise<Begun>;
  handle(c: Context<Env>, caller: Caller, begun: Begun): Promise<Response>;
}

/** Handles requests of callers. */
export type Handler = (c: Context<Env>, caller: Caller) => Promise<Response>;

/** Returns the task id in a path, or null if it is malformed. */
export function pathId(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,18}$/.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}
