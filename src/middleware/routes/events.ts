/**
 * `GET …/tasks/:id/events`: the progress record as server-sent events, at every change, until the
 * task has ended. The store is asked again from time to time as well, since workers may live in other
 * processes.
 */
import type { Context } from 'hono';
import { CodedError } from '../../errors.ts';
import { progressRecord } from '../records.ts';
import { isFinal, type Task } from '../task.ts';
import { findTask, resultUrl } from './answers.ts';
import type { Deps, Route } from './route.ts';

const ASK_EVERY_MS = 1000;
/** A comment this often keeps proxies from closing a quiet stream. */
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
    return new Response(taskEvents(c, deps, task, release), { headers });
  };
}

function taskEvents(
  c: Context,
  deps: Deps,
  first: Task,
  release: () => void,
): ReadableStream<Uint8Array> {
  const text = new TextEncoder();
  const { store } = deps.runtime.ports;
  let close = () => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let lastSent = '';
        let quietSinceMs = performance.now();
        let closed = false;
        const send = (chunk: string) => {
          quietSinceMs = performance.now();
          controller.enqueue(text.encode(chunk));
        };
        const show = async (task: Task | null) => {
          if (closed) return;
          if (task !== null) {
            const version = `${task.updatedAt} ${JSON.stringify(task.progress)}`;
            const url = await resultUrl(c, deps, task);
            // A reader that does not read gets the latest record later, not all of them at once.
            const room = (controller.desiredSize ?? 0) > 0 || isFinal(task.state);
            if (closed || version === lastSent || !room) return;
            lastSent = version;
            send(`event: progress\ndata: ${JSON.stringify(progressRecord(task, url))}\n\n`);
          }
          if (task === null || isFinal(task.state)) {
            close();
            controller.close();
          }
        };
        let shown = Promise.resolve();
        const enqueue = (ask: () => Task | null | Promise<Task | null>) => {
          shown = shown
            .then(async () => (closed ? undefined : show(await ask())))
            .catch((error) => {
              if (closed) return;
              close();
              controller.error(error);
            });
        };
        const unwatch = store.watch((task) => {
          if (task.id === first.id) enqueue(() => task);
        });
        const timer = setInterval(() => {
          if (deps.runtime.stopping) {
            close();
            controller.close();
            return;
          }
          if (performance.now() - quietSinceMs > COMMENT_EVERY_MS) send(': still here\n\n');
          enqueue(() => store.get(first.id, first.clientId));
        }, ASK_EVERY_MS);
        close = () => {
          if (closed) return;
          closed = true;
          clearInterval(timer);
          unwatch();
          release();
        };
        enqueue(() => first);
      },
      cancel: () => close(),
    },
    { highWaterMark: 16 },
  );
}
