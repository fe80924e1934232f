/** The type of a route: plain data that the app mounts. */
import type { Context } from 'hono';
import type { BodyBudget } from '../http/bodyBudget.ts';
import type { Env } from '../http/observe.ts';
import type { AnonymousLimiter, RequestLimiter } from '../limits.ts';
import type { Settings } from '../options/options.ts';
import type { Reservations } from '../reservations.ts';
import type { Runtime } from '../runtime.ts';

/** What handlers use besides the request. */
export interface Deps {
  readonly settings: Settings;
  readonly runtime: Runtime;
  readonly budget: BodyBudget;
  readonly limiter: RequestLimiter;
  readonly anonymous: AnonymousLimiter;
  readonly reservations: Reservations;
}

/** The sender of a request with a valid API key. */
export interface Caller {
  readonly clientId: number;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the mount point: `/v1/…`. */
  readonly path: string;
  /**
   * 'key': needs an API key; 'url': the signed url itself is the right; 'open': for everyone, also
   * before the start, with headers of its own.
   */
  readonly right: 'key' | 'url' | 'open';
  handle(c: Context<Env>, caller: Caller): Promise<Response>;
}

/** The task id in a path, or null if it cannot be one. */
export function pathId(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,18}$/.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}
