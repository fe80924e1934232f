/**
 * A process that answers one question at a time, and ends when it takes too long: a mutant can make
 * a loop endless, and what computes for ever lets no timer of its thread run. Limits are times of
 * the processor, so that they hold on a busy machine, and for processes that were stopped a while.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Asked<Q> {
  readonly question: Q;
  readonly limitMs: number;
}

/** How often a process looks at the time that it has used. */
const TICK_MS = 250;
/** What waits for ever uses no time: the limit for waiting is a multiple. */
const WAITING = 10;
const TOO_LATE = 124;

export class Child<Q extends object, A extends object> {
  readonly #module: string;
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;

  /** @param module answers by `serve`; started with the first question, and again after its end */
  constructor(module: URL, env: Readonly<Record<string, string>> = {}) {
    this.#module = fileURLToPath(module);
    this.#env = { ...process.env, ...env };
  }

  /**
   * @param limitMs of the processor, added up over threads
   * @returns the answer; how the process ended, if there is none
   */
  ask(question: Q, limitMs: number): Promise<A | 'too late' | 'dead'> {
    const child = (this.#process ??= this.#start());
    return new Promise((resolve) => {
      const finish = (answer: A | 'too late' | 'dead'): void => {
        child.off('message', finish).off('exit', ended);
        if (typeof answer === 'string') this.end();
        resolve(answer);
      };
      const ended = (code: number | null): void => finish(code === TOO_LATE ? 'too late' : 'dead');
      child.on('message', finish).on('exit', ended);
      child.send({ question, limitMs } satisfies Asked<Q>);
    });
  }

  end(): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }

  #start(): ChildProcess {
    // A mutant that fills memory ends its process, not the machine.
    const execArgv = ['--max-old-space-size=1500', '--no-warnings'];
    const stdio: ['ignore', 'ignore', 'ignore', 'ipc'] = ['ignore', 'ignore', 'ignore', 'ipc'];
    return fork(this.#module, { env: this.#env, execArgv, stdio });
  }
}

/** In the process: answers every question. What may be endless runs in another thread of it. */
export function serve<Q, A extends object>(answer: (question: Q) => Promise<A>): void {
  process.on('message', async (asked) => {
    const { question, limitMs } = asked as Asked<Q>;
    const used = usedSince();
    let ticks = 0;
    const timer = setInterval(() => {
      const waited = ++ticks * TICK_MS;
      if (used() > limitMs || waited > WAITING * limitMs) process.exit(TOO_LATE);
    }, TICK_MS);
    const found = await answer(question);
    clearInterval(timer);
    process.send!(found);
  });
  process.on('disconnect', () => process.exit());
}

/** @returns how many milliseconds of the processor this process has used since now */
export function usedSince(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
}
