/**
 * `GET …/tasks/:id/events`: the progress record as server-sent events, at every change, until the
 * task has ended. The store is polled as well, since workers may live in other processes.
 */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { isFinal } from '../../wire/taskStates.ts';
import { isRefusal } from '../identity/callers.ts';
import type { Task } from '../stores/port/task.ts';
import { findTask, progressRecord, resultUrl } from './records.ts';
import type { Deps, Route } from './route.ts';

const ASK_EVERY_MS = 1000;
/** Comments keep proxies from closing a quiet stream. */
const COMMENT_EVERY_MS = 15_000;

export function followEvents(deps: Deps): Route['handle'] {
  const open = new Map<number, number>();
  return async (c, caller) => {
    const { clientId } = caller;
    const task = await findTask(deps.runtime.ports.store, c.req.param('id'), caller);
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
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
    return new Response(new TaskEvents(c, deps, task, mayFollow, release).body, { headers });
  };
}

/** The stream of events of a task for one reader. */
class TaskEvents {
  readonly body: ReadableStream<Uint8Array>;
  readonly #context: Context;
  readonly #deps: Deps;
  readonly #task: Task;
  /** Whether the request would still be the same client's. */
  readonly #mayFollow: () => Promise<boolean>;
  readonly #release: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #unwatch = () => {};
  #timer: ReturnType<typeof setInterval> | undefined;
  #closed = false;
  /** Identifies the record that was sent last. */
  #version = '';
  #sentMs = performance.now();
  /** Records are sent one after the other. */
  #sending = Promise.resolve();

  constructor(
    context: Context,
    deps: Deps,
    task: Task,
    mayFollow: () => Promise<boolean>,
    release: () => void,
  ) {
    this.#context = context;
    this.#deps = deps;
    this.#task = task;
    this.#mayFollow = mayFollow;
    this.#release = release;
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => this.#start(controller),
      cancel: () => this.#close(),
    };
    this.body = new ReadableStream<Uint8Array>(source, { highWaterMark: 16 });
  }

  #start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    const { store } = this.#deps.runtime.ports;
    const { id, clientId } = this.#task;
    this.#unwatch = store.watch((news) => {
      if (news.id === id) this.#enqueue(() => store.get(id, clientId));
    });
    this.#timer = setInterval(() => this.#tick(), ASK_EVERY_MS);
    this.#enqueue(() => this.#task);
  }

  #tick(): void {
    const { runtime } = this.#deps;
    if (runtime.stopping) {
      this.#end();
      return;
    }
    if (performance.now() - this.#sentMs > COMMENT_EVERY_MS) this.#send(': still here\n\n');
    const { id, clientId } = this.#task;
    // A key that was revoked sees no more: as if the task were gone.
    this.#enqueue(async () =>
      (await this.#mayFollow()) ? runtime.ports.store.get(id, clientId) : null,
    );
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
      const url = await resultUrl(this.#context, this.#deps, task);
      // A slow reader gets the latest record later, not all of them at once.
      const room = (this.#controller.desiredSize ?? 0) > 0 || isFinal(task.state);
      if (this.#closed || version === this.#version || !room) return;
      this.#version = version;
      const { retentionMs } = this.#deps.settings;
      this.#send(
        `event: progress\ndata: ${JSON.stringify(progressRecord(task, url, retentionMs))}\n\n`,
      );
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
    this.#release();
  }
}

const utf8 = new TextEncoder();
