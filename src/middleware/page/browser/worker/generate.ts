/** Makes test items, with new keys, for trying the service. The secret keys are wiped at once. */
import { type Falcon, falcon512, falcon1024, type SignOptions } from '../../../../falcon/index.ts';
import type { TaskItem } from '../../../../wire/triple.ts';
import type { GenerateOptions, Progress, SetChoice } from './protocol.ts';

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
