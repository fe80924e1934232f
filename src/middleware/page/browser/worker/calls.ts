/** The worker of the page: does everything that takes longer than a frame, with the library. */

import { type Falcon, falcon512, falcon1024 } from '../../../../falcon/index.ts';
import { isCodedError } from '../../../../shared/errors.ts';
import { decodeWireHex } from '../../../../wire/hex.ts';
import { collect, keep, readFile, setOf, taskFileOf } from './batches.ts';
import { generateItems } from './generate.ts';
import type { CallName, Calls, Progress, Reply, Request } from './protocol.ts';
import { readResult, tamper, verifyResult } from './results.ts';

/** The part of a worker's global scope that is used; its types conflict with those of pages. */
interface Scope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(reply: Reply, transfer?: Transferable[]): void;
}

interface Context {
  readonly signal: AbortSignal;
  readonly report: (progress: Progress) => void;
}

type Handlers = {
  [Name in CallName]: (
    take: Calls[Name]['take'],
    context: Context,
  ) => Calls[Name]['give'] | Promise<Calls[Name]['give']>;
};

const handlers: Handlers = {
  verifySignature(triple) {
    const [message, publicKey, signature] = [
      triple.digest,
      triple.public_key,
      triple.signature,
    ].map((hex) => decodeWireHex(hex, Number.MAX_SAFE_INTEGER));
    const startMs = performance.now();
    if (!isBytes(message) || !isBytes(publicKey) || !isBytes(signature)) {
      return { valid: false, ms: 0, set: 'unknown' };
    }
    const set = setOf(publicKey);
    const falcon: Falcon | null = { falcon512, falcon1024, unknown: null }[set];
    const valid = falcon?.verify(signature, message, publicKey) ?? false;
    return { valid, ms: performance.now() - startMs, set };
  },
  async generate(options, { signal, report }) {
    const items = await generateItems(options, signal, report);
    return keep({ kind: 'task', name: 'Test items', items });
  },
  collect: ({ triples, after, limits }) => collect(triples, after, limits),
  readFile: ({ file, name, kind, limits }) => readFile(file, name, kind, limits),
  taskFile: ({ batch }) => taskFileOf(batch),
  readResult: ({ file }) => readResult(file),
  verifyResult: ({ result, batch }) => verifyResult(result, batch),
  tamper: ({ result, batch }) => tamper(result, batch),
};

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

const scope = globalThis as unknown as Scope;
const running = new Map<number, AbortController>();

scope.onmessage = ({ data }) => {
  if ('cancel' in data) running.get(data.id)?.abort();
  else void answer(data.id, data.call, data.take);
};

async function answer(id: number, call: CallName, take: unknown): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const context: Context = {
    signal: controller.signal,
    report: (progress) => scope.postMessage({ id, progress }),
  };
  try {
    const handler = handlers[call] as (take: unknown, context: Context) => unknown;
    const give = await handler(take, context);
    scope.postMessage({ id, give }, give instanceof Uint8Array ? [give.buffer as ArrayBuffer] : []);
  } catch (error) {
    const code = controller.signal.aborted ? 'ABORTED' : isCodedError(error) ? error.code : null;
    scope.postMessage({ id, error: { message: describe(error), code } });
  } finally {
    running.delete(id);
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));
