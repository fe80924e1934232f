/** Every endpoint under load while a worker is busy, beside a plain server: see ../service.ts. */

import { randomBytes } from 'node:crypto';
import { falcon512 } from '../../src/falcon/index.ts';
import { median } from './interleave.ts';
import { type Call, type LoadFigure, load, middle } from './load.ts';
import { startFalconry, startPlainHono } from './serverProcess.ts';
import { type Api, client, completed } from './serviceClient.ts';
import { makeTriples } from './serviceTriples.ts';

export const CONNECTIONS = [1, 32, 256] as const;
export type Connections = (typeof CONNECTIONS)[number];

/** A figure, and the requests per second relative to those of the plain server. */
export type BesidePlain = LoadFigure & { readonly ofPlain: number };

export interface EndpointFigure {
  readonly name: string;
  /** By the number of connections. */
  readonly at: Readonly<Record<Connections, BesidePlain>>;
}

export interface EndpointFigures {
  readonly figures: readonly EndpointFigure[];
  /** Signatures per second by the signer alone, with an expanded key, in a process of its own. */
  readonly signerPerSecond: number;
  /** Batches that the busy worker finished during the measurement. */
  readonly batches: number;
}

const MOST = Math.max(...CONNECTIONS);
/** A batch for the busy worker: the largest one, of ordinary messages. */
const BUSY_BATCH = 1722;
const QUICK_BATCH = 100;

export async function measureEndpoints(
  folder: string,
  quick: boolean,
  serve: readonly string[],
): Promise<EndpointFigures> {
  const seconds = quick ? 0.1 : 3;
  const server = await startFalconry(folder, serve);
  const plain = await startPlainHono();
  try {
    const api = client(server);
    const calls = endpoints(api, await prepare(api, quick ? 100 : 6000));
    const busy = busyWorker(api, quick ? QUICK_BATCH : BUSY_BATCH);
    const measure = (address: string, call: Call, connections: Connections, share = 1) =>
      busy.during(() => load(address, call, connections, share * seconds));
    const noop: Call = { path: '/', expect: [200] };
    const plains: Record<Connections, LoadFigure[]> = { 1: [], 32: [], 256: [] };
    const signers: number[] = [];
    const figures: EndpointFigure[] = [];
    for (const [name, call] of Object.entries(calls)) {
      const at: Partial<Record<Connections, BesidePlain>> = {};
      // Code is compiled while it runs, beside the busy worker.
      await measure(server.address, call, 32, 2 / 3);
      for (const connections of CONNECTIONS) {
        // The plain server each time, under the same conditions as the endpoint after it.
        const beside = await measure(plain.address, noop, connections, 1 / 3);
        const figure = await measure(server.address, call, connections);
        if (name === SIGN) signers.push(await busy.during(() => signAlone(seconds)));
        plains[connections].push(beside);
        at[connections] = { ...figure, ofPlain: figure.perSecond / beside.perSecond };
      }
      figures.push({ name, at: at as EndpointFigure['at'] });
    }
    const middles = CONNECTIONS.map((n) => [n, { ...middle(plains[n]), ofPlain: 1 }] as const);
    const at = Object.fromEntries(middles) as unknown as EndpointFigure['at'];
    return {
      figures: [{ name: 'plain Hono, no-op', at }, ...figures],
      signerPerSecond: median(signers),
      batches: await busy.finished(),
    };
  } finally {
    await Promise.all([server.stop(), plain.stop()]);
  }
}

const SIGN = 'sign 32 bytes';

/** In this process, which creates no load meanwhile. */
async function signAlone(seconds: number): Promise<number> {
  const { secretKey } = falcon512.keygen(randomBytes(32));
  const key = falcon512.expandSecretKey(secretKey);
  const message = randomBytes(32);
  for (let i = 0; i < 200; i++) falcon512.sign(message, key);
  const startMs = performance.now();
  let count = 0;
  for (; performance.now() < startMs + 1000 * seconds; count++) falcon512.sign(message, key);
  return (1000 * count) / (performance.now() - startMs);
}

interface Prepared {
  /** A completed task of one signature, its result and its statement. */
  readonly task: string;
  readonly resultPath: string;
  readonly verify: string;
  readonly triple: string;
  /** Tasks whose files can be uploaded repeatedly, and tasks that have been notified. */
  readonly uploads: readonly string[];
  readonly notified: readonly string[];
  /** Tasks to cancel, then remove. */
  readonly victims: readonly string[];
}

async function prepare(api: Api, victimCount: number): Promise<Prepared> {
  const { ask } = api;
  const [triple] = makeTriples(1, 32);
  const data = JSON.stringify({ data: [triple] });
  const { process_id } = await ask('POST', '/v1/svc/aggsign', data);
  const record = await completed(api, process_id);
  const task = `/v1/svc/tasks/${process_id}`;
  const result = await ask('GET', record.result_path!);
  const { digest, public_key } = triple!;
  const verify = JSON.stringify({
    aggregate: result.aggregate,
    statements: [{ digest, public_key }],
  });
  const make = async () => ask('POST', '/v1/svc/aggsign/task');
  const uploads: string[] = [];
  for (let i = 0; i < 2 * MOST; i++) uploads.push(pathOf((await make()).url!));
  const victims: string[] = [];
  while (victims.length < victimCount) {
    const made = await Promise.all(Array.from({ length: 50 }, make));
    victims.push(...made.map(({ process_id }) => `/v1/svc/tasks/${process_id}`));
  }
  return {
    task,
    resultPath: pathOf(record.result_path!),
    verify,
    triple: JSON.stringify([triple]),
    uploads,
    notified: [String(record.process_id)],
    victims,
  };
}

const pathOf = (url: string) => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

/** The calls to measure, in order; none of them affects the others. */
function endpoints({ headers }: Api, prepared: Prepared): Record<string, Call> {
  const { task, resultPath, verify, triple, uploads, notified, victims } = prepared;
  const post = (path: string, body: string, status: number): Call => ({
    method: 'POST',
    path,
    headers,
    body,
    expect: [status],
  });
  const get = (path: string, status = 200): Call => ({ path, headers, expect: [status] });
  let victim = 0;
  return {
    [SIGN]: post('/v1/falcon/sign', `{"digest":"0x${'5a'.repeat(32)}"}`, 200),
    'create a task': post('/v1/svc/aggsign/task', '', 201),
    'renew its url': post(`/v1/svc/aggsign/task/${uploads[0]!.match(/\d{15,}/)![0]}/url`, '', 200),
    'upload a file of one': {
      method: 'PUT',
      path: (turn) => uploads[turn % uploads.length]!,
      headers: { 'content-type': 'application/json' },
      body: triple,
      expect: [200],
      // One task may still be receiving when its turn comes again.
      refusal: 409,
    },
    'notify, repeated': post(`/v1/svc/aggsign/notify/${notified[0]}`, '', 202),
    'aggregate one directly': post('/v1/svc/aggsign', `{"data":${triple}}`, 202),
    'verify an aggregate of one': {
      ...post('/v1/svc/aggsign/verify', verify, 200),
      // So many wait at most; further ones are asked to come again.
      refusal: 503,
    },
    'progress of a task': get(task),
    'events of an ended task': get(`${task}/events`),
    'result, redirect': get(`${task}/result`, 302),
    'result file': { path: resultPath, expect: [200] },
    'list of 10': get('/v1/svc/tasks?limit=10'),
    'list of 100': get('/v1/svc/tasks'),
    'cancel and delete': {
      method: 'DELETE',
      path: () => victims[(victim++ >> 1) % victims.length]!,
      headers,
      // Two consecutive requests: the first cancels, the second removes; in parallel they may swap.
      expect: [200, 204, 404],
    },
  };
}

/**
 * The number of waiting batches at first; a worker that finishes them during one measurement gets
 * more.
 */
const FIRST_QUEUE = 8;
const LARGEST_QUEUE = 4096;

/** Keeps the worker busy with batches while something is measured, however fast it is. */
function busyWorker({ ask }: Api, batch: number) {
  const file = JSON.stringify(makeTriples(batch, 32));
  let open: string[] = [];
  let finished = 0;
  let wanted = FIRST_QUEUE;

  async function submit(): Promise<void> {
    const { process_id, url } = await ask('POST', '/v1/svc/aggsign/task');
    await ask('PUT', url!, file);
    await ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
    open.push(String(process_id));
  }
  /** How many are waiting; counts those that have completed. */
  async function waiting(): Promise<number> {
    const records = await Promise.all(open.map((id) => ask('GET', `/v1/svc/tasks/${id}`)));
    const statuses = records.map(({ status }) => String(status));
    const failed = statuses.find((status) => /^(failed|cancelled|expired)$/.test(status));
    if (failed !== undefined) throw new Error(`a batch of the busy worker has ${failed}`);
    finished += statuses.filter((status) => status === 'completed').length;
    open = open.filter((_, i) => statuses[i] !== 'completed');
    return statuses.filter((status) => status.startsWith('wait')).length;
  }

  return {
    /** Measures; if the worker emptied its queue meanwhile, measures again with a longer one. */
    async during<T>(measure: () => Promise<T>): Promise<T> {
      for (; wanted <= LARGEST_QUEUE; wanted *= 2) {
        for (let have = await waiting(); have < wanted; have++) await submit();
        const figure = await measure();
        if ((await waiting()) > 0) return figure;
      }
      throw new Error(`the worker does ${LARGEST_QUEUE} batches while one endpoint is measured`);
    },
    async finished(): Promise<number> {
      await waiting();
      return finished;
    },
  };
}
