/** The worker's side of a pool's thread: its module calls `serveThread` once. */

import { CodedError } from '../errors.ts';
import type { HostSignal } from '../hostTypes.ts';
import { type OwnLine, ownLine } from './host.ts';
import { type Answer, faultOf, flatten, type Request, unflatten } from './messages.ts';

export interface WorkContext {
  /** Aborted if the answer is no longer wanted. */
  readonly signal: HostSignal;
  /** Sends news before the answer. */
  tell(news: unknown): void;
}

/** Creates its signal on demand, since most work is synchronous and never needs it. */
class Context implements WorkContext {
  readonly tell: (news: unknown) => void;
  #controller: AbortController | undefined;

  constructor(tell: (news: unknown) => void) {
    this.tell = tell;
  }

  get signal(): HostSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new CodedError('ABORTED'));
  }
}

/**
 * Sends the hello, then answers requests. Buffers and whole views in an answer are transferred.
 *
 * @param name name by which the pool recognises this worker
 * @param perform does the work; synchronous work is done in the order of the requests
 * @param memoryBytes reported with every answer
 * @param line the connection to the pool; default: the thread's connection
 * @throws Error without a line outside a thread
 */
export function serveThread(
  name: string,
  perform: (work: unknown, context: WorkContext) => unknown,
  memoryBytes: () => number = () => 0,
  line: OwnLine = ownLine(),
): void {
  /** Requests with asynchronous work in progress. */
  const running = new Map<number, Context>();
  const post = (answer: Answer, buffers: Iterable<ArrayBuffer> = []): void =>
    line.post(answer, [...buffers]);

  const succeed = (id: number, value: unknown): void => {
    const buffers = new Set<ArrayBuffer>();
    post({ id, value: flatten(value, buffers), memoryBytes: memoryBytes() }, buffers);
  };
  const perhaps = async (id: number, value: Promise<unknown>): Promise<void> => {
    try {
      succeed(id, await value);
    } catch (error) {
      post({ id, fault: faultOf(error) });
    } finally {
      running.delete(id);
    }
  };

  line.listen((message) => {
    const request = message as Request;
    if ('cancel' in request) {
      running.get(request.cancel)?.cancel();
      return;
    }
    const { id, work } = request;
    const context = new Context((news) => post({ id, news }));
    try {
      const value = perform(unflatten(work), context);
      if (value instanceof Promise) {
        running.set(id, context);
        void perhaps(id, value);
      } else {
        succeed(id, value);
      }
    } catch (error) {
      post({ id, fault: faultOf(error) });
    }
  });
  post({ hello: name });
}
