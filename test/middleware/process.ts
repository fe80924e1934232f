/** The command line as a process of its own. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  /** Waits for a match on standard output. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** Starts `node <script> <args>` in the project's folder. */
export function start(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Running {
  const inherited = { ...process.env };
  // The test runner's own settings are not those of a user's shell.
  for (const name of Object.keys(inherited)) {
    if (/^(VITEST|NODE_ENV|NODE_OPTIONS|FALCONRY_|PORT$)/.test(name)) delete inherited[name];
  }
  const child = spawn(process.execPath, [script, ...args], {
    cwd: ROOT,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    pid: child.pid!,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          const match = pattern.exec(stdout);
          if (match) resolve(match);
        };
        look();
        ended.then(
          () => reject(new Error(`ended without ${pattern}:\n${stdout}\n${stderr}`)),
          reject,
        );
      }),
    kill: (signal) => child.kill(signal),
    ended,
  };
}

export const falconry = (args: readonly string[], env?: NodeJS.ProcessEnv) =>
  start('src/cli/main.ts', args, env);
