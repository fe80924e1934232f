/**
 * A second server, written from the fixed wire contract alone and sharing no code with ours but the
 * library: what the client must get along with. It differs from ours wherever the contract lets it:
 * ids of 18 digits, upload urls and results on another origin which refuses an `Authorization`
 * header and wants a length, empty answers to `notify`, a bare id in the answer to a direct
 * aggregation, its own status texts in progress records, another result file, errors without
 * problem documents, lists that end by an empty page; no events, no Idempotency-Key, no cancelling.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { aggregate } from '../../src/aggregate/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { openServer } from '../support/openServer.ts';

export const PLAIN_KEY = 'plain-key-1';

interface Task {
  readonly id: bigint;
  file: Buffer | null;
  notified: boolean;
  count: number;
  readonly createdMs: number;
  finishedMs: number | null;
  result: string | null;
  failed: boolean;
  /** Progress records given since the notification. */
  seen: number;
}

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly origin: 'service' | 'files';
  readonly headers: IncomingMessage['headers'];
}

export interface PlainServer {
  /** Base address: with a mount path. */
  readonly base: string;
  readonly seen: Seen[];
  readonly tasks: Map<string, Task>;
  /** Answers such a request in place of the server; returns whether it did. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  close(): Promise<void>;
}

const MOUNT = '/some/where';

export async function startPlainServer(): Promise<PlainServer> {
  const tasks = new Map<string, Task>();
  const seen: Seen[] = [];
  const keys = falcon512.keygen(new Uint8Array(48).fill(7));
  let last = 912_345_678_901_234_567n;
  const service = await openServer((request, response) => {
    void take(request, response, 'service', () => answer(request, response));
  });
  const store = await openServer((request, response) => {
    void take(request, response, 'files', () => answerFile(request, response));
  });
  const files = store.address;
  const state: PlainServer = {
    base: `${service.address}${MOUNT}`,
    seen,
    tasks,
    intercept: null,
    close: async () => {
      await Promise.all([service.close(), store.close()]);
    },
  };

  async function take(
    request: IncomingMessage,
    response: ServerResponse,
    origin: Seen['origin'],
    go: () => Promise<void>,
  ) {
    const { method = '', url = '', headers } = request;
    seen.push({ method, path: url.split('?')[0]!, origin, headers });
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*, authorization');
    response.setHeader('access-control-allow-methods', '*, PUT, DELETE');
    if (method === 'OPTIONS') return void response.writeHead(204).end();
    if (state.intercept?.(request, response)) return;
    await go();
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://x');
    const body = await bodyOf(request);
    if (request.headers.authorization !== PLAIN_KEY) return text(response, 401, 'who are you?');
    const route = `${request.method} ${url.pathname.replace(MOUNT, '')}`;
    const id = /\/(\d+)$/.exec(url.pathname)?.[1] ?? '';
    if (route === 'POST /v1/falcon/sign') {
      const { digest } = JSON.parse(body.toString());
      const message = Buffer.from(digest.slice(2), 'hex');
      const signature = hex(falcon512.sign(message, keys.secretKey));
      return json(
        response,
        200,
        JSON.stringify({ digest, signature, public_key: hex(keys.publicKey) }),
      );
    }
    if (route === 'POST /v1/plain/aggsign/task') {
      const task = add(null);
      return json(
        response,
        200,
        `{"process_id": ${task.id}, "url": "${files}/put/${task.id}?right=${task.id * 7n}"}`,
      );
    }
    if (route === `POST /v1/plain/aggsign/notify/${id}`) {
      const task = tasks.get(id);
      if (!task) return text(response, 404, 'no such task');
      if (task.notified) return text(response, 409, 'notified already');
      if (!task.file) return text(response, 409, 'no file');
      task.notified = true;
      return void response.writeHead(200).end();
    }
    if (route === 'POST /v1/plain/aggsign') {
      const task = add(Buffer.from(JSON.stringify(JSON.parse(body.toString()).data)));
      task.notified = true;
      return json(response, 200, `{"process_id":${task.id}}`);
    }
    if (route === `GET /v1/plain/tasks/${id}`) {
      const task = tasks.get(id);
      if (!task) return text(response, 404, 'no such task');
      await work(task);
      return json(response, 200, record(task));
    }
    if (route === 'GET /v1/plain/tasks') return json(response, 200, list(url.searchParams));
    text(response, 404, 'there is nothing here');
  }

  async function answerFile(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://x');
    const id = /\/(\d+)(\.json)?$/.exec(url.pathname)?.[1] ?? '';
    const task = tasks.get(id);
    const body = await bodyOf(request);
    if (request.headers.authorization) return text(response, 400, 'only one right, please');
    if (!task || url.searchParams.get('right') !== String(task.id * 7n)) {
      return text(response, 403, 'no right');
    }
    if (request.method === 'PUT') {
      if (request.headers['content-length'] === undefined) return text(response, 411, 'how long?');
      task.file = body;
      return void response.writeHead(200).end();
    }
    json(response, 200, task.result ?? 'null');
  }

  function add(file: Buffer | null): Task {
    last += 13n;
    const task: Task = {
      id: last,
      file,
      notified: false,
      count: 0,
      createdMs: Date.now(),
      finishedMs: null,
      result: null,
      failed: false,
      seen: 0,
    };
    tasks.set(String(last), task);
    return task;
  }

  /** Done when its record is asked for the third time. */
  async function work(task: Task): Promise<void> {
    if (!task.notified || task.finishedMs !== null || ++task.seen < 3) return;
    const triples = JSON.parse(task.file!.toString()) as Record<string, string>[];
    task.count = triples.length;
    const bytes = (value: string) => new Uint8Array(Buffer.from(value.slice(2), 'hex'));
    try {
      const made = await aggregate(
        triples.map(({ digest, public_key, signature }) => ({
          message: bytes(digest!),
          publicKey: bytes(public_key!),
          signature: bytes(signature!),
        })),
      );
      task.result = `{"task":${task.id},"bytes":"${hex(made)}"}`;
    } catch {
      task.failed = true;
    }
    task.finishedMs = Date.now();
  }

  function record(task: Task): string {
    const status = !task.notified
      ? 'wait for task file upload'
      : task.failed
        ? 'failed: a signature is not valid'
        : task.finishedMs === null
          ? 'wait for falcon signature verify'
          : 'aggregate stored';
    const time = `${new Date(task.createdMs).toISOString().slice(0, 19)}Z`;
    return `{"client_id":100000000000000001,"process_id":${task.id},"status":"${status}","batch_size":${task.count},"VCPUs":2,"request_utc_time":"${time}","latest_status_update_iso_utc_time":"${time}"}`;
  }

  function list(query: URLSearchParams): string {
    const limit = Number(query.get('limit') ?? 100);
    const from = Number(query.get('cursor') ?? 0);
    const nano = (ms: number) => new Date(ms).toISOString().replace(/\.(\d{3})Z/, '.$1000000Z');
    const items = [...tasks.values()]
      .map((task) => ({
        task,
        status: task.finishedMs !== null && !task.failed ? 'completed' : 'waiting',
      }))
      .filter(({ status }) => [null, status].includes(query.get('status')));
    const page = items.slice(from, from + limit).map(({ task, status }) => {
      const end =
        status === 'completed'
          ? `,"finished_at":"${nano(task.finishedMs!)}","result_path":"${files}/get/${task.id}.json?right=${task.id * 7n}"`
          : '';
      return `{"id":${task.id},"status":"${status}","meta":{"count":${task.count},"created_at":"${nano(task.createdMs)}","submitted_at":"${nano(task.createdMs)}"${end}}}`;
    });
    // The end is an empty page: `next` is always there.
    return `{"tasks":[${page.join(',')}],"next":"${from + page.length}"}`;
  }

  return state;
}

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function json(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
}
