/**
 * A process that answers one question at a time, and is ended when it takes too long: a mutant can
 * make a loop endless, and what computes for ever lets no timer of its process run.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export class Child<Q extends object, A extends object> {
  readonly #module: string;
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;

  /** @param module answers by `serve`; started with the first question, and again after its end */
  constructor(module: URL, env: Readonly<Record<string, string>> = {}) {
    this.#module = fileURLToPath(module);
    this.#env = { ...process.env, ...env };
  }

  /** @returns the answer; how the process ended, if there is none */
  ask(question: Q, limitMs: number): Promise<A | 'too late' | 'dead'> {
    const child = (this.#process ??= this.#start());
    return new Promise((resolve) => {
      const finish = (answer: A | 'too late' | 'dead'): void => {
        clearTimeout(timer);
        child.off('message', finish).off('exit', died);
        if (typeof answer === 'string') this.end();
        resolve(answer);
      };
      const died = (): void => finish('dead');
      const timer = setTimeout(finish, limitMs, 'too late');
      child.on('message', finish).on('exit', died);
      child.send(question);
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

/** In the process: answers every question. */
export function serve<Q, A extends object>(answer: (question: Q) => Promise<A>): void {
  process.on('message', async (question) => process.send!(await answer(question as Q)));
  process.on('disconnect', () => process.exit());
}
