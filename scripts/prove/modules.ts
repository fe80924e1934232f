/**
 * The shipped modules, decoded, with the names of their functions. The modules have no names; a
 * build with names has the same code, data and globals, which is checked instruction by
 * instruction. The names are kept beside the lock, by the hash of the module.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT, sha256 } from '../generated.ts';
import { decode, type Module } from './decode.ts';

const NAMES = 'scripts/prove/names.lock.json';

/** Per module, the hash of its bytes and the names of its functions in order. */
type Names = Record<string, { sha256: string; functions: string[] }>;

export const moduleNames = (): string[] =>
  Object.keys(JSON.parse(readFileSync(join(ROOT, 'wasm.lock.json'), 'utf8')).modules);

const readNames = (): Names =>
  existsSync(join(ROOT, NAMES)) ? JSON.parse(readFileSync(join(ROOT, NAMES), 'utf8')) : {};

/** Instructions, data and globals, to compare two builds. */
function content(module: Module): string {
  const code = module.bodies.map(({ locals, code }) => ({
    locals,
    code: code.map((instruction) => ({ ...instruction, at: 0 })),
  }));
  const data = module.data.map(({ at, bytes }) => [at, [...bytes]]);
  const { types, functions, globals, start } = module;
  return JSON.stringify({ code, data, types, functions, globals, start }, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

/**
 * Builds a module, with names.
 *
 * @param change - returns the text to compile instead of a source
 */
export async function build(name: string, change?: (path: string, text: string) => string) {
  const folder = name.split('.')[0]!;
  const part = /\.(verify|integer)/.exec(name)?.[1];
  const entry = `assembly/${folder}/${part ? `${part}Index` : 'index'}.ts`;
  const files = new Map<string, Uint8Array>();
  const { default: asc } = await import('assemblyscript/asc');
  const options = ['--target', name, '--outFile', 'module.wasm', '--debug', '--baseDir', ROOT];
  const { error, stderr } = await asc.main([entry, ...options], {
    readFile(path: string, base: string) {
      const file = resolve(base, path);
      if (!existsSync(file)) return null;
      const text = readFileSync(file, 'utf8');
      return change ? change(path, text) : text;
    },
    writeFile: (path: string, contents: string | Uint8Array) =>
      void files.set(path, contents as Uint8Array),
  });
  if (error !== null) throw new Error(`asc failed for ${name}:\n${stderr}`);
  return decode(files.get('module.wasm')!);
}

async function namesFromBuild(name: string, module: Module): Promise<string[]> {
  const named = await build(name);
  if (content(named) !== content(module)) throw new Error(`${name}: a build with names differs`);
  return named.bodies.map((_, i) => named.names.get(i) ?? `function ${i}`);
}

/** Decodes a module, with the names known for these bytes. @returns undefined without names */
export function readModule(name: string, bytes = bytesOf(name)): Module | undefined {
  const known = readNames()[name];
  if (known?.sha256 !== sha256(bytes)) return undefined;
  return withNames(decode(bytes), known.functions);
}

export const bytesOf = (name: string): Uint8Array => readFileSync(join(ROOT, `build/${name}.wasm`));

export function withNames(module: Module, functions: readonly string[]): Module {
  functions.forEach((text, i) => {
    module.names.set(i, text);
  });
  return module;
}

/** Decodes a module; builds it again for the names if they aren't known. */
export async function openModule(name: string): Promise<Module> {
  const known = readModule(name);
  if (known !== undefined) return known;
  const bytes = bytesOf(name);
  const module = decode(bytes);
  const functions = await namesFromBuild(name, module);
  const names: Names = { ...readNames(), [name]: { sha256: sha256(bytes), functions } };
  const ordered = Object.fromEntries(
    moduleNames().flatMap((key) => (names[key] ? [[key, names[key]]] : [])),
  );
  writeFileSync(join(ROOT, NAMES), `${JSON.stringify(ordered, null, 1)}\n`);
  return withNames(module, functions);
}
