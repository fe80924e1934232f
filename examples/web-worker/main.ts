/** The page: requests signatures from a worker, stays responsive, and verifies them. */
import { falcon512 } from 'falconry/verify';
import type { Answer, Request } from './protocol.ts';

type Ask = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never;

const worker = new Worker(new URL('./signer.worker.ts', import.meta.url), { type: 'module' });
const waiting = new Map<number, (answer: Answer) => void>();
let lastId = 0;

worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
  waiting.get(data.id)?.(data);
  waiting.delete(data.id);
});

async function ask(request: Ask): Promise<Uint8Array> {
  const id = ++lastId;
  const answer = await new Promise<Answer>((resolve, reject) => {
    waiting.set(id, resolve);
    worker.addEventListener('error', () => reject(new Error('the worker has failed')), {
      once: true,
    });
    worker.postMessage({ ...request, id });
  });
  if ('error' in answer) throw new Error(answer.error);
  return answer.bytes;
}

async function signMany(): Promise<string> {
  let frames = 0;
  const count = () => {
    frames++;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
  const publicKey = await ask({ ask: 'publicKey' });
  const messages = Array.from({ length: 300 }, (_, i) => new TextEncoder().encode(`note ${i}`));
  const signatures = await Promise.all(messages.map((message) => ask({ ask: 'sign', message })));
  const good = signatures.filter((signature, i) => {
    return falcon512.verify(signature, messages[i]!, publicKey);
  });
  return `${good.length} of ${messages.length} signatures are valid, ${frames} frames meanwhile`;
}

const said = document.querySelector('#said')!;
signMany().then(
  (text) => {
    said.textContent = text;
  },
  (error: unknown) => {
    said.textContent = `failed: ${error}`;
  },
);
