/** Every endpoint under load while a worker is busy, beside a plain server: see ../service.ts. */

import { type Call, type LoadFigure, load, middle } from './load.ts';
import { type FalconryProcess, startFalconry, startPlainHono } from './serverProcess.ts';
import { makeTriples } from './serviceTriples.ts';

export interface EndpointFigure {
  readonly name: string;
  readonly one: LoadFigure & { readonly ofPlain: number };
  readonly many: LoadFigure & { readonly ofPlain: number };
}

export interface EndpointFigures {
  readonly figures: readonly EndpointFigure[];
  /** Batches that the busy worker finished during the measurement. */
  readonly batches: number;
}

const MANY = 64;
/** A batch for the busy worker: the largest one, of ordinary messages. */
const BUSY_BATCH = 1722;

export async function measureEndpoints(folder: string, quick: boolean): Promise<EndpointFigures> {
  const seconds = quick ? 0.7 : 3;
  const server = await startFalconry(folder);
  const plain = await startPlainHono();
  try {
    const api = client(server);
    const idle = await prepare(api);
    const calls = endpoints(api, idle);
    const busy = busyWorker(api);
    const loadBeside = (call: Call, connections: number) =>
      busy.during(() => load(server.address, call, connections, seconds));
    const noop: Call = { path: '/', expect: [200] };
    const measured = new Map<string, Record<1 | 64, LoadFigure>>();
    const plains: Record<1 | 64, LoadFigure[]> = { 1: [], 64: [] };
    const names = Object.keys(calls);
    for (const [i, name] of names.entries()) {
      const figures: Partial<Record<1 | 64, LoadFigure>> = {};
      for (const connections of [1, MANY] as const) {
        // The plain server from time to time, so that it meets the same conditions as the others.
        if (i % 4 === 0)
          plains[connections].push(await load(plain.address, noop, connections, seconds));
        figures[connections] = await loadBeside(calls[name]!, connections);
      }
      measured.set(name, figures as Record<1 | 64, LoadFigure>);
    }
    const plainOf = { 1: middle(plains[1]), 64: middle(plains[64]) };
    const figure = (name: string, of: Record<1 | 64, LoadFigure>): EndpointFigure => ({
      name,
      one: { ...of[1], ofPlain: of[1].perSecond / plainOf[1].perSecond },
      many: { ...of[64], ofPlain: of[64].perSecond / plainOf[64].perSecond },
    });
    const rows = names.map((name) => figure(name, measured.get(name)!));
    return {
      figures: [figure('plain Hono, no-op', plainOf), ...rows],
      batches: await busy.finished(),
    };
  } finally {
    await Promise.all([server.stop(), plain.stop()]);
  }
}

interface Api {
  readonly server: FalconryProcess;
  readonly headers: Record<string, string>;
  ask(method: string, path: string, body?: string): Promise<Record<string, never>>;
}

function client(server: FalconryProcess): Api {
  const headers = { authorization: server.apiKey, 'content-type': 'application/json' };
  return {
    server,
    headers,
    async ask(method, path, body) {
      const url = path.startsWith('http') ? path : server.address + path;
      const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === '' ? {} : JSON.parse(text);
    },
  };
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

const VICTIMS = 6000;

async function prepare({ ask }: Api): Promise<Prepared> {
  const [triple] = makeTriples(1, 32);
  const data = JSON.stringify({ data: [triple] });
  let record: Record<string, never> = await ask('POST', '/v1/svc/aggsign', data);
  const task = `/v1/svc/tasks/${record.process_id}`;
  while (record.status !== 'completed') record = await ask('GET', task);
  const result = await ask('GET', record.result_path!);
  const { digest, public_key } = triple!;
  const verify = JSON.stringify({
    aggregate: result.aggregate,
    statements: [{ digest, public_key }],
  });
  const make = async () => ask('POST', '/v1/svc/aggsign/task');
  const uploads: string[] = [];
  for (let i = 0; i < 2 * MANY; i++) uploads.push(pathOf((await make()).url!));
  const victims: string[] = [];
  while (victims.length < VICTIMS) {
    const made = await Promise.all(Array.from({ length: MANY }, make));
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
    'sign 32 bytes': post('/v1/falcon/sign', `{"digest":"0x${'5a'.repeat(32)}"}`, 200),
    'create a task': post('/v1/svc/aggsign/task', '', 201),
    'renew its url': post(`/v1/svc/aggsign/task/${uploads[0]!.match(/\d{15,}/)![0]}/url`, '', 200),
    'upload a file of one': {
      method: 'PUT',
      path: (turn) => uploads[turn % uploads.length]!,
      headers: { 'content-type': 'application/json' },
      body: triple,
      expect: [200],
    },
    'notify, repeated': post(`/v1/svc/aggsign/notify/${notified[0]}`, '', 202),
    'aggregate one directly': post('/v1/svc/aggsign', `{"data":${triple}}`, 202),
    'verify an aggregate of one': post('/v1/svc/aggsign/verify', verify, 200),
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
function busyWorker({ ask }: Api) {
  const file = JSON.stringify(makeTriples(BUSY_BATCH, 32));
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
