/** What every route file exports: a list of routes, as plain data that the app puts in place. */
import type { Context } from 'hono';
import type { BodyBudget } from '../http/body.ts';
import type { AnonymousLimiter, RequestLimiter } from '../limits.ts';
import type { Operation } from '../openapi/operation.ts';
import type { Operations } from '../openapi/operations.ts';
import type { Settings } from '../options.ts';
import type { Runtime } from '../runtime.ts';

/** What the app keeps with a request. */
export interface Env {
  Variables: { clientId: number | undefined };
}

/** What handlers work with, beside the request. */
export interface Deps {
  readonly settings: Settings;
  readonly runtime: Runtime;
  readonly budget: BodyBudget;
  readonly limiter: RequestLimiter;
  readonly anonymous: AnonymousLimiter;
  /** What the document says of each endpoint, and the schemas that judge its requests. */
  readonly operations: Operations;
}

/** A request whose API key was good. */
export interface Caller {
  readonly clientId: number;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the mount point: `/v1/…`. */
  readonly path: string;
  /**
   * 'key': needs an API key; 'url': the signed url itself is the right; 'open': a page for
   * everybody, which also is there before the start, and sets its own headers.
   */
  readonly right: 'key' | 'url' | 'open';
  /** What the OpenAPI document says of it; absent only for the parts of a page. */
  readonly operation?: Operation;
  handle(c: Context<Env>, caller: Caller): Promise<Response>;
}

/** Task id of a path, or null for what cannot be one. */
export function pathId(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,18}$/.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}
