/**
 * The HTTP skin: puts the routes in place, and around each one the same rings: who is it, how often
 * does he come, what went wrong.
 *
 *   path → method → API key → rate → handler        every refusal on the way is a problem document
 */
import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { CodedError, isCodedError } from '../errors.ts';
import { BodyBudget } from './http/body.ts';
import { RequestLimiter } from './limits.ts';
import { ProblemError, problemResponse } from './problems.ts';
import { aggsignRoutes } from './routes/aggsign.ts';
import type { Caller, Deps, Env, Route } from './routes/route.ts';
import { signRoutes } from './routes/sign.ts';
import { taskRoutes } from './routes/tasks.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { describe, type Runtime } from './runtime.ts';

export function createApp(runtime: Runtime): Hono<Env> {
  const { settings } = runtime;
  const { requestsPerSecond, burst } = settings.limits;
  const deps: Deps = {
    settings,
    runtime,
    budget: new BodyBudget(settings.maxBufferedBytes),
    limiter: new RequestLimiter(requestsPerSecond, burst),
  };
  const routes = [
    ...signRoutes(deps),
    ...aggsignRoutes(deps),
    ...taskRoutes(deps),
    ...uploadRoutes(deps),
  ];
  const app = new Hono<Env>();
  app.onError((error, c) => refuse(c, deps, error));
  app.notFound((c) => refuse(c, deps, notFound()));
  for (const route of routes) app.on(route.method, route.path, (c) => serve(c, deps, route));
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map((route) => route.method);
    const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    app.all(path, (c) => refuse(c, deps, methodNotAllowed(allow)));
  }
  // Below a host's own application `notFound` is the host's: our own branches answer for themselves.
  for (const branch of ['falcon', settings.serviceName]) {
    app.all(`/v1/${branch}/*`, (c) => refuse(c, deps, notFound()));
  }
  return app;
}

async function serve(c: Context<Env>, deps: Deps, route: Route): Promise<Response> {
  const startMs = performance.now();
  let leave = () => {};
  let clientId: number | undefined;
  let response: Response;
  try {
    leave = deps.runtime.enter();
    const caller = route.right === 'key' ? await identify(c, deps) : { clientId: 0 };
    if (route.right === 'key') {
      clientId = caller.clientId;
      deps.limiter.take(clientId);
    }
    response = await route.handle(c, caller);
    // Answers to a key hold signed urls.
    if (route.right === 'key') response.headers.set('cache-control', 'no-store');
  } catch (error) {
    response = refuse(c, deps, error);
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

async function identify(c: Context, { settings, runtime }: Deps): Promise<Caller> {
  const { ports } = runtime;
  const key = c.req.header('authorization');
  const caller = key ? await ports.authenticate(key) : null;
  if (caller === null || caller === undefined) {
    const realm = settings.serviceName;
    throw new ProblemError('UNAUTHENTICATED', {
      message: key ? 'The API key is not known' : 'An API key is required',
      headers: { 'www-authenticate': `ApiKey realm="${realm}"` },
    });
  }
  if (!Number.isSafeInteger(caller.clientId)) {
    throw new CodedError('INTERNAL', {
      cause: new TypeError('authenticate: clientId must be an integer'),
    });
  }
  return caller;
}

/** The problem document of an error; what is not expected goes to the log under an id. */
function refuse(c: Context, { settings }: Deps, error: unknown): Response {
  if (isCodedError(error) && error.status !== 500) {
    return problemResponse(error);
  }
  const id = randomUUID();
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

const methodNotAllowed = (allow: readonly string[]) =>
  new ProblemError('METHOD_NOT_ALLOWED', { headers: { allow: allow.join(', ') } });
