/**
 * A host that writes a store of its own needs a name for every type that a port mentions, so each
 * of them is exported. Read off the sources: the declaration of each exported type, and of each
 * exported function without its body.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../src/', import.meta.url));
const read = (path: string) =>
  readFileSync(`${ROOT}${path}`, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1');

const ENTRIES = [
  'middleware/index.ts',
  'middleware/stores/postgres/index.ts',
  'middleware/blobs/s3/index.ts',
  'aggregate/index.ts',
  'falcon/index.ts',
];
/** The ports, and what the functions take that make them. */
const PORTS = /^middleware\/(stores|blobs|signing|options)\//;

interface Named {
  readonly name: string;
  /** The file of its declaration. */
  readonly file: string;
}

const LIST = /^(?:export|import) (?:type )?\{([^}]*)\}(?: from '(\.[^']+)')?;/gm;

/** What the lists of a file name, each with the file that the list is of. */
function listed(file: string, keyword: 'export' | 'import'): Named[] {
  return [...read(file).matchAll(LIST)].flatMap(([whole, names = '', from]) => {
    if (!whole.startsWith(keyword)) return [];
    const path = from === undefined ? file : posix.join(posix.dirname(file), from);
    const each = names.split(',').map((name) => name.replace(/^\s*(type )?/, '').trim());
    return each.filter((name) => name !== '').map((name) => ({ name, file: path }));
  });
}

const DECLARED = /^export (?:interface|type|class|const|(?:async )?function) (\w+)/gm;

/** Everything that an entry exports, by name. */
function exportsOf(entry: string): Named[] {
  const own = [...read(entry).matchAll(DECLARED)].map(([, name]) => ({ name: name!, file: entry }));
  const whole = [...read(entry).matchAll(/^export (?:type )?\* from '(\.[^']+)';/gm)];
  const more = whole.map(([, from]) => posix.join(posix.dirname(entry), from!)).flatMap(exportsOf);
  return [...listed(entry, 'export'), ...own, ...more];
}

/** The text of a declaration: up to its body, if it has one. */
function declarationOf(name: string, file: string): string {
  const start = new RegExp(`^(?:export )?(interface|type|class|function) ${name}\\b`, 'm');
  const found = start.exec(read(file));
  if (found === null) return '';
  const rest = read(file).slice(found.index);
  const ends = { type: /;\n(?! )/, function: /\{\n/ }[found[1]!] ?? /^\}/m;
  return rest.slice(0, ends.exec(rest)?.index);
}

/** The types that a declaration mentions and that are ours: imported in its file, or made there. */
function mentioned({ name, file }: Named): Named[] {
  const words = new Set(declarationOf(name, file).match(/\b[A-Z]\w+\b/g));
  const made = [...read(file).matchAll(/^(?:export )?(?:interface|type) (\w+)/gm)];
  const ours = [...listed(file, 'import'), ...made.map(([, type]) => ({ name: type!, file }))];
  return ours.filter((each) => each.name !== name && words.has(each.name));
}

test('every type that an exported port mentions is exported', () => {
  const names = new Set(ENTRIES.flatMap(exportsOf).map(({ name }) => name));
  const ports = ENTRIES.flatMap(exportsOf).filter(({ file }) => PORTS.test(file));
  const mentions = ports.flatMap((port) =>
    mentioned(port).map((type) => ({ type: type.name, by: `${port.file}: ${port.name}` })),
  );
  // What the reading finds where there is much to find.
  const of = (name: string) =>
    mentions.filter(({ by }) => by.endsWith(`: ${name}`)).map(({ type }) => type);
  expect(of('BlobStore')).toContain('Arrivals');
  expect(of('memoryStore')).toEqual(expect.arrayContaining(['CompleteStore']));
  expect(of('TaskStore').length).toBeGreaterThan(20);
  expect(of('ServiceOptions')).toContain('Signer');
  expect(mentions.length).toBeGreaterThan(90);

  const unnamed = mentions.filter(({ type }) => !names.has(type));
  expect(unnamed.map(({ type, by }) => `${type}, mentioned by ${by}`)).toEqual([]);
});
