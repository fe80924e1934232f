/**
 * Asks servers at fixed times, in a thread of its own, so that nobody's large bodies delay the
 * clock. A time counts from when the question was due: what had to wait for a busy server counts
 * with all of its wait.
 */
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Question {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Plan {
  readonly questions: readonly Question[];
  readonly everyMs: number;
}

export interface Probe {
  /** @returns the times of each question in milliseconds, since the start */
  stop(): Promise<readonly (readonly number[])[]>;
}

/** Asks each question every so many milliseconds, all of them in turn. */
export async function startProbe(plan: Plan): Promise<Probe> {
  const thread = new Worker(fileURLToPath(import.meta.url), { workerData: plan });
  const message = <T>() =>
    new Promise<T>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
    });
  await message();
  return {
    async stop() {
      const times = message<number[][]>();
      thread.postMessage('stop');
      try {
        return await times;
      } finally {
        await thread.terminate();
      }
    },
  };
}

/** One question; resolves when its answer has been read. */
function ask(agent: Agent, { url, headers }: Question): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent, headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url} answered ${answer.statusCode}`));
      answer.resume().on('end', resolve).on('error', reject);
    });
    sent.on('error', reject);
  });
}

async function run({ questions, everyMs }: Plan): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  // Connections that are open, and code that is compiled.
  for (const question of questions) await ask(agent, question);
  const times: number[][] = questions.map(() => []);
  const open = new Set<Promise<void>>();
  let stopped = false;
  parentPort!.once('message', () => {
    stopped = true;
  });
  parentPort!.postMessage('started');
  const startMs = performance.now();
  for (let turn = 0; !stopped; turn++) {
    const dueMs = startMs + (turn * everyMs) / questions.length;
    const early = dueMs - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const which = turn % questions.length;
    const one = ask(agent, questions[which]!).then(() => {
      times[which]!.push(performance.now() - Math.max(dueMs, startMs));
      open.delete(one);
    });
    open.add(one);
  }
  await Promise.all(open);
  agent.destroy();
  parentPort!.postMessage(times);
}

if (!isMainThread) await run(workerData as Plan);
