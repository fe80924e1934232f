/** The real service in a process of its own, to be killed: see `fixtures/crashService.ts`. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ServiceOptions } from '../../src/middleware/index.ts';
import { deferred } from '../../src/shared/wait.ts';
import type { News } from './fixtures/crashService.ts';

const ENTRY = new URL('./fixtures/crashService.ts', import.meta.url);

/** A process that has loaded its code, and serves when it is told to. */
export class Child {
  readonly #process: ChildProcess;
  readonly loaded: Promise<void>;
  #port = 0;
  /** Called at every piece of news. */
  onNews: (news: News) => void = () => {};

  /** @param options of the service, in addition to those of `fixtures/crashService.ts` */
  constructor(folder: string, options: ServiceOptions = {}) {
    this.#process = fork(ENTRY, [folder, JSON.stringify(options)], {
      execArgv: [],
      // Compiled code is shared by all children, so that a round is about the service and not about
      // its loading.
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    });
    const { promise, resolve } = deferred<void>();
    this.loaded = promise;
    this.#process.on('message', (news: News) => {
      if ('loaded' in news) resolve();
      if ('port' in news) this.#port = news.port;
      this.onNews(news);
    });
  }

  begin(): void {
    this.#process.send('start');
  }

  /** Resolves when the port is open. */
  async open(): Promise<void> {
    this.begin();
    const { promise, resolve } = deferred<void>();
    this.onNews = () => this.#port > 0 && resolve();
    await promise;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async kill(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    const [, signal] = await exit;
    // It must have lived until now: a service that ended by itself would be a fault of its own.
    expect(signal).toBe('SIGKILL');
  }
}
