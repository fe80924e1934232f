/**
 * Compiles assembly/ to the WebAssembly modules, falcon and labrador, each plain and with relaxed
 * SIMD, and each with nothing but the verifier's part:
 *
 *   build/falcon.wasm, build/falcon.relaxed.wasm             the bare modules
 *   src/falcon/{falcon,falcon.relaxed}.wasm.gen.ts           the same in base64, with their types
 *   build/labrador*.wasm, src/aggregate/labrador*.wasm.gen.ts    likewise
 *   build/falcon.integer.wasm        no floating point (assembly/falcon/real.ts); in src, deflated
 *   build/falcon.verify.wasm, build/labrador.verify.wasm     the verifier's part; likewise
 *   build/labrador.verify.relaxed.wasm                       the same with relaxed SIMD
 *   wasm.lock.json                  compiler and SHA-256 of each module, committed
 *
 *   node scripts/build-wasm.ts                 builds if an input has changed, and compares with
 *                                              the lock
 *   node scripts/build-wasm.ts --update-lock   builds and writes the lock
 *
 * First it generates the tables and passes of scripts/generate/. The lock helps reviewers: it shows
 * when a change of the sources changes the binary, and that every build gives the same bytes. With
 * CI=true a difference is an error, otherwise a notice.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import asc from 'assemblyscript/asc';
import { inflate } from '../src/shared/inflate.ts';
import { generate } from './generate/main.ts';
import {
  filesBelow,
  hashOfFiles,
  header,
  isCurrent,
  ROOT,
  sha256,
  writeAtomically,
} from './generated.ts';
import { editsBetween } from './moduleEdits.ts';

const LOCK = 'wasm.lock.json';
const MODULES = [
  ...(['falcon', 'falcon.relaxed', 'falcon.integer', 'falcon.verify'] as const),
  ...(['labrador', 'labrador.relaxed', 'labrador.verify', 'labrador.verify.relaxed'] as const),
] as const;
type ModuleName = (typeof MODULES)[number];

interface Lock {
  assemblyscript: string;
  modules: Record<ModuleName, { sha256: string; bytes: number }>;
}

const compilerVersion: string = JSON.parse(
  readFileSync(join(ROOT, 'node_modules/assemblyscript/package.json'), 'utf8'),
).version;

const bareFile = (name: ModuleName) => `build/${name}.wasm`;
/** The folder of a module's sources: its name without the variant. */
const sourcesOf = (name: ModuleName) => name.split('.')[0] as 'falcon' | 'labrador';
const ROOMS = { falcon: 'src/falcon', labrador: 'src/aggregate' } as const;
const isVerify = (name: ModuleName) => name.endsWith('.verify');
const isInteger = (name: ModuleName) => name === 'falcon.integer';
const isDeflated = (name: ModuleName) => isVerify(name) || isInteger(name);
/** The build that a relaxed one is stored as edits of. */
const plainOf = (name: ModuleName) => name.replace('.relaxed', '') as ModuleName;
const sourceFile = (name: ModuleName) => `${ROOMS[sourcesOf(name)]}/${name}.wasm.gen.ts`;

/** One process compiles all modules: the compiler is four times as fast once it is warm. */
async function build(name: ModuleName, head: string): Promise<void> {
  const file = isVerify(plainOf(name)) ? 'verifyIndex' : isInteger(name) ? 'integerIndex' : 'index';
  const entry = `assembly/${sourcesOf(name)}/${file}.ts`;
  const files = new Map<string, string | Uint8Array>();
  const { error, stdout, stderr } = await asc.main(
    [entry, '--target', name, '--outFile', 'module.wasm', '--baseDir', ROOT],
    { writeFile: (path: string, contents: string | Uint8Array) => void files.set(path, contents) },
  );
  if (error !== null) throw new Error(`asc failed for ${name}:\n${stdout}${stderr}`);
  const bytes = files.get('module.wasm') as Uint8Array;
  const types = exportTypes(files.get('module.d.ts') as string);
  writeAtomically(bareFile(name), bytes);
  writeAtomically(sourceFile(name), head + moduleSource(name, bytes, types));
}

/** The members of asc's `declare namespace __AdaptedExports`, as members of an interface. */
function exportTypes(declaration: string): string[] {
  const members: string[] = [];
  for (const match of declaration.matchAll(
    /^ {2}export (?:function (\w+)(\(.*\)): (\w+);|const (\w+): (?:WebAssembly\.Memory;|\{))/gm,
  )) {
    const [, name, parameters, result, constant] = match;
    if (name) members.push(`${name}: ${parameters} => ${result};`);
    else if (constant === 'memory') members.push('memory: { readonly buffer: ArrayBuffer };');
    else members.push(`${constant}: { readonly value: number };`);
  }
  return members;
}

function moduleSource(name: ModuleName, bytes: Uint8Array, members: string[]): string {
  if (isDeflated(name)) return deflatedModule(name, bytes);
  const isMain = name === sourcesOf(name);
  const types = `
/** The exports of the module. */
export interface ${sourcesOf(name) === 'falcon' ? 'Falcon' : 'Labrador'}Exports {
${members.map((member) => `  readonly ${member}`).join('\n')}
}
`;
  const module = isMain
    ? wholeModule(bytes)
    : editsOf(bytes, readFileSync(join(ROOT, bareFile(plainOf(name)))));
  return `${isMain ? types : ''}
export const SHA256 = '${sha256(bytes)}';
export const BYTES = ${bytes.length};
${module}`;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

const wholeModule = (bytes: Uint8Array) => `/** The module, in base64. */
export const MODULE: string =
  '${base64(bytes)}';
`;

/**
 * The module, deflated. What labrador's has in common with falcon's, the tables of a transform and
 * some code, is not stored twice: code is deflated after code, data after data.
 */
function deflatedModule(name: ModuleName, bytes: Uint8Array): string {
  const isFirst = sourcesOf(name) === 'falcon';
  const first = isFirst ? new Uint8Array(0) : readFileSync(join(ROOT, bareFile('falcon.verify')));
  const [at, firstAt] = [dataAt(bytes), dataAt(first)];
  const parts = [
    { name: 'CODE', bytes: bytes.subarray(0, at), before: first.subarray(0, firstAt) },
    { name: 'DATA', bytes: bytes.subarray(at), before: first.subarray(firstAt) },
  ].map((part) => ({ ...part, deflated: deflatedPart(part.bytes, part.before) }));
  const own = "import { MODULE as FIRST } from '../falcon/falcon.verify.wasm.gen.ts';\n";
  const calls = parts.map(({ name, bytes }, i) => {
    const range = i === 0 ? `0, ${firstAt}` : firstAt;
    return `inflate(${name}, ${bytes.length}${isFirst ? '' : `, first.subarray(${range})`})`;
  });
  return `
import { concat } from '../shared/bytes.ts';
${isFirst ? '' : own}import { inflate } from '../shared/inflate.ts';

export const SHA256 = '${sha256(bytes)}';
export const BYTES = ${bytes.length};
/** Unpacks the module. */
export function MODULE(): Uint8Array<ArrayBuffer> {
${isFirst ? '' : '  const first = FIRST();\n'}  return concat(${calls.join(', ')});
}
${parts.map(({ name, deflated }) => `const ${name} =\n  '${base64(deflated)}';\n`).join('')}`;
}

function deflatedPart(bytes: Uint8Array, dictionary: Uint8Array): Uint8Array {
  // An empty dictionary is refused.
  const before = dictionary.length > 0 ? { dictionary } : {};
  const deflated = deflateRawSync(bytes, { level: 9, memLevel: 9, ...before });
  if (Buffer.compare(inflate(base64(deflated), bytes.length, dictionary), bytes) !== 0) {
    throw new Error('a part of a module does not inflate');
  }
  return deflated;
}

/** Where the data section of a module begins; it is the last one. */
function dataAt(module: Uint8Array): number {
  const DATA_SECTION = 11;
  let at = 8;
  while (at < module.length && module[at] !== DATA_SECTION) {
    let size = 0;
    let from = at + 1;
    for (let shift = 0; ; shift += 7) {
      const byte = module[from++]!;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    at = from + size;
  }
  return Math.min(at, module.length);
}

/** The builds are much alike. */
const editsOf = (
  bytes: Uint8Array,
  plain: Uint8Array,
) => `/** Turns the plain build into this one, in base64: see src/shared/moduleEdits.ts. */
export const EDITS: string =
  '${base64(editsBetween(plain, bytes))}';
`;

function currentLock(): string {
  const entry = (name: ModuleName) => {
    const bytes = readFileSync(join(ROOT, bareFile(name)));
    return { sha256: sha256(bytes), bytes: bytes.length };
  };
  const lock: Lock = {
    assemblyscript: compilerVersion,
    modules: Object.fromEntries(MODULES.map((name) => [name, entry(name)])) as Lock['modules'],
  };
  return `${JSON.stringify(lock, null, 2)}\n`;
}

generate();
const scripts = [
  ...['scripts/build-wasm.ts', 'scripts/moduleEdits.ts'],
  ...['src/shared/moduleEdits.ts', 'src/shared/inflate.ts'],
];
const inputs = [...filesBelow('assembly'), 'asconfig.json', ...scripts];
const head = header('scripts/build-wasm.ts', hashOfFiles(inputs, compilerVersion));
for (const name of MODULES) {
  const current = existsSync(join(ROOT, bareFile(name))) && isCurrent(sourceFile(name), head);
  if (!current) await build(name, head);
}
const lock = currentLock();
const committed = existsSync(join(ROOT, LOCK)) ? readFileSync(join(ROOT, LOCK), 'utf8') : undefined;
if (committed === undefined || process.argv.includes('--update-lock')) {
  writeAtomically(LOCK, lock);
} else if (committed !== lock) {
  const remedy = 'npm run build:wasm -- --update-lock';
  const message = `the built modules differ from ${LOCK}; if that is meant: ${remedy}`;
  if (process.env.CI === 'true') {
    console.error(`error: ${message}\n${lock}`);
    process.exitCode = 1;
  } else {
    console.error(`note: ${message}`);
  }
}
