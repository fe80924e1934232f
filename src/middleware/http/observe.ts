/**
 * What every request gets: an id, which its answer tells; a span, if the host records traces; and
 * an event when its answer has left.
 */
import type { Context } from 'hono';
import type { ServiceEvent } from '../events.ts';
import type { NewTask } from '../stores/port/taskStore.ts';
import { type AddressSettings, callerAddress } from './address.ts';
import {
  formatTraceparent,
  hostRequestId,
  newTraceId,
  parseTraceparent,
  REQUEST_ID,
} from './traceContext.ts';
import type { Tracer } from './tracing.ts';

/** The data that Hono keeps with a request. */
export interface Env {
  Variables: {
    clientId: number | undefined;
    /** Kept with the task that the request makes. */
    origin: Pick<NewTask, 'requestId' | 'traceparent'> | undefined;
  };
}

interface Watch {
  readonly settings: AddressSettings & { readonly onEvent: (event: ServiceEvent) => void };
  readonly tracer: Tracer | null;
}

/**
 * Answers a request.
 *
 * @param route the pattern that the path matched; the path itself is told to nobody
 * @param answer must not throw
 */
export async function observed(
  c: Context<Env>,
  { settings, tracer }: Watch,
  route: string,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  const startMs = performance.now();
  const { method } = c.req;
  const caller = parseTraceparent(c.req.header('traceparent'));
  const span = tracer?.request(method, route, caller) ?? null;
  const hosts = hostRequestId(c.env, c.get('requestId' as never));
  const requestId = hosts ?? caller?.traceId ?? span?.traceId ?? newTraceId();
  const traceparent = span?.traceparent ?? (caller && formatTraceparent(caller));
  c.set('origin', { requestId, ...(traceparent && { traceparent }) });
  const response = await (span ? span.within(answer) : answer());
  response.headers.set(REQUEST_ID, requestId);
  const { status } = response;
  const remote = callerAddress(c, settings);
  whenSent(c, response, (sent) => {
    span?.end({ status, ...sent });
    const clientId = c.get('clientId');
    settings.onEvent({
      type: 'request',
      requestId,
      method,
      path: route,
      status,
      durationMs: performance.now() - startMs,
      ...sent,
      ...(clientId !== undefined && { clientId }),
      ...(remote !== undefined && { remote }),
    });
  });
  return response;
}

/** How the answer went out. */
interface Sent {
  /** Unknown for streams, if the host does not tell. On Node, headers are counted, too. */
  readonly bytes?: number;
  /** The connection ended before the answer was complete. */
  readonly cut?: true;
}

/** The parts of what Node's servers pass to Hono apps that tell about the answer. */
interface NodeEnv {
  readonly incoming?: {
    readonly httpVersionMajor?: number;
    readonly socket?: { readonly bytesWritten?: number } | null;
  };
  readonly outgoing?: {
    readonly closed?: boolean;
    readonly writableFinished?: boolean;
    once?(event: 'close', listener: () => void): unknown;
  };
}

/** Calls back when the answer has left; at once if the host does not tell when. */
function whenSent(c: Context, response: Response, done: (sent: Sent) => void): void {
  const length = response.headers.get('content-length');
  const known: Sent = length === null ? {} : { bytes: Number(length) };
  const { incoming, outgoing } = (c.env ?? {}) as NodeEnv;
  if (typeof outgoing?.once !== 'function') {
    done(known);
    return;
  }
  // Requests of HTTP/2 share a connection, whose bytes are not those of one answer.
  const socket = incoming?.httpVersionMajor === 1 ? incoming.socket : undefined;
  const before = socket?.bytesWritten;
  const ended = () =>
    done({
      ...known,
      ...(socket && before !== undefined && { bytes: (socket.bytesWritten ?? before) - before }),
      ...(outgoing.writableFinished === false && { cut: true as const }),
    });
  if (outgoing.closed) ended();
  else outgoing.once('close', ended);
}
