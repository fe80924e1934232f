/** The worker of the page: does everything that takes longer than a frame, with the library. */
import { type Falcon, falcon512, falcon1024, type SignOptions } from '../../../../falcon/index.ts';
import { CodedError, isCodedError } from '../../../../shared/errors.ts';
import { serveThread, type WorkContext } from '../../../../shared/threads/serve.ts';
import { decodeWireHex } from '../../../../wire/hex.ts';
import type { TaskItem } from '../../../../wire/triple.ts';
import { collect, keep, readFile, setOf, taskFileOf } from './batches.ts';
import {
  type CallName,
  type Calls,
  type GenerateOptions,
  type Progress,
  type SetChoice,
  WORKER_NAME,
} from './protocol.ts';
import { readResult, tamper, verifyResult } from './results.ts';

type Handlers = {
  [Name in CallName]: (
    take: Calls[Name]['take'],
    context: WorkContext,
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
  async generate(options, { signal, tell }) {
    const items = await generateItems(options, signal, tell);
    return keep({ kind: 'task', name: 'Test items', items });
  },
  collect,
  readFile,
  taskFile: ({ batch }) => taskFileOf(batch),
  readResult: ({ bytes }) => readResult(bytes),
  verifyResult: ({ result, batch }) => verifyResult(result, batch),
  tamper: ({ result, batch }) => tamper(result, batch),
};

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

serveThread(WORKER_NAME, async (work, context) => {
  const { name, take } = work as { readonly name: CallName; readonly take: unknown };
  const handler = handlers[name] as (take: unknown, context: WorkContext) => unknown;
  try {
    return await handler(take, context);
  } catch (error) {
    // Its message is for the user; what caused it is not.
    const code = isCodedError(error) ? error.code : 'INTERNAL';
    throw new CodedError(code, { message: error instanceof Error ? error.message : String(error) });
  }
});

/** Time between two chances for messages to arrive. Milliseconds. */
const SLICE_MS = 40;

/**
 * Makes items and reports progress.
 *
 * @throws the signal's reason if it is aborted
 */
export async function generateItems(
  { count, keys, set, salt }: GenerateOptions,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<TaskItem[]> {
  let sliceEnd = performance.now() + SLICE_MS;
  const yieldNow = async (what: string, done: number, total: number): Promise<void> => {
    if (performance.now() < sliceEnd) return;
    report({ what, done, total });
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
    sliceEnd = performance.now() + SLICE_MS;
  };

  const pairs: { falcon: Falcon; publicKey: Uint8Array; secretKey: Uint8Array }[] = [];
  while (pairs.length < keys) {
    const falcon = falconOf(set, pairs.length);
    pairs.push({ falcon, ...falcon.keygen() });
    await yieldNow('Making keys', pairs.length, keys);
  }

  const options: SignOptions = salt === 'derived' ? { salt } : {};
  const items: TaskItem[] = new Array(count);
  const text = new TextEncoder();
  let done = 0;
  // Key by key, since expanding a secret key costs as much as a few signatures.
  for (const [k, { falcon, publicKey, secretKey }] of pairs.entries()) {
    const expanded = falcon.expandSecretKey(secretKey);
    try {
      for (let index = k; index < count; index += keys) {
        const message = text.encode(`Falconry test message ${index + 1} of ${count}`);
        items[index] = { publicKey, message, signature: falcon.sign(message, expanded, options) };
        await yieldNow('Signing', ++done, count);
      }
    } finally {
      expanded.destroy();
      secretKey.fill(0);
    }
  }
  report({ what: 'Signing', done: count, total: count });
  return items;
}

function falconOf(set: SetChoice, index: number): Falcon {
  if (set === 'mixed') return index % 2 === 0 ? falcon512 : falcon1024;
  return set === 'falcon512' ? falcon512 : falcon1024;
}
