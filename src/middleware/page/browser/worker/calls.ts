/** The worker's calls: everything that takes longer than a frame, done with the library. */
import { type Falcon, falcon512, falcon1024, type SignOptions } from '../../../../falcon/index.ts';
import { CodedError, isCodedError } from '../../../../shared/errors.ts';
import { serveThread, type WorkContext } from '../../../../shared/threads/serve.ts';
import { Slices } from '../../../../shared/threads/slices.ts';
import { checkTriples } from '../../../../wire/taskFile.ts';
import type { TaskItem, Triple } from '../../../../wire/triple.ts';
import { collect, keep, readFile, setOf, taskFile } from './batches.ts';
import { type BatchSummary, type GenerateOptions, type Progress, WORKER_NAME } from './protocol.ts';
import { readResult, tamper, verifyResult } from './results.ts';

const calls = {
  verifySignature,
  generate,
  collect,
  readFile,
  taskFile,
  readResult,
  verifyResult,
  tamper,
};

/** The calls by name. The page imports this type only. */
export type Calls = typeof calls;

serveThread(WORKER_NAME, async (work, context) => {
  const { name, take } = work as { readonly name: keyof Calls; readonly take: unknown };
  const call = calls[name] as (take: unknown, context: WorkContext) => unknown;
  try {
    return await call(take, context);
  } catch (error) {
    // The message is for the user; the cause stays in the worker.
    const code = isCodedError(error) ? error.code : 'INTERNAL';
    throw new CodedError(code, { message: error instanceof Error ? error.message : String(error) });
  }
});

function verifySignature(triple: Triple) {
  const { items } = checkTriples([triple], { maxMessageBytes: Number.MAX_SAFE_INTEGER });
  if (items === undefined) return { valid: false, ms: 0, set: 'unknown' };
  const { message, publicKey, signature } = items[0]!;
  const startMs = performance.now();
  const set = setOf(publicKey);
  const falcon: Falcon | null = { falcon512, falcon1024, unknown: null }[set];
  const valid = falcon?.verify(signature, message, publicKey) ?? false;
  return { valid, ms: performance.now() - startMs, set };
}

/**
 * Makes and verifies test items. Reports progress.
 *
 * @throws CodedError `ABORTED`
 */
async function generate(
  { count, keys, set, salt }: GenerateOptions,
  { signal, tell }: WorkContext,
): Promise<BatchSummary> {
  let progress: Progress = { what: 'Making keys', done: 0, total: keys };
  const slices = new Slices(signal, () => tell(progress));
  const pairs: { falcon: Falcon; publicKey: Uint8Array; secretKey: Uint8Array }[] = [];
  while (pairs.length < keys) {
    const isLarge = set === 'mixed' ? pairs.length % 2 === 1 : set === 'falcon1024';
    const falcon = isLarge ? falcon1024 : falcon512;
    pairs.push({ falcon, ...falcon.keygen() });
    progress = { ...progress, done: pairs.length };
    await slices.pause();
  }

  const options: SignOptions = salt === 'derived' ? { salt } : {};
  const items: TaskItem[] = new Array(count);
  const text = new TextEncoder();
  progress = { what: 'Signing', done: 0, total: count };
  // Key by key, since expanding a secret key costs as much as a few signatures.
  for (const [k, { falcon, publicKey, secretKey }] of pairs.entries()) {
    const expanded = falcon.expandSecretKey(secretKey);
    try {
      for (let index = k; index < count; index += keys) {
        const message = text.encode(`Falconry test message ${index + 1} of ${count}`);
        items[index] = { publicKey, message, signature: falcon.sign(message, expanded, options) };
        progress = { ...progress, done: progress.done + 1 };
        await slices.pause();
      }
    } finally {
      expanded.destroy();
      secretKey.fill(0);
    }
  }
  tell(progress);
  return keep({ kind: 'task', name: 'Test items', items });
}
