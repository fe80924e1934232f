/**
 * The HTTP app: mounts the routes and wraps each in the same steps: who is calling, how often, and
 * what went wrong.
 *
 *   path → method → API key → rate → handler        every error is a problem document
 */
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { CodedError, isCodedError } from '../errors.ts';
import { remoteAddress } from './http/address.ts';
import { BodyBudget } from './http/body.ts';
import { AnonymousLimiter, RequestLimiter } from './limits.ts';
import { operations } from './openapi/operations.ts';
import { documentRoutes } from './openapi/routes.ts';
import type { Settings } from './options.ts';
import { ProblemError, problemResponse } from './problems.ts';
import { aggsignRoutes } from './routes/aggsign.ts';
import type { Caller, Deps, Env, Route } from './routes/route.ts';
import { signRoutes } from './routes/sign.ts';
import { taskRoutes } from './routes/tasks.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { describe, type Runtime } from './runtime.ts';
import { uiRoutes } from './ui/routes.ts';

export function createApp(runtime: Runtime): Hono<Env> {
  const { settings } = runtime;
  const { requestsPerSecond, burst, refusedPerSecond, refusedBurst } = settings.limits;
  const deps: Deps = {
    settings,
    runtime,
    budget: new BodyBudget(settings.maxBufferedBytes),
    limiter: new RequestLimiter(requestsPerSecond, burst),
    anonymous: new AnonymousLimiter(refusedPerSecond, refusedBurst),
    operations: operations(settings),
  };
  const routes: Route[] = [
    ...signRoutes(deps),
    ...aggsignRoutes(deps),
    ...taskRoutes(deps),
    ...uploadRoutes(deps),
    ...(settings.ui ? uiRoutes(deps) : []),
  ];
  routes.push(...documentRoutes(deps, routes));
  const app = new Hono<Env>();
  app.onError((error, c) => refuse(c, deps, error));
  app.notFound((c) => refuse(c, deps, notFound()));
  const paths = new Set(routes.map((route) => route.path));
  const branches = ['falcon', settings.serviceName, 'docs', 'ui'].map((name) => `/v1/${name}/*`);
  if (settings.cors) allowOrigins(app, settings.cors, [...paths, ...branches]);
  for (const route of routes) app.on(route.method, route.path, (c) => serve(c, deps, route));
  for (const path of paths) {
    const methods = routes.filter((route) => route.path === path).map((route) => route.method);
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    app.options(path, (c) => c.body(null, 204, { allow }));
    app.all(path, (c) => refuse(c, deps, methodNotAllowed(allow)));
  }
  // Inside a host's application `notFound` belongs to the host, so our branches answer themselves.
  for (const branch of branches) app.all(branch, (c) => refuse(c, deps, notFound()));
  return app;
}

/**
 * Allows pages of these origins to send requests and read answers. That is safe: an API key is sent
 * on purpose, unlike a cookie.
 */
function allowOrigins(
  app: Hono<Env>,
  origin: NonNullable<Settings['cors']>,
  paths: string[],
): void {
  const handler = cors({
    origin: origin === '*' ? '*' : [...origin],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowHeaders: ['authorization', 'content-type', 'idempotency-key'],
    exposeHeaders: ['allow', 'etag', 'location', 'retry-after', 'www-authenticate'],
    maxAge: 3600,
  });
  for (const path of paths) app.use(path, handler);
}

async function serve(c: Context<Env>, deps: Deps, route: Route): Promise<Response> {
  const startMs = performance.now();
  let leave = () => {};
  let clientId: number | undefined;
  let response: Response;
  try {
    if (route.right !== 'open') leave = deps.runtime.enter();
    const caller = route.right === 'key' ? await identify(c, deps) : { clientId: 0 };
    if (route.right === 'key') {
      clientId = caller.clientId;
      deps.limiter.take(clientId);
    }
    response = await route.handle(c, caller);
    // Answers to a key contain signed urls.
    if (route.right === 'key') response.headers.set('cache-control', 'no-store');
  } catch (error) {
    response = refuse(c, deps, error);
    if (route.right === 'url' && response.status === 403) response = counted(c, deps, response);
  } finally {
    leave();
  }
  deps.settings.onEvent({
    type: 'request',
    method: c.req.method,
    path: route.path,
    status: response.status,
    durationMs: performance.now() - startMs,
    ...(clientId !== undefined && { clientId }),
  });
  return response;
}

async function identify(c: Context, { settings, runtime, anonymous }: Deps): Promise<Caller> {
  const { ports } = runtime;
  const key = c.req.header('authorization') ?? '';
  const address = remoteAddress(c, settings);
  anonymous.admit(address, key);
  const caller = key ? await ports.authenticate(key) : null;
  if (caller === null || caller === undefined) {
    anonymous.refused(address);
    const realm = settings.serviceName;
    throw new ProblemError('UNAUTHENTICATED', {
      message: refusalOf(key),
      headers: { 'www-authenticate': `ApiKey realm="${realm}"` },
    });
  }
  if (!Number.isSafeInteger(caller.clientId)) {
    throw new CodedError('INTERNAL', {
      cause: new TypeError('authenticate: clientId must be an integer'),
    });
  }
  anonymous.good(key);
  return caller;
}

/** What to tell the sender of an API key that nobody has. */
function refusalOf(key: string): string {
  if (key === '') return 'An API key is required';
  if (/^(bearer|basic|apikey|token)\s/i.test(key)) {
    return 'The API key is not known: send the key alone, without a scheme word before it';
  }
  return 'The API key is not known';
}

/** The refusal of a signed url, or `RATE_LIMITED` if this address had too many of them. */
function counted(c: Context, { anonymous, settings }: Deps, refusal: Response): Response {
  try {
    anonymous.refused(remoteAddress(c, settings));
    return refusal;
  } catch (error) {
    return problemResponse(error as ProblemError);
  }
}

/** The problem document of an error; an unexpected error is logged under an id. */
function refuse(c: Context, { settings }: Deps, error: unknown): Response {
  if (isCodedError(error) && error.status !== 500) {
    return problemResponse(error);
  }
  const id = crypto.randomUUID();
  settings.logger.error('request failed', {
    id,
    method: c.req.method,
    path: new URL(c.req.url).pathname,
    error: describe(error),
  });
  const shown = isCodedError(error) ? error : new CodedError('INTERNAL', { cause: error });
  return problemResponse(shown, { id });
}

const notFound = () => new CodedError('NOT_FOUND');

const methodNotAllowed = (allow: string) =>
  new ProblemError('METHOD_NOT_ALLOWED', { headers: { allow } });
