/**
 * Checks the package as its users get it: publint and "are the types wrong" on the tarball; then
 * the tarball installed in an empty folder, with its declared dependencies and nothing else; its
 * size, and that of its entries in a bundle, which the README's table must give (`--update-sizes`
 * writes it); and its main features, run there.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installed } from '../test/support/programs.ts';
import { checkPackage, createPackageFromTarballData } from '../test/support/typesWrong.ts';
import { checkEntrySizes } from './entrySizes.ts';
import { layOutPackage } from './layOutPackage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'falconry-package-'));
const run = (cwd: string, command: string, ...args: string[]) => {
  process.stdout.write(`$ ${command} ${args.join(' ')}\n`);
  execFileSync(command, args, { cwd, stdio: 'inherit' });
};

/** Limits of an installation: one more dependency, or a much larger library, needs a decision. */
const LIMITS = { packages: 3, installedBytes: 7e6, tarballBytes: 1.48e6 };

const BLOCK = 4096;

/** Registries fail from time to time. */
function thrice(action: () => void): void {
  for (let tried = 1; ; tried++) {
    try {
      action();
      return;
    } catch (error) {
      if (tried === 3) throw error;
      process.stdout.write(`try ${tried} of 3 failed\n`);
    }
  }
}

/**
 * The size of files and folders on a disk with 4096-byte blocks, as `du` counts it on most
 * machines.
 */
function bytesOnDisk(place: string): number {
  const blocks = (path: string) => Math.ceil(statSync(path).size / BLOCK);
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .reduce((sum, entry) => sum + BLOCK * blocks(join(entry.parentPath, entry.name)), 0);
}

function judgeSize(tarball: string): void {
  const modules = join(folder, 'node_modules');
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const found = {
    packages: Object.keys(lock.packages).length,
    installedBytes: bytesOnDisk(modules),
    tarballBytes: statSync(tarball).size,
  };
  process.stdout.write(
    `${found.packages} packages, ${(found.installedBytes / 1e6).toFixed(1)} MB installed, ` +
      `tarball of ${(found.tarballBytes / 1e3).toFixed(0)} kB\n`,
  );
  for (const [name, limit] of Object.entries(LIMITS)) {
    const value = found[name as keyof typeof LIMITS];
    if (value > limit) throw new Error(`${name}: ${value}, at most ${limit} are wanted`);
  }
}

/** What types the entries have in every way of resolving them. */
async function judgeTypes(tarball: string): Promise<void> {
  const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (checked.types === false) throw new Error('the package has no types');
  const entries = Object.keys(checked.entrypoints).length;
  const wrong = checked.problems.filter((problem) => {
    const { kind } = problem;
    // An old resolution does not know `exports`; CommonJS gets modules, by `require` since Node 22.
    if (kind === 'NoResolution') return problem.resolutionKind !== 'node10';
    return kind !== 'CJSResolvesToESM';
  });
  process.stdout.write(`types of ${entries} entries, ${wrong.length} problems\n`);
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong, null, 2));
}

try {
  const laidOut = join(folder, 'laid-out');
  layOutPackage(laidOut);
  run(laidOut, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder);
  rmSync(laidOut, { recursive: true });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  run(root, installed('publint'), join(folder, tarball), '--strict');
  await judgeTypes(join(folder, tarball));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const install = ['install', '--no-audit', '--no-fund', '--silent', `./${tarball}`];
  thrice(() => run(folder, 'npm', ...install));
  judgeSize(join(folder, tarball));
  await checkEntrySizes(folder, process.argv.includes('--update-sizes'));
  // The service and its server come with packages that only its users install.
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const peers = ['hono', '@hono/node-server'].map((name) => `${name}@${devDependencies[name]}`);
  thrice(() => run(folder, 'npm', ...install, ...peers));
  copyFileSync(join(root, 'scripts/consumer.mjs'), join(folder, 'consumer.mjs'));
  run(folder, process.execPath, 'consumer.mjs');
  run(folder, join(folder, 'node_modules/.bin/falconry'), '--help');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
