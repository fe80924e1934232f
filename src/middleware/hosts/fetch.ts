/**
 * The service as a function from Request to Response, below any path: for hosts with the web's
 * standard types, and for the adapters to Node.
 */
import { CodedError } from '../../shared/errors.ts';
import { isPlainTarget } from '../http/address.ts';
import { getPath, Hono } from '../http/npmInstallHono.ts';
import type { Env } from '../http/observe.ts';
import { unseenProblem } from '../http/problems.ts';

/** A `FalconService`, or anything else with its `app`. */
export interface Mountable {
  readonly app: Hono<Env>;
}

export interface MountOptions {
  /** The path of the service in the host, such as `/falcon` or `/api/falcon`; default: the root. */
  readonly mountPath?: string;
}

/** Answers a request; `env` goes to the app as its bindings. */
export type FetchHandler = (request: Request, env?: unknown) => Response | Promise<Response>;

/**
 * The service for `Deno.serve`, `Bun.serve` and every other host that passes a Request. Paths that
 * are not below the mount path get a 404.
 *
 * @throws TypeError, RangeError for an invalid mount path
 * @example
 * ```ts
 * const falcon = toFetchHandler(service, { mountPath: '/falcon' });
 * Deno.serve({ port: 3000 }, (request) => falcon(request));
 * ```
 */
export function toFetchHandler(service: Mountable, options: MountOptions = {}): FetchHandler {
  const mountPath = checkMountPath(options);
  const answer = answerBelow(service);
  return (request, env) => answer(request, mountPath, env);
}

/** @returns the mount path without a slash at its end; `''` for the root */
export function checkMountPath(options: MountOptions): string {
  const [unknown] = Object.keys(options).filter((name) => name !== 'mountPath');
  if (unknown !== undefined) throw new TypeError(`"options.${unknown}" is not an option`);
  const { mountPath = '' } = options;
  if (typeof mountPath !== 'string') throw new TypeError('"options.mountPath" must be a string');
  const path = mountPath.replace(/\/+$/, '');
  if (path !== '' && (!isPlainTarget(path) || new URL(path, 'http://a').pathname !== path)) {
    throw new RangeError('"options.mountPath" must be a path as in URLs that begins with a slash');
  }
  return path;
}

export type AnswerBelow = (
  request: Request,
  mountPath: string,
  env?: unknown,
) => Response | Promise<Response>;

/**
 * Like `toFetchHandler`, but with a mount path for each request, as in Express below `/:tenant`.
 */
export function answerBelow(service: Mountable): AnswerBelow {
  const mounts = new WeakMap<Request, string>();
  // Routes match the path below the mount path; URLs in answers use the whole address.
  const host = new Hono<Env>({
    getPath(request) {
      const url = new URL(request.url);
      url.pathname = url.pathname.slice(mounts.get(request)!.length);
      return getPath({ url: url.href } as Request);
    },
  });
  host.route('/', service.app);
  host.notFound((c) => notFound(c.req.raw, c.env));
  return (request, mountPath, env) => {
    const { pathname } = new URL(request.url);
    if (!isBelow(pathname, mountPath)) return notFound(request, env);
    // All paths of the service begin so.
    if (!isBelow(pathname, `${mountPath}/v1`) && pathname.includes('/v1/')) {
      return notFound(request, env, { message: ELSEWHERE });
    }
    mounts.set(request, mountPath);
    return host.fetch(request, env as Record<string, unknown>);
  };
}

/** Returns whether this is the path of the mount, or one below it. */
export const isBelow = (path: string, mountPath: string): boolean =>
  `${path}/`.startsWith(`${mountPath}/`);

const ELSEWHERE =
  'There is nothing here. If the service is mounted here, its handler needs the mount path: ' +
  '{ mountPath: "/falcon" }';

const notFound = ({ headers }: Request, env?: unknown, details = {}) =>
  unseenProblem(new CodedError('NOT_FOUND', details), headers.get('traceparent'), env);
