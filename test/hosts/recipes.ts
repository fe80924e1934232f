/**
 * The programs of docs/hosts.md, taken out of it as they are written, and run as processes of their
 * own.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { falconService } from '../../src/middleware/index.ts';
import { type Block, blocksOf, localised } from '../support/documentBlocks.ts';
import { CHECKOUT } from '../support/hostCommands.ts';
import { installed } from '../support/programs.ts';
import { startProgram } from '../support/startProgram.ts';

export const projectFolder = fileURLToPath(new URL('../../', import.meta.url));

export type Recipe = Pick<Block, 'heading' | 'source'>;

/** Fragments cannot run by themselves. */
const recipes = blocksOf('docs/hosts.md').filter(({ info }) => info === '');
/** The programs that run the service. */
export const programs: readonly Recipe[] = recipes.filter(
  ({ language, source }) => language === 'ts' && source.includes('falconService'),
);

const ofSessions = ({ heading }: Recipe) => heading === 'Sessions of the host';
/** Those whose clients have API keys, and those that know their clients themselves. */
export const withKeys = programs.filter((recipe) => !ofSessions(recipe));
export const withSessions = programs.filter(ofSessions);

/** The command to start a program with: as it is written below it, else Node. */
export function commandOf({ heading }: Recipe): string[] {
  if (!(heading in CHECKOUT)) return [process.execPath, '{file}'];
  const written = recipes.find((each) => each.heading === heading && each.language === 'sh')!;
  const [program = '', run = '', ...rest] = written.source.trim().split(' ');
  const flags = rest.map((word) => (word === 'server.ts' ? '{file}' : word));
  return [installed(program), run, ...CHECKOUT[heading]!, ...flags];
}

export interface RunningRecipe {
  /** Address of the mount point. */
  readonly base: string;
  /**
   * Processor time that the process has had so far, in seconds; null where the system does not
   * tell.
   */
  cpuSeconds(): Promise<number | null>;
  /** Sends the signal; @returns exit code and everything that was printed */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; output: string }>;
  /** Ends it in order: with code 0. @returns everything that was printed */
  stop(): Promise<string>;
}

/** A folder with a program in it, and the data of its service: two clients with keys. */
export interface Kitchen {
  readonly folder: string;
  readonly alice: string;
  readonly bob: string;
  start(): Promise<RunningRecipe>;
  close(): Promise<void>;
}

/** Lays out a program; `command` runs it, `{file}` in it stands for the program. */
export async function layOut(source: string, command: readonly string[]): Promise<Kitchen> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-host-'));
  const file = join(folder, 'server.ts');
  await writeFile(file, localised(source));
  const service = falconService({ dataDirectory: join(folder, '.falconry'), workers: false });
  await service.start();
  const { key: alice } = await service.apiKeys.create({ name: 'alice' });
  const { key: bob } = await service.apiKeys.create({ name: 'bob' });
  await service.stop();
  const words = command.map((word) => word.replace('{file}', file));
  const running = new Set<RunningRecipe>();
  return {
    folder,
    alice,
    bob,
    async start() {
      const recipe = await startProcess(folder, words);
      running.add(recipe);
      return recipe;
    },
    async close() {
      for (const recipe of running) await recipe.end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The address as a host prints it; `- Local:` is Next's way to put it. */
const ADDRESS = /^(?:- Local: +)?http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):(\d+)(\/\S*)?\n/m;

/** Starts a program that prints its address, on a port that it chooses. */
export async function startProcess(
  folder: string,
  words: readonly string[],
  own: Readonly<Record<string, string>> = {},
): Promise<RunningRecipe> {
  const env = { ...process.env, PORT: '0', NO_COLOR: '1', ...own };
  // The test runner's own settings are not those of a server.
  for (const name of Object.keys(env)) {
    if (/^(VITEST|NODE_ENV|NODE_OPTIONS|FALCONRY_)/.test(name)) Reflect.deleteProperty(env, name);
  }
  const [program = '', ...args] = words;
  const started = await startProgram(program, args, { cwd: folder, env, ready: ADDRESS });
  const [, port, path = ''] = started.found;
  const end: RunningRecipe['end'] = async (signal) => {
    const code = await started.end(signal);
    return { code, output: started.output() };
  };
  return {
    base: `http://127.0.0.1:${port}${path}`,
    cpuSeconds: () => cpuSecondsOf(started.pid),
    end,
    async stop() {
      const { code, output } = await end('SIGTERM');
      expect(code, output).toBe(0);
      return output;
    },
  };
}

/**
 * Fields 14 and 15 of /proc/<pid>/stat, in ticks of 10 ms: what was spent in the program and for
 * it.
 */
async function cpuSecondsOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}
