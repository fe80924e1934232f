/**
 * Compiles assembly/ to the WebAssembly modules, falcon and labrador, each plain and with relaxed SIMD:
 *
 *   build/falcon.wasm, build/falcon.relaxed.wasm                   the bare modules
 *   src/falcon/falcon.wasm.ts, src/falcon/falcon.relaxed.wasm.ts   the same as base64, with their export types
 *   build/labrador*.wasm, src/aggregate/labrador*.wasm.ts          likewise
 *   wasm.lock.json                                                 compiler and SHA-256 of each module, committed
 *
 *   node scripts/build-wasm.ts                 builds if an input has changed, and compares with the lock
 *   node scripts/build-wasm.ts --update-lock   builds and writes the lock
 *
 * The lock is there to be read in a review: it shows when a change of sources changes the binary, and that anyone's build
 * gives the same bytes. With CI=true a difference is an error, otherwise a notice.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { editsBetween } from './moduleEdits.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK = join(ROOT, 'wasm.lock.json');
const MODULES = ['falcon', 'falcon.relaxed', 'labrador', 'labrador.relaxed'] as const;
type ModuleName = (typeof MODULES)[number];

interface Lock {
  assemblyscript: string;
  modules: Record<ModuleName, { sha256: string; bytes: number }>;
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');
const compilerVersion: string = JSON.parse(
  readFileSync(join(ROOT, 'node_modules/assemblyscript/package.json'), 'utf8'),
).version;

/** One hash over everything that the output depends on. */
function inputsHash(): string {
  const files = readdirSync(join(ROOT, 'assembly'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256').update(compilerVersion);
  const scripts = ['scripts/build-wasm.ts', 'scripts/moduleEdits.ts', 'src/moduleEdits.ts'];
  for (const file of [...files, ...['asconfig.json', ...scripts].map((name) => join(ROOT, name))]) {
    hash.update(`\0${file.slice(ROOT.length)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

const bareFile = (name: ModuleName) => join(ROOT, 'build', `${name}.wasm`);
/** The folder of a module's sources, which is its name without the variant. */
const sourcesOf = (name: ModuleName) => name.split('.')[0] as 'falcon' | 'labrador';
const ROOMS = { falcon: 'src/falcon', labrador: 'src/aggregate' } as const;
const sourceFile = (name: ModuleName) => join(ROOT, ROOMS[sourcesOf(name)], `${name}.wasm.ts`);
const inputsLine = (inputs: string) => `// Inputs: ${inputs}\n`;

function isCurrent(name: ModuleName, inputs: string): boolean {
  const source = sourceFile(name);
  return (
    existsSync(bareFile(name)) &&
    existsSync(source) &&
    readFileSync(source, 'utf8').includes(inputsLine(inputs))
  );
}

/** Others may read the old file at this moment: it is replaced in one step. */
function writeAtomically(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, data);
  renameSync(temporary, path);
}

function build(name: ModuleName, inputs: string): void {
  const folder = mkdtempSync(join(mkdirPath('build'), 'asc-'));
  try {
    const compiler = join(ROOT, 'node_modules/assemblyscript/bin/asc.js');
    const wasm = join(folder, 'module.wasm');
    const entry = `assembly/${sourcesOf(name)}/index.ts`;
    const run = spawnSync(process.execPath, [compiler, entry, '--target', name, '-o', wasm], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`asc failed for ${name}:\n${run.stdout}${run.stderr}`);
    const bytes = readFileSync(wasm);
    const types = exportTypes(readFileSync(join(folder, 'module.d.ts'), 'utf8'));
    writeAtomically(bareFile(name), bytes);
    writeAtomically(sourceFile(name), moduleSource(name, bytes, types, inputs));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mkdirPath(name: string): string {
  const path = join(ROOT, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** The members of asc's `declare namespace __AdaptedExports`, as members of an interface. */
function exportTypes(declaration: string): string[] {
  const members: string[] = [];
  for (const match of declaration.matchAll(
    /^ {2}export (?:function (\w+)(\(.*\)): (\w+);|const (\w+): (?:WebAssembly\.Memory;|\{))/gm,
  )) {
    const [, name, parameters, result, constant] = match;
    if (name) members.push(`${name}${parameters}: ${result};`);
    else if (constant === 'memory') members.push('memory: WebAssembly.Memory;');
    else members.push(`${constant}: WebAssembly.Global;`);
  }
  return members;
}

function moduleSource(
  name: ModuleName,
  bytes: Uint8Array,
  members: string[],
  inputs: string,
): string {
  const isMain = name === sourcesOf(name);
  const types = `
/** What the module exports. */
export interface ${sourcesOf(name) === 'falcon' ? 'Falcon' : 'Labrador'}Exports {
${members.map((member) => `  readonly ${member.replace(/^(\w+)\(/, '$1: (').replace(/\): (\w+);$/, ') => $1;')}`).join('\n')}
}
`;
  return `// Generated by scripts/build-wasm.ts from assembly/; do not edit.
${inputsLine(inputs)}${isMain ? types : ''}
export const SHA256 = '${sha256(bytes)}';
export const BYTES = ${bytes.length};
${isMain ? wholeModule(bytes) : editsOf(bytes, readFileSync(bareFile(sourcesOf(name))))}`;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

const wholeModule = (bytes: Uint8Array) => `/** The module, in base64. */
export const MODULE: string =
  '${base64(bytes)}';
`;

/** The builds are much alike. */
const editsOf = (
  bytes: Uint8Array,
  plain: Uint8Array,
) => `/** What makes the module of the plain one, in base64: see src/moduleEdits.ts. */
export const EDITS: string =
  '${base64(editsBetween(plain, bytes))}';
`;

function readLock(): string | undefined {
  return existsSync(LOCK) ? readFileSync(LOCK, 'utf8') : undefined;
}

function currentLock(): string {
  const entry = (name: ModuleName) => {
    const bytes = readFileSync(bareFile(name));
    return { sha256: sha256(bytes), bytes: bytes.length };
  };
  const lock: Lock = {
    assemblyscript: compilerVersion,
    modules: Object.fromEntries(MODULES.map((name) => [name, entry(name)])) as Lock['modules'],
  };
  return `${JSON.stringify(lock, null, 2)}\n`;
}

const inputs = inputsHash();
for (const name of MODULES) {
  if (!isCurrent(name, inputs)) build(name, inputs);
}
const lock = currentLock();
const committed = readLock();
if (committed === undefined || process.argv.includes('--update-lock')) {
  writeAtomically(LOCK, lock);
} else if (committed !== lock) {
  const message =
    'the built modules differ from wasm.lock.json; if that is meant: node scripts/build-wasm.ts --update-lock';
  if (process.env.CI === 'true') {
    console.error(`error: ${message}\n${lock}`);
    process.exitCode = 1;
  } else {
    console.error(`note: ${message}`);
  }
}
