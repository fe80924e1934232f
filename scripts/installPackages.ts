/**
 * Installs the packages of a folder with its own package.json, unless they are those of its lock
 * file already:
 *
 *   node scripts/installPackages.ts test    what the long run, benches and package checks need
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sha256 } from './generated.ts';

/** Registries fail from time to time. */
const TRIES = 3;

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** Installs them, and says so on standard error. */
export async function installPackages(folder: string): Promise<void> {
  const stamp = join(folder, 'node_modules/.installed-lock');
  const lock = sha256(await readFile(join(folder, 'package-lock.json')));
  if ((await textOf(stamp)) === lock) return;
  process.stderr.write(`Installing the packages of ${folder}\n`);
  // Not `npm ci`: it fails where a registry lacks the optional packages of another platform. Also
  // install where NODE_ENV asks for production packages only.
  const args = ['install', '--no-save', '--include=dev', '--loglevel=error'];
  for (let tried = 1; ; tried++) {
    try {
      // JOBS: for the compiler of the add-ons among them.
      const env = { ...process.env, JOBS: 'max' };
      await promisify(execFile)('npm', args, { cwd: folder, env, maxBuffer: 1 << 26 });
      break;
    } catch (error) {
      if (tried === TRIES) throw error;
    }
  }
  await writeFile(stamp, lock);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: node scripts/installPackages.ts FOLDER\n');
    process.exitCode = 2;
  } else {
    await installPackages(resolve(folder));
  }
}
