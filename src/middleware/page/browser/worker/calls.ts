/** The worker of the page: does everything that takes longer than a frame, with the library. */
import { type Falcon, falcon512, falcon1024 } from '../../../../falcon/index.ts';
import { CodedError, isCodedError } from '../../../../shared/errors.ts';
import { serveThread, type WorkContext } from '../../../../shared/threads/serve.ts';
import { decodeWireHex } from '../../../../wire/hex.ts';
import { collect, keep, readFile, setOf, taskFileOf } from './batches.ts';
import { generateItems } from './generate.ts';
import { type CallName, type Calls, WORKER_NAME } from './protocol.ts';
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
