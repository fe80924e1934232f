/** Why the server cannot listen, in words. */
import { IoFailure } from '../lib/command.ts';

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process is listening there',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'unknown host name',
};

/** The error of `listen` as a failure that people can read. */
export function cannotListen(host: string, port: number, error: unknown): IoFailure {
  const code = String((error as NodeJS.ErrnoException).code);
  const words = LISTEN_FAULTS[code];
  const reason = words === undefined ? (error as Error).message : `${words} (${code})`;
  return new IoFailure(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}
