/** How a server starts to listen, and what ends it. */
import { IoFailure } from '../lib/command.ts';

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process is listening there',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'unknown host name',
};

/** Returns the error of `listen` as a failure, in words. */
export function cannotListen(host: string, port: number, error: unknown): IoFailure {
  const code = String((error as NodeJS.ErrnoException).code);
  const words = LISTEN_FAULTS[code];
  const reason = words === undefined ? (error as Error).message : `${words} (${code})`;
  return new IoFailure(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}

/** The first signal shuts down; the second, by the system's default, ends the process. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    const signals = ['SIGTERM', 'SIGINT'] as const;
    const onSignal = (signal: NodeJS.Signals) => {
      for (const name of signals) process.off(name, onSignal);
      done(signal);
    };
    for (const name of signals) process.on(name, onSignal);
  });
}
