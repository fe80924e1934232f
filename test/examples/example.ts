/** An example that is laid out: its scripts, run as its README says. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, installBundlers, packLibrary } from '../bundlers/project.ts';
import { type RunningRecipe, startProcess } from '../hosts/recipes.ts';
import { layOutExample, scriptOf } from './layOut.ts';

type Environment = Readonly<Record<string, string>>;

export interface Example {
  readonly folder: string;
  /** Runs a script of its `package.json`. @returns what it printed */
  run(script: string, env?: Environment): Promise<string>;
  /** Runs a program of its packages, as `npx` does. @returns what it printed */
  npx(program: string, ...args: readonly string[]): Promise<string>;
  /** Starts a server, by default with the script `start`; it is ended with the example. */
  start(env?: Environment, script?: string): Promise<RunningRecipe>;
}

let packed: Promise<{ folder: string; tarball: string }> | undefined;

/** Packs the library, once for all examples of a test file. */
export function pack(): Promise<{ folder: string; tarball: string }> {
  packed ??= (async () => {
    await installBundlers();
    const folder = await mkdtemp(join(tmpdir(), 'falconry-pack-'));
    return { folder, tarball: await packLibrary(folder) };
  })();
  return packed;
}

export async function removePacked(): Promise<void> {
  if (packed !== undefined) await rm((await packed).folder, { recursive: true, force: true });
}

/** Lays the example out, checks its types, uses it, and removes it. */
export async function withExample(
  name: string,
  use: (example: Example) => Promise<void>,
): Promise<void> {
  const folder = await layOutExample(name, (await pack()).tarball);
  const started: RunningRecipe[] = [];
  const example: Example = {
    folder,
    run(script, env = {}) {
      const [program, ...args] = scriptOf(folder, script);
      return command(folder, program, args, env);
    },
    npx: (program, ...args) => command(folder, join(folder, 'node_modules/.bin', program), args),
    async start(env = {}, script = 'start') {
      const running = await startProcess(folder, scriptOf(folder, script), env);
      started.push(running);
      return running;
    },
  };
  try {
    await example.run('types');
    await use(example);
  } finally {
    for (const running of started) await running.end('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}
