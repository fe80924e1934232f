/**
 * A real service behind a real port, in a folder of its own, and a client that tells everything.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type HttpServer, openHttpServer } from '../../src/cli/httpServer.ts';
import {
  type FalconService,
  falconService,
  type ServiceOptions,
} from '../../src/middleware/index.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; null when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they like
  readonly json: any;
}

export interface TestService {
  readonly service: FalconService;
  /** `http://127.0.0.1:port` */
  readonly address: string;
  readonly port: number;
  readonly directory: string;
  /** API keys of two clients. */
  readonly alice: string;
  readonly bob: string;
  /** A request with a JSON body, if one is given; `key` null sends none. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts a service over HTTP on a free port. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const directory = await mkdtemp(join(tmpdir(), 'falconry-http-'));
  // Over a store of the test's own only if it names a signer.
  const signing = options.store === undefined ? { signing: true } : {};
  const service = falconService({ dataDirectory: directory, ...signing, ...options });
  await service.start();
  const server: HttpServer = await openHttpServer({
    fetch: service.app.fetch,
    port: 0,
    host: '127.0.0.1',
  });
  const { key: alice } = await service.apiKeys.create({ name: 'alice' });
  const { key: bob } = await service.apiKeys.create({ name: 'bob' });
  const address = `http://127.0.0.1:${server.port}`;
  return {
    service,
    address,
    port: server.port,
    directory,
    alice,
    bob,
    async ask(method, path, body, { key = alice, headers = {} } = {}) {
      const url = path.startsWith('http') ? path : address + path;
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const init: RequestInit = {
        method,
        headers: {
          ...(key !== null && { authorization: key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        redirect: 'manual',
        ...(body !== undefined && { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
      };
      return toAnswer(await fetch(url, init));
    },
    async close() {
      await Promise.all([server.close(0), service.stop({ graceMs: 0 })]);
      // What a request that was cut off still writes can get in between.
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export interface HeldBody {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the first piece has been taken. */
  readonly taken: Promise<void>;
  /** Sends the rest. */
  finish(): void;
}

/** A body in two pieces; the second one waits for `finish`. */
export function heldBody(first: string, rest: string): HeldBody {
  const encoder = new TextEncoder();
  let finish = () => {};
  let readOn = () => {};
  const taken = new Promise<void>((resolve) => {
    readOn = resolve;
  });
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(first));
      finish = () => {
        controller.enqueue(encoder.encode(rest));
        controller.close();
      };
    },
    // Called when the first piece was taken.
    pull: () => readOn(),
  });
  return { body, taken, finish };
}

export async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // Not every answer is JSON.
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** Everything that a problem document must be. */
export function expectProblem(answer: Answer, status: number, code?: string): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  const { type, title, detail } = answer.json;
  expect(answer.json.status).toBe(status);
  expect(type).toMatch(/^urn:falconry:problem:[a-z-]+$/);
  expect(title).toBeTypeOf('string');
  expect(detail).toBeTypeOf('string');
  expect(answer.json.code).toMatch(/^[A-Z_]+$/);
  if (code !== undefined) expect(answer.json.code, answer.text).toBe(code);
  if ([429, 503, 507].includes(status) && answer.json.code !== 'STORAGE_QUOTA') {
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  if (status === 401) {
    expect(answer.headers.get('www-authenticate')).toMatch(/^ApiKey realm="[^"]+"$/);
  }
  if (status === 405) expect(answer.headers.get('allow')).toMatch(/[A-Z]/);
  // Nothing of the inside: no paths, no stack.
  expect(answer.text).not.toMatch(/node_modules|\.ts:|\/tmp\/|at \w+ \(/);
}
