/**
 * The folder in which bundlers find the library as its users do: packed, and installed from the
 * tarball.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compilePackage } from '../../scripts/compilePackage.ts';
import { installPackages } from '../../scripts/installPackages.ts';
import { layOutDocuments } from '../../scripts/layOutPackage.ts';
import { alone } from '../support/folderLock.ts';
import { packageFolders } from '../support/programs.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('./', import.meta.url));
const TRIES = 3;
/** The folder of the lock: test files that run at the same time wait for each other. */
const LOCKED = join(root, 'build/bundlers');

/** A program or a folder of the packages beside this file. */
export const beside = (path: string): string => join(here, 'node_modules', path);

/** Ends with what the program printed. */
export async function command(
  cwd: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 280_000, maxBuffer: 1 << 26 };
  const { stdout } = await run(program, [...args], options).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

/**
 * What the package holds, as the sources are now; `dist/` is left alone, others may be reading it.
 */
function layOutSources(folder: string): void {
  compilePackage(join(folder, 'dist'));
  layOutDocuments(folder);
}

/**
 * Installs the bundlers, and what belongs to them, where they are not yet. Test files that run at
 * the same time wait for each other.
 */
export const installBundlers = (): Promise<void> => alone(LOCKED, () => installPackages(here));

/** Packs the library as the sources are now. @returns the tarball, somewhere in the folder */
export async function packLibrary(folder: string): Promise<string> {
  layOutSources(folder);
  await command(folder, 'npm', ['pack', '--silent', '--ignore-scripts']);
  return join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz'))!);
}

/** Installs the bundlers and the library from its tarball. */
export async function install(): Promise<void> {
  await installBundlers();
  const folder = await mkdtemp(join(tmpdir(), 'falconry-pack-'));
  try {
    const tarball = await packLibrary(folder);
    // npm takes a tarball of the same name and version for the one that it has.
    await alone(LOCKED, async () => {
      await rm(beside('falconry'), { recursive: true, force: true });
      await npm(['install', '--no-save', '--prefer-offline', tarball]);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function npm(args: readonly string[]): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await command(here, 'npm', [...args, '--no-audit', '--no-fund', '--loglevel=error']);
      return;
    } catch (error) {
      if (tried === TRIES) throw error;
    }
  }
}

/** A project of its own beside `node_modules`, with the job and the given files. */
export async function project(
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(here, 'build', name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(here, 'job.js'), join(folder, 'job.js'));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/** What webpack makes of a project. Webpack is no dependency, nor are its types. */
export async function webpackBuild(options: object): Promise<void> {
  type Done = (error: Error | null, stats: { hasErrors(): boolean }) => void;
  const { default: bundle } = (await import(beside('webpack/lib/index.js'))) as {
    default: (options: object, done: Done) => void;
  };
  const all = { mode: 'production', devtool: false, ...options };
  await new Promise<void>((resolve, reject) => {
    bundle(all, (error, stats) => {
      if (error !== null || stats.hasErrors()) reject(error ?? new Error(String(stats)));
      else resolve();
    });
  });
}

/** Removes what was built. */
export const removeProjects = (): Promise<void> =>
  rm(join(here, 'build'), { recursive: true, force: true });

/** The version of a bundler that is in use. */
export async function versionOf(name: string): Promise<string> {
  const [folder = ''] = [beside(name), ...packageFolders(name)].filter(existsSync);
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
