/** Programs that this machine may have. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Those of Debian first; administrators' programs are not on everybody's path. */
const FOLDERS = [
  '/usr/bin',
  ...(process.env.PATH ?? '').split(delimiter),
  '/usr/sbin',
  '/sbin',
] as const;

/** The path of a program, of the first of these folders that has it; undefined if none has. */
export function findProgram(
  name: string,
  folders: readonly string[] = FOLDERS,
): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Folders of the project and of test/package.json. */
const PACKAGES = ['../../node_modules/', '../node_modules/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const BINARIES = PACKAGES.map((folder) => join(folder, '.bin'));

/** The path of a program of an installed package. */
export const installed = (name: string): string =>
  findProgram(name, BINARIES) ?? join(BINARIES[0]!, name);

/** The folders of a package, one for each version that is installed. */
export const packageFolders = (name: string): string[] =>
  PACKAGES.map((folder) => join(folder, name)).filter((path) => existsSync(path));

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
