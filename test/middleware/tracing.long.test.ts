/** Spans, by the SDK of OpenTelemetry: one trace from the request to the phases of its task. */
import { AsyncLocalStorage } from 'node:async_hooks';
import * as tracing from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { falconService } from '../../src/middleware/index.ts';
import { it } from './support.ts';
import { makeTriples } from './triples.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

/** Keeps the current context, as the SDK for Node does. */
class Contexts implements tracing.ContextManager {
  readonly #storage = new AsyncLocalStorage<tracing.Context>();
  active = () => this.#storage.getStore() ?? tracing.ROOT_CONTEXT;
  with: tracing.ContextManager['with'] = (context, work, self, ...args) =>
    this.#storage.run(context, () => work.apply(self as never, args));
  bind = <T>(_context: tracing.Context, target: T): T => target;
  enable = () => this;
  disable = () => this;
}

const TRACED = { threads: 1, tracing };

const exporter = new InMemorySpanExporter();
beforeAll(() => {
  tracing.context.setGlobalContextManager(new Contexts());
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  tracing.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
});
afterAll(() => {
  tracing.trace.disable();
  tracing.context.disable();
});
beforeEach(() => exporter.reset());

/** The spans that have ended, once there are those that are waited for. */
async function spans(enough: (all: readonly ReadableSpan[]) => boolean): Promise<ReadableSpan[]> {
  for (;;) {
    const all = exporter.getFinishedSpans();
    if (enough(all)) return all;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const named = (all: readonly ReadableSpan[], name: string) =>
  all.filter((span) => span.name === name);
/** The first span of this name, once there is one. */
const spanOf = async (name: string) =>
  named(await spans((all) => named(all, name).length > 0), name)[0]!;

describe('a task', () => {
  it('is in the trace of its request, and its phases are in it', async ({ start }) => {
    const http = await start(TRACED);
    const body = { data: makeTriples(3) };
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };
    const answer = await http.ask('POST', '/v1/svc/aggsign?secret=1', body, { headers });
    expect(answer.headers.get('x-request-id')).toBe(TRACE);
    const all = await spans((each) => named(each, 'falconry.task').length > 0);
    const [request] = named(all, 'POST /v1/svc/aggsign');
    const [task] = named(all, 'falconry.task');
    expect(request).toMatchObject({
      kind: tracing.SpanKind.SERVER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/svc/aggsign',
        'http.response.status_code': 202,
      },
    });
    expect(request!.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN });
    expect(task).toMatchObject({
      kind: tracing.SpanKind.CONSUMER,
      attributes: {
        'falconry.task_id': answer.json.process_id,
        'falconry.attempt': 1,
        'falconry.outcome': 'completed',
        'falconry.signatures': 3,
      },
    });
    expect(task!.parentSpanContext?.spanId).toBe(request!.spanContext().spanId);
    for (const phase of ['read', 'verify', 'aggregate', 'store']) {
      const [span] = named(all, `falconry.task.${phase}`);
      expect(span?.parentSpanContext?.spanId, phase).toBe(task!.spanContext().spanId);
    }
    for (const span of all.filter(({ name }) => name.includes('task'))) {
      expect(span.spanContext().traceId).toBe(TRACE);
    }
  });

  it('that fails says why', async ({ start }) => {
    const http = await start(TRACED);
    const [first, second] = makeTriples(2) as [object, { signature: string }];
    const data = [{ ...first, signature: second.signature }];
    await http.ask('POST', '/v1/svc/aggsign', { data });
    expect(await spanOf('falconry.task')).toMatchObject({
      attributes: { 'falconry.outcome': 'failed', 'error.type': 'INVALID_SIGNATURES' },
      status: { code: tracing.SpanStatusCode.ERROR },
    });
  });
});

describe('a request', () => {
  it('begins a trace, whose id it has, if its caller has none', async ({ start }) => {
    const http = await start({ ...TRACED, workers: false });
    const answer = await http.ask('GET', '/v1/svc/tasks');
    const id = answer.headers.get('x-request-id');
    const span = await spanOf('GET /v1/svc/tasks');
    expect(span.spanContext().traceId).toBe(id);
    expect(span.parentSpanContext).toBeUndefined();
  });

  it('belongs to the span that the host has begun', async ({ start }) => {
    const { service } = await start({ ...TRACED, workers: false });
    await tracing.trace.getTracer('host').startActiveSpan('host', async (host) => {
      await service.app.request('/v1/svc/tasks', {
        headers: { traceparent: `00-${TRACE}-${SPAN}-01` },
      });
      host.end();
      const { parentSpanContext } = await spanOf('GET /v1/svc/tasks');
      expect(parentSpanContext?.spanId).toBe(host.spanContext().spanId);
    });
  });

  it('that fails has an error', async ({ start }) => {
    const authenticate = () => {
      throw new Error('away');
    };
    const http = await start({ ...TRACED, workers: false, authenticate });
    await http.ask('GET', '/v1/svc/tasks');
    expect(await spanOf('GET /v1/svc/tasks')).toMatchObject({
      attributes: { 'http.response.status_code': 500 },
      status: { code: tracing.SpanStatusCode.ERROR },
    });
  });

  it('keeps keys, queries and signed urls to itself', async ({ start }) => {
    const http = await start({ ...TRACED, workers: false });
    const created = await http.ask('POST', '/v1/svc/aggsign/task?note=private');
    const url = new URL(created.json.url);
    await http.ask('PUT', url.href, JSON.stringify(makeTriples(1)), { key: null });
    await http.ask('GET', `/v1/svc/tasks/${created.json.process_id}?note=private`);
    const all = await spans((each) => each.length >= 3);
    const told = JSON.stringify(
      all.map(({ name, attributes, events }) => [name, attributes, events]),
    );
    for (const secret of [http.alice, url.searchParams.get('signature')!, 'private']) {
      expect(told).not.toContain(secret);
    }
  });
});

it('without the option there are no spans', async ({ start }) => {
  const http = await start({ workers: false });
  await http.ask('GET', '/v1/svc/tasks');
  expect(exporter.getFinishedSpans().filter(({ name }) => name.startsWith('GET'))).toEqual([]);
});

it('without an SDK a request has an id of its own, and its task none of a trace', async ({
  start,
}) => {
  tracing.trace.disable();
  const http = await start({ ...TRACED, workers: false });
  const ids = [];
  for (let i = 0; i < 2; i++) {
    const { headers } = await http.ask('GET', '/v1/svc/tasks');
    ids.push(headers.get('x-request-id'));
  }
  for (const id of ids) expect(id).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
  expect(ids[0]).not.toBe(ids[1]);
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };
  const answer = await http.ask('GET', '/v1/svc/tasks', undefined, { headers });
  expect(answer.headers.get('x-request-id')).toBe(TRACE);
});

it.each([null, {}, { trace: {}, context: {} }, 'on', () => {}])('%o is not the API', (api) => {
  expect(() => falconService({ tracing: api as never })).toThrow(TypeError);
});
