/** The commands of other hosts, and the report that a script prints in one. */
import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installed } from './programs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The commands that npm installed here. */
export const DENO = installed('deno');
export const BUN = installed('bun');

/** Flags that only a checkout needs, where nothing is installed as a package, nor downloaded. */
export const CHECKOUT: Readonly<Record<string, readonly string[]>> = {
  Deno: ['--no-prompt', '--no-lock', '--cached-only', '--node-modules-dir=manual'],
  Bun: ['--no-install'],
};
/** Arguments before a script that may read this folder. */
export const DENO_RUN: readonly string[] = ['run', ...CHECKOUT.Deno!, `--allow-read=${root}`];
export const BUN_RUN: readonly string[] = ['run', ...CHECKOUT.Bun!];
/** Node with its permission model: it may read this folder, and start no threads. */
export const NODE_CONFINED: readonly string[] = ['--permission', `--allow-fs-read=${root}`];

/** Name and version of this Node, or of the Deno or Bun that is installed. */
export function versionOfHost(command: string): string {
  if (command === process.execPath) return `Node ${process.versions.node}`;
  const [version] = execFileSync(command, ['--version'], { encoding: 'utf8' }).split('\n');
  return command === BUN ? `Bun ${version}` : version!;
}

/** Runs a command in the project's folder: the JSON in the last line of its output. */
export async function reportOf<T>(command: string, args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd: root,
    timeout: 280_000,
    env: { ...process.env, NO_COLOR: '1' },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as T;
}
