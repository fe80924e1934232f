/** Runs the command line on a pseudo-terminal, made by `script` of util-linux. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cleanEnvironment, MAIN } from './cli.ts';

const SCRIPT = '/usr/bin/script';
export const HAS_TERMINAL = existsSync(SCRIPT);

/**
 * What a terminal shows of a shell command, and its exit code.
 *
 * @param ends what, once it is shown, ends the command by Ctrl-C
 */
export function shellOnTerminal(
  command: string,
  {
    cwd,
    columns = 80,
    env = {},
    ends,
  }: {
    readonly cwd: string;
    readonly columns?: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly ends?: RegExp;
  },
): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn(SCRIPT, ['-qec', `stty cols ${columns}; ${command}`, '/dev/null'], {
    cwd,
    env: cleanEnvironment({ TERM: 'xterm', LC_ALL: 'C.UTF-8', ...env }),
  });
  let text = '';
  const take = (part: string) => {
    text += part;
    if (ends?.test(text) && child.stdin.writable) child.stdin.end('\x03');
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text: text.replaceAll('\r\n', '\n') }));
  });
}

/** The same of `falconry <args>`. */
export const falconryOnTerminal = (args: string, options: Parameters<typeof shellOnTerminal>[1]) =>
  shellOnTerminal(`'${process.execPath}' '${MAIN}' ${args}`, options);
