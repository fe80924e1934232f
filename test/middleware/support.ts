/**
 * Fixtures: a real service behind a real port with a client that hides nothing, and a folder.
 * Everything is stopped and removed when the test, or the file, ends.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { type HttpServer, openHttpServer } from '../../src/cli/operate/httpServer.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import {
  type FalconService,
  falconService,
  memoryStore,
  type ServiceOptions,
  type Signer,
} from '../../src/middleware/index.ts';
import type { Task } from '../../src/middleware/stores/port/task.ts';
import type { PutOutcome, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import { deferred } from '../../src/shared/wait.ts';

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
  /** A request with a JSON body, if one is given; streams go in pieces. `key` null sends none. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<Answer>;
  /** Creates a task whose file is uploaded. */
  create(body?: unknown, options?: AskOptions): Promise<{ process_id: number; url: string }>;
  /** Uploads to a signed URL, without a key. */
  put(url: string, body?: unknown, headers?: AskOptions['headers']): Promise<Answer>;
  /** The record of a task. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  record(id: number, options?: AskOptions): Promise<any>;
  /** The record of a task at its end. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ended(id: number, options?: AskOptions): Promise<any>;
  /** Opens the events of a task, as alice if no other headers are given, and reads the first. */
  watch(id: number, headers?: AskOptions['headers']): Promise<EventReader>;
  close(): Promise<void>;
}

type EventReader = ReadableStreamDefaultReader<Uint8Array>;

export interface AskOptions {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestOptions extends ServiceOptions {
  /** Keeps store and signing key in files, as by default; in memory, a start takes half as long. */
  readonly onDisk?: boolean;
}

/** Signs with a key of its own. */
export function newSigner(): Signer {
  const { secretKey, publicKey } = falcon512.keygen();
  return {
    sign: async ({ message }) => ({ signature: falcon512.sign(message, secretKey), publicKey }),
  };
}

/** A started service in a folder of its own; a start that fails leaves no folder. */
async function openService(options: TestOptions) {
  const { onDisk = false, ...given } = options;
  const directory = await mkdtemp(join(tmpdir(), 'falconry-http-'));
  const inMemory = {
    ...(given.store === undefined && { store: memoryStore() }),
    ...(given.signing === undefined && given.signer === undefined && { signer: newSigner() }),
  };
  const own = onDisk ? { signing: true } : inMemory;
  const service = falconService({ dataDirectory: directory, ...own, ...given });
  await service.start().catch(async (fault) => {
    await rm(directory, { recursive: true, force: true });
    throw fault;
  });
  return { service, directory };
}

/** Starts a service over HTTP on a free port. */
export async function startService(options: TestOptions = {}): Promise<TestService> {
  const { service, directory } = await openService(options);
  const server: HttpServer = await openHttpServer({
    fetch: service.app.fetch,
    port: 0,
    host: '127.0.0.1',
  });
  const { key: alice } = await service.apiKeys.create({ name: 'alice' });
  const { key: bob } = await service.apiKeys.create({ name: 'bob' });
  const address = `http://127.0.0.1:${server.port}`;
  const ask: TestService['ask'] = async (
    method,
    path,
    body,
    { key = alice, headers = {} } = {},
  ) => {
    const url = path.startsWith('http') ? path : address + path;
    const streams = body instanceof ReadableStream;
    const raw = streams || typeof body === 'string' || body instanceof Uint8Array;
    const init: RequestInit = {
      method,
      headers: {
        ...(key !== null && { authorization: key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      redirect: 'manual',
      ...(body !== undefined && { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
      ...(streams && { duplex: 'half' }),
    };
    return toAnswer(await fetch(url, init));
  };
  const record: TestService['record'] = async (id, who) =>
    (await ask('GET', `/v1/svc/tasks/${id}`, undefined, who)).json;
  let closed: Promise<void> | undefined;
  return {
    ...{ service, address, port: server.port, directory, alice, bob, ask, record },
    create: async (body, who) => (await ask('POST', '/v1/svc/aggsign/task', body, who)).json,
    put: (url, body = '[]', headers = {}) => ask('PUT', url, body, { key: null, headers }),
    async ended(id, who) {
      const { text } = await ask('GET', `/v1/svc/tasks/${id}/events`, undefined, who);
      expect(text).toContain('event: progress');
      return record(id, who);
    },
    async watch(id, headers = { authorization: alice }) {
      const stream = await fetch(`${address}/v1/svc/tasks/${id}/events`, { headers });
      expect(stream.status).toBe(200);
      const reader = stream.body!.getReader();
      expect((await reader.read()).done).toBe(false);
      return reader;
    },
    close: () =>
      (closed ??= Promise.all([server.close(0), service.stop({ graceMs: 0 })]).then(() =>
        // A request that was cut off may still write there.
        rm(directory, { recursive: true, force: true, maxRetries: 10 }),
      )),
  };
}

interface Fixtures {
  /** A folder of this test. */
  readonly folder: string;
  /** Starts a service of this test. */
  readonly start: (options?: TestOptions) => Promise<TestService>;
  /** Has a step run when the test ends, before the steps of earlier calls. */
  readonly defer: (step: () => unknown) => void;
}

export const it = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of what a fixture needs
  defer: async ({}, use) => {
    const steps: (() => unknown)[] = [];
    await use((step) => steps.push(step));
    const faults: unknown[] = [];
    for (const step of steps.toReversed()) {
      await Promise.resolve()
        .then(step)
        .catch((fault: unknown) => faults.push(fault));
    }
    if (faults.length > 0) throw faults[0];
  },
  folder: async ({ defer }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'falconry-test-'));
    defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
    await use(folder);
  },
  start: async ({ defer }, use) => {
    await use(async (options) => {
      const service = await startService(options);
      defer(service.close);
      return service;
    });
  },
});

/**
 * The fixtures, and `http`, a service for all tests of the file; it is also returned, for functions
 * that tests share, and has its members from the first test on. The options may be those of a
 * function that is called then.
 */
export function serviceTest(
  options: TestOptions | (() => TestOptions | Promise<TestOptions>) = {},
) {
  const http = {} as TestService;
  const withService = it.extend<{ $file: { http: TestService } }>({
    http: [
      // biome-ignore lint/correctness/noEmptyPattern: as above
      async ({}, use) => {
        const given = typeof options === 'function' ? await options() : options;
        Object.assign(http, await startService(given));
        await use(http);
        await http.close();
      },
      { scope: 'file', auto: true },
    ],
  });
  return { it: withService, test: withService, http };
}

/** Waits until it is so, for as long as the test may last. */
export async function until(isSo: () => unknown): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The task that a store takes; an error if it takes none. */
export async function accepted(put: Promise<PutOutcome>): Promise<Task> {
  const outcome = await put;
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.task;
}

/** The task of this id as soon as the store tells that it fits. */
export function taskThat(store: TaskStore, id: number, fits: (task: Task) => boolean) {
  return new Promise<Task>((resolve) => {
    const look = async () => {
      const task = await store.get(id);
      if (!task || !fits(task)) return;
      end();
      resolve(task);
    };
    const end = store.watch((news) => news.id === id && look());
    look();
  });
}

/** A logger, what it was told, and the same as lines of text. */
export function recordedLog() {
  const lines: string[] = [];
  const entries: Readonly<Record<string, unknown>>[] = [];
  const at = (level: string) => (message: string, fields?: object) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    entries.push({ level, message, ...fields });
  };
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, entries, logger };
}

/** So many spaces in pieces of 64 KiB, whose length is not announced. */
export function spaces(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return controller.close();
      const piece = Math.min(left, 65_536);
      left -= piece;
      controller.enqueue(new Uint8Array(piece).fill(0x20));
    },
  });
}

/**
 * A body in two pieces: `taken` resolves when the first has been taken, the second waits for
 * `finish`.
 */
export function heldBody(first: string, rest: string) {
  const encoder = new TextEncoder();
  const { promise: taken, resolve: take } = deferred<void>();
  const { promise: finished, resolve: finish } = deferred<void>();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    // Called when the first piece was taken.
    async pull(controller) {
      take();
      await finished;
      controller.enqueue(encoder.encode(rest));
      controller.close();
    },
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
