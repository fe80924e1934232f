/** The service that is fuzzed, in a process of its own, with its embedded store and a worker. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FuzzKeys, FuzzMemory, Told } from '../../test/middleware/fixtures/fuzzService.ts';
import { HOST_ENV } from '../hostSettings.ts';

/** A running service, and what the campaign needs to know of it. */
export interface Target {
  readonly port: number;
  readonly keys: FuzzKeys;
  /** After a garbage collection. */
  memory(): Promise<FuzzMemory>;
  alive(): boolean;
}

export interface ForkedTarget extends Target {
  stop(): Promise<void>;
}

export async function startTarget(): Promise<ForkedTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-fuzz-'));
  const script = new URL('../../test/middleware/fixtures/fuzzService.ts', import.meta.url);
  const child = fork(script, [folder], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...HOST_ENV },
  });
  const ended = once(child, 'exit');
  const message = async <T extends Told>(): Promise<T> => {
    const gone = ended.then(([code, signal]) => {
      throw new Error(`the service ended with ${code ?? signal}`);
    });
    const [told] = await Promise.race([once(child, 'message'), gone]);
    return told as T;
  };
  const { port, ...keys } = await message<Extract<Told, FuzzKeys>>();
  return {
    port,
    keys,
    memory() {
      const told = message<FuzzMemory>();
      child.send('memory');
      return told;
    },
    alive: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      if (child.connected) child.send('stop');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(timer);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
