/** The exit codes of all commands: one table for the code, the help texts and the documents. */

/** Names of the exit codes. */
export const EXIT = Object.freeze({
  ok: 0,
  invalid: 1,
  usage: 2,
  io: 3,
  service: 4,
  internal: 70,
  interrupted: 130,
});

export type ExitName = keyof typeof EXIT;

/** The table as people read it. */
export const EXIT_MEANINGS: Readonly<Record<ExitName, string>> = Object.freeze({
  ok: 'success, or valid',
  invalid: 'invalid: a signature, an aggregate or a file; or a task or a check failed',
  usage: 'wrong arguments or configuration',
  io: 'a file, a port or a store could not be opened, read or written',
  service: 'the service refused the request or could not be reached',
  internal: 'a bug in falconry',
  interrupted: 'interrupted by Ctrl-C (128 + signal number)',
});

/** The end of a help text: the exit codes of the command. */
export function exitHelp(...names: readonly ExitName[]): string {
  const all: readonly ExitName[] = ['ok', ...names, 'internal', 'interrupted'];
  const lines = all.map((name) => `  ${String(EXIT[name]).padStart(3)}  ${EXIT_MEANINGS[name]}`);
  return `Exit codes\n${lines.join('\n')}\n`;
}

/** The exit codes of commands that only work on files. */
export const EXIT_HELP = exitHelp('invalid', 'usage', 'io');
