/**
 * A worker in a separate process, used by a pool like a thread. If it dies (out of memory, or by a
 * crash in native code), this process lives on. Both ends are here: `startProcess` for the pool,
 * `parentLine` for the module that the process runs.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostThread, OwnLine, StartThread } from '../../shared/threads/host.ts';

/** Programs that run a given module; a compiled one would start itself again. */
const RUNTIME = /^(node|nodejs|bun|deno)(\.exe)?$/i;

/** Starts a process on an ES module. @throws Error if this host cannot */
export const startProcess: StartThread = (module, { onMessage, onLost }, limits): HostThread => {
  if (!RUNTIME.test(basename(process.execPath))) throw new Error('there is no runtime to start');
  const child = fork(fileURLToPath(module.locate()), [], {
    execArgv: flagsOf(limits?.maxOldGenerationSizeMb),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let lost = false;
  const lose = (cause: unknown): void => {
    if (lost) return;
    lost = true;
    onLost(cause);
  };
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      lose(new Error(`the process was ended by ${signal ?? `exit code ${code}`}`));
      resolve();
    });
    child.on('error', (cause) => {
      lose(cause);
      // A process that did not start does not exit.
      if (child.pid === undefined) resolve();
    });
  });
  child.on('message', (message) => {
    if (!lost) onMessage(message);
  });
  // Without its connection it is useless.
  child.once('disconnect', () => child.kill('SIGKILL'));
  hold(child, false);
  return {
    // A message that cannot be sent gets no answer: the process has ended, or is being ended.
    post: (message) => void child.send(message as object, () => undefined),
    hold: (held) => hold(child, held),
    async terminate() {
      lost = true;
      child.ref();
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** Returns the heap limit as a flag; only Node has one. */
function flagsOf(heapMb: number | undefined): string[] {
  const isNode = process.versions.bun === undefined && process.versions.deno === undefined;
  return isNode && heapMb !== undefined ? [`--max-old-space-size=${heapMb}`] : [];
}

/** Sets whether the process keeps this one alive. */
function hold(child: ChildProcess, held: boolean): void {
  const channel = child.channel as Partial<NonNullable<ChildProcess['channel']>> | null | undefined;
  if (held) {
    child.ref();
    channel?.ref?.();
  } else {
    child.unref();
    // Bun has no such method.
    channel?.unref?.();
  }
}

/**
 * Returns the connection to the parent process. This process ends with its parent.
 *
 * @throws Error if it was not started by `startProcess`
 */
export function parentLine(): OwnLine {
  if (process.send === undefined) throw new Error('this module runs in a child process only');
  process.once('disconnect', () => process.exit());
  // Terminals and service managers signal the whole group; only the server ends this process.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  return {
    post: (message) => void process.send!(message),
    listen: (listener) => void process.on('message', listener),
  };
}
