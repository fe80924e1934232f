/** A folder in which the package is installed as its users install it, without a registry. */
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compilePackage } from '../../scripts/compilePackage.ts';
import { layOutDocuments } from '../../scripts/layOutPackage.ts';
import { packageFolders } from '../support/programs.ts';

/** @returns a new folder, for the files of one test */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'falconry-environments-'));

/** Writes files, with the folders that they are in. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Installs the package, as the sources are now, and these packages of the repository. */
export function installHere(folder: string, packages: readonly string[] = []): void {
  const own = join(folder, 'node_modules/falconry');
  compilePackage(join(own, 'dist'));
  layOutDocuments(own);
  for (const name of ['@noble/hashes', 'eventsource-parser']) {
    cpSync(packageFolders(name)[0]!, join(folder, 'node_modules', name), { recursive: true });
  }
  for (const name of packages) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(packageFolders(name)[0]!, join(folder, 'node_modules', name));
  }
}
