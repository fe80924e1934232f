/** The guide for operators, and the files of examples/deploy with their README. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

export const ROOT = new URL('../../', import.meta.url);
const FOLDER = new URL('examples/deploy/', ROOT);

export const NAMES = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .toSorted();

export function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

/** The documents of a YAML file; aliases and merge keys are resolved. */
export function readYaml(name: string): Record<string, unknown>[] {
  return parseAllDocuments(read(name), { merge: true }).map((document) => {
    const faults = [...document.errors, ...document.warnings];
    if (faults.length > 0) throw new Error(`${name}: ${faults.join('; ')}`);
    return document.toJS();
  });
}

export const guide = readFileSync(new URL('docs/operating.md', ROOT), 'utf8');
/** Explains the files. */
export const readme = read('README.md');
