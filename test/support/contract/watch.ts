/**
 * Holds every answer of every service of a test file to the document. Services in this process are
 * watched by themselves (`setup.ts` puts the watch in place); answers of other processes are handed
 * in with `contractFetch`, those off a socket with `noteAnswer`.
 */
import type { Hono } from 'hono';
import { isPlainRequest } from '../../../src/middleware/http/address.ts';
import { Contract, problemCode, type Seen } from './contract.ts';
import { state } from './seen.ts';

export function noteAnswer(contract: Contract, seen: Seen): void {
  const { key, faults } = contract.judge(seen);
  state.counts.set(key, (state.counts.get(key) ?? 0) + 1);
  state.ever.add(key);
  const code = problemCode(seen);
  if (code !== null) state.counts.set(`code ${code}`, (state.counts.get(`code ${code}`) ?? 0) + 1);
  for (const fault of faults) {
    state.faults.push(`${seen.method} ${seen.path} answered ${seen.status}: ${fault}`);
  }
}

type Fetch = (request: Request, ...more: never[]) => Response | Promise<Response>;

/** Puts the watch around an app, whether it is called itself or mounted in another. */
export function watchApp<T extends Hono<never>>(app: T): T {
  let contract: Promise<Contract> | undefined;
  const fetchOfApp = app.fetch as unknown as Fetch;
  const ours = () => (contract ??= contractOfApp(fetchOfApp));
  app.fetch = (async (request: Request, ...more: never[]) => {
    const response = await fetchOfApp(request, ...more);
    return watched(await ours(), request.method, pathOf(request, more[0]), response);
  }) as unknown as T['fetch'];
  for (const route of app.routes) {
    const handler = route.handler as (c: Json, next: Json) => Promise<Response | undefined>;
    route.handler = (async (c: Json, next: Json) => {
      const response = await handler(c, next);
      if (!(response instanceof Response) || c.req.method === 'HEAD') return response;
      return watched(await ours(), c.req.method, pathOf(c.req, c.env), response);
    }) as typeof route.handler;
  }
  return app;
}

/** The path of a request; none that is known if it has an unusual spelling. */
const pathOf = (request: { readonly url: string }, env: unknown): string =>
  isPlainRequest(request, env) ? new URL(request.url).pathname : '/unusual';

// biome-ignore lint/suspicious/noExplicitAny: Hono's context of whatever host
type Json = any;

/** The same document is compiled once, whatever the address of its server. */
const contracts = new Map<string, Contract>();

async function contractOf(response: Response): Promise<Contract> {
  const { servers, ...document } = (await response.json()) as Record<string, unknown>;
  const text = JSON.stringify(document);
  let contract = contracts.get(text);
  if (contract === undefined) contracts.set(text, (contract = new Contract(document)));
  return contract;
}

async function contractOfApp(fetchOfApp: Fetch): Promise<Contract> {
  return contractOf(await fetchOfApp(new Request('http://contract.test/v1/openapi.json')));
}

async function watched(
  contract: Contract,
  method: string,
  path: string,
  response: Response,
): Promise<Response> {
  const { status, headers, body } = response;
  const seen = { method, path, status, headers };
  if (headers.get('content-type') === 'text/event-stream') {
    noteAnswer(contract, { ...seen, body: null });
    if (body === null) return response;
    const checked = body.pipeThrough(eventChecker(contract, path));
    return new Response(checked, { status, headers });
  }
  if (body === null) noteAnswer(contract, { ...seen, body: '' });
  else {
    const copy = response.clone();
    const reading = copy
      .text()
      .then((text) => noteAnswer(contract, { ...seen, body: text }))
      // The reader went away, and with it the rest of the answer.
      .catch(() => {})
      .finally(() => state.pending.delete(reading));
    state.pending.add(reading);
  }
  return response;
}

/**
 * Lets server-sent events through, and holds each one to the schema that the document names for it.
 */
function eventChecker(contract: Contract, path: string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const content = contract.itemOf(path)?.get?.responses[200]?.content['text/event-stream'];
  let text = '';
  const judge = (block: string) => {
    if (block.startsWith(':')) return;
    const match = /^event: (\w+)\nid: \S+\ndata: (.*)$/.exec(block);
    const schema = match && content?.['x-events']?.[match[1]!];
    const faults = schema ? contract.valueFaults(match[2]!, schema) : [`not an event: ${block}`];
    state.counts.set('events', (state.counts.get('events') ?? 0) + 1);
    for (const fault of faults) state.faults.push(`event of ${path}: ${fault}`);
  };
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      blocks.forEach(judge);
    },
  });
}

const remote = new Map<string, Promise<Contract>>();

/** The contract of a service in another process, as it serves it itself. */
export function contractAt(base: string): Promise<Contract> {
  let known = remote.get(base);
  if (known === undefined) {
    known = fetch(`${base}/v1/openapi.json`).then(contractOf);
    remote.set(base, known);
  }
  return known;
}

/** `fetch` for services in other processes: the answer is held to the document of its service. */
export async function contractFetch(input: string | URL, init?: RequestInit): Promise<Response> {
  const url = new URL(input);
  const base = url.origin + url.pathname.slice(0, Math.max(0, url.pathname.lastIndexOf('/v1/')));
  const response = await fetch(url, init);
  const contract = await contractAt(base);
  const method = init?.method ?? 'GET';
  // A redirect that was followed answers for the place it led to.
  const path = response.redirected ? new URL(response.url).pathname : url.pathname;
  return watched(contract, method, path, response);
}
