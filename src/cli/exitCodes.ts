/** What the exit code of every command means: one table, for the code, the help texts and the documentation. */

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
  ok: 'done, or valid',
  invalid:
    'judged and found wanting: a signature, an aggregate, what a file holds, a task, a check',
  usage: 'wrong arguments, or a wrong configuration',
  io: 'a file, a port or a store could not be opened, read or written',
  service: 'the service refused, or could not be reached',
  internal: 'a fault of falconry itself',
  interrupted: 'stopped by Ctrl-C (128 + the number of the signal)',
});

/** The end of a help text: the codes that a command can end with. */
export function exitHelp(...names: readonly ExitName[]): string {
  const all: readonly ExitName[] = ['ok', ...names, 'internal', 'interrupted'];
  const lines = all.map((name) => `  ${String(EXIT[name]).padStart(3)}  ${EXIT_MEANINGS[name]}`);
  return `Exit codes\n${lines.join('\n')}\n`;
}

/** The codes of commands that work on files alone. */
export const EXIT_HELP = exitHelp('invalid', 'usage', 'io');
