/**
 * Secrets on the screen: only for those who ask. What is on a terminal stays there to be read, and
 * in its history, by people who pass and by those who share the screen.
 */
import { UsageError } from './command.ts';
import { FLAG, type Invocation } from './define.ts';

/** The option of every command that can print a secret. */
export const SHOW_OPTION = { show: FLAG } as const;

/**
 * To be called before the secret is made.
 *
 * @param what the secret: `the secret key`
 * @param instead what to do: `give -o`
 * @throws UsageError if standard output is a terminal and `--show` is not given
 */
export function refuseOnTerminal(
  { io, flag }: Pick<Invocation, 'io' | 'flag'>,
  what: string,
  instead: string,
): void {
  if (io.stdout.isTTY !== true || flag('show')) return;
  throw new UsageError(`${what} would be shown on this terminal: ${instead}, or --show`);
}
