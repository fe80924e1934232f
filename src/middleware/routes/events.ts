/**
 * `GET …/tasks/:id/events`: the progress record as server-sent events, at every change, until the
 * task has ended. The store is also polled, since workers may be in other processes. A browser's
 * EventSource connects again after the end, and stops only if the answer is a 204.
 */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { isFinal } from '../../wire/taskStates.ts';
import { isRefusal } from '../identity/callers.ts';
import type { Task } from '../stores/port/task.ts';
import { progressRecord, resultUrl } from './records.ts';
import type { Deps, Route } from './route.ts';

const ASK_EVERY_MS = 1000;
/** Comments keep proxies from closing a quiet stream. */
const COMMENT_EVERY_MS = 15_000;

export function followEvents(deps: Deps): Route<Task>['handle'] {
  const open = new Map<number, number>();
  return async (c, { clientId }, task) => {
    if (isFinal(task.state) && c.req.header('last-event-id') === eventId(task)) {
      return new Response(null, { status: 204 });
    }
    if (c.req.method === 'HEAD') return new Response(null, { headers: HEADERS });
    const streams = open.get(clientId) ?? 0;
    if (streams >= deps.settings.limits.eventStreams) throw new CodedError('TOO_MANY_STREAMS');
    open.set(clientId, streams + 1);
    const release = () => {
      const left = (open.get(clientId) ?? 1) - 1;
      if (left > 0) open.set(clientId, left);
      else open.delete(clientId);
    };
    const { raw } = c.req;
    const key = raw.headers.get('authorization') ?? '';
    const mayFollow = async (): Promise<boolean> => {
      try {
        return (await deps.runtime.ports.authenticate(key, raw))?.clientId === clientId;
      } catch (error) {
        if (isRefusal(error)) return false;
        throw error;
      }
    };
    const events = new TaskEvents({ context: c, deps, task, mayFollow, release });
    return new Response(events.body, { headers: HEADERS });
  };
}

/** Compression and proxies would hold events back. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** The id of an event: that of the last one has the final state. */
const eventId = ({ state, updatedAt }: Task) => `${state}-${updatedAt}`;

interface Follower {
  readonly context: Context;
  readonly deps: Deps;
  readonly task: Task;
  /** Returns whether the request would still be the same client's. */
  readonly mayFollow: () => Promise<boolean>;
  /** Called at the end of the stream. */
  readonly release: () => void;
}

/** The stream of events of a task for one reader. */
class TaskEvents {
  readonly body: ReadableStream<Uint8Array>;
  readonly #follower: Follower;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #unwatch = () => {};
  #timer: ReturnType<typeof setInterval> | undefined;
  #closed = false;
  /** Identifies the record that was sent last. */
  #version = '';
  #sentMs = performance.now();
  /** Records are sent one after the other. */
  #sending = Promise.resolve();

  constructor(follower: Follower) {
    this.#follower = follower;
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => this.#start(controller),
      cancel: () => this.#close(),
    };
    this.body = new ReadableStream<Uint8Array>(source, { highWaterMark: 16 });
  }

  #start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    const { deps, task } = this.#follower;
    const { store } = deps.runtime.ports;
    const { id, clientId } = task;
    this.#unwatch = store.watch((news) => {
      if (news.id === id) this.#enqueue(() => store.get(id, clientId));
    });
    this.#timer = setInterval(() => this.#tick(), ASK_EVERY_MS);
    this.#enqueue(() => task);
  }

  #tick(): void {
    const { deps, task, mayFollow } = this.#follower;
    const { runtime } = deps;
    if (runtime.stopping) {
      this.#end();
      return;
    }
    if (performance.now() - this.#sentMs > COMMENT_EVERY_MS) this.#send(': still here\n\n');
    const read = () => runtime.ports.store.get(task.id, task.clientId);
    // A revoked key gets no more events, as if the task were gone.
    this.#enqueue(async () => ((await mayFollow()) ? read() : null));
  }

  #enqueue(ask: () => Task | null | Promise<Task | null>): void {
    this.#sending = this.#sending
      .then(async () => (this.#closed ? undefined : this.#show(await ask())))
      .catch((error) => {
        if (this.#closed) return;
        this.#close();
        this.#controller.error(error);
      });
  }

  async #show(task: Task | null): Promise<void> {
    if (this.#closed) return;
    if (task !== null) {
      const version = `${task.updatedAt} ${JSON.stringify(task.progress)}`;
      const { context, deps } = this.#follower;
      const url = await resultUrl(context, deps, task);
      // A slow reader gets only the latest record, later.
      const room = (this.#controller.desiredSize ?? 0) > 0 || isFinal(task.state);
      if (this.#closed || version === this.#version || !room) return;
      this.#version = version;
      const record = progressRecord(task, url, deps.settings.retentionMs);
      const data = JSON.stringify(record);
      this.#send(`event: progress\nid: ${eventId(task)}\ndata: ${data}\n\n`);
    }
    if (task === null || isFinal(task.state)) this.#end();
  }

  #send(text: string): void {
    this.#sentMs = performance.now();
    this.#controller.enqueue(utf8.encode(text));
  }

  #end(): void {
    this.#close();
    this.#controller.close();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#unwatch();
    this.#follower.release();
  }
}

const utf8 = new TextEncoder();
