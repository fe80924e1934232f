/** Programs that this machine may have. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
