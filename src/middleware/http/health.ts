/**
 * Whether the service can do its work. `/healthz` says that the process answers and asks nothing;
 * `/readyz` asks store and files. They stand outside of the mount: a host adds them where it likes.
 *
 * Everybody may ask, so an answer is kept for a second, a good one as long as its port says; and
 * each port has at most one question open, however long it takes. A port that does not answer is
 * given up after `PATIENCE_MS`.
 */
import { type ErrorCode, isCodedError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/wait.ts';

/** `starting`: not started yet, or it could not be; `draining`: it is being stopped. */
export type ServiceState = 'starting' | 'running' | 'draining';

/** What a look at the service found. */
export interface Health {
  /** Running, and every port answers. */
  readonly ready: boolean;
  readonly state: ServiceState;
  /** `ok`, or what is wrong with a port. Empty unless the service runs. */
  readonly checks: Readonly<Record<string, 'ok' | ErrorCode>>;
}

const KEEP_MS = 1000;
const PATIENCE_MS = 1200;
const ASKED = ['store', 'blobs'] as const;

type Ports = Readonly<Record<(typeof ASKED)[number], Pinged>>;

interface Pinged {
  ping(): Promise<void>;
  readonly keepPingMs?: number;
}

/** The part of the runtime that is looked at. */
interface Watched {
  readonly state: ServiceState;
  readonly ports: Ports;
}

export class HealthWatch {
  readonly #watched: Watched;
  readonly #questions: readonly (readonly [name: string, CachedProbe<'ok' | ErrorCode>])[];

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#questions = ASKED.map((name) => {
      const keepMs = (answer: 'ok' | ErrorCode | null) =>
        answer === 'ok' ? (watched.ports[name].keepPingMs ?? KEEP_MS) : KEEP_MS;
      const ask = () => ping(watched.ports[name]);
      return [name, new CachedProbe(ask, { keepMs, patienceMs: PATIENCE_MS })];
    });
  }

  /** Never rejects. */
  async look(): Promise<Health> {
    if (this.#watched.state !== 'running') return this.#unready();
    const found = this.#questions.map(
      async ([name, question]) => [name, (await question.answer()) ?? 'TIMED_OUT'] as const,
    );
    const checks: Health['checks'] = Object.fromEntries(await Promise.all(found));
    // It may have been stopped meanwhile.
    if (this.#watched.state !== 'running') return this.#unready();
    const ready = Object.values(checks).every((each) => each === 'ok');
    return { ready, state: 'running', checks };
  }

  #unready(): Health {
    return { ready: false, state: this.#watched.state, checks: {} };
  }
}

async function ping(port: Pinged): Promise<'ok' | ErrorCode> {
  try {
    await port.ping();
    return 'ok';
  } catch (error) {
    return isCodedError(error) ? error.code : 'STORE_UNAVAILABLE';
  }
}

/** A service, or anything else with its health. */
export interface Examinable {
  health(): Promise<Health>;
}

/**
 * The answer to `GET /healthz` (200 as long as the process answers) or `/readyz` (200, else 503
 * with what is wrong); null for every other request.
 *
 * @example
 * ```ts
 * const answer = answerHealth(service, request); return answer ?? service.app.fetch(request);
 * ```
 */
export function answerHealth(service: Examinable, request: Request): Promise<Response> | null {
  const { method, url } = request;
  const { pathname } = new URL(url);
  if (pathname !== '/healthz' && pathname !== '/readyz') return null;
  return answerTo(service, method, pathname);
}

async function answerTo(service: Examinable, method: string, path: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  if (method !== 'GET' && method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  }
  const answer = (body: object, status: number, more = {}) =>
    new Response(method === 'HEAD' ? null : `${JSON.stringify(body)}\n`, {
      status,
      headers: { ...headers, ...more },
    });
  if (path === '/healthz') return answer({ status: 'ok' }, 200);
  const { ready, state, checks } = await service.health();
  if (ready) return answer({ status: 'ready', state, checks }, 200);
  return answer({ status: 'not ready', state, checks }, 503, { 'retry-after': '1' });
}

interface CachedProbeOptions<T> {
  /** How long an answer is kept; null stands for none. */
  readonly keepMs: number | ((answer: T | null) => number);
  /** The longest that anybody waits. */
  readonly patienceMs: number;
}

/**
 * A question that costs something, for askers who may come at any rate: one is open at a time, the
 * answer is kept for a while, and nobody waits for long.
 */
export class CachedProbe<T> {
  readonly #ask: () => Promise<T>;
  readonly #keepMs: (answer: T | null) => number;
  readonly #patienceMs: number;
  #open: Promise<T | null> | null = null;
  #kept: { readonly answer: T | null; readonly atMs: number } | null = null;

  constructor(ask: () => Promise<T>, { keepMs, patienceMs }: CachedProbeOptions<T>) {
    this.#ask = ask;
    this.#keepMs = typeof keepMs === 'number' ? () => keepMs : keepMs;
    this.#patienceMs = patienceMs;
  }

  /** @returns the answer; null if there was an error, or if it takes too long */
  async answer(): Promise<T | null> {
    const { answer, atMs = -Infinity } = this.#kept ?? {};
    if (answer !== undefined && performance.now() - atMs < this.#keepMs(answer)) return answer;
    this.#open ??= this.#put();
    return withTimeout(this.#open, this.#patienceMs, () => undefined).catch(() => null);
  }

  async #put(): Promise<T | null> {
    let answer: T | null = null;
    try {
      answer = await this.#ask();
    } catch {
      // No answer: the asker decides what that means.
    }
    this.#kept = { answer, atMs: performance.now() };
    this.#open = null;
    return answer;
  }
}
