/**
 * Spans for OpenTelemetry, if the host lends its API: one per request, one per attempt at a task,
 * and one per phase of an attempt. Nothing is imported for it.
 *
 *   request ─▶ the task keeps the request's traceparent ─▶ falconry.task ─▶ falconry.task.verify …
 *
 * Spans carry route patterns, ids and figures: no addresses of requests, no queries, no keys.
 */
import type { ErrorCode } from '../../shared/errors.ts';
import type { RunnerEvent } from '../events.ts';
import type { Task } from '../stores/port/task.ts';
import { formatTraceparent, parseTraceparent, type TraceParent } from './traceContext.ts';

/** The part of a span of OpenTelemetry that is used. */
interface Span {
  spanContext(): TraceParent;
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { code: number }): unknown;
  end(time?: number): void;
}

/** The kind of a span, its attributes, and Unix times in milliseconds. */
interface SpanOptions {
  readonly kind?: number;
  readonly startTime?: number;
  readonly attributes?: Record<string, string | number>;
}

/** The part of `@opentelemetry/api` that is used. */
export interface TracingApi {
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: SpanOptions, context: never): Span;
    };
    getSpanContext(context: never): TraceParent | undefined;
    setSpan(context: never, span: never): unknown;
    setSpanContext(context: never, position: TraceParent & { isRemote: boolean }): unknown;
  };
  readonly context: {
    active(): unknown;
    with(context: never, work: () => unknown): unknown;
  };
  /** Belongs to no trace. */
  readonly ROOT_CONTEXT: unknown;
}

// The values of the enums of OpenTelemetry, which are part of its data model.
const INTERNAL = 0;
const SERVER = 1;
const CONSUMER = 4;
const ERROR = 2;

/** A span with the context in which it is the current one. */
interface Current {
  readonly span: Span;
  readonly context: unknown;
}

/** The span of a request. */
export interface RequestSpan {
  readonly traceId: string;
  /** For what the request causes. */
  readonly traceparent: string;
  /** Runs the work with this span as the current one. */
  within<T>(work: () => T): T;
  end(facts: { readonly status: number; readonly bytes?: number }): void;
}

export class Tracer {
  readonly #api: TracingApi;
  readonly #tracer: ReturnType<TracingApi['trace']['getTracer']>;
  /** The spans of attempts in work, by task and attempt. */
  readonly #attempts = new Map<string, Current>();

  constructor(api: TracingApi) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('falconry');
  }

  /**
   * Begins the span of a request.
   *
   * @param route the pattern, never the path itself
   * @param caller the request's own traceparent; a span that the host has begun goes before it
   * @returns null if nobody records traces
   */
  request(method: string, route: string, caller: TraceParent | null): RequestSpan | null {
    const active = this.#api.context.active();
    const inHost = this.#api.trace.getSpanContext(active as never) !== undefined;
    const parent = inHost || caller === null ? active : this.#below(active, caller);
    const attributes = { 'http.request.method': method, 'http.route': route };
    const options = { kind: SERVER, attributes };
    const span = this.#tracer.startSpan(`${method} ${route}`, options, parent as never);
    const position = span.spanContext();
    // Without an SDK, spans are empty and belong to no trace, or to the caller's own span.
    if (/^0*$/.test(position.traceId) || position.spanId === caller?.spanId) return null;
    const context = this.#api.trace.setSpan(parent as never, span as never);
    return {
      traceId: position.traceId,
      traceparent: formatTraceparent(position),
      within: (work) => this.#within({ span, context }, work),
      end: ({ status, bytes }) => {
        span.setAttribute('http.response.status_code', status);
        if (bytes !== undefined) span.setAttribute('http.response.size', bytes);
        if (status >= 500) span.setStatus({ code: ERROR });
        span.end();
      },
    };
  }

  /** Runs an attempt at a task in a span, which belongs to the trace of the task's request. */
  async attempt<T>(task: Task, work: () => Promise<T>): Promise<T> {
    const { id, attempt, traceparent } = task;
    const parent = parseTraceparent(traceparent ?? undefined);
    const root = this.#api.ROOT_CONTEXT;
    const attributes = { 'falconry.task_id': id, 'falconry.attempt': attempt };
    const context = parent === null ? root : this.#below(root, parent);
    const current = this.#start('falconry.task', { kind: CONSUMER, attributes }, context);
    const name = `${id} ${attempt}`;
    this.#attempts.set(name, current);
    try {
      return await this.#within(current, work);
    } finally {
      this.#attempts.delete(name);
      current.span.end();
    }
  }

  /** Adds what happened to the span of its attempt. */
  note(event: RunnerEvent): void {
    if (event.type === 'trouble') return;
    const current = this.#attempts.get(`${event.taskId} ${event.attempt}`);
    if (current === undefined || event.type === 'claimed') return;
    const { span, context } = current;
    if (event.type === 'phase') {
      const endTime = Date.now();
      const options = { kind: INTERNAL, startTime: endTime - event.durationMs };
      this.#start(`falconry.task.${event.phase}`, options, context).span.end(endTime);
      return;
    }
    span.setAttribute('falconry.outcome', event.type);
    if (event.type === 'completed') span.setAttribute('falconry.signatures', event.signatures);
    if ('error' in event) {
      span.setAttribute('error.type', event.error.code satisfies ErrorCode);
      span.setStatus({ code: ERROR });
    }
  }

  #start(name: string, options: SpanOptions, parent: unknown): Current {
    const span = this.#tracer.startSpan(name, options, parent as never);
    return { span, context: this.#api.trace.setSpan(parent as never, span as never) };
  }

  /** A context below a span of another process. */
  #below(context: unknown, parent: TraceParent): unknown {
    return this.#api.trace.setSpanContext(context as never, { ...parent, isRemote: true });
  }

  #within<T>({ context }: Current, work: () => T): T {
    return this.#api.context.with(context as never, work) as T;
  }
}
