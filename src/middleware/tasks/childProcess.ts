/**
 * A worker in a process of its own, which a pool takes for a thread. What ends it (a system short
 * of memory, a crash in native code) leaves this process alive. Both ends are here: `startProcess`
 * for the pool, `parentLine` for the module that the process runs.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostThread, OwnLine, StartThread } from '../../shared/threads/host.ts';

/** Programs that run a module they are given; a compiled one would start itself once more. */
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
      // A process that was never there does not exit.
      if (child.pid === undefined) resolve();
    });
  });
  child.on('message', (message) => {
    if (!lost) onMessage(message);
  });
  // Without its line it is of no use.
  child.once('disconnect', () => child.kill('SIGKILL'));
  hold(child, false);
  return {
    // What cannot be sent is not answered either: the process has ended, or will be told to.
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

/** Flags of Node, which alone has the limit. */
function flagsOf(heapMb: number | undefined): string[] {
  const isNode = process.versions.bun === undefined && process.versions.deno === undefined;
  return isNode && heapMb !== undefined ? [`--max-old-space-size=${heapMb}`] : [];
}

/** Says whether the process keeps this one alive. */
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
 * The connection of the process to the one that started it; it ends when that one does.
 *
 * @throws Error if it was not started by `startProcess`
 */
export function parentLine(): OwnLine {
  if (process.send === undefined) throw new Error('this module runs in a child process only');
  process.once('disconnect', () => process.exit());
  // Sent to the whole group by a terminal or a service manager; it is the server that ends this.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  return {
    post: (message) => void process.send!(message),
    listen: (listener) => void process.on('message', listener),
  };
}
