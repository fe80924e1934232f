/**
 * The HTTP app: mounts the routes and wraps each in the same steps: authentication, rate limits,
 * error documents.
 *
 *   path → method → API key → rate → handler        every error is a problem document
 */
import type { Context, MiddlewareHandler } from 'hono';
import { CodedError, type ErrorCode, isCodedError } from '../shared/errors.ts';
import { errorSummary, errorText } from './events.ts';
import { isPlainRequest, mountAddress, remoteAddress } from './http/address.ts';
import { BodyBudget } from './http/bodyBudget.ts';
import { cors, Hono } from './http/npmInstallHono.ts';
import type { Env } from './http/observe.ts';
import { observed } from './http/observe.ts';
import { ProblemError, problemResponse } from './http/problems.ts';
import { AnonymousLimiter, credentialsOf, RequestLimiter } from './http/rateLimits.ts';
import { newTraceId, REQUEST_ID } from './http/traceContext.ts';
import { isRefusal } from './identity/callers.ts';
import type { Settings } from './options/options.ts';
import { uiRoutes } from './page/route.ts';
import { aggsignRoutes } from './routes/aggsign.ts';
import { openapiRoute } from './routes/openapi.ts';
import { Reservations } from './routes/reservations.ts';
import type { Caller, Deps, Route } from './routes/route.ts';
import { signRoutes } from './routes/sign.ts';
import { taskRoutes } from './routes/tasks.ts';
import { uploadRoutes } from './routes/uploads.ts';
import type { Runtime } from './service.ts';

export function createApp(runtime: Runtime): Hono<Env> {
  const { settings } = runtime;
  const { requestsPerSecond, burst, refusedPerSecond, refusedBurst } = settings.limits;
  const limiter = new RequestLimiter({ perSecond: requestsPerSecond, burst });
  const deps: Deps = {
    settings,
    runtime,
    budget: new BodyBudget(settings.maxBufferedBytes, (clientId, bytes) =>
      limiter.chargeBody(clientId, bytes),
    ),
    limiter,
    anonymous: new AnonymousLimiter({ perSecond: refusedPerSecond, burst: refusedBurst }),
    visitors: new RequestLimiter({ perSecond: refusedPerSecond, burst: refusedBurst }),
    refusals: new RequestLimiter(PROMPT_REFUSALS),
    reservations: new Reservations(),
  };
  const routes: Route[] = [
    ...signRoutes(deps),
    ...aggsignRoutes(deps),
    ...taskRoutes(deps),
    ...uploadRoutes(deps),
    ...(settings.ui ? uiRoutes(deps) : []),
    openapiRoute(deps),
  ];
  const app = new Hono<Env>();
  app.onError((error, c) => refuse(c, deps, error));
  const watched = (c: Context<Env>, path: string, answer: () => Response | Promise<Response>) =>
    observed(c, runtime, path, () =>
      isPlainRequest(c.req, c.env) ? answer() : refuse(c, deps, notFound()),
    );
  const refused = (c: Context<Env>, path: string, error: () => CodedError) =>
    watched(c, path, () => refuse(c, deps, error()));
  app.notFound((c) => refused(c, '*', notFound));
  const paths = new Set(routes.map((route) => route.path));
  const branches = ['falcon', settings.serviceName, 'ui'].map((name) => `/v1/${name}/*`);
  if (settings.cors) {
    const allow = allowOrigins(settings.cors);
    for (const path of [...paths, ...branches]) {
      app.use(path, (c, next) => {
        if (c.req.method !== 'OPTIONS') return allow(c, next);
        return watched(c, path, async () => (await allow(c, next)) as Response);
      });
    }
  }
  for (const route of routes) {
    app.on(route.method, route.path, (c) => watched(c, route.path, () => serve(c, deps, route)));
  }
  for (const path of paths) {
    const methods = routes.filter((route) => route.path === path).map((route) => route.method);
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    app.options(path, (c) => watched(c, path, () => c.body(null, 204, { allow })));
    app.all(path, (c) => refused(c, path, () => methodNotAllowed(allow)));
  }
  // Inside a host's application, `notFound` belongs to the host, so these branches answer here.
  for (const branch of branches) app.all(branch, (c) => refused(c, branch, notFound));
  return app;
}

/**
 * Allows pages of these origins to send requests and read answers. This is safe: unlike a cookie,
 * an API key is sent deliberately, and pages cannot read answers to requests with cookies.
 */
function allowOrigins(origin: NonNullable<Settings['cors']>): MiddlewareHandler<Env> {
  return cors({
    origin: origin === '*' ? '*' : [...origin],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowHeaders: [
      'authorization',
      'content-encoding',
      'content-type',
      'idempotency-key',
      'last-event-id',
      // Libraries that trace requests add these by themselves.
      ...['traceparent', 'tracestate', 'baggage', 'sentry-trace'],
    ],
    exposeHeaders: ['allow', 'etag', 'location', 'retry-after', 'www-authenticate', REQUEST_ID],
    maxAge: 3600,
  });
}

async function serve(c: Context<Env>, deps: Deps, route: Route): Promise<Response> {
  let leave = () => {};
  let response: Response;
  try {
    if (route.right === 'open') deps.visitors.take(remoteAddress(c, deps.settings));
    else leave = deps.runtime.enter();
    response =
      route.right === 'key'
        ? await serveCaller(c, deps, route)
        : await route.handle(c, { clientId: 0 }, undefined);
    // These answers contain signed URLs.
    const { headers } = response;
    if (route.right === 'key' && !headers.has('cache-control')) {
      headers.set('cache-control', 'no-store');
    }
  } catch (error) {
    response = refuse(c, deps, error);
    if (route.right === 'url' && response.status === 403) response = counted(c, deps, response);
  } finally {
    leave();
  }
  if (response.status === 429) await holdBack(c, deps);
  return response;
}

/** A sender that asks again at once would be refused thousands of times a second. */
const PROMPT_REFUSALS = { perSecond: 20, burst: 20 };
const HELD_BACK_MS = 150;

async function holdBack(c: Context<Env>, { refusals, settings }: Deps): Promise<void> {
  try {
    refusals.take(c.get('clientId') ?? remoteAddress(c, settings));
  } catch {
    // At random: the connections of one sender would otherwise all come back at the same moment.
    const ms = (0.5 + Math.random()) * HELD_BACK_MS;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/**
 * Serves the sender of an API key. While the key is looked up, what the handler needs is read for
 * the client that had the key last, unless this client is over its rate.
 */
async function serveCaller(c: Context<Env>, deps: Deps, route: Route): Promise<Response> {
  const { limiter, runtime, anonymous } = deps;
  const { limits } = runtime.ports;
  const address = remoteAddress(c, deps.settings);
  const credentials = credentialsIn(c.req.raw.headers, deps.settings);
  const cost = route.cost?.(c);
  const rated = async (clientId: number, verb: 'check' | 'take'): Promise<void> => {
    c.set('clientId', clientId);
    const { rate } = await limits.of(clientId);
    limiter[verb](clientId, rate, performance.now(), cost);
  };
  const last = anonymous.admit(address, credentials);
  // What a host's own hook reads may name another client each time.
  const isLikely = last !== undefined && !deps.settings.authenticate;
  if (isLikely) await rated(last, 'check');
  const begun = isLikely ? route.begin?.(c, last) : undefined;
  // It is of no use if the caller is refused.
  begun?.catch(() => {});
  c.set('clientId', undefined);
  const caller = await identify(c, deps, address);
  if (caller.clientId !== last) anonymous.good(credentials, caller.clientId);
  await rated(caller.clientId, 'take');
  const read = caller.clientId === last && begun ? begun : route.begin?.(c, caller.clientId);
  return route.handle(c, caller, await read);
}

/** Returns the API key, and whatever else a host may authenticate by. */
function credentialsIn(headers: Headers, settings: Settings): string {
  const { authenticate, credentialHeaders } = settings;
  if (authenticate) return credentialsOf(headers, credentialHeaders);
  return headers.get('authorization') ?? '';
}

/**
 * Authenticates a request.
 *
 * @throws ProblemError `UNAUTHENTICATED`, or `RATE_LIMITED` after too many such requests
 */
async function identify(
  c: Context,
  { settings, runtime, anonymous }: Deps,
  address: string,
): Promise<Caller> {
  const { ports } = runtime;
  const { raw } = c.req;
  const key = raw.headers.get('authorization') ?? '';
  let reason = mayBeForged(c, settings) ? FORGED : null;
  const find = async () => (reason === null ? ports.authenticate(key, raw) : null);
  const caller = await find().catch((error) => {
    if (!isRefusal(error)) throw error;
    reason = error.message;
    return null;
  });
  if (caller === null) {
    anonymous.refused(address);
    const realm = settings.serviceName;
    throw new ProblemError('UNAUTHENTICATED', {
      message: reason ?? (settings.authenticate ? STRANGER : unknownKey(key)),
      headers: { 'www-authenticate': `ApiKey realm="${realm}"` },
    });
  }
  return caller;
}

/**
 * Returns whether a page of another site may have sent a request that changes something, with the
 * cookie of a caller who is logged in. Pages cannot send an `Authorization` of their own unasked.
 */
function mayBeForged(c: Context, settings: Settings): boolean {
  const { credentialHeaders = ['cookie'], authenticate } = settings;
  const isSafe = ['GET', 'HEAD'].includes(c.req.method) || c.req.header('authorization');
  if (!authenticate || isSafe || !credentialHeaders.includes('cookie')) return false;
  if (c.req.header('cookie') === undefined) return false;
  const origin = c.req.header('origin');
  const isOwn = origin !== undefined && origin === new URL(mountAddress(c, settings)).origin;
  return !isOwn && c.req.header('sec-fetch-site') !== 'same-origin';
}

const FORGED =
  'A change by cookie needs "Sec-Fetch-Site: same-origin" or the Origin of the service';

const STRANGER = 'The request does not say who sends it, or not in a valid way';

/** Returns the message for an unknown API key. */
function unknownKey(key: string): string {
  if (key === '') return 'An API key is required';
  if (/^(bearer|basic|apikey|token)\s/i.test(key)) {
    return 'The API key is not known: send the key alone, without a scheme word before it';
  }
  return 'The API key is not known';
}

/** Returns the refusal of a signed URL, or `RATE_LIMITED` after too many from this address. */
function counted(c: Context, { anonymous, settings }: Deps, refusal: Response): Response {
  try {
    anonymous.refused(remoteAddress(c, settings));
    return refusal;
  } catch (error) {
    return problemResponse(error as ProblemError);
  }
}

/** Codes of refusals that are logged. */
const TROUBLE: ReadonlySet<ErrorCode> = new Set(['STORE_UNAVAILABLE', 'STORAGE_FULL', 'TIMED_OUT']);

/** Returns the problem document of an error; logs unexpected errors with an id. */
function refuse(c: Context<Env>, { settings }: Deps, error: unknown): Response {
  const id = c.get('origin')?.requestId ?? newTraceId();
  if (isCodedError(error) && error.status !== 500) {
    if (TROUBLE.has(error.code))
      settings.logger.warn('request refused', { id, ...errorSummary(error) });
    return problemResponse(error);
  }
  settings.logger.error('request failed', {
    id,
    method: c.req.method,
    path: new URL(c.req.url).pathname,
    error: errorText(error),
  });
  const shown = isCodedError(error) ? error : new CodedError('INTERNAL', { cause: error });
  return problemResponse(shown, { id });
}

const notFound = () => new CodedError('NOT_FOUND');

const methodNotAllowed = (allow: string) =>
  new ProblemError('METHOD_NOT_ALLOWED', { headers: { allow } });
