/** One process of the service, which is killed and started again: `falconry serve` or `worker`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { falconry, type Running } from '../../test/middleware/process.ts';

/** After a start that failed, as a supervisor would wait. */
const AGAIN_MS = 300;
const MAX_WORK_MS = 5000;
const STEPPED_CLOCK = new URL('./steppedClock.ts', import.meta.url).href;

export interface MemberOptions {
  /** Of `falconry`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The file that says by how much its clock is wrong. */
  readonly clock: string;
}

export class Member {
  readonly name: string;
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #running: Running | null = null;
  #closed = false;
  #startedMs = 0;
  #readyMs = 0;
  /** Duration of the last start that succeeded. */
  startMs = 0;
  state: 'down' | 'starting' | 'ready' = 'down';
  paused = false;
  /** Further arguments of the next start. */
  more: readonly string[] = [];
  kills = 0;
  /** Starts that failed: a database that restarts, a full disk. */
  readonly refusals: string[] = [];
  /** Why it ended by itself after it was ready, which it never should. */
  readonly deaths: string[] = [];

  constructor(name: string, { args, env, clock }: MemberOptions) {
    this.name = name;
    this.#args = [...args, '--json', '--log', 'json', '--log-level', 'error'];
    const options = `--disable-warning=ExperimentalWarning --import=${STEPPED_CLOCK}`;
    this.#env = { ...env, NODE_OPTIONS: options, CHAOS_CLOCK: clock };
  }

  start(): void {
    if (this.#closed) return;
    const running = falconry([...this.#args, ...this.more], this.#env);
    this.#running = running;
    this.state = 'starting';
    this.#startedMs = performance.now();
    running.printed(/^\{"ok":true.*\}$/m).then(
      () => {
        if (this.#running !== running) return;
        this.state = 'ready';
        this.#readyMs = performance.now();
        this.startMs = this.#readyMs - this.#startedMs;
      },
      () => {},
    );
    running.ended.then(async ({ code, stderr }) => {
      // Killed, or not the current one any more.
      if (this.#running !== running) return;
      const told = `${this.name} ended with ${code}: ${stderr.trim().slice(-500)}`;
      (this.state === 'ready' ? this.deaths : this.refusals).push(told);
      this.#running = null;
      this.state = 'down';
      await sleep(AGAIN_MS);
      if (this.#running === null) this.start();
    });
  }

  /** Whether there is a process that runs. */
  get alive(): boolean {
    return this.#running !== null && !this.paused;
  }

  /** Whether it has been ready for a while, which is longer where starts take longer. */
  get atWork(): boolean {
    const whileMs = Math.min(this.startMs / 2, MAX_WORK_MS);
    return this.state === 'ready' && performance.now() - this.#readyMs >= whileMs;
  }

  /** Resolves when it is ready, or after this time. */
  async ready(limitMs: number): Promise<boolean> {
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; await sleep(10)) {
      if (this.state === 'ready') return true;
    }
    return false;
  }

  /** kill -9. @returns false if there was no process */
  async kill(): Promise<boolean> {
    const running = this.#running;
    if (running === null) return false;
    this.#running = null;
    this.state = 'down';
    running.kill('SIGKILL');
    await running.ended;
    this.kills++;
    return true;
  }

  /** SIGSTOP, and SIGCONT after this time. */
  async pause(ms: number): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    this.paused = true;
    running.kill('SIGSTOP');
    await sleep(ms);
    running.kill('SIGCONT');
    this.paused = false;
  }

  /** Ends it for good: as an operator does, or by kill -9. */
  async close(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#closed = true;
    const running = this.#running;
    this.#running = null;
    this.state = 'down';
    running?.kill(signal);
    await running?.ended;
  }
}
